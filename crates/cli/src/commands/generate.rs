//! `iotbench generate`.

use clap::Args;
use iotbench_engine::{Count, Span};
use iotbench_session::{RowsWanted, SessionError};
use iotbench_simulator::Format;
use std::{
    fs::File,
    io::{self, ErrorKind},
    path::PathBuf,
};

const EXAMPLES: &str = "\
Examples:
  iotbench generate --dataset pmu --for 10m --devices 50 --format csv --out pmu.csv
  iotbench generate --dataset machine --set noise=0 --format influx | head
  iotbench generate --dataset pmu --from 2026-01-01T12:00:00Z --for 1s --format json";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GenerateArguments {
    /// Which dataset; `iotbench datasets` lists them
    #[arg(long, value_name = "NAME", env = "IOTBENCH_DATASET")]
    dataset: String,
    /// Time of every device's first datapoint: default, now, or as 2026-01-01T00:00:00Z
    #[arg(long, value_name = "TIME", default_value = "default", env = "IOTBENCH_ORIGIN")]
    origin: String,
    /// Begin at this time, not before the origin; without it at the origin
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// How long, in the time of the data; without it endless
    #[arg(long = "for", value_name = "TIME")]
    length: Option<Span>,
    /// How many devices
    #[arg(long, value_name = "N", default_value = "1", env = "IOTBENCH_DEVICES")]
    devices: Count,
    /// Decides all random numbers; the same seed gives the same bytes
    #[arg(long, value_name = "N", default_value = "1", env = "IOTBENCH_SEED")]
    seed: u64,
    /// A parameter of the dataset; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// In which form
    #[arg(
        long,
        visible_alias = "output-format",
        value_name = "csv|json|influx",
        default_value = "csv",
        env = "IOTBENCH_FORMAT"
    )]
    format: Format,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn generate(arguments: &GenerateArguments) -> Result<(), SessionError> {
    let wanted = RowsWanted {
        dataset: arguments.dataset.clone(),
        parameters: arguments.set.clone(),
        origin: arguments.origin.clone(),
        from: arguments.from.clone(),
        length: arguments.length.map(|length| length.0),
        devices: arguments.devices.0,
        seed: arguments.seed,
        format: arguments.format,
    };
    let write = wanted.open()?;
    let name = arguments.out.as_ref().map_or("standard output".into(), |out| out.display().to_string());
    let fail = |e: io::Error| SessionError::local_io(format!("{name} cannot be written: {e}"));
    let written = match &arguments.out {
        Some(path) => write(&mut File::create(path).map_err(fail)?),
        None => write(&mut io::stdout().lock()),
    };
    match written {
        // Whoever reads has enough.
        Err(e) if e.kind() == ErrorKind::BrokenPipe && arguments.out.is_none() => Ok(()),
        written => written.map_err(fail),
    }
}
