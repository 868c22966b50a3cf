//! Sittings that another process began.

use super::Resumed;
use crate::{
    commands::run::{
        options::RunArguments,
        resume::{difference, job_of},
        run_jobs,
    },
    error::CliError,
    job::{Job, Place},
};
use iotbench_engine::{Bytes, Plan};
use iotbench_report::{
    FolderError, ResultsFolder, SESSIONS_DOCUMENT, SavedSearch, SessionsRecord, TRIALS_FILE, open_sessions,
    read_search, read_sessions,
};
use std::path::{Path, PathBuf};

/// Sittings that go on.
#[derive(Clone, Debug)]
pub(crate) struct Kept(PathBuf);

impl Kept {
    /// Their folder, held by this process from now on, and what became of them.
    pub(super) fn open(&self) -> Result<(ResultsFolder, SessionsRecord), FolderError> {
        open_sessions(&self.0)
    }
}

/// Goes on with the sittings in a folder, from the first that has not ended; `None`: it is no folder of sittings.
pub(in crate::commands::run) fn goes_on(folder: &Path, arguments: &RunArguments) -> Option<Result<u8, CliError>> {
    folder.join(SESSIONS_DOCUMENT).is_file().then(|| go_on(folder, arguments))
}

fn go_on(folder: &Path, arguments: &RunArguments) -> Result<u8, CliError> {
    super::check(arguments)?;
    let record = read_sessions(folder)?;
    if record.next().is_none() {
        return Err(CliError::usage(format!(
            "all {} sittings have been held: there is nothing to go on with",
            record.sessions
        )));
    }
    let given = arguments.endpoints()?;
    let mut jobs = Vec::with_capacity(record.jobs.len());
    for head in &record.jobs {
        let job = job_of(head, given.clone(), arguments.insecure)?;
        check(&head.plan, &job)?;
        jobs.push(job);
    }
    let memory = Bytes(record.jobs.first().map_or(arguments.server_memory.0, |head| head.server_memory_bytes));
    run_jobs(&jobs, &arguments.going_on_with(Kept(folder.to_owned()), record.sessions, memory))
}

/// Checks that the job is the one that was begun.
fn check(begun: &Plan, job: &Job) -> Result<(), CliError> {
    for planned in job.plans(&begun.run_id, &Place::nowhere()) {
        if let Some(place) = difference(begun, &planned?.plan) {
            return Err(CliError::usage(format!(
                "this iotbench plans it otherwise than the one that began it ({place}): begin it anew"
            )));
        }
    }
    Ok(())
}

/// What there is of a run that was interrupted.
#[derive(Debug)]
pub(super) struct Attempts {
    /// Its folders.
    pub(super) folders: Vec<String>,
    /// The trials that are known of it, if it is a search and made any.
    pub(super) resumed: Option<Resumed>,
}

impl Attempts {
    /// Of the run of this plan that is next: every folder among the sittings' that belongs to no run that has ended is one of it.
    pub(super) fn of(folder: &Path, record: &SessionsRecord, plan: &Plan) -> Result<Self, CliError> {
        let failed = |e| CliError::local_io(format!("cannot read {}: {e}", folder.display()));
        let (mut folders, mut resumed) = (Vec::new(), None::<Resumed>);
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            let name = name_of(&path);
            if !path.is_dir() || record.names(&name) {
                continue;
            }
            folders.push(name);
            let Some(found) = interrupted(&path, plan) else { continue };
            // Each attempt begins with the trials of the one before it.
            if resumed.as_ref().is_none_or(|other| other.trials.len() < found.trials.len()) {
                resumed = Some(found);
            }
        }
        folders.sort_unstable();
        Ok(Self { folders, resumed })
    }
}

/// The search of this plan in a folder; `None`: there is none, or nothing is known of it.
fn interrupted(path: &Path, plan: &Plan) -> Option<Resumed> {
    if !path.join(TRIALS_FILE).is_file() {
        return None;
    }
    let SavedSearch { head, trials } = read_search(path).ok()?;
    let is_of_it = difference(&head.plan, plan).is_none() && !trials.is_empty();
    is_of_it.then_some(Resumed { of: head.plan.run_id, trials })
}

/// The last part of a path.
pub(super) fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
