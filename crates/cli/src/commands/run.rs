//! `iotbench run`.

pub(crate) mod agents;
mod changes;
mod command;
mod options;
mod output;
mod sittings;
mod target;

pub(crate) use options::RunArguments;

use crate::{console, passwords, signals, teller::Teller};
use iotbench_broker::Via;
use iotbench_engine::StopSignal;
use iotbench_session::{
    Baseline, FirstLook, GoesOn, Job, SessionError, SessionOptions, SittingsWanted, check_agents, check_machine,
    check_repetitions, check_sittings, check_via, expected_in_words, expected_plans, gather, hold_sittings,
    lock_targets, refuse_without_room, resume, run_all,
};
use std::sync::Arc;

pub(crate) const ANNOUNCEMENT: &str =
    "\nending: answers under way are awaited and the results saved; once more ends at once";

pub(super) fn run(arguments: &RunArguments, tree: &clap::Command) -> Result<u8, SessionError> {
    if let Some(folder) = &arguments.sessions.resume {
        arguments.check_comparison()?;
        let options = arguments.session(tree)?;
        let GoesOn { jobs, options, sittings } = resume(folder, arguments.endpoints()?, &options)?;
        return carry_out(&jobs, sittings.as_ref(), &options, arguments);
    }
    let options = arguments.session(tree)?;
    check_repetitions(arguments.runs, &options)?;
    let sittings = arguments.sittings()?;
    let has_address = || arguments.endpoints().map(|endpoints| !endpoints.is_empty());
    arguments.agents.check_server_at(options.insecure, options.keep, has_address)?;
    let jobs = arguments.workload()?.jobs()?;
    check_via(&options, &jobs)?;
    if options.via.as_ref().is_some_and(Via::has_password) {
        passwords::warn_of("--via", "IOTBENCH_VIA");
    }
    if let Some(wanted) = &sittings {
        check_sittings(&jobs, wanted, &options)?;
    }
    if arguments.dry_run {
        check_agents(&jobs, &options)?;
        return output::print_plans(&expected_plans(&jobs, &options)?, arguments.output_format).map(|()| 0);
    }
    carry_out(&jobs, sittings.as_ref(), &options, arguments)
}

/// Runs what is checked, and prints what it found out.
fn carry_out(
    jobs: &[Job<'_>],
    sittings: Option<&SittingsWanted>,
    options: &SessionOptions,
    arguments: &RunArguments,
) -> Result<u8, SessionError> {
    let look = (!arguments.is_quiet()).then(FirstLook::begin);
    // Found wrong or missing before anything is made.
    check_agents(jobs, options)?;
    let comparing = |folder| Baseline::read(folder, arguments.comparison.options(None));
    let baseline = arguments.baseline.as_deref().map(comparing).transpose()?;
    check_machine(jobs, options)?;
    if !arguments.is_quiet() {
        let rounds = sittings.map_or(arguments.runs, |wanted| wanted.sessions);
        expected_in_words(jobs, rounds, options)?.iter().for_each(|line| console::say(line));
    }
    refuse_without_room(jobs, options)?;
    look.into_iter().for_each(|look| warn_of_machine(&look.warnings(jobs)));
    let agents = gather(options, arguments.agents.way(options.insecure)?)?;
    let views = arguments.open_views()?;
    let screen = views.screen().cloned();
    let observer = Arc::new(Teller::new(arguments.is_quiet(), views));
    let options = SessionOptions { observer, ..options.made_by(agents.as_ref()) };
    let _locks = lock_targets(jobs.iter().flat_map(Job::addresses))?;
    let stop = StopSignal::default();
    signals::stop_in_order_on(screen, stop.clone(), ANNOUNCEMENT)?;
    if let Some(wanted) = sittings {
        return held(jobs, wanted, &options, &stop, arguments);
    }
    let runs = run_all(jobs, arguments.runs, baseline.as_ref(), &options, &stop);
    output::print_results(&runs, arguments.output_format)?;
    let (are_valid, exit_code) = (runs.are_valid(), runs.exit_code());
    runs.ended?;
    if arguments.baseline.is_some() && !are_valid {
        console::say("not compared with the baseline: not every run is valid");
    }
    runs.compared.transpose()?;
    Ok(exit_code)
}

/// Says in one line what of this machine would spoil the runs.
fn warn_of_machine(warnings: &[String]) {
    if !warnings.is_empty() {
        console::say(&format!("warning: this machine: {} (iotbench doctor)", warnings.join("; ")));
    }
}

/// Holds sittings, and prints what they tell together.
fn held(
    jobs: &[Job<'_>],
    wanted: &SittingsWanted,
    options: &SessionOptions,
    stop: &StopSignal,
    arguments: &RunArguments,
) -> Result<u8, SessionError> {
    let held = hold_sittings(jobs, wanted, options, stop)?;
    output::print_sittings(&held, arguments.output_format)?;
    if held.record.next().is_some() {
        let path = console::printable_lines(&held.folder.display().to_string());
        let (ended, all) = (held.record.held(), held.record.sessions);
        console::say(&format!("{ended} of {all} sittings; go on with: iotbench run --resume {path}"));
    }
    let exit_code = held.exit_code();
    held.ended?;
    Ok(exit_code)
}
