//! The private server of a run or a sweep: started before it, stopped after it.

use super::options::{OutputFormat, RunArguments};
use crate::{
    commands::{join::join, kept},
    console,
    error::CliError,
    job::Job,
};
use iotbench_engine::{Outcome, Reason, StopSignal, Verdict};
use iotbench_launcher::{Ended, Launch, PrivateServer, StartError, start};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

/// The server's log, in the results folder.
const LOG: &str = "server.log";
/// So much of it is looked through for why a server died.
const LOG_END_BYTES: u64 = 64 << 10;

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
    let log = results.join(LOG);
    let launch = Launch::new(name, wanted.recipe, log.clone())
        .memory_bytes(arguments.server_memory.0)
        .settings(wanted.settings.clone());
    let server = start(&launch, &|| stop.ends()).map_err(|error| match (&error, stop.requested()) {
        (StartError::Cancelled, Some(signal)) => {
            CliError::with_code(u8::try_from(128 + signal).unwrap_or(130), format!("{error}: interrupted"))
        }
        _ => error.into(),
    })?;
    join(job.backend, &server)?;
    let watcher = stop.clone();
    server.on_end(move |how| watcher.server_died(&death(how, &log)));
    Ok(Some(server))
}

/// How a server died, with what its log tells of a full disk: not every client hears of it.
fn death(how: &str, log: &Path) -> String {
    let is_full = log_end(log).is_ok_and(|text| text.contains("No space left on device"));
    if is_full { format!("{how}; its disk is full: make room there") } else { how.into() }
}

fn log_end(log: &Path) -> io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END_BYTES)))?;
    let mut text = Vec::new();
    file.take(LOG_END_BYTES).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// If the server of a run has died, the verdict says so.
pub(super) fn note_death(server: &PrivateServer, outcome: &mut Outcome) {
    let died = |reason: &Reason| matches!(reason, Reason::ServerDied(_));
    if !server.is_alive() && !outcome.verdict.reasons.iter().any(died) {
        let how = server.ended().unwrap_or_else(|| "its process is gone".into());
        let reasons = std::mem::take(&mut outcome.verdict.reasons);
        outcome.verdict = Verdict::of(reasons.into_iter().chain([Reason::ServerDied(how)]).collect());
    }
}

/// Stops a server and removes it, unless it is to be kept.
pub(super) fn stop_server(job: &Job, arguments: &RunArguments, server: PrivateServer) {
    let keep = if arguments.keep { server.keep() } else { Ok(()) };
    match keep.and_then(|()| server.stop()) {
        Ok(Ended::Removed) => {}
        Ok(Ended::Kept(folder)) if arguments.output_format == OutputFormat::Quiet => drop(folder),
        Ok(Ended::Kept(folder)) => console::say(&kept(job.backend.name(), &folder)),
        Err(error) => console::say(&format!("warning: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_tells_of_a_full_disk() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join(LOG);
        assert_eq!(death("ended", &log), "ended");
        let line = "PANIC:  could not write to file \"x\": No space left on device\n";
        std::fs::write(&log, format!("{}{line}", "earlier\n".repeat(20_000))).unwrap();
        assert_eq!(death("ended", &log), "ended; its disk is full: make room there");
        std::fs::write(&log, format!("{line}{}", "later\n".repeat(20_000))).unwrap();
        assert_eq!(death("ended", &log), "ended");
    }
}
