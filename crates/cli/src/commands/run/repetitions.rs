//! The order in which jobs are run, and run again.

use super::{carry_out::Done, options::RunArguments};
use crate::{console, error::CliError, job::Job};
use iotbench_report::{Document, Repetitions};
use iotbench_statistics::interleaved;

/// Which job comes when. Once is in the order of the command line; several times in rounds, each in an order of its own.
pub(super) fn order(jobs: &[Job], arguments: &RunArguments) -> Vec<usize> {
    match arguments.rounds() {
        0 | 1 => (0..jobs.len()).collect(),
        rounds => interleaved(jobs.len(), rounds as usize, seed(jobs)),
    }
}

/// The seed of the profile decides the order too.
fn seed(jobs: &[Job]) -> u64 {
    jobs.first().map_or(0, |job| job.profile.seed.0)
}

/// Checks that every repetition can begin with a fresh state.
pub(super) fn check(arguments: &RunArguments) -> Result<(), CliError> {
    if arguments.runs > 1 && arguments.keep {
        return Err(CliError::usage(
            "--keep leaves what the next repetition would begin with: leave out --keep or --runs",
        ));
    }
    Ok(())
}

/// Says which run of how many begins.
pub(super) fn announce(place: usize, all: usize, job: &Job) {
    if all > 1 {
        console::say(&format!("run {} of {all}: {} on {}", place + 1, job.profile.name, job.title()));
    }
}

/// What the runs tell together; `None`: nothing was repeated.
pub(super) fn summary(jobs: &[Job], arguments: &RunArguments, done: &[Done]) -> Option<Repetitions> {
    let documents =
        || done.iter().flat_map(|done| &done.runs).map(|run| run.document.clone()).collect::<Vec<Document>>();
    (arguments.runs > 1).then(|| Repetitions::of(&documents(), seed(jobs)))
}
