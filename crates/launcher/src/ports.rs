//! Free ports.

use std::{
    io,
    net::{Ipv4Addr, TcpListener, UdpSocket},
};

/// So many ports are tried that turn out not to be free everywhere.
const TRIES: u32 = 64;

/// So many different ports that are free now on each of these addresses, for TCP and UDP alike; `wanted` ones come first.
/// Another program may take one before its server does: whoever starts the server tries again.
pub(crate) fn choose(count: usize, hosts: &[Ipv4Addr], wanted: &[u16]) -> io::Result<Vec<u16>> {
    let mut ports: Vec<u16> = wanted.iter().copied().take(count).collect();
    let mut held = Vec::with_capacity(count);
    let mut tries = 0;
    while ports.len() < count {
        tries += 1;
        match hold(hosts) {
            Ok((port, sockets)) if !ports.contains(&port) => {
                ports.push(port);
                // Held until all are chosen, so that they differ.
                held.push(sockets);
            }
            Err(error) if tries >= TRIES => return Err(error),
            _ => {}
        }
    }
    Ok(ports)
}

type Held = Vec<(TcpListener, UdpSocket)>;

/// One port that is free on all addresses, and what holds it.
fn hold(hosts: &[Ipv4Addr]) -> io::Result<(u16, Held)> {
    let mut port = 0;
    let mut held = Vec::with_capacity(hosts.len());
    for &host in hosts {
        let tcp = TcpListener::bind((host, port))?;
        port = tcp.local_addr()?.port();
        held.push((tcp, UdpSocket::bind((host, port))?));
    }
    Ok((port, held))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::hosts;
    use std::collections::BTreeSet;

    #[test]
    fn ports_differ_and_are_free_on_every_address() {
        let ports = choose(20, &hosts(3), &[]).unwrap();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 20);
    }

    #[test]
    fn wanted_ports_come_first() {
        let ports = choose(3, &hosts(1), &[1, 2]).unwrap();
        assert_eq!(ports[..2], [1, 2]);
        assert_eq!(ports.len(), 3);
    }
}
