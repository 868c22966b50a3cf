//! Sittings that another process began.

use super::wanted::SittingsWanted;
use crate::{
    begun::{check_same, difference, job_of},
    error::SessionError,
    job::{Job, Place},
    options::{Resumed, SessionOptions},
    trials::{SavedSearch, SearchHead, read_search},
};
use iotbench_core::Endpoint;
use iotbench_engine::Plan;
use iotbench_report::{SESSIONS_DOCUMENT, SessionsRecord, TRIALS_FILE, read_sessions};
use std::path::Path;

/// Whether a folder is one of sittings.
pub(crate) fn are_in(folder: &Path) -> bool {
    folder.join(SESSIONS_DOCUMENT).is_file()
}

/// The sittings in a folder, to go on from the first that has not ended: their jobs, and the memory budget of their servers.
pub(crate) fn begun_in(
    folder: &Path,
    given: &[Endpoint],
    options: &SessionOptions,
) -> Result<(Vec<Job<'static>>, SittingsWanted, u64), SessionError> {
    let record = read_sessions::<SearchHead>(folder)?;
    if record.next().is_none() {
        return Err(SessionError::usage(format!(
            "all {} sittings have been held: there is nothing to go on with",
            record.sessions
        )));
    }
    let mut jobs = Vec::with_capacity(record.jobs.len());
    for head in &record.jobs {
        let job = job_of(head, given.to_vec(), options.insecure)?;
        for planned in job.plans(&head.plan.run_id, &Place::nowhere()) {
            check_same(&head.plan, &planned?.plan)?;
        }
        jobs.push(job);
    }
    let memory_bytes = record.jobs.first().map_or(options.server_memory_bytes, |head| head.server_memory_bytes);
    let wanted = SittingsWanted { kept: Some(folder.to_owned()), ..SittingsWanted::new(record.sessions, None) };
    Ok((jobs, wanted, memory_bytes))
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
    pub(super) fn of(folder: &Path, record: &SessionsRecord<SearchHead>, plan: &Plan) -> Result<Self, SessionError> {
        let failed = |e| SessionError::local_io(format!("cannot read {}: {e}", folder.display()));
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
