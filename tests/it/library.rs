//! iotbench as another project's test would use it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench::{
    Benchmark, BenchmarkError, Closure, Level, NoQuantile, Status,
    core::{Batch, PromiseLevel, PromiseSource},
    engine::Reason,
};
use std::{
    convert::Infallible,
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
    let stored = outcome.stored.unwrap().points;
    assert_eq!((stored, taken.load(Ordering::Relaxed)), (outcome.points.acked, outcome.points.acked + 7));
}

#[test]
fn what_a_closure_promises_and_keeps_is_declared_by_nobody() {
    let outcome = users(5).on(Closure::new(|_: &Batch| Ok::<_, Infallible>(()))).run().unwrap();
    outcome.valid().unwrap();
    let promise = &outcome.facts.as_ref().unwrap().promise;
    assert_eq!((promise.level, promise.nodes), (PromiseLevel::Buffered, 0));
    assert!(matches!(&promise.source, PromiseSource::Declared(by) if by.starts_with("by nobody")), "{promise:?}");
    assert!(outcome.stored.is_none() && outcome.audit.is_none(), "nothing can be read back");
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

/// Units that write for a second.
fn users(users: u32) -> Benchmark {
    Benchmark::builtin("pmu_write").unwrap().set("warmup=0s").users(users).duration("1s")
}
