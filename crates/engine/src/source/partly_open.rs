//! A partly open load: sessions arrive by a schedule, and each goes on some time after its answer until it leaves.

use super::{CorrectedRow, Feed, OpenSource, Taken};
use crate::{
    pacer::GoOn,
    schedule::{Lengths, Start},
};
use async_trait::async_trait;
use iotbench_core::{Batch, Due, Left, Next, Source};

/// Takes granted operations as an open loop does, and tells the pacer when their sessions go on.
///
/// A session that is here is the number of its operation, which is under way, granted, or with the pacer while it thinks. Any loop
/// may do the next one.
#[derive(Debug)]
pub struct PartlyOpenSource {
    operations: OpenSource,
    sessions: Sessions,
    /// The greatest number of an operation that was given.
    greatest: u64,
}

/// What sessions do after an answer.
#[derive(Clone, Debug)]
pub struct Sessions {
    /// How long they are.
    pub lengths: Lengths,
    /// From an answer to the next start.
    pub think_ns: u64,
    /// Where it is told.
    pub go_on: GoOn,
}

impl PartlyOpenSource {
    /// A source of the operations of sessions; `operations` are those that the pacer grants.
    pub fn new(operations: OpenSource, sessions: Sessions) -> Self {
        Self { operations, sessions, greatest: 0 }
    }

    /// Of an operation that was given: what is under way at once is of numbers less than 2^32 apart.
    fn number(&self, due: Due) -> u64 {
        let behind = low(self.greatest).wrapping_sub(due.user);
        self.greatest - u64::from(behind)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is asked for")]
fn low(number: u64) -> u32 {
    number as u32
}

impl Feed for PartlyOpenSource {
    fn taken(&self) -> Taken {
        self.operations.taken()
    }

    fn take_corrected(&mut self, rows: &mut Vec<CorrectedRow>) {
        self.operations.take_corrected(rows);
    }

    fn has_ended(&self, now_ns: u64) -> bool {
        self.operations.has_ended(now_ns)
    }

    fn left_with_place(&mut self, now_ns: u64, tell: &mut dyn FnMut(usize, Left)) {
        self.operations.left_with_place(now_ns, tell);
    }
}

#[async_trait]
impl Source for PartlyOpenSource {
    fn take(&mut self, now_ns: u64, batch: &mut Batch) -> Next {
        let next = self.operations.take(now_ns, batch);
        let Next::Due(due) = next else { return next };
        let number = self.operations.taken().draw.number;
        self.greatest = self.greatest.max(number);
        Next::Due(Due { user: low(number), ..due })
    }

    async fn ready(&mut self) {
        self.operations.ready().await;
    }

    fn complete(&mut self, due: Due, ended_ns: u64) {
        let number = self.number(due);
        let Sessions { lengths, think_ns, go_on } = &self.sessions;
        let next = Start { number: number + 1, at_ns: ended_ns.saturating_add(*think_ns) };
        if lengths.ends_with(number) || !go_on.go_on(next) {
            self.operations.complete(due, ended_ns);
        }
    }

    fn left(&mut self, now_ns: u64, tell: &mut dyn FnMut(Left)) {
        self.operations.left(now_ns, tell);
    }
}

#[cfg(test)]
mod tests;
