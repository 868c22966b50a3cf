//! Several servers of one name, and addresses of several lines.

use crate::server::place::{Place, is_alive, is_here, output};
use std::{fs, path::PathBuf};
use url::Url;

/// A call from a folder of that name: exit code, standard output, standard error.
fn from(place: &Place, folder: &str, arguments: &[&str]) -> (i32, String, String) {
    let folder: PathBuf = place.root().join(folder);
    fs::create_dir_all(&folder).unwrap();
    let ended = output(place.iotbench(arguments).current_dir(folder).spawn().unwrap());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (ended.status.code().unwrap(), text(ended.stdout), text(ended.stderr))
}

/// The processes of the servers that are listed.
fn processes(place: &Place) -> Vec<i32> {
    let list = place.out(&["server", "list"]);
    list.lines().skip(1).map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap()).collect()
}

#[test]
fn of_several_servers_that_of_the_folder_is_meant_and_never_another_folders() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let start = |folder| {
        let (code, out, err) = from(&place, folder, &["server", "start", "postgres"]);
        assert_eq!(code, 0, "{err}");
        out.trim().parse::<Url>().unwrap().port().unwrap().to_string()
    };
    let a = start("a");
    let (code, _, err) = from(&place, "b", &["server", "stop", "postgres"]);
    assert!(code == 2 && err.contains("elsewhere") && err.contains(&format!("--port {a}")), "{code} {err}");
    let b = start("b");
    let both = processes(&place);
    assert_eq!(both.len(), 2);
    let (code, _, err) = from(&place, "c", &["server", "stop", "postgres"]);
    assert_eq!(code, 2, "{err}");
    for port in [&a, &b] {
        assert!(err.contains(&format!("iotbench server stop postgres --port {port}")), "{err}");
    }
    assert!(both.iter().all(|pid| is_alive(*pid)), "one was stopped");
    for (folder, port) in [("a", &a), ("b", &b)] {
        let (code, out, err) = from(&place, folder, &["server", "address", "postgres"]);
        assert!(code == 0 && out.contains(&format!(":{port}")), "{out} {err}");
    }
    let (code, _, err) = from(&place, "a", &["server", "stop", "postgres", "--port", &b]);
    assert!(code == 0 && err.contains(&format!("127.0.0.1:{b}")), "{code} {err}");
    let (code, _, err) = from(&place, "b", &["server", "stop", "postgres"]);
    assert!(code == 2 && err.contains(&format!("--port {a}")), "{code} {err}");
    assert_eq!(processes(&place).len(), 1);
    let (code, _, err) = from(&place, "a", &["server", "stop", "postgres"]);
    assert_eq!(code, 0, "{err}");
    place.assert_nothing_is_left();
}

#[test]
fn the_second_port_of_a_server_is_a_named_line_behind_its_address() {
    if !is_here("influxdb") {
        return;
    }
    let place = Place::new();
    let out = place.out(&["server", "start", "influxdb"]);
    let lines: Vec<&str> = out.lines().collect();
    let [address, udp] = lines.as_slice() else { panic!("{out}") };
    let address: Url = address.parse().unwrap();
    assert!(address.scheme() == "http" && address.query().is_none(), "{out}");
    let at: std::net::SocketAddr = udp.strip_prefix("udp=").unwrap().parse().unwrap();
    assert!(std::net::UdpSocket::bind(at).is_err(), "nobody has {at}");
    // Both lines together are what a run takes: over HTTP, and in datagrams.
    for transport in ["http", "udp"] {
        let set = format!("backend.influxdb.transport={transport}");
        let results = place.results();
        let load = ["run", "-p", "machine_write", "-b", "influxdb", "--url", &out, "-d", "1s", "--warmup", "0s"];
        let more = ["--rate", "50", "--set", &set, "--out", results.to_str().unwrap(), "--output-format", "json"];
        let (code, said, err) = place.call(&[&load[..], &more].concat());
        assert!(!said.is_empty() && ![1, 2, 20].contains(&code), "{transport}: {code} {err}");
    }
    place.out(&["server", "stop", "influxdb"]);
    place.assert_nothing_is_left();
}
