//! Payload bytes of the TCP sockets that a set of processes holds.
//!
//! The kernel lists all sockets of this network namespace with their byte counters (sock_diag); which are the
//! target's is told by the inodes among its open files. Files are only listed while a socket is new, and no more often
//! than a CPU budget allows: counters are cumulative, so a late classification loses nothing. What a socket carried between the last look and its end is lost.

use std::collections::{HashMap, HashSet};
use std::io::{Error, ErrorKind};
use std::time::Duration;

use crate::cpu_credit::{CpuCredit, thread_cpu_s};
use crate::network::NetworkBytes;
use crate::sock_diag::{SockDiag, TcpSocket};
use crate::tree_account::ProcessId;

/// The part of one core that listing open files may take.
const LISTING_SHARE: f64 = 0.001;

#[derive(Debug)]
pub(crate) struct TcpSockets {
    diag: SockDiag,
    credit: CpuCredit,
    account: SocketAccount,
}

impl TcpSockets {
    /// `None` where sockets cannot be had: no permission, no kernel support.
    pub fn of_processes(processes: &[ProcessId]) -> Option<Self> {
        held_inodes(processes)?;
        let mut diag = SockDiag::open().ok()?;
        diag.tcp_sockets().ok()?;
        Some(Self { diag, credit: CpuCredit::new(LISTING_SHARE), account: SocketAccount::default() })
    }

    /// `None` once the kernel refuses or a process hides its files.
    pub fn read(&mut self, processes: &[ProcessId], at: Duration) -> Option<NetworkBytes> {
        let sockets = self.diag.tcp_sockets().ok()?;
        self.credit.earn(at, 0.0);
        let held = if self.account.knows_all(&sockets) || !self.credit.is_positive() {
            None
        } else {
            let started_s = thread_cpu_s();
            let held = held_inodes(processes)?;
            self.credit.spend(thread_cpu_s() - started_s);
            Some(held)
        };
        self.account.update(&sockets, held.as_ref());
        Some(self.account.total())
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

fn socket_inode(link: &str) -> Option<u32> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Sums sockets that come and go. Pure.
#[derive(Debug, Default)]
struct SocketAccount {
    ours: HashMap<u64, NetworkBytes>,
    /// Not held at one listing: perhaps by a process too young to be in it.
    suspects: HashSet<u64>,
    /// Not held at two listings.
    foreign: HashSet<u64>,
    closed: NetworkBytes,
}

impl SocketAccount {
    fn knows_all(&self, sockets: &[TcpSocket]) -> bool {
        let knows = |cookie| self.ours.contains_key(cookie) || self.foreign.contains(cookie);
        sockets.iter().all(|socket| socket.inode == 0 || knows(&socket.cookie))
    }

    /// `held`: the inodes of the target, if they were listed. A socket without inode was not accepted yet, or is
    /// being closed: it stays what it was.
    fn update(&mut self, sockets: &[TcpSocket], held: Option<&HashSet<u32>>) {
        let before = std::mem::take(self);
        for socket in sockets {
            let cookie = socket.cookie;
            if let Some(last) = before.ours.get(&cookie) {
                let bytes = NetworkBytes { rx: socket.bytes.rx.max(last.rx), tx: socket.bytes.tx.max(last.tx) };
                self.ours.insert(cookie, bytes);
            } else if before.foreign.contains(&cookie) {
                self.foreign.insert(cookie);
            } else if let Some(held) = held.filter(|_| socket.inode != 0) {
                if held.contains(&socket.inode) {
                    self.ours.insert(cookie, socket.bytes);
                } else if before.suspects.contains(&cookie) {
                    self.foreign.insert(cookie);
                } else {
                    self.suspects.insert(cookie);
                }
            } else if before.suspects.contains(&cookie) {
                self.suspects.insert(cookie);
            }
        }
        let ended = before.ours.iter().filter(|(cookie, _)| !self.ours.contains_key(cookie));
        self.closed = ended.fold(before.closed, |sum, (_, bytes)| sum.plus(*bytes));
    }

    fn total(&self) -> NetworkBytes {
        self.ours.values().fold(self.closed, |sum, bytes| sum.plus(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(cookie: u64, inode: u32, rx: u64, tx: u64) -> TcpSocket {
        TcpSocket { cookie, inode, bytes: NetworkBytes { rx, tx } }
    }

    #[test]
    fn own_sockets_count_and_closed_ones_stay() {
        let mut account = SocketAccount::default();
        account.update(&[socket(1, 11, 5, 7), socket(2, 12, 100, 100)], Some(&HashSet::from([11])));
        assert_eq!(account.total(), NetworkBytes { rx: 5, tx: 7 });
        account.update(&[socket(1, 0, 6, 9), socket(2, 12, 900, 900)], None);
        assert_eq!(account.total(), NetworkBytes { rx: 6, tx: 9 }, "a socket being closed still counts");
        account.update(&[socket(3, 11, 1, 1)], Some(&HashSet::from([11])));
        assert_eq!(account.total(), NetworkBytes { rx: 7, tx: 10 });
    }

    #[test]
    fn a_socket_not_yet_accepted_is_classified_later() {
        let mut account = SocketAccount::default();
        account.update(&[socket(1, 0, 3, 0)], None);
        assert!(!account.knows_all(&[socket(1, 11, 3, 0)]));
        account.update(&[socket(1, 11, 4, 2)], Some(&HashSet::from([11])));
        assert_eq!(account.total(), NetworkBytes { rx: 4, tx: 2 });
    }

    #[test]
    fn a_socket_is_foreign_only_at_the_second_listing() {
        let mut account = SocketAccount::default();
        let (row, nothing) = ([socket(1, 11, 4, 2)], HashSet::new());
        account.update(&row, Some(&nothing));
        account.update(&row, None);
        assert!(!account.knows_all(&row), "its process may have been too young to be listed");
        let mut held_late = SocketAccount { suspects: account.suspects.clone(), ..SocketAccount::default() };
        held_late.update(&row, Some(&HashSet::from([11])));
        assert_eq!(held_late.total(), NetworkBytes { rx: 4, tx: 2 });
        account.update(&row, Some(&nothing));
        assert!(account.knows_all(&row));
        assert_eq!(account.total(), NetworkBytes::default());
    }

    #[test]
    fn links_of_sockets_are_told_from_others() {
        assert_eq!(socket_inode("socket:[1214]"), Some(1214));
        assert_eq!(socket_inode("pipe:[1214]"), None);
        assert_eq!(socket_inode("/tmp/socket:[x]"), None);
    }
}
