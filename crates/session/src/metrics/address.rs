//! Where figures are served.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    str::FromStr,
};

/// An address to listen at. A port alone is one of this machine's loopback: who wants others to see says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricsAddress(pub(super) SocketAddr);

impl FromStr for MetricsAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no address: write :9464, 127.0.0.1:9464 or [::1]:9464");
        let port = text.strip_prefix(':').map(str::parse);
        match port {
            Some(port) => port.map(|port| Self((IpAddr::V4(Ipv4Addr::LOCALHOST), port).into())).map_err(|_| wrong()),
            None => text.parse().map(Self).map_err(|_| wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_the_loopback() {
        let address = |text: &str| text.parse::<MetricsAddress>().map(|address| address.0.to_string());
        assert_eq!(address(":9464").as_deref(), Ok("127.0.0.1:9464"));
        assert_eq!(address("0.0.0.0:80").as_deref(), Ok("0.0.0.0:80"));
        assert_eq!(address("[::1]:9464").as_deref(), Ok("[::1]:9464"));
        for wrong in ["9464", ":", ":70000", "localhost:9464", "", "::1"] {
            assert!(address(wrong).is_err_and(|message| message.contains("write :9464")), "{wrong}");
        }
    }
}
