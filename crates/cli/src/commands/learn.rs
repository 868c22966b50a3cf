//! `iotbench learn FILE`.

use crate::console;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use iotbench_report::write_file;
use iotbench_session::SessionError;
use iotbench_simulator::{DatasetConfig, LearnOptions, Learned};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  iotbench learn recording.csv -o mine.toml
  iotbench learn tsbs.gz --set measurement=readings --set device_tag=name --set broken=skip > mine.toml
  iotbench check mine.toml
  iotbench run -p ./mine.toml -b sqlite

Texts and names of devices are replaced by random ones as long, numbers become a table of rounded quantiles; --keep-values keeps \
both as recorded (docs/howto/your-data.md).";

/// The longest name of a profile that is made of a file's.
const MAX_NAME_CHARACTERS: usize = 32;

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
    let name = arguments.name.clone().unwrap_or_else(|| name_of(&arguments.file));
    let options = LearnOptions { name: &name, keep_values: arguments.keep_values, seed: arguments.seed };
    let style = ProgressStyle::with_template("reading {percent} %").map_err(SessionError::internal)?;
    let bar = ProgressBar::new(1000).with_style(style);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
    let mut progress = |part: f64| bar.set_position((part * 1000.0) as u64);
    let learned = iotbench_simulator::learn(&recording(arguments)?, Path::new("."), &options, &mut progress);
    bar.finish_and_clear();
    let learned = learned.map_err(SessionError::usage)?;
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

/// The dataset replay of the file.
fn recording(arguments: &LearnArguments) -> Result<DatasetConfig, SessionError> {
    let Some(file) = arguments.file.to_str() else {
        return Err(SessionError::usage(format!("{}: the name is no UTF-8 text", arguments.file.display())));
    };
    let mut config = DatasetConfig::named("replay").map_err(SessionError::usage)?;
    for assignment in &arguments.set {
        let Some((key, text)) = assignment.split_once('=') else {
            return Err(SessionError::usage(format!("--set {assignment}: write key=value")));
        };
        config = config.with(key.trim(), value(text.trim()));
    }
    Ok(config.with("file", file))
}

/// What TOML reads as a value, or the text itself.
fn value(text: &str) -> serde_json::Value {
    let table = toml::from_str::<serde_json::Map<String, serde_json::Value>>(&format!("value = {text}"));
    table.ok().and_then(|mut table| table.remove("value")).unwrap_or_else(|| text.into())
}

/// A profile's name out of a file's.
fn name_of(file: &Path) -> String {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or_default();
    let characters = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' });
    let name: String = characters.take(MAX_NAME_CHARACTERS).collect();
    if name.starts_with(|c: char| c.is_ascii_lowercase()) { name } else { format!("learned_{name}") }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_called_as_the_file_is() {
        let names = ["/a/Pump-7.csv.gz", "7.lp", "", "ü.csv"].map(|file| name_of(Path::new(file)));
        assert_eq!(names, ["pump_7", "learned_7", "learned_", "learned__"]);
    }

    #[test]
    fn a_value_is_one_of_toml_or_a_text() {
        assert_eq!(value("[\"a\"]"), serde_json::json!(["a"]));
        assert_eq!([value("7"), value("skip")], [serde_json::json!(7), serde_json::json!("skip")]);
    }
}
