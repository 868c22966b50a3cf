//! Processes by pid and start time, and the signals that reach no other.

use procfs::process::{Process, Stat, all_processes};
use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{HashMap, HashSet},
    io,
    time::{Duration, Instant},
};

/// From one look to the next while processes end.
const LOOK: Duration = Duration::from_millis(10);

/// A process that a reused pid cannot be taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its pid.
    pub pid: i32,
    /// When it started, in clock ticks since the system did.
    pub start_ticks: u64,
}

impl ProcessId {
    /// The process that has this pid now.
    pub(crate) fn of(pid: i32) -> Option<Self> {
        stat(pid).map(|stat| Self::from(&stat))
    }

    /// Whether it lives: a zombie does not.
    #[must_use]
    pub fn is_alive(self) -> bool {
        stat(self.pid).is_some_and(|stat| Self::from(&stat) == self && !is_zombie(&stat))
    }

    /// Sends it a signal; false: it has ended. The pid is held by a pidfd before its start time is compared, so the
    /// signal can reach no other process.
    pub(crate) fn signal(self, signal: Signal) -> io::Result<bool> {
        let Some(pid) = Pid::from_raw(self.pid) else { return Ok(false) };
        let held = match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(held) => Some(held),
            Err(Errno::SRCH) => return Ok(false),
            // Some containers forbid it: the pid itself has to do.
            Err(Errno::NOSYS | Errno::PERM) => None,
            Err(error) => return Err(error.into()),
        };
        if !self.is_alive() {
            return Ok(false);
        }
        let sent = match held {
            Some(held) => pidfd_send_signal(held, signal),
            None => kill_process(pid, signal),
        };
        match sent {
            Ok(()) => Ok(true),
            Err(Errno::SRCH) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for its end; false: it lives on.
    pub(crate) fn wait_for_end(self, within: Duration) -> bool {
        let start = Instant::now();
        while self.is_alive() {
            if start.elapsed() >= within {
                return false;
            }
            std::thread::sleep(LOOK);
        }
        true
    }
}

impl From<&Stat> for ProcessId {
    fn from(stat: &Stat) -> Self {
        Self { pid: stat.pid, start_ticks: stat.starttime }
    }
}

fn stat(pid: i32) -> Option<Stat> {
    Process::new(pid).ok()?.stat().ok()
}

fn is_zombie(stat: &Stat) -> bool {
    matches!(stat.state, 'Z' | 'X' | 'x')
}

/// The living descendants of a process, itself left out.
pub(crate) fn descendants(root: i32) -> io::Result<Vec<ProcessId>> {
    let processes = all_processes().map_err(io::Error::other)?;
    let stats = processes.filter_map(|process| process.ok()?.stat().ok());
    let mut children: HashMap<i32, Vec<Stat>> = HashMap::new();
    for stat in stats {
        children.entry(stat.ppid).or_default().push(stat);
    }
    let (mut found, mut parents, mut seen) = (Vec::new(), vec![root], HashSet::new());
    while let Some(parent) = parents.pop() {
        for stat in children.remove(&parent).unwrap_or_default() {
            if seen.insert(stat.pid) {
                parents.push(stat.pid);
                if !is_zombie(&stat) {
                    found.push(ProcessId::from(&stat));
                }
            }
        }
    }
    Ok(found)
}

/// Sends a process and its descendants a signal; those that end meanwhile do not matter.
pub(crate) fn signal_tree(root: ProcessId, signal: Signal) -> io::Result<()> {
    if root.signal(signal)? {
        descendants(root.pid)?.iter().try_for_each(|member| member.signal(signal).map(drop))?;
    }
    Ok(())
}

/// Kills a process and its descendants until none is left; false: some live on. Descendants first: they are found by
/// their parents.
pub(crate) fn kill_tree(root: ProcessId, within: Duration) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        let members = if root.is_alive() { descendants(root.pid)? } else { Vec::new() };
        for member in &members {
            member.signal(Signal::KILL)?;
        }
        if members.is_empty() && !root.signal(Signal::KILL)? {
            return Ok(true);
        }
        if start.elapsed() >= within {
            return Ok(false);
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    fn sleeper() -> (Child, ProcessId) {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let id = ProcessId::of(i32::try_from(child.id()).unwrap()).unwrap();
        (child, id)
    }

    #[test]
    fn a_signal_reaches_its_process() {
        let (mut child, id) = sleeper();
        assert!(id.is_alive() && id.signal(Signal::KILL).unwrap());
        child.wait().unwrap();
        assert!(!id.is_alive() && !id.signal(Signal::KILL).unwrap());
    }

    #[test]
    fn a_process_that_started_at_another_time_is_another() {
        let (mut child, id) = sleeper();
        let other = ProcessId { start_ticks: id.start_ticks + 1, ..id };
        assert!(!other.is_alive() && !other.signal(Signal::KILL).unwrap());
        assert!(id.is_alive());
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_tree_ends_whole_and_its_namesake_lives() {
        let (mut decoy, decoy_id) = sleeper();
        // Two generations, each in a process group of its own.
        let mut child = Command::new("timeout").args(["600", "timeout", "600", "sleep", "600"]).spawn().unwrap();
        let root = ProcessId::of(i32::try_from(child.id()).unwrap()).unwrap();
        let start = Instant::now();
        while descendants(root.pid).unwrap().len() < 2 {
            assert!(start.elapsed() < Duration::from_secs(30), "the tree did not grow");
            std::thread::sleep(LOOK);
        }
        let members = descendants(root.pid).unwrap();
        assert!(kill_tree(root, Duration::from_secs(30)).unwrap());
        child.wait().unwrap();
        assert!(members.iter().all(|member| member.wait_for_end(Duration::from_secs(30))));
        assert!(decoy_id.is_alive());
        decoy.kill().unwrap();
        decoy.wait().unwrap();
    }
}
