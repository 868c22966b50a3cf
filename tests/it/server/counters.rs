//! What the server counts of itself beside a load, from the server to the results folder.

use crate::server::{
    client::say,
    on_a_server::{Ended, arguments, run, sound},
    place::{Place, every_server, is_here},
};
use iotbench_backends::BACKENDS;
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::PathBuf};
use url::Url;

/// Those whose counters tell how many rows were written.
const COUNTING: [&str; 3] = ["postgres", "mariadb", "mongodb"];

fn folder(place: &Place) -> PathBuf {
    place.results().read_dir().unwrap().next().unwrap().unwrap().path()
}

/// The rows of the series by the names of their columns.
fn series(place: &Place) -> Vec<BTreeMap<String, String>> {
    let text = fs::read_to_string(folder(place).join("series.csv")).unwrap();
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    lines.map(|cells| heads.iter().cloned().zip(cells).collect()).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> u64 {
    row.get(column).and_then(|cell| cell.parse().ok()).unwrap_or(0)
}

fn counter<'a>(document: &'a Value, name: &str) -> &'a Value {
    let mut counters = document["server_counters"]["counters"].as_array().into_iter().flatten();
    counters.find(|counter| counter["name"] == name).unwrap_or_else(|| panic!("{name}: {document:#}"))
}

/// PostgreSQL tells what a connection did with the first answer that comes a second or more after it told last, so that what was written
/// last may be missing until the operation after it.
#[test]
fn a_run_tells_what_its_server_counted() {
    for backend in COUNTING.into_iter().filter(|backend| is_here(backend)) {
        let place = Place::new();
        let out = place.results();
        let load = ["--vus", "10", "-d", "10s", "--out", out.to_str().unwrap()];
        let document = sound(&place, &arguments(backend, &load));
        let counters = &document["server_counters"];
        let [from_s, to_s] = ["from_s", "to_s"].map(|key| counters[key].as_f64().unwrap());
        let rows = series(&place);
        let is_early = |row: &&BTreeMap<String, String>| {
            let second = row["second"].parse::<f64>().unwrap();
            second + 1.0 > from_s && second + 5.0 <= to_s
        };
        // The first look may be in the middle of a second.
        let early: Vec<_> = rows.iter().filter(is_early).skip(usize::from(from_s > 0.0)).collect();
        let sum = |column: &str| early.iter().map(|row| number(row, column)).sum::<u64>();
        let of = |name: &str| counter(&document, name)["growth"].as_u64().unwrap();
        let (points, acked) = (sum("points_acked"), document["points"]["acked"].as_u64().unwrap());
        assert!(points > 0 && of("rows_written") >= points, "{backend}: {points}, {counters:#}");
        // pmu_write is wide: a row a datapoint. What the server writes for itself is little.
        assert!(of("rows_written") <= acked + 1_000, "{backend}: {acked}, {counters:#}");
        assert!(of("wal_bytes") > 8 * points, "{backend}: {points}, {counters:#}");
        // MongoDB counts transactions of several statements alone.
        assert!(backend == "mongodb" || of("transactions") >= sum("ok"), "{backend}: {counters:#}");
        assert!(counters["looks"].as_u64() > Some(1) && counters["failed_looks"] == 0, "{backend}: {counters:#}");
        assert!(counters["looks_ms"].as_f64() > Some(0.0), "{backend}: {counters:#}");
        let told: u64 = rows.iter().map(|row| number(row, "server_count_rows_written")).sum();
        assert!(told > 0 && told <= acked + 1_000, "{backend}: {told} of {acked}");
        let page = fs::read_to_string(folder(&place).join("report.html")).unwrap();
        assert!(page.contains("The server counted: rows_written"), "{backend}");
        assert!(!page.contains("The server counted: deadlocks"), "{backend}: it never grew");
        place.assert_nothing_is_left();
    }
}

