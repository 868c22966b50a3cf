//! Payload bytes of the TCP sockets that a set of processes holds.
//!
//! The kernel lists all sockets of this network namespace with their byte counters (sock_diag); which are the
//! target's is told by the inodes among its open files. A socket is classified once, so files are only listed when
//! a socket is new. What a socket carried between the last look and its end is lost.

use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::path::PathBuf;

use crate::network::NetworkBytes;
use crate::sock_diag::{SockDiag, TcpSocket};
use crate::tree_account::ProcessId;

#[derive(Debug)]
pub(crate) struct TcpSockets {
    diag: SockDiag,
    account: SocketAccount,
}

impl TcpSockets {
    /// `None` where sockets cannot be had: no permission, no kernel support.
    pub fn of_process(pid: &str) -> Option<Self> {
        std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
        let mut diag = SockDiag::open().ok()?;
        diag.tcp_sockets().ok()?;
        Some(Self { diag, account: SocketAccount::default() })
    }

    /// `None` once the kernel refuses or a process hides its files.
    pub fn read(&mut self, processes: &[ProcessId]) -> Option<NetworkBytes> {
        let sockets = self.diag.tcp_sockets().ok()?;
        let held = if self.account.knows_all(&sockets) { HashSet::new() } else { held_inodes(processes)? };
        self.account.update(&sockets, &held);
        Some(self.account.total())
    }
}

/// The inodes of the sockets among the processes' open files; `None` if a living process hides them.
fn held_inodes(processes: &[ProcessId]) -> Option<HashSet<u32>> {
    let mut inodes = HashSet::new();
    for id in processes {
        let files = match std::fs::read_dir(PathBuf::from(format!("/proc/{}/fd", id.pid))) {
            Ok(files) => files,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return None,
            Err(_) => continue,
        };
        let links = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
        inodes.extend(links.filter_map(|link| socket_inode(link.to_str()?)));
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
    foreign: HashSet<u64>,
    closed: NetworkBytes,
}

impl SocketAccount {
    fn knows_all(&self, sockets: &[TcpSocket]) -> bool {
        sockets.iter().all(|socket| socket.inode == 0 || self.knows(socket.cookie))
    }

    fn knows(&self, cookie: u64) -> bool {
        self.ours.contains_key(&cookie) || self.foreign.contains(&cookie)
    }

    /// `held`: the inodes of the target, needed if a socket is new. A socket without inode was not accepted yet, or
    /// is being closed: it stays what it was.
    fn update(&mut self, sockets: &[TcpSocket], held: &HashSet<u32>) {
        let mut ours = HashMap::with_capacity(self.ours.len());
        let mut foreign = HashSet::with_capacity(self.foreign.len());
        for socket in sockets {
            let before = self.ours.remove(&socket.cookie);
            let known_foreign = self.foreign.contains(&socket.cookie);
            if before.is_some() || (!known_foreign && socket.inode != 0 && held.contains(&socket.inode)) {
                let before = before.unwrap_or_default();
                let bytes = NetworkBytes { rx: socket.bytes.rx.max(before.rx), tx: socket.bytes.tx.max(before.tx) };
                ours.insert(socket.cookie, bytes);
            } else if known_foreign || socket.inode != 0 {
                foreign.insert(socket.cookie);
            }
        }
        self.closed = self.ours.values().fold(self.closed, |sum, bytes| sum.plus(*bytes));
        self.ours = ours;
        self.foreign = foreign;
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
        account.update(&[socket(1, 11, 5, 7), socket(2, 12, 100, 100)], &HashSet::from([11]));
        assert_eq!(account.total(), NetworkBytes { rx: 5, tx: 7 });
        account.update(&[socket(1, 0, 6, 9), socket(2, 12, 900, 900)], &HashSet::new());
        assert_eq!(account.total(), NetworkBytes { rx: 6, tx: 9 }, "a socket being closed still counts");
        account.update(&[socket(3, 11, 1, 1)], &HashSet::from([11]));
        assert_eq!(account.total(), NetworkBytes { rx: 7, tx: 10 });
    }

    #[test]
    fn a_socket_not_yet_accepted_is_classified_later() {
        let mut account = SocketAccount::default();
        account.update(&[socket(1, 0, 3, 0)], &HashSet::new());
        assert!(!account.knows_all(&[socket(1, 11, 3, 0)]));
        account.update(&[socket(1, 11, 4, 2)], &HashSet::from([11]));
        assert_eq!(account.total(), NetworkBytes { rx: 4, tx: 2 });
    }

    #[test]
    fn links_of_sockets_are_told_from_others() {
        assert_eq!(socket_inode("socket:[1214]"), Some(1214));
        assert_eq!(socket_inode("pipe:[1214]"), None);
        assert_eq!(socket_inode("/tmp/socket:[x]"), None);
    }
}
