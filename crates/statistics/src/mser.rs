//! Where a warm-up ends.

use crate::sample::{batches, mean, variance};

/// Neighbours in a batch.
pub(crate) const BATCH: usize = 5;

/// How far the first batch lies from the settled ones, in their standard deviations, for there to have been a warm-up.
const APART: f64 = 2.0;

/// Where the warm-up of a series ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// So many values at its beginning belong to it; 0: there is none to be seen.
    After(usize),
    /// Not within the first half: by this method the series never settled.
    NotWithinHalf,
}

/// MSER-5 (White, Cobb and Spratt, WSC 2000): of batches of five, so many are cut off at the beginning, at most half, that
/// the standard error of the mean of what remains is least: argmin over d of Σ (z_i − z̄)² / (n − d)². At half itself the
/// method does not tell (Hoad, Robinson and Davies, WSC 2008).
///
/// The method cuts before a single outlier too, wherever it lies. A stall in the middle of a run is no warm-up: what is cut
/// has to begin apart from the rest, by more than two standard deviations of its batches.
///
/// `None`: fewer than four batches.
#[must_use]
pub fn mser5(values: &[f64]) -> Option<Truncation> {
    let batches = batches(values, BATCH);
    let half = batches.len() / 2;
    if half < 2 {
        return None;
    }
    let cut = least_error(&batches, half);
    if cut == half {
        return Some(Truncation::NotWithinHalf);
    }
    let rest = &batches[cut..];
    let is_apart = (batches[0] - mean(rest)).abs() > APART * variance(rest).sqrt();
    Some(Truncation::After(if is_apart { cut * BATCH } else { 0 }))
}

/// How many batches to leave out at the beginning, at most `half`. Sums are taken from the end: the time is linear.
fn least_error(batches: &[f64], half: usize) -> usize {
    // Around the mean of all, so that squares do not lose their digits.
    let centre = mean(batches);
    let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
    let (mut best, mut least) = (half, f64::INFINITY);
    for (place, batch) in batches.iter().enumerate().rev() {
        sum += batch - centre;
        squares += (batch - centre).powi(2);
        count += 1.0;
        if place <= half {
            let error = (squares - sum * sum / count) / (count * count);
            // Of equals the earliest.
            if error <= least {
                (best, least) = (place, error);
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_at_the_beginning_is_cut_and_nothing_else() {
        let values = |first: usize| (0..100).map(move |i| if i < first { 50.0 } else { 100.0 + (i % 2) as f64 });
        assert_eq!(mser5(&values(0).collect::<Vec<_>>()), Some(Truncation::After(0)));
        assert_eq!(mser5(&values(15).collect::<Vec<_>>()), Some(Truncation::After(15)));
        assert_eq!(mser5(&values(17).collect::<Vec<_>>()), Some(Truncation::After(20)));
        assert_eq!(mser5(&[1.0; 19]), None);
        assert_eq!(mser5(&[1.0; 20]), Some(Truncation::After(0)));
    }

    #[test]
    fn a_line_never_settles() {
        let line: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(mser5(&line), Some(Truncation::NotWithinHalf));
    }

    #[test]
    fn a_stall_on_the_way_is_no_warm_up() {
        let mut random = fastrand::Rng::with_seed(3);
        let mut values: Vec<f64> = (0..300).map(|_| 100.0 + random.f64()).collect();
        values[100] = 5.0;
        assert_eq!(mser5(&values), Some(Truncation::After(0)));
    }
}
