//! What a process tree has used, although its members come and go between two looks.
//!
//! When a parent waits for a child, Linux adds the child's CPU time and I/O to the parent's own record. The sum over
//! the living members of (own + inherited) is therefore exact as long as every dead member was waited for inside the
//! tree. A member that vanished without an heir (waited for by init, or its parent ignores SIGCHLD) is kept at its
//! last seen value. No process is counted twice: a vanished member's value is kept only as far as no ancestor's
//! inherited share grew by it.

use std::collections::{BTreeMap, HashMap};

/// A process beyond the reuse of its pid. Ordered by birth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId {
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
    /// Process id.
    pub pid: i32,
}

/// Counters of one process or of a whole tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time in user mode, in clock ticks.
    pub user_ticks: u64,
    /// CPU time in the kernel, in clock ticks.
    pub system_ticks: u64,
    /// Bytes fetched from storage.
    pub read_bytes: u64,
    /// Bytes sent, or to be sent, to storage.
    pub written_bytes: u64,
    /// Bytes of `written_bytes` that were truncated away first.
    pub cancelled_bytes: u64,
}

impl Usage {
    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            user_ticks: f(self.user_ticks, other.user_ticks),
            system_ticks: f(self.system_ticks, other.system_ticks),
            read_bytes: f(self.read_bytes, other.read_bytes),
            written_bytes: f(self.written_bytes, other.written_bytes),
            cancelled_bytes: f(self.cancelled_bytes, other.cancelled_bytes),
        }
    }

    /// The sum, counter by counter.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    /// The difference, counter by counter, 0 where it would be negative.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_sub)
    }

    fn min(self, other: Self) -> Self {
        self.zip(other, Ord::min)
    }

    fn max(self, other: Self) -> Self {
        self.zip(other, Ord::max)
    }
}

/// One line of a process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessRow {
    /// The process.
    pub id: ProcessId,
    /// Its parent's pid now.
    pub parent_pid: i32,
    /// All that its record holds: its own use and what it inherited.
    pub held: Usage,
    /// The part of `held` that it may have inherited from children. CPU is known exactly (cutime, cstime); for I/O
    /// Linux keeps one sum, so this is the whole of it.
    pub inherited: Usage,
}

#[derive(Debug, Clone, Copy)]
struct Member {
    row: ProcessRow,
    /// Growth of `inherited` at the last look that no vanished member explained. A child may die between the
    /// reading of its own line and its parent's: it is then missing one look later than its heir grew.
    unexplained: Usage,
}

/// The account of one tree: give it each process table, children read before their parents.
#[derive(Debug, Clone)]
pub struct TreeAccount {
    root: ProcessId,
    members: BTreeMap<i32, Member>,
    /// Last seen values of members that vanished without an heir.
    retained: Usage,
    total: Usage,
}

impl TreeAccount {
    /// An empty account of the tree below `root`, the root included.
    pub fn new(root: ProcessId) -> Self {
        Self { root, members: BTreeMap::new(), retained: Usage::default(), total: Usage::default() }
    }

    /// The process that the tree is below.
    pub fn root(&self) -> ProcessId {
        self.root
    }

