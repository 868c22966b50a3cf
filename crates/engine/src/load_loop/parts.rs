//! What a loop is made of.

use super::Reading;
use crate::{
    clock::RunClock,
    connection::{Connection, Role},
    control::Control,
    ledger::Reached,
    mix::OperationMix,
    pacer::Alarm,
    slice::Slice,
    source::Feed,
    verify::Frontier,
};
use iotbench_core::{Batch, Database};
use iotbench_recorder::Recorder;
use std::{
    sync::{Arc, mpsc::SyncSender},
    time::Duration,
};

/// What a loop is made of.
pub struct LoadLoopParts {
    /// The run's clock.
    pub clock: RunClock,
    /// What the control thread says.
    pub control: Arc<Control>,
    /// Opens a writer in place of a discarded one.
    pub database: Arc<dyn Database>,
    /// Where its operations come from.
    pub source: Box<dyn Feed>,
    /// What they are.
    pub operations: GroupOperations,
    /// Rings at the end of a pause; `None`: no operation pauses.
    pub pauses: Option<Arc<Alarm>>,
    /// What its connections do.
    pub role: Role,
    /// Its connections.
    pub connections: Vec<Connection>,
    /// Which watch it stands under, when its calls block.
    pub blocking_thread: Option<usize>,
    /// What it asks and who compares the answers, where it reads.
    pub reading: Option<Reading>,
    /// Who is told what it sends.
    pub tracking: Tracking,
    /// An empty batch.
    pub batch: Batch,
    /// After so long an operation has timed out.
    pub deadline: Duration,
    /// How it is accounted for.
    pub accounting: Accounting,
    /// Its recorder.
    pub recorder: Recorder,
    /// To the control thread.
    pub slices: SyncSender<Slice>,
}

/// The operations of a loop's group.
pub struct GroupOperations {
    /// Which comes next.
    pub mix: OperationMix,
    /// The group's place in the plan.
    pub group: u16,
    /// What the recorder knows the first of them as; the others follow.
    pub first_kind: usize,
}

/// Who is told which datapoints are sent.
pub struct Tracking {
    /// Also told which are acknowledged, where they are read meanwhile.
    pub frontier: Option<Arc<Frontier>>,
    /// Where a ledger is kept of what became of them.
    pub reached: Option<Arc<Reached>>,
}

/// What is accounted for of a loop's operations.
#[derive(Clone, Copy, Debug)]
pub struct Accounting {
    /// Whether every operation is told.
    pub trace: bool,
    /// Whether the pacer counts what is offered.
    pub pacer_offers: bool,
    /// Whether intended starts are those of a schedule, which no answer moves: then what waits for a late operation is late
    /// with it.
    pub has_schedule: bool,
    /// Whether how late it sends counts as the client's: beside schedules that of closed loops does not, which have none.
    pub has_pacing_error: bool,
}

impl LoadLoopParts {
    pub(super) fn deadline_after(&self, sent_ns: u64) -> u64 {
        sent_ns.saturating_add(u64::try_from(self.deadline.as_nanos()).unwrap_or(u64::MAX))
    }
}
