//! Whether what is acknowledged becomes visible as fast: for databases whose acknowledgement does not say that it is stored.
//!
//! The *backlog* is what was acknowledged and is not seen yet. A load is sustained when the backlog does not grow: its slope
//! over a stretch, by least squares through several counts, is what the visible rate lacks of the acknowledged one. By
//! Little's law the backlog over the acknowledged rate is the lag from acknowledged to visible.

mod course;
mod pause;
mod settling;
mod watch;

pub use course::AckedCourse;
pub use settling::{Settling, SettlingCounts};
pub use watch::{Look, VisibleWatch};

use crate::trend::{Line, MIN_POINTS, STANDARD_ERRORS};
use serde::{Deserialize, Serialize};

/// Part of the acknowledged rate that has to become visible.
const VISIBLE_PART: f64 = 0.99;

/// How fast acknowledged datapoints became visible over a stretch of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visibility {
    /// Datapoints acknowledged a second.
    pub acked_per_s: f64,
    /// Datapoints that became visible a second.
    pub visible_per_s: f64,
    /// From acknowledged to visible at the stretch's beginning, in seconds.
    pub lag_first_s: f64,
    /// At its end.
    pub lag_last_s: f64,
    /// How much the lag grows in a second, and its standard error.
    pub lag_growth: f64,
    /// See `lag_growth`.
    pub lag_growth_error: f64,
}

impl Visibility {
    /// From what was counted in a stretch, as times in seconds and backlogs in datapoints. `None`: too few counts, or
    /// nothing was acknowledged meanwhile.
    pub fn of(backlogs: &[(f64, f64)], acked_per_s: f64) -> Option<Self> {
        let (&(first_s, _), &(last_s, _)) = (backlogs.first()?, backlogs.last()?);
        let line = Line::through(after_filling(backlogs, acked_per_s))?;
        let lag_at = |s: f64| (line.at(s) / acked_per_s).max(0.0);
        (acked_per_s > 0.0).then(|| Self {
            acked_per_s,
            visible_per_s: acked_per_s - line.slope,
            lag_first_s: lag_at(first_s),
            lag_last_s: lag_at(last_s),
            lag_growth: line.slope / acked_per_s,
            lag_growth_error: line.error / acked_per_s,
        })
    }

    /// Why this cannot go on; `None`: it can.
    pub fn failure(&self) -> Option<String> {
        let falls_behind = self.lag_growth > 1.0 - VISIBLE_PART;
        // Databases that store in batches make saw teeth.
        let is_certain = self.lag_growth > STANDARD_ERRORS * self.lag_growth_error;
        // Counts that take a while see what came meanwhile: a line through them may rise towards nothing.
        let is_behind = self.lag_last_s > 0.0;
        (falls_behind && is_certain && is_behind).then(|| {
            format!(
                "visible at {:.1} % of the acknowledged rate, the lag grew from {:.1} s to {:.1} s",
                100.0 * self.visible_per_s / self.acked_per_s,
                self.lag_first_s,
                self.lag_last_s
            )
        })
    }
}

