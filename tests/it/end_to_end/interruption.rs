//! Ctrl-C once and twice, and a kill.

use crate::end_to_end::program::{document, iotbench, only_folder, said};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::{
    fs,
    io::{BufRead, BufReader, Lines},
    path::{Path, PathBuf},
    process::{Child, ChildStderr},
    time::{Duration, Instant},
};

/// Longer than any test waits: a run that does not end by itself.
const ENDLESS: &str = "1h";

/// A run that has begun to measure: its series has rows.
fn measuring(out: &Path) -> Child {
    let arguments = ["run", "--output-format", "json", "-p", "pmu_write", "--vus", "20", "-d", ENDLESS];
    let child = iotbench(out, &arguments).spawn().unwrap();
    wait_for("the series to have rows", || {
        let folder = out.read_dir().ok().and_then(|mut d| d.next()).and_then(Result::ok);
        let series = folder.and_then(|f| fs::read_to_string(f.path().join("series.csv")).ok());
        series.is_some_and(|s| s.lines().count() > 2)
    });
    child
}

/// Looks until something has happened; the limit is only there to end a test that would hang.
pub fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn once_saves_and_says_aborted() {
    for (number, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let out = tempfile::tempdir().unwrap();
        let child = measuring(out.path());
        signal(&child, number);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        let document = document(&output);
        assert_eq!(document["verdict"]["status"], "aborted");
        assert_eq!(document["points"]["acked"], document["points"]["stored"]);
        assert!(document["load"]["ok"].as_u64().is_some_and(|n| n > 0), "{}", document["load"]);
        let (mean, greatest) = (
            &document["throughput"]["operations_per_s"],
            &document["throughput"]["windows"]["operations_per_s"]["max"],
        );
        assert!(
            mean.as_f64() <= greatest.as_f64(),
            "answers of the drain are not the measured part's: {mean} {greatest}"
        );
        assert!(only_folder(out.path()).join("manifest.json").exists());
    }
}

/// Before the load and after it, where there is something to save too.
#[test]
fn once_saves_in_every_phase() {
    let endless = ["--vus", "1000", "--set", "preload=100M"];
    let short = ["--vus", "2", "--warmup", "0s", "-d", "1s", "--set", "phases.drain=1s"];
    for (phase, arguments) in [("preload", &endless[..]), ("drain", &short), ("verify", &short)] {
        let out = tempfile::tempdir().unwrap();
        let (locked, results) = (Locked::new(out.path()), out.path().join("results"));
        let (child, mut lines) = begun(&results, &[arguments, &["--url", &locked.url]].concat());
        let held = match phase {
            "drain" => Some(locked.hold_writes(&mut lines)),
            "verify" => Some(locked.hold_reads(&mut lines)),
            _ => None,
        };
        read_until(&mut lines, phase);
        signal(&child, Signal::INT);
        lines.for_each(drop);
        let output = child.wait_with_output().unwrap();
        drop(held);
        let document = document(&output);
        assert_eq!((output.status.code(), &document["verdict"]["status"]), (Some(130), &"aborted".into()), "{phase}");
        assert!(only_folder(&results).join("manifest.json").exists(), "{phase}");
    }
}

#[test]
fn twice_ends_at_once() {
    let out = tempfile::tempdir().unwrap();
    let child = measuring(out.path());
    ends_at_once(out.path(), child);
}

/// A run and the lines of its standard error.
pub fn begun(out: &Path, arguments: &[&str]) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut child =
        iotbench(out, &[&["run", "--output-format", "json", "-p", "pmu_write"], arguments].concat()).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    (child, lines)
}

/// Reads until a run says that it has begun this phase.
pub fn read_until(lines: &mut Lines<BufReader<ChildStderr>>, phase: &str) {
    assert!(lines.map_while(Result::ok).any(|line| line.starts_with(phase)), "it ended before {phase}");
}

