//! Runs through a real broker: what is delivered, what is lost, and what is said when it is not there.

use crate::{
    server::{
        on_a_server::Ended,
        place::{Place, is_here, kill, output, wait_for, wait_for_series},
    },
    soundness::at_most_us,
};
use iotbench_launcher::Programs;
use rustix::process::{Pid, Signal};
use serde_json::Value;
use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

/// Whether Mosquitto is here. Where it must be, its absence fails the test.
#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
fn mosquitto() -> Option<Programs> {
    match Programs::find(&iotbench_broker::RECIPE) {
        Ok(programs) => Some(programs),
        Err(missing) => {
            assert!(std::env::var_os("IOTBENCH_REQUIRE_SERVERS").is_none(), "{missing}");
            eprintln!("skipped: {} not found", missing.name);
            None
        }
    }
}

/// On a SQLite of the run's own.
const WORKLOAD: [&str; 9] =
    ["run", "-p", "compressor_insert", "--warmup", "0", "--set", "devices=5", "--output-format", "json"];

/// A run of two seconds, or as the arguments say.
fn run(place: &Place, via: &str, more: &[&str]) -> Ended {
    let results = place.results();
    let given = ["--out", results.to_str().unwrap(), "--via", via, "-d", "2s"];
    let (code, out, err) = place.call(&[&WORKLOAD[..], &given, more].concat());
    Ended { code, document: serde_json::from_str(&out).unwrap_or_default(), err }
}

/// A file of this name at any depth.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let inside: Vec<_> = folder.read_dir().ok()?.flatten().map(|entry| entry.path()).collect();
    let here = inside.iter().find(|path| path.file_name().is_some_and(|found| found == name)).cloned();
    here.or_else(|| inside.iter().find_map(|path| find(path, name)))
}

/// The port that its broker listens at, as soon as it is written down.
fn port_of_broker(place: &Place) -> Option<u16> {
    let configuration = fs::read_to_string(find(&place.servers(), "mosquitto.conf")?).ok()?;
    configuration.lines().find_map(|line| line.strip_prefix("listener ")?.split(' ').next()?.parse().ok())
}

/// A client without a login is answered that it is not authorised (MQTT 3.1.1, section 3.2.2.3).
#[test]
fn a_private_broker_lets_nobody_in_who_does_not_know_its_password() {
    if mosquitto().is_none() {
        return;
    }
    let place = Place::new();
    let results = place.results();
    let given = ["--out", results.to_str().unwrap(), "--via", "mqtt", "-d", "5m", "--rate", "10"];
    let mut run = place.iotbench(&[&WORKLOAD[..], &given].concat());
    let child = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    let connect = || TcpStream::connect(("127.0.0.1", port_of_broker(&place)?)).ok();
    wait_for("the broker listens", || connect().is_some());
    let mut stranger = connect().unwrap();
    stranger.write_all(b"\x10\x0d\0\x04MQTT\x04\x02\0\x3c\0\x01x").unwrap();
    let mut answer = [0; 4];
    stranger.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [0x20, 2, 0, 5], "CONNACK with the code of the refusal");
    wait_for_series(&place);
    let passwords = fs::read_to_string(find(&place.servers(), "passwords").unwrap()).unwrap();
    assert!(passwords.starts_with("iotbench:$"), "only what a password can be held against: {passwords}");
    let words: Vec<_> = place.processes().into_iter().flat_map(|(_, words)| words).collect();
    assert!(words.iter().all(|word| !word.contains("iotbench:")), "{words:?}");
    rustix::process::kill_process(Pid::from_raw(pid).unwrap(), Signal::INT).unwrap();
    let ended = output(child);
    let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert!(document["via"]["delivered"].as_u64().unwrap() > 0, "{:#}", document["via"]);
    place.assert_nothing_is_left();
}

/// Messages so large that buffers of sockets hold few of them.
const LARGE: &str = r#"
name = "large"
summary = "four sensors, together a hundred messages of a hundred records of 1 KB a second"
devices = 4
[dataset]
name = "text"
bytes = 1024
[[groups]]
name = "sensors"
connections = 1
[groups.load]
model = "paced"
rate = 2500
queue = "4MiB"
message = "1KiB"
[[groups.operations]]
kind = "write"
datapoints = 100
[phases]
warmup = "0s"
duration = "8s"
deadline = "30s"
"#;

/// Whatever became of a message and its datapoints is said, and nothing twice.
fn assert_accounted_for(ended: &Ended, case: &str) {
    let count = |pointer: &str| ended.count(pointer);
    assert_eq!(count("/via/published"), count("/via/delivered") + count("/via/lost"), "{case}");
    let points = ["dropped", "pending", "undelivered", "sent"].map(|fate| count(&format!("/points/{fate}")));
    assert_eq!(count("/points/generated"), points.iter().sum::<u64>(), "{case}");
    let load = ["started", "dropped", "pending", "undelivered"].map(|fate| count(&format!("/load/{fate}")));
    assert_eq!(count("/load/offered"), load.iter().sum::<u64>(), "{case}");
}

