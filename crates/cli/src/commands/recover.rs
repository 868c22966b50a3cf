//! `iotbench recover`: a valid document of a run that was killed.

use crate::{
    console::{self, printable_lines},
    exit_codes::EXIT_CODES,
    form::FormArguments,
};
use clap::Args;
use iotbench_report::{DATABASE_FOLDER, Document, Recovered, recover_all, render, render_json};
use iotbench_session::{SessionError, open_ledger};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  iotbench recover results/20260105T100000Z-pmu_write-sqlite-wide-abcd
  iotbench recover results/20260105T100000Z-pmu_write-sqlite-wide-abcd --json | jq .load
  iotbench recover results/20260105T100000Z-weather_insert-mariadb-wide-abcd      each run of a sweep

Writes run.json and manifest.json of a run that was killed: with everything up to the last second, the status aborted, what \
was under way as unknown and what was due as pending. A run that has ended, or goes on, is left as it is (exit codes 2 and \
31). Afterwards show, verify and score work as on any run.";

#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub(crate) struct RecoverArguments {
    /// The results folder of a run that was killed
    run: PathBuf,
    #[command(flatten)]
    form: FormArguments,
}

pub(super) fn recover(arguments: &RecoverArguments) -> Result<(), SessionError> {
    let recovered = recover_all(&arguments.run)?;
    for (folder, Recovered { document, notes }) in &recovered {
        notes.iter().for_each(|note| console::say(&format!("note: {}", printable_lines(note))));
        if !arguments.form.is_json() {
            console::print(&format!("{}\n\n", render(document, None, 100).trim_end()))?;
        }
        console::say(&left(folder, document));
    }
    if !arguments.form.is_json() {
        return Ok(());
    }
    let documents: Vec<Document> = recovered.into_iter().map(|(_, recovered)| recovered.document).collect();
    console::print(&render_json(&documents).map_err(SessionError::internal)?)
}

/// What the run left where it wrote, and what to do about it.
fn left(folder: &Path, document: &Document) -> String {
    let shown = printable_lines(&folder.display().to_string());
    let target = &document.target;
    if target.managed {
        return "its private server has ended with it; `iotbench clean --dry-run` lists what runs kept of theirs"
            .into();
    }
    if folder.join(DATABASE_FOLDER).is_dir() {
        return format!(
            "what it wrote is in {shown}/{DATABASE_FOLDER}: `iotbench verify {shown}` holds it against the ledger"
        );
    }
    let Ok(head) = open_ledger(folder).map(|ledger| ledger.head().ok()) else {
        return "it had written nothing".into();
    };
    let table = head.map_or_else(|| "its table".into(), |head| printable_lines(head.plan.table.name.as_str()));
    let (address, run_id) = (printable_lines(&target.endpoints.join(", ")), printable_lines(&document.run_id));
    format!(
        "left in {address}, as far as it was made: {table}, with the marker of {run_id}
  iotbench verify {shown} --url {address}   holds it against the ledger
  iotbench clean --url {address} --dry-run   lists it, and without --dry-run drops it
  (with the login, where the address needs one)"
    )
}
