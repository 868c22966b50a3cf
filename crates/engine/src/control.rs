//! What the control thread tells the load threads, without locks on their way.

use crate::{added::Gate, plan::Part};
use iotbench_core::{Cause, Interrupt};
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
};
use tokio::sync::watch;

/// "Not yet known".
const NEVER: u64 = u64::MAX;

/// Operations of a trace that may wait for whoever watches the run, over all threads; others are lost samples.
pub const MAX_UNTOLD: u64 = 1_000_000;

/// Shared by the control thread, the pacer and the load threads of one run.
#[derive(Debug)]
pub struct Control {
    users: AtomicU32,
    /// Whether the users of a ramp that read do so.
    reading: AtomicBool,
    /// The load of the open loop that a ramp changes.
    load: AtomicU32,
    /// When that load begins.
    load_from_ns: AtomicU64,
    /// Requests that were late at the ends of windows, since this was asked last.
    late: AtomicU64,
    generation: Announced,
    stop_at_ns: AtomicU64,
    leaves_queue: AtomicBool,
    abandon: AtomicBool,
    budget: Budget,
    /// Operations whose trace is not yet told.
    untold: AtomicU64,
    /// When the last loop had its last answer.
    ended_ns: AtomicU64,
    failure: Mutex<Option<(Cause, String)>>,
    changed: watch::Sender<()>,
    watches: Vec<LaneWatch>,
    gate: Gate,
}

/// The present generation, and which loops know of it.
#[derive(Debug, Default)]
struct Announced {
    number: AtomicU32,
    start_ns: AtomicU64,
    /// Loops that know of it.
    informed: LoopCount,
    /// Loops without an unanswered operation of an earlier one.
    settled: LoopCount,
    loops: AtomicU32,
}

/// How many operations the run may still start.
#[derive(Debug)]
struct Budget {
    left: AtomicU64,
    /// Operations that were taken and wait for room on their way.
    waiting: AtomicU64,
    /// Operations intended before this are not counted against it.
    from_ns: u64,
}

impl Budget {
    fn is_free(&self, intended_ns: u64) -> bool {
        self.left.load(Ordering::Relaxed) == NEVER || intended_ns < self.from_ns
    }
}

/// A stretch of a run whose operations are counted together, such as the warm-up or a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generation {
    /// From 0.
    pub number: u32,
    /// Operations intended before this belong to earlier ones.
    pub start_ns: u64,
}

impl Control {
    /// The state before the start, for so many threads that may block. `operations` limits those that are intended to
    /// start at `budget_from_ns` or later.
    pub fn new(users: u32, operations: Option<u64>, budget_from_ns: u64, blocking_threads: usize) -> Self {
        Self {
            users: AtomicU32::new(users),
            reading: AtomicBool::new(true),
            load: AtomicU32::new(0),
            load_from_ns: AtomicU64::new(0),
            late: AtomicU64::new(0),
            generation: Announced::default(),
            stop_at_ns: AtomicU64::new(NEVER),
            leaves_queue: AtomicBool::new(false),
            abandon: AtomicBool::new(false),
            budget: Budget {
                left: AtomicU64::new(operations.unwrap_or(NEVER)),
                waiting: AtomicU64::new(0),
                from_ns: budget_from_ns,
            },
            untold: AtomicU64::new(0),
            ended_ns: AtomicU64::new(0),
            failure: Mutex::new(None),
            changed: watch::Sender::new(()),
            watches: (0..blocking_threads).map(|_| LaneWatch::default()).collect(),
            gate: Gate::default(),
        }
    }

    /// How many virtual users there are now.
    pub fn users(&self) -> u32 {
        self.users.load(Ordering::Relaxed)
    }

    /// Changes the number of virtual users.
    pub fn set_users(&self, users: u32) {
        self.users.store(users, Ordering::Relaxed);
        self.wake();
    }

    /// How many virtual users there are now that belong to a part of a ramp's, which reads or writes.
    pub fn users_of(&self, part: Part, reads: bool) -> u32 {
        if reads && !self.reading.load(Ordering::Relaxed) { 0 } else { part.of_users(self.users()) }
    }

    /// Whether the users of a ramp that read do so.
    pub fn reading(&self) -> bool {
        self.reading.load(Ordering::Relaxed)
    }

