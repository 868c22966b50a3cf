//! What the processes of others use of the machine's processors: all but kernel threads and given trees.
//!
//! Kernel threads write back, and answer interrupts, for whoever made the work: nobody can tell for whom. The time of children
//! that have ended is in their parents' records, so that compilers of a tenth of a second count.

use std::collections::{HashMap, HashSet};
use std::fs::read_link;

use crate::probe_error::ProbeError;
use crate::process_files::{list_pids, read_stat};
use crate::tree_account::{ProcessId, ProcessRow};

/// The parent of all kernel threads, and their first.
const KTHREADD: i32 = 2;
/// The namespace in which every process of the machine is seen (`PROC_PID_INIT_INO`).
const INITIAL_NAMESPACE: &str = "pid:[4026531836]";

#[derive(Debug, Default)]
pub(crate) struct Others {
    roots: Vec<i32>,
    kernel: HashSet<i32>,
    account: OthersAccount,
}

impl Others {
    /// Beside the trees of these processes.
    pub fn beside(roots: &[i32]) -> Self {
        Self { roots: roots.to_vec(), ..Self::default() }
    }

    /// Another tree that is not theirs.
    pub fn add(&mut self, root: i32) {
        self.roots.push(root);
    }

    /// Clock ticks used since the first look; `None`: others' processes are not all to be seen.
    pub fn used_ticks(&mut self) -> Result<Option<u64>, ProbeError> {
        if read_stat(1)?.is_none() || read_link("/proc/self/ns/pid").is_ok_and(|n| n.as_os_str() != INITIAL_NAMESPACE) {
            return Ok(None);
        }
        let pids = list_pids()?;
        self.kernel.retain(|pid| pids.contains(pid));
        let mut rows = Vec::new();
        for pid in pids.into_iter().filter(|pid| !self.kernel.contains(pid)).collect::<Vec<_>>() {
            let Some(stat) = read_stat(pid)? else { continue };
            if pid == KTHREADD || stat.row.parent_pid == KTHREADD {
                self.kernel.insert(pid);
            } else {
                rows.push(stat.row);
            }
        }
        Ok(Some(self.account.update(&rows, &self.roots)))
    }
}

/// The account of it: give it each process table. Pure.
#[derive(Debug, Default)]
struct OthersAccount {
    /// What each process held at the last look.
    before: HashMap<ProcessId, Held>,
    used_ticks: u64,
    begun: bool,
}

#[derive(Debug, Clone, Copy)]
struct Held {
    ticks: u64,
    parent_pid: i32,
    /// Whether it is below one of the roots. It stays so when its parent dies.
    own: bool,
}

impl OthersAccount {
    fn update(&mut self, table: &[ProcessRow], roots: &[i32]) -> u64 {
        let by_pid: HashMap<i32, &ProcessRow> = table.iter().map(|row| (row.id.pid, row)).collect();
        let held = |row: &ProcessRow| Held {
            ticks: row.held.user_ticks + row.held.system_ticks,
            parent_pid: row.parent_pid,
            own: self.is_own(row, &by_pid, roots),
        };
        let now: HashMap<ProcessId, Held> = table.iter().map(|row| (row.id, held(row))).collect();
        if self.begun {
            let of_others: u64 = now.values().filter(|held| !held.own).map(|held| held.ticks).sum();
            let is_anothers =
                |pid: i32| by_pid.get(&pid).and_then(|row| now.get(&row.id)).is_some_and(|held| !held.own);
            // Of ours that have ended the time is now in a stranger's record: that of whoever waited for them.
            let counted = self
                .before
                .iter()
                .filter(|(id, held)| !held.own || (!now.contains_key(id) && is_anothers(held.parent_pid)));
            let before: u64 = counted.map(|(_, held)| held.ticks).sum();
            self.used_ticks += of_others.saturating_sub(before);
        }
        self.begun = true;
        self.before = now;
        self.used_ticks
    }

    fn is_own(&self, row: &ProcessRow, table: &HashMap<i32, &ProcessRow>, roots: &[i32]) -> bool {
        let parents = |row: &&ProcessRow| table.get(&row.parent_pid).copied();
        let mut line = std::iter::successors(Some(row), parents).take(table.len());
        line.any(|row| roots.contains(&row.id.pid) || self.before.get(&row.id).is_some_and(|held| held.own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree_account::Usage;

    /// A process, its parent, and what it has used with its children that ended.
    fn row(pid: i32, parent_pid: i32, ticks: u64) -> ProcessRow {
        let held = Usage { user_ticks: ticks, ..Usage::default() };
        ProcessRow {
            id: ProcessId { start_ticks: u64::try_from(pid).unwrap_or(0), pid },
            parent_pid,
            held,
            inherited: Usage::default(),
        }
    }

    /// What others have used after each of some tables, beside the tree of process 10.
    fn used(tables: &[Vec<ProcessRow>]) -> Vec<u64> {
        let mut account = OthersAccount::default();
        tables.iter().map(|table| account.update(table, &[10])).collect()
    }

    #[test]
    fn the_trees_beside_them_are_not_theirs() {
        let before = vec![row(1, 0, 500), row(10, 1, 70), row(11, 10, 30), row(20, 1, 100)];
        let after = vec![row(1, 0, 500), row(10, 1, 90), row(11, 10, 80), row(20, 1, 140)];
        assert_eq!(used(&[before, after]), [0, 40]);
    }

    #[test]
    fn children_that_come_and_go_count_once() {
        let tables = [
            vec![row(1, 0, 0), row(20, 1, 100)],
            vec![row(1, 0, 0), row(20, 1, 100), row(21, 20, 30)],
            // It used 5 more, ended, and its parent has inherited all of it.
            vec![row(1, 0, 0), row(20, 1, 135)],
            // One that was never seen.
            vec![row(1, 0, 0), row(20, 1, 155)],
        ];
        assert_eq!(used(&tables), [0, 30, 35, 55]);
    }

    #[test]
    fn what_is_ours_stays_ours_when_its_parent_ends_and_when_a_stranger_inherits_it() {
        let tables = [
            vec![row(1, 0, 0), row(10, 1, 0), row(11, 10, 0), row(12, 11, 50)],
            vec![row(1, 0, 0), row(10, 1, 0), row(12, 1, 90)],
            vec![row(1, 0, 90), row(10, 1, 0)],
            vec![row(1, 0, 97), row(10, 1, 0)],
        ];
        assert_eq!(used(&tables), [0, 0, 0, 7]);
    }
}
