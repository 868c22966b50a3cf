//! The results folder: written as a run goes, whole at every moment.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

mod recovering;

use crate::outcomes;
use iotbench_core::Counter;
use iotbench_engine::{
    CountersSecond, Event, LedgerStore, Observer, OperationRecord, OthersSecond, Outcome, Phase, Plan, Second,
};
use iotbench_recorder::{Timing, Window};
use iotbench_report::{
    Document, FolderName, JOURNAL_FILE, LATENCY_FILE, LEDGER_FILE, MANIFEST_FILE, ManifestError, OPERATIONS_FILE,
    PROFILE_FILE, REPORT_FILE, RUN_FILE, ReportedRun, ResultsFolder, SERIES_FILE, Status, check_manifest,
    read_document, recover,
};
use iotbench_sampler::{DiskCounters, Observation, Reading, Sample};
use iotbench_session::{FolderObserver, begin_ledger, open_ledger};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::Duration,
};

fn observer(out: &Path) -> FolderObserver {
    observer_of(out, &outcomes::plan())
}

fn observer_of(out: &Path, plan: &Plan) -> FolderObserver {
    let name = FolderName::new(outcomes::started(), "pmu_write", "sqlite", "wide").unwrap();
    let folder = ResultsFolder::create(out, &name).unwrap();
    FolderObserver::new(folder, plan, outcomes::started(), outcomes::provenance()).unwrap()
}

fn second(window: &Window, readings: &[Reading], observer: &mut FolderObserver) -> Result<(), String> {
    second_beside(window, readings, None, observer)
}

fn second_beside(
    window: &Window,
    readings: &[Reading],
    others: Option<OthersSecond>,
    observer: &mut FolderObserver,
) -> Result<(), String> {
    observer.event(&Event::Second(Second {
        window,
        phase: Phase::WarmUp,
        users: 16,
        readings,
        others,
        counters: CountersSecond::default(),
    }))
}

fn reading(at_s: u64) -> Reading {
    let sample = Sample {
        at: Duration::from_secs(at_s),
        cpu_s: 0.5 * at_s as f64,
        processes: 1,
        rss_bytes: Some(1_000),
        disk: DiskCounters { read_bytes: Some(7), written_bytes: Some(10 * at_s * at_s), ..DiskCounters::default() },
        ..Sample::default()
    };
    Reading { role: "client".into(), node: 0, observation: Observation::Sampled(sample) }
}

/// A whole run, and where it was kept.
fn recorded(out: &Path, outcome: &Outcome, windows: &[Window]) -> PathBuf {
    let mut observer = observer(out);
    let path = observer.folder().path().to_owned();
    for (at_s, window) in (1..).zip(windows) {
        second(window, &[reading(at_s)], &mut observer).unwrap();
    }
    let (_, written) = observer.finish(outcome);
    written.unwrap();
    path
}

fn rows(folder: &Path) -> Vec<Vec<String>> {
    let mut csv = csv::ReaderBuilder::new().has_headers(false).from_path(folder.join(SERIES_FILE)).unwrap();
    csv.records().map(|r| r.unwrap().iter().map(Into::into).collect()).collect()
}

#[test]
fn each_second_is_in_the_files_as_soon_as_it_was_told() {
    let out = tempfile::tempdir().unwrap();
    let mut observer = observer(out.path());
    let folder = observer.folder().path().to_owned();
    let windows = outcomes::windows(20_000, 0, 0);
    for (told, window) in (1..).zip(&windows) {
        second(window, &[reading(told)], &mut observer).unwrap();
        let rows = rows(&folder);
        assert_eq!(rows.len() as u64, 1 + told, "a head, and a row for each second");
        let log = fs::read_to_string(folder.join(LATENCY_FILE)).unwrap();
        let tagged = |tag: &str| log.lines().filter(|l| l.starts_with(tag)).count() as u64;
        assert_eq!((tagged("Tag=response,"), tagged("Tag=service,")), (told, told));
    }
}

#[test]
fn a_row_has_counts_quantiles_and_what_each_role_used_since_the_row_before() {
    let out = tempfile::tempdir().unwrap();
    let folder = recorded(out.path(), &outcomes::fixed(20_000, 0, 0), &outcomes::windows(20_000, 0, 0));
    let rows = rows(&folder);
    let cell = |row: usize, column: &str| {
        let place = rows[0].iter().position(|c| c == column).unwrap();
        rows[row][place].as_str()
    };
    assert_eq!(
        (cell(1, "second"), cell(1, "seconds"), cell(1, "phase"), cell(1, "users")),
        ("0", "1", "warm_up", "16")
    );
    let offered: u64 = (1..rows.len()).map(|row| cell(row, "offered").parse::<u64>().unwrap()).sum();
    assert_eq!(offered, 20_000);
    assert_eq!(cell(2, "points_acked").parse::<u64>().unwrap() * 15, cell(2, "values_acked").parse::<u64>().unwrap());
    let [p50, p99, max] =
        ["response_p50_us", "response_p99_us", "response_max_us"].map(|c| cell(2, c).parse::<f64>().unwrap());
    assert!(300.0 < p50 && p50 < p99 && p99 <= max && max < 1_300.0);
    assert_eq!(cell(1, "client_cpu_pct"), "", "one sample has no rate");
    assert_eq!((cell(2, "client_cpu_pct"), cell(2, "client_disk_written_bytes")), ("50.0", "30"));
    assert_eq!((cell(2, "client_disk_read_bytes"), cell(2, "client_rss_bytes")), ("0", "1000"));
    assert_eq!(cell(2, "client_pss_bytes"), "", "unknown is not 0");
}

