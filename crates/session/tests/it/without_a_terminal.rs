//! What the commands beside `run` do, as a program does it that has no terminal.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_core::Target as DatabaseTarget;
use iotbench_engine::{AuditScope, Observer, Plan, StopSignal};
use iotbench_report::{RunReport, SampleTable, recover_all};
use iotbench_sampler::Target;
use iotbench_session::{
    BackendWord, Event, Job, Leftovers, Metrics, RowsWanted, SessionError, SessionObserver, SessionOptions, Workload,
    exit_code, expected_in_words, find_written_profile, read_options, run_all, sample, verify_run, watch::Watched,
};
use iotbench_simulator::Format;
use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

/// Serves the figures of runs, and keeps where they were last seen to be.
#[derive(Debug)]
struct Watching {
    metrics: Metrics,
    seen: Arc<Mutex<Vec<String>>>,
}

/// Follows one run.
struct Following(Watched, Arc<Mutex<Vec<String>>>);

impl SessionObserver for Watching {
    fn event(&self, _: &Event<'_>) {}

    fn of_run(&self, plan: &Plan, _: &StopSignal) -> Result<Vec<Box<dyn Observer>>, SessionError> {
        let following = Following(Watched::new(plan), Arc::clone(&self.seen));
        Ok(vec![Box::new(self.metrics.observer(plan)), Box::new(following)])
    }
}

impl Observer for Following {
    fn event(&mut self, event: &iotbench_engine::Event<'_>) -> Result<(), String> {
        self.0.event(event);
        self.1.lock().unwrap().push(self.0.place().join(" · "));
        Ok(())
    }
}

fn workload() -> Workload<'static> {
    let options = ["--profile", "pmu_write", "--backend", "sqlite", "--vus", "5", "--duration", "1s", "--warmup", "0s"];
    read_options(&options.map(String::from), Path::new("unused")).unwrap().0
}

#[test]
fn a_run_is_watched_served_to_prometheus_reported_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (metrics, address) = Metrics::serve("127.0.0.1:0".parse().unwrap()).unwrap();
    let seen = Arc::default();
    let observer = Arc::new(Watching { metrics, seen: Arc::clone(&seen) });
    let options = SessionOptions { keep: true, observer, ..SessionOptions::new(folder.path().into()) };
    let jobs = workload().jobs().unwrap();
    let expected = expected_in_words(&jobs, 1, &options).unwrap();
    assert!(expected.len() == 1 && expected[0].starts_with("sqlite:wide: time: load at most 1s, "), "{expected:?}");
    let runs = run_all(&jobs, 1, None, &options, &StopSignal::default());
    runs.ended.unwrap();

    let seen = seen.lock().unwrap();
    for part in ["measure · ", " · 5 users · ", "verify · "] {
        assert!(seen.iter().any(|place| place.contains(part)), "{part}: {seen:?}");
    }
    let mut served = String::new();
    let mut reader = TcpStream::connect(address).unwrap();
    reader.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
    reader.read_to_string(&mut served).unwrap();
    let line = "iotbench_operations_total{profile=\"pmu_write\",backend=\"sqlite\",layout=\"wide\",outcome=\"ok\"} ";
    let acknowledged = served.lines().find_map(|text| text.strip_prefix(line)).unwrap();
    let points = &runs.done[0].runs[0].document.points;
    assert!(acknowledged.parse::<u64>().unwrap() > 0 && points.counts.acked > 0, "{served}");

    let run = &runs.done[0].runs[0].folder;
    let report = RunReport::read(&[run]).unwrap();
    assert!(report.csv().unwrap().lines().count() > 10);
    assert_eq!(report.json().unwrap()["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(recover_all(run).map(|_| ()).unwrap_err().exit_code(), 2, "it has ended");

    let verified = |scope| verify_run(scope, Vec::new(), &SessionOptions::new(run.clone()), &StopSignal::default());
    let found = verified(AuditScope::Full).unwrap();
    assert!(found.is_clean() && found.json()["counted"] == points.counts.acked, "{}", found.text(100));
    std::fs::remove_dir_all(run.join("database")).unwrap();
    assert_eq!(verified(AuditScope::Full).map(|_| ()).unwrap_err().exit_code(), exit_code::USAGE, "it is gone");
}

#[test]
fn what_a_run_left_is_found_and_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", folder.path().join("mine.db").display());
    let endpoints = vec![address.parse().unwrap()];
    let options = SessionOptions { keep: true, ..SessionOptions::new(folder.path().into()) };
    let jobs = Workload { endpoints: endpoints.clone(), ..workload() }.jobs().unwrap();
    run_all(&jobs, 1, None, &options, &StopSignal::default()).ended.unwrap();
    let target = DatabaseTarget { endpoints, ..DatabaseTarget::default() };
    let left = Leftovers::find(None, &target, true).unwrap();
    assert_eq!(left.owned().len(), 1);
    left.drop(&left.owned()[0]).unwrap();
    drop(left);
    assert!(Leftovers::find(None, &target, false).unwrap().owned().is_empty());
}