#[test]
fn every_server_that_counts_is_looked_at_without_a_failure() {
    let counts = |name: &&str| BACKENDS.iter().any(|b| b.info().name == *name && !b.info().counters.is_empty());
    for backend in every_server().filter(counts) {
        let place = Place::new();
        let out = place.results();
        let document = sound(&place, &arguments(backend, &["--vus", "5", "-d", "4s", "--out", out.to_str().unwrap()]));
        let counters = &document["server_counters"];
        assert!(counters["looks"].as_u64() > Some(0) && counters["failed_looks"] == 0, "{backend}: {counters:#}");
        assert!(counter(&document, "rows_written")["growth"].as_u64() > Some(0), "{backend}: {counters:#}");
        place.assert_nothing_is_left();
    }
}

#[test]
fn they_are_left_out_by_a_key() {
    for backend in COUNTING.into_iter().filter(|backend| is_here(backend)) {
        let place = Place::new();
        let out = place.results();
        let load = ["--vus", "2", "-d", "2s", "--set", "server_counters=false", "--out", out.to_str().unwrap()];
        let document = sound(&place, &arguments(backend, &load));
        assert_eq!(document["server_counters"], Value::Null, "{backend}");
        assert!(series(&place)[0].keys().all(|column| !column.starts_with("server_count_")), "{backend}");
        place.assert_nothing_is_left();
    }
}

/// Nobody has to be let look for a run to be as good as it is.
#[test]
fn a_server_that_refuses_is_told_once_and_the_run_is_valid() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let mut url: Url = place.started(&["server", "start", "postgres"]).parse().unwrap();
    say("postgres", &url, "CREATE DATABASE sensors");
    url.set_path("/sensors");
    say(
        "postgres",
        &url,
        "REVOKE SELECT ON pg_stat_wal FROM PUBLIC; CREATE ROLE sensor LOGIN PASSWORD 'right'; GRANT CREATE ON SCHEMA public TO sensor",
    );
    let mut user = url.clone();
    user.set_username("sensor").unwrap();
    user.set_password(Some("right")).unwrap();
    let ended: Ended = run(&place, "postgres", &user, 3, &[]);
    ended.assert_sound("without a right");
    assert_told_once(&ended.document, "pg_stat_wal");
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
}

/// That the server was looked at once and no more, and that one remark says why.
fn assert_told_once(document: &Value, why: &str) {
    let counters = &document["server_counters"];
    assert_eq!((&counters["looks"], &counters["failed_looks"]), (&1.into(), &1.into()), "{counters:#}");
    assert_eq!(counters["counters"].as_array().map(Vec::len), Some(0));
    let remarks: Vec<_> = document["remarks"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let of_counters: Vec<_> = remarks.iter().filter(|remark| remark.contains("server counts of itself")).collect();
    assert!(of_counters.len() == 1 && of_counters[0].contains(why), "{remarks:?}");
}

#[test]
fn a_questdb_that_counts_nothing_is_told_how_it_would() {
    const OFF: &str = "backend.questdb.server.metrics.enabled=false";
    if !is_here("questdb") {
        return;
    }
    let place = Place::new();
    let out = place.results();
    let load = ["--vus", "2", "-d", "4s", "--set", OFF, "--out", out.to_str().unwrap()];
    assert_told_once(&sound(&place, &arguments("questdb", &load)), "metrics.enabled=true in its server.conf");
    place.assert_nothing_is_left();
}

/// Each name stands in the page with where its server has it from.
#[test]
fn the_page_has_each_counter_and_its_source() {
    let page = format!("{}/docs/server-counters.md", env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(page).unwrap();
    for counter in iotbench_core::Counter::ALL {
        let row = format!("| `{}` | {} |", counter.name(), counter.meaning());
        let is_read = BACKENDS.iter().any(|b| b.info().counters.iter().any(|source| source.counter == *counter));
        assert!(page.contains(&row) && is_read, "{row}");
    }
    for backend in BACKENDS {
        for source in backend.info().counters {
            let row = format!("| `{}` | {} |", source.counter.name(), source.field);
            assert!(page.contains(&row), "{}: {row}", backend.info().name);
        }
    }
}
