//! The later operations of sessions: they come back to the pacer with each answer, and are due after the think time.

use super::PacerSleep;
use crate::schedule::Start;
use async_channel::{Receiver, Sender};
use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

/// Where the loops say when a session goes on.
#[derive(Clone, Debug)]
pub struct GoOn {
    starts: Sender<Start>,
    pacer: Arc<PacerSleep>,
}

/// Sessions that think, by the start of their next operation: a record each, and no more than there may be sessions.
#[derive(Debug)]
pub struct Returns {
    starts: Receiver<Start>,
    /// By their time and number.
    thinking: BinaryHeap<Reverse<(u64, u64)>>,
}

/// Both ends for so many sessions at once.
pub fn returns(most_sessions: u32, pacer: Arc<PacerSleep>) -> (GoOn, Returns) {
    let (starts, taken) = async_channel::bounded(most_sessions.max(1) as usize);
    (GoOn { starts, pacer }, Returns { starts: taken, thinking: BinaryHeap::new() })
}

impl GoOn {
    /// A session goes on with this operation; false: the schedule has ended.
    pub fn go_on(&self, start: Start) -> bool {
        // Each session has room for one.
        let is_kept = self.starts.try_send(start).is_ok();
        self.pacer.wake_before(start.at_ns);
        is_kept
    }
}

impl Returns {
    /// How many there may be at once.
    pub fn sessions(&self) -> usize {
        self.starts.capacity().unwrap_or(1)
    }

    /// The next operation of all that have come back by now.
    pub(super) fn next(&mut self) -> Option<Start> {
        while let Ok(Start { number, at_ns }) = self.starts.try_recv() {
            self.thinking.push(Reverse((at_ns, number)));
        }
        self.thinking.peek().map(|&Reverse((at_ns, number))| Start { number, at_ns })
    }

    /// Takes the one that [`Returns::next`] told.
    pub(super) fn take(&mut self) {
        self.thinking.pop();
    }
}
