//! Lists TCP sockets with their byte counters by the kernel's socket diagnostics, and hears of those that end: sock_diag(7),
//! `struct tcp_info`.

use std::io::{Error, ErrorKind, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_recv_buffer_size, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, netlink, recv, send, socket_with,
};

use crate::network_bytes::NetworkBytes;

const HEADER_BYTES: usize = 16;
const DONE: u16 = 3;
const ERROR: u16 = 2;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const REQUEST_AND_DUMP: u16 = 0x301;
const FAMILIES: [u8; 2] = [2, 10];
const TCP: u8 = 6;
/// Bit of the attribute INET_DIAG_INFO in a request's extensions, and its type in a reply.
const INFO_EXTENSION: u8 = 1 << 1;
const INFO_TYPE: u16 = 2;
const LISTEN: u8 = 10;
/// All states but TIME_WAIT (6) and half-open (3, 12), which carry no bytes.
const STATES: u32 = 0xfff & !(1 << 6 | 1 << 3);
/// Whoever is in these groups hears of each TCP socket that ends: SKNLGRP_INET_TCP_DESTROY and SKNLGRP_INET6_TCP_DESTROY.
const ENDINGS: u32 = 1 | 1 << 2;
/// Room for what ends between two looks; the kernel gives as much of it as `net.core.rmem_max` allows.
const ENDINGS_BYTES: usize = 2 * 1024 * 1024;
const IPV4: u8 = 2;
/// The kernel fills at most this much per datagram.
const BUFFER_BYTES: usize = 32 * 1024;
/// The kernel answers at once; a silent one must not stop the caller.
const ANSWER_WITHIN: Duration = Duration::from_secs(1);

/// One TCP socket of this network namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TcpSocket {
    /// Unique until the machine restarts.
    pub cookie: u64,
    /// 0 for a socket that no process holds.
    pub inode: u32,
    pub bytes: NetworkBytes,
    pub listens: bool,
    pub local_port: u16,
    /// Where it is connected to.
    pub remote: SocketAddr,
}

/// An open diagnostics socket. Needs no privilege.
#[derive(Debug)]
pub(crate) struct SockDiag {
    fd: OwnedFd,
    buffer: Vec<u8>,
}

impl SockDiag {
    pub fn open() -> Result<Self> {
        let fd = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG))?;
        set_socket_timeout(&fd, Timeout::Recv, Some(ANSWER_WITHIN))?;
        Ok(Self { fd, buffer: vec![0; BUFFER_BYTES] })
    }

    /// All sockets of both families.
    pub fn tcp_sockets(&mut self) -> Result<Vec<TcpSocket>> {
        let mut sockets = Vec::new();
        for family in FAMILIES {
            send(&self.fd, &request(family), SendFlags::empty())?;
            loop {
                let (length, _) = recv(&self.fd, self.buffer.as_mut_slice(), RecvFlags::empty())?;
                if decode(self.buffer.get(..length).unwrap_or_default(), &mut sockets)? == Dump::Done {
                    break;
                }
            }
        }
        Ok(sockets)
    }
}

/// What is told of each TCP socket of this network namespace that ends: its last counts. Needs no privilege; since Linux 4.2.
#[derive(Debug)]
pub(crate) struct Endings {
    fd: OwnedFd,
    buffer: Vec<u8>,
}

