//! Signals that are added under load, on real servers: what was sent before lacks them, and what came after it has them.

use crate::server::{
    on_a_server::Ended,
    place::{Place, is_here, wait_for_acknowledged_points},
};
use serde_json::Value;

/// Four users, each with its device.
fn arguments<'a>(backend: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let load = ["run", "-p", "compressor_insert", "--arrival", "closed", "--vus", "4", "--set", "devices=4"];
    let output = ["--warmup", "0", "-d", "60s", "--output-format", "json", "-b", backend];
    [&load[..], &output, more].concat()
}

/// Those that alter a table, and one that does not have to. SQLite needs no server of its own.
fn backends() -> impl Iterator<Item = &'static str> {
    let all = ["sqlite", "postgres", "mariadb", "questdb", "influxdb"];
    all.into_iter().filter(|backend| *backend == "sqlite" || is_here(backend))
}

fn is_altered(backend: &str) -> bool {
    backend != "influxdb"
}

#[test]
fn the_table_is_altered_once_for_all_writers() {
    for backend in backends() {
        let place = Place::new();
        let results = place.results();
        let key = "dataset.added_signals={ signals = 2, after = 70 }";
        let load = ["--operations", "600", "--set", key, "--set", "phases.preload=50"];
        let verify = ["--verify", "full", "--out", results.to_str().unwrap()];
        let ended = Ended::of(&place, &arguments(backend, &[&load[..], &verify].concat()));
        ended.assert_sound(backend);
        let case = format!("{backend}: {:#} {:#}", ended.document["points"], ended.document["audit"]);
        let count = |what: &str| ended.count(what);
        assert_eq!(count("/points/acked"), count("/points/sent"), "{case}");
        assert_eq!(count("/audit/right"), count("/points/acked") + count("/points/preloaded"), "{case}");
        let change = &ended.document["schema_change"];
        assert_eq!(change["signals"].as_array().map(Vec::len), Some(2), "{backend}: {change:#}");
        assert_eq!(change["altered_s"].as_f64().is_some(), is_altered(backend), "{backend}: {change:#}");
        place.assert_nothing_is_left();
    }
}

/// Datapoints of four devices.
const LEAST: u64 = 100;

/// Killed before the change the table lacks the columns, and killed after it has them.
#[test]
fn a_killed_run_is_read_back_on_either_side_of_the_change() {
    for (backend, after) in backends().flat_map(|backend| [(backend, 5), (backend, 1_000_000)]) {
        let place = Place::new();
        let url = match backend {
            "sqlite" => format!("sqlite:{}", place.root().join("added.db").display()),
            _ => place.started(&["server", "start", backend]).trim().to_owned(),
        };
        let (results, key) = (place.results(), format!("dataset.added_signals={{ signals = 2, after = {after} }}"));
        let load = ["--set", &key, "--keep", "--url", &url];
        let set = ["--set", "think_time=20ms", "--out", results.to_str().unwrap()];
        let mut child = place.iotbench(&arguments(backend, &[&load[..], &set].concat())).spawn().unwrap();
        // More than each device sends before the change, where there is to be one.
        wait_for_acknowledged_points(&place, LEAST);
        child.kill().unwrap();
        child.wait().unwrap();
        let folder = results.read_dir().unwrap().next().unwrap().unwrap().path();
        let verify = ["verify", folder.to_str().unwrap(), "--full", "--json", "--url", &url];
        let (code, out, err) = place.call(&verify);
        let found: Value = serde_json::from_str(&out).unwrap_or_default();
        assert_eq!((code, &found["clean"]), (0, &true.into()), "{backend} {after}: {found:#} {err}");
        let least = found["expected_at_least"].as_u64().unwrap();
        let (right, corrupt) = (&found["audit"]["right"], &found["audit"]["corrupt"]);
        assert_eq!((right, corrupt), (&least.into(), &0.into()), "{backend} {after}: {found:#}");
        assert!(least >= LEAST, "{backend} {after}: {found:#}");
        if backend != "sqlite" {
            place.out(&["server", "stop", backend]);
        }
    }
}
