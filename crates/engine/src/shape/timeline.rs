//! When an operation of a shaped load starts: the time by which so much of its mean has come together. Pure.
//!
//! A schedule counts in the time that a constant load would take; the shape's integral, inverted, makes of that the time of the
//! start. Of independent exponential distances this makes a Poisson process whose rate has the shape (Çinlar 1975).

use super::Shape;
use std::{f64::consts::TAU, sync::Arc};

/// A shape with its integral.
#[derive(Clone, Debug)]
pub struct Timeline(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Constant,
    Steps { pieces: Arc<[Piece]>, period: Option<f64> },
    Sine { period: f64, swing: f64 },
    Rise { rise: f64 },
}

/// A step, with the integral up to it.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from_ns: f64,
    before: f64,
    factor: f64,
}

/// So near, in nanoseconds, a start is where it belongs.
const NEAR_NS: f64 = 0.25;
/// Newton's method needs about five.
const MAX_STEPS: u32 = 64;

impl Timeline {
    /// Of a shape.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times of a run in ns lie far below 2^53")]
    pub fn of(shape: &Shape) -> Self {
        Self(match shape {
            Shape::Constant => Kind::Constant,
            Shape::Steps { steps, period_ns, .. } => {
                let mut pieces: Vec<Piece> = Vec::with_capacity(steps.len());
                for step in steps {
                    let from_ns = step.from_ns as f64;
                    let before = pieces.last().map_or(0.0, |last| last.by(from_ns));
                    pieces.push(Piece { from_ns, before, factor: step.factor });
                }
                Kind::Steps { pieces: pieces.into(), period: period_ns.map(|ns| ns as f64) }
            }
            Shape::Sine { period_ns, swing } => Kind::Sine { period: *period_ns as f64, swing: *swing },
            Shape::Rise { rise_ns } => Kind::Rise { rise: *rise_ns as f64 },
        })
    }

    /// How long a constant load would take for what has come by a time, both in nanoseconds.
    #[must_use]
    pub fn by(&self, at_ns: f64) -> f64 {
        match &self.0 {
            Kind::Constant => at_ns,
            Kind::Steps { pieces, period: None } => by(pieces, at_ns),
            Kind::Steps { pieces, period: Some(period) } => {
                let periods = (at_ns / period).floor();
                periods * by(pieces, *period) + by(pieces, at_ns - periods * period)
            }
            Kind::Sine { period, swing } => at_ns + swing * period / TAU * (1.0 - (TAU * at_ns / period).cos()),
            Kind::Rise { rise } if at_ns < *rise => at_ns * at_ns / (2.0 * rise),
            Kind::Rise { rise } => at_ns - rise / 2.0,
        }
    }

    /// When what a constant load would have brought by then has come; `None`: never.
    #[must_use]
    pub fn when(&self, constant_ns: f64) -> Option<f64> {
        match &self.0 {
            Kind::Constant => Some(constant_ns),
            Kind::Steps { pieces, period: None } => when(pieces, constant_ns),
            Kind::Steps { pieces, period: Some(period) } => {
                let of_period = by(pieces, *period);
                let periods = (constant_ns / of_period).floor();
                Some(periods * period + when(pieces, constant_ns - periods * of_period)?)
            }
            Kind::Sine { period, swing } => {
                let periods = (constant_ns / period).floor();
                Some(periods * period + self.within_sine(constant_ns - periods * period, *period, *swing))
            }
            Kind::Rise { rise } if constant_ns < rise / 2.0 => Some((2.0 * constant_ns * rise).sqrt()),
            Kind::Rise { rise } => Some(constant_ns + rise / 2.0),
        }
    }

    /// Newton's method within bounds, which are halved where it would leave them.
    fn within_sine(&self, wanted: f64, period: f64, swing: f64) -> f64 {
        let (mut least, mut most) = ((wanted - swing * period * 2.0 / TAU).max(0.0), wanted);
        let mut at = wanted;
        for _ in 0..MAX_STEPS {
            let beyond = self.by(at) - wanted;
            if beyond.abs() < NEAR_NS {
                break;
            }
            *(if beyond > 0.0 { &mut most } else { &mut least }) = at;
            let next = at - beyond / (1.0 + swing * (TAU * at / period).sin());
            at = if next > least && next < most { next } else { f64::midpoint(least, most) };
        }
        at
    }
}

