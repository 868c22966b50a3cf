//! What a suite runs, and which tables and figures of a study it ends with.

use crate::{Curve, StudyHypothesis, Table};
use serde::{Deserialize, Serialize};

/// A suite file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// Its name.
    pub name: String,
    /// The question that it answers.
    pub summary: String,
    /// The study that it follows.
    pub study: Option<String>,
    /// Whether it is too short to publish anything of it.
    #[serde(default)]
    pub first_look: bool,
    /// How often each run is repeated.
    #[serde(default = "once")]
    pub runs: u32,
    /// Decides the order of the runs.
    #[serde(default = "once_64")]
    pub seed: u64,
    /// The built-in score that ranks its runs.
    pub score: Option<Score>,
    /// What is run.
    pub cells: Vec<Cell>,
    /// What the study printed of each contender, figure by figure.
    #[serde(default)]
    pub tables: Vec<Table>,
    /// What the study printed of one figure over sizes.
    #[serde(default)]
    pub curves: Vec<Curve>,
    /// What the study supposed and found.
    #[serde(default)]
    pub hypotheses: Vec<StudyHypothesis>,
}

/// A built-in score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Score {
    /// That of the Hof study.
    Hof,
}

/// A profile on some databases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// A built-in profile, or a path.
    pub profile: String,
    /// Databases with their layouts, as `--backend` takes them.
    pub backends: Vec<String>,
    /// What this form of the databases is called, where an option or a setting makes it another contender.
    pub name: Option<String>,
    /// Whether it is run with the study's own lengths alone.
    #[serde(default)]
    pub full_only: bool,
    /// Only the first so many of the databases that can be started on this machine.
    pub most_backends: Option<usize>,
    /// How machine cycles are read.
    #[serde(default)]
    pub strategies: Vec<String>,
    /// Which of the profile's variants; all of them if there are none here.
    #[serde(default)]
    pub variants: Vec<String>,
    /// Further options of `iotbench run`, such as `--vus`.
    #[serde(default)]
    pub options: Vec<String>,
    /// Fields of the profile, `key=value`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Such fields of the short form alone; the study's own lengths are used with `--full`.
    #[serde(default)]
    pub short: Vec<String>,
}

fn once() -> u32 {
    1
}

fn once_64() -> u64 {
    1
}

/// Why a text is no suite file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SuiteFileError {
    /// It is no TOML, or holds unknown keys or values that do not fit.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A value out of its range.
    #[error("{key}: {message}")]
    Value {
        /// The key, dotted.
        key: String,
        /// What is wrong.
        message: String,
    },
}

/// More repetitions than anybody waits for.
const MAX_RUNS: u32 = 1000;

impl SuiteFile {
    /// Reads a suite file.
    ///
    /// # Errors
    /// Anything that is none; the error names the key.
    pub fn from_toml(text: &str) -> Result<Self, SuiteFileError> {
        let file: Self = toml::from_str(text)?;
        if !(1..=MAX_RUNS).contains(&file.runs) {
            return Err(wrong("runs", format!("must be from 1 to {MAX_RUNS}")));
        }
        if file.cells.is_empty() {
            return Err(wrong("cells", "a suite needs a profile to run: [[cells]] with profile and backends"));
        }
        file.cells.iter().enumerate().try_for_each(|(place, cell)| cell.check(place))?;
        file.tables.iter().enumerate().try_for_each(|(place, table)| table.check(place))?;
        file.curves.iter().enumerate().try_for_each(|(place, curve)| curve.check(place))?;
        Ok(file)
    }
}

impl Cell {
    fn check(&self, place: usize) -> Result<(), SuiteFileError> {
        let key = |field: &str| format!("cells[{place}].{field}");
        if self.backends.is_empty() {
            return Err(wrong(key("backends"), "a profile needs a database to run on"));
        }
        if self.most_backends == Some(0) {
            return Err(wrong(key("most_backends"), "must be at least 1"));
        }
        let without_value = self.set.iter().chain(&self.short).find(|set| !set.contains('='));
        match without_value {
            Some(set) => Err(wrong(key("set"), format!("{set:?} is not key=value"))),
            None => Ok(()),
        }
    }

    /// The options of `iotbench run` for one of its databases, `full` with the study's own lengths.
    #[must_use]
    pub fn options(&self, backend: &str, full: bool) -> Vec<String> {
        let mut options = vec!["--profile".to_owned(), self.profile.clone(), "--backend".into(), backend.into()];
        options.extend(self.options.iter().cloned());
        let mut add = |option: &str, value: &str| options.extend([option.to_owned(), value.to_owned()]);
        self.strategies.iter().for_each(|strategy| add("--strategy", strategy));
        self.variants.iter().for_each(|variant| add("--variant", variant));
        self.set.iter().for_each(|set| add("--set", set));
        if full {
            options.push("--full".into());
        } else {
            self.short.iter().for_each(|set| options.extend(["--set".to_owned(), set.clone()]));
        }
        options
    }
}

pub(crate) fn wrong(key: impl Into<String>, message: impl Into<String>) -> SuiteFileError {
    SuiteFileError::Value { key: key.into(), message: message.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
name = \"x\"
summary = \"y\"
[[cells]]
profile = \"p\"
backends = [\"a:wide\", \"b\"]
options = [\"--vus\", \"2\"]
set = [\"seed=7\"]
short = [\"duration=10s\"]
[[tables]]
title = \"Table I\"
profile = \"p\"
columns = [{ figure = \"server_cpu_pct\", head = \"CPU, %\" }]
rows.\"a:wide\" = [5]
";

    #[test]
    fn the_short_form_is_left_for_the_studys_own_length() {
        let file = SuiteFile::from_toml(FILE).unwrap();
        assert_eq!((file.runs, file.seed, file.first_look), (1, 1, false));
        let options = |full| file.cells[0].options("a:wide", full).join(" ");
        assert_eq!(options(false), "--profile p --backend a:wide --vus 2 --set seed=7 --set duration=10s");
        assert_eq!(options(true), "--profile p --backend a:wide --vus 2 --set seed=7 --full");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (from, to, hint) in [
            ("name = \"x\"", "name = \"x\"\nruns = 0", "runs: must be from 1 to 1000"),
            ("backends = [\"a:wide\", \"b\"]", "backends = []", "cells[0].backends"),
            ("profile = \"p\"\nbackends", "profil = \"p\"\nbackends", "profil"),
            ("short = [", "most_backends = 0\nshort = [", "cells[0].most_backends"),
            ("seed=7", "seed", "cells[0].set: \"seed\" is not key=value"),
            ("= [5]", "= [5, 6]", "tables[0].rows.a:wide: has 2 figures for 1 columns"),
            ("\"CPU, %\" }", "\"CPU, %\", unit = 0.0 }", "tables[0].columns"),
            ("[[tables]]", "[[curves]]\nover = \"value\"\n[[tables]]", "title"),
        ] {
            let error = SuiteFile::from_toml(&FILE.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(hint), "{to}: {error}");
        }
        let error = SuiteFile::from_toml("name = \"x\"\nsummary = \"y\"\ncells = []").unwrap_err();
        assert!(error.to_string().contains("[[cells]]"), "{error}");
    }
}
