//! The connections of a loop: which are free and since when, which are opened anew, how their calls are ended.

use super::{FreeSince, LoadLoop};
use crate::{
    connection::Connection,
    control::LaneWatch,
    lane::{Exchange, Lane, reopen},
};
use iotbench_core::{Action, Error};
use std::sync::Arc;

impl LoadLoop {
    /// A connection has answered.
    pub(super) fn free(&mut self, mut lane: Lane, answered_ns: u64, own_delay_ns: u64) {
        lane.exchange.openings = 0;
        self.make_idle(lane, FreeSince::answered(answered_ns, own_delay_ns, self.parts.accounting.has_schedule));
    }

    fn make_idle(&mut self, lane: Lane, since: FreeSince) {
        if self.idle.is_empty() {
            self.free_since = Some(since);
        }
        self.idle.push(lane);
    }

    pub(super) fn reopen(&mut self, number: usize, exchange: Box<Exchange>) {
        let (database, role, deadline) = (Arc::clone(&self.parts.database), self.parts.role, self.parts.deadline);
        self.work.push(Box::pin(reopen(database, role, deadline, number, exchange)));
    }

    pub(super) fn reopened(&mut self, number: usize, exchange: Box<Exchange>, result: Result<Connection, Error>) {
        match result {
            Ok(connection) => {
                self.make_idle(Lane { number, connection, exchange }, FreeSince::at(self.parts.clock.now_ns()));
                self.set_interrupt();
            }
            Err(error) => {
                self.tell_error(self.parts.clock.now_ns(), &error);
                if error.action != Action::Stop {
                    self.reopen(number, exchange);
                }
            }
        }
    }

    /// When the operation under way on a connection was sent.
    pub(super) fn sent_ns(&self, number: usize) -> u64 {
        self.under_way.get(number).and_then(Option::as_ref).map_or(0, |operation| operation.sent_ns)
    }

    pub(super) fn watch(&self) -> Option<&LaneWatch> {
        self.parts.control.lane_watch(self.parts.blocking_thread?)
    }

    pub(super) fn set_interrupt(&self) {
        if let (Some(watch), [lane]) = (self.watch(), self.idle.as_slice()) {
            watch.set_interrupt(lane.connection.interrupt());
        }
    }
}
