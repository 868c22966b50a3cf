//! `iotbench server start`, `list` and `stop`.

use crate::server::place::{Place, is_alive, is_here, parent, place_program, some_servers, wait_for};
use iotbench_backends::BACKENDS;
use iotbench_core::Role;
use std::{
    fs,
    net::TcpStream,
    process::{Command, Stdio},
};
use url::Url;

fn answers(address: &str) -> bool {
    let url: Url = address.trim().parse().unwrap();
    TcpStream::connect(("127.0.0.1", url.port().unwrap())).is_ok()
}

#[test]
fn a_server_runs_on_until_it_is_stopped_and_leaves_nothing() {
    for backend in some_servers() {
        let place = Place::new();
        let address = place.started_without_password(&["server", "start", backend]);
        assert!(answers(&address), "{address}");
        let server = place.server(backend);
        assert!(is_alive(server));
        let list = place.out(&["server", "list"]);
        let folder = &place.folders()[0];
        assert!(list.contains(address.trim()) && list.contains(folder.to_str().unwrap()), "{list}");
        place.out(&["server", "stop", backend]);
        assert!(!answers(&address) && !is_alive(server));
        place.assert_nothing_is_left();
        assert_eq!(place.out(&["server", "list"]).lines().count(), 1);
    }
}

/// Where it asks for a password at some of its ports and at others for none, whoever started it knows that.
#[test]
fn ports_at_which_nobody_is_asked_for_the_password_are_said_when_the_server_starts() {
    let servers = [("postgres", None), ("influxdb", Some("udp, rpc")), ("kairosdb", Some("telnet"))];
    for (backend, open) in servers.into_iter().filter(|(backend, _)| is_here(backend)) {
        let place = Place::new();
        let (code, _, err) = place.call(&["server", "start", backend]);
        assert!(code == 0 && err.contains("with the password"), "{code}: {err}");
        let warning = err.lines().find_map(|line| line.strip_prefix("warning: nobody is asked for it at "));
        let ports = warning.map(|warning| warning.split_once(": every user of this machine").unwrap().0);
        assert_eq!(ports, open, "{backend}: {err}");
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

#[test]
fn what_asks_nobody_for_a_password_is_a_port_of_a_server_that_has_one() {
    for info in BACKENDS.iter().map(|backend| backend.info()) {
        for recipe in info.recipe.into_iter().chain(info.variants.iter().map(|variant| variant.recipe)) {
            let is_port = |role: &Role| role.open_ports.iter().all(|port| role.ports.contains(port));
            assert!(recipe.roles.iter().all(is_port), "{}", info.name);
            let has_password = recipe.roles.iter().any(|role| role.url.is_some_and(|url| url.contains("{password}")));
            assert!(has_password || recipe.open_ports().count() == 0, "{}", info.name);
        }
    }
}

#[test]
fn a_server_belongs_to_no_terminal_and_no_shell() {
    if !is_here("influxdb") {
        return;
    }
    let place = Place::new();
    place.started(&["server", "start", "influxdb"]);
    let supervisor = procfs::process::Process::new(parent(place.server("influxdb"))).unwrap().stat().unwrap();
    assert_eq!((supervisor.session, supervisor.tty_nr), (supervisor.pid, 0));
    place.out(&["server", "stop", "influxdb"]);
    place.assert_nothing_is_left();
}

#[test]
fn a_namesake_is_not_stopped() {
    for backend in ["postgres", "mariadb", "influxdb"].into_iter().filter(|b| is_here(b)) {
        let place = Place::new();
        let folder = tempfile::tempdir().unwrap();
        let decoy = folder.path().join(crate::server::place::recipe(backend).programs[0].name);
        place_program("/bin/sleep".as_ref(), &decoy);
        let mut decoy = Command::new(decoy).arg("600").stdin(Stdio::null()).spawn().unwrap();
        place.started(&["server", "start", backend]);
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
        assert!(decoy.try_wait().unwrap().is_none(), "the decoy was killed");
        decoy.kill().unwrap();
        decoy.wait().unwrap();
    }
}

#[test]
fn there_is_one_of_each_and_only_one_that_was_started_is_stopped() {
    if !is_here("influxdb") {
        return;
    }
    let place = Place::new();
    let (code, _, err) = place.call(&["server", "stop", "influxdb"]);
    assert_eq!(code, 2, "{err}");
    place.started(&["server", "start", "influxdb"]);
    let (code, out, err) = place.call(&["server", "start", "influxdb"]);
    assert!(code == 2 && out.is_empty() && err.contains("server stop influxdb"), "{code} {out} {err}");
    assert_eq!(place.folders().len(), 1);
    place.out(&["server", "stop", "influxdb"]);
    place.assert_nothing_is_left();
}

#[test]
fn a_kept_folder_serves_again_and_goes_when_told() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    place.started(&["server", "start", "postgres"]);
    place.out(&["server", "stop", "postgres", "--keep"]);
    let folders = place.folders();
    let folder = folders[0].to_str().unwrap();
    wait_for("the server's end", || place.processes().is_empty());
    let made = fs::metadata(folders[0].join("data/PG_VERSION")).unwrap().modified().unwrap();
    place.started(&["server", "start", "postgres", "--folder", folder]);
    place.out(&["server", "stop", "postgres"]);
    assert_eq!(place.folders(), folders, "kept once, kept until told otherwise");
    assert_eq!(fs::metadata(folders[0].join("data/PG_VERSION")).unwrap().modified().unwrap(), made);
    place.started(&["server", "start", "postgres", "--folder", folder]);
    let (code, _, err) = place.call(&["server", "start", "mariadb", "--folder", folder]);
    assert!(code != 0 && !err.is_empty());
    place.out(&["server", "stop", "postgres", "--remove"]);
    place.assert_nothing_is_left();
}

#[test]
fn memory_and_settings_reach_the_server() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    place.started(&["server", "start", "postgres", "--server-memory", "64MiB", "--set", "synchronous_commit=off"]);
    let command = procfs::process::Process::new(place.server("postgres")).unwrap().cmdline().unwrap();
    for word in ["shared_buffers=67108864B", "synchronous_commit=off"] {
        assert!(command.iter().any(|w| w == word), "{word} is missing: {command:?}");
    }
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}
