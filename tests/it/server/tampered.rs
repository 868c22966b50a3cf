//! What somebody changes in a history that an earlier run left is found, and an index that is gone shows.

use crate::server::{
    place::{Place, SERVERS, is_here, known_servers, some_servers, two_servers},
    tampering::{Harm, expected, harm, sql},
};
use crate::soundness::assert_sound;
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader},
};

/// Each read asks for all that a device has.
const PROFILE: &str = r#"
name = "tampered"
summary = "every read asks for all records of a device"
devices = 2
layout = "wide"
[dataset]
name = "pmu"
rate = 50
[[groups]]
name = "readers"
load = { model = "closed", users = 2 }
operations = [{ kind = "read_device" }]
[phases]
preload = 40
operations = 20
duration = "1m"
"#;

fn profile(place: &Place) -> String {
    let file = place.root().join("tampered.toml");
    fs::write(&file, PROFILE).unwrap();
    file.to_str().unwrap().to_owned()
}

/// A run on what an earlier one left, which leaves it again: exit code, document, what was said.
fn run(place: &Place, profile: &str, url: &str, backend: &str) -> (i32, Value, String) {
    let out = place.results();
    let read = ["run", "-p", profile, "-b", word(backend), "--url", url, "--keep", "--warmup", "0", "--verify", "full"];
    // It does not tell what it stores in, and of what might keep nothing no loss is held against it.
    let store: &[&str] = if backend == "kairosdb" { &["--set", "backend.kairosdb.store=h2"] } else { &[] };
    let (code, out, err) =
        place.call(&[&read[..], store, &["--output-format", "json", "--out", out.to_str().unwrap()]].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}")), err)
}

/// A time series of MongoDB can be changed by its device alone: there it is documents.
fn word(backend: &str) -> &str {
    if backend == "mongodb" { "mongodb:document" } else { backend }
}

