//! Exit codes that no other test comes to by itself, and servers that are not there, for every database that is reached over
//! the network. No server is needed.

use crate::end_to_end::program::{document, iotbench, run, said};
use iotbench_backends::BACKENDS;
use std::{
    process::Output,
    time::{Duration, Instant},
};

/// Before it is known whether anything answers, nobody waits longer.
const SOON: Duration = Duration::from_secs(10);

/// A run on a server at this host and port, for each database at once.
fn on_each(host: &str, check: impl Fn(&str, &Output, Duration) + Sync) {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "s3cret").unwrap();
    let token = format!("backend.influxdb2.token_file={}", token.display());
    std::thread::scope(|scope| {
        for name in BACKENDS.iter().filter(|b| !b.info().capabilities.embedded).map(|b| b.info().name) {
            let (check, token, out) = (&check, &token, folder.path().join(name));
            let runtime = folder.path().join(format!("{name}-runtime"));
            scope.spawn(move || {
                let url = match name {
                    "postgres" => format!("postgres://me:s3cret@{host}/iot"),
                    "mariadb" | "mysql" => format!("mysql://me:s3cret@{host}/iot"),
                    "mongodb" => format!("mongodb://me:s3cret@{host}/"),
                    "influxdb2" => format!("http://{host}/"),
                    _ => format!("http://me:s3cret@{host}/"),
                };
                let load = ["run", "-p", "pmu_write", "--vus", "2", "-d", "1s", "-b", name, "--url", &url];
                let setting = if name == "influxdb2" { &["--set", token.as_str()][..] } else { &[] };
                let begun = Instant::now();
                let mut command = iotbench(&out, &[&load[..], &["--output-format", "json"], setting].concat());
                // To the others it is the same database, and one at a time may run on it.
                std::fs::create_dir(&runtime).unwrap();
                let output = command.env("XDG_RUNTIME_DIR", &runtime).output().unwrap();
                assert!(!said(&output).contains("s3cret"), "{name}: {}", said(&output));
                check(name, &output, begun.elapsed());
            });
        }
    });
}

#[test]
fn a_server_that_is_not_there_is_20_before_any_load() {
    on_each("127.0.0.1:1", |name, output, took| {
        let document = document(output);
        assert_eq!(output.status.code(), Some(20), "{name}: {:#}", document["verdict"]);
        assert!(took < SOON, "{name}: {took:?}");
        let reasons = document["verdict"]["reasons"].as_array().unwrap();
        assert!(reasons.len() == 1 && reasons[0].as_str().unwrap().starts_with("connect: "), "{name}: {reasons:?}");
        assert_eq!(document["load"]["offered"], 0, "{name}");
    });
}

/// The top-level domain `invalid` never has an address (RFC 6761).
#[test]
fn a_name_that_is_not_resolved_is_23_before_any_load() {
    on_each("database.invalid:4711", |name, output, _| {
        let document = document(output);
        assert_eq!(output.status.code(), Some(23), "{name}: {:#}", document["verdict"]);
        let reasons = document["verdict"]["reasons"].to_string();
        assert!(reasons.contains("dns: ") && reasons.contains("database.invalid"), "{name}: {reasons}");
        assert_eq!(document["load"]["offered"], 0, "{name}");
    });
}

/// No batch of 50 datapoints is stored within a microsecond.
#[test]
fn a_search_that_finds_no_load_is_10() {
    let out = tempfile::tempdir().unwrap();
    let search = [
        "capacity",
        "-p",
        "pmu_write",
        "--criterion",
        "mean<1us",
        "--first",
        "1",
        "--trial",
        "1s",
        "--trials",
        "0",
        "--set",
        "others_cpu=100%",
    ];
    let output = iotbench(out.path(), &[&search[..], &["--output-format", "json"]].concat()).output().unwrap();
    let document = document(&output);
    assert_eq!(output.status.code(), Some(10), "{:#} {}", document["verdict"], said(&output));
    assert_eq!((&document["capacity"]["lower"], &document["capacity"]["upper"]), (&serde_json::Value::Null, &1.into()));
}

#[test]
fn a_run_that_is_cut_off_by_its_own_limit_is_11() {
    let cut = run(&["-p", "pmu_write", "-b", "blackhole", "--vus", "2", "-d", "1h", "--set", "phases.run_deadline=2s"]);
    assert_eq!((cut.figure("verdict.status"), cut.code), (&"invalid".into(), 11), "{:#}", cut.figure("verdict"));
}
