//! Decides when each request is answered: arrivals in, due replies out. Reads no clock, so it runs in virtual time too.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{
    program::{Discipline, Fault, Program, ServiceTime, duration_ns},
    wire::STATUS_OK,
    work_clock::{Stall, WorkClock},
};

/// The server's behaviour as a state machine. All times are nanoseconds since the epoch.
///
/// ```
/// use std::time::Duration;
/// use iotbench_oracle_server::{Discipline, Program, Scheduler, ServiceTime};
///
/// let service = ServiceTime::Constant(Duration::from_nanos(10));
/// let mut queue = Scheduler::new(&Program { service, discipline: Discipline::Queue, faults: vec![] });
/// queue.arrive(100, 0, 0);
/// queue.arrive(100, 1, 1);
/// assert_eq!(queue.next_due_ns(), Some(110));
/// assert_eq!(queue.pop_due(110).map(|due| due.ticket), Some(0));
/// assert_eq!(queue.pop_due(119), None);
/// assert_eq!(queue.next_due_ns(), Some(120));
/// ```
#[derive(Debug, Clone)]
pub struct Scheduler {
    service: ServiceTime,
    discipline: Discipline,
    faults: Vec<Fault>,
    /// How many of them, at the front, came by command.
    struck: usize,
    clock: WorkClock,
    arrived: u64,
    /// Work time at which the one server of a queue has done what has arrived.
    idle_from_work_ns: u64,
    pending: BinaryHeap<Reverse<Pending>>,
}

/// A request that will be answered; ordered by when, then by arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    due_work_ns: u64,
    number: u64,
    ticket: usize,
    action: Action,
}

/// A request whose time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// What the caller gave at arrival.
    pub ticket: usize,
    /// When it fell due.
    pub due_ns: u64,
    /// What is to be done.
    pub action: Action,
}

/// What is to be done with a request whose time has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Answer it with this status.
    Reply {
        /// Status on the wire.
        status: u8,
    },
    /// Reset its connection.
    Reset,
}

impl Scheduler {
    /// A scheduler at time 0, with nothing pending.
    #[must_use]
    pub fn new(program: &Program) -> Self {
        let mut clock = WorkClock::default();
        for fault in &program.faults {
            if let Fault::Stall { at, length } = *fault {
                clock.stall(duration_ns(at), Some(duration_ns(at.saturating_add(length))));
            }
        }
        Self {
            service: program.service,
            discipline: program.discipline,
            faults: program.faults.clone(),
            struck: 0,
            clock,
            arrived: 0,
            idle_from_work_ns: 0,
            pending: BinaryHeap::new(),
        }
    }

    /// Takes a request that arrived at `at_ns`; a queue serves in the order of these calls. `ticket` is handed back when
    /// the request is due, `id` decides an exponential service time.
    pub fn arrive(&mut self, at_ns: u64, ticket: usize, id: u64) {
        let number = self.arrived;
        self.arrived += 1;
        let Some(action) = self.action(number) else { return };
        let arrival_work_ns = self.clock.work_ns(at_ns);
        let start_work_ns = match self.discipline {
            Discipline::Parallel => arrival_work_ns,
            Discipline::Queue => arrival_work_ns.max(self.idle_from_work_ns),
        };
        let due_work_ns = start_work_ns.saturating_add(self.service.of_request_at_ns(id, start_work_ns));
        self.idle_from_work_ns = due_work_ns;
        self.pending.push(Reverse(Pending { due_work_ns, number, ticket, action }));
    }

    /// When the next request falls due, as far as known; `None` if none will.
    #[must_use]
    pub fn next_due_ns(&self) -> Option<u64> {
        let Reverse(next) = self.pending.peek()?;
        self.clock.wall_ns(next.due_work_ns)
    }

    /// Removes and returns the next request that is due at `now_ns`.
    pub fn pop_due(&mut self, now_ns: u64) -> Option<Due> {
        let due_ns = self.next_due_ns().filter(|&due_ns| due_ns <= now_ns)?;
        let Reverse(Pending { ticket, action, .. }) = self.pending.pop()?;
        Some(Due { ticket, due_ns, action })
    }

    /// Freezes from `from_ns` until `until_ns`, or until [`Scheduler::resume`] if that is `None`. Unites with stalls that
    /// it overlaps.
    pub fn stall(&mut self, from_ns: u64, until_ns: Option<u64>) {
        self.clock.stall(from_ns, until_ns);
    }

    /// Ends the stall that is on at `now_ns`; later programmed stalls stay.
    pub fn resume(&mut self, now_ns: u64) {
        self.clock.resume(now_ns);
    }

    /// From now on this fault strikes before all others.
    pub fn strike(&mut self, fault: Fault) {
        self.faults.insert(0, fault);
        self.struck += 1;
    }

    /// Only the program's own faults strike from now on.
    pub fn heal(&mut self) {
        self.faults.drain(..std::mem::take(&mut self.struck));
    }

    /// All stalls, past and programmed: disjoint, in order of time.
    #[must_use]
    pub fn stalls(&self) -> &[Stall] {
        self.clock.stalls()
    }

    /// What becomes of the request with this number (counted from 0); `None`: never answered.
    fn action(&self, number: u64) -> Option<Action> {
        let is_every = |every: std::num::NonZeroU64| (number + 1).is_multiple_of(every.get());
        for fault in &self.faults {
            match *fault {
                Fault::Hang { after } if number >= after => return None,
                Fault::ResetAfterStoring { every } if is_every(every) => return Some(Action::Reset),
                Fault::ErrorEvery { every, status } if is_every(every) => {
                    return Some(Action::Reply { status: status.get() });
                }
                Fault::Stall { .. }
                | Fault::Hang { .. }
                | Fault::ResetAfterStoring { .. }
                | Fault::ErrorEvery { .. } => {}
            }
        }
        Some(Action::Reply { status: STATUS_OK })
    }
}
