//! How far two sides lie apart: the ratio of their means with its interval.

use crate::{
    sample::{mean, variance},
    student,
};

/// The figures of two sides, and how their runs lay in time.
#[derive(Clone, Debug, PartialEq)]
pub enum Sides {
    /// Run beside run, in pairs: what the machine did meanwhile met both alike. Of each pair base, then new.
    Pairs(Vec<[f64; 2]>),
    /// Each side by itself.
    Apart {
        /// What is compared with.
        base: Vec<f64>,
        /// What is judged.
        new: Vec<f64>,
    },
}

/// The ratio of two sides' means with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The geometric mean of the base.
    pub base: f64,
    /// The geometric mean of what is judged.
    pub new: f64,
    /// new / base − 1.
    pub change: f64,
    /// The interval's lower end, as such a change.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How likely a change at least as great is where there is none.
    pub p_value: f64,
    /// What one pair of runs more is uncertain by: the standard deviation of its log-ratio.
    spread: f64,
    is_paired: bool,
}

/// Why two sides have no ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDifference {
    /// A side has fewer than two runs: nothing tells how far equal runs lie apart.
    #[error("a side has fewer than two runs")]
    TooFewRuns,
    /// A figure that is not above 0, or not finite.
    #[error("a figure is not above 0, and has no ratio")]
    NotPositive,
}

/// The ratio of the sides' geometric means with Student's t interval of the log-ratio: of pairs with n − 1 degrees of
/// freedom, of sides apart with Welch's (Biometrika 34, 1947). The logarithm makes noise that grows with the figure even, and
/// the interval is the same whichever side is the base.
///
/// # Errors
/// A side has fewer than two runs, or a figure that has no logarithm.
pub fn difference(sides: &Sides) -> Result<Difference, NoDifference> {
    let (base, new): (Vec<f64>, Vec<f64>) = match sides {
        Sides::Pairs(pairs) => pairs.iter().map(|&[base, new]| (base, new)).unzip(),
        Sides::Apart { base, new } => (base.clone(), new.clone()),
    };
    if base.len() < 2 || new.len() < 2 {
        return Err(NoDifference::TooFewRuns);
    }
    if !base.iter().chain(&new).all(|figure| figure.is_finite() && *figure > 0.0) {
        return Err(NoDifference::NotPositive);
    }
    let logs = |figures: &[f64]| figures.iter().map(|figure| figure.ln()).collect::<Vec<f64>>();
    let (base, new) = (logs(&base), logs(&new));
    let estimate = mean(&new) - mean(&base);
    let is_paired = matches!(sides, Sides::Pairs(_));
    let (spread, error, degrees) = if is_paired { of_pairs(&base, &new) } else { of_sides(&base, &new) };
    let half_width = if error > 0.0 { student::half_width(degrees) * error } else { 0.0 };
    let p_value = match (estimate == 0.0, error > 0.0) {
        (_, true) => student::two_sided_p(estimate / error, degrees),
        (true, false) => 1.0,
        (false, false) => 0.0,
    };
    Ok(Difference {
        base: mean(&base).exp(),
        new: mean(&new).exp(),
        change: estimate.exp_m1(),
        low: (estimate - half_width).exp_m1(),
        high: (estimate + half_width).exp_m1(),
        p_value,
        spread,
        is_paired,
    })
}

/// Spread of one pair, standard error, degrees of freedom.
fn of_pairs(base: &[f64], new: &[f64]) -> (f64, f64, f64) {
    let ratios: Vec<f64> = base.iter().zip(new).map(|(base, new)| new - base).collect();
    let (count, spread) = (ratios.len() as f64, variance(&ratios).sqrt());
    (spread, spread / count.sqrt(), count - 1.0)
}

/// The same of two sides that share nothing.
fn of_sides(base: &[f64], new: &[f64]) -> (f64, f64, f64) {
    let (of_base, of_new) = (variance(base), variance(new));
    let (count, others) = (base.len() as f64, new.len() as f64);
    let (a, b) = (of_base / count, of_new / others);
    let degrees = (a + b).powi(2) / (a.powi(2) / (count - 1.0) + b.powi(2) / (others - 1.0));
    ((of_base + of_new).sqrt(), (a + b).sqrt(), degrees)
}

impl Difference {
    /// The interval that so many runs a side would have, if they spread as these do and the change stays: low and high.
    pub(crate) fn with_runs(&self, count: f64) -> (f64, f64) {
        let degrees = if self.is_paired { count - 1.0 } else { 2.0 * count - 2.0 };
        let half_width = student::half_width(degrees) * self.spread / count.sqrt();
        let estimate = self.change.ln_1p();
        ((estimate - half_width).exp_m1(), (estimate + half_width).exp_m1())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-4, "{found} and not {expected}");
    }

    /// Student's own data (Biometrika 6, 1908), additional hours of sleep by two soporifics, here as logarithms. R's
    /// `t.test(extra ~ group, data = sleep)` gives t = −1.8608, df = 17.776, p = 0.07939 and −3.3655 to 0.2055 for
    /// group 1 − group 2, and with `paired = TRUE` p = 0.002833 and −2.4599 to −0.7001.
    #[test]
    fn both_designs_are_those_of_r() {
        let second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4].map(f64::exp);
        let first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0].map(f64::exp);
        let apart = difference(&Sides::Apart { base: second.to_vec(), new: first.to_vec() }).unwrap();
        near(apart.p_value, 0.07939);
        near(apart.low.ln_1p(), -3.36548);
        near(apart.high.ln_1p(), 0.20548);
        near(apart.change.ln_1p(), -1.58);
        let pairs = second.iter().zip(first).map(|(&base, new)| [base, new]).collect();
        let paired = difference(&Sides::Pairs(pairs)).unwrap();
        near(paired.p_value, 0.002833);
        near(paired.low.ln_1p(), -2.45989);
        near(paired.high.ln_1p(), -0.70011);
    }

    #[test]
    fn what_has_no_ratio_is_refused() {
        let apart = |base: &[f64], new: &[f64]| difference(&Sides::Apart { base: base.into(), new: new.into() });
        assert_eq!(apart(&[1.0], &[1.0, 2.0]), Err(NoDifference::TooFewRuns));
        assert_eq!(difference(&Sides::Pairs(vec![[1.0, 2.0]])), Err(NoDifference::TooFewRuns));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(apart(&[1.0, bad], &[1.0, 2.0]), Err(NoDifference::NotPositive));
        }
    }

    #[test]
    fn figures_without_noise_differ_or_not() {
        let apart = |new: f64| difference(&Sides::Apart { base: vec![4.0; 3], new: vec![new; 3] }).unwrap();
        assert_eq!((apart(4.0).change, apart(4.0).p_value), (0.0, 1.0));
        let double = apart(8.0);
        assert!((double.low - 1.0).abs() < 1e-12 && (double.high - 1.0).abs() < 1e-12 && double.p_value < 1e-12);
    }
}
