//! `iotbench sample`.

mod table;

use crate::{console, signals};
use clap::{ArgGroup, Args, ValueEnum};
use iotbench_engine::{Span, StopSignal};
use iotbench_sampler::{Reading, Sampler, SamplerError, Subject, Target};
use iotbench_session::SessionError;
use std::{
    path::PathBuf,
    sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    time::{Duration, Instant},
};
use table::Table;

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

/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(100);

pub(super) fn sample(arguments: &SampleArguments) -> Result<u8, SessionError> {
    let stop = StopSignal::default();
    signals::stop_in_order(stop.clone(), "")?;
    let is_csv = arguments.csv || arguments.output_format == Format::Csv;
    let mut table = if is_csv { Table::csv() } else { Table::text() };
    let mut head = Some(table.head());
    let (ended, end) = sync_channel(1);
    let on_tick = move |readings: &[Reading]| {
        head.take().map(console::print_unless_closed);
        tick(&mut table, readings, &ended);
    };
    let subject = Subject { role: "target".into(), node: 0, target: target(arguments) };
    let sampler =
        Sampler::start(Instant::now(), arguments.interval.0, vec![subject], on_tick).map_err(|e| match e {
            SamplerError::Thread(_) => SessionError::internal(e),
            SamplerError::ZeroInterval | SamplerError::Subject { .. } => SessionError::usage(e),
        })?;
    let until = arguments.duration.map(|d| Instant::now() + d.0);
    while stop.requested().is_none() && until.is_none_or(|u| Instant::now() < u) {
        let left = until.map_or(LOOK, |u| u.saturating_duration_since(Instant::now()).min(LOOK));
        match end.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let report = sampler.stop();
    if !is_csv {
        console::print(&table::total(&report))?;
    }
    Ok(stop.requested().map_or(0, |signal| u8::try_from(128 + signal).unwrap_or(130)))
}

fn target(arguments: &SampleArguments) -> Target {
    match (arguments.pid, &arguments.cgroup) {
        (Some(pid), _) => Target::ProcessTree { pid },
        (None, Some(path)) => Target::Cgroup { path: path.clone() },
        (None, None) => Target::Host,
    }
}

/// Prints the line of a tick; tells the main thread when there will be no other.
fn tick(table: &mut Table, readings: &[Reading], ended: &SyncSender<()>) {
    for reading in readings {
        let line = table.line(&reading.observation);
        let printed = console::print_unless_closed(&line.text);
        if line.last || !printed {
            // Full: the end is known already.
            let _ = ended.try_send(());
        }
    }
}
