//! A suite by name or path.

use super::summary::{SCORE_FIGURES, SCORES};
use crate::{diagnostics::Source, error::CliError};
use iotbench::find_suite;
use iotbench_engine::ProfileError;
use iotbench_report::{SUITE_FILE, is_study_figure};
use iotbench_suite::{SuiteFile, SuiteFileError};
use std::{fs, io::Read, path::Path};

/// Larger files are no suites.
const MOST_BYTES: u64 = 1 << 20;

/// A suite as written.
pub(super) struct WrittenSuite {
    pub(super) file: SuiteFile,
    pub(super) text: String,
}

impl WrittenSuite {
    /// The suite that a word on the command line means: a path if it looks like one, else a built-in name.
    pub(super) fn find(word: &str) -> Result<Self, CliError> {
        if word.contains('/') || Path::new(word).extension().is_some_and(|e| e == "toml") {
            return Self::parse(word, read(Path::new(word))?);
        }
        let built_in = find_suite(word).map_err(CliError::usage)?;
        Self::parse(&format!("{} (built in)", built_in.name), built_in.toml.into())
    }

    /// The suite of a folder that is gone on with.
    pub(super) fn of_folder(folder: &Path, text: String) -> Result<Self, CliError> {
        Self::parse(&folder.join(SUITE_FILE).display().to_string(), text)
    }

    fn parse(name: &str, text: String) -> Result<Self, CliError> {
        let wrong = |error| {
            let source = Source { file: name.into(), text: text.clone() };
            source.error(&match error {
                SuiteFileError::Toml(e) => ProfileError::of_toml(name, &text, &e),
                SuiteFileError::Value { key, message } => ProfileError::new(name, key, message),
            })
        };
        let file = SuiteFile::from_toml(&text).and_then(|file| with_known_figures(&file).map(|()| file));
        Ok(Self { file: file.map_err(wrong)?, text })
    }
}

/// Whether every column of its tables is a figure that runs or scores have.
fn with_known_figures(file: &SuiteFile) -> Result<(), SuiteFileError> {
    for (place, table) in file.tables.iter().enumerate() {
        let is_known = |figure: &str| match table.profile.as_str() {
            SCORES => SCORE_FIGURES.contains(&figure),
            _ => is_study_figure(figure),
        };
        if let Some(column) = table.columns.iter().find(|column| !is_known(&column.figure)) {
            let message = format!("there is no figure {:?}: docs/suites.md lists them", column.figure);
            return Err(SuiteFileError::Value { key: format!("tables[{place}].columns"), message });
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, CliError> {
    let wrong = |message: String| CliError::usage(format!("{}: {message}", path.display()));
    if fs::metadata(path).is_ok_and(|m| m.is_dir()) {
        return Err(wrong("is a folder, and no suite file; to go on with a suite use --resume".into()));
    }
    let mut text = String::new();
    let file = fs::File::open(path).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|e| wrong(format!("cannot be read: {e}")))?;
    if text.len() as u64 > MOST_BYTES {
        return Err(wrong(format!("is no suite file: one has at most {MOST_BYTES} bytes")));
    }
    Ok(text)
}
