//! The account of an operation: how it ended, what became of its datapoints, which of them were acknowledged.

use super::{LoadLoop, UnderWay};
use crate::{lane::Lane, ledger::Fate, operation_record::OperationRecord};
use iotbench_core::{Acknowledged, Action, Applied, Cause, Error};
use iotbench_recorder::{Outcome, Payload, Timing};

/// So many traced operations are handed over before their second ends.
const TRACED_AT_ONCE: usize = 1 << 16;

impl LoadLoop {
    /// An operation of one request was answered.
    pub(super) fn complete(&mut self, lane: Lane, ended_ns: u64, result: Result<Acknowledged, Error>) {
        self.follow(self.parts.clock.now_ns());
        let Some(operation) = self.under_way.get_mut(lane.number).and_then(Option::take) else { return };
        self.parts.source.complete(operation.due, ended_ns);
        let (outcome, payload, action) = match result {
            Ok(acknowledged) => {
                let batch = &lane.exchange.operation;
                self.note_acked(lane.number, batch.runs(), 0..batch.len(), ended_ns);
                let values = operation.points * operation.values_per_point;
                (Outcome::Ok, Payload::undivided(Outcome::Ok, operation.points, values, acknowledged.bytes), None)
            }
            Err(error) => {
                self.tell_error(ended_ns, &error);
                let (outcome, payload) = self.failed(&lane, &error, ended_ns);
                (outcome, payload, Some(error.action))
            }
        };
        self.record(&operation, ended_ns, outcome, &payload);
        if action == Some(Action::DiscardWriter) {
            self.reopen(lane.number, lane.exchange);
        } else {
            self.free(lane, ended_ns, operation.own_delay_ns);
        }
    }

    fn failed(&mut self, lane: &Lane, error: &Error, ended_ns: u64) -> (Outcome, Payload) {
        let batch = &lane.exchange.operation;
        let (points, all) = (batch.len() as u64, 0..batch.len());
        match &error.applied {
            Applied::No => {
                self.note_rows(lane.number, Fate::Failed, all);
                (outcome_of(error), Payload::undivided(Outcome::Fail, points, 0, 0))
            }
            Applied::Maybe => {
                self.note_rows(lane.number, Fate::Unknown, all);
                (outcome_of(error), Payload::undivided(Outcome::Unknown, points, 0, 0))
            }
            Applied::Rows(rows) => {
                self.note_stored(lane.number, batch, rows, 0, ended_ns);
                self.note_others(lane.number, rows, all);
                let points_acked = rows.len() as u64;
                let values_acked = points_acked * batch.columns().len() as u64;
                let points_failed = points - points_acked.min(points);
                (outcome_of(error), Payload { points_acked, points_failed, values_acked, ..Payload::default() })
            }
        }
    }

    /// Keeps an error; one after which the run has to end is told to the control thread.
    pub(super) fn tell_error(&mut self, at_ns: u64, error: &Error) {
        self.parts.recorder.error(at_ns, error.cause.name(), &error.message);
        if error.action == Action::Stop {
            self.parts.control.fail(error.cause, &error.message);
        }
    }

    /// Records an operation that has ended, and traces it.
    pub(super) fn record(&mut self, operation: &UnderWay, ended_ns: u64, outcome: Outcome, payload: &Payload) {
        self.last_answer_ns = self.last_answer_ns.max(ended_ns);
        let Some(timing) = Timing::new(operation.due.intended_ns, operation.sent_ns, ended_ns) else {
            self.slice.samples_dropped += 1;
            return;
        };
        let timing = timing.with_own_delay(operation.own_delay_ns);
        self.parts.recorder.complete(operation.kind, outcome, &timing, payload);
        if self.parts.accounting.trace {
            if !self.parts.control.take_trace_place() {
                self.slice.samples_dropped += 1;
                return;
            }
            let outcome = match outcome {
                Outcome::Ok => "ok",
                Outcome::Fail | Outcome::Expired => "fail",
                Outcome::Unknown => "unknown",
            };
            let points = u32::try_from(operation.points).unwrap_or(u32::MAX);
            let place = u16::try_from(operation.kind - self.parts.operations.first_kind).unwrap_or(u16::MAX);
            let (group, user) = (self.parts.operations.group, operation.due.user);
            self.slice.operations.push(OperationRecord { group, operation: place, user, timing, outcome, points });
            if self.slice.operations.len().is_multiple_of(TRACED_AT_ONCE) {
                self.hand_over();
            }
        }
    }
}

/// What an operation came to that ended with this error.
pub(super) fn outcome_of(error: &Error) -> Outcome {
    match error.applied {
        Applied::Maybe => Outcome::Unknown,
        Applied::No | Applied::Rows(_) => failure_of(error),
    }
}

/// What an operation came to of which it is known how much was applied.
pub(super) fn failure_of(error: &Error) -> Outcome {
    if error.cause == Cause::TimedOut { Outcome::Expired } else { Outcome::Fail }
}
