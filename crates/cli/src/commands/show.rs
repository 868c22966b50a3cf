//! `iotbench show RUN`.

use crate::{console, form::FormArguments};
use clap::Args;
use iotbench_report::{
    SESSIONS_DOCUMENT, read_documents, read_sessions, render, render_json, render_sessions, render_sweep,
};
use iotbench_session::{SearchHead, SessionError};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench show results/20260105T100000Z-pmu_write-sqlite-wide-abcd
  iotbench show results/20260105T100000Z-pmu_write-sqlite-wide-abcd/run.json --json | jq .verdict";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ShowArguments {
    /// The results folder of a run, of a sweep or of sittings, or the run.json in it
    run: PathBuf,
    #[command(flatten)]
    form: FormArguments,
}

pub(super) fn show(arguments: &ShowArguments) -> Result<u8, SessionError> {
    let documents = read_documents(&arguments.run)?;
    if arguments.run.join(SESSIONS_DOCUMENT).is_file() {
        let record = read_sessions::<SearchHead>(&arguments.run)?;
        let json = || serde_json::to_string_pretty(&record).map(|text| text + "\n").map_err(SessionError::internal);
        let text = if arguments.form.is_json() { json()? } else { render_sessions(&record, &documents, 100) };
        return console::print(&text).map(|()| 0);
    }
    let text = match (documents.as_slice(), arguments.form.is_json()) {
        ([one], false) => render(one, None, 100),
        (runs, true) => render_json(runs).map_err(SessionError::internal)?,
        (runs, false) => render_sweep(runs, 100),
    };
    console::print(&text).map(|()| 0)
}
