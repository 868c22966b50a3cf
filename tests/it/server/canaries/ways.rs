//! By which ways a secret may come in.

use crate::server::place::Place;
use std::collections::BTreeSet;

/// Options whose values hold no secret: counts, sizes, times, choices, names of what there is, and paths; hosts with a port, and the
/// public halves of keys. Any other option that takes a value is in the sweep, a new one too.
const HARMLESS: &[&str] = &[
    "agent-key",
    "agents",
    "allow-dir",
    "allow-target",
    "arrival",
    "backend",
    "baseline",
    "batch",
    "cgroup",
    "clock-limit",
    "connections",
    "criterion",
    "dataset",
    "devices",
    "duration",
    "file",
    "first",
    "folder",
    "for",
    "format",
    "formula",
    "from",
    "history",
    "interval",
    "layout",
    "listen",
    "metric",
    "metrics",
    "most",
    "name",
    "nats-ca",
    "nats-credentials",
    "offer",
    "on-agent-loss",
    "operations",
    "origin",
    "out",
    "output",
    "output-format",
    "over",
    "pid",
    "port",
    "price",
    "process",
    "profile",
    "rate",
    "resume",
    "runs",
    "sample",
    "scenario",
    "seed",
    "server-at",
    "server-memory",
    "sessions",
    "state",
    "strategy",
    "threshold",
    "trial",
    "trials",
    "trust",
    "variant",
    "verify",
    "vus",
    "warmup",
    "width",
];

/// An option that takes a value, of one command.
pub struct Opt {
    pub command: String,
    long: String,
    variable: Option<String>,
}

/// One call of the program with a secret in it: `RAW` as it is, `ENC` percent-encoded.
#[derive(Debug, Default)]
pub struct Way {
    pub words: Vec<String>,
    pub variable: Option<(String, String)>,
}

/// All of them that the program says it has, in its own reference.
pub fn options_that_may_hold_a_secret(place: &Place) -> Vec<Opt> {
    let folder = place.root().join("reference");
    std::fs::create_dir(&folder).unwrap();
    place.out(&["reference", folder.to_str().unwrap()]);
    let text = std::fs::read_to_string(folder.join("commands.md")).unwrap();
    let (mut command, mut options, mut seen) = (String::new(), Vec::new(), BTreeSet::new());
    for line in text.lines() {
        if let Some(name) = line.trim_start_matches('#').strip_prefix(" iotbench ") {
            command = name.into();
        }
        let cells: Vec<_> = line.split(" | ").map(str::trim).collect();
        let Some((_, option)) = cells[0].split_once("`--") else { continue };
        if cells.len() < 5 || cells[1].is_empty() {
            continue;
        }
        let long = option.trim_end_matches('`').to_owned();
        seen.insert(long.clone());
        let variable = Some(cells[3].trim_matches('`').to_owned()).filter(|variable| !variable.is_empty());
        if !HARMLESS.contains(&&*long) {
            options.push(Opt { command: command.clone(), long, variable });
        }
    }
    let gone: Vec<_> = HARMLESS.iter().filter(|name| !seen.contains(**name)).collect();
    assert!(gone.is_empty() && options.iter().any(|option| option.long == "url"), "no such options: {gone:?}");
    options
}