#[test]
fn what_the_server_counted_has_a_column_for_each_counter_that_is_read() {
    let out = tempfile::tempdir().unwrap();
    let mut observer = observer(out.path());
    let folder = observer.folder().path().to_owned();
    let read = [Counter::RowsWritten, Counter::WalBytes];
    let windows = outcomes::windows(20_000, 0, 0);
    for (window, growth) in windows.iter().zip([[Some(7), None], [None, None], [Some(9), Some(4_096)]]) {
        let counters = CountersSecond { read: &read, growth: &growth };
        let second = Second { window, phase: Phase::Measure, users: 1, readings: &[], others: None, counters };
        observer.event(&Event::Second(second)).unwrap();
    }
    let rows = rows(&folder);
    let ends: Vec<_> = rows.iter().map(|row| row[row.len() - 2..].join(",")).collect();
    assert_eq!(ends, ["server_count_rows_written,server_count_wal_bytes", "7,", ",", "9,4096"]);
}

#[test]
fn a_quantile_that_a_second_does_not_support_is_empty() {
    let out = tempfile::tempdir().unwrap();
    let folder = recorded(out.path(), &outcomes::fixed(40, 0, 0), &outcomes::windows(40, 0, 0));
    let rows = rows(&folder);
    let place = rows[0].iter().position(|c| c == "response_p99_us").unwrap();
    assert!(rows[1..].iter().all(|row| row[place].is_empty() && !row[place + 1].is_empty()));
}

#[test]
fn the_saved_log_merges_to_the_document_s_distribution() {
    let out = tempfile::tempdir().unwrap();
    let folder = recorded(out.path(), &outcomes::fixed(20_000, 0, 0), &outcomes::windows(20_000, 0, 0));
    let log = fs::read_to_string(folder.join(LATENCY_FILE)).unwrap();
    let mut merged = iotbench_recorder::LatencyHistogram::new();
    for line in log.lines().filter(|l| l.starts_with("Tag=response,")) {
        let encoded = line.rsplit(',').next().unwrap();
        let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, encoded).unwrap();
        merged.merge(&iotbench_recorder::LatencyHistogram::from_v2_deflate(&bytes).unwrap());
    }
    let document = read_document(&folder).unwrap();
    let response = document.latency.unwrap().by_operation.response;
    let p99_us = merged.quantile(iotbench_recorder::Level::P99).ns().unwrap() as f64 / 1e3;
    assert_eq!(merged.count(), 20_000);
    assert!((p99_us / response.p99.unwrap() - 1.0).abs() < 1e-3);
}

#[test]
fn a_checkpoint_replaces_the_document_and_leaves_nothing_else() {
    let out = tempfile::tempdir().unwrap();
    let mut observer = observer(out.path());
    let folder = observer.folder().path().to_owned();
    let mut outcome = outcomes::fixed(100, 0, 0);
    outcome.verdict = iotbench_engine::Verdict::running();
    outcome.load.pending = 9; // under way
    observer.event(&Event::Checkpoint(&outcome)).unwrap();
    assert_eq!(read_document(&folder).unwrap().verdict.status, Status::Running);
    let (document, written) = observer.finish(&outcomes::fixed(200, 0, 0));
    written.unwrap();
    assert_eq!(document.verdict.status, Status::Valid);
    assert_eq!(read_document(&folder.join(RUN_FILE)).unwrap(), document);
    let mut names: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, [JOURNAL_FILE, LATENCY_FILE, MANIFEST_FILE, PROFILE_FILE, REPORT_FILE, RUN_FILE, SERIES_FILE]);
}

#[test]
fn the_last_good_document_stays_when_a_new_one_cannot_be_written() {
    let out = tempfile::tempdir().unwrap();
    let mut observer = observer(out.path());
    let folder = observer.folder().path().to_owned();
    observer.event(&Event::Checkpoint(&outcomes::fixed(100, 0, 0))).unwrap();
    // The folder away from its place: even the superuser cannot write the file.
    let away = out.path().join("away");
    fs::rename(&folder, &away).unwrap();
    let error = observer.event(&Event::Checkpoint(&outcomes::fixed(200, 0, 0))).unwrap_err();
    assert!(error.contains("run.json"), "{error}");
    assert_eq!(read_document(&away).unwrap().load.counts.ok, 100);
    let (document, written) = observer.finish(&outcomes::fixed(300, 0, 0));
    assert_eq!(written.unwrap_err().exit_code(), 30);
    assert_eq!(document.load.counts.ok, 300, "what was measured is given back all the same");
}