#[test]
fn what_is_published_is_stored_at_every_qos_with_every_payload() {
    if mosquitto().is_none() {
        return;
    }
    std::thread::scope(|scope| {
        for via in ["mqtt?qos=0&payload=line", "mqtt?qos=1", "mqtt?qos=2&payload=line"] {
            scope.spawn(move || {
                let place = Place::new();
                let ended = run(&place, via, &["--rate", "50", "--verify", "full"]);
                let case = format!("{via}: {} {} {:#}", ended.reasons(), ended.err, ended.document["via"]);
                // How exactly a busy machine keeps a schedule is not what is tested.
                assert!([0, 11].contains(&ended.code), "{case}");
                assert_accounted_for(&ended, &case);
                // A machine that stands still as the load ends leaves the last of 100 pending.
                let published = ended.count("/via/published");
                assert!((1..=100).contains(&published), "{case}");
                assert_eq!(ended.count("/via/delivered"), published, "{case}");
                assert_eq!(ended.document["via"]["delivered_fraction"], 1.0, "{case}");
                for fault in ["duplicates", "reordered", "too_late", "foreign"] {
                    assert_eq!(ended.count(&format!("/via/{fault}")), 0, "{case}");
                }
                assert_eq!(ended.document["via"]["acknowledged"].as_u64().unwrap_or(published), published, "{case}");
                assert_eq!(ended.document["via"]["acknowledged"].is_null(), via.contains("qos=0"), "{case}");
                // Read back value by value: none changed on its way.
                assert_eq!(ended.count("/points/stored"), published, "{case}");
                assert_eq!(ended.count("/audit/right"), published, "{:#}", ended.document["audit"]);
                for stage in ["publish", "broker", "queue"] {
                    assert_eq!(ended.count(&format!("/via/stages/{stage}/count")), published, "{case}");
                }
                // Stage by stage it is the whole, which none of them exceeds.
                let mean = |pointer: &str| ended.document.pointer(pointer).and_then(Value::as_f64).unwrap();
                let lag: f64 =
                    ["publish", "broker", "queue"].map(|s| mean(&format!("/via/stages/{s}/mean"))).iter().sum();
                // Of what was left pending the whole is not known.
                if published == 100 {
                    let whole = at_most_us(&ended.document["latency"]["by_operation"]["response"], "mean").unwrap();
                    let service = mean("/latency/by_operation/service/mean");
                    assert!(lag > 0.0 && lag + service <= whole * 1.000_1, "{lag} + {service} in {whole}: {case}");
                }
                assert!(ended.of_role("broker")["samples"].as_u64().unwrap() > 0, "{case}");
                let title = ended.document["target"]["via"].as_str().unwrap();
                assert!(via.contains("payload") || title == "mqtt qos 1 json64", "{title}");
                place.assert_nothing_is_left();
            });
        }
    });
}

/// A queue of one is overrun by a hundred messages under way.
#[test]
fn what_a_broker_acknowledged_and_dropped_makes_a_result_invalid() {
    if mosquitto().is_none() {
        return;
    }
    let place = Place::new();
    let via = "mqtt?qos=1&server.max_queued_messages=1&server.max_inflight_messages=1";
    let ended = run(&place, via, &["--rate", "2000"]);
    let case = format!("{} {} {:#}", ended.reasons(), ended.err, ended.document["via"]);
    assert_eq!(ended.code, 12, "{case}");
    assert!(ended.reasons().contains("although it had acknowledged them"), "{case}");
    assert_accounted_for(&ended, &case);
    let lost = ended.count("/via/lost");
    assert!(lost > 0 && ended.count("/points/undelivered") == lost, "{case}");
    assert_eq!(ended.count("/via/acknowledged"), ended.count("/via/published"), "{case}");
    assert_eq!(ended.count("/via/dropped_by_broker"), lost, "{case}");
    assert_eq!(ended.count("/points/acked"), ended.count("/points/stored"), "{case}");
    place.assert_nothing_is_left();
}

/// A database that stands still holds up its subscriber, and the broker has no room for what comes meanwhile.
#[test]
fn what_a_slow_subscriber_loses_at_qos_0_is_told_and_no_fault() {
    if mosquitto().is_none() || !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let (results, profile) = (place.results(), place.root().join("large.toml"));
    fs::write(&profile, LARGE).unwrap();
    let via = "mqtt?qos=0&server.max_queued_messages=1";
    let target = ["-b", "postgres:wide", "--scenario", "1s:stop,7s:continue", "--via", via];
    let given = ["run", "-p", profile.to_str().unwrap(), "--output-format", "json", "--out", results.to_str().unwrap()];
    let (code, out, err) = place.call(&[&given[..], &target].concat());
    let ended = Ended { code, document: serde_json::from_str(&out).unwrap_or_default(), err };
    let case = format!("{} {} {:#}", ended.reasons(), ended.err, ended.document["via"]);
    assert!([0, 11].contains(&ended.code), "{case}");
    assert_accounted_for(&ended, &case);
    let lost = ended.count("/via/lost");
    assert!(lost > 0 && ended.count("/via/dropped_by_broker") >= lost, "{case}");
    assert!(ended.count("/via/backlogged") > 0, "{case}");
    assert!(ended.count("/points/undelivered") > lost, "{case}");
    assert_eq!(ended.count("/points/acked"), ended.count("/points/stored"), "{case}");
    place.assert_nothing_is_left();
}

