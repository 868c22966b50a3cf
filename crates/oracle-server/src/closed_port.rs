//! A port that refuses connections.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    os::fd::OwnedFd,
};

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};

/// A loopback port at which connections are refused for as long as this lives: it is taken, so that nobody else can
/// listen there, but nobody listens.
#[derive(Debug)]
pub struct ClosedPort {
    address: SocketAddr,
    _socket: OwnedFd,
}

impl ClosedPort {
    /// Takes a free port of 127.0.0.1.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn take() -> io::Result<Self> {
        let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0))?;
        let address = SocketAddrV4::try_from(getsockname(&socket)?)?.into();
        Ok(Self { address, _socket: socket })
    }

    /// The address that refuses.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn it_refuses() {
        let port = ClosedPort::take().unwrap();
        let refused = TcpStream::connect(port.address()).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    }
}
