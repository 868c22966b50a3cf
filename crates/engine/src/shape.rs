//! How a load changes with time: a shape, by which its rate, or the number of its users, is multiplied. Pure.

mod timeline;

pub use timeline::Timeline;

use crate::{profile::ShapeKind, units::Span};
use serde::{Deserialize, Serialize};
use std::{f64::consts::TAU, fmt, time::Duration};

/// How a load changes with time, in multiples of its mean; a rise, of what it ends at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "shape")]
pub enum Shape {
    /// It stays as it is.
    #[default]
    Constant,
    /// It goes from step to step, and begins again after a period; without one its last step lasts.
    Steps {
        /// What the profile calls it.
        kind: ShapeKind,
        /// By time, from 0 on.
        steps: Vec<ShapeStep>,
        /// How long all steps are.
        period_ns: Option<u64>,
    },
    /// It swings about its mean.
    Sine {
        /// From one greatest load to the next.
        period_ns: u64,
        /// How far, from 0 to 1.
        swing: f64,
    },
    /// It grows evenly from nothing, and stays.
    Rise {
        /// How long it grows.
        rise_ns: u64,
    },
}

/// A step of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShapeStep {
    /// When it begins.
    pub from_ns: u64,
    /// How many times the mean.
    pub factor: f64,
}

impl Shape {
    /// Whether it is none.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        *self == Self::Constant
    }

    /// After how long it begins again; `None`: never.
    #[must_use]
    pub fn period_ns(&self) -> Option<u64> {
        match self {
            Self::Constant | Self::Rise { .. } => None,
            Self::Steps { period_ns, .. } => *period_ns,
            Self::Sine { period_ns, .. } => Some(*period_ns),
        }
    }

    /// Its greatest multiple.
    #[must_use]
    pub fn peak(&self) -> f64 {
        match self {
            Self::Constant | Self::Rise { .. } => 1.0,
            Self::Steps { steps, .. } => steps.iter().map(|step| step.factor).fold(0.0, f64::max),
            Self::Sine { swing, .. } => 1.0 + swing,
        }
    }

    /// Its multiple at a time since the load's beginning.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times of a run in ns lie far below 2^53")]
    pub fn factor(&self, at_ns: u64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Steps { steps, period_ns, .. } => {
                let within_ns = period_ns.map_or(at_ns, |period_ns| at_ns % period_ns.max(1));
                let begun = steps.partition_point(|step| step.from_ns <= within_ns);
                begun.checked_sub(1).and_then(|last| steps.get(last)).map_or(0.0, |step| step.factor)
            }
            Self::Sine { period_ns, swing } => 1.0 + swing * (TAU * at_ns as f64 / *period_ns as f64).sin(),
            Self::Rise { rise_ns } => (at_ns as f64 / *rise_ns as f64).min(1.0),
        }
    }

    /// How many of so many users, which there are at its peak, are there at a time.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a number of users")]
    pub fn users(&self, most: u32, at_ns: u64) -> u32 {
        (f64::from(most) * self.factor(at_ns) / self.peak()).round() as u32
    }

    /// When, after a time, the number of users is looked at again; `None`: it stays.
    #[must_use]
    pub fn next_look(&self, at_ns: u64) -> Option<u64> {
        match self {
            Self::Constant => None,
            Self::Steps { steps, period_ns, .. } => {
                let begins_ns = period_ns.map_or(0, |period_ns| at_ns - at_ns % period_ns.max(1));
                let next = steps.iter().map(|step| begins_ns + step.from_ns).find(|&from_ns| from_ns > at_ns);
                next.or(period_ns.map(|period_ns| begins_ns + period_ns))
            }
            Self::Rise { rise_ns } if at_ns >= *rise_ns => None,
            Self::Sine { .. } | Self::Rise { .. } => Some(at_ns + LOOK_NS),
        }
    }
}

