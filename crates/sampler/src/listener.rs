//! Which process of this machine listens at an address.

use std::collections::HashSet;
use std::net::{SocketAddr, UdpSocket};

use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};
use procfs::process::{FDTarget, Process, all_processes};

/// Who listens at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listener {
    /// A process here: of several that hold the socket, the oldest.
    Process(i32),
    /// One of this machine that cannot be told: another user's, another network namespace's, or one that only passes on.
    Hidden,
    /// None of this machine: the address is another's.
    Elsewhere,
}

/// Programs that listen for others, as far as they are known: whoever is taken for the server is named in the result.
const PASS_ON: [&str; 13] = [
    "docker-proxy",
    "rootlessport",
    "sshd",
    "ssh",
    "autossh",
    "kubectl",
    "socat",
    "haproxy",
    "envoy",
    "nginx",
    "pgbouncer",
    "stunnel",
    "stunnel4",
];

/// Looks for whoever listens at `address` over TCP.
#[must_use]
pub fn listener(address: SocketAddr) -> Listener {
    // Only an address of this machine can be bound to.
    if UdpSocket::bind((address.ip(), 0)).is_err() {
        return Listener::Elsewhere;
    }
    let sockets = [tcp(), tcp6()].into_iter().flatten().flatten();
    let inodes: HashSet<u64> = sockets.filter(|entry| listens(entry, address)).map(|entry| entry.inode).collect();
    let processes = all_processes().into_iter().flatten().flatten().filter(|process| holds(process, &inodes));
    let stats = processes.filter_map(|process| process.stat().ok());
    match stats.min_by_key(|stat| (stat.starttime, stat.pid)) {
        Some(oldest) if !PASS_ON.contains(&oldest.comm.as_str()) => Listener::Process(oldest.pid),
        _ => Listener::Hidden,
    }
}

fn listens(entry: &TcpNetEntry, address: SocketAddr) -> bool {
    let (ip, wanted) = (entry.local_address.ip().to_canonical(), address.ip().to_canonical());
    entry.state == TcpState::Listen
        && entry.local_address.port() == address.port()
        && (ip == wanted || ip.is_unspecified())
}

fn holds(process: &Process, inodes: &HashSet<u64>) -> bool {
    let Ok(files) = process.fd() else { return false };
    !inodes.is_empty()
        && files.flatten().any(|file| matches!(file.target, FDTarget::Socket(inode) if inodes.contains(&inode)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn whoever_listens_here_is_found_and_nobody_is_taken_for_another() {
        let here = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = here.local_addr().unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        assert_eq!(listener(address), Listener::Process(own));
        drop(here);
        assert_eq!(listener(address), Listener::Hidden, "nobody listens there any more");
        // Documentation's addresses are nobody's (RFC 5737).
        assert_eq!(listener("192.0.2.1:80".parse().unwrap()), Listener::Elsewhere);
    }
}