#[test]
fn the_ledger_grows_in_the_folder_and_is_read_from_there() {
    let out = tempfile::tempdir().unwrap();
    let name = FolderName::new(outcomes::started(), "pmu_write", "sqlite", "wide").unwrap();
    let folder = ResultsFolder::create(out.path(), &name).unwrap();
    assert_eq!(open_ledger(folder.path()).unwrap_err().exit_code(), 2, "there is none yet");
    let ledger = begin_ledger(&folder).unwrap();
    ledger.append(b"IOTB").unwrap();
    let read = |ledger: &dyn LedgerStore| {
        let mut bytes = Vec::new();
        ledger.read().unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    };
    assert_eq!(read(&*ledger), b"IOTB");
    ledger.append(b"LDGR, but no more than that").unwrap();
    assert_eq!(fs::read(folder.path().join(LEDGER_FILE)).unwrap(), read(&*ledger));
    let refused = open_ledger(folder.path()).unwrap().summary().unwrap_err();
    assert!(refused.to_string().contains("version"), "{refused}");
}

/// A device never ends, and a pipe never begins.
#[test]
fn what_is_no_regular_file_in_a_folder_is_not_read() {
    let out = tempfile::tempdir().unwrap();
    let folder = recorded(out.path(), &outcomes::fixed(100, 0, 0), &[]);
    let instead = |name: &str| {
        let _ = fs::remove_file(folder.join(name));
        symlink("/dev/null", folder.join(name)).unwrap();
    };
    let is_refused = |why: &str| why.contains("not a regular file");
    [SERIES_FILE, LATENCY_FILE].into_iter().for_each(instead);
    let runs = ReportedRun::read(&folder).unwrap();
    assert!(runs[0].missing.len() == 2 && runs[0].missing.iter().all(|why| is_refused(why)), "{:?}", runs[0].missing);
    [MANIFEST_FILE, LEDGER_FILE, RUN_FILE].into_iter().for_each(instead);
    assert!(is_refused(&check_manifest(&folder).unwrap_err().to_string()));
    assert!(is_refused(&open_ledger(&folder).unwrap_err().to_string()));
    assert!(is_refused(&read_document(&folder).unwrap_err().to_string()));
    assert!(is_refused(&recover(&folder).unwrap_err().to_string()));
}

#[test]
fn the_profile_as_meant_reads_back() {
    let out = tempfile::tempdir().unwrap();
    let folder = recorded(out.path(), &outcomes::fixed(1, 0, 0), &[]);
    let profile = iotbench_engine::read_profile(&folder.join(PROFILE_FILE)).unwrap();
    assert_eq!(profile, outcomes::plan().profile);
}

#[test]
fn a_trace_has_a_line_an_operation() {
    let out = tempfile::tempdir().unwrap();
    let mut observer = observer(out.path());
    let timing = Timing::new(1, 2, 4).unwrap();
    let record = OperationRecord { group: 0, operation: 1, user: 3, timing, outcome: "ok", points: 50 };
    observer.event(&Event::Operations(&[record, record])).unwrap();
    observer.event(&Event::Operations(&[record])).unwrap();
    let text = fs::read_to_string(observer.folder().path().join(OPERATIONS_FILE)).unwrap();
    let line =
        r#"{"group":0,"operation":1,"user":3,"intended_ns":1,"sent_ns":2,"replied_ns":4,"outcome":"ok","points":50}"#;
    assert_eq!(text.lines().collect::<Vec<_>>(), vec![line; 3]);
}

#[test]
fn a_changed_a_missing_and_an_added_file_show() {
    let out = tempfile::tempdir().unwrap();
    let folder = recorded(out.path(), &outcomes::fixed(100, 0, 0), &[]);
    assert_eq!(check_manifest(&folder).unwrap(), []);
    let text = fs::read_to_string(folder.join(RUN_FILE)).unwrap();
    fs::write(folder.join(RUN_FILE), text.replacen("\"ok\": 100", "\"ok\": 101", 1)).unwrap();
    fs::remove_file(folder.join(SERIES_FILE)).unwrap();
    fs::write(folder.join("extra"), "").unwrap();
    fs::write(folder.join(REPORT_FILE), "").unwrap();
    assert_eq!(
        check_manifest(&folder).unwrap(),
        [
            ManifestError::Changed(REPORT_FILE.into()),
            ManifestError::Changed(RUN_FILE.into()),
            ManifestError::Missing(SERIES_FILE.into()),
            ManifestError::Added("extra".into())
        ]
    );
    let document: Document = read_document(&folder).unwrap();
    assert!(document.check().is_err(), "the counts do not balance either");
}