/// A number of users that changes all the time is looked at so often.
const LOOK_NS: u64 = 50_000_000;

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let span = |ns: u64| Span(Duration::from_nanos(ns));
        let peak = self.peak();
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Steps { kind, steps, period_ns: Some(period_ns) } if *kind == ShapeKind::Burst => {
                let burst = steps.get(1).map_or(*period_ns, |step| step.from_ns);
                write!(f, "bursts of {} each {}, {peak} times the mean", span(burst), span(*period_ns))
            }
            Self::Steps { kind, period_ns: Some(period_ns), .. } => {
                write!(f, "a {kind} each {}, up to {peak:.2} times the mean", span(*period_ns))
            }
            Self::Steps { kind, steps, period_ns: None } => {
                write!(f, "a {kind} of {} rates, up to {peak:.2} times the mean", steps.len())
            }
            Self::Sine { period_ns, .. } => write!(f, "a sine each {}, up to {peak} times the mean", span(*period_ns)),
            Self::Rise { rise_ns } => write!(f, "a rise from nothing over {}", span(*rise_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn bursts() -> Shape {
        let steps = vec![ShapeStep { from_ns: 0, factor: 5.0 }, ShapeStep { from_ns: S, factor: 0.5 }];
        Shape::Steps { kind: ShapeKind::Burst, steps, period_ns: Some(9 * S) }
    }

    #[test]
    fn a_step_lasts_until_the_next_and_all_begin_again() {
        let factors = [0, S - 1, S, 9 * S - 1, 9 * S, 10 * S].map(|at_ns| bursts().factor(at_ns));
        assert_eq!(factors, [5.0, 5.0, 0.5, 0.5, 5.0, 0.5]);
        let looks = [0, S, 9 * S - 1, 9 * S].map(|at_ns| bursts().next_look(at_ns));
        assert_eq!(looks, [Some(S), Some(9 * S), Some(9 * S), Some(10 * S)]);
    }

    #[test]
    fn a_trace_holds_its_last_rate_and_has_none_before_its_first() {
        let steps = vec![ShapeStep { from_ns: S, factor: 2.0 }, ShapeStep { from_ns: 2 * S, factor: 0.0 }];
        let trace = Shape::Steps { kind: ShapeKind::Trace, steps, period_ns: None };
        assert_eq!([0, S, 2 * S, 99 * S].map(|at_ns| trace.factor(at_ns)), [0.0, 2.0, 0.0, 0.0]);
        assert_eq!([0, S, 2 * S].map(|at_ns| trace.next_look(at_ns)), [Some(S), Some(2 * S), None]);
        assert_eq!((trace.peak(), trace.period_ns()), (2.0, None));
    }

    #[test]
    fn users_are_all_there_at_the_peak() {
        assert_eq!([0, S].map(|at_ns| bursts().users(100, at_ns)), [100, 10]);
        let rise = Shape::Rise { rise_ns: 10 * S };
        assert_eq!([0, 5 * S, 10 * S, 99 * S].map(|at_ns| rise.users(100, at_ns)), [0, 50, 100, 100]);
        assert_eq!((rise.next_look(S), rise.next_look(10 * S)), (Some(S + LOOK_NS), None));
        let sine = Shape::Sine { period_ns: 4 * S, swing: 1.0 };
        assert_eq!([0, S, 2 * S, 3 * S].map(|at_ns| sine.users(100, at_ns)), [50, 100, 50, 0]);
        assert_eq!((Shape::Constant.users(100, 7), Shape::Constant.next_look(7)), (100, None));
    }

    #[test]
    fn it_is_told_in_words() {
        assert_eq!(bursts().to_string(), "bursts of 1s each 9s, 5 times the mean");
        assert_eq!(Shape::Rise { rise_ns: 90 * S }.to_string(), "a rise from nothing over 90s");
        let sine = Shape::Sine { period_ns: 60 * S, swing: 0.5 };
        assert_eq!(sine.to_string(), "a sine each 1m, up to 1.5 times the mean");
    }
}
