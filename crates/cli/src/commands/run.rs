//! `iotbench run`.

mod carry_out;
mod command;
mod managed;
mod options;
mod output;
mod repetitions;
mod resume;
mod sweep;

pub(crate) use options::RunArguments;
pub(crate) use resume::resume;

use crate::{
    error::CliError,
    job::{BackendWord, Job, Place},
    profiles, signals,
    target_lock::lock_targets,
};
use carry_out::{Done, Finished, carry_out};
use iotbench_engine::{Overrides, StopSignal, gravest};

const ANNOUNCEMENT: &str = "\nending: answers under way are awaited and the results saved; once more ends at once";

pub(super) fn run(arguments: &RunArguments) -> Result<u8, CliError> {
    repetitions::check(arguments)?;
    let jobs = jobs(arguments)?;
    if arguments.dry_run {
        let nowhere = Place::nowhere();
        let plans = jobs.iter().flat_map(|job| job.plans("dry-run", &nowhere)).map(|planned| Ok(planned?.plan));
        return output::print_plans(&plans.collect::<Result<Vec<_>, CliError>>()?, arguments.output_format).map(|()| 0);
    }
    run_jobs(&jobs, arguments)
}

/// Runs what is checked, and prints what it found out.
fn run_jobs(jobs: &[Job], arguments: &RunArguments) -> Result<u8, CliError> {
    // Found missing before anything is made.
    jobs.iter().try_for_each(Job::find_programs)?;
    jobs.iter().try_for_each(Job::reserve_descriptors)?;
    // All jobs have the same address, if any.
    let _locks = lock_targets(jobs.first().map(Job::endpoints).unwrap_or_default())?;
    let stop = StopSignal::default();
    signals::stop_in_order(stop.clone(), ANNOUNCEMENT)?;
    let order = repetitions::order(jobs, arguments);
    let mut done = Vec::with_capacity(order.len());
    let ended = run_all(jobs, &order, arguments, &stop, &mut done);
    let summary = repetitions::summary(jobs, arguments, &done);
    output::print_results(&done, summary.as_ref(), arguments.output_format)?;
    ended?;
    let runs: Vec<&Finished> = done.iter().flat_map(|done| &done.runs).collect();
    let left_out = stop.requested().filter(|_| runs.len() < order.iter().map(|&job| jobs[job].runs.len()).sum());
    let interrupted = left_out.map(|signal| u8::try_from(128 + signal).unwrap_or(130));
    Ok(gravest(runs.into_iter().map(Finished::exit_code).chain(interrupted)))
}

/// Everything that is to be run, checked.
fn jobs(arguments: &RunArguments) -> Result<Vec<Job>, CliError> {
    let written = profiles::find(&arguments.profile)?;
    let words = arguments.backend.iter().map(|word| BackendWord::read(word)).collect::<Result<Vec<_>, _>>()?;
    let url = arguments.url()?;
    let names: Vec<_> = words.iter().map(|w| w.backend.name()).collect();
    if url.is_some() && names.windows(2).any(|pair| pair.first() != pair.last()) {
        return Err(CliError::usage("--url means one database, and several backends are given: run them one by one"));
    }
    if let Some(url) = &url {
        command::warn_of_password(url);
    }
    let overrides = arguments.overrides();
    let strategies = arguments.strategies(&written.profile);
    let mut jobs = Vec::new();
    for word in words {
        let variants = written.profile.variants_on(word.backend.name(), &overrides, &arguments.variant);
        for variant in variants.map_err(|e| written.source.error(&e))? {
            for &strategy in &strategies {
                let overrides = Overrides { variant: variant.clone(), strategy, ..overrides.clone() };
                jobs.push(Job::new(&written, word, &overrides, url.as_ref(), arguments.insecure)?);
            }
        }
    }
    Ok(jobs)
}

fn run_all(
    jobs: &[Job],
    order: &[usize],
    arguments: &RunArguments,
    stop: &StopSignal,
    done: &mut Vec<Done>,
) -> Result<(), CliError> {
    for (place, job) in order.iter().filter_map(|&job| jobs.get(job)).enumerate() {
        if stop.requested().is_some() {
            break;
        }
        repetitions::announce(place, order.len(), job);
        carry_out(job, arguments, stop, done)?;
    }
    Ok(())
}
