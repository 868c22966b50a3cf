//! The TCP connections of this process: how much came over each, and how one is ended whatever its owner is busy with.

use std::collections::HashMap;
use std::fs::File;
use std::io::Result;
use std::os::unix::fs::FileExt;

use rustix::fs::fstat;
use rustix::net::{Shutdown, shutdown};
use rustix::param::page_size;
use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

use crate::network_bytes::NetworkBytes;
use crate::sock_diag::SockDiag;
use crate::tcp_sockets::socket_inode;

/// One connection of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnectionId {
    /// Unique until the machine restarts.
    cookie: u64,
    inode: u32,
}

/// Looks at the TCP connections and the memory of this process. Needs no privilege.
#[derive(Debug)]
pub struct OwnConnections {
    /// Connections to this port are not looked at.
    except: Option<u16>,
    diag: SockDiag,
    memory: File,
}

impl OwnConnections {
    /// Opens what the looks read. Connections to the port `except` are not looked at.
    ///
    /// # Errors
    /// The kernel tells of no sockets, or of no memory.
    pub fn open(except: Option<u16>) -> Result<Self> {
        Ok(Self { except, diag: SockDiag::open()?, memory: File::open("/proc/self/statm")? })
    }

    /// The resident memory of this process, in bytes.
    ///
    /// # Errors
    /// The kernel does not tell it.
    pub fn rss_bytes(&self) -> Result<u64> {
        let mut text = [0; 128];
        let length = self.memory.read_at(&mut text, 0)?;
        let text = std::str::from_utf8(text.get(..length).unwrap_or_default()).unwrap_or_default();
        let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
        Ok(pages * page_size() as u64)
    }

    /// Payload bytes that each connection has carried since it was opened.
    ///
    /// # Errors
    /// The kernel does not tell them.
    pub fn carried(&mut self) -> Result<HashMap<ConnectionId, NetworkBytes>> {
        let own = own_sockets()?;
        let sockets = self.diag.tcp_sockets()?;
        let ours = sockets.into_iter().filter(|socket| {
            let is_looked_at = !socket.listens && Some(socket.remote.port()) != self.except;
            is_looked_at && own.contains_key(&socket.inode)
        });
        Ok(ours.map(|s| (ConnectionId { cookie: s.cookie, inode: s.inode }, s.bytes)).collect())
    }

    /// Ends a connection: who reads from it finds its end. Of one that is closed already nothing is done.
    ///
    /// # Errors
    /// The kernel allows no process a second descriptor of a socket (before Linux 5.6, and by some containers' filters of calls).
    pub fn end(&self, connection: ConnectionId) -> Result<()> {
        let Some(&descriptor) = own_sockets()?.get(&connection.inode) else { return Ok(()) };
        let own = pidfd_open(getpid(), PidfdFlags::empty())?;
        let socket = pidfd_getfd(own, descriptor, PidfdGetfdFlags::empty())?;
        if fstat(&socket)?.st_ino != u64::from(connection.inode) {
            // It is closed, and another file has its descriptor.
            return Ok(());
        }
        match shutdown(&socket, Shutdown::Both) {
            Ok(()) | Err(rustix::io::Errno::NOTCONN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The descriptor of each socket of this process, by its inode.
fn own_sockets() -> Result<HashMap<u32, i32>> {
    let files = std::fs::read_dir("/proc/self/fd")?.flatten();
    let sockets = files.filter_map(|file| {
        // Closed meanwhile, or no socket.
        let inode = socket_inode(std::fs::read_link(file.path()).ok()?.to_str()?)?;
        Some((inode, file.file_name().to_str()?.parse().ok()?))
    });
    Ok(sockets.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn what_came_over_a_connection_is_told_and_who_reads_from_it_finds_its_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut reader = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        server.write_all(&[7; 100_000]).unwrap();
        let mut all = vec![0; 100_000];
        reader.read_exact(&mut all).unwrap();
        let to_server = listener.local_addr().unwrap().port();
        let mut others = OwnConnections::open(Some(to_server)).unwrap();
        assert!(!others.carried().unwrap().values().any(|bytes| bytes.rx == 100_000), "nobody looks at it");
        let mut own = OwnConnections::open(None).unwrap();
        let carried = own.carried().unwrap();
        // Both ends are this process's, as are other tests' connections.
        let (&connection, _) = carried.iter().find(|&(_, bytes)| bytes.rx == 100_000).unwrap();
        own.end(connection).unwrap();
        assert_eq!(reader.read(&mut all).unwrap(), 0);
        drop(reader);
        own.end(connection).unwrap();
    }

    #[test]
    fn memory_that_is_touched_is_resident() {
        let own = OwnConnections::open(None).unwrap();
        let before = own.rss_bytes().unwrap();
        let touched = vec![1_u8; 64 << 20];
        let after = own.rss_bytes().unwrap();
        assert!(after >= before + (60 << 20), "{before} to {after}");
        assert_eq!(touched.len(), 64 << 20);
    }
}
