//! iotbench as another project's test would use it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::server::place::is_here;
use iotbench::{
    Benchmark, BenchmarkError, BenchmarkSuite, Closure, CompareOptions, Level, NoQuantile, Progress, Status,
    StopSignal,
    core::{Batch, PromiseLevel, PromiseSource},
    engine::Reason,
};
use iotbench_report::{Document, check_manifest, read_document, read_suite};
use std::{
    convert::Infallible,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

#[test]
fn a_test_can_assert_on_verdict_throughput_and_quantiles() {
    let outcome = users(30).backend("sqlite:wide").run().unwrap();
    let measured = outcome.valid().unwrap();
    assert!(measured.points_per_s() > 0.0 && measured.values_per_s() == 15.0 * measured.points_per_s());
    assert!(measured.response(Level::P50).unwrap() < Duration::from_secs(60));
    assert!(matches!(measured.response(Level::P999), Err(NoQuantile::TooFew { needed: 10_000, .. })));
}

#[test]
fn what_cannot_be_run_is_said_before_anything_is_touched() {
    let unknown = Benchmark::builtin("pmu_wirte").err().unwrap();
    assert!(unknown.to_string().contains("did you mean pmu_write?"), "{unknown}");
    let error = Benchmark::builtin("pmu_write").unwrap().backend("sqlite:wyde").run().err().unwrap();
    assert!(matches!(error, BenchmarkError::UnknownLayout(_)), "{error}");
    let error = Benchmark::builtin("pmu_write").unwrap().set("stepp=5s").run().err().unwrap();
    assert!(error.to_string().contains("did you mean `step`?"), "{error}");
}

#[test]
fn a_closure_is_driven_by_the_engine_and_every_datapoint_counted() {
    let taken = Arc::new(AtomicU64::new(7));
    let (writes, counts) = (Arc::clone(&taken), Arc::clone(&taken));
    let closure = Closure::new(move |batch: &Batch| {
        writes.fetch_add(batch.len() as u64, Ordering::Relaxed);
        Ok::<_, Infallible>(())
    });
    let closure = closure.counting(move || Ok::<_, Infallible>(counts.load(Ordering::Relaxed)));
    let outcome = users(30).on(closure).run().unwrap();
    let measured = outcome.valid().unwrap();
    assert!(measured.points_per_s() > 0.0 && measured.not_acknowledged() == 0);
    assert!(measured.response(Level::P50).unwrap() < Duration::from_secs(60));
    let stored = outcome.stored.counts.unwrap().points;
    assert_eq!((stored, taken.load(Ordering::Relaxed)), (outcome.points.acked, outcome.points.acked + 7));
}

#[test]
fn what_a_closure_promises_and_keeps_is_declared_by_nobody() {
    let outcome = users(5).on(Closure::new(|_: &Batch| Ok::<_, Infallible>(()))).run().unwrap();
    outcome.valid().unwrap();
    let promise = &outcome.target.facts.as_ref().unwrap().promise;
    assert_eq!((promise.level, promise.nodes), (PromiseLevel::Buffered, 0));
    assert!(matches!(&promise.source, PromiseSource::Declared(by) if by.starts_with("by nobody")), "{promise:?}");
    assert!(outcome.stored.counts.is_none() && outcome.stored.audit.is_none(), "nothing can be read back");
}

#[test]
fn a_closure_that_loses_datapoints_is_found_out() {
    let taken = Arc::new(AtomicU64::new(0));
    let (writes, counts) = (Arc::clone(&taken), Arc::clone(&taken));
    let closure = Closure::new(move |batch: &Batch| {
        writes.fetch_add(batch.len() as u64 - 1, Ordering::Relaxed);
        Ok::<_, Infallible>(())
    });
    let closure = closure.counting(move || Ok::<_, Infallible>(counts.load(Ordering::Relaxed)));
    let outcome = users(5).on(closure).run().unwrap();
    let error = outcome.valid().unwrap_err();
    assert!(matches!(error.reasons[..], [Reason::Stored { .. }]), "{error}");
    assert!(error.to_string().starts_with("the run is invalid: "), "{error}");
}

#[test]
fn an_error_of_a_closure_has_no_verdict_and_a_panic_ends_the_run() {
    let outcome = users(5).on(Closure::new(|_: &Batch| Err("no room"))).run().unwrap();
    assert!(outcome.valid().unwrap_err().reasons.contains(&Reason::NothingMeasured), "{:?}", outcome.verdict);
    assert!(outcome.load.unknown > 0 && outcome.load.fail == 0, "{:?}", outcome.load);
    let outcome = users(5).on(Closure::new(|_: &Batch| -> Result<(), String> { panic!("off by one") })).run().unwrap();
    assert_eq!(outcome.verdict.status, Status::Failed, "{:?}", outcome.verdict);
    assert!(outcome.valid().unwrap_err().to_string().contains("the closure panicked: off by one"));
}

#[test]
fn a_closure_cannot_be_asked() {
    let reads = Benchmark::builtin("pmu_read_single").unwrap().set("devices=2").users(2).duration("1s");
    let outcome = reads.on(Closure::new(|_: &Batch| Ok::<_, Infallible>(()))).run().unwrap();
    assert!(outcome.valid().unwrap_err().to_string().contains("a closure only writes"), "{:?}", outcome.verdict);
}

#[test]
fn a_results_folder_is_the_one_that_the_command_makes() {
    let (ours, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let runs = users(5).backend("sqlite:wide").results(ours.path()).run_all().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    command.args(["run", "-p", "pmu_write", "-b", "sqlite:wide", "--vus", "5", "-d", "1s", "--set", "warmup=0s"]);
    command.args(["--output-format", "quiet", "--out"]).arg(theirs.path()).output().unwrap();
    let of_command = theirs.path().read_dir().unwrap().next().unwrap().unwrap().path();
    let (one, other) = (read_document(&runs.runs[0].folder).unwrap(), read_document(&of_command).unwrap());
    assert_eq!(runs.runs[0].document.run_id, one.run_id);
    assert_eq!(keys(&one), keys(&other), "the same blocks with the same keys");
    assert_eq!(files(&runs.runs[0].folder), files(&of_command));
    check_manifest(&runs.runs[0].folder).unwrap();
    assert_eq!(other.points.counts.acked > 0, runs.runs[0].outcome.points.acked > 0);
}

/// The keys of a document, of all blocks that do not depend on what the machine did meanwhile.
fn keys(document: &Document) -> Vec<String> {
    let value: serde_json::Value = serde_json::from_str(&document.to_json().unwrap()).unwrap();
    value.as_object().unwrap().keys().cloned().collect()
}

fn files(folder: &Path) -> Vec<String> {
    let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    names
}

#[test]
fn new_runs_are_held_against_those_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let runs = || users(3).on(Closure::new(|_: &Batch| Ok::<_, Infallible>(()))).repetitions(2);
    let base = runs().results(folder.path()).run_all().unwrap();
    assert_eq!((base.runs.len(), base.comparisons.len(), base.is_regression()), (2, 0, false));
    assert!(base.repetitions.is_some());
    let how = CompareOptions { threshold: 0.5, ..CompareOptions::default() };
    let now = runs().baseline(folder.path(), how.clone()).run_all();
    match now {
        // Comparing asks for valid runs: what disturbed one is the machine's.
        Ok(now) => assert_eq!(now.comparisons.len(), usize::from(now.valid().is_ok())),
        Err(error) => assert!(base.valid().is_err(), "{error}"),
    }
    let other = users(3).backend("sqlite").baseline(folder.path(), how).run_all().err().unwrap().to_string();
    assert!(other.contains("has no run of pmu_write on sqlite:wide"), "{other}");
}

#[test]
fn a_search_finds_a_capacity_and_tells_its_steps() {
    let search = Benchmark::builtin("pmu_write").unwrap().set("warmup=0s").criterion("p99<500ms");
    let (search, progress) = search.trial("2s").trials(0).most(8).progress();
    let capacity = search.run().unwrap().capacity.unwrap();
    let told: Vec<_> = std::iter::from_fn(|| progress.recv_blocking().ok()).collect();
    let steps = told.iter().filter(|told| matches!(told, Progress::Step(_))).count();
    assert!(steps >= capacity.steps.len() && !capacity.steps.is_empty(), "{steps} of {}", capacity.steps.len());
    assert!(told.iter().any(|told| matches!(told, Progress::Second { operations, .. } if *operations > 0)));
    assert!(matches!(told.last(), Some(Progress::RunEnded { .. })), "{:?}", told.last());
}

#[test]
fn several_runs_have_no_one_outcome() {
    let error = users(2).repetitions(2).run().err().unwrap();
    assert!(matches!(error, BenchmarkError::Several(2)), "{error}");
    let stop = StopSignal::default();
    stop.request(2);
    let error = users(2).stop_signal(stop).run().err().unwrap();
    assert!(matches!(error, BenchmarkError::Stopped), "{error}");
}

#[tokio::test]
async fn a_run_is_awaited_beside_other_work_and_one_that_is_dropped_ends() {
    let outcome = users(5).on(Closure::new(|_: &Batch| Ok::<_, Infallible>(()))).run_async();
    let (outcome, other) = tokio::join!(outcome, async { 7 });
    assert!(outcome.unwrap().points.acked > 0 && other == 7);

    let (benchmark, progress) = users(5).on(Closure::new(|_: &Batch| Ok::<_, Infallible>(()))).progress();
    let running = benchmark.duration("1h").run_async();
    while !matches!(progress.recv().await.unwrap(), Progress::Second { .. }) {}
    drop(running);
    let mut last = None;
    while let Ok(told) = progress.recv().await {
        last = Some(told);
    }
    assert!(matches!(last, Some(Progress::RunEnded { status: Status::Aborted, .. })), "{last:?}");
}

#[tokio::test]
async fn a_private_server_is_started_searched_and_removed() {
    if !is_here("postgres") {
        return;
    }
    let results = tempfile::tempdir().unwrap();
    let search = Benchmark::builtin("pmu_write").unwrap().backend("postgres:wide").set("warmup=0s");
    let search = search.criterion("p99<500ms").trial("2s").trials(0).most(4).results(results.path());
    let (search, progress) = search.program(env!("CARGO_BIN_EXE_iotbench")).progress();
    let outcome = search.run_async().await.unwrap();
    assert!(outcome.capacity.is_some(), "{:?}", outcome.verdict);
    assert!(matches!(progress.recv().await, Ok(Progress::Starting { server }) if server == "postgres"));
    let document = read_document(&results.path().read_dir().unwrap().next().unwrap().unwrap().path()).unwrap();
    assert!(document.target.managed && document.verdict.status != iotbench_report::Status::Failed, "{document:?}");
    let port = outcome.target.endpoints[0].parse::<url::Url>().unwrap().port().unwrap();
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "the server is stopped");
}

#[test]
fn a_suite_leaves_its_folder_with_all_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.toml");
    let cell = "[[cells]]\nprofile = \"pmu_write\"\nbackends = [\"blackhole\", \"sqlite:bulk\"]\n\
                options = [\"--vus\", \"2\", \"--duration\", \"1s\"]\nset = [\"warmup=0s\"]\n";
    std::fs::write(&file, format!("name = \"two\"\nsummary = \"two\"\n{cell}")).unwrap();
    let suite = BenchmarkSuite::from_file(&file).unwrap().results(folder.path().join("results")).run().unwrap();
    assert_eq!((suite.record.waiting(), suite.documents.len()), (0, 2), "{:?}", suite.record);
    let (_, _, kept) = read_suite(&suite.folder).unwrap();
    assert!(kept == suite.record && suite.folder.join("report.html").is_file(), "{kept:?}");
}

/// Units that write for a second.
fn users(users: u32) -> Benchmark {
    Benchmark::builtin("pmu_write").unwrap().set("warmup=0s").users(users).duration("1s")
}
