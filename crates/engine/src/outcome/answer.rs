//! What a program asks of a run that has ended: whether to believe it, how much it did, how long it took.

use super::{Measured, Outcome};
use crate::verdict::{Reason, Status};
use iotbench_recorder::Level;
use std::time::Duration;

/// A run whose figures cannot be believed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run is {}: {}", word(*status), reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct NotValid {
    /// How it stands.
    pub status: Status,
    /// Every reason.
    pub reasons: Vec<Reason>,
}

/// A response time that the run cannot tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoQuantile {
    /// Too few operations.
    #[error("{} needs {needed} operations, and there were {have}: run longer, or ask for a lower one", name(*level))]
    TooFew {
        /// Which was asked for.
        level: Level,
        /// Operations that it needs.
        needed: u64,
        /// Operations that there were.
        have: u64,
    },
    /// It lies among operations that never had an answer.
    #[error("{} lies among the operations without an answer", name(*level))]
    Unanswered {
        /// Which was asked for.
        level: Level,
    },
}

impl Outcome {
    /// The figures of a run that can be believed; of a search, those of the load that it found.
    ///
    /// # Errors
    /// Every reason why they cannot.
    pub fn valid(&self) -> Result<&Measured, NotValid> {
        let measured = self.measured.as_ref().filter(|_| self.verdict.status == Status::Valid);
        measured.ok_or_else(|| NotValid { status: self.verdict.status, reasons: self.verdict.reasons.clone() })
    }
}

impl Measured {
    /// Operations acknowledged a second.
    #[must_use]
    pub fn operations_per_s(&self) -> f64 {
        self.per_s(self.counts.ok)
    }

    /// Datapoints acknowledged a second.
    #[must_use]
    pub fn points_per_s(&self) -> f64 {
        self.per_s(self.counts.points.acked)
    }

    /// Values acknowledged a second.
    #[must_use]
    pub fn values_per_s(&self) -> f64 {
        self.per_s(self.counts.values_acked)
    }

    /// Operations that failed, had no verdict in time, or were never started because too many were under way.
    #[must_use]
    pub fn not_acknowledged(&self) -> u64 {
        let load = self.recording.load();
        load.fail + load.unknown + load.dropped
    }

    /// The response time, from the intended start, that this part of the operations did not exceed. Those without an answer
    /// count as if it never came, so that no failure makes the figure better; those that failed at once do not count. Where the
    /// client sent operations late that is a part of it: the database's is at most this.
    ///
    /// # Errors
    /// There were too few operations, or too many without an answer.
    pub fn response(&self, level: Level) -> Result<Duration, NoQuantile> {
        let response = self.recording.pooled().response();
        let (needed, have) = (level.samples_needed(), response.count());
        if have < needed {
            return Err(NoQuantile::TooFew { level, needed, have });
        }
        let at_most_ns = response.bounds(level).and_then(|bounds| bounds.at_most_ns);
        at_most_ns.map(Duration::from_nanos).ok_or(NoQuantile::Unanswered { level })
    }

    fn per_s(&self, count: u64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let count = count as f64;
        count / self.seconds_long()
    }
}

/// As `p99.9`.
fn name(level: Level) -> String {
    format!("p{}", (level.fraction() * 1e6).round() / 1e4)
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Running => "not at its end",
        Status::Valid => "valid, but nothing was measured",
        Status::Invalid => "invalid",
        Status::Aborted => "aborted",
        Status::Failed => "failed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_recorder::{
        OperationKind, Outcome as Ended, Payload, Recorder, Recording, Requests, Timing, WINDOW_NS,
    };
    use std::sync::Arc;

    /// So many operations a millisecond apart that are answered after 1, 2, 3 … ms, and then some that never are.
    fn measured(answered: u64, unanswered: u64) -> Measured {
        let kinds: Arc<[OperationKind]> = [OperationKind { name: "write".into(), requests: Requests::One }].into();
        let mut recorder = Recorder::new(Arc::clone(&kinds));
        for number in 0..answered + unanswered {
            let timing = Timing::new(0, 0, (number + 1) * 1_000_000).unwrap();
            let outcome = if number < answered { Ended::Ok } else { Ended::Unknown };
            recorder.offer(0, 0, 1);
            recorder.start(0, 0, 0, 1);
            recorder.complete(0, outcome, &timing, &Payload::undivided(outcome, 2, 6, 0));
        }
        let mut recording = Recording::new(kinds);
        let mut counts = iotbench_recorder::WindowCounts::default();
        for window in recorder.finish() {
            recording.merge(window.recording()).unwrap();
            counts.merge(window.counts());
        }
        Measured {
            from_ns: WINDOW_NS,
            to_ns: 3 * WINDOW_NS,
            recording,
            counts,
            seconds: Vec::new(),
            pacing_error: iotbench_recorder::LatencyHistogram::new(),
            visibility: None,
            client: crate::client::ClientLoad::default(),
            resources: Vec::new(),
            counters: None,
        }
    }

    #[test]
    fn rates_are_over_the_measured_part() {
        let measured = measured(100, 3);
        assert_eq!(
            (measured.operations_per_s(), measured.points_per_s(), measured.values_per_s()),
            (50.0, 100.0, 300.0)
        );
        assert_eq!(measured.not_acknowledged(), 3);
    }

    #[test]
    fn operations_without_an_answer_never_make_a_quantile_better() {
        let ms = |measured: &Measured, level| measured.response(level).map(|response| response.as_millis());
        assert_eq!(ms(&measured(100, 0), Level::P90), Ok(90));
        assert_eq!(ms(&measured(100, 5), Level::P90), Ok(95), "of 105");
        assert_eq!(ms(&measured(100, 20), Level::P90), Err(NoQuantile::Unanswered { level: Level::P90 }));
    }

    #[test]
    fn what_too_few_operations_cannot_tell_is_said() {
        let error = measured(100, 0).response(Level::P999).unwrap_err();
        assert_eq!(
            error.to_string(),
            "p99.9 needs 10000 operations, and there were 100: run longer, or ask for a lower one"
        );
    }
}
