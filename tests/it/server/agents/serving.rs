//! A server that an agent starts and stops for a run.

use super::{broker::Broker, is_here, load, of_server};
use crate::server::place::{Place, wait_for, wait_for_series};
use iotbench_report::Document;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};

/// An address of this machine that others reach; its loopback where it has no other.
fn address() -> Ipv4Addr {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    // Nothing is sent: the route alone is asked for.
    let found = socket.connect("192.0.2.1:9").and_then(|()| socket.local_addr());
    match found.map(|address| address.ip()) {
        Ok(IpAddr::V4(address)) => address,
        _ => Ipv4Addr::LOCALHOST,
    }
}

/// The servers whose users come in from their own machine alone, unless they are told otherwise.
#[test]
fn an_agent_starts_a_server_for_a_run_and_removes_it() {
    let servers = ["postgres", "mariadb", "mongodb"].into_iter().filter(|backend| is_here(backend));
    for backend in servers {
        let (place, broker) = (Place::new(), Broker::start(&[]));
        let listen = address().to_string();
        let mut agent = broker.agent_with(&place, "db1", &["--offer", "serve,sample", "--listen", &listen]);
        let (nats, out) = (broker.url(), place.results());
        let run = |more: &[&str]| {
            let fixed = ["--nats", &nats, "--server-at", "db1", "--out", out.to_str().unwrap()];
            let load = ["run", "-p", "machine_write", "-b", backend, "-r", "50", "--warmup", "1s", "-d", "2s"];
            place.call(&[&load[..], &["--output-format", "json"], &fixed, more].concat())
        };
        for (more, why) in [(&["--keep"][..], "leave --keep out"), (&["--url", "postgres://x/"], "leave one out")] {
            let (code, _, said) = run(more);
            assert!(code == 2 && said.contains(why), "{code} {said}");
        }
        let (code, text, said) = run(&[]);
        // 11: a busy machine held the client up.
        assert!(code == 0 || code == 11, "{code}: {said}");
        assert!(said.contains("at the agent db1"), "{said}");
        let document = Document::from_json(&text).unwrap();
        assert_eq!(document.points.stored, Some(document.points.counts.acked), "{:?}", document.verdict);
        assert!(document.target.endpoints.iter().all(|at| at.contains(&listen)), "{:?}", document.target.endpoints);
        let server = of_server(&document);
        // A kernel counts processor time in steps of 10 ms; memory is never none.
        assert!(server.cpu_s.is_some() && server.rss_bytes_max > Some(1 << 20), "{server:?}");
        agent.end();
        place.assert_nothing_is_left();
    }
}

#[test]
fn a_server_whose_run_is_killed_is_stopped_by_its_agent() {
    if !is_here("postgres") {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let mut agent = broker.agent_with(&place, "db1", &["--offer", "serve,sample"]);
    let (nats, out) = (broker.url(), place.results());
    let more = ["--nats", &nats, "--server-at", "db1", "--out", out.to_str().unwrap()];
    let mut run = place.iotbench(&load("1h", &more)).spawn().unwrap();
    wait_for_series(&place);
    assert!(!place.folders().is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    agent.wait_until_it_says("whoever wanted it is gone");
    wait_for("the server's end", || place.folders().is_empty());
    agent.end();
    place.assert_nothing_is_left();
}
