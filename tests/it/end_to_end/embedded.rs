//! SQLite, embedded: what is acknowledged is in the file that is kept, in every layout.

use crate::end_to_end::program::{Run, in_full, run};
use iotbench::simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig};
use rusqlite::{Connection, OpenFlags};
use std::{collections::BTreeMap, path::Path};

fn database(run: &Run) -> Connection {
    let path = run.folder.join("database/iotbench.sqlite");
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

fn count(run: &Run, query: &str) -> u64 {
    database(run).query_row(query, [], |row| row.get(0)).unwrap()
}

fn pmu_write(layout: &str) -> Run {
    let run = run(&["-p", "pmu_write", "-b", &format!("sqlite:{layout}"), "--vus", "20", "-d", "3s", "--keep"]);
    run.assert_sound();
    assert!(run.count("points.acked") > 0);
    assert_eq!(run.count("points.acked"), run.count("points.stored"));
    run
}

#[test]
fn wide_holds_what_was_acknowledged() {
    let run = pmu_write("wide");
    assert_eq!(count(&run, "SELECT count(*) FROM iotbench_pmu_write"), run.count("points.acked"));
}

#[test]
fn narrow_holds_what_was_acknowledged() {
    let run = pmu_write("narrow");
    assert_eq!(count(&run, "SELECT count(*) FROM iotbench_pmu_write"), 15 * run.count("points.acked"));
}

#[test]
fn document_holds_what_was_acknowledged() {
    let run = pmu_write("document");
    assert_eq!(count(&run, "SELECT count(*) FROM iotbench_pmu_write"), run.count("points.acked"));
}

#[test]
fn bulk_holds_what_was_acknowledged() {
    let run = pmu_write("bulk");
    let held = "SELECT sum(json_array_length(measurements, '$.measurements')) FROM iotbench_pmu_write";
    assert_eq!(count(&run, held), run.count("points.acked"));
}

#[test]
fn a_machine_in_bulk_is_one_row_a_second_with_every_nanosecond() {
    let run = in_full(&["-p", "machine_write", "-b", "sqlite:bulk", "-d", "10s", "--warmup", "0", "--keep"]);
    run.assert_sound();
    assert!(run.count("points.generated").abs_diff(10_000) <= 2, "{}", run.figure("points"));
    assert_eq!(run.count("points.dropped"), 0);
    let database = database(&run);
    let mut statement = database
        .prepare("SELECT t.second, t.size, json_extract(m.value, '$.ns') FROM iotbench_machine_write t, json_each(t.measurements, '$.measurements') m ORDER BY 1, 3")
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(2)?))).unwrap();
    let stored: Vec<i64> = rows.map(|row| row.unwrap()).map(|(second, ns)| second * 1_000_000_000 + ns).collect();
    let machine = machine();
    let planned: Vec<i64> = (0..stored.len() as u64).map(|i| machine.timestamp_ns(0, i)).collect();
    assert_eq!(stored, planned);
    let records = count(&run, "SELECT count(*) FROM iotbench_machine_write");
    let seconds = count(&run, "SELECT count(DISTINCT second) FROM iotbench_machine_write");
    assert_eq!((records, seconds), (10, 10));
}

fn machine() -> std::sync::Arc<dyn Dataset> {
    let profile = iotbench::find_profile("machine_write").unwrap();
    let profile = iotbench::engine::parse_profile("machine_write", profile.toml).unwrap();
    let config: DatasetConfig = profile.dataset;
    config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).unwrap()
}

#[test]
fn equal_seeds_send_equal_datapoints() {
    let rows = |seed: &str| {
        let run = run(&["-p", "pmu_write", "-b", "sqlite:wide", "--vus", "5", "-d", "2s", "--keep", "--seed", seed]);
        run.assert_sound();
        let database = database(&run);
        let mut statement = database.prepare("SELECT * FROM iotbench_pmu_write").unwrap();
        let width = statement.column_count();
        let rows = statement.query_map([], |row| {
            let values: Result<Vec<f64>, _> = (2..width).map(|i| row.get(i)).collect();
            Ok(((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?), values?))
        });
        rows.unwrap().map(|row| row.unwrap()).collect::<BTreeMap<_, _>>()
    };
    let (one, again, other) = (rows("7"), rows("7"), rows("8"));
    let shared = |a: &BTreeMap<_, _>, b: &BTreeMap<_, Vec<f64>>| {
        let both: Vec<_> = a.iter().filter_map(|(k, v): (_, &Vec<f64>)| Some((v.clone(), b.get(k)?.clone()))).collect();
        assert!(both.len() > 200, "the runs share {} datapoints", both.len());
        both
    };
    assert!(shared(&one, &again).iter().all(|(a, b)| a == b));
    assert!(shared(&one, &other).iter().all(|(a, b)| a != b));
}

#[test]
fn without_keep_nothing_is_left_of_the_database() {
    let run = run(&["-p", "pmu_write", "--vus", "5", "-d", "1s"]);
    run.assert_sound();
    assert!(!run.folder.join("database").exists());
}

#[test]
fn a_users_own_tables_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.sqlite");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE iotbench_pmu_write (a); INSERT INTO iotbench_pmu_write VALUES (42)").unwrap();
    drop(theirs);
    let before = std::fs::read(&path).unwrap();
    let url = format!("sqlite:{}", path.display());
    let run = run(&["-p", "pmu_write", "--vus", "5", "-d", "1s", "--url", &url]);
    assert_eq!((run.figure("verdict.status").as_str(), run.code), (Some("failed"), 31));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}
