//! What a run tells while it goes on.

use crate::{
    operation_record::OperationRecord,
    outcome::{Measured, Outcome, Phase, StepFigures},
    ramp::Step,
    scenario::ActionTaken,
};
use iotbench_core::Counter;
use iotbench_recorder::Window;
use iotbench_sampler::{OthersSecond, Reading};
use std::time::Instant;

/// A second of a run, merged over all threads.
#[derive(Debug)]
pub struct Second<'a> {
    /// What happened in it.
    pub window: &'a Window,
    /// In which phase it lies.
    pub phase: Phase,
    /// Virtual users at its end; 0 where there are none.
    pub users: u32,
    /// Resources, as last read.
    pub readings: &'a [Reading],
    /// What others had of the machine in it; `None`: not known.
    pub others: Option<OthersSecond>,
    /// What the server counted of itself in it.
    pub counters: CountersSecond<'a>,
}

/// What the server counted of itself in a second.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountersSecond<'a> {
    /// Which are read, the same in each second; none: they are not.
    pub read: &'a [Counter],
    /// What each of them grew by since the row before; `None`: no look tells.
    pub growth: &'a [Option<u64>],
}

/// Something that an observer may want to know.
#[derive(Debug)]
pub enum Event<'a> {
    /// A phase begins.
    Phase {
        /// Which.
        phase: Phase,
        /// How long it will take at most, where that is known.
        length_ns: Option<u64>,
    },
    /// A table of devices is being filled.
    DevicesMade {
        /// Devices that have their row so far.
        devices: u32,
        /// Devices in all.
        total: u32,
    },
    /// The load is about to start. Every time of the run, such as an operation's intended start, counts from `epoch`.
    Started {
        /// The run's time 0.
        epoch: Instant,
    },
    /// Part of the preload is done.
    Preloaded {
        /// Datapoints written so far.
        points: u64,
        /// Datapoints in all.
        total: u64,
    },
    /// A step of a ramp begins: users change, counting starts a little later.
    Step(Step),
    /// A step of a ramp has ended.
    StepEnded {
        /// What it came to.
        figures: &'a StepFigures,
        /// All that was measured in it; `None`: another process made it, of the same search.
        measured: Option<&'a Measured>,
    },
    /// A database that only queued what it acknowledged goes on storing it.
    Settling {
        /// Datapoints that are stored so far.
        points: u64,
        /// Datapoints that were acknowledged.
        awaited: u64,
    },
    /// Something is being done to a process of the server.
    Acting(&'a ActionTaken),
    /// A second is complete.
    Second(Second<'a>),
    /// Operations, with a trace only.
    Operations(&'a [OperationRecord]),
    /// A phase has ended, or the run: all that is known so far.
    Checkpoint(&'a Outcome),
}

/// Watches a run: progress, results folder.
pub trait Observer: Send {
    /// Takes an event. Called from the run's control thread, never from a writer's path.
    ///
    /// # Errors
    /// The message ends the run as a failure of local I/O.
    fn event(&mut self, event: &Event<'_>) -> Result<(), String>;
}

/// Several observers, each told everything.
impl Observer for Vec<Box<dyn Observer>> {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        self.iter_mut().try_for_each(|o| o.event(event))
    }
}

/// An observer that looks away.
impl Observer for () {
    fn event(&mut self, _event: &Event<'_>) -> Result<(), String> {
        Ok(())
    }
}
