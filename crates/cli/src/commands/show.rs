//! `iotbench show RUN`.

use crate::{console, error::CliError};
use clap::Args;
use iotbench_report::{read_documents, render, render_sweep};
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench show results/20260105T100000Z-pmu_write-sqlite-wide-abcd
  iotbench show results/20260105T100000Z-pmu_write-sqlite-wide-abcd/run.json --json | jq .verdict";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowArguments {
    /// The results folder of a run or of a sweep, or the run.json in it
    run: PathBuf,
    /// The document instead of a text
    #[arg(long)]
    json: bool,
}

pub(super) fn show(arguments: &ShowArguments) -> Result<u8, CliError> {
    let documents = read_documents(&arguments.run)?;
    let text = match (documents.as_slice(), arguments.json) {
        ([one], true) => one.to_json().map_err(CliError::internal)?,
        ([one], false) => render(one, None, 100),
        (runs, true) => format!("{:#}\n", json!({ "runs": runs })),
        (runs, false) => render_sweep(runs, 100),
    };
    console::print(&text).map(|()| 0)
}
