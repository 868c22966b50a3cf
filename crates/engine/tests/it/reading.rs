//! Runs that read, each answer held against the truth.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cycles;
mod kinds;
mod mixes;
mod second_sends;
mod tampered;
mod together;
mod wrong;

use iotbench_backends::BACKENDS;
use iotbench_core::{Backend, Registry, Target};
use iotbench_engine::{
    Outcome, Overrides, PlanError, PlanRequest, Planned, Reason, RunOptions, StopSignal, VerifyMode, parse_profile,
    plan, run,
};
use std::path::Path;

/// A workload over a history; `operations` of the group `group`.
pub fn profile(dataset: &str, devices: u32, preload: u32, group: &str, operations: &str) -> String {
    format!(
        "name = \"reading\"\nsummary = \"test\"\ndevices = {devices}\n[dataset]\n{dataset}\n[[groups]]\nname = \"g\"\n\
         {group}\noperations = [{operations}]\n[phases]\npreload = {preload}\nduration = \"1s\"\ndeadline = \"20s\"\n"
    )
}

/// A closed loop that ends after so many operations.
pub const CLOSED: &str = "load = { model = \"closed\", users = 2 }";

/// A built-in backend.
pub fn backend(name: &str) -> &'static dyn Backend {
    Registry::new(BACKENDS).find(name).unwrap()
}

/// Plans without running.
pub fn try_plan(text: &str, set: &[&str], backend: &dyn Backend, folder: &Path) -> Result<Planned, PlanError> {
    let set = set.iter().map(ToString::to_string).collect();
    let profile = parse_profile("test.toml", text).unwrap();
    let profile = profile.with(&Overrides { set, ..Overrides::default() }).unwrap();
    let target = Target { folder: Some(folder.to_owned()), ..Target::default() };
    let request = PlanRequest {
        profile,
        profile_file: "test.toml".into(),
        base: folder,
        run_id: "test".into(),
        target,
        now_ns: 0,
    };
    plan(request, backend)
}

/// Nothing is against the result, but that a busy machine may send late.
pub fn assert_believed(outcome: &Outcome, what: &str) {
    let reasons = &outcome.verdict.reasons;
    assert!(reasons.iter().all(|r| matches!(r, Reason::ClientLimited(_))), "{what}: {reasons:?}");
}

/// Runs it with every answer compared.
pub fn run_on(backend: &'static dyn Backend, text: &str, set: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    // However long a busy machine takes for so many operations.
    let is_counted = set.iter().any(|assignment| assignment.starts_with("operations="));
    let set: Vec<&str> = set.iter().copied().chain(is_counted.then_some("duration=10m")).collect();
    let planned = try_plan(text, &set, backend, folder.path()).unwrap();
    let options = RunOptions { verify: VerifyMode::Full, ..RunOptions::default() };
    let outcome = run(planned, backend, options, &mut (), &StopSignal::default());
    assert_eq!(outcome.load.check(), Ok(()));
    assert_eq!(outcome.points.check(), Ok(()));
    outcome
}
