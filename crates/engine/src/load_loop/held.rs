//! Operations that carry signals which the table lacks: they wait until it has been altered, at most until their deadline.

use super::LoadLoop;
use iotbench_core::{Action, Cause, Error};

impl LoadLoop {
    /// Sends what waited when the table has been altered, and ends what has waited too long: it was never sent.
    pub(super) async fn let_go(&mut self) {
        if self.held.is_empty() || self.parts.control.abandoned() {
            return;
        }
        let (now_ns, is_altered) = (self.parts.clock.now_ns(), !self.parts.control.gate().is_closed());
        for lane in std::mem::take(&mut self.held) {
            let sent_ns = self.sent_ns(lane.number);
            if now_ns >= self.parts.deadline_after(sent_ns) {
                let error = Error::new(Cause::TimedOut, "the table was not altered within the deadline");
                let error = error.action(Action::RetryMayHelp);
                let is_sequence =
                    self.under_way.get(lane.number).and_then(Option::as_ref).is_some_and(|o| o.sequence.is_some());
                if is_sequence {
                    self.end_early(lane, now_ns, &error);
                } else {
                    self.complete(lane, now_ns, Err(error));
                }
            } else if is_altered {
                self.send(lane, sent_ns).await;
            } else {
                self.held.push(lane);
            }
        }
    }

    /// When the first of them has waited too long.
    pub(super) fn held_until_ns(&self) -> u64 {
        let ends = self.held.iter().map(|lane| self.parts.deadline_after(self.sent_ns(lane.number)));
        ends.min().unwrap_or(u64::MAX)
    }
}
