//! `iotbench suite`.

use super::run::{ANNOUNCEMENT, RunArguments, agents::AgentsArguments};
use crate::{
    console,
    exit_codes::EXIT_CODES,
    signals,
    teller::{Teller, minutes},
    views::{FiguresArguments, Views},
};
use clap::{Args, builder::FalseyValueParser};
use iotbench_engine::{Bytes, Span, StopSignal};
use iotbench_launcher::DEFAULT_MEMORY_BYTES;
use iotbench_report::{render_suite_order, render_suite_state};
use iotbench_session::{
    SessionError, SessionObserver, SessionOptions, SittingsWanted, Suite, SuiteLength, WrittenSuite, gather,
};
use std::{path::PathBuf, sync::Arc};

const EXAMPLES: &str = "\
Examples:
  iotbench suite quick                     which of the databases here? a first look in three minutes
  iotbench suite hof                       a study's runs in a short form, its tables with both figures, and its score
  iotbench suite hof --full --runs 5       at the study's own lengths, five times
  iotbench suite quick --sessions 5 --over 10h   five times within ten hours, for an answer that others find again
  iotbench suite ./mine.toml --dry-run     what it would run, in which order
  iotbench suite hof --agents 2            its loads made by two processes of this machine (docs/agents.md)
  iotbench suite --resume results/20261122T101500Z-suite-hof-short-abcd

Built in: quick, hof, abb, weather, compressor, liteme, tpcx_iot (configs/suites). Each run has a fresh database; repetitions come in \
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
    #[command(flatten)]
    figures: FiguresArguments,
    /// Check everything and print the runs in their order
    #[arg(long)]
    dry_run: bool,
    /// Take agents' NATS server in clear text (nats://) on another machine; the results say so
    #[arg(long, env = "IOTBENCH_INSECURE", value_parser = FalseyValueParser::new())]
    insecure: bool,
    #[command(flatten)]
    agents: AgentsArguments,
}

pub(super) fn suite(arguments: &SuiteArguments, tree: &clap::Command) -> Result<u8, SessionError> {
    let suite = read(arguments, tree)?;
    let wanted = arguments.agents.wanted();
    if wanted.load.is_some() {
        let (made, all) = suite.made_by_agents();
        console::say(&format!(
            "agents make the load of {made} of {all}; where it is embedded or cannot be divided so far, one process does"
        ));
    }
    if arguments.dry_run {
        console::print(&render_suite_order(&suite.planned()))?;
        console::say(&format!(
            "loads of at most {} in all; starting servers, filling, settling and checking come on top",
            minutes(suite.longest_load_s()?)
        ));
        return Ok(0);
    }
    let views = Views::open(arguments.ui, &arguments.figures)?;
    let screen = views.screen().cloned();
    let observer: Arc<dyn SessionObserver> = Arc::new(Teller::new(false, views));
    let mut runs = suite.begin(&arguments.out)?;
    if runs.have_no_database() {
        console::say(&render_suite_state(runs.record(), false, 100));
        return Err(SessionError::usage(
            "none of its databases can be started here: `iotbench backends` says what is missing",
        ));
    }
    let options = SessionOptions {
        agents: wanted,
        insecure: arguments.insecure,
        observer: Arc::clone(&observer),
        ..SessionOptions::new(arguments.out.clone())
    };
    let agents = gather(&options, arguments.agents.way(arguments.insecure)?)?;
    let stop = StopSignal::default();
    signals::stop_in_order_on(screen, stop.clone(), ANNOUNCEMENT)?;
    runs.carry_out(&observer, agents.as_ref(), &stop)?;
    let results = runs.results()?;
    console::print(&results.text(100))?;
    if let Some(page) = results.page()? {
        console::say(&format!("report: {}", console::printable_lines(&page.display().to_string())));
    }
    Ok(runs.exit_code(&stop))
}

/// The suite that is named, or was begun.
fn read(arguments: &SuiteArguments, tree: &clap::Command) -> Result<Suite, SessionError> {
    let wanted = arguments.agents.wanted();
    let run = |options: &[String]| {
        let run = RunArguments::of_suite(options, arguments.server_memory)?;
        Ok((run.workload()?, run.session(tree)?))
    };
    if let Some(folder) = &arguments.resume {
        return Suite::resume(folder, &run, &wanted);
    }
    let written = WrittenSuite::find(arguments.suite.as_deref().unwrap_or_default())?;
    let sittings = arguments.sessions.map(|sessions| SittingsWanted::new(sessions, arguments.over));
    let length = SuiteLength {
        full: arguments.full,
        runs: arguments.runs,
        sittings: sittings.as_ref(),
        results: &arguments.out,
    };
    Suite::new(written, length, &run, &wanted)
}
