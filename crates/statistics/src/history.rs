//! Where the figures of many runs, one after the other, change their level.

use crate::{
    change_point::best_split,
    interval::MeanInterval,
    sample::{mean, variance},
    student,
};

/// A level has at least so many runs: of fewer nobody can tell a change from an outlier.
pub const MIN_LEVEL: usize = 5;

/// A change is believed whose t test says so. The place was searched for, which makes such a p value more than ten times as
/// frequent as it says: among 100 equal runs a change is found in 3 % of all cases.
const CHANGE_P: f64 = 0.002;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// The first run of the new level.
    pub at: usize,
    /// The geometric mean of the level before.
    pub before: f64,
    /// That of the level from it on.
    pub after: f64,
    /// after / before − 1.
    pub change: f64,
    /// The lower end of its 95 % interval, for a place known beforehand.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// The p value of the t test between the two levels.
    pub p_value: f64,
}

/// Why a history has no levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHistory {
    /// Too few runs for two levels.
    #[error("{have} runs are known, and two levels need {}: {} more", 2 * MIN_LEVEL, 2 * MIN_LEVEL - have)]
    TooFewRuns {
        /// How many there are.
        have: usize,
    },
    /// A figure that is not above 0, or not finite.
    #[error("a figure is not above 0, and has no ratio")]
    NotPositive,
}

/// The changes of level, in order: hierarchical E-divisive means (Matteson and James, JASA 2014) over the logarithms, each
/// division held to the t test of its two sides instead of permutations (Fleming et al., Hunter, ICPE 2023), so that there is
/// no chance in it; at the end every change is tested again between the levels that were left, the weakest first.
///
/// # Errors
/// Fewer than ten runs, or a figure that has no logarithm.
pub fn level_changes(figures: &[f64]) -> Result<Vec<LevelChange>, NoHistory> {
    if figures.len() < 2 * MIN_LEVEL {
        return Err(NoHistory::TooFewRuns { have: figures.len() });
    }
    if !figures.iter().all(|figure| figure.is_finite() && *figure > 0.0) {
        return Err(NoHistory::NotPositive);
    }
    let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
    let mut places = Vec::new();
    divide(&logs, 0, &mut places);
    places.sort_unstable();
    loop {
        let changes = between(&logs, &places);
        let weakest = changes.iter().max_by(|a, b| a.p_value.total_cmp(&b.p_value));
        match weakest.filter(|change| change.p_value > CHANGE_P).map(|change| change.at) {
            Some(at) => places.retain(|&place| place != at),
            None => return Ok(changes),
        }
    }
}

/// Divides a stretch that begins at `first`, and then its parts.
fn divide(stretch: &[f64], first: usize, places: &mut Vec<usize>) {
    if stretch.len() < 2 * MIN_LEVEL {
        return;
    }
    let at = best_split(stretch, MIN_LEVEL);
    let (left, right) = stretch.split_at(at);
    if test(left, right).1 > CHANGE_P {
        return;
    }
    places.push(first + at);
    divide(left, first, places);
    divide(right, first + at, places);
}

/// The changes at these places, each between the neighbouring levels.
fn between(logs: &[f64], places: &[usize]) -> Vec<LevelChange> {
    let ends = places.iter().skip(1).copied().chain([logs.len()]);
    let begins = std::iter::once(0).chain(places.iter().copied());
    let change = |((begin, &at), end): ((usize, &usize), usize)| {
        let (left, right) = (&logs[begin..at], &logs[at..end]);
        let (MeanInterval { mean: estimate, low, high }, p_value) = test(left, right);
        let [change, low, high] = [estimate, low, high].map(f64::exp_m1);
        LevelChange { at, before: mean(left).exp(), after: mean(right).exp(), change, low, high, p_value }
    };
    begins.zip(places).zip(ends).map(change).collect()
}

/// The difference of two levels with its interval, and Student's two-sided t test of it: both levels have the same noise, so
/// that a level of five runs is judged by the noise of all.
fn test(left: &[f64], right: &[f64]) -> (MeanInterval, f64) {
    let (n, m) = (left.len() as f64, right.len() as f64);
    let degrees = n + m - 2.0;
    let pooled = (variance(left) * (n - 1.0) + variance(right) * (m - 1.0)) / degrees;
    let error = (pooled * (1.0 / n + 1.0 / m)).sqrt();
    let estimate = mean(right) - mean(left);
    let p_value = match (estimate == 0.0, error > 0.0) {
        (true, _) => 1.0,
        (false, true) => student::two_sided_p(estimate / error, degrees),
        (false, false) => 0.0,
    };
    (MeanInterval::around(estimate, student::half_width(degrees) * error), p_value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ripple(place: u32) -> f64 {
        1.0 + f64::from(place * 7 % 10) / 1_000.0
    }

    #[test]
    fn every_level_is_found_where_it_begins() {
        let level = |place| match place {
            0..20 => 100.0,
            20..45 => 110.0,
            _ => 90.0,
        };
        let figures: Vec<f64> = (0..70).map(|place| level(place) * ripple(place)).collect();
        let changes = level_changes(&figures).unwrap();
        assert_eq!(changes.iter().map(|change| change.at).collect::<Vec<_>>(), [20, 45]);
        assert!(
            (changes[0].change - 0.1).abs() < 0.005 && changes[0].low > 0.09 && changes[0].high < 0.11,
            "{changes:?}"
        );
        assert!((changes[1].change + 2.0 / 11.0).abs() < 0.005, "{changes:?}");
    }

    #[test]
    fn an_outlier_and_a_constant_are_no_change() {
        let mut figures: Vec<f64> = (0..40).map(|place| 100.0 * ripple(place)).collect();
        figures[17] = 150.0;
        assert_eq!(level_changes(&figures), Ok(vec![]));
        assert_eq!(level_changes(&[3.0; 30]), Ok(vec![]));
    }

    #[test]
    fn what_cannot_be_judged_is_refused() {
        let few = level_changes(&[1.0; 9]).unwrap_err();
        assert_eq!(few, NoHistory::TooFewRuns { have: 9 });
        assert!(few.to_string().ends_with("1 more"), "{few}");
        assert_eq!(level_changes(&[0.0; 10]), Err(NoHistory::NotPositive));
    }
}
