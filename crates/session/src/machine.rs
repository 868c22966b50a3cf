//! Whether this machine has what jobs need: programs, open files, and room on its disks.

use crate::{
    broker::find_broker_program,
    error::SessionError,
    job::{Job, Place},
    options::SessionOptions,
};
use iotbench_engine::{MIN_FREE_BYTES, free_bytes};
use iotbench_report::decimal_size;

/// Checks that the programs are here that jobs need, and that this process may open as many files.
///
/// # Errors
/// The first that is missing.
pub fn check_machine(jobs: &[Job<'_>], options: &SessionOptions) -> Result<(), SessionError> {
    if options.agents.server_at.is_none() {
        jobs.iter().try_for_each(Job::find_programs)?;
    }
    find_broker_program(options)?;
    jobs.iter().try_for_each(Job::reserve_descriptors)
}

/// Refuses what is not run to its end: a ramp whose certain steps have no room where the database lies.
///
/// # Errors
/// There is too little.
pub fn refuse_without_room(jobs: &[Job<'_>], options: &SessionOptions) -> Result<(), SessionError> {
    for job in jobs {
        let Some(free) = room(job, options) else { continue };
        let nowhere = Place::nowhere();
        for planned in job.plans("room", &nowhere) {
            let planned = planned?;
            let needed = planned.plan.ramp_room(&*planned.dataset).map(|needed| needed.certain);
            let least = needed.unwrap_or(0).saturating_add(MIN_FREE_BYTES);
            if planned.plan.ramp.is_some() && free < least {
                return Err(SessionError::local_io(format!(
                    "{}: {} are free where the database will lie, and its first steps may need {}, of which {} are to stay free: make room, \
                     or name another folder with --out or TMPDIR",
                    job.title(),
                    decimal_size(free),
                    decimal_size(least),
                    decimal_size(MIN_FREE_BYTES)
                )));
            }
        }
    }
    Ok(())
}

/// What is free where a job's database lies, if that is here and ours.
#[must_use]
pub fn room(job: &Job<'_>, options: &SessionOptions) -> Option<u64> {
    let is_elsewhere = options.agents.server_at.is_some();
    match job.server {
        Some(_) if is_elsewhere => None,
        Some(_) => free_bytes(&std::env::temp_dir()),
        None if job.needs_folder() => free_bytes(&options.results),
        None => free_bytes(&job.own_folder()?),
    }
}
