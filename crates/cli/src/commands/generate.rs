//! `iotbench generate`.

mod blocks;

use blocks::Blocks;
use clap::Args;
use iotbench_core::Batch;
use iotbench_engine::{Count, Span};
use iotbench_session::{SessionError, now_ns};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, Encoder, Format};
use std::{
    fs::File,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

const EXAMPLES: &str = "\
Examples:
  iotbench generate --dataset pmu --for 10m --devices 50 --format csv --out pmu.csv
  iotbench generate --dataset machine --set noise=0 --format influx | head
  iotbench generate --dataset pmu --from 2026-01-01T12:00:00Z --for 1s --format json";

/// Written at once.
const BLOCK_BYTES: usize = 256 * 1024;
const MAX_DEVICES: u64 = 1_000_000;

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
    let origin_ns = time("--origin", &arguments.origin)?;
    let from_ns = arguments.from.as_deref().map_or(Ok(origin_ns), |t| time("--from", t))?;
    if from_ns < origin_ns {
        let message = "--from lies before the first datapoint: give an earlier --origin too";
        return Err(SessionError::usage(message));
    }
    let devices = u32::try_from(arguments.devices.0).ok().filter(|d| (1..=MAX_DEVICES).contains(&u64::from(*d)));
    let devices = devices.ok_or_else(|| SessionError::usage(format!("--devices is from 1 to {MAX_DEVICES}")))?;
    let dataset =
        config(arguments)?.open(arguments.seed, origin_ns, devices, Path::new(".")).map_err(SessionError::usage)?;
    let until_ns = match arguments.length {
        None => None,
        Some(length) => Some(
            i64::try_from(length.as_ns())
                .ok()
                .and_then(|l| from_ns.checked_add(l))
                .ok_or_else(|| SessionError::usage("--for ends beyond the year 2262"))?,
        ),
    };
    let blocks = Blocks::new(Arc::clone(&dataset), devices, from_ns, until_ns);
    let encoder = Encoder::new(arguments.format, &arguments.dataset, Arc::clone(&dataset));
    let name = arguments.out.as_ref().map_or("standard output".into(), |out| out.display().to_string());
    let fail = |e: io::Error| SessionError::local_io(format!("{name} cannot be written: {e}"));
    let written = match &arguments.out {
        Some(path) => write_all(blocks, encoder, &*dataset, &mut File::create(path).map_err(fail)?),
        None => write_all(blocks, encoder, &*dataset, &mut io::stdout().lock()),
    };
    match written {
        // Whoever reads has enough.
        Err(e) if e.kind() == ErrorKind::BrokenPipe && arguments.out.is_none() => Ok(()),
        written => written.map_err(fail),
    }
}

fn write_all(mut blocks: Blocks, mut encoder: Encoder, dataset: &dyn Dataset, out: &mut dyn Write) -> io::Result<()> {
    let mut batch = Batch::new(dataset.schema());
    let mut buffer = Vec::with_capacity(2 * BLOCK_BYTES);
    encoder.header(&mut buffer);
    loop {
        batch.clear();
        let more = blocks.fill_next(&mut batch);
        encoder.encode(&batch, &mut buffer);
        if buffer.len() >= BLOCK_BYTES || !more {
            out.write_all(&buffer)?;
            buffer.clear();
        }
        if !more {
            return out.flush();
        }
    }
}

/// The dataset with the parameters given by `--set`.
fn config(arguments: &GenerateArguments) -> Result<DatasetConfig, SessionError> {
    let mut config = DatasetConfig::named(&arguments.dataset).map_err(SessionError::usage)?;
    for assignment in &arguments.set {
        let Some((key, text)) = assignment.split_once('=') else {
            return Err(SessionError::usage(format!("--set {assignment}: write key=value")));
        };
        config = config.with(key.trim(), literal(text.trim()));
    }
    Ok(config)
}

/// A TOML literal where the text is one, else a text.
fn literal(text: &str) -> serde_json::Value {
    let table = toml::from_str::<toml::Table>(&format!("v = {text}")).ok();
    let value = table.and_then(|mut t| t.remove("v")).and_then(|v| serde_json::to_value(v).ok());
    value.unwrap_or_else(|| text.into())
}

fn time(option: &str, text: &str) -> Result<i64, SessionError> {
    match text {
        "default" => Ok(DEFAULT_ORIGIN_NS),
        "now" => Ok(now_ns() / 1_000_000_000 * 1_000_000_000),
        _ => {
            let wrong = |why: String| SessionError::usage(format!("{option} {text:?}: {why}"));
            let time: jiff::Timestamp =
                text.parse().map_err(|e| wrong(format!("write default, now or 2026-01-01T00:00:00Z ({e})")))?;
            i64::try_from(time.as_nanosecond()).map_err(|_| wrong("lies beyond 64-bit nanoseconds".into()))
        }
    }
}