impl Endings {
    pub fn open() -> Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(netlink::SOCK_DIAG))?;
        set_socket_recv_buffer_size(&fd, ENDINGS_BYTES)?;
        bind(&fd, &netlink::SocketAddrNetlink::new(0, ENDINGS))?;
        Ok(Self { fd, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Those that have ended since the last call; `false` where some are missing, because they were more than there is room for.
    pub fn take(&mut self, sockets: &mut Vec<TcpSocket>) -> Result<bool> {
        let mut are_all = true;
        loop {
            match recv(&self.fd, self.buffer.as_mut_slice(), RecvFlags::empty()) {
                Ok((length, _)) => {
                    decode(self.buffer.get(..length).unwrap_or_default(), sockets)?;
                }
                Err(Errno::AGAIN) => return Ok(are_all),
                Err(Errno::NOBUFS) => are_all = false,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn request(family: u8) -> [u8; 72] {
    let mut message = [0; 72];
    message[0..4].copy_from_slice(&72_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    message[6..8].copy_from_slice(&REQUEST_AND_DUMP.to_ne_bytes());
    message[16] = family;
    message[17] = TCP;
    message[18] = INFO_EXTENSION;
    message[20..24].copy_from_slice(&STATES.to_ne_bytes());
    message
}

#[derive(Debug, PartialEq, Eq)]
enum Dump {
    Continues,
    Done,
}

/// Adds one datagram's sockets. A datagram holds several messages, each padded to 4 bytes.
fn decode(mut datagram: &[u8], sockets: &mut Vec<TcpSocket>) -> Result<Dump> {
    while !datagram.is_empty() {
        let length = usize::try_from(u32_at(datagram, 0).ok_or_else(cut)?).map_err(Error::other)?;
        let message = datagram.get(..length).filter(|_| length >= HEADER_BYTES).ok_or_else(cut)?;
        match u16_at(message, 4) {
            Some(DONE) => return Ok(Dump::Done),
            Some(ERROR) => return Err(Error::other("the kernel refuses to list TCP sockets")),
            Some(SOCK_DIAG_BY_FAMILY) => sockets.extend(decode_socket(message.get(HEADER_BYTES..).unwrap_or_default())),
            _ => {}
        }
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(Dump::Continues)
}

/// `struct inet_diag_msg` and its attributes; `None` without tcp_info.
fn decode_socket(message: &[u8]) -> Option<TcpSocket> {
    let (cookie, inode) = (u64_at(message, 44)?, u32_at(message, 68)?);
    let (&family, &state) = (message.first()?, message.get(1)?);
    let (local_port, remote) =
        (port_at(message, 4)?, SocketAddr::new(address_at(message, 24, family)?, port_at(message, 6)?));
    let mut attributes = message.get(72..)?;
    loop {
        let length = usize::from(u16_at(attributes, 0)?);
        if length < 4 {
            return None;
        }
        if u16_at(attributes, 2)? == INFO_TYPE {
            let info = attributes.get(4..length)?;
            // tcpi_bytes_acked and tcpi_bytes_received, since Linux 4.1.
            return Some(TcpSocket {
                cookie,
                inode,
                bytes: NetworkBytes { tx: u64_at(info, 120)?, rx: u64_at(info, 128)? },
                listens: state == LISTEN,
                local_port,
                remote,
            });
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

fn cut() -> Error {
    Error::new(ErrorKind::UnexpectedEof, "a socket diagnostics message is cut off")
}

/// A port, which is told in the order of bytes of the network.
fn port_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// An address; that of version 4 in one of version 6 is the former.
fn address_at(bytes: &[u8], at: usize, family: u8) -> Option<IpAddr> {
    if family == IPV4 {
        let octets: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        return Some(Ipv4Addr::from(octets).into());
    }
    let octets: [u8; 16] = bytes.get(at..at + 16)?.try_into().ok()?;
    Some(IpAddr::from(Ipv6Addr::from(octets)).to_canonical())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut message = u32::try_from(HEADER_BYTES + body.len()).unwrap().to_ne_bytes().to_vec();
        message.extend(kind.to_ne_bytes());
        message.resize(HEADER_BYTES, 0);
        message.extend(body);
        message
    }

    fn socket_body() -> Vec<u8> {
        let mut body = vec![0; 72];
        body[..2].copy_from_slice(&[10, LISTEN]);
        body[4..6].copy_from_slice(&8_086_u16.to_be_bytes());
        body[6..8].copy_from_slice(&40_000_u16.to_be_bytes());
        body[24..40].copy_from_slice(&Ipv4Addr::new(10, 0, 0, 7).to_ipv6_mapped().octets());
        body[44..52].copy_from_slice(&77_u64.to_ne_bytes());
        body[68..72].copy_from_slice(&1214_u32.to_ne_bytes());
        body.extend([5_u16.to_ne_bytes(), 8_u16.to_ne_bytes()].concat());
        body.extend([9, 0, 0, 0]);
        let mut info = vec![0; 136];
        info[120..128].copy_from_slice(&1_000_u64.to_ne_bytes());
        info[128..136].copy_from_slice(&2_000_u64.to_ne_bytes());
        body.extend([140_u16.to_ne_bytes(), INFO_TYPE.to_ne_bytes()].concat());
        body.extend(info);
        body
    }

    #[test]
    fn a_socket_is_found_behind_another_attribute() {
        let mut sockets = Vec::new();
        let datagram = [message(SOCK_DIAG_BY_FAMILY, &socket_body()), message(DONE, &[0; 4])].concat();
        assert_eq!(decode(&datagram, &mut sockets).unwrap(), Dump::Done);
        let bytes = NetworkBytes { rx: 2_000, tx: 1_000 };
        let remote = "10.0.0.7:40000".parse().unwrap();
        assert_eq!(sockets, [TcpSocket { cookie: 77, inode: 1214, bytes, listens: true, local_port: 8_086, remote }]);
    }

    #[test]
    fn refusal_and_truncation_are_errors() {
        assert!(decode(&message(ERROR, &[0; 4]), &mut Vec::new()).is_err());
        assert!(decode(&message(SOCK_DIAG_BY_FAMILY, &socket_body())[..40], &mut Vec::new()).is_err());
    }

    proptest! {
        #[test]
        fn noise_never_panics(noise in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = decode(&noise, &mut Vec::new());
            let _ = decode_socket(&noise);
        }
    }
}
