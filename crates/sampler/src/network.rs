//! Network bytes: by TCP socket where the target's sockets can be seen, else by interface.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use procfs::FromRead;
use procfs::net::InterfaceDeviceStatus;

use crate::network_bytes::NetworkBytes;
use crate::sample::NetworkMethod;
use crate::socket_account::Counted;
use crate::tcp_sockets::TcpSockets;
use crate::tree_account::ProcessId;

/// The network use of a set of processes. What cannot be had is `None` for good, since a counter with a hole is wrong
/// ever after.
#[derive(Debug)]
pub(crate) enum NetworkProbe {
    /// No process was seen so far.
    Undecided,
    Sockets(Box<TcpSockets>),
    Interfaces(Interfaces),
    Unavailable,
}

impl NetworkProbe {
    pub fn method(&self) -> Option<NetworkMethod> {
        match self {
            Self::Sockets(_) => Some(NetworkMethod::Socket),
            Self::Interfaces(_) => Some(NetworkMethod::Interface),
            Self::Undecided | Self::Unavailable => None,
        }
    }

    /// The bytes of these processes and of those given before. The first processes decide the method.
    pub fn read(&mut self, processes: &[ProcessId], at: Duration) -> Option<Counted> {
        let first = processes.first().map(|id| id.pid);
        if let (Self::Undecided, Some(pid)) = (&*self, first) {
            let own_namespace = shares_our_namespace(pid);
            *self = match TcpSockets::of_processes(processes).filter(|_| own_namespace) {
                Some(sockets) => Self::Sockets(Box::new(sockets)),
                None => Self::Interfaces(Interfaces::new(own_namespace)),
            };
        }
        let counted = match self {
            Self::Undecided => return None,
            Self::Sockets(sockets) => sockets.read(processes, at),
            Self::Interfaces(interfaces) => {
                let bytes = interfaces.read(first.map(|pid| pid.to_string()).as_deref());
                bytes.map(|bytes| Counted { bytes, ..Counted::default() })
            }
            Self::Unavailable => None,
        };
        if counted.is_none() {
            *self = Self::Unavailable;
        }
        counted
    }

    /// What the next look tells is held against another.
    pub fn be_exact(&mut self) {
        if let Self::Sockets(sockets) = self {
            sockets.be_exact();
        }
    }

    /// Takes what has ended between two looks, where it may be too much otherwise; whether that is to be done often.
    pub fn follow(&mut self) -> bool {
        match self {
            Self::Sockets(sockets) => sockets.follow(),
            Self::Undecided | Self::Interfaces(_) | Self::Unavailable => false,
        }
    }
}

fn shares_our_namespace(pid: i32) -> bool {
    let namespace = |whose: &str| std::fs::read_link(format!("/proc/{whose}/ns/net")).ok();
    namespace("self").is_some_and(|ours| namespace(&pid.to_string()) == Some(ours))
}

/// Interface counters of one network namespace. An interface that was removed keeps its last count.
#[derive(Debug)]
pub(crate) struct Interfaces {
    /// Which interfaces are physical is known for our own namespace only.
    own_namespace: bool,
    last: HashMap<String, NetworkBytes>,
}

impl Interfaces {
    pub fn new(own_namespace: bool) -> Self {
        Self { own_namespace, last: HashMap::new() }
    }

    /// Reads the namespace of a process (`"self"` for our own). Without one, or if it has just ended, the last counts
    /// stand.
    pub fn read(&mut self, whose: Option<&str>) -> Option<NetworkBytes> {
        if let Some(text) = whose.and_then(|whose| std::fs::read(format!("/proc/{whose}/net/dev")).ok()) {
            self.last.extend(parse_interfaces(&text)?);
        }
        if self.last.is_empty() {
            return None;
        }
        let any_physical = self.own_namespace && self.last.keys().any(|name| is_physical(name));
        let counted = self.last.iter().filter(|(name, _)| !any_physical || is_physical(name));
        Some(counted.fold(NetworkBytes::default(), |sum, (_, bytes)| sum.plus(*bytes)))
    }
}

/// Bridges and virtual interfaces pass on what physical ones count already.
fn is_physical(interface: &str) -> bool {
    Path::new("/sys/class/net").join(interface).join("device").exists()
}

/// All interfaces but loopback, where each byte counts twice and other processes' dominate.
fn parse_interfaces(text: &[u8]) -> Option<HashMap<String, NetworkBytes>> {
    let InterfaceDeviceStatus(interfaces) = InterfaceDeviceStatus::from_read(text).ok()?;
    let bytes = |status: &procfs::net::DeviceStatus| NetworkBytes { rx: status.recv_bytes, tx: status.sent_bytes };
    Some(interfaces.iter().filter(|(name, _)| *name != "lo").map(|(name, s)| (name.clone(), bytes(s))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEV: &[u8] = b"\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
  eth0: 65083526    2908    0    0    0     0          0         0   259480    2165    0    0    0     0       0          0
";

    #[test]
    fn loopback_is_left_out() {
        let interfaces = parse_interfaces(DEV).unwrap();
        assert_eq!(interfaces, HashMap::from([("eth0".to_owned(), NetworkBytes { rx: 65_083_526, tx: 259_480 })]));
    }
}
