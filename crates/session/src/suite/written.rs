//! A suite by name or path.

use crate::{
    error::SessionError,
    toml_file::{parse_toml_file, read_toml_file},
};
use iotbench_report::{SUITE_FILE, is_curve_figure, is_study_figure};
use iotbench_suite::{SuiteFile, SuiteFileError};
use iotbench_workloads::find_suite;
use std::path::Path;

/// A suite as written.
pub struct WrittenSuite {
    /// What it means.
    pub file: SuiteFile,
    /// Its text.
    pub text: String,
}

impl WrittenSuite {
    /// The suite that a word on the command line means: a path if it looks like one, else a built-in name.
    ///
    /// # Errors
    /// It cannot be read, or is no suite.
    pub fn find(word: &str) -> Result<Self, SessionError> {
        if word.contains('/') || Path::new(word).extension().is_some_and(|e| e == "toml") {
            return Self::read(Path::new(word));
        }
        let built_in = find_suite(word)?;
        Self::parse(&format!("{} (built in)", built_in.name), built_in.toml.into())
    }

    /// The suite in a file.
    ///
    /// # Errors
    /// It cannot be read, or is no suite.
    pub fn read(path: &Path) -> Result<Self, SessionError> {
        let kind = "suite file; --resume goes on with the suite of a folder";
        Self::parse(&path.display().to_string(), read_toml_file(path, kind)?)
    }

    /// The suite of a folder that is gone on with.
    pub(super) fn of_folder(folder: &Path, text: String) -> Result<Self, SessionError> {
        Self::parse(&folder.join(SUITE_FILE).display().to_string(), text)
    }

    fn parse(name: &str, text: String) -> Result<Self, SessionError> {
        let checked = |text: &str| SuiteFile::from_toml(text).and_then(|file| with_known_figures(&file).map(|()| file));
        let file = parse_toml_file(name, &text, checked)?;
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