#[tokio::test]
async fn what_was_changed_in_a_kept_history_is_found() {
    for backend in SERVERS.into_iter().filter(|name| is_here(name)) {
        let place = Place::new();
        let profile = profile(&place);
        let url = place.started(&["server", "start", backend]).trim().to_owned();
        for tampering in [Harm::Value, Harm::Row, Harm::Time] {
            let (code, document, err) = run(&place, &profile, &url, backend);
            assert_sound(&document, code, format_args!("{backend}: {err}"));
            harm(backend, &url.parse().unwrap(), tampering).await;
            let (code, document, _) = run(&place, &profile, &url, backend);
            let what = format!("{backend} {tampering:?}: {:#} {:#}", document["verdict"], document["answers"]);
            assert_eq!(code, 12, "{what}");
            assert!(document["answers"]["wrong"].as_u64() > Some(0), "{what}");
            let first = document["answers"]["examples"][0].as_str().unwrap();
            assert!(first.contains("Range") && (first.contains("should be") || first.contains("there are")), "{what}");
            assert!(document["verdict"]["reasons"].to_string().contains("answers compared are wrong"), "{what}");
            let remarks = document["remarks"].to_string();
            assert_eq!(
                remarks.contains("was changed since: 79 datapoints"),
                matches!(tampering, Harm::Row),
                "{remarks}"
            );
            // A run without --keep drops it, as it says; the next one writes it anew.
            let out = place.results();
            place.call(&["run", "-p", &profile, "-b", word(backend), "--url", &url, "--out", out.to_str().unwrap()]);
        }
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

/// What a killed run left half written is no tampering: the next run says so, and writes the history anew.
#[tokio::test]
async fn a_history_that_was_not_written_whole_is_written_anew() {
    for backend in two_servers().filter(|name| SERVERS.contains(name)) {
        let place = Place::new();
        let profile = profile(&place);
        let url = place.started(&["server", "start", backend]).trim().to_owned();
        let out = place.results();
        let read =
            ["run", "-p", &profile, "-b", word(backend), "--url", &url, "--keep", "--out", out.to_str().unwrap()];
        let long = ["--set", "preload=60k", "--operations", "1", "--output-format", "json"];
        let mut child = place.iotbench(&[&read[..], &long].concat()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        assert!(said.lines().map(Result::unwrap).any(|line| line.starts_with("preload")));
        child.kill().unwrap();
        child.wait().unwrap();
        // How well a busy machine lets it run is not what is tested.
        let run = || {
            let (code, out, err) = place.call(&[&read[..], &long].concat());
            assert!([0, 11].contains(&code), "{backend}: {code} {err}");
            serde_json::from_str::<Value>(&out).unwrap()
        };
        let document = run();
        let remarks = document["remarks"].to_string();
        assert!(remarks.contains("ended before its history was whole"), "{backend}: {remarks}");
        let document = run();
        assert!(document["remarks"].to_string().contains("that of an earlier run"), "{backend}: {document:#}");
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

/// The shortest search for marks by the index, each of which reads a record, against the shortest without it, which scans.
#[tokio::test]
async fn an_index_that_is_gone_shows_in_the_figures() {
    for (backend, index) in [
        ("mariadb", "DROP INDEX iotbench_machine_read_time ON iotbench_machine_read"),
        ("postgres", "DROP INDEX iotbench_machine_read_time"),
    ] {
        if !is_here(backend) {
            continue;
        }
        let place = Place::new();
        let url = place.started(&["server", "start", backend]).trim().to_owned();
        let out = place.results();
        let read =
            ["run", "-p", "machine_read", "--strategy", "individual", "-b", word(backend), "--url", &url, "--keep"];
        let short = [
            "--warmup",
            "0",
            "--arrival",
            "closed",
            "--operations",
            "20",
            "--output-format",
            "json",
            "--out",
            out.to_str().unwrap(),
        ];
        let least_us = || {
            let (_, out, err) = place.call(&[&read[..], &short].concat());
            let document: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
            let shortest = document["latency"]["by_operation"]["service"]["min"].as_f64();
            (shortest.unwrap_or_else(|| panic!("{backend}: {document:#}")), document)
        };
        least_us();
        // Beside other tests the shortest of a few reads is long now and then.
        let with = (0..3).map(|_| least_us().0).fold(f64::INFINITY, f64::min);
        sql(backend, &url.parse().unwrap(), index).await;
        let (without, document) = least_us();
        assert!(document["remarks"].to_string().contains("that of an earlier run"), "{document:#}");
        assert!(without > 2.0 * with, "{backend}: at least {with} µs with the index, {without} µs without");
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

/// A run that is over is read back: untouched it is clean, and what was done to it is named and nothing else.
#[tokio::test]
async fn what_was_done_to_a_run_is_named_by_verify() {
    let some: Vec<_> = some_servers().collect();
    for backend in known_servers().filter(|backend| some.contains(backend)) {
        let place = Place::new();
        let profile = profile(&place);
        let url = place.started(&["server", "start", backend]).trim().to_owned();
        for tampering in [Harm::Value, Harm::Row, Harm::Time, Harm::Added, Harm::Double] {
            let Some(kinds) = expected(backend, tampering) else { continue };
            let (code, document, err) = run(&place, &profile, &url, backend);
            assert_sound(&document, code, format_args!("{backend}: {err}"));
            let folder = place.results().join(document["run_id"].as_str().unwrap());
            let verify = || {
                let (code, out, err) =
                    place.call(&["verify", folder.to_str().unwrap(), "--url", &url, "--full", "--json"]);
                let found: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
                (code, found)
            };
            let (code, found) = verify();
            assert_eq!((code, &found["audit"]["right"]), (0, &80.into()), "{backend} untouched: {found:#}");
            harm(backend, &url.parse().unwrap(), tampering).await;
            let (code, found) = verify();
            let what = format!("{backend} {tampering:?}: {found:#}");
            assert_eq!(code, if kinds.is_empty() { 0 } else { 12 }, "{what}");
            for kind in ["lost", "duplicate", "corrupt", "alien"] {
                let count = kinds.iter().find(|(name, _)| *name == kind).map_or(0, |(_, count)| *count);
                assert_eq!(found["audit"][kind].as_u64().unwrap_or(0), count, "{what}");
            }
            let examples = found["audit"]["examples"].as_array().unwrap();
            assert!(examples.len() >= kinds.len(), "{what}");
            let is_kind = |name: &Value| kinds.iter().any(|(kind, _)| name == kind);
            assert!(examples.iter().all(|e| is_kind(&e["kind"])), "{what}");
            // But where all was deleted, it was the first device's datapoint alone.
            assert!(examples.len() > kinds.len() || examples.iter().all(|e| e["device"] == 0), "{what}");
            // The next one writes it anew.
            let out = place.results();
            place.call(&["run", "-p", &profile, "-b", word(backend), "--url", &url, "--out", out.to_str().unwrap()]);
        }
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}
