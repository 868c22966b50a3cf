//! What the server's threads share: one lock over scheduler, ledger and connections, and the clock.

use std::{
    collections::HashMap,
    net::TcpStream,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{
    ledger::{Entry, Fate},
    program::duration_ns,
    scheduler::Scheduler,
};

/// The clock, and the state behind its lock.
#[derive(Debug)]
pub(crate) struct Shared {
    epoch: Instant,
    state: Mutex<State>,
    /// Tells the dispatcher that what it waits for has changed.
    changed: Condvar,
}

/// What happens, and what has happened.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) scheduler: Scheduler,
    /// The ledger's; the scheduler's tickets are indices into it.
    pub(crate) entries: Vec<Entry>,
    pub(crate) entries_max: usize,
    pub(crate) overflow: u64,
    /// Open connections by number.
    pub(crate) connections: HashMap<u32, Arc<TcpStream>>,
    pub(crate) stopping: bool,
}

/// The server takes no more requests from this connection.
#[derive(Debug)]
pub(crate) struct Closed;

impl Shared {
    pub(crate) fn new(epoch: Instant, scheduler: Scheduler, entries_max: usize) -> Self {
        let state = State {
            scheduler,
            // All at once: to grow later would copy it under the lock. Pages are touched as they fill.
            entries: Vec::with_capacity(entries_max),
            entries_max,
            overflow: 0,
            connections: HashMap::new(),
            stopping: false,
        };
        Self { epoch, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Nanoseconds since the epoch.
    pub(crate) fn now_ns(&self) -> u64 {
        duration_ns(self.epoch.elapsed())
    }

    /// An instant in nanoseconds since the epoch; 0 before it.
    pub(crate) fn since_epoch_ns(&self, at: Instant) -> u64 {
        duration_ns(at.saturating_duration_since(self.epoch))
    }

    /// The state. A thread that panicked leaves it consistent enough to read what happened.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, then wakes the dispatcher if what falls due next has changed with it.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State, u64) -> T) -> T {
        let mut state = self.lock();
        let before = (state.scheduler.next_due_ns(), state.stopping);
        let now_ns = self.now_ns();
        let result = change(&mut state, now_ns);
        let after = (state.scheduler.next_due_ns(), state.stopping);
        drop(state);
        if before != after {
            self.changed.notify_one();
        }
        result
    }

    /// Gives up the lock until something has changed or the next request falls due.
    pub(crate) fn wait<'a>(&'a self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        match state.scheduler.next_due_ns() {
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(due_ns) => {
                let left = Duration::from_nanos(due_ns.saturating_sub(self.now_ns()));
                self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
            }
        }
    }
}

impl State {
    /// Records a request and schedules its reply.
    pub(crate) fn take(&mut self, request: Entry) -> Result<(), Closed> {
        if !self.connections.contains_key(&request.connection) {
            return Err(Closed);
        }
        if self.entries.len() >= self.entries_max {
            self.overflow += 1;
            return Err(Closed);
        }
        self.scheduler.arrive(request.arrival_ns, self.entries.len(), request.id);
        self.entries.push(request);
        Ok(())
    }

    /// Notes what became of the request with this ticket.
    pub(crate) fn settle(&mut self, ticket: usize, fate: Fate) {
        if let Some(entry) = self.entries.get_mut(ticket) {
            entry.fate = fate;
        }
    }
}