/// Ends a run by two signals, and looks at what it left.
fn ends_at_once(out: &Path, mut child: Child) {
    let mut code = None;
    wait_for("the end", || {
        // Signals of one kind that come together count once: whoever insists goes on.
        let _ = kill_process(Pid::from_child(&child), Signal::INT);
        code = child.try_wait().unwrap();
        code.is_some()
    });
    assert_eq!(code.and_then(|c| c.code()), Some(130));
    let text = fs::read_to_string(only_folder(out).join("run.json")).unwrap();
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "run.json is whole");
}

#[test]
fn twice_ends_at_once_while_data_is_written_before_the_load() {
    let out = tempfile::tempdir().unwrap();
    let (child, mut lines) = begun(out.path(), &["--vus", "1000", "--set", "preload=100M"]);
    read_until(&mut lines, "preload");
    ends_at_once(out.path(), child);
}

/// A file of which somebody else holds what a run needs to come to the end of a phase.
pub struct Locked {
    file: PathBuf,
    pub url: String,
}

impl Locked {
    pub fn new(folder: &Path) -> Self {
        let file = folder.join("locked.db");
        let url = format!("sqlite:{}", file.display());
        Self { file, url }
    }

    /// From when the run measures no operation is ever answered.
    pub fn hold_writes(&self, lines: &mut Lines<BufReader<ChildStderr>>) -> rusqlite::Connection {
        read_until(lines, "measure");
        self.hold()
    }

    /// From now on no operation is answered.
    pub fn hold(&self) -> rusqlite::Connection {
        let lock = rusqlite::Connection::open(&self.file).unwrap();
        lock.busy_timeout(Duration::from_secs(30)).unwrap();
        lock.execute_batch("BEGIN IMMEDIATE").unwrap();
        lock
    }

    /// Somebody reads from before the end, so that the write-ahead log cannot be emptied before the count.
    pub fn hold_reads(&self, lines: &mut Lines<BufReader<ChildStderr>>) -> rusqlite::Connection {
        read_until(lines, "measure");
        let reader = rusqlite::Connection::open(&self.file).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM iotbench_pmu_write", [], |row| row.get::<_, i64>(0)).unwrap();
        reader
    }
}

/// A run that waits for the database as long as it takes.
pub const PATIENT: [&str; 6] = ["--vus", "2", "--warmup", "0s", "--set", "backend.sqlite.busy_timeout_ms=600000"];

#[test]
fn twice_ends_at_once_while_answers_are_awaited() {
    let out = tempfile::tempdir().unwrap();
    let (locked, results) = (Locked::new(out.path()), out.path().join("results"));
    let (child, mut lines) = begun(&results, &[&PATIENT[..], &["-d", "2s", "--url", &locked.url]].concat());
    let _held = locked.hold_writes(&mut lines);
    read_until(&mut lines, "drain");
    ends_at_once(&results, child);
}

#[test]
fn twice_ends_at_once_while_what_is_stored_is_counted() {
    let out = tempfile::tempdir().unwrap();
    let (locked, results) = (Locked::new(out.path()), out.path().join("results"));
    let (child, mut lines) = begun(&results, &[&PATIENT[..], &["-d", "3s", "--url", &locked.url]].concat());
    let _held = locked.hold_reads(&mut lines);
    read_until(&mut lines, "verify");
    ends_at_once(&results, child);
}

#[test]
fn a_kill_leaves_what_was_known() {
    let out = tempfile::tempdir().unwrap();
    let mut child = measuring(out.path());
    child.kill().unwrap();
    child.wait().unwrap();
    let folder = only_folder(out.path());
    let text = fs::read_to_string(folder.join("run.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["verdict"]["status"], "running");
    let series = fs::read_to_string(folder.join("series.csv")).unwrap();
    let columns: Vec<_> = series.lines().map(|l| l.split(',').count()).collect();
    assert!(series.ends_with('\n') && columns.len() > 2 && columns.iter().all(|&n| n == columns[0]), "{series}");
}
