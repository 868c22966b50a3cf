//! A suite by name or path.

use crate::{error::CliError, toml_file};
use iotbench_report::{SUITE_FILE, is_curve_figure, is_study_figure};
use iotbench_suite::{SuiteFile, SuiteFileError};
use iotbench_workloads::find_suite;
use std::path::Path;

/// A suite as written.
pub(super) struct WrittenSuite {
    pub(super) file: SuiteFile,
    pub(super) text: String,
}

impl WrittenSuite {
    /// The suite that a word on the command line means: a path if it looks like one, else a built-in name.
    pub(super) fn find(word: &str) -> Result<Self, CliError> {
        if word.contains('/') || Path::new(word).extension().is_some_and(|e| e == "toml") {
            let kind = "suite file; --resume goes on with the suite of a folder";
            return Self::parse(word, toml_file::read(Path::new(word), kind)?);
        }
        let built_in = find_suite(word).map_err(CliError::usage)?;
        Self::parse(&format!("{} (built in)", built_in.name), built_in.toml.into())
    }

    /// The suite of a folder that is gone on with.
    pub(super) fn of_folder(folder: &Path, text: String) -> Result<Self, CliError> {
        Self::parse(&folder.join(SUITE_FILE).display().to_string(), text)
    }

    fn parse(name: &str, text: String) -> Result<Self, CliError> {
        let checked = |text: &str| SuiteFile::from_toml(text).and_then(|file| with_known_figures(&file).map(|()| file));
        let file = toml_file::parse(name, &text, checked)?;
        Ok(Self { file, text })
    }
}

/// Whether every figure of its tables and curves is one that runs or scores have.
fn with_known_figures(file: &SuiteFile) -> Result<(), SuiteFileError> {
    let unknown = |key: String, figure: &str| {
        let message = format!("there is no figure {figure:?}: docs/suites.md lists them");
        Err(SuiteFileError::Value { key, message })
    };
    for (place, table) in file.tables.iter().enumerate() {
        let wrong = table.columns.iter().find(|column| !is_study_figure(&table.profile, &column.figure));
        if let Some(column) = wrong {
            return unknown(format!("tables[{place}].columns"), &column.figure);
        }
    }
    match file.curves.iter().enumerate().find(|(_, curve)| !is_curve_figure(&curve.figure)) {
        Some((place, curve)) => unknown(format!("curves[{place}].figure"), &curve.figure),
        None => Ok(()),
    }
}
