//! A job from its plan to its documents.

use crate::{
    error::SessionError,
    job::Job,
    one_run::{Done, alone},
    options::SessionOptions,
    sweep,
};
use iotbench_engine::StopSignal;

/// Carries a job out and adds what it left to `done`, also when it could not be ended.
///
/// # Errors
/// A run could not begin, or its results have no place.
pub fn carry_out(
    job: &Job<'_>,
    options: &SessionOptions,
    stop: &StopSignal,
    done: &mut Vec<Done>,
) -> Result<(), SessionError> {
    if job.is_sweep() {
        return sweep::carry_out(job, options, stop, done);
    }
    for run in &job.runs {
        let finished = alone(job, run, options, &stop.of_one_run())?;
        done.push(Done { folder: finished.folder.clone(), runs: vec![finished], is_sweep: false });
    }
    Ok(())
}
