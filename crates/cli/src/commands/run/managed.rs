//! The private server of a run: started before it, stopped after it.

use super::options::{OutputFormat, RunArguments};
use crate::{commands::kept, console, error::CliError, job::Job};
use iotbench_engine::{Outcome, Reason, StopSignal, Verdict};
use iotbench_launcher::{Ended, Launch, PrivateServer, StartError, start};
use std::path::Path;

/// The log of the run's server, in its results folder.
const LOG: &str = "server.log";

/// Starts the server that a job needs, if it needs one. When it dies, `stop` is told.
pub(super) fn start_server(
    job: &Job,
    arguments: &RunArguments,
    results: &Path,
    stop: &StopSignal,
) -> Result<Option<PrivateServer>, CliError> {
    let Some(wanted) = &job.server else { return Ok(None) };
    let name = job.backend.name();
    if arguments.output_format != OutputFormat::Quiet {
        console::say(&format!("starting {name} …"));
    }
    let launch = Launch::new(name, wanted.recipe, results.join(LOG))
        .memory_bytes(arguments.server_memory.0)
        .settings(wanted.settings.clone());
    let server = start(&launch, &|| stop.ends()).map_err(|error| match (&error, stop.requested()) {
        (StartError::Cancelled, Some(signal)) => {
            CliError::with_code(u8::try_from(128 + signal).unwrap_or(130), format!("{error}: interrupted"))
        }
        _ => error.into(),
    })?;
    let watcher = stop.clone();
    server.on_end(move |how| watcher.server_died(how));
    Ok(Some(server))
}

/// Stops the server of a run and removes it, unless it is to be kept. If it has died, the verdict says so.
pub(super) fn stop_server(job: &Job, arguments: &RunArguments, server: PrivateServer, outcome: &mut Outcome) {
    let died = |reason: &Reason| matches!(reason, Reason::ServerDied(_));
    if !server.is_alive() && !outcome.verdict.reasons.iter().any(died) {
        let how = server.ended().unwrap_or_else(|| "its process is gone".into());
        let reasons = std::mem::take(&mut outcome.verdict.reasons);
        outcome.verdict = Verdict::of(reasons.into_iter().chain([Reason::ServerDied(how)]).collect());
    }
    let keep = if arguments.keep { server.keep() } else { Ok(()) };
    match keep.and_then(|()| server.stop()) {
        Ok(Ended::Removed) => {}
        Ok(Ended::Kept(folder)) if arguments.output_format == OutputFormat::Quiet => drop(folder),
        Ok(Ended::Kept(folder)) => console::say(&kept(job.backend.name(), &folder)),
        Err(error) => console::say(&format!("warning: {error}")),
    }
}
