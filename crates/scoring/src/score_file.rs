//! What counts, and how much.

use crate::{Criterion, Formula};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A score file: criteria, weights and grades.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreFile {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub summary: String,
    /// The study that it follows.
    pub study: Option<String>,
    /// Whether contenders are ranked together although an acknowledged write survives different things.
    #[serde(default)]
    pub across_durability: bool,
    /// Which reading of the formula.
    #[serde(default)]
    pub formula: Formula,
    /// How runs that write are scored.
    pub write: Option<Half>,
    /// How runs that read are scored.
    pub read: Option<Half>,
}

/// How one half of the score is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Half {
    /// The profile whose runs count.
    pub profile: String,
    /// What counts, and how much.
    pub weights: BTreeMap<Criterion, f64>,
    /// How hard contenders are to program, from 1 (easy) to 5 (hard).
    #[serde(default)]
    pub grades: Grades,
}

/// Grades of difficulty by contender: `backend:layout`, or `backend:layout:strategy` of runs that read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grades(pub BTreeMap<String, f64>);

/// Why a text is no score file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ScoreFileError {
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

impl ScoreFile {
    /// Reads a score file.
    ///
    /// # Errors
    /// Anything that is none; the error names the key.
    pub fn from_toml(text: &str) -> Result<Self, ScoreFileError> {
        let file: Self = toml::from_str(text)?;
        let halves = [("write", &file.write), ("read", &file.read)];
        if halves.iter().all(|(_, half)| half.is_none()) {
            let message = "a score file needs the table write or the table read, or both".into();
            return Err(ScoreFileError::Value { key: "write".into(), message });
        }
        for (name, half) in halves {
            half.as_ref().map_or(Ok(()), |half| half.check(name))?;
        }
        Ok(file)
    }
}

impl Half {
    fn check(&self, name: &str) -> Result<(), ScoreFileError> {
        let wrong = |key: String, message: &str| Err(ScoreFileError::Value { key, message: message.into() });
        if self.weights.is_empty() {
            return wrong(format!("{name}.weights"), "there is no criterion");
        }
        for (criterion, weight) in &self.weights {
            if !(weight.is_finite() && *weight > 0.0) {
                return wrong(format!("{name}.weights.{}", criterion.name()), "a weight must be positive and finite");
            }
        }
        for (contender, grade) in &self.grades.0 {
            if !(1.0..=5.0).contains(grade) {
                return wrong(format!("{name}.grades.{contender}"), "a grade must be from 1 (easy) to 5 (hard)");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "name = \"x\"\nsummary = \"y\"\n[write]\nprofile = \"p\"\n[write.weights]\nserver_cpu_pct = 3\n";

    #[test]
    fn the_formula_as_written_and_one_promise_are_the_defaults() {
        let file = ScoreFile::from_toml(FILE).unwrap();
        assert_eq!((file.formula, file.across_durability), (Formula::AsWritten, false));
    }

    #[test]
    fn every_criterion_is_read_by_its_name() {
        let written = format!("{FILE}difficulty = 1\nnetwork_kbit_per_s = 2\nresponse_p99_us = 1.5\n");
        let half = ScoreFile::from_toml(&written).unwrap().write.unwrap();
        for (criterion, _) in half.weights {
            let text = toml::to_string(&BTreeMap::from([(criterion, 1)])).unwrap();
            assert_eq!(text.trim(), format!("{} = 1", criterion.name()));
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (from, to, hint) in [
            ("server_cpu_pct = 3", "server_cpu = 3", "server_cpu"),
            ("server_cpu_pct = 3", "server_cpu_pct = 0", "write.weights.server_cpu_pct"),
            ("server_cpu_pct = 3", "server_cpu_pct = -1", "write.weights.server_cpu_pct"),
            ("server_cpu_pct = 3", "server_cpu_pct = nan", "write.weights.server_cpu_pct"),
            ("server_cpu_pct = 3", "", "write.weights"),
            ("summary", "sumary", "sumary"),
            ("[write]", "[wirte]", "wirte"),
            ("server_cpu_pct = 3", "server_cpu_pct = 3\n[write.grades]\n\"a:b\" = 6", "write.grades.a:b"),
        ] {
            let error = ScoreFile::from_toml(&FILE.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.contains(hint), "{to}: {error}");
        }
        let error = ScoreFile::from_toml("name = \"x\"\nsummary = \"y\"\n").unwrap_err().to_string();
        assert!(error.contains("write or the table read"), "{error}");
    }
}
