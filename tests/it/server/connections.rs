//! More connections than a server or this process may have, and as many as a large installation needs.

use crate::server::{
    on_a_server::{Ended, arguments, run},
    place::{Place, SERVERS, is_here},
    proxy::Proxy,
};
use rustix::process::{Resource, getrlimit};
use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};
use url::Url;

/// The program with these arguments in a shell that first sets its own limit on open files.
fn limited(place: &Place, ulimit: &str, arguments: &[&str]) -> Ended {
    let iotbench = place.iotbench(arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{ulimit}; exec \"$0\" \"$@\"")]).arg(iotbench.get_program()).args(iotbench.get_args());
    for (name, value) in iotbench.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let output = shell.stdin(Stdio::null()).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    let document = serde_json::from_slice(&output.stdout).unwrap_or_default();
    Ended { code: output.status.code().unwrap(), document, err }
}

#[test]
fn a_server_that_takes_no_more_says_what_to_do() {
    let limits = [
        ("mariadb", "max_connections=12", "raise max_connections of the server, or use fewer connections"),
        ("postgres", "max_connections=12", "lower --connections, or raise the server's max_connections"),
        ("influxdb", "http.max-connection-limit=12", "max-connection-limit"),
    ];
    for (backend, limit, words) in limits.into_iter().filter(|(b, _, _)| is_here(b)) {
        let place = Place::new();
        let url: Url = place.started(&["server", "start", backend, "--set", limit]).trim().parse().unwrap();
        let ended = run(&place, backend, &url, 40, &[]);
        assert_eq!(ended.code, 20, "{backend}: {} {}", ended.reasons(), ended.err);
        assert!(ended.reasons().contains(words), "{backend}: {}", ended.reasons());
        let fewer = run(&place, backend, &url, 4, &[]);
        fewer.assert_sound(backend);
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

#[test]
fn too_few_descriptors_are_told_before_anything_is_tried() {
    let place = Place::new();
    let results = place.results();
    // Nobody is there: who tries it fails otherwise.
    let server = ["--url", "postgres://127.0.0.1:9/d", "--out", results.to_str().unwrap()];
    for (ulimit, connections) in [("ulimit -n 256", "1000"), ("ulimit -n 1024", "10000")] {
        let start = Instant::now();
        let load = ["--vus", connections, "--connections", connections, "-d", "1s"];
        let ended = limited(&place, ulimit, &arguments("postgres", &[&load[..], &server].concat()));
        assert_eq!(ended.code, 2, "{}", ended.err);
        let needed = ended.err.split("need ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        assert!(needed.parse::<u64>().unwrap() > connections.parse().unwrap(), "{}", ended.err);
        assert!(ended.err.contains(&format!("ulimit -n {needed}")) && ended.err.contains("--connections"));
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
        assert_eq!(results.read_dir().unwrap().count(), 0, "something was begun");
    }
}

#[test]
fn a_soft_limit_is_raised_and_ten_thousand_connections_are_opened() {
    const CONNECTIONS: u64 = 10_000;
    let place = Place::new();
    let hard = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
    if !is_here("influxdb") {
        return;
    }
    if hard < CONNECTIONS + 500 {
        skipped(&format!("the hard limit on open files is {hard}, for the server and for us"));
        return;
    }
    // Its own limit, and a wait for the disk that many writes share.
    let settings = ["--set", "http.max-connection-limit=0", "--set", "data.wal-fsync-delay=100ms"];
    let start = [&["server", "start", "influxdb"][..], &settings].concat();
    let url: Url = place.started(&start).trim().parse().unwrap();
    let (results, users) = (place.results(), CONNECTIONS.to_string());
    let load = ["--vus", &users, "--connections", &users, "--batch", "1", "--set", "think_time=3s"];
    // Users start spread over their think time: not all of them before the end. The operations end it, however busy the machine is.
    let length = ["--operations", "6000", "-d", "600s"];
    let target = ["--url", url.as_str(), "--out", results.to_str().unwrap()];
    let ended = limited(&place, "ulimit -Sn 256", &arguments("influxdb", &[&load[..], &length, &target].concat()));
    ended.assert_sound("");
    // A connection that is not opened is a failure; how many answers come in time is the machine's.
    let [ok, fail] = ["/load/ok", "/load/fail"].map(|fate| ended.count(fate));
    assert!(ok > 0 && fail == 0, "{:#}", ended.document["load"]);
    assert_eq!(ended.document.pointer("/load/groups/0/connections").unwrap(), CONNECTIONS);
    place.out(&["server", "stop", "influxdb"]);
    place.assert_nothing_is_left();
}

#[test]
fn ten_thousand_users_share_few_connections() {
    for backend in SERVERS.into_iter().filter(|b| is_here(b)) {
        let place = Place::new();
        let url: Url = place.started(&["server", "start", backend]).trim().parse().unwrap();
        let (results, users) = (place.results(), 10_000.to_string());
        let load = ["--vus", &users, "--connections", "8", "--batch", "1", "--set", "think_time=60s"];
        let length = ["--operations", "200", "-d", "60s"];
        let target = ["--url", url.as_str(), "--out", results.to_str().unwrap()];
        let ended = Ended::of(&place, &arguments(backend, &[&load[..], &length, &target].concat()));
        ended.assert_sound(backend);
        assert_eq!(ended.document.pointer("/load/groups/0/users").unwrap(), 10_000);
        assert!(ended.count("/load/ok") > 100, "{:#}", ended.document["load"]);
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

/// The same server by two ways, as two of one cluster would be.
#[test]
fn several_addresses_are_used_in_turn() {
    if !is_here("kairosdb") {
        return;
    }
    let place = Place::new();
    let shared = std::env::var("IOTBENCH_TEST_KAIROSDB_URL").ok();
    let address = shared.clone().unwrap_or_else(|| place.started(&["server", "start", "kairosdb"]));
    let server: Url = address.trim().parse().unwrap();
    let ways = [Proxy::to(&server), Proxy::to(&server)];
    let second = ways[1].url(&server);
    let ended = run(&place, "kairosdb", &ways[0].url(&server), 6, &["--url", second.as_str()]);
    ended.assert_sound("");
    assert_eq!(ended.document["target"]["endpoints"].as_array().unwrap().len(), 2);
    for way in ways {
        let connections = way.take_count();
        assert!(connections >= 3, "half of the users': {connections}");
    }
    if shared.is_none() {
        place.out(&["server", "stop", "kairosdb"]);
    }
    place.assert_nothing_is_left();
}

#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}