impl Piece {
    fn by(&self, at_ns: f64) -> f64 {
        self.before + self.factor * (at_ns - self.from_ns)
    }
}

fn by(pieces: &[Piece], at_ns: f64) -> f64 {
    let begun = pieces.partition_point(|piece| piece.from_ns <= at_ns);
    begun.checked_sub(1).and_then(|last| pieces.get(last)).map_or(0.0, |piece| piece.by(at_ns))
}

/// Of pieces in which nothing comes the one behind them is meant.
fn when(pieces: &[Piece], wanted: f64) -> Option<f64> {
    let begun = pieces.partition_point(|piece| piece.before <= wanted);
    let piece = pieces.get(begun.checked_sub(1)?)?;
    (piece.factor > 0.0).then(|| piece.from_ns + (wanted - piece.before) / piece.factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{profile::ShapeKind, shape::ShapeStep};
    use proptest::prelude::*;

    const S: f64 = 1e9;

    fn steps(steps: &[(u64, f64)], period_s: Option<u64>) -> Timeline {
        let steps = steps.iter().map(|&(s, factor)| ShapeStep { from_ns: s * 1_000_000_000, factor }).collect();
        let period_ns = period_s.map(|s| s * 1_000_000_000);
        Timeline::of(&Shape::Steps { kind: ShapeKind::Trace, steps, period_ns })
    }

    #[test]
    fn nothing_starts_where_a_step_is_none() {
        let pauses = steps(&[(0, 0.0), (2, 3.0), (3, 0.0)], Some(3));
        let starts = [0.0, 0.5 * S, 3.0 * S, 3.3 * S].map(|at| pauses.when(at));
        assert_eq!(starts, [Some(2.0 * S), Some(2.0 * S + S / 6.0), Some(5.0 * S), Some(5.1 * S)]);
        let ends = steps(&[(0, 2.0), (3, 0.0)], None);
        assert_eq!((ends.when(5.0 * S), ends.when(6.0 * S)), (Some(2.5 * S), None));
        assert_eq!((ends.by(99.0 * S), ends.by(0.5 * S)), (6.0 * S, S));
    }

    #[test]
    fn a_rise_brings_half_of_what_it_ends_at() {
        let rise = Timeline::of(&Shape::Rise { rise_ns: 10_000_000_000 });
        assert_eq!([0.0, 5.0 * S, 10.0 * S, 12.0 * S].map(|at| rise.by(at)), [0.0, 1.25 * S, 5.0 * S, 7.0 * S]);
        assert_eq!(
            [0.0, 1.25 * S, 5.0 * S, 7.0 * S].map(|at| rise.when(at)),
            [Some(0.0), Some(5.0 * S), Some(10.0 * S), Some(12.0 * S)]
        );
    }

    fn timelines() -> impl Strategy<Value = Timeline> {
        let repeated = prop::collection::vec((1_u64..50, 0.01_f64..20.0), 1..20).prop_map(|parts| {
            let mut from = 0;
            let mut pieces = Vec::new();
            for (length, factor) in parts {
                pieces.push((from, factor));
                from += length;
            }
            steps(&pieces, Some(from))
        });
        let sine = (1_u64..100_000, 0.0_f64..=1.0)
            .prop_map(|(ms, swing)| Timeline::of(&Shape::Sine { period_ns: ms * 1_000_000, swing }));
        let rise = (1_u64..100_000).prop_map(|ms| Timeline::of(&Shape::Rise { rise_ns: ms * 1_000_000 }));
        prop_oneof![repeated, sine, rise, Just(Timeline::of(&Shape::Constant))]
    }

    proptest! {
        #[test]
        fn when_undoes_by(timeline in timelines(), at_s in 0.0_f64..100_000.0) {
            let at_ns = at_s * S;
            let constant_ns = timeline.by(at_ns);
            let back = timeline.when(constant_ns).unwrap();
            // Where hardly anything comes, many times bring nearly the same.
            prop_assert!((timeline.by(back) - constant_ns).abs() < 1e3, "{at_ns} came back as {back}");
        }

        #[test]
        fn later_is_never_earlier(timeline in timelines(), first_s in 0.0_f64..1_000.0, by_ns in 1.0_f64..1e9) {
            let first = timeline.when(first_s * S).unwrap();
            let next = timeline.when(first_s * S + by_ns).unwrap();
            prop_assert!(next >= first - 1.0, "{next} after {first}");
        }
    }
}
