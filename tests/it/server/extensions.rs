//! Private servers of PostgreSQL with Citus and with TimescaleDB, where these extensions are: no package brings them.

use crate::server::place::Place;
use crate::soundness::assert_sound;
use iotbench_backends::BACKENDS;
use iotbench_core::Settings;
use iotbench_launcher::Programs;
use serde_json::{Value, json};
use std::process::Command;

/// What is missing on this machine for the private server that these settings ask for.
fn missing(settings: Value) -> Option<String> {
    let postgres = BACKENDS.iter().find(|b| b.info().name == "postgres").unwrap();
    let recipe = postgres.recipe_for(&Settings(serde_json::from_value(settings).unwrap())).unwrap();
    Programs::find(recipe).err().map(|missing| missing.to_string())
}

/// The program, which finds the server's where this test does.
fn iotbench(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.iotbench(arguments);
    if let Some(postgres) = std::env::var_os("IOTBENCH_POSTGRES_BIN") {
        command.env("IOTBENCH_POSTGRES_BIN", postgres);
    }
    command
}

/// Whether the extension is here; the test is skipped where it is not, and the way in which that is said is tested.
#[expect(clippy::print_stderr, reason = "who reads the tests' output sees what was not tested")]
fn is_here(extension: &str, setting: &str, settings: Value) -> bool {
    let Some(missing) = missing(settings) else { return true };
    if !missing.contains(".control") {
        eprintln!("skipped: {missing}");
        return false;
    }
    eprintln!("skipped: the {extension} extension was not found");
    let place = Place::new();
    let said = iotbench(&place, &["run", "-p", "pmu_write", "-b", "postgres", "--set", setting]).output().unwrap();
    let err = String::from_utf8(said.stderr).unwrap();
    assert_eq!((said.status.code(), said.stdout.is_empty()), (Some(2), true), "{err}");
    for words in ["extension", "no package of Debian brings", "IOTBENCH_POSTGRES_BIN", "--url"] {
        assert!(err.contains(words), "{words} is missing: {err}");
    }
    place.assert_nothing_is_left();
    false
}

/// A short run with this setting, in a layout.
fn run(place: &Place, layout: &str, setting: &str) -> Value {
    let (out, backend) = (place.results(), format!("postgres:{layout}"));
    let load = ["run", "-p", "pmu_write", "--warmup", "0", "--vus", "4", "-d", "3s", "--output-format", "json"];
    let server = ["-b", backend.as_str(), "--set", setting, "--server-memory", "64MiB"];
    let said = iotbench(place, &[&load[..], &server, &["--out", out.to_str().unwrap()]].concat()).output().unwrap();
    let err = String::from_utf8_lossy(&said.stderr);
    let document: Value = serde_json::from_slice(&said.stdout).unwrap_or_else(|e| panic!("{e}: {err}"));
    assert_sound(&document, said.status.code().unwrap(), err);
    let points = &document["points"];
    assert!(points["acked"].as_u64() > Some(0), "{points:#}");
    assert_eq!(points["stored"], points["acked"], "{points:#}");
    assert!(document["storage"]["bytes_after"].as_u64() > Some(0), "{:#}", document["storage"]);
    document
}

#[test]
fn a_cluster_of_citus_is_started_loaded_and_removed() {
    if !is_here("Citus", "backend.postgres.citus_workers=2", json!({"citus_workers": 2})) {
        return;
    }
    for layout in ["wide", "document"] {
        let place = Place::new();
        let document = run(&place, layout, "backend.postgres.citus_workers=2");
        let version = document["target"]["version"].as_str().unwrap();
        assert!(version.contains("with Citus") && version.ends_with("2 workers"), "{version}");
        for (role, nodes) in [("coordinator", json!([0])), ("worker", json!([1, 2]))] {
            let of_role = document["resources"].as_array().unwrap().iter().filter(|r| r["role"] == role);
            let numbers: Vec<_> = of_role.map(|r| r["node"].clone()).collect();
            assert_eq!(json!(numbers), nodes, "{role}");
        }
        place.assert_nothing_is_left();
    }
}

#[test]
fn a_server_with_timescaledb_is_started_loaded_and_removed() {
    if !is_here("TimescaleDB", "backend.postgres.hypertable=true", json!({"hypertable": true})) {
        return;
    }
    let place = Place::new();
    let document = run(&place, "wide", "backend.postgres.hypertable=true");
    let version = document["target"]["version"].as_str().unwrap();
    assert!(version.contains("with TimescaleDB"), "{version}");
    place.assert_nothing_is_left();
}
