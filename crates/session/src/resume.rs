//! What was interrupted, as jobs that go on with it: a search, or sittings.

use crate::{
    begun::{check_same, job_of},
    error::SessionError,
    job::{Job, Place},
    options::{Resumed, SessionOptions},
    sittings::{self, SittingsWanted},
    trials::{SavedSearch, TrialRecord, read_search},
};
use iotbench_core::Endpoint;
use iotbench_engine::{Plan, RampPolicy};
use std::path::Path;

/// What goes on.
pub struct GoesOn {
    /// What was begun.
    pub jobs: Vec<Job<'static>>,
    /// How it goes on.
    pub options: SessionOptions,
    /// The sittings, if it is such; else it is a search.
    pub sittings: Option<SittingsWanted>,
}

/// The sittings in a folder, to go on there; or the search in a results folder, to go on in a folder of its own. `given`: where the
/// database is, as the user names it again.
///
/// # Errors
/// There is nothing to go on with, or this program plans it otherwise.
pub fn resume(folder: &Path, given: Vec<Endpoint>, options: &SessionOptions) -> Result<GoesOn, SessionError> {
    if sittings::are_in(folder) {
        let (jobs, sittings, server_memory_bytes) = sittings::begun_in(folder, &given, options)?;
        let options = SessionOptions { server_memory_bytes, ..options.clone() };
        return Ok(GoesOn { jobs, options, sittings: Some(sittings) });
    }
    let SavedSearch { head, trials } = read_search(folder)?;
    let job = job_of(&head, given, options.insecure)?;
    if job.is_sweep() {
        return Err(SessionError::usage("the search is one of a sweep: run the sweep anew"));
    }
    for planned in job.plans(&head.plan.run_id, &Place::nowhere()) {
        check(&head.plan, &planned?.plan, &trials)?;
    }
    let resumed = Resumed { of: head.plan.run_id, trials };
    let options = SessionOptions { server_memory_bytes: head.server_memory_bytes, ..options.going_on(Some(resumed)) };
    Ok(GoesOn { jobs: vec![job], options, sittings: None })
}

/// Checks that the search is the one that was begun, and that these trials are its first.
fn check(begun: &Plan, now: &Plan, trials: &[TrialRecord]) -> Result<(), SessionError> {
    check_same(begun, now)?;
    let made = trials.iter().map(|trial| (trial.figures.step, trial.figures.report()));
    let after = now.ramp.as_ref().map(|ramp| RampPolicy::after(ramp, made)).transpose();
    after
        .map(drop)
        .map_err(|e| SessionError::usage(format!("its trials are not those of this search ({e}): begin it anew")))
}
