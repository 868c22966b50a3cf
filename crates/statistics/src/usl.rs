//! How throughput grows with the load: the Universal Scalability Law.

use crate::{interval::TAIL, least_squares::least_squares, repetitions::quantile};

/// Different loads that a fit needs.
const MIN_LEVELS: usize = 6;
/// Loads past the peak that are needed to believe it.
const MIN_PAST: usize = 2;
/// What the law may leave unexplained, as a part of the throughput (root mean square).
const MAX_LEFT: f64 = 0.1;
const RESAMPLES: usize = 1_000;

/// A load, such as so many virtual users, and the throughput that it had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The load.
    pub load: f64,
    /// Operations a second.
    pub throughput: f64,
}

/// A figure with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// The interval's lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// The law with its coefficients: X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UslFit {
    /// Throughput of a load of 1, λ.
    pub single: Estimate,
    /// Contention σ: the part of the work that waits in a line.
    pub contention: Estimate,
    /// Coherency κ: what the load costs itself, pair by pair.
    pub coherency: Estimate,
    /// What the law leaves unexplained: the root mean square of the relative residuals.
    pub left: f64,
    /// Where throughput is greatest, or why that is not told.
    pub peak: Result<Peak, NoPeak>,
}

/// Where throughput is greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The load, N* = √((1 − σ) / κ).
    pub load: Estimate,
    /// The throughput there.
    pub throughput: Estimate,
}

/// Why a fit tells no peak.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum NoPeak {
    /// Throughput may as well grow for ever: the interval of κ holds 0.
    #[error("no peak in range: the throughput may as well go on growing")]
    NotCertain,
    /// The law's peak lies beyond the loads that were measured, or hardly within.
    #[error(
        "no peak in range: {past} of the loads lie past where the law has it, and 2 are needed: it is not extrapolated"
    )]
    TooFewPast {
        /// Loads past the peak.
        past: usize,
    },
}

/// Why there is no fit.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Too few different loads.
    #[error("{have} different loads were measured, and the law needs {MIN_LEVELS}")]
    TooFewLevels {
        /// How many there are.
        have: usize,
    },
    /// A load or throughput that is not above 0, or not finite.
    #[error("a load or throughput is not above 0")]
    NotPositive,
    /// The law does not describe them.
    #[error("the law does not describe these loads: it leaves {:.0} % unexplained, and may leave 10 %", left * 100.0)]
    BadFit {
        /// The root mean square of the relative residuals.
        left: f64,
    },
    /// The loads do not determine the coefficients.
    #[error("the loads do not determine the law's coefficients")]
    Undetermined,
}

/// λ, σ and κ as 1/λ, σ/λ and κ/λ, in which N/X is linear.
type Inverse = [f64; 3];

