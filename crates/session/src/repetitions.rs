//! The order in which jobs are run, and run again.

use crate::{
    carry_out::carry_out, error::SessionError, event::Event, job::Job, one_run::Done, options::SessionOptions,
};
use iotbench_engine::StopSignal;
use iotbench_report::{Document, Repetitions};
use iotbench_statistics::interleaved;

/// Which job comes when. Once is in the order given; several times in rounds, each in an order of its own.
pub(crate) fn order(jobs: &[Job<'_>], rounds: u32) -> Vec<usize> {
    match rounds {
        0 | 1 => (0..jobs.len()).collect(),
        rounds => interleaved(jobs.len(), rounds as usize, seed(jobs)),
    }
}

/// The seed of the profile decides the order too.
fn seed(jobs: &[Job<'_>]) -> u64 {
    jobs.first().map_or(0, |job| job.profile.seed.0)
}

/// Checks that every one of so many repetitions can begin with a fresh state.
///
/// # Errors
/// It cannot.
pub fn check_repetitions(runs: u32, options: &SessionOptions) -> Result<(), SessionError> {
    if runs > 1 && options.keep {
        return Err(SessionError::usage(
            "--keep leaves what the next repetition would begin with: leave out --keep or --runs",
        ));
    }
    Ok(())
}

/// Carries out jobs in this order until `stop` is requested, and adds what they left to `done`.
pub(crate) fn carry_out_in_order(
    jobs: &[Job<'_>],
    order: &[usize],
    options: &SessionOptions,
    stop: &StopSignal,
    done: &mut Vec<Done>,
) -> Result<(), SessionError> {
    for (place, job) in order.iter().filter_map(|&job| jobs.get(job)).enumerate() {
        if stop.requested().is_some() {
            break;
        }
        if order.len() > 1 {
            let (profile, target) = (&job.profile.name, &job.title());
            options.tell(&Event::Run { number: place + 1, of: order.len(), profile, target });
        }
        carry_out(job, options, stop, done)?;
    }
    Ok(())
}

/// What the runs tell together; `None`: nothing was repeated.
pub(crate) fn summary(jobs: &[Job<'_>], runs: u32, done: &[Done]) -> Option<Repetitions> {
    let documents =
        || done.iter().flat_map(|done| &done.runs).map(|run| run.document.clone()).collect::<Vec<Document>>();
    (runs > 1).then(|| Repetitions::of(&documents(), seed(jobs)))
}
