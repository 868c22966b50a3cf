//! What the TCP sockets of a set of processes carried, although they come and go between two looks. Pure.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

use crate::network_bytes::NetworkBytes;
use crate::sock_diag::TcpSocket;

/// Sockets and places that are remembered at the most, of each kind.
const MOST: usize = 1 << 16;

/// What is known of a target's connections. No part of it ever falls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// What they carried.
    pub bytes: NetworkBytes,
    /// What those carried, received and sent, of which it is not known whether they were the target's.
    pub doubtful_bytes: u64,
    /// How often something may have ended whose last counts are not known.
    pub missed: u64,
}

/// Sums sockets that come and go.
#[derive(Debug, Default)]
pub(crate) struct SocketAccount {
    ours: HashMap<u64, NetworkBytes>,
    /// Not held at one listing: perhaps by a process too young to be in it.
    suspects: HashSet<u64>,
    /// Not held at two listings.
    foreign: HashSet<u64>,
    /// Ours that are no longer listed, and whose last counts are still to come.
    ending: HashMap<u64, NetworkBytes>,
    /// Known ones that are no longer listed: whatever is told of them later, they are not new.
    gone: HashSet<u64>,
    served: HashSet<u16>,
    served_by_others: HashSet<u16>,
    visited: HashSet<SocketAddr>,
    visited_by_others: HashSet<SocketAddr>,
    total: Counted,
}

/// Whose a socket was that nobody saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Ours,
    Others,
    Unknown,
}

impl SocketAccount {
    pub fn knows_all(&self, sockets: &[TcpSocket]) -> bool {
        let knows = |cookie| self.ours.contains_key(cookie) || self.foreign.contains(cookie);
        sockets.iter().all(|socket| socket.inode == 0 || knows(&socket.cookie))
    }

    /// `held`: the inodes of the target, if they were listed. A socket without inode was not accepted yet, or is
    /// being closed: it stays what it was.
    pub fn update(&mut self, sockets: &[TcpSocket], held: Option<&HashSet<u32>>) {
        let before = std::mem::take(&mut self.ours);
        let foreign_before = std::mem::take(&mut self.foreign);
        let suspects_before = std::mem::take(&mut self.suspects);
        for socket in sockets {
            let cookie = socket.cookie;
            if let Some(last) = before.get(&cookie) {
                self.ours.insert(cookie, greater(*last, socket.bytes));
            } else if foreign_before.contains(&cookie) {
                self.foreign.insert(cookie);
            } else if let Some(held) = held.filter(|_| socket.inode != 0) {
                if held.contains(&socket.inode) {
                    self.ours.insert(cookie, socket.bytes);
                } else if suspects_before.contains(&cookie) {
                    self.foreign.insert(cookie);
                } else {
                    self.suspects.insert(cookie);
                }
            }
        }
        self.ending.extend(before.into_iter().filter(|(cookie, _)| !self.ours.contains_key(cookie)));
        self.gone.extend(foreign_before.difference(&self.foreign));
        // One that is no longer listed is still to be told as ended.
        let is_known = |cookie: &u64| self.ours.contains_key(cookie) || self.foreign.contains(cookie);
        self.suspects.extend(suspects_before.into_iter().filter(|cookie| !is_known(cookie)));
        self.note_places(sockets);
        self.forget();
    }

    /// Where the target and others listen, and whereto they connect.
    fn note_places(&mut self, sockets: &[TcpSocket]) {
        self.served_by_others.clear();
        for socket in sockets.iter().filter(|socket| socket.listens) {
            if self.ours.contains_key(&socket.cookie) {
                self.served.insert(socket.local_port);
            } else if self.foreign.contains(&socket.cookie) {
                self.served_by_others.insert(socket.local_port);
            }
        }
        let is_served = |port| self.served.contains(port) || self.served_by_others.contains(port);
        for socket in sockets.iter().filter(|socket| !socket.listens && !is_served(&socket.local_port)) {
            if self.ours.contains_key(&socket.cookie) {
                self.visited.insert(socket.remote);
            } else if self.foreign.contains(&socket.cookie) {
                self.visited_by_others.insert(socket.remote);
            }
        }
    }

    /// Sockets that have ended, with their last counts.
    pub fn end(&mut self, sockets: &[TcpSocket]) {
        for socket in sockets {
            let cookie = &socket.cookie;
            let last = self.ours.remove(cookie).or_else(|| self.ending.remove(cookie));
            if let Some(last) = last {
                self.close(greater(last, socket.bytes));
                continue;
            }
            if self.foreign.remove(cookie) || self.gone.remove(cookie) {
                continue;
            }
            let is_suspect = self.suspects.remove(cookie);
            match self.whose(socket) {
                Whose::Others => {}
                Whose::Ours if !is_suspect => self.close(socket.bytes),
                _ => self.total.doubtful_bytes += socket.bytes.rx + socket.bytes.tx,
            }
        }
    }

    fn close(&mut self, bytes: NetworkBytes) {
        self.total.bytes = self.total.bytes.plus(bytes);
    }

    /// Whose a socket was, by its two ends: accepted where the target listens; or by where it went, if nobody but the target was
    /// seen to connect there.
    fn whose(&self, socket: &TcpSocket) -> Whose {
        let port = &socket.local_port;
        match (self.served.contains(port), self.served_by_others.contains(port)) {
            (true, false) => return Whose::Ours,
            (false, true) => return Whose::Others,
            (true, true) => return Whose::Unknown,
            (false, false) => {}
        }
        let remote = &socket.remote;
        match (self.visited.contains(remote), self.visited_by_others.contains(remote)) {
            (true, false) => Whose::Ours,
            // The other end of what the target accepted.
            (false, _) if self.served.contains(&remote.port()) => Whose::Others,
            _ => Whose::Unknown,
        }
    }

    /// Whether last counts of the target's sockets are still to come.
    pub fn waits(&self) -> bool {
        !self.ending.is_empty()
    }

    /// Takes those as ended whose last counts have not come: what was seen of them is the least that they carried.
    pub fn give_up_waiting(&mut self) {
        for (cookie, last) in std::mem::take(&mut self.ending) {
            self.close(last);
            self.total.missed += 1;
            self.gone.insert(cookie);
        }
    }

    /// Something has ended that is not told.
    pub fn miss(&mut self) {
        self.total.missed += 1;
    }

    /// Keeps to what may be remembered. What is forgotten is in doubt later, if it comes again.
    fn forget(&mut self) {
        for cookies in [&mut self.gone, &mut self.suspects] {
            if cookies.len() > MOST {
                cookies.clear();
            }
        }
        for places in [&mut self.visited, &mut self.visited_by_others] {
            if places.len() > MOST {
                places.clear();
            }
        }
    }

    pub fn counted(&self) -> Counted {
        let open = self.ours.values().chain(self.ending.values());
        Counted { bytes: open.fold(self.total.bytes, |sum, bytes| sum.plus(*bytes)), ..self.total }
    }
}

fn greater(a: NetworkBytes, b: NetworkBytes) -> NetworkBytes {
    NetworkBytes { rx: a.rx.max(b.rx), tx: a.tx.max(b.tx) }
}

#[cfg(test)]
mod tests;
