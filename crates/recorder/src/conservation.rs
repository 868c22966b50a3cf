//! Counts of operations and datapoints, and the identities that they must satisfy.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// How it is said that an identity does not hold.
pub const NOT_CONSERVED: &str = "counts do not balance (a fault of iotbench)";

/// Operations of a phase, by their fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadCounts {
    /// Due by the schedule, or begun by a closed-loop user.
    pub offered: u64,
    /// Sent, at least in part.
    pub started: u64,
    /// Acknowledged.
    pub ok: u64,
    /// Definitely not applied.
    pub fail: u64,
    /// Sent, without a verdict.
    pub unknown: u64,
    /// Never started because too many were under way.
    pub dropped: u64,
    /// Not started when the phase ended.
    pub pending: u64,
    /// Handed to a broker by their device, and never delivered to a writer.
    #[serde(default)]
    pub undelivered: u64,
    /// Those of unknown, dropped and pending that are in the distribution as "at least": no term of a sum.
    pub censored: u64,
}

impl LoadCounts {
    /// Adds `other`, term by term. No number that somebody else wrote makes a sum go wrong.
    pub fn merge(&mut self, other: &Self) {
        add(&mut self.offered, other.offered);
        add(&mut self.started, other.started);
        add(&mut self.ok, other.ok);
        add(&mut self.fail, other.fail);
        add(&mut self.unknown, other.unknown);
        add(&mut self.dropped, other.dropped);
        add(&mut self.pending, other.pending);
        add(&mut self.undelivered, other.undelivered);
        add(&mut self.censored, other.censored);
    }

    /// Nobody tells any more what became of the rest: what was sent without a verdict stays unknown, and what was due without
    /// being sent stays pending. What was told in part is made up for.
    pub fn give_up(&mut self) {
        self.started = self.started.max(self.ok + self.fail + self.unknown);
        self.unknown = self.started - self.ok - self.fail;
        self.offered = self.offered.max(self.started + self.dropped + self.pending + self.undelivered);
        self.pending = self.offered - self.started - self.dropped - self.undelivered;
    }

    /// Checks offered = started + dropped + pending + undelivered, started = ok + fail + unknown, and that no more are censored than
    /// were left unanswered.
    ///
    /// # Errors
    /// Every identity that does not hold, with its numbers.
    pub fn check(&self) -> Result<(), Vec<ConservationError>> {
        let Self { offered, started, ok, fail, unknown, dropped, pending, undelivered, censored } = *self;
        let mut errors = Vec::new();
        if u128::from(offered) != sum(&[started, dropped, pending, undelivered]) {
            errors.push(ConservationError::Offered { offered, started, dropped, pending, undelivered });
        }
        if u128::from(started) != sum(&[ok, fail, unknown]) {
            errors.push(ConservationError::Started { started, ok, fail, unknown });
        }
        if u128::from(censored) > sum(&[unknown, dropped, pending]) {
            errors.push(ConservationError::Censored { censored, unknown, dropped, pending });
        }
        none_or(errors)
    }
}

/// Datapoints of a run, by their fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointCounts {
    /// Due by the sensors' plan.
    pub generated: u64,
    /// Lost by a sensor because its queue was full.
    pub dropped: u64,
    /// Not sent when the run ended.
    pub pending: u64,
    /// Handed to a broker by their device, and never delivered to a writer.
    #[serde(default)]
    pub undelivered: u64,
    /// Sent.
    pub sent: u64,
    /// Those of them that were sent a second time because the dataset says so: no term of a sum.
    #[serde(default)]
    pub sent_again: u64,
    /// Acknowledged.
    pub acked: u64,
    /// Definitely not stored.
    pub failed: u64,
    /// Sent, without a verdict.
    pub unknown: u64,
}

impl PointCounts {
    /// Adds `other`, term by term.
    pub fn merge(&mut self, other: &Self) {
        add(&mut self.generated, other.generated);
        add(&mut self.dropped, other.dropped);
        add(&mut self.pending, other.pending);
        add(&mut self.undelivered, other.undelivered);
        add(&mut self.sent, other.sent);
        add(&mut self.sent_again, other.sent_again);
        add(&mut self.acked, other.acked);
        add(&mut self.failed, other.failed);
        add(&mut self.unknown, other.unknown);
    }