    /// The rows of `table` that belong to the tree, children before parents. A member stays one when its parent
    /// dies. Pids are compared with their start times, so that a reused pid is a stranger.
    pub fn select(&self, table: &[ProcessRow]) -> Vec<ProcessRow> {
        let by_pid: HashMap<i32, &ProcessRow> = table.iter().map(|row| (row.id.pid, row)).collect();
        let mut known: HashMap<i32, bool> = HashMap::with_capacity(table.len());
        let mut rows: Vec<ProcessRow> =
            by_pid.values().filter(|row| self.belongs(row, &by_pid, &mut known)).map(|row| **row).collect();
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.id));
        rows
    }

    /// Takes the tree's rows of one look (all rows that [`Self::select`] chose; their counters may have been
    /// completed since).
    pub fn update(&mut self, rows: &[ProcessRow]) {
        let mut rows = rows.to_vec();
        rows.sort_unstable_by_key(|row| std::cmp::Reverse(row.id));
        let alive: HashMap<i32, ProcessId> = rows.iter().map(|row| (row.id.pid, row.id)).collect();
        let mut due = self.estates(&alive);
        let mut held = Usage::default();
        let mut members = BTreeMap::new();
        for mut row in rows {
            held = held.plus(row.held);
            // A parent that ended while the table was read passes its children on to its own.
            row.parent_pid = self.living_ancestor(row.parent_pid, &alive);
            let (gained, before) = match self.last_seen(row.id) {
                Some(old) => (row.inherited.minus(old.row.inherited), old.unexplained),
                None => (row.inherited, Usage::default()),
            };
            let available = gained.plus(before);
            let asked = due.remove(&row.id.pid).unwrap_or_default();
            let missing = asked.minus(available);
            // What this heir did not get may have gone to one of its ancestors, which come later in this order.
            match alive.get(&row.parent_pid).filter(|parent| **parent < row.id) {
                Some(parent) => {
                    let passed = due.entry(parent.pid).or_default();
                    *passed = passed.plus(missing);
                }
                None => self.retained = self.retained.plus(missing),
            }
            let unexplained = available.minus(asked).min(gained);
            members.insert(row.id.pid, Member { row, unexplained });
        }
        self.members = members;
        self.total = self.total.max(held.plus(self.retained));
    }

    /// What the tree has used since its members were born. Never falls.
    pub fn total(&self) -> Usage {
        self.total
    }

    /// The members at the last look, children before parents.
    pub fn members(&self) -> Vec<ProcessId> {
        let mut ids: Vec<ProcessId> = self.members.values().map(|member| member.row.id).collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        ids
    }

    /// Whether a member had this pid at the last look.
    pub fn holds_pid(&self, pid: i32) -> bool {
        self.members.contains_key(&pid)
    }

    /// What a member held at the last look.
    pub fn held(&self, id: ProcessId) -> Option<Usage> {
        self.last_seen(id).map(|member| member.row.held)
    }

    fn last_seen(&self, id: ProcessId) -> Option<&Member> {
        self.members.get(&id.pid).filter(|member| member.row.id == id)
    }

    fn belongs(&self, row: &ProcessRow, table: &HashMap<i32, &ProcessRow>, known: &mut HashMap<i32, bool>) -> bool {
        let mut path = Vec::new();
        let mut at = row;
        let verdict = loop {
            if let Some(verdict) = known.get(&at.id.pid) {
                break *verdict;
            }
            if at.id == self.root || self.last_seen(at.id).is_some() {
                known.insert(at.id.pid, true);
                break true;
            }
            path.push(at.id.pid);
            match table.get(&at.parent_pid) {
                Some(parent) if parent.id.start_ticks <= at.id.start_ticks && path.len() <= table.len() => at = parent,
                Some(_) => break false,
                // The parent died while the table was read.
                None => {
                    let parent = self.members.get(&at.parent_pid);
                    break parent.is_some_and(|parent| parent.row.id.start_ticks <= at.id.start_ticks);
                }
            }
        };
        for pid in path {
            known.insert(pid, verdict);
        }
        verdict
    }

    /// `pid` if it is alive or unknown, else the nearest living ancestor of the member that had it.
    fn living_ancestor(&self, pid: i32, alive: &HashMap<i32, ProcessId>) -> i32 {
        let parent = |pid: &i32| self.members.get(pid).map(|member| member.row.parent_pid);
        let mut line = std::iter::successors(Some(pid), parent).take(self.members.len() + 1);
        line.find(|pid| alive.contains_key(pid)).unwrap_or(pid)
    }

    /// What each surviving member should have inherited from vanished ones, by the survivor's pid; what has no
    /// survivor to go to is retained.
    fn estates(&mut self, alive: &HashMap<i32, ProcessId>) -> HashMap<i32, Usage> {
        let mut due: HashMap<i32, Usage> = HashMap::new();
        for id in self.members() {
            let Some(member) = self.last_seen(id).filter(|_| alive.get(&id.pid) != Some(&id)) else { continue };
            // A vanished member's own children died before it was last seen if their estate is in it already.
            let asked = due.remove(&id.pid).unwrap_or_default();
            let estate = member.row.held.plus(asked.minus(member.unexplained));
            match self.members.get(&member.row.parent_pid).filter(|parent| parent.row.id < id) {
                Some(parent) => {
                    let passed = due.entry(parent.row.id.pid).or_default();
                    *passed = passed.plus(estate);
                }
                None => self.retained = self.retained.plus(estate),
            }
        }
        due
    }
}
