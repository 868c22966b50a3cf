//! The default ports of servers: who has them on this machine.

use iotbench_backends::BACKENDS;
use iotbench_engine::{Finding, Fitness};
use iotbench_sampler::{Listener, listener};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
};

/// A port at which a server listens unless it is told otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortFacts {
    /// Its number.
    pub port: u16,
    /// Whose it is by default.
    pub of: Vec<String>,
    /// Who has it on 127.0.0.1; `None`: nobody.
    pub taken_by: Option<String>,
}

/// Of all databases that have servers.
pub(super) fn default_ports() -> Vec<PortFacts> {
    let mut of: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for info in BACKENDS.iter().map(|backend| backend.info()) {
        if let Some(port) = info.default_port {
            of.entry(port).or_default().push(info.name.into());
        }
    }
    of.into_iter().map(|(port, of)| PortFacts { port, of, taken_by: taken_by(port) }).collect()
}

fn taken_by(port: u16) -> Option<String> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    // Who may not listen there, as below 1024, cannot tell.
    let is_taken = TcpListener::bind(address).is_err_and(|error| error.kind() == std::io::ErrorKind::AddrInUse);
    is_taken.then(|| match listener(address) {
        Listener::Process(pid) => {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            format!("{} (process {pid})", name.trim_end())
        }
        Listener::Hidden | Listener::Elsewhere => "a program that is not to be seen".into(),
    })
}

/// What is found of them. A private server takes another port: that one is taken spoils nothing.
pub(super) fn findings(ports: &[PortFacts]) -> Vec<Finding> {
    let taken = |port: &PortFacts| {
        let by = port.taken_by.as_ref()?;
        let advice =
            "private servers take other ports, and --url loads this one; stop it while another one is measured";
        let found = format!("taken by {by}");
        let about = format!("port {} of {}", port.port, port.of.join(", "));
        Some(Finding::of(about, Fitness::Note, found, advice))
    };
    let taken: Vec<Finding> = ports.iter().filter_map(taken).collect();
    let free = ports.iter().filter(|port| port.taken_by.is_none()).map(|port| port.port.to_string());
    let free: Vec<String> = free.collect();
    let free = (!free.is_empty()).then(|| Finding::ok("default ports", format!("free: {}", free.join(", "))));
    free.into_iter().chain(taken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_at_a_port_is_named() {
        let here = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = here.local_addr().unwrap().port();
        let by = taken_by(port).unwrap();
        assert!(by.ends_with(&format!("(process {})", std::process::id())), "{by}");
        drop(here);
        assert_eq!(taken_by(port), None);
    }

    #[test]
    fn a_port_that_is_taken_is_a_note_and_the_others_are_listed() {
        let port = |port, taken_by: Option<&str>| PortFacts {
            port,
            of: vec!["x".into(), "y".into()],
            taken_by: taken_by.map(str::to_owned),
        };
        let found = findings(&[port(1, None), port(2, Some("xd (process 7)")), port(3, None)]);
        let told: Vec<_> = found.iter().map(|f| (f.about.as_str(), f.fitness, f.found.as_str())).collect();
        assert_eq!(
            told,
            [
                ("default ports", Fitness::Ok, "free: 1, 3"),
                ("port 2 of x, y", Fitness::Note, "taken by xd (process 7)")
            ]
        );
    }

    #[test]
    fn every_database_with_servers_has_its_port() {
        let ports = default_ports();
        let of: Vec<_> = ports.iter().flat_map(|port| &port.of).collect();
        let with_port = BACKENDS.iter().filter(|backend| backend.info().default_port.is_some()).count();
        assert!(
            of.len() == with_port && ports.iter().any(|p| p.port == 3306 && p.of == ["mariadb", "mysql"]),
            "{ports:?}"
        );
    }
}