    /// As [`LoadCounts::give_up`].
    pub fn give_up(&mut self) {
        self.sent = self.sent.max(self.acked + self.failed + self.unknown);
        self.unknown = self.sent - self.acked - self.failed;
        self.generated = self.generated.max(self.sent + self.dropped + self.pending + self.undelivered);
        self.pending = self.generated - self.sent - self.dropped - self.undelivered;
    }

    /// Checks generated = dropped + pending + undelivered + sent, sent = acked + failed + unknown, and that no more are second sends
    /// than were sent.
    ///
    /// # Errors
    /// Every identity that does not hold, with its numbers.
    pub fn check(&self) -> Result<(), Vec<ConservationError>> {
        let Self { generated, dropped, pending, undelivered, sent, sent_again, acked, failed, unknown } = *self;
        let mut errors = Vec::new();
        if u128::from(generated) != sum(&[dropped, pending, undelivered, sent]) {
            errors.push(ConservationError::Generated { generated, dropped, pending, undelivered, sent });
        }
        if u128::from(sent) != sum(&[acked, failed, unknown]) {
            errors.push(ConservationError::Sent { sent, acked, failed, unknown });
        }
        if sent_again > sent {
            errors.push(ConservationError::SentAgain { sent_again, sent });
        }
        none_or(errors)
    }
}

/// An identity of the counts that does not hold: operations or datapoints were lost or counted twice by the tool, so its
/// result must not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are the terms of the identity that the message prints")]
pub enum ConservationError {
    /// offered = started + dropped + pending + undelivered
    #[error(
        "offered {offered} is not started {started} + dropped {dropped} + pending {pending} + undelivered {undelivered} \
         operations"
    )]
    Offered { offered: u64, started: u64, dropped: u64, pending: u64, undelivered: u64 },
    /// started = ok + fail + unknown
    #[error("started {started} is not ok {ok} + fail {fail} + unknown {unknown} operations")]
    Started { started: u64, ok: u64, fail: u64, unknown: u64 },
    /// censored ≤ unknown + dropped + pending
    #[error("censored {censored} is more than unknown {unknown} + dropped {dropped} + pending {pending} operations")]
    Censored { censored: u64, unknown: u64, dropped: u64, pending: u64 },
    /// generated = dropped + pending + undelivered + sent
    #[error(
        "generated {generated} is not dropped {dropped} + pending {pending} + undelivered {undelivered} + sent {sent} \
         datapoints"
    )]
    Generated { generated: u64, dropped: u64, pending: u64, undelivered: u64, sent: u64 },
    /// sent = acked + failed + unknown
    #[error("sent {sent} is not acked {acked} + failed {failed} + unknown {unknown} datapoints")]
    Sent { sent: u64, acked: u64, failed: u64, unknown: u64 },
    /// sent again ≤ sent
    #[error("sent again {sent_again} is more than sent {sent} datapoints")]
    SentAgain { sent_again: u64, sent: u64 },
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

fn sum(terms: &[u64]) -> u128 {
    terms.iter().copied().map(u128::from).sum()
}

