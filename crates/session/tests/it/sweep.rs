//! The table of a sweep, and the studies whose figures are over sizes.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes;
use iotbench_report::{
    Document, FolderName, ResultsFolder, Status, SweepRow, SweepTable, read_documents, render_sweep,
};
use iotbench_session::{FolderObserver, document_of};
use std::time::{Duration, SystemTime};

/// A run with this value whose transactions have a busy time of 3 ms.
fn run(value: u64) -> Document {
    let mut outcome = outcomes::transactions();
    outcome.plan.sweep = Some(outcomes::swept(value));
    outcome.plan.groups[0].operation.requests = u32::try_from(value).unwrap();
    outcome.empty_transaction_ns = Some(100_000.0);
    document_of(&outcome, &outcomes::provenance())
}

#[test]
fn a_sweep() {
    insta::assert_snapshot!(render_sweep(&[run(10), run(2), run(100), run(4)], 100));
}

#[test]
fn the_table_of_a_sweep_is_a_file() {
    let out = tempfile::tempdir().unwrap();
    let name = FolderName::new(SystemTime::UNIX_EPOCH, "weather_insert", "sqlite", "document").unwrap();
    let folder = ResultsFolder::create(out.path(), &name).unwrap();
    let table = SweepTable::new(&[run(10), run(2), run(100), run(4)]).unwrap();
    folder.write_sweep(&table).unwrap();
    let text = std::fs::read_to_string(folder.path().join("sweep.json")).unwrap();
    assert_eq!(serde_json::from_str::<SweepTable>(&text).unwrap(), table);
    let of_row = |row: &SweepRow| (row.value, row.mean_us.map(f64::round), row.queries_per_s.map(f64::round));
    let times: Vec<_> = table.rows.iter().map(of_row).collect();
    let expected = [(2, 667.0), (4, 1333.0), (10, 3333.0), (100, 33_333.0)];
    assert_eq!(times, expected.map(|(value, queries)| (value, Some(3000.0), Some(queries))));
    let jitter: Vec<_> = table.jitter.iter().map(|class| (class.from, class.to, class.pairs)).collect();
    assert_eq!(jitter, [(2, 10, 2), (10, 100, 1)]);
    assert!(SweepTable::new(&[]).is_none());
}

#[test]
fn a_run_that_is_not_valid_is_named() {
    let mut bad = run(4);
    bad.verdict.status = Status::Invalid;
    bad.verdict.reasons = vec!["the client was the limit".into()];
    let text = render_sweep(&[run(2), bad], 80);
    assert!(text.starts_with("NOT ALL VALID") && text.contains("- 4: invalid: the client was the limit"), "{text}");
}

#[test]
fn without_transactions_the_jitter_says_so() {
    let mut single = run(2);
    single.empty_transaction_us = None;
    single.latency = None;
    let text = render_sweep(&[single], 100);
    assert!(text.contains("without the time of an empty transaction") && text.contains('–'), "{text}");
    assert!(render_sweep(&[], 100).contains("No run"));
}

#[test]
fn the_runs_of_a_folder_are_read_one_by_one_or_together() {
    let out = tempfile::tempdir().unwrap();
    let started = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_607_200);
    let name = |layout: &str| FolderName::new(started, "weather_insert", "sqlite", layout).unwrap();
    let sweep = ResultsFolder::create(out.path(), &name("document")).unwrap().path().to_owned();
    for value in [2, 4] {
        let folder = ResultsFolder::create(&sweep, &name(&format!("document-{value}"))).unwrap();
        let mut outcome = outcomes::fixed(10, 0, 0);
        outcome.plan.sweep = Some(outcomes::swept(value));
        let observer = FolderObserver::new(folder, &outcome.plan, started, outcomes::provenance()).unwrap();
        observer.finish(&outcome).1.unwrap();
    }
    let mut values: Vec<_> = read_documents(&sweep).unwrap().iter().map(|d| d.sweep.as_ref().unwrap().value).collect();
    values.sort_unstable();
    assert_eq!(values, [2, 4]);
    let one = std::fs::read_dir(&sweep).unwrap().next().unwrap().unwrap().path();
    assert_eq!(read_documents(&one).unwrap().len(), 1);
    let error = read_documents(out.path()).unwrap_err();
    assert!(error.to_string().contains("run.json"), "{error}");
}
