//! How far equals lie apart: A/A comparisons.

use crate::{
    difference::{Sides, difference},
    repetitions::quantile,
};

/// Random halvings of the runs.
const SPLITS: usize = 1_000;

/// What comparisons of equals find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseFloor {
    /// Runs in each half.
    pub runs_a_side: usize,
    /// 95 % of the comparisons find a smaller change than this part of the base.
    pub floor: f64,
    /// The share of the comparisons whose change is certain and at least the threshold: false alarms, of either direction.
    pub alarms: f64,
}

/// Halves the runs of one and the same thing at random, a thousand times, and compares the halves as two sides would be. With
/// an odd number of runs one is left out each time. The seed decides the halvings.
///
/// `None`: fewer than four runs, or a figure that has no ratio.
#[must_use]
pub fn noise_floor(figures: &[f64], threshold: f64, seed: u64) -> Option<NoiseFloor> {
    let runs_a_side = figures.len() / 2;
    if runs_a_side < 2 {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let mut drawn = figures.to_vec();
    let mut changes = Vec::with_capacity(SPLITS);
    let mut alarms = 0;
    for _ in 0..SPLITS {
        random.shuffle(&mut drawn);
        let (base, rest) = drawn.split_at(runs_a_side);
        let new = rest.iter().copied().take(runs_a_side).collect();
        let found = difference(&Sides::Apart { base: base.into(), new }).ok()?;
        alarms += usize::from((found.low > 0.0 || found.high < 0.0) && found.change.abs() >= threshold);
        changes.push(found.change.abs());
    }
    changes.sort_by(f64::total_cmp);
    Some(NoiseFloor { runs_a_side, floor: quantile(&changes, 0.95), alarms: alarms as f64 / SPLITS as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_and_too_few_runs_have_no_halves() {
        let figures = [3.0, 3.1, 2.9, 3.05, 3.2];
        assert_eq!(noise_floor(&figures, 0.03, 1), noise_floor(&figures, 0.03, 1));
        assert_eq!(noise_floor(&figures, 0.03, 1).unwrap().runs_a_side, 2);
        assert_eq!(noise_floor(&figures[..3], 0.03, 1), None);
        assert_eq!(noise_floor(&[1.0, 0.0, 1.0, 1.0], 0.03, 1), None);
        let alike = noise_floor(&[2.0; 6], 0.03, 1).unwrap();
        assert!(alike.floor < 1e-12 && alike.alarms < f64::EPSILON, "{alike:?}");
    }
}
