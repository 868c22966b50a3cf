//! The options of `iotbench run`.

use super::{
    agents::AgentsArguments, changes::ChangeArguments, command::without_secrets, sittings::SessionsArguments,
    target::TargetArguments,
};
use crate::{
    commands::comparing::ComparisonArguments,
    exit_codes::EXIT_CODES,
    passwords,
    suggestions::improved,
    teller::Teller,
    views::{FiguresArguments, Views},
};
use clap::{
    Args, CommandFactory, Parser, ValueEnum,
    builder::{ArgPredicate, FalseyValueParser},
};
use iotbench_core::Endpoint;
use iotbench_engine::{Bytes, Overrides, SearchOverride, VerifyMode};
use iotbench_launcher::DEFAULT_MEMORY_BYTES;
use iotbench_session::{
    BackendWord, SessionError, SessionOptions, SittingsWanted, Workload, admitted, endpoints, find_written_profile,
};
use std::{path::PathBuf, sync::Arc};

const EXAMPLES: &str = "\
Examples:
  iotbench run --profile pmu_write                              the most devices that SQLite sustains
  iotbench run -p pmu_write --vus 50 -d 20s                     a fixed load instead of a search
  iotbench run -p machine_write -b sqlite:bulk -d 10s --keep    and leave the database file
  iotbench run -p machine_write -b sqlite -b blackhole          one after the other
  iotbench run -p pmu_write --vus 50 -b sqlite -b mariadb --runs 5
                                                                five runs of each, and means with 95 % intervals
  iotbench run -p pmu_write -b mongodb --url mongodb://a:27017,b:27017/
  iotbench run -p pmu_write --sessions 5 --over 2h              five sittings in two hours, and their interval
  iotbench run --resume results/20260105T100000Z-pmu_write-sqlite-sessions-abcd
                                                                goes on after the last whole sitting
  iotbench run -p machine_write -d 20s --runs 5 --baseline results-of-main
                                                                is it slower than those runs? Exit code 13 if so
  iotbench run -p machine_write -b mariadb:bulk                 on a private server, started for the run and removed
  iotbench run -p machine_read -b postgres:wide --strategy bulk --history 2m
  iotbench run -p compressor_mean -b mariadb --variant 'index none'
  iotbench run -p pmu_write --set ramp.step=60s --set backend.sqlite.synchronous=NORMAL
  iotbench run -p smart_meter_write --set interval=30s          the most meters; the window shrinks with the interval
  iotbench run -p weather_insert --set sweep.values=[2,10,100]  a run for each value, and one table
  iotbench run -p machine_write -b mariadb -d 60s --scenario 20s:restart
  iotbench run -p machine_write -b postgres -d 30s --scenario crash    what is lost, and how soon is it back?
  iotbench run -p machine_write -b postgres --set devices=4 --agents 2    the load by two processes of this machine
  iotbench run -p machine_write -b postgres --url postgres://db/ --set devices=4 --nats tls://HOST --agent-key run.key --agents a,b
                                                                by two machines, on each of which is an iotbench agent
  iotbench run -p pmu_write -b postgres --url postgres://db/ --nats tls://HOST --agent-key run.key --sample db1:postgres
  iotbench run -p compressor_insert -b postgres:document --via mqtt    through a broker, to the database and in time?
  iotbench run -p pmu_write --vus 10 --rate 50 --insecure --via 'mqtt://broker:1883?qos=0&payload=line'
  iotbench run -p ./mine.toml --dry-run                         what it would do

An option that shows [env: IOTBENCH_…] can be given as that variable too; the command line comes first, then the environment, \
then the profile.
Standard output carries the result only; progress goes to standard error.";

