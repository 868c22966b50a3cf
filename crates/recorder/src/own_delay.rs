//! Where the client's own delay makes a figure of the response times a range.

use crate::bounded::Bounded;
use crate::quantile::Level;

/// A difference of so much never matters, in nanoseconds.
const FLOOR_NS: f64 = 100_000.0;

/// The part of a figure that the client's own delay may be.
const PART: f64 = 0.05;

/// A figure without and with the client's own delay, in nanoseconds: the true one lies between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnDelayRange {
    /// Without it.
    pub without_ns: f64,
    /// With it, as measured.
    pub with_ns: f64,
}

impl OwnDelayRange {
    /// The range of two figures; `None` where they agree within the greater of 5 % and 100 µs.
    #[must_use]
    pub fn of(without_ns: f64, with_ns: f64) -> Option<Self> {
        (with_ns - without_ns > FLOOR_NS.max(PART * with_ns)).then_some(Self { without_ns, with_ns })
    }
}

impl Bounded {
    /// The range of the quantile at `level`, where it is known and the client's own delay matters. `undelayed`: the same
    /// durations without it; one that holds fewer says nothing.
    #[must_use]
    pub fn quantile_range(&self, undelayed: &Self, level: Level) -> Option<OwnDelayRange> {
        let with_ns = self.quantile(level).ns().filter(|_| self.count() == undelayed.count())?;
        let without_ns = undelayed.bounds(level)?.at_least_ns;
        OwnDelayRange::of(without_ns as f64, with_ns as f64)
    }

    /// The same of the mean.
    #[must_use]
    pub fn mean_range(&self, undelayed: &Self) -> Option<OwnDelayRange> {
        let with_ns = self.mean_ns().filter(|_| self.count() == undelayed.count())?;
        OwnDelayRange::of(undelayed.mean_ns()?, with_ns)
    }

    /// The same of the greatest.
    #[must_use]
    pub fn max_range(&self, undelayed: &Self) -> Option<OwnDelayRange> {
        let with_ns = self.max_ns().filter(|_| self.count() == undelayed.count())?;
        OwnDelayRange::of(undelayed.max_ns()? as f64, with_ns as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OperationKind, Outcome, Payload, Recorder, Recording, Requests, Timing};

    /// 2,000 operations of `response_ns`, each sent late by `own_ns` of them: the ends of p99 and of the mean, in µs.
    fn ranges(response_ns: u64, own_ns: u64) -> [Option<[f64; 2]>; 2] {
        let kinds: std::sync::Arc<[OperationKind]> =
            [OperationKind { name: "write".into(), requests: Requests::One }].into();
        let mut recorder = Recorder::new(std::sync::Arc::clone(&kinds));
        for number in 0..2_000 {
            let due_ns = number * 1_000_000;
            let timing = Timing::new(due_ns, due_ns + own_ns, due_ns + response_ns).unwrap().with_own_delay(own_ns);
            recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 1, 1));
        }
        let mut all = Recording::new(kinds);
        recorder.finish().iter().for_each(|window| all.merge(window.recording()).unwrap());
        let (with, without) = (all.kind(0).response(), all.kind(0).undelayed());
        let ends = |range: OwnDelayRange| [range.without_ns, range.with_ns].map(|ns| (ns / 1e4).round() * 10.0);
        [with.quantile_range(&without, Level::P99), with.mean_range(&without)].map(|range| range.map(ends))
    }

    #[test]
    fn below_100_microseconds_a_delay_does_not_matter() {
        assert_eq!(ranges(400_000, 99_000), [None, None]);
        assert_eq!(ranges(400_000, 101_000), [Some([300.0, 400.0]); 2]);
    }

    #[test]
    fn above_that_five_percent_do_not() {
        assert_eq!(ranges(10_000_000, 490_000), [None, None]);
        assert_eq!(ranges(10_000_000, 510_000), [Some([9_490.0, 10_000.0]); 2]);
    }

    #[test]
    fn where_it_is_not_known_there_is_no_range() {
        let mut response = crate::LatencyHistogram::new();
        response.record_many(1_000_000, 2_000);
        assert_eq!(Bounded::from(&response).quantile_range(&Bounded::default(), Level::P99), None);
    }

    #[test]
    fn the_greatest_is_a_range_too_and_what_is_at_the_bound_is_none() {
        assert_eq!(OwnDelayRange::of(300_000.0, 400_000.0), None);
        let of = |ns| {
            Bounded::from(&{
                let mut histogram = crate::LatencyHistogram::new();
                histogram.record_many(ns, 2);
                histogram
            })
        };
        let range = OwnDelayRange { without_ns: 300_000.0, with_ns: 400_001.0 };
        assert_eq!(of(400_001).max_range(&of(300_000)), Some(range));
        assert_eq!(of(400_001).max_range(&Bounded::default()), None, "not known");
    }
}
