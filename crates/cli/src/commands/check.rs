//! `iotbench check FILE`.

use crate::console::{self, columns};
use clap::Args;
use iotbench_engine::Overrides;
use iotbench_session::{BackendWord, Job, Place, SessionError, plan_in_words, read_written_profile};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  iotbench check mine.toml
  iotbench check mine.toml --backend sqlite:bulk
  iotbench check mine.toml --full";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CheckArguments {
    /// The profile
    file: PathBuf,
    /// The database to check it against, and its layout
    #[arg(long, short, value_name = "NAME[:LAYOUT]", default_value = "sqlite", env = "IOTBENCH_BACKEND")]
    backend: String,
    /// Check the study's own lengths
    #[arg(long)]
    full: bool,
}

pub(super) fn check(arguments: &CheckArguments) -> Result<(), SessionError> {
    let written = read_written_profile(&arguments.file)?;
    let word = BackendWord::read(&arguments.backend)?;
    let overrides = Overrides { full: arguments.full, ..Overrides::default() };
    let variants = written.profile.variants_on(word.backend.info().name, &overrides, &[]);
    for variant in variants.map_err(|e| written.source.error(&e))? {
        Job::new(&written, word, &Overrides { variant, ..overrides.clone() }, &[], false)?;
    }
    let job = Job::new(&written, word, &overrides, &[], false)?;
    let planned = job.plans("check", &Place::nowhere()).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = planned.first() else { return Err(SessionError::internal("a profile without a run")) };
    let head = format!("ok: {} on {}, layout {}", written.profile.name, word.backend.info().name, job.layout);
    let parts = plan_in_words(first, planned.len()).into_iter().map(|[part, is]| [format!("  {part}"), is]);
    console::print(&console::printable_lines(&format!("{head}\n{}", columns(&parts.collect::<Vec<_>>()))))
}