    /// Lets the users of a ramp that read pause, or go on.
    pub fn set_reading(&self, reading: bool) {
        self.reading.store(reading, Ordering::Relaxed);
        self.wake();
    }

    /// The load of the open loop that a ramp changes, and when it begins: operations a second, or devices that report; 0:
    /// nothing starts.
    pub fn load(&self) -> (u32, u64) {
        let load = self.load.load(Ordering::Acquire);
        (load, self.load_from_ns.load(Ordering::Relaxed))
    }

    /// Changes that load from 0 to another one, or back; the pacer notices within its longest sleep.
    pub fn set_load(&self, load: u32, from_ns: u64) {
        self.load_from_ns.store(from_ns, Ordering::Relaxed);
        self.load.store(load, Ordering::Release);
    }

    /// So many requests were not answered in time when a window ended.
    pub fn add_late(&self, requests: u32) {
        self.late.fetch_add(requests.into(), Ordering::Relaxed);
    }

    /// How many there were since this was asked last.
    pub fn take_late(&self) -> u64 {
        self.late.swap(0, Ordering::Relaxed)
    }

    /// The present generation.
    pub fn generation(&self) -> Generation {
        let number = self.generation.number.load(Ordering::Acquire);
        Generation { number, start_ns: self.generation.start_ns.load(Ordering::Relaxed) }
    }

    /// Begins the next generation.
    pub fn begin_generation(&self, start_ns: u64) -> u32 {
        let number = self.generation.number.load(Ordering::Relaxed) + 1;
        self.announce(Generation { number, start_ns });
        number
    }

    /// Follows the control thread of another process to this generation, unless it is there.
    pub fn follow_generation(&self, generation: Generation) {
        if generation.number > self.generation.number.load(Ordering::Relaxed) {
            self.announce(generation);
        }
    }

    fn announce(&self, Generation { number, start_ns }: Generation) {
        self.generation.start_ns.store(start_ns, Ordering::Relaxed);
        self.generation.informed.reset(number);
        self.generation.settled.reset(number);
        self.generation.number.store(number, Ordering::Release);
        self.wake();
    }