/// Without the first counts, for as long as the mean lag, but half of the stretch at most: a load that begins fills the
/// way from acknowledged to visible, which is growth only to them. All, where the others are too few for a line.
fn after_filling(backlogs: &[(f64, f64)], acked_per_s: f64) -> &[(f64, f64)] {
    let (Some(&(first_s, _)), Some(&(last_s, _))) = (backlogs.first(), backlogs.last()) else { return backlogs };
    #[expect(clippy::cast_precision_loss, reason = "some counts")]
    let lags = backlogs.len() as f64;
    let mean_lag_s = backlogs.iter().map(|(_, backlog)| (backlog / acked_per_s).max(0.0)).sum::<f64>() / lags;
    let since_s = first_s + mean_lag_s.min((last_s - first_s) / 2.0);
    let others = &backlogs[backlogs.partition_point(|&(s, _)| s < since_s)..];
    if others.len() < MIN_POINTS { backlogs } else { others }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn looks(count: u32, backlog: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        (0..count).map(f64::from).map(|s| (s, backlog(s))).collect()
    }

    #[test]
    fn a_backlog_that_stays_is_a_lag_that_stays() {
        let seen = Visibility::of(&looks(10, |_| 500.0), 1000.0).unwrap();
        assert_eq!((seen.visible_per_s, seen.lag_first_s, seen.lag_last_s), (1000.0, 0.5, 0.5));
        assert_eq!(seen.failure(), None);
    }

    #[test]
    fn a_database_that_falls_behind_is_named_with_its_lag() {
        let seen = Visibility::of(&looks(11, |s| 100.0 + 50.0 * s), 1000.0).unwrap();
        assert!((seen.visible_per_s - 950.0).abs() < 1e-9);
        let why = "visible at 95.0 % of the acknowledged rate, the lag grew from 0.1 s to 0.6 s";
        assert_eq!(seen.failure().as_deref(), Some(why));
    }

    /// A lag of 0.6 s, from nothing at the beginning, in steps of four seconds.
    #[test]
    fn a_way_that_fills_is_no_growth() {
        for number in 0..100 {
            let times_s = (0..8).scan(0.0, |s: &mut f64, count| {
                *s += at_random(8 * number + count);
                Some(*s)
            });
            let backlogs: Vec<_> = times_s.map(|s| (s, 1000.0 * s.min(0.6))).collect();
            assert_eq!(Visibility::of(&backlogs, 1000.0).unwrap().failure(), None, "{backlogs:?}");
        }
    }

    #[test]
    fn a_database_that_catches_up_passes() {
        let seen = Visibility::of(&looks(11, |s| 5000.0 - 400.0 * s), 1000.0).unwrap();
        assert!((seen.visible_per_s - 1400.0).abs() < 1e-9);
        assert_eq!(seen.failure(), None);
    }

    #[test]
    fn a_database_that_has_nothing_left_to_show_is_not_behind() {
        let seen = Visibility::of(&looks(11, |s| 60.0 * s - 900.0), 1000.0).unwrap();
        assert_eq!((seen.lag_last_s, seen.failure()), (0.0, None));
        assert!(Visibility::of(&looks(11, |s| 60.0 * s - 300.0), 1000.0).unwrap().failure().is_some());
    }

    #[test]
    fn too_few_counts_and_no_load_tell_nothing() {
        assert_eq!(Visibility::of(&looks(3, |s| s), 1000.0), None);
        assert_eq!(Visibility::of(&looks(9, |s| s), 0.0), None);
        assert_eq!(Visibility::of(&[(1.0, 2.0); 9], 5.0), None, "all at one time");
    }

    /// The watch's pauses, counting taking no time.
    fn at_random(number: u64) -> f64 {
        pause::pause(number, Duration::ZERO).as_secs_f64()
    }

    /// A database that stores in batches, counted for six seconds with these pauses: the share of stretches that fail.
    fn failing_part(period_s: f64, growth: f64, pause_s: fn(u64) -> f64) -> f64 {
        const STRETCHES: u64 = 400;
        let mut number = 0;
        let failed = (0..STRETCHES).filter(|&stretch| {
            let phase = stretch as f64 / STRETCHES as f64;
            let mut times_s = Vec::new();
            let mut s = 0.0;
            while s < 6.0 {
                times_s.push(s);
                s += pause_s(number);
                number += 1;
            }
            let lag = |s: f64| period_s * (s / period_s + phase).fract() + growth * s;
            let backlogs: Vec<_> = times_s.iter().map(|&s| (s, 1000.0 * lag(s))).collect();
            Visibility::of(&backlogs, 1000.0).unwrap().failure().is_some()
        });
        failed.count() as f64 / STRETCHES as f64
    }

    #[test]
    fn batches_of_any_period_are_no_growth() {
        let periods_s = [0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.05, 1.2, 1.5, 2.0, 2.5];
        let false_alarms = periods_s.map(|period_s| failing_part(period_s, 0.0, at_random));
        assert!(false_alarms.iter().all(|&part| part <= 0.06), "{false_alarms:?}");
        assert!(false_alarms.iter().sum::<f64>() / 11.0 <= 0.025, "{false_alarms:?}");
    }

    #[test]
    fn counted_as_often_as_batches_come_they_would_seem_to_grow() {
        let false_alarms = failing_part(0.95, 0.0, |_| 1.01);
        assert!(false_alarms >= 0.6, "{false_alarms}");
    }

    #[test]
    fn what_grows_is_found_unless_the_batches_hide_it() {
        for (period_s, growth) in [(0.1, 0.03), (0.3, 0.06), (0.5, 0.1), (1.0, 0.3)] {
            let found = failing_part(period_s, growth, at_random);
            assert!(found >= 0.9, "{growth} with batches of {period_s} s: {found}");
        }
    }

    #[test]
    fn a_lag_may_grow_by_a_hundredth_and_by_what_is_not_certain() {
        let visibility = |lag_growth, lag_growth_error, lag_last_s| Visibility {
            acked_per_s: 1000.0,
            visible_per_s: 900.0,
            lag_first_s: 0.5,
            lag_last_s,
            lag_growth,
            lag_growth_error,
        };
        let fails = |growth, error, last_s| visibility(growth, error, last_s).failure().is_some();
        assert!(fails(0.05, 0.0, 1.0));
        assert!(!fails(1.0 - VISIBLE_PART, 0.0, 1.0) && !fails(0.05, 0.025, 1.0) && !fails(0.05, 0.0, 0.0));
    }

    /// Counts from the tenth second on, one a second, at 1,000 acknowledged a second.
    #[test]
    fn the_way_from_acknowledged_to_visible_fills_for_its_mean_lag_and_half_of_the_stretch_at_most() {
        let counts = |count: u32, backlog| (0..count).map(|s| (10.0 + f64::from(s), backlog)).collect::<Vec<_>>();
        let since = |backlogs: &[(f64, f64)]| {
            let others = after_filling(backlogs, 1000.0);
            (others[0].0, others.len())
        };
        assert_eq!(since(&counts(11, 2_000.0)), (12.0, 9), "two seconds of lag");
        assert_eq!(since(&counts(11, 100_000.0)), (15.0, 6), "half of ten seconds");
        assert_eq!(since(&counts(7, 100_000.0)), (13.0, 4), "the least that has a line");
        assert_eq!(since(&counts(5, 100_000.0)), (10.0, 5), "three have none");
        assert_eq!(since(&counts(11, -5_000.0)), (10.0, 11), "nothing waits");
    }
}
