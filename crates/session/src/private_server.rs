//! The private server of a run or a sweep: started before it, stopped after it.

use crate::{
    error::SessionError,
    event::{Event, StartingAt},
    job::Job,
    join::join,
    options::SessionOptions,
};
use iotbench_core::ProcessAction;
use iotbench_engine::{Outcome, Reason, ServerProcesses, StopSignal, Verdict};
use iotbench_launcher::{Ended, KeptServer, PrivateServer, ProcessActor, Records, StartError, start};
use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    sync::Arc,
};

/// The server's log, in the results folder.
const LOG: &str = "server.log";
/// So much of it is looked through for why a server died.
const LOG_END_BYTES: u64 = 64 << 10;

/// Starts the server that a job needs, if it needs one. When it dies, `stop` is told.
pub(crate) fn start_server(
    job: &Job<'_>,
    options: &SessionOptions,
    results: &Path,
    stop: &StopSignal,
) -> Result<Option<PrivateServer>, SessionError> {
    let Some(wanted) = &job.server else { return Ok(None) };
    let name = job.backend.info().name;
    // Where no notes can be kept there are none.
    let kept =
        Records::open().and_then(|records| records.find_kept(name, wanted.recipe, &wanted.settings)).ok().flatten();
    let at = kept.as_ref().map_or(StartingAt::Fresh, |kept| StartingAt::Kept(&kept.folder));
    options.tell(&Event::Starting { server: name, at });
    let log = results.join(LOG);
    let launch = options.launch(name, wanted.recipe, log.clone());
    let launch = launch.memory_bytes(options.server_memory_bytes).settings(wanted.settings.clone());
    let launch = match kept {
        Some(kept) => launch.on_kept_folder(kept.folder),
        None => launch,
    };
    let server = start(&launch, &|| stop.ends()).map_err(|error| not_started(error, stop))?;
    join(job.backend, &server)?;
    let watcher = stop.clone();
    server.on_end(move |how| watcher.server_died(&death(how, &log)));
    Ok(Some(server))
}

/// Why a server was not started.
pub(crate) fn not_started(error: StartError, stop: &StopSignal) -> SessionError {
    match (&error, stop.requested()) {
        (StartError::Cancelled, Some(signal)) => SessionError::Interrupted { error: Box::new(error), signal },
        _ => error.into(),
    }
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
pub(crate) fn note_death(server: &PrivateServer, outcome: &mut Outcome) {
    let died = |reason: &Reason| matches!(reason, Reason::ServerDied(_));
    if !server.is_alive() && !outcome.verdict.reasons.iter().any(died) {
        let how = server.ended().unwrap_or_else(|| "its process is gone".into());
        let reasons = std::mem::take(&mut outcome.verdict.reasons);
        outcome.verdict = Verdict::of(reasons.into_iter().chain([Reason::ServerDied(how)]).collect());
    }
}

/// Who acts on its processes while a run's load goes on.
pub(crate) fn processes(server: &PrivateServer) -> Arc<dyn ServerProcesses> {
    #[derive(Debug)]
    struct Processes(ProcessActor);
    impl ServerProcesses for Processes {
        fn act(&self, action: ProcessAction, role: &str, node: u32) -> Result<Option<u32>, String> {
            self.0.act(action, role, node)
        }
    }
    Arc::new(Processes(server.actor()))
}

/// Stops a server and removes it, unless it is to be kept, or was before: then the next run finds it.
pub(crate) fn stop_server(job: &Job<'_>, options: &SessionOptions, server: PrivateServer) {
    let keep = if options.keep { server.keep() } else { Ok(()) };
    let settings = job.server.as_ref().map(|wanted| wanted.settings.clone()).unwrap_or_default();
    let noted = server.record(Path::new(LOG)).map(|record| KeptServer::of(&record, &settings));
    match keep.and_then(|()| server.stop()) {
        Ok(Ended::Removed) => {}
        Ok(Ended::Kept(folder)) => {
            let note = |kept: KeptServer| Records::open().and_then(|records| records.note_kept(&kept));
            let noted = noted.map(note).transpose();
            let backend = job.backend.info().name;
            options.tell(&Event::ServerKept { backend, folder: &folder, found: noted.is_ok() });
            if let Err(error) = noted {
                options.warn(format!("no run will find it: {error}"));
            }
        }
        Err(error) => options.warn(error),
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