fn none_or(errors: Vec<ConservationError>) -> Result<(), Vec<ConservationError>> {
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

#[cfg(test)]
mod tests {
    use super::{ConservationError, LoadCounts, PointCounts};

    const LOAD: LoadCounts = LoadCounts {
        offered: 13,
        started: 7,
        ok: 4,
        fail: 2,
        unknown: 1,
        dropped: 2,
        pending: 1,
        undelivered: 3,
        censored: 4,
    };
    const POINTS: PointCounts = PointCounts {
        generated: 16,
        dropped: 2,
        pending: 1,
        undelivered: 4,
        sent: 9,
        sent_again: 9,
        acked: 5,
        failed: 3,
        unknown: 1,
    };

    #[test]
    fn sound_counts_pass() {
        assert_eq!(LOAD.check(), Ok(()));
        assert_eq!(POINTS.check(), Ok(()));
        assert_eq!(LoadCounts::default().check(), Ok(()));
    }

    #[test]
    fn one_off_in_any_term_is_found() {
        let load: [fn(&mut LoadCounts); 9] = [
            |c| c.offered += 1,
            |c| c.started += 1,
            |c| c.ok += 1,
            |c| c.fail += 1,
            |c| c.unknown += 1,
            |c| c.dropped += 1,
            |c| c.pending += 1,
            |c| c.undelivered += 1,
            |c| c.censored += 1,
        ];
        for (term, change) in load.into_iter().enumerate() {
            let mut counts = LOAD;
            change(&mut counts);
            assert!(counts.check().is_err(), "term {term}");
        }
        let points: [fn(&mut PointCounts); 9] = [
            |c| c.generated += 1,
            |c| c.dropped += 1,
            |c| c.pending += 1,
            |c| c.undelivered += 1,
            |c| c.sent += 1,
            |c| c.sent_again += 1,
            |c| c.acked += 1,
            |c| c.failed += 1,
            |c| c.unknown += 1,
        ];
        for (term, change) in points.into_iter().enumerate() {
            let mut counts = POINTS;
            change(&mut counts);
            assert!(counts.check().is_err(), "term {term}");
        }
    }

    #[test]
    fn every_term_is_added() {
        let mut load = LOAD;
        load.merge(&LoadCounts { offered: 1, started: 20, ok: 300, fail: 4_000, ..LoadCounts::default() });
        let rest = LoadCounts { unknown: 5, dropped: 60, pending: 700, undelivered: 8_000, censored: 90_000, ..load };
        load.merge(&LoadCounts { offered: 0, started: 0, ok: 0, fail: 0, ..rest });
        let sum = LoadCounts {
            offered: 14,
            started: 27,
            ok: 304,
            fail: 4_002,
            unknown: 6,
            dropped: 62,
            pending: 701,
            undelivered: 8_003,
            censored: 90_004,
        };
        assert_eq!(load, sum);
        let mut points = POINTS;
        points.merge(&PointCounts {
            generated: 1,
            dropped: 20,
            pending: 300,
            undelivered: 4_000,
            sent: 5,
            sent_again: 2,
            acked: 60,
            failed: 700,
            unknown: 8_000,
        });
        let sum = PointCounts {
            generated: 17,
            dropped: 22,
            pending: 301,
            undelivered: 4_004,
            sent: 14,
            sent_again: 11,
            acked: 65,
            failed: 703,
            unknown: 8_001,
        };
        assert_eq!(points, sum);
    }

    /// Each term decides something of what is made up for.
    #[test]
    fn what_is_given_up_is_what_the_other_terms_leave() {
        let mut load = LoadCounts { offered: 30, started: 9, unknown: 0, ..LOAD };
        load.give_up();
        assert_eq!(load, LoadCounts { offered: 30, started: 9, unknown: 3, pending: 16, ..LOAD });
        let mut late = LoadCounts { offered: 0, started: 0, ..LOAD };
        late.give_up();
        assert_eq!(late, LOAD);
        let mut points = PointCounts { generated: 40, sent: 11, unknown: 0, ..POINTS };
        points.give_up();
        assert_eq!(points, PointCounts { generated: 40, sent: 11, unknown: 3, pending: 23, ..POINTS });
        let mut late = PointCounts { generated: 0, sent: 0, ..POINTS };
        late.give_up();
        assert_eq!(late, POINTS);
    }

    #[test]
    fn what_nobody_tells_any_more_is_unknown_or_pending() {
        let mut load = LoadCounts { offered: 12, started: 9, unknown: 0, undelivered: 0, ..LOAD };
        load.give_up();
        assert_eq!((load.check(), load.unknown, load.pending), (Ok(()), 3, 1));
        let mut late = LoadCounts { offered: 0, started: 0, undelivered: 0, ..LOAD };
        late.give_up();
        assert_eq!((late.check(), late.started, late.offered), (Ok(()), 7, 10), "its pacer told less than its threads");
        let mut points = PointCounts { acked: 2, generated: 20, undelivered: 0, ..POINTS };
        points.give_up();
        assert_eq!((points.check(), points.unknown, points.pending), (Ok(()), 4, 9));
    }

    #[test]
    fn all_broken_identities_are_told_with_their_numbers() {
        let counts = LoadCounts { started: 8, ..LOAD };
        let errors = counts.check().unwrap_err();
        assert_eq!(errors.len(), 2);
        assert_eq!(
            errors[0].to_string(),
            "offered 13 is not started 8 + dropped 2 + pending 1 + undelivered 3 operations"
        );
        assert_eq!(errors[1], ConservationError::Started { started: 8, ok: 4, fail: 2, unknown: 1 });
    }

    #[test]
    fn sums_beyond_64_bits_are_no_accident() {
        let counts = LoadCounts { offered: 1, started: u64::MAX, dropped: 2, ok: u64::MAX, ..LoadCounts::default() };
        assert!(counts.check().is_err());
    }
}
