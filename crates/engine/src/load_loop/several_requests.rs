//! Operations of several requests: calls one after the other on one connection, with pauses between requests.

use super::{
    LoadLoop, UnderWay,
    account::{failure_of, outcome_of},
};
use crate::{
    lane::{Lane, Work, call},
    ledger::Fate,
    pacer::Alarm,
    sequence::{Call, Step},
};
use iotbench_core::{Acknowledged, Action, Applied, Cause, Error};
use iotbench_recorder::{Outcome, Timing};

/// A connection whose operation pauses.
pub(super) struct Pause {
    /// When it goes on: at its end, or when the operation's deadline has passed.
    pub(super) until_ns: u64,
    lane: Lane,
}

impl LoadLoop {
    /// Makes a call; none when the operation's deadline has passed, or when the run gives up what is under way.
    pub(super) fn call(&mut self, mut lane: Lane, what: Call) -> Option<Work> {
        if self.parts.control.abandoned() {
            self.pauses.push(Pause { until_ns: u64::MAX, lane });
            return None;
        }
        let now_ns = self.parts.clock.now_ns();
        let operation = self.under_way.get_mut(lane.number)?.as_mut()?;
        let deadline_ns = self.parts.deadline_after(operation.sent_ns);
        if now_ns >= deadline_ns {
            let error = Error::new(Cause::TimedOut, "the deadline passed between two requests of the operation");
            self.end_early(lane, now_ns, &error.action(Action::RetryMayHelp));
            return None;
        }
        let sequence = operation.sequence.as_mut()?;
        sequence.send(what, &lane.exchange.operation, &mut lane.exchange.request);
        let clock = self.parts.clock;
        Some(Box::pin(call(lane, what, clock, clock.instant(deadline_ns).into())))
    }

    /// A call was answered; what follows at once, if anything does.
    pub(super) fn called(
        &mut self,
        lane: Lane,
        sent_ns: u64,
        ended_ns: u64,
        result: Result<Acknowledged, Error>,
    ) -> Option<Work> {
        self.follow(self.parts.clock.now_ns());
        let operation = self.under_way.get_mut(lane.number)?.as_mut()?;
        let sequence = operation.sequence.as_mut()?;
        let is_request = sequence.present() == Some(Call::Request);
        if is_request {
            let outcome = result.as_ref().map_or_else(outcome_of, |_| Outcome::Ok);
            match Timing::new(sequence.due_ns(), sent_ns, ended_ns) {
                Some(timing) => {
                    let intended_ns = operation.due.intended_ns;
                    self.parts.recorder.complete_request(operation.kind, intended_ns, outcome, &timing);
                }
                None => self.slice.samples_dropped += 1,
            }
        }
        match result {
            Ok(acknowledged) => {
                let rows = sequence.present_rows();
                let step = sequence.succeeded(acknowledged, sent_ns, ended_ns);
                if is_request && !sequence.is_transaction() {
                    self.note_acked(lane.number, lane.exchange.request.runs(), rows, ended_ns);
                }
                self.go_on(lane, step, ended_ns)
            }
            Err(error) => {
                self.end_early(lane, ended_ns, &error);
                None
            }
        }
    }

    fn go_on(&mut self, lane: Lane, step: Step, now_ns: u64) -> Option<Work> {
        match step {
            Step::Call(next) => self.call(lane, next),
            Step::Pause { until_ns } => {
                let operation = self.under_way.get(lane.number)?.as_ref()?;
                let until_ns = until_ns.min(self.parts.deadline_after(operation.sent_ns));
                self.pauses.push(Pause { until_ns, lane });
                None
            }
            Step::End => {
                self.end(lane, now_ns);
                None
            }
        }
    }

    /// Goes on with the operations whose pause is over.
    pub(super) async fn resume(&mut self) {
        if self.pauses.is_empty() {
            return;
        }
        let now_ns = self.parts.clock.now_ns();
        while let Some(place) = self.pauses.iter().position(|p| p.until_ns <= now_ns) {
            let lane = self.pauses.swap_remove(place).lane;
            let since_ns = self.sent_ns(lane.number);
            if let Some(work) = self.call(lane, Call::Request) {
                self.drive(work, since_ns).await;
            }
        }
    }

    /// Everything was acknowledged.
    fn end(&mut self, lane: Lane, ended_ns: u64) {
        let Some(operation) = self.take_under_way(&lane, ended_ns) else { return };
        let Some(sequence) = &operation.sequence else { return };
        if sequence.is_transaction() {
            let batch = &lane.exchange.operation;
            self.note_acked(lane.number, batch.runs(), 0..batch.len(), ended_ns);
        }
        let (outcome, payload) = sequence.ended(operation.values_per_point);
        self.parts.recorder.record_busy(operation.kind, operation.due.intended_ns, ended_ns, sequence.busy_ns());
        self.record(&operation, ended_ns, outcome, &payload);
        self.free(lane, ended_ns, operation.own_delay_ns);
    }

    /// A call failed, or none may be made any more. A transaction is undone by giving up its connection.
    pub(super) fn end_early(&mut self, mut lane: Lane, ended_ns: u64, error: &Error) {
        let Some(operation) = self.take_under_way(&lane, ended_ns) else { return };
        let Some(sequence) = &operation.sequence else { return };
        self.tell_error(ended_ns, error);
        if let (Applied::Rows(rows), Some(Call::Request), false) =
            (&error.applied, sequence.present(), sequence.is_transaction())
        {
            let present = sequence.present_rows();
            self.note_stored(lane.number, &lane.exchange.request, rows, present.start, ended_ns);
            self.note_others(lane.number, rows, present);
        }
        let rows = sequence.rows_by_fate(&error.applied);
        self.note_rows(lane.number, Fate::Unknown, rows.unknown);
        self.note_rows(lane.number, Fate::Failed, rows.failed);
        let (outcome, payload) = sequence.failed(&error.applied, operation.values_per_point);
        let outcome = if outcome == Outcome::Fail { failure_of(error) } else { outcome };
        self.record(&operation, ended_ns, outcome, &payload);
        if error.action == Action::DiscardWriter {
            self.reopen(lane.number, lane.exchange);
        } else if sequence.is_transaction() {
            lane.exchange.openings = 0;
            self.reopen(lane.number, lane.exchange);
        } else {
            self.free(lane, ended_ns, operation.own_delay_ns);
        }
    }

    fn take_under_way(&mut self, lane: &Lane, ended_ns: u64) -> Option<UnderWay> {
        let operation = self.under_way.get_mut(lane.number)?.take()?;
        self.parts.source.complete(operation.due, ended_ns);
        Some(operation)
    }
}

/// Waits for the end of the next pause; for ever when there is none.
pub(super) async fn next_pause_ends(alarm: Option<&Alarm>, pauses: &[Pause]) {
    match (alarm, pauses.iter().map(|p| p.until_ns).min()) {
        (Some(alarm), until_ns @ Some(_)) => alarm.wait_until(until_ns).await,
        _ => std::future::pending().await,
    }
}
