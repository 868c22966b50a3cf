//! `iotbench sample`.

use crate::{console, signals};
use clap::{ArgGroup, Args, ValueEnum};
use iotbench_engine::{Span, StopSignal};
use iotbench_report::{SampleTable, render_sampled};
use iotbench_sampler::Target;
use iotbench_session::{SessionError, interrupted, sample as sample_target};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench sample --pid 4711
  iotbench sample --cgroup /system.slice/postgresql.service -d 30s
  iotbench sample --host --interval 5s --csv > host.csv";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group = ArgGroup::new("target").required(true).args(["pid", "cgroup", "host"]))]
pub(crate) struct SampleArguments {
    /// This process and all its descendants
    #[arg(long)]
    pid: Option<i32>,
    /// This control group and all below it
    #[arg(long, value_name = "PATH")]
    cgroup: Option<PathBuf>,
    /// The whole machine
    #[arg(long)]
    host: bool,
    /// From one sample to the next
    #[arg(long, default_value = "1s", value_name = "TIME")]
    interval: Span,
    /// How long; without it until Ctrl-C or the target's end
    #[arg(long, short, value_name = "TIME")]
    duration: Option<Span>,
    /// A table for people, or raw counters as CSV
    #[arg(long, visible_alias = "format", value_name = "FORMAT", default_value = "text")]
    output_format: Format,
    /// The same as --output-format csv
    #[arg(long, conflicts_with = "output_format")]
    csv: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// Raw counters
    Csv,
}

pub(super) fn sample(arguments: &SampleArguments) -> Result<u8, SessionError> {
    let stop = StopSignal::default();
    signals::stop_in_order(stop.clone(), "")?;
    let is_csv = arguments.csv || arguments.output_format == Format::Csv;
    let mut table = if is_csv { SampleTable::csv() } else { SampleTable::text() };
    let mut head = Some(table.head());
    let (interval, length) = (arguments.interval.0, arguments.duration.map(|length| length.0));
    let report = sample_target(target(arguments), interval, length, &stop, move |observation| {
        head.take().map(console::print_unless_closed);
        let line = table.line(observation);
        console::print_unless_closed(&line.text) && !line.last
    })?;
    if !is_csv {
        console::print(&render_sampled(&report))?;
    }
    Ok(stop.requested().map_or(0, interrupted))
}

fn target(arguments: &SampleArguments) -> Target {
    match (arguments.pid, &arguments.cgroup) {
        (Some(pid), _) => Target::ProcessTree { pid },
        (None, Some(path)) => Target::Cgroup { path: path.clone() },
        (None, None) => Target::Host,
    }
}