    /// Says how many loops there are; the pacer is one of them.
    pub fn set_loops(&self, loops: usize) {
        self.generation.loops.store(u32::try_from(loops).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// One of them is not waited for any more.
    pub fn lose_loop(&self) {
        let _ = self.generation.loops.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |loops| loops.checked_sub(1));
    }

    /// A loop knows of this generation, and has handed over everything of earlier ones.
    pub fn inform(&self, generation: u32) {
        self.generation.informed.add(generation);
    }

    /// A loop has no unanswered operation of an earlier generation.
    pub fn settle(&self, generation: u32) {
        self.generation.settled.add(generation);
    }

    /// Whether every loop knows of this generation.
    pub fn all_informed(&self, generation: u32) -> bool {
        self.generation.informed.get(generation) >= self.generation.loops.load(Ordering::Relaxed)
    }

    /// Whether everything of earlier generations is answered.
    pub fn all_settled(&self, generation: u32) -> bool {
        self.generation.settled.get(generation) >= self.generation.loops.load(Ordering::Relaxed)
    }

    /// No operation is due from this time on. Those that were due before it and wait for a connection still start.
    pub fn stop_at(&self, ns: u64) {
        self.stop_at_ns.fetch_min(ns, Ordering::Relaxed);
        self.wake();
    }

    /// The time from which on no operation is due.
    pub fn stops_at_ns(&self) -> u64 {
        self.stop_at_ns.load(Ordering::Relaxed)
    }

    /// What waits when the load stops does not start any more.
    pub fn leave_queue(&self) {
        self.leaves_queue.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Whether what waits when the load stops is left.
    pub fn leaves_queue(&self) -> bool {
        self.leaves_queue.load(Ordering::Relaxed)
    }

    /// Operations under way are given up.
    pub fn abandon(&self) {
        self.abandon.store(true, Ordering::Relaxed);
        self.wake();
        self.watches.iter().for_each(LaneWatch::interrupt);
    }

    /// Whether operations under way are to be given up.
    pub fn abandoned(&self) -> bool {
        self.abandon.load(Ordering::Relaxed)
    }

    /// Takes an operation intended at this time from what is left of the run's; false when none is left.
    pub fn spend_operation(&self, intended_ns: u64) -> bool {
        if self.budget.is_free(intended_ns) {
            return true;
        }
        self.budget.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// Gives back an operation that was taken and could not be started.
    pub fn refund_operation(&self, intended_ns: u64) {
        if !self.budget.is_free(intended_ns) {
            self.budget.left.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// An operation that was taken cannot be released yet.
    pub fn note_waiting(&self) {
        self.budget.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// One of them is.
    pub fn note_released(&self) {
        self.budget.waiting.fetch_sub(1, Ordering::Relaxed);
    }

    /// The operations of the run are all taken and released.
    pub fn is_spent(&self) -> bool {
        self.budget.left.load(Ordering::Relaxed) == 0 && self.budget.waiting.load(Ordering::Relaxed) == 0
    }

    /// Takes the place of one operation in the trace; false when too many wait to be told.
    pub fn take_trace_place(&self) -> bool {
        let one_more = |untold: u64| (untold < MAX_UNTOLD).then_some(untold + 1);
        self.untold.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// So many operations have been told.
    pub fn free_trace_places(&self, told: usize) {
        self.untold.fetch_sub(told as u64, Ordering::Relaxed);
    }

    /// A loop has ended with its last answer at this time.
    pub fn end_loop(&self, ns: u64) {
        self.ended_ns.fetch_max(ns, Ordering::Relaxed);
    }

    /// When the last of the loops that have ended had its last answer.
    pub fn ended_ns(&self) -> u64 {
        self.ended_ns.load(Ordering::Relaxed)
    }

    /// Notes an error that ends the run; the first one stands.
    pub fn fail(&self, cause: Cause, message: &str) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert_with(|| (cause, message.to_owned()));
    }

    /// The error that ends the run, if there is one.
    pub fn failure(&self) -> Option<(Cause, String)> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What holds operations back that carry signals which the table lacks.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The table has them: whoever waits goes on.
    pub fn open_gate(&self) {
        self.gate.open();
        self.wake();
    }

    /// Told at every change.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn wake(&self) {
        self.changed.send_replace(());
    }

    /// The watch over a thread that may block.
    pub fn lane_watch(&self, thread: usize) -> Option<&LaneWatch> {
        self.watches.get(thread)
    }

    /// Interrupts calls that began before this time and still block.
    pub fn interrupt_older_than(&self, ns: u64) {
        for watch in &self.watches {
            let since = watch.busy_since_ns.load(Ordering::Relaxed);
            if since != 0 && since < ns {
                watch.interrupt();
            }
        }
    }
}

/// How many loops have said something about a generation: what is said of another one does not count.
#[derive(Debug, Default)]
struct LoopCount(AtomicU64);

impl LoopCount {
    fn reset(&self, generation: u32) {
        self.0.store(u64::from(generation) << 32, Ordering::Release);
    }

    fn add(&self, generation: u32) {
        let one_more = |v: u64| (v >> 32 == u64::from(generation)).then_some(v + 1);
        // Of another generation: what is said of it came too late to matter.
        let _ = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
    }

    fn get(&self, generation: u32) -> u32 {
        let value = self.0.load(Ordering::Acquire);
        if value >> 32 == u64::from(generation) {
            u32::try_from(value & u64::from(u32::MAX)).unwrap_or(u32::MAX)
        } else {
            0
        }
    }
}

/// Watches one thread whose calls block.
#[derive(Default)]
pub struct LaneWatch {
    /// When the present call began, at least 1; 0: no call.
    busy_since_ns: AtomicU64,
    interrupt: Mutex<Option<Arc<dyn Interrupt>>>,
}

impl std::fmt::Debug for LaneWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaneWatch").field("busy_since_ns", &self.busy_since_ns).finish_non_exhaustive()
    }
}

impl LaneWatch {
    /// Sets how the thread's calls are ended.
    pub fn set_interrupt(&self, interrupt: Option<Arc<dyn Interrupt>>) {
        *self.interrupt.lock().unwrap_or_else(PoisonError::into_inner) = interrupt;
    }

    /// A call begins.
    pub fn begin(&self, now_ns: u64) {
        self.busy_since_ns.store(now_ns.max(1), Ordering::Relaxed);
    }

    /// The call has ended.
    pub fn end(&self) {
        self.busy_since_ns.store(0, Ordering::Relaxed);
    }

    fn interrupt(&self) {
        if let Some(interrupt) = self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            interrupt.interrupt();
        }
    }
}
