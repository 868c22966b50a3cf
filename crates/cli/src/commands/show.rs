//! `iotbench show RUN`.

use crate::{console, error::CliError};
use clap::Args;
use iotbench_report::{read_document, render};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench show results/20260105T100000Z-pmu_write-sqlite-wide-abcd
  iotbench show results/20260105T100000Z-pmu_write-sqlite-wide-abcd/run.json --json | jq .verdict";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowArguments {
    /// The results folder, or the run.json in it
    run: PathBuf,
    /// The document instead of a text
    #[arg(long)]
    json: bool,
}

pub(super) fn show(arguments: &ShowArguments) -> Result<u8, CliError> {
    let document = read_document(&arguments.run)?;
    let text =
        if arguments.json { document.to_json().map_err(CliError::internal)? } else { render(&document, None, 100) };
    console::print(&text).map(|()| 0)
}