/// Not loopback by its name, so that none is started there.
#[test]
fn a_broker_that_is_not_there_ends_the_run_before_it_begins() {
    let place = Place::new();
    let ended = run(&place, "mqtt://0.0.0.0:1", &["--insecure"]);
    let case = format!("{} {}", ended.reasons(), ended.err);
    assert_eq!(ended.code, 20, "{case}");
    assert!(ended.reasons().contains("the broker at mqtt://0.0.0.0:1 is not reached: nothing listens there"), "{case}");
    assert_eq!(ended.count("/points/generated"), 0, "{case}");
    assert_eq!(ended.document["phase"], "create", "{case}");
}

/// A broker of the test's own.
struct Mosquitto {
    process: Child,
    port: u16,
}

impl Mosquitto {
    fn start(programs: &Programs) -> Self {
        // Free when it was looked for; should another take it, Mosquitto ends and the test says so.
        let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
        let mut command = Command::new(programs.server());
        command.args(["-p", &port.to_string()]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut this = Self { process: command.spawn().unwrap(), port };
        wait_for("Mosquitto", || {
            assert!(this.process.try_wait().unwrap().is_none(), "Mosquitto ended");
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        this
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_broker_that_is_killed_is_named_and_every_datapoint_accounted_for() {
    let Some(programs) = mosquitto() else { return };
    let broker = Mosquitto::start(&programs);
    let place = Place::new();
    let (results, via) = (place.results(), format!("mqtt://127.0.0.1:{}", broker.port));
    let long = ["--out", results.to_str().unwrap(), "--via", &via, "-d", "120s", "--rate", "500"];
    let running = place.iotbench(&[&WORKLOAD[..], &long].concat()).spawn().unwrap();
    wait_for_series(&place);
    kill(broker.process.id().try_into().unwrap());
    let Output { status, stdout, stderr } = output(running);
    let (code, err) = (status.code().unwrap(), String::from_utf8(stderr).unwrap());
    let ended = Ended { code, document: serde_json::from_slice(&stdout).unwrap_or_default(), err };
    let case = format!("{} {} {:#}", ended.reasons(), ended.err, ended.document["via"]);
    assert_eq!(ended.code, 20, "{case}");
    assert!(ended.reasons().contains("the connection to the broker at mqtt://127.0.0.1:"), "{case}");
    assert_accounted_for(&ended, &case);
    assert!(ended.count("/via/delivered") > 0, "{case}");
    assert_eq!(ended.document["via"]["version"].as_str().map(|v| v.contains("mosquitto")), Some(true), "{case}");
}

/// Nothing listens there, and it is this machine's own: a private one is started at that port.
#[test]
fn a_port_of_this_machine_where_nothing_listens_gets_a_private_broker() {
    if mosquitto().is_none() {
        return;
    }
    let place = Place::new();
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let ended = run(&place, &format!("mqtt://127.0.0.1:{port}"), &["--rate", "50"]);
    let case = format!("{} {} {:#}", ended.reasons(), ended.err, ended.document["via"]);
    assert!([0, 11].contains(&ended.code), "{case}");
    assert!(ended.err.contains(&format!("starting mosquitto at port {port}, where nothing listens")), "{case}");
    assert_eq!(ended.count("/via/delivered"), 100, "{case}");
    place.assert_nothing_is_left();
}

#[test]
fn what_cannot_go_through_a_broker_is_refused() {
    let place = Place::new();
    for (arguments, says) in [
        (vec!["run", "-p", "pmu_write", "--vus", "2", "--via", "mqtt"], "closed loop"),
        (vec!["run", "-p", "pmu_write", "--via", "mqtt"], "--via: a search"),
        (vec!["run", "-p", "compressor_insert", "--via", "mqtt?qos=7"], "0, 1 or 2"),
        (vec!["run", "-p", "compressor_insert", "--via", "amqp://h"], "mqtt alone"),
        (vec!["run", "-p", "compressor_insert", "--via", "mqtt?server.listener=5"], "listener"),
    ] {
        let (code, _, err) = place.call(&arguments);
        assert!(code == 2 && err.contains(says), "{arguments:?}: {code} {err}");
    }
}
