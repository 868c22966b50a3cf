//! What the server's threads share: one lock over scheduler, ledger and connections, and the clock.

use std::{
    collections::HashMap,
    net::TcpStream,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{
    http::Answer,
    ledger::{Entry, Fate, Ledger},
    program::duration_ns,
    protocol::Protocol,
    scheduler::Scheduler,
    wire::{Reply, STATUS_OK},
};

/// The clock, and the state behind its lock.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) protocol: Protocol,
    epoch: Instant,
    written_bytes: AtomicU64,
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
    pub(crate) strays: u64,
    /// Connections are closed as soon as they are accepted.
    pub(crate) is_closed: bool,
    pub(crate) stopping: bool,
}

/// The server takes no more requests from this connection.
#[derive(Debug)]
pub(crate) struct Closed;

impl Shared {
    pub(crate) fn new(protocol: Protocol, epoch: Instant, scheduler: Scheduler, entries_max: usize) -> Self {
        let state = State {
            scheduler,
            // All at once: to grow later would copy it under the lock. Pages are touched as they fill.
            entries: Vec::with_capacity(entries_max),
            entries_max,
            overflow: 0,
            connections: HashMap::new(),
            strays: 0,
            is_closed: false,
            stopping: false,
        };
        let written_bytes = AtomicU64::new(0);
        Self { protocol, epoch, written_bytes, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// What is answered to a request of so many datapoints, with this status, by this endpoint.
    pub(crate) fn answer(&self, endpoint: u16, status: u8, points: u32) -> Answer {
        match &self.protocol {
            Protocol::Raw => Answer::missing(),
            Protocol::Http(service) => service.answer(endpoint, status, points),
        }
    }

    /// The answer to this request.
    pub(crate) fn reply(&self, to: &Entry, status: u8) -> Answer {
        match &self.protocol {
            Protocol::Raw => {
                let count = if status == STATUS_OK { to.points } else { 0 };
                Answer::raw(Reply { id: to.id, status, count }.encode(), crate::http::Then::Wait)
            }
            Protocol::Http(_) => self.answer(to.endpoint, status, to.points),
        }
    }

    /// Counts bytes of answers that a socket has taken.
    pub(crate) fn count_written(&self, bytes: usize) {
        self.written_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// What happened so far.
    pub(crate) fn ledger(&self) -> Ledger {
        let state = self.lock();
        Ledger {
            entries: state.entries.clone(),
            overflow: state.overflow,
            stalls: state.scheduler.stalls().to_vec(),
            written_bytes: self.written_bytes.load(Ordering::Relaxed),
            strays: state.strays,
        }
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
