//! `iotbench suite`.

mod cells;
mod sittings;
mod summary;
mod written;

use super::run::{
    ANNOUNCEMENT, Done,
    agents::{Agents, AgentsArguments, gather},
    carry_out,
    sessions::{Clock, WallClock},
};
use crate::{arguments::EXIT_CODES, console, error::CliError, metrics::MetricsAddress, signals, views::Views};
use cells::{Target, targets};
use clap::{Args, builder::FalseyValueParser};
use iotbench_engine::{Bytes, Span, StopSignal, gravest};
use iotbench_launcher::DEFAULT_MEMORY_BYTES;
use iotbench_report::{FolderName, ResultsFolder, read_suite};
use iotbench_suite::{Record, State};
use sittings::SittingTimes;
use std::{
    path::{Path, PathBuf},
    time::{Instant, SystemTime},
};
use summary::Summary;
use written::WrittenSuite;

const EXAMPLES: &str = "\
Examples:
  iotbench suite quick                     which of the databases here? a first look in three minutes
  iotbench suite hof                       a study's runs in a short form, its tables with both figures, and its score
  iotbench suite hof --full --runs 5       at the study's own lengths, five times
  iotbench suite quick --sessions 5 --over 10h   five times within ten hours, for an answer that others find again
  iotbench suite ./mine.toml --dry-run     what it would run, in which order
  iotbench suite hof --agents 2            its loads made by two processes of this machine (docs/agents.md)
  iotbench suite --resume results/20261122T101500Z-suite-hof-short-abcd

Built in: quick, hof, abb, weather, compressor, liteme (configs/suites). Each run has a fresh database; repetitions come in \
rounds of a random order. A run that fails does not end the others. Ctrl-C ends the run under way; --resume goes on.";

#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct SuiteArguments {
    /// A built-in suite, or a file (with a / or ending with .toml)
    #[arg(value_name = "NAME|FILE", required_unless_present = "resume", conflicts_with = "resume")]
    suite: Option<String>,
    /// Go on with a suite that was interrupted: its folder
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["full", "runs", "sessions", "over", "out"])]
    resume: Option<PathBuf>,
    /// The study's own lengths instead of the short form
    #[arg(long, env = "IOTBENCH_FULL", value_parser = FalseyValueParser::new())]
    full: bool,
    /// So many runs of each, instead of the suite's own number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: Option<u32>,
    /// So many sittings, each of which runs the whole suite once with fresh servers; the tables have 90 % intervals over sittings
    #[arg(long, value_name = "N", conflicts_with = "runs", value_parser = clap::value_parser!(u32).range(1..=1000))]
    sessions: Option<u32>,
    /// The time that the sittings are spread over, such as 10h; without it one follows the other
    #[arg(long, value_name = "TIME", requires = "sessions")]
    over: Option<Span>,
    /// Where the suite's folder is made
    #[arg(long, env = "IOTBENCH_OUT", value_name = "FOLDER", default_value = "./results")]
    out: PathBuf,
    /// The memory budget of a private server's caches
    #[arg(long, env = "IOTBENCH_SERVER_MEMORY", value_name = "SIZE", default_value_t = Bytes(DEFAULT_MEMORY_BYTES))]
    server_memory: Bytes,
    /// A dashboard of each run, on a terminal; q ends the suite, and --resume goes on with it
    #[arg(long, env = "IOTBENCH_UI", value_parser = FalseyValueParser::new())]
    ui: bool,
    /// Serve the figures to Prometheus while this lasts: :9464 is 127.0.0.1:9464 (docs/live.md)
    #[arg(long, env = "IOTBENCH_METRICS", value_name = "[HOST]:PORT")]
    metrics: Option<MetricsAddress>,
    /// Check everything and print the runs in their order
    #[arg(long)]
    dry_run: bool,
    /// Take agents' NATS server in clear text (nats://) on another machine; the results say so
    #[arg(long, env = "IOTBENCH_INSECURE", value_parser = FalseyValueParser::new())]
    insecure: bool,
    #[command(flatten)]
    agents: AgentsArguments,
}