/// Fits the law (Gunther, Guerrilla Capacity Planning, 2007): N/X = a + b(N − 1) + cN(N − 1) by least squares with the
/// weight (X/N)², that is for errors in proportion to the throughput, then one Gauss–Newton step on the relative errors of X
/// itself; intervals by 1,000 resamples of the residuals. A peak is told only where it lies among the loads measured, at
/// least two of them past it, and the interval of κ is above 0: from loads that end at 0.65 N*, N* is half wrong.
///
/// # Errors
/// Too few loads, figures that are none, or a law that does not describe them: see [`Refusal`].
pub fn fit_usl(levels: &[Level], seed: u64) -> Result<UslFit, Refusal> {
    let is_figure = |figure: f64| figure > 0.0 && figure.is_finite();
    if !levels.iter().all(|level| is_figure(level.load) && is_figure(level.throughput)) {
        return Err(Refusal::NotPositive);
    }
    let mut loads: Vec<f64> = levels.iter().map(|level| level.load).collect();
    loads.sort_by(f64::total_cmp);
    loads.dedup();
    if loads.len() < MIN_LEVELS {
        return Err(Refusal::TooFewLevels { have: loads.len() });
    }
    let fitted = coefficients(levels).ok_or(Refusal::Undetermined)?;
    let residuals: Vec<f64> =
        levels.iter().map(|level| level.throughput / throughput(fitted, level.load) - 1.0).collect();
    let count = levels.len() as f64;
    let left = (residuals.iter().map(|r| r * r).sum::<f64>() / (count - 3.0)).sqrt();
    if left > MAX_LEFT {
        return Err(Refusal::BadFit { left });
    }
    let resampled = resample(levels, fitted, &residuals, seed);
    let estimate = |figure: &dyn Fn(Inverse) -> f64| {
        let mut figures: Vec<f64> = resampled.iter().map(|&inverse| figure(inverse)).collect();
        figures.sort_by(f64::total_cmp);
        Estimate { value: figure(fitted), low: quantile(&figures, TAIL), high: quantile(&figures, 1.0 - TAIL) }
    };
    let coherency = estimate(&|[a, _, c]| c / a);
    let past = loads.iter().filter(|&&load| load > peak_load(fitted)).count();
    let peak = match (coherency.low > 0.0, past >= MIN_PAST) {
        (false, _) => Err(NoPeak::NotCertain),
        (true, false) => Err(NoPeak::TooFewPast { past }),
        (true, true) => Ok(Peak {
            load: estimate(&peak_load),
            throughput: estimate(&|inverse| throughput(inverse, peak_load(inverse))),
        }),
    };
    let (single, contention) = (estimate(&|[a, ..]| 1.0 / a), estimate(&|[a, b, _]| b / a));
    Ok(UslFit { single, contention, coherency, left, peak })
}

fn throughput(inverse: Inverse, load: f64) -> f64 {
    let [a, b, c] = inverse;
    load / (a + b * (load - 1.0) + c * load * (load - 1.0))
}

/// Infinite where throughput only grows.
fn peak_load([a, b, c]: Inverse) -> f64 {
    if c > 0.0 { ((a - b) / c).max(1.0).sqrt() } else { f64::INFINITY }
}

fn coefficients(levels: &[Level]) -> Option<Inverse> {
    let terms = |load: f64| [1.0, load - 1.0, load * (load - 1.0)];
    let rows: Vec<[f64; 3]> =
        levels.iter().map(|level| terms(level.load).map(|term| term * level.throughput / level.load)).collect();
    let first = least_squares(&rows, &vec![1.0; levels.len()])?;
    // X is N/D, and its change with each coefficient −N/D² times the term.
    let steps = levels.iter().map(|level| {
        let fitted = throughput(first, level.load);
        let slope = -fitted * fitted / level.load / level.throughput;
        (terms(level.load).map(|term| term * slope), 1.0 - fitted / level.throughput)
    });
    let (rows, errors): (Vec<[f64; 3]>, Vec<f64>) = steps.unzip();
    let step = least_squares(&rows, &errors)?;
    let improved: Inverse = std::array::from_fn(|i| first[i] + step[i]);
    let is_law = improved[0] > 0.0 && levels.iter().all(|level| throughput(improved, level.load) > 0.0);
    is_law.then_some(improved)
}

/// Fits of as many throughputs made from the fitted ones and residuals drawn from the fit's own, which are spread to what
/// they were before three coefficients had taken from them.
fn resample(levels: &[Level], fitted: Inverse, residuals: &[f64], seed: u64) -> Vec<Inverse> {
    let mut random = fastrand::Rng::with_seed(seed);
    let count = levels.len() as f64;
    let spread = (count / (count - 3.0)).sqrt();
    let mut draw = |level: &Level| Level {
        throughput: throughput(fitted, level.load) * (1.0 + spread * residuals[random.usize(..residuals.len())]),
        ..*level
    };
    (0..RESAMPLES).filter_map(|_| coefficients(&levels.iter().map(&mut draw).collect::<Vec<_>>())).collect()
}
