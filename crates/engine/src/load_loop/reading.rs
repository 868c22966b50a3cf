//! Operations that read: all their queries in one go on one connection, and the account of the answers.

use super::{LoadLoop, account::outcome_of};
use crate::{
    lane::{Lane, Work, read},
    read::{Answered, Ask, Asker, Draw},
    verify::Witness,
};
use iotbench_core::{Action, Error};
use iotbench_recorder::{Outcome, Payload, Timing};
use std::sync::Arc;

/// What a loop that reads needs besides.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Draws what is asked.
    pub asker: Arc<Asker>,
    /// Has the answers compared.
    pub witness: Witness,
}

impl LoadLoop {
    /// The work of an operation that reads.
    pub(super) fn read(
        &mut self,
        mut lane: Lane,
        place: usize,
        draw: Draw,
        deadline: tokio::time::Instant,
    ) -> Option<Work> {
        let operation = self.parts.operations.mix.at(place);
        let reading = self.parts.reading.as_ref()?;
        let question = operation.question()?.clone();
        lane.exchange.inquiry.kept = reading.witness.next();
        let ask = Ask { asker: Arc::clone(&reading.asker), question, draw, requests: operation.requests };
        Some(Box::pin(read(lane, ask, self.parts.clock, deadline)))
    }

    /// An operation that reads ended.
    pub(super) fn answered(&mut self, mut lane: Lane, ended_ns: u64, result: Result<Answered, Error>) {
        self.follow(self.parts.clock.now_ns());
        let Some(operation) = self.under_way.get_mut(lane.number).and_then(Option::take) else { return };
        self.parts.source.complete(operation.due, ended_ns);
        let outcome = result.as_ref().map_or_else(outcome_of, |_| Outcome::Ok);
        if !self.parts.operations.mix.at(operation.kind - self.parts.operations.first_kind).is_one_request() {
            self.record_requests(&lane, operation.kind, operation.due.intended_ns, outcome);
        }
        let kept = lane.exchange.inquiry.kept.take();
        let payload = match &result {
            Ok(answered) => {
                self.slice.reads.merge(answered.counts);
                if let (Some(kept), Some(reading)) = (kept, &self.parts.reading) {
                    reading.witness.tell(kept);
                }
                Payload { rows_read: answered.rows, bytes: answered.bytes, ..Payload::default() }
            }
            Err(error) => {
                self.tell_error(ended_ns, error);
                Payload::default()
            }
        };
        self.record(&operation, ended_ns, outcome, &payload);
        match result {
            Err(error) if error.action == Action::DiscardWriter => self.reopen(lane.number, lane.exchange),
            _ => self.free(lane, ended_ns, operation.own_delay_ns),
        }
    }

    /// Each request of an operation of several; the last one ended as the operation did.
    fn record_requests(&mut self, lane: &Lane, kind: usize, intended_ns: u64, outcome: Outcome) {
        let mut due_ns = None;
        let requests = &lane.exchange.inquiry.requests;
        for (place, request) in requests.iter().enumerate() {
            let is_last = place + 1 == requests.len();
            let outcome = if is_last { outcome } else { Outcome::Ok };
            match Timing::new(due_ns.unwrap_or(request.sent_ns), request.sent_ns, request.ended_ns) {
                Some(timing) => self.parts.recorder.complete_request(kind, intended_ns, outcome, &timing),
                None => self.slice.samples_dropped += 1,
            }
            due_ns = Some(request.ended_ns);
        }
    }
}
