//! Payload bytes of the TCP sockets that a set of processes holds.
//!
//! The kernel lists all sockets of this network namespace with their byte counters (sock_diag); which are the
//! target's is told by the inodes among its open files. Files are only listed while a socket is new, and no more often
//! than a CPU budget allows, unless a look has to be exact: counters are cumulative, so a late classification loses nothing. The
//! kernel tells of each socket that ends, with its last counts.

use std::collections::HashSet;
use std::io::{Error, ErrorKind};
use std::time::Duration;

use crate::cpu_credit::{CpuCredit, thread_cpu_s};
use crate::sock_diag::{Endings, SockDiag, TcpSocket};
use crate::socket_account::{Counted, SocketAccount};
use crate::tree_account::ProcessId;

/// The part of one core that listing open files may take.
const LISTING_SHARE: f64 = 0.001;

/// A socket that is no longer listed has ended, and the kernel tells it from a queue of its own: so often and so long it is waited for.
const WAITS: u32 = 10;
const WAIT: Duration = Duration::from_millis(2);
/// So many that end between two looks may be too many for the next time.
const MANY: usize = 50;

#[derive(Debug)]
pub(crate) struct TcpSockets {
    diag: SockDiag,
    /// `None`: the kernel does not tell which sockets end.
    endings: Option<Endings>,
    ended: Vec<TcpSocket>,
    many_end: bool,
    credit: CpuCredit,
    must_list: bool,
    account: SocketAccount,
}

impl TcpSockets {
    /// `None` where sockets cannot be had: no permission, no kernel support.
    pub fn of_processes(processes: &[ProcessId]) -> Option<Self> {
        held_inodes(processes)?;
        let endings = Endings::open().ok();
        let mut diag = SockDiag::open().ok()?;
        diag.tcp_sockets().ok()?;
        Some(Self {
            diag,
            endings,
            ended: Vec::new(),
            many_end: false,
            credit: CpuCredit::new(LISTING_SHARE),
            must_list: false,
            account: SocketAccount::default(),
        })
    }

    /// The next look lists files, whatever that costs: what it tells is held against another.
    pub fn be_exact(&mut self) {
        self.must_list = true;
    }

    /// Takes what has ended before there is no more room for it; whether that is to be done often.
    pub fn follow(&mut self) -> bool {
        if self.many_end {
            self.take_ended();
        }
        self.many_end
    }

    /// `None` once the kernel refuses or a process hides its files.
    pub fn read(&mut self, processes: &[ProcessId], at: Duration) -> Option<Counted> {
        self.take_ended();
        let sockets = self.diag.tcp_sockets().ok()?;
        self.credit.earn(at, 0.0);
        let must_list = std::mem::take(&mut self.must_list);
        let may_list = must_list || self.credit.is_positive();
        let held = if self.account.knows_all(&sockets) || !may_list {
            None
        } else {
            let started_s = thread_cpu_s();
            let held = held_inodes(processes)?;
            self.credit.spend(thread_cpu_s() - started_s);
            Some(held)
        };
        self.many_end = self.ended.len() > MANY;
        self.account.update(&sockets, held.as_ref());
        self.settle();
        Some(self.account.counted())
    }

    /// Waits a little for the last counts of the target's sockets that have just ended.
    fn settle(&mut self) {
        for wait in 0..=WAITS {
            self.account.end(&self.ended);
            self.ended.clear();
            if !self.account.waits() || self.endings.is_none() || wait == WAITS {
                break;
            }
            std::thread::sleep(WAIT);
            self.take_ended();
        }
        self.account.give_up_waiting();
    }

    fn take_ended(&mut self) {
        let are_all = self.endings.as_mut().is_some_and(|endings| endings.take(&mut self.ended).unwrap_or(false));
        if !are_all {
            self.account.miss();
        }
    }
}

/// The inodes of the sockets among the processes' open files; `None` if a living process hides them.
fn held_inodes(processes: &[ProcessId]) -> Option<HashSet<u32>> {
    let mut inodes = HashSet::new();
    let refused = |error: &Error| error.kind() == ErrorKind::PermissionDenied;
    for id in processes {
        let files = match std::fs::read_dir(format!("/proc/{}/fd", id.pid)) {
            Ok(files) => files,
            Err(error) if refused(&error) => return None,
            Err(_) => continue,
        };
        for file in files.flatten() {
            match std::fs::read_link(file.path()) {
                Ok(link) => inodes.extend(link.to_str().and_then(socket_inode)),
                Err(error) if refused(&error) => return None,
                // Closed meanwhile.
                Err(_) => {}
            }
        }
    }
    Some(inodes)
}

pub(crate) fn socket_inode(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_sockets_are_told_from_others() {
        assert_eq!(socket_inode("socket:[1214]"), Some(1214));
        assert_eq!(socket_inode("pipe:[1214]"), None);
        assert_eq!(socket_inode("/tmp/socket:[x]"), None);
    }
}