#[derive(Clone, Debug, Args)]
#[command(
    allow_negative_numbers = true,
    override_usage = "iotbench run [OPTIONS] --profile <NAME|FILE>\n       iotbench run [OPTIONS] --resume <FOLDER>",
    after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}")
)]
pub(crate) struct RunArguments {
    /// The workload: a built-in name (`iotbench profiles`), or a file (with a / or ending with .toml)
    #[arg(
        long,
        short,
        env = "IOTBENCH_PROFILE",
        value_name = "NAME|FILE",
        required = false,
        required_unless_present = "resume",
        default_value_if("resume", ArgPredicate::IsPresent, "")
    )]
    pub(super) profile: String,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    changes: ChangeArguments,
    /// So many runs of each, in rounds of a random order, each with a fresh state; at the end means with intervals
    #[arg(long, env = "IOTBENCH_RUNS", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: u32,
    #[command(flatten)]
    pub(super) sessions: SessionsArguments,
    /// Where results folders are made
    #[arg(long, env = "IOTBENCH_OUT", value_name = "FOLDER", default_value = "./results")]
    pub(super) out: PathBuf,
    /// What standard output gets
    #[arg(long, visible_alias = "format", env = "IOTBENCH_OUTPUT_FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub(super) output_format: OutputFormat,
    /// Take an encrypted connection to a database whoever answers, its certificate unchecked, and a broker (--nats, --via) in clear
    /// text on another machine; the result says so
    #[arg(long, env = "IOTBENCH_INSECURE", value_parser = FalseyValueParser::new())]
    pub(super) insecure: bool,
    /// Check everything and print what would be done, as TOML or JSON
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Keep a line for each operation in operations.jsonl
    #[arg(long, env = "IOTBENCH_TRACE", value_parser = FalseyValueParser::new())]
    pub(super) trace: bool,
    /// Leave what was written in the database, and the folder of a private server
    #[arg(long, env = "IOTBENCH_KEEP", value_parser = FalseyValueParser::new())]
    pub(super) keep: bool,
    /// What is compared with the truth: of reads no answer, a sample (the first 100, then one of 16) or all; at the end, of
    /// what is stored nothing, a sample of the devices or all
    #[arg(long, env = "IOTBENCH_VERIFY", value_name = "none|sample|full", default_value_t = VerifyMode::Sample)]
    pub(super) verify: VerifyMode,
    /// The memory budget of a private server's caches
    #[arg(long, env = "IOTBENCH_SERVER_MEMORY", value_name = "SIZE", default_value_t = Bytes(DEFAULT_MEMORY_BYTES))]
    pub(super) server_memory: Bytes,
    /// Compare with the runs in this folder, and end with exit code 13 on a regression (docs/ci.md)
    #[arg(long, env = "IOTBENCH_BASELINE", value_name = "DIR")]
    pub(super) baseline: Option<PathBuf>,
    /// A dashboard instead of lines, on a terminal: rates, response times and resources as they happen; q ends and saves
    #[arg(long, env = "IOTBENCH_UI", value_parser = FalseyValueParser::new())]
    ui: bool,
    #[command(flatten)]
    figures: FiguresArguments,
    /// Set by `iotbench suite`: the command that does what one of its runs does.
    #[arg(skip)]
    command: Option<Vec<String>>,
    #[command(flatten, next_help_heading = "On several machines")]
    pub(super) agents: AgentsArguments,
    #[command(flatten, next_help_heading = "With --baseline")]
    pub(super) comparison: ComparisonArguments,
}

/// What standard output gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    /// The result for people
    Text,
    /// One JSON document: the run, or {"runs":[…]} for several, with {"repetitions":…} beside for --runs and
    /// {"comparisons":…} for --baseline; of sittings their sessions.json
    Json,
    /// The results folder's path; no progress either
    Quiet,
}

impl RunArguments {
    /// The changes to the profile.
    pub(super) fn overrides(&self) -> Overrides {
        Overrides { layout: self.target.layout, ..self.changes.overrides() }
    }

    /// A run as a suite means it: `options` as on the command line; this process makes its load.
    pub(crate) fn of_suite(options: &[String], server_memory: Bytes) -> Result<Self, SessionError> {
        #[derive(Parser)]
        #[command(name = "iotbench run", no_binary_name = true)]
        struct Words {
            #[command(flatten)]
            run: RunArguments,
        }
        let unfit = |e| SessionError::usage(improved(e, &Words::command()).render());
        let Words { run } = Words::try_parse_from(options).map_err(unfit)?;
        let of_machines = ["--agents", "--sample", "--server-at"];
        if let Some(given) = of_machines.iter().find(|of| options.iter().any(|option| option.starts_with(**of))) {
            return Err(SessionError::usage(format!(
                "agents are of the machines: leave {given} out of the suite's file, and give it to `iotbench suite`"
            )));
        }
        let agents = run.agents.without();
        if run.sessions.wanted().is_some() || run.is_resumed() {
            return Err(SessionError::usage(
                "a suite makes its runs itself: leave --sessions and --resume out of its file, and give --runs N to `iotbench suite`",
            ));
        }
        let command = ["iotbench", "run"].into_iter().map(String::from).chain(options.iter().cloned()).collect();
        Ok(Self { server_memory, agents, command: Some(command), ..run })
    }