pub fn given(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// How the option is given a secret, as an argument and as a variable.
pub fn ways_of(option: &Opt, place: &Place) -> Vec<Way> {
    let mut ways = Vec::new();
    for (more, value) in values_of(option) {
        let words = [call_of(&option.command, more.contains(&"-p"), place), given(&more)].concat();
        let argument = [words.clone(), vec![format!("--{}", option.long), value.to_owned()]].concat();
        ways.push(Way { words: argument, variable: None });
        if let Some(variable) = &option.variable {
            ways.push(Way { words, variable: Some((variable.clone(), value.to_owned())) });
        }
    }
    ways
}

/// A call that does little: what it would need is not there.
fn call_of(command: &str, has_profile: bool, place: &Place) -> Vec<String> {
    match command {
        "run" | "capacity" if has_profile => given(&[command, "--warmup", "0s"]),
        "run" => given(&["run", "-p", "pmu_write", "--vus", "1", "-d", "1s", "--warmup", "0s"]),
        "capacity" => given(&["capacity", "-p", "pmu_write", "--warmup", "0s"]),
        "suite" => given(&["suite", "quick", "--agents", "1"]),
        "generate" => given(&["generate", "--dataset", "pmu", "--for", "1s"]),
        "learn" => given(&["learn", place.root().join("recorded.csv").to_str().unwrap()]),
        "verify" => {
            let kept = place.root().join("kept").read_dir().unwrap().next().unwrap().unwrap().path();
            given(&["verify", kept.to_str().unwrap()])
        }
        "clean" | "agent" => given(&[command]),
        "server start" => given(&["server", "start", "postgres"]),
        other => panic!("how is {other} called?"),
    }
}

/// Words before it, and its value.
fn values_of(option: &Opt) -> Vec<(Vec<&'static str>, &'static str)> {
    let plain = |values: &[&'static str]| values.iter().map(|value| (Vec::new(), *value)).collect::<Vec<_>>();
    match (&*option.command, &*option.long) {
        ("run" | "capacity" | "clean", "url") => addresses(),
        ("verify", "url") => plain(&ADDRESSES),
        (_, "nats") => {
            let run = vec!["-b", "postgres", "--url", "postgres://127.0.0.1:1/", "--agents", "1"];
            let more = if ["agent", "suite"].contains(&&*option.command) { Vec::new() } else { run };
            BROKERS.iter().map(|value| (more.clone(), *value)).collect()
        }
        ("run" | "capacity", "set") => {
            let other = vec!["-b", "postgres", "--url", "postgres://127.0.0.1:1/"];
            let both = |value| [(Vec::new(), value), (other.clone(), value)];
            ASSIGNMENTS.iter().copied().flat_map(both).collect()
        }
        ("run" | "capacity", "via") => {
            let open = vec!["-p", "compressor_insert", "-b", "sqlite:document", "--insecure"];
            WAYS_OF_A_BROKER.iter().map(|value| (open.clone(), *value)).collect()
        }
        ("generate" | "learn", "set") => plain(&["x=RAW", "password=RAW"]),
        ("server start", _) => plain(&["x.password=RAW"]),
        // One that is taken: the headers of the environment go with it.
        ("run", "otlp") => {
            plain(&["RAW", "http://me:RAW@127.0.0.1:1", "http://127.0.0.1:1/?RAW", "http://127.0.0.1:1/ENC"])
        }
        _ => plain(&["RAW", "me:RAW@h", "x=RAW", "http://me:RAW@h/"]),
    }
}

/// Addresses of each database with a secret in each part.
fn addresses() -> Vec<(Vec<&'static str>, &'static str)> {
    let is_of = |backend: &str, address: &str| match address.split_once("://").map(|(scheme, _)| scheme) {
        Some("postgres") => backend == "postgres",
        Some("mysql") => backend == "mariadb",
        Some("mongodb") => backend == "mongodb",
        Some("sqlite") => backend == "sqlite",
        Some("http") => ["influxdb", "influxdb2", "kairosdb", "opentsdb", "questdb"].contains(&backend),
        _ => backend == "postgres",
    };
    let backends =
        ["postgres", "mariadb", "mongodb", "sqlite", "influxdb", "influxdb2", "kairosdb", "opentsdb", "questdb"];
    let each = |backend: &'static str| {
        let own = ADDRESSES.iter().filter(move |address| is_of(backend, address));
        own.map(move |address| (vec!["--backend", backend], *address))
    };
    backends.into_iter().flat_map(each).collect()
}

const ADDRESSES: [&str; 25] = [
    "postgres://me:RAW@127.0.0.1:1/db",
    "postgres://ENC@127.0.0.1:1/db",
    "postgres://me@127.0.0.1:1/db?password=ENC",
    "postgres://me@127.0.0.1:1/db?RAW",
    "postgres://127.0.0.1:1/db#ENC",
    "postgres://me:RAW@127.0.0.1:x/",
    "mysql://me:ENC@127.0.0.1:1/db",
    "mysql://127.0.0.1:1/db?password=ENC",
    "mysql://127.0.0.1:1/db?RAW",
    "mongodb://me:ENC@127.0.0.1:1/db",
    "mongodb://me:ENC@127.0.0.1:1,127.0.0.1:2/db",
    "mongodb://127.0.0.1:1/?authMechanismProperties=ENC",
    "mongodb://127.0.0.1:1/?RAW",
    "sqlite:/nowhere/x?key=RAW",
    "http://me:ENC@127.0.0.1:1/",
    "http://ENC@127.0.0.1:1/",
    "http://me:ENC@127.0.0.1:1/?telnet=127.0.0.1:2",
    "http://127.0.0.1:1/?token=ENC",
    "http://127.0.0.1:1/?RAW",
    "http://127.0.0.1:1/#ENC",
    "http://me:RAW/@.../",
    "http://me:1/RAW@127.0.0.1:1/",
    "http://127.0.0.1:ENC/",
    "RAW",
    "no address: RAW",
];

const BROKERS: [&str; 7] = [
    "nats://me:ENC@127.0.0.1:1",
    "nats://ENC@127.0.0.1:1",
    "tls://me:RAW@127.0.0.1:1",
    "nats://me:RAW@a.invalid",
    "nats://me:RAW/@.../",
    "nats://me:x@127.0.0.1:1,nats://me:RAW@127.0.0.1:2",
    "nats://127.0.0.1:1/?RAW",
];

/// Where nobody is: at an address of this machine one would be started.
const WAYS_OF_A_BROKER: [&str; 6] = [
    "mqtt://me:ENC@a.invalid",
    "mqtt://ENC@a.invalid",
    "mqtt://a.invalid?password=RAW",
    "mqtt://me:RAW/@.../",
    "mqtts://me:ENC@a.invalid",
    "RAW",
];

const ASSIGNMENTS: [&str; 6] = [
    "x=RAW",
    "password=RAW",
    "backend.sqlite.password=RAW",
    "backend.postgres.password=RAW",
    "backend.mariadb.api_key=RAW",
    "server.password=RAW",
];
