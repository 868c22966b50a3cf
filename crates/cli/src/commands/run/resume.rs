//! `--resume`: a search that was interrupted, as a job that goes on with it, or sittings.

use super::{RunArguments, baseline, run_jobs, sessions};
use crate::{
    diagnostics::Source,
    error::CliError,
    job::{BackendWord, Job, Place},
    profiles::WrittenProfile,
};
use iotbench_backends::BACKENDS;
use iotbench_core::{Endpoint, Registry};
use iotbench_engine::{Bytes, Overrides, Plan, RampPolicy};
use iotbench_report::{SavedSearch, SavedSearchError, SearchHead, TrialRecord, read_search};
use serde_json::{Map, Value};
use std::path::Path;

/// A search that another process began.
#[derive(Clone, Debug)]
pub(super) struct Resumed {
    /// The name of its run.
    pub(super) of: String,
    /// The trials that it made.
    pub(super) trials: Vec<TrialRecord>,
}

impl From<SavedSearchError> for CliError {
    fn from(error: SavedSearchError) -> Self {
        match error {
            SavedSearchError::Folder(error) => error.into(),
            error => Self::usage(error),
        }
    }
}

/// Goes on with the sittings in a folder, there; or with the search in a results folder, in a folder of its own.
pub(super) fn resume(folder: &Path, arguments: &RunArguments) -> Result<u8, CliError> {
    baseline::check(arguments)?;
    if let Some(ended) = sessions::goes_on(folder, arguments) {
        return ended;
    }
    let SavedSearch { head, trials } = read_search(folder)?;
    let job = job_of(&head, arguments.endpoints()?, arguments.insecure)?;
    if job.is_sweep() {
        return Err(CliError::usage("the search is one of a sweep: run the sweep anew"));
    }
    for planned in job.plans(&head.plan.run_id, &Place::nowhere()) {
        check(&head.plan, &planned?.plan, &trials)?;
    }
    let resumed = Resumed { of: head.plan.run_id, trials };
    run_jobs(&[job], &arguments.resuming(resumed, Bytes(head.server_memory_bytes)))
}

/// The job that was begun, on the database that it had; `given`: as the user names it again.
pub(super) fn job_of(head: &SearchHead, given: Vec<Endpoint>, insecure: bool) -> Result<Job, CliError> {
    let backend = Registry::new(BACKENDS).find(&head.plan.backend).map_err(CliError::usage)?;
    let endpoints = crate::addresses::admitted(addresses(&head.endpoints, given)?);
    let source = Source { file: "the profile that was begun".into(), text: String::new() };
    let written = WrittenProfile { profile: head.plan.profile.clone(), source, base: head.base.clone() };
    // The profile has the layout too, as it was asked for.
    let word = BackendWord { backend, layout: None };
    Job::new(&written, word, &Overrides::default(), &endpoints, insecure)
}

/// Checks that the search is the one that was begun, and that these trials are its first.
fn check(begun: &Plan, now: &Plan, trials: &[TrialRecord]) -> Result<(), CliError> {
    if let Some(place) = difference(begun, now) {
        let what = format!("this iotbench plans it otherwise than the one that began it ({place}): begin it anew");
        return Err(CliError::usage(what));
    }
    let made = trials.iter().map(|trial| (trial.figures.step, trial.figures.report()));
    let after = now.ramp.as_ref().map(|ramp| RampPolicy::after(ramp, made)).transpose();
    after
        .map(drop)
        .map_err(|e| CliError::usage(format!("its trials are not those of this search ({e}): begin it anew")))
}

/// Where the database is: as the user says again, else as it was written, which is without secrets.
fn addresses(written: &[String], given: Vec<Endpoint>) -> Result<Vec<Endpoint>, CliError> {
    match (written, given.as_slice()) {
        ([], []) => Ok(given),
        ([], _) => Err(CliError::usage("the search has a database of its own: leave out --url")),
        (_, []) => crate::addresses::endpoints(written).map_err(|_| {
            CliError::usage(format!("say where the search's database is with --url: {}", written.join(", ")))
        }),
        _ if given.iter().map(ToString::to_string).eq(written.iter().cloned()) => Ok(given),
        _ => Err(CliError::usage(format!("--url names another database than the search has: {}", written.join(", ")))),
    }
}

/// Where two plans of one run differ, as a key; what belongs to a single run is left out.
pub(super) fn difference(one: &Plan, other: &Plan) -> Option<String> {
    let value = |plan: &Plan| {
        let mut value = serde_json::to_value(plan).unwrap_or_default();
        for key in ["remarks", "run_id"] {
            value.as_object_mut()?.remove(key);
        }
        value.pointer_mut("/table")?.as_object_mut()?.remove("marker");
        Some(value)
    };
    different(&value(one)?, &value(other)?, "plan".into())
}

fn different(one: &Value, other: &Value, place: String) -> Option<String> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            let of = |map: &Map<String, Value>, key| map.get(key).cloned().unwrap_or_default();
            keys.find_map(|key| different(&of(a, key), &of(b, key), format!("{place}.{key}")))
        }
        _ => (one != other).then_some(place),
    }
}
