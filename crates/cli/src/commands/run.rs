//! `iotbench run`.

pub(crate) mod agents;
mod baseline;
mod broker;
mod carry_out;
mod command;
mod database;
mod expected;
mod managed;
mod options;
mod output;
mod repetitions;
mod resume;
pub(super) mod sessions;
mod sweep;

pub(crate) use options::RunArguments;

use super::comparing::REGRESSION;
use crate::{
    addresses, console,
    error::CliError,
    job::{BackendWord, Job},
    profiles, signals,
    target_lock::lock_targets,
};
use baseline::Baseline;
pub(crate) use carry_out::{Done, Finished, carry_out};
use iotbench_engine::{Overrides, StopSignal, gravest};
use resume::Resumed;

pub(crate) const ANNOUNCEMENT: &str =
    "\nending: answers under way are awaited and the results saved; once more ends at once";

pub(super) fn run(arguments: &RunArguments) -> Result<u8, CliError> {
    if let Some(folder) = &arguments.sessions.resume {
        return resume::resume(folder, arguments);
    }
    repetitions::check(arguments)?;
    sessions::check(arguments)?;
    agents::check_server_at(arguments)?;
    let jobs = jobs(arguments)?;
    sessions::check_jobs(&jobs, arguments)?;
    if arguments.dry_run {
        agents::check(&jobs, arguments)?;
        return output::print_plans(&expected::plans(&jobs, arguments)?, arguments.output_format).map(|()| 0);
    }
    run_jobs(&jobs, arguments)
}

/// Runs what is checked, and prints what it found out.
fn run_jobs(jobs: &[Job], arguments: &RunArguments) -> Result<u8, CliError> {
    // Found wrong or missing before anything is made.
    agents::check(jobs, arguments)?;
    let baseline = Baseline::read(arguments)?;
    if arguments.agents.server_at_name().is_none() {
        jobs.iter().try_for_each(Job::find_programs)?;
    }
    broker::find_program(arguments)?;
    jobs.iter().try_for_each(Job::reserve_descriptors)?;
    expected::say(jobs, arguments)?;
    expected::refuse_without_room(jobs, arguments)?;
    let agents = agents::gather(&arguments.agents, arguments.keep, arguments.insecure, arguments.is_quiet())?;
    let views = arguments.open_views()?;
    let arguments = &arguments.shown_by(&views).made_by(agents.as_ref());
    let _locks = lock_targets(jobs.iter().flat_map(Job::addresses))?;
    let stop = StopSignal::default();
    signals::stop_in_order_on(views.screen().cloned(), stop.clone(), ANNOUNCEMENT)?;
    if arguments.sessions.wanted().is_some() {
        return sessions::carry_out_all(jobs, arguments, arguments.kept.as_ref(), &stop);
    }
    let order = repetitions::order(jobs, arguments);
    let mut done = Vec::with_capacity(order.len());
    let ended = run_all(jobs, &order, arguments, &stop, &mut done);
    let summary = repetitions::summary(jobs, arguments, &done);
    let runs: Vec<&Finished> = done.iter().flat_map(|done| &done.runs).collect();
    let all_valid = ended.is_ok() && !runs.is_empty() && runs.iter().all(|run| run.exit_code() == 0);
    let compared = baseline.filter(|_| all_valid).map(|baseline| baseline.compared(&done)).transpose();
    let comparisons = compared.as_ref().ok().and_then(Option::as_deref);
    output::print_results(&done, summary.as_ref(), comparisons, arguments.output_format)?;
    ended?;
    if arguments.baseline.is_some() && !all_valid {
        console::say("not compared with the baseline: not every run is valid");
    }
    let regression = compared?.iter().flatten().any(|comparison| comparison.is_regression).then_some(REGRESSION);
    let left_out = stop.requested().filter(|_| runs.len() < order.iter().map(|&job| jobs[job].runs.len()).sum());
    let interrupted = left_out.map(|signal| u8::try_from(128 + signal).unwrap_or(130));
    Ok(gravest(runs.into_iter().map(Finished::exit_code).chain(interrupted).chain(regression)))
}

/// Everything that is to be run, checked.
pub(crate) fn jobs(arguments: &RunArguments) -> Result<Vec<Job>, CliError> {
    baseline::check(arguments)?;
    let written = profiles::find(&arguments.profile)?;
    let overrides = arguments.overrides();
    profiles::check_assignments(&overrides.set)?;
    let words = arguments.backend.iter().map(|word| BackendWord::read(word)).collect::<Result<Vec<_>, _>>()?;
    let endpoints = arguments.endpoints()?;
    let names: Vec<_> = words.iter().map(|w| w.backend.info().name).collect();
    if !endpoints.is_empty() && names.windows(2).any(|pair| pair.first() != pair.last()) {
        return Err(CliError::usage("--url means one database, and several backends are given: run them one by one"));
    }
    addresses::warn_of_password(&endpoints);
    let endpoints = addresses::admitted(endpoints);
    let strategies = arguments.strategies(&written.profile);
    let mut jobs = Vec::new();
    for word in words {
        let variants = written.profile.variants_on(word.backend.info().name, &overrides, &arguments.variant);
        for variant in variants.map_err(|e| written.source.error(&e))? {
            for &strategy in &strategies {
                let overrides = Overrides { variant: variant.clone(), strategy, ..overrides.clone() };
                jobs.push(Job::new(&written, word, &overrides, &endpoints, arguments.insecure)?);
            }
        }
    }
    broker::check(arguments, &jobs)?;
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