    /// Whether nothing is to be said but the result.
    pub(super) fn is_quiet(&self) -> bool {
        self.output_format == OutputFormat::Quiet
    }

    /// What is to be run.
    pub(crate) fn workload(&self) -> Result<Workload<'static>, SessionError> {
        self.check_comparison()?;
        let profile = find_written_profile(&self.profile)?;
        let databases =
            self.target.backend.iter().map(|word| BackendWord::read(word)).collect::<Result<Vec<_>, _>>()?;
        let endpoints = self.endpoints()?;
        if endpoints.iter().any(|endpoint| endpoint.expose().password().is_some()) {
            passwords::warn_of("--url", "IOTBENCH_URL");
        }
        Ok(Workload {
            profile,
            databases,
            endpoints: admitted(endpoints),
            overrides: self.overrides(),
            variants: self.changes.variant.clone(),
            strategies: self.changes.strategy.clone(),
            insecure: self.insecure,
        })
    }

    /// How it is run. `tree`: all commands.
    pub(crate) fn session(&self, tree: &clap::Command) -> Result<SessionOptions, SessionError> {
        let own = || std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
        let via = self.target.via.as_deref().map(str::parse).transpose().map_err(SessionError::usage)?;
        Ok(SessionOptions {
            command: without_secrets(&self.command.clone().unwrap_or_else(own), tree),
            insecure: self.insecure,
            keep: self.keep,
            trace: self.trace,
            verify: self.verify,
            server_memory_bytes: self.server_memory.0,
            via,
            agents: self.agents.wanted(),
            observer: Arc::new(Teller::new(self.is_quiet(), Views::default())),
            ..SessionOptions::new(self.out.clone())
        })
    }

    /// The sittings that are asked for, if what else is asked for goes with them.
    pub(super) fn sittings(&self) -> Result<Option<SittingsWanted>, SessionError> {
        let Some(wanted) = self.sessions.wanted() else { return Ok(None) };
        let unfit = [
            (self.runs > 1, "--runs", "a sitting is a run, and --sessions says how many there are"),
            (self.keep, "--keep", "it leaves what the next sitting would begin with"),
            (self.baseline.is_some(), "--baseline", "compare the folder of the sittings afterwards: iotbench compare"),
            (
                self.target.via.is_some(),
                "--via",
                "sittings through a broker are not built: --runs makes them one after the other",
            ),
        ];
        match unfit.into_iter().find(|(is_given, ..)| *is_given) {
            Some((_, option, why)) => Err(SessionError::usage(format!("{option} does not go with --sessions: {why}"))),
            None => Ok(Some(wanted)),
        }
    }

    /// Checks that what says how to compare has something to compare with.
    pub(super) fn check_comparison(&self) -> Result<(), SessionError> {
        match self.comparison.without_use().filter(|_| self.baseline.is_none()) {
            Some(option) => Err(SessionError::usage(format!(
                "{option} says how runs are compared, and nothing is: give --baseline DIR, or leave {option} out"
            ))),
            None => Ok(()),
        }
    }

    /// Opens the views that are asked for.
    pub(super) fn open_views(&self) -> Result<Views, SessionError> {
        if self.ui && self.output_format == OutputFormat::Quiet {
            return Err(SessionError::usage("--ui shows what --output-format quiet does not: leave one out"));
        }
        Views::open(self.ui, &self.figures)
    }

    /// The same run as a search for the highest sustainable load.
    pub(crate) fn searching(self, search: SearchOverride) -> Result<Self, SessionError> {
        Ok(Self { changes: self.changes.searching(search)?, ..self })
    }

    /// Whether it goes on with what was interrupted.
    pub(crate) fn is_resumed(&self) -> bool {
        self.sessions.resume.is_some()
    }

    /// Where the database is, if the user says so.
    pub(super) fn endpoints(&self) -> Result<Vec<Endpoint>, SessionError> {
        endpoints(&self.target.url)
    }
}
