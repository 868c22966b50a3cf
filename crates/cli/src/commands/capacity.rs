//! `iotbench capacity`: a run that searches the highest sustainable load.

use super::run::{self, RunArguments};
use crate::exit_codes::EXIT_CODES;
use clap::Args;
use iotbench_engine::{Count, Criterion, SearchOverride, Share, Span};
use iotbench_session::SessionError;

const EXAMPLES: &str = "\
Examples:
  iotbench capacity -p pmu_write -b sqlite                      the most virtual users, by the profile's own limit
  iotbench capacity -p machine_write --arrival constant --criterion 'p99<50ms' --trial 60s
  iotbench capacity -p machine_write --arrival poisson --criterion 'mean<1s, errors<=1%' -b mariadb
  iotbench capacity -p smart_meter_write --width 5% --trials 12 the most devices, sooner and less surely
  iotbench capacity -p pmu_write --first 1k --most 5k --dry-run what it would do
  iotbench capacity --resume results/20260105T100000Z-pmu_write-sqlite-wide-abcd
                                                                goes on after the last trial of a search that was killed
  iotbench capacity -p pmu_write --sessions 5 --over 2h         five sittings in two hours: what another one finds

The answer is the load that half of the trials sustain, with its 90 % interval. A trial is sustained when the criterion \
holds and, of an open loop, at least 99 % of the offered rate is achieved and the backlog does not grow. The load doubles \
until a trial fails twice and is halved to within a quarter; then blocks of three trials, one a little below the limit, \
one a little above it and a sentinel, which is known to be sustained, run in random order until the interval is narrow \
enough. Ctrl-C ends the search with the interval known so far.";

#[derive(Debug, Args)]
#[command(
    allow_negative_numbers = true,
    override_usage = "iotbench capacity [OPTIONS] --profile <NAME|FILE>\n       iotbench capacity [OPTIONS] --resume <FOLDER>",
    after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    mut_arg("duration", |arg| arg.hide(true)),
    mut_arg("operations", |arg| arg.hide(true)),
    mut_arg("rate", |arg| arg.hide(true)),
    mut_arg("vus", |arg| arg.hide(true)),
    mut_arg("resume", |arg| arg.conflicts_with_all(BEGUN)),
)]
pub(crate) struct CapacityArguments {
    /// When a load is too much, such as p99<50ms or mean<1s,errors<=1%; without it by the profile
    #[arg(long, env = "IOTBENCH_CRITERION", value_name = "LIMITS")]
    criterion: Option<Criterion>,
    /// How narrow the interval has to be: (upper - lower) / upper
    #[arg(long, env = "IOTBENCH_WIDTH", value_name = "SHARE", default_value_t = SearchOverride::WIDTH)]
    width: Share,
    /// How long each trial counts, such as 60s; without it by the profile
    #[arg(long, env = "IOTBENCH_TRIAL", value_name = "TIME")]
    trial: Option<Span>,
    /// At most so many trials near the limit, from 12 to 300, however wide the interval is by then; 0 only brackets it
    #[arg(long, env = "IOTBENCH_TRIALS", value_name = "N", default_value_t = SearchOverride::TRIALS)]
    trials: Count,
    /// The load of the first trial; without it the profile's own
    #[arg(long, env = "IOTBENCH_FIRST", value_name = "N")]
    first: Option<Count>,
    /// A greater load is not tried
    #[arg(long, env = "IOTBENCH_MOST", value_name = "N")]
    most: Option<Count>,
    #[command(flatten)]
    run: RunArguments,
}

/// What a search that goes on has from where it began, besides what a run has.
const BEGUN: [&str; 6] = ["criterion", "width", "trial", "trials", "first", "most"];

pub(super) fn capacity(arguments: CapacityArguments, tree: &clap::Command) -> Result<u8, SessionError> {
    let CapacityArguments { criterion, width, trial, trials, first, most, run } = arguments;
    if run.is_resumed() {
        return run::run(&run, tree);
    }
    let search = SearchOverride { criterion, width: Some(width), trial, trials: Some(trials), first, most };
    run::run(&run.searching(search)?, tree)
}