#[test]
fn rows_come_without_a_database() {
    let wanted = RowsWanted {
        dataset: "pmu".into(),
        parameters: Vec::new(),
        origin: "default".into(),
        from: None,
        length: Some(Duration::from_secs(1)),
        devices: 2,
        seed: 1,
        format: Format::Csv,
    };
    let rows = |wanted: &RowsWanted| {
        let mut rows = Vec::new();
        wanted.open().map(|write| write(&mut rows).unwrap()).map(|()| String::from_utf8(rows).unwrap())
    };
    assert_eq!(rows(&wanted).unwrap().lines().count(), 1 + 2 * 50);
    for wrong in [
        RowsWanted { dataset: "pnu".into(), ..wanted.clone() },
        RowsWanted { devices: 0, ..wanted.clone() },
        RowsWanted { from: Some("2000-01-01T00:00:00Z".into()), ..wanted.clone() },
        RowsWanted { parameters: vec!["noise".into()], ..wanted },
    ] {
        assert_eq!(rows(&wrong).unwrap_err().exit_code(), exit_code::USAGE, "{wrong:?}");
    }
}

#[test]
fn a_process_is_watched_until_who_looks_has_enough() {
    let (mut table, lines) = (SampleTable::csv(), Arc::new(Mutex::new(Vec::new())));
    let own = Target::ProcessTree { pid: std::process::id().cast_signed() };
    let kept = Arc::clone(&lines);
    let enough = move |observation: &_| {
        let mut lines = kept.lock().unwrap();
        lines.push(table.line(observation).text);
        lines.len() < 3
    };
    let report = sample(own, Duration::from_millis(10), None, &StopSignal::default(), enough).unwrap();
    assert!(lines.lock().unwrap().len() >= 3 && report.subjects.len() == 1);
    let nobody =
        sample(Target::ProcessTree { pid: i32::MAX }, Duration::from_secs(1), None, &StopSignal::default(), |_| true);
    assert_eq!(nobody.map(|_| ()).unwrap_err().exit_code(), exit_code::USAGE);
}

#[test]
fn a_plan_is_told_in_words() {
    let (written, word) = (find_written_profile("pmu_write").unwrap(), BackendWord::read("sqlite").unwrap());
    let job = Job::new(&written, word, &workload().overrides, &[], false).unwrap();
    let planned = job.plans("test", &iotbench_session::Place::nowhere()).next().unwrap().unwrap();
    let parts = iotbench_session::plan_in_words(&planned, 1);
    let of = |name: &str| parts.iter().find(|[part, _]| part == name).map(|[_, is]| is.as_str());
    assert!(of("data").is_some_and(|is| is.contains("50 signals") || is.contains("devices of")), "{parts:?}");
    assert!(of("phases").is_some_and(|is| is.contains("measure 1s")), "{parts:?}");
}
