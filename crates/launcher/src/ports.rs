//! Free ports on 127.0.0.1.

use std::{
    io,
    net::{Ipv4Addr, TcpListener, UdpSocket},
};

/// One free port of TCP and UDP.
const TRIES: u32 = 64;

/// So many different ports that are free now, for TCP and UDP alike; `wanted` ones come first. Another program may take
/// one before its server does: whoever starts the server tries again.
pub(crate) fn choose(count: usize, wanted: &[u16]) -> io::Result<Vec<u16>> {
    let mut ports: Vec<u16> = wanted.iter().copied().take(count).collect();
    let mut held = Vec::with_capacity(count);
    let mut tries = 0;
    while ports.len() < count {
        tries += 1;
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = tcp.local_addr()?.port();
        match UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(udp) if !ports.contains(&port) => {
                ports.push(port);
                // Held until all are chosen, so that they differ.
                held.push((tcp, udp));
            }
            Err(error) if tries >= TRIES => return Err(error),
            _ => {}
        }
    }
    Ok(ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ports_differ_and_are_free() {
        let ports = choose(20, &[]).unwrap();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 20);
    }

    #[test]
    fn wanted_ports_come_first() {
        let ports = choose(3, &[1, 2]).unwrap();
        assert_eq!(ports[..2], [1, 2]);
        assert_eq!(ports.len(), 3);
    }
}
