//! `iotbench learn FILE`.

use crate::console;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use iotbench_report::write_file;
use iotbench_session::{RecordingToLearn, SessionError};
use iotbench_simulator::Learned;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench learn recording.csv -o mine.toml
  iotbench learn tsbs.gz --set measurement=readings --set device_tag=name --set broken=skip > mine.toml
  iotbench check mine.toml
  iotbench run -p ./mine.toml -b sqlite

Texts and names of devices are replaced by random ones as long, numbers become a table of rounded quantiles; --keep-values keeps \
both as recorded (docs/howto/your-data.md).";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LearnArguments {
    /// The recording: CSV, line protocol or what TSBS writes, compressed by gzip or not
    file: PathBuf,
    /// How it is read: a parameter of the dataset replay, as `iotbench datasets replay` lists them; repeatable
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Name of the profile [default: the file's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file of --output
    #[arg(long)]
    force: bool,
    /// Keep texts, names of devices and quantiles as they were recorded
    #[arg(long)]
    keep_values: bool,
    /// Decides which part of a long recording is looked at closely, and the texts that stand for recorded ones
    #[arg(long, value_name = "N", default_value = "1", env = "IOTBENCH_SEED")]
    seed: u64,
}

pub(super) fn learn(arguments: &LearnArguments) -> Result<(), SessionError> {
    if let Some(output) = arguments.output.as_ref().filter(|output| !arguments.force && output.exists()) {
        return Err(SessionError::usage(format!("{} is there already: --force replaces it", output.display())));
    }
    let wanted = RecordingToLearn {
        file: arguments.file.clone(),
        parameters: arguments.set.clone(),
        name: arguments.name.clone(),
        keep_values: arguments.keep_values,
        seed: arguments.seed,
    };
    let style = ProgressStyle::with_template("reading {percent} %").map_err(SessionError::internal)?;
    let bar = ProgressBar::new(1000).with_style(style);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
    let mut progress = |part: f64| bar.set_position((part * 1000.0) as u64);
    let learned = wanted.learn(&mut progress);
    bar.finish_and_clear();
    let learned = learned?;
    match &arguments.output {
        None => {
            console::print(&learned.profile)?;
            report(&learned).lines().for_each(console::say);
            Ok(())
        }
        Some(output) => {
            write_file(output, learned.profile.as_bytes())?;
            console::print(&console::printable_lines(&format!("{}profile: {}\n", report(&learned), output.display())))
        }
    }
}

/// How alike generated data are.
fn report(learned: &Learned) -> String {
    let likeness = &learned.likeness;
    let mut rows = vec![["signal".to_owned(), "KS distance".to_owned()]];
    rows.extend(likeness.signals.iter().map(|(name, distance)| [name.clone(), format!("{distance:.3}")]));
    rows.push(["times between datapoints".into(), format!("{:.3}", likeness.between_datapoints)]);
    let compressed = format!("compressed size, recorded : generated = {:.3}\n", likeness.compressed);
    let untold = learned.untold.iter().map(|untold| format!("not alike: {untold}\n"));
    let remark = learned.remark.iter().map(|remark| format!("remark: {remark}\n"));
    console::columns(&rows) + &compressed + &untold.chain(remark).collect::<String>()
}