pub(super) fn suite(arguments: &SuiteArguments) -> Result<u8, CliError> {
    let (written, kept) = match &arguments.resume {
        Some(folder) => {
            let (folder, text, record) = read_suite(folder)?;
            (WrittenSuite::of_folder(folder.path(), text)?, Some((folder, record)))
        }
        None => (WrittenSuite::find(arguments.suite.as_deref().unwrap_or_default())?, None),
    };
    let full = kept.as_ref().map_or(arguments.full, |(_, record)| record.full);
    let found = targets(&written, full, arguments.server_memory, &arguments.agents)?;
    let entries: Vec<_> = found.iter().map(Target::entry).collect();
    let runs = arguments.sessions.or(arguments.runs).unwrap_or(written.file.runs);
    let new_sittings = sittings::wanted(arguments.sessions, arguments.over, &found, &arguments.out)?;
    let fresh = |runs| Record::new(&written.file.name, full, &entries, runs, written.file.seed);
    if arguments.agents.wanted().is_some() {
        say_made_by_agents(&found);
    }
    if arguments.dry_run {
        console::print(&summary::order(&fresh(runs)))?;
        return say_planned(&found, runs).map(|()| 0);
    }
    let views = Views::open(arguments.ui, arguments.metrics)?;
    let (folder, mut record) = match kept {
        Some((folder, record)) => {
            if !record.has_runs_of(&fresh(record.rounds().max(1))) {
                return Err(CliError::usage(format!(
                    "{}: these are not the runs of its suite.toml on this machine: begin anew",
                    console::printable(&folder.path().display().to_string())
                )));
            }
            (folder, record)
        }
        None => (new_folder(&written, arguments)?, Record { sittings: new_sittings, ..fresh(runs) }),
    };
    if record.next().is_none() && record.entries.iter().all(|e| matches!(e.state, State::NotAvailable { .. })) {
        console::say(&iotbench_report::render_suite_state(&record, false, 100));
        return Err(CliError::usage(
            "none of its databases can be started here: `iotbench backends` says what is missing",
        ));
    }
    let agents = gather(&arguments.agents, false, arguments.insecure, false)?;
    folder.write_suite_record(&record)?;
    let stop = StopSignal::default();
    signals::stop_in_order_on(views.screen().cloned(), stop.clone(), ANNOUNCEMENT)?;
    let times = SittingTimes::of(&record, WallClock.now());
    while let Some(place) = record.next().filter(|_| stop.requested().is_none()) {
        if !times.wait_for(&record.entries[place], &WallClock, &stop) {
            break;
        }
        let (among, entry) = (progress(&record), &record.entries[place]);
        console::say(&format!("\n{among}; now {} on {}, run {}", entry.profile, entry.target, entry.run));
        let target = found.iter().find(|target| target.is(entry));
        let target = target.ok_or_else(|| CliError::internal("a run of no target"))?;
        record.entries[place].state = run(target, folder.path(), &views.among(&among), agents.as_ref(), &stop);
        folder.write_suite_record(&record)?;
    }
    let summary = Summary::read(&written.file, &record, folder.path())?;
    console::print(&summary.text())?;
    if let Some(page) = summary.page()? {
        console::say(&format!("report: {}", console::printable(&page.display().to_string())));
    }
    let interrupted = stop.requested().map(|signal| u8::try_from(128 + signal).unwrap_or(130));
    let codes = record.entries.iter().map(|entry| match entry.state {
        State::Ended { exit_code, .. } | State::Failed { exit_code, .. } => exit_code,
        State::Waiting | State::NotAvailable { .. } => 0,
    });
    Ok(gravest(codes.chain(interrupted)))
}

/// Says whose load agents make.
fn say_made_by_agents(targets: &[Target]) {
    let made = targets.iter().filter(|target| target.arguments.is_for_agents()).count();
    console::say(&format!(
        "agents make the load of {made} of {}; where it reads, is embedded or cannot be divided so far, one process does",
        targets.len()
    ));
}

/// Says how long all loads take as planned.
fn say_planned(targets: &[Target], runs: u32) -> Result<(), CliError> {
    let mut load_s = 0.0;
    for target in targets {
        load_s += f64::from(runs) * target.longest_load_s()?;
    }
    console::say(&format!(
        "loads of at most {} in all; starting servers, filling, settling and checking come on top",
        summary::minutes(load_s)
    ));
    Ok(())
}

fn new_folder(written: &WrittenSuite, arguments: &SuiteArguments) -> Result<ResultsFolder, CliError> {
    let length = if arguments.full { "full" } else { "short" };
    let name = FolderName::new(SystemTime::now(), "suite", &written.file.name, length)?;
    let folder = ResultsFolder::create(&arguments.out, &name)?;
    folder.write_suite_file(&written.text)?;
    Ok(folder)
}

/// One run, and what became of it. One that the user interrupts is done again.
fn run(target: &Target, folder: &Path, views: &Views, agents: Option<&Agents>, stop: &StopSignal) -> State {
    let began = Instant::now();
    let mut done = Vec::new();
    let arguments = target.arguments.results_in(folder).shown_by(views).made_by(agents);
    let ended = carry_out(&target.job, &arguments, stop, &mut done);
    if stop.requested().is_some() {
        return State::Waiting;
    }
    match ended {
        Err(error) => State::Failed { exit_code: error.code(), message: error.to_string() },
        Ok(()) => State::Ended {
            folders: done.iter().map(|done| relative(done, folder)).collect(),
            exit_code: gravest(done.iter().flat_map(|done| &done.runs).map(super::run::Finished::exit_code)),
            seconds: began.elapsed().as_secs_f64(),
        },
    }
}

fn relative(done: &Done, folder: &Path) -> String {
    done.folder.strip_prefix(folder).unwrap_or(&done.folder).to_string_lossy().into_owned()
}

/// How many runs of how many are done, and how long the rest takes.
fn progress(record: &Record) -> String {
    let all = record.entries.len();
    let ended = all - record.waiting();
    let left = record.seconds_left().map(|s| format!(", about {} left", summary::minutes(s))).unwrap_or_default();
    format!("suite {}: {ended} of {all} runs done{left}", record.suite)
}
