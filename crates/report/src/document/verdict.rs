//! Whether a result can be believed.

use super::{Document, check::Inconsistency};
use iotbench_recorder::NOT_CONSERVED;
use serde::{Deserialize, Serialize};

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not ended yet, or killed.
    Running,
    /// Its figures can be believed.
    Valid,
    /// It ended, and its figures cannot be believed.
    Invalid,
    /// The user ended it.
    Aborted,
    /// It could not be carried out.
    Failed,
}

impl Status {
    /// The word for people.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Valid => "valid",
            Self::Invalid => "invalid",
            Self::Aborted => "aborted",
            Self::Failed => "failed",
        }
    }
}

impl Document {
    /// The verdict for people: `valid, disturbed` where others had so much of the machine that it is said first.
    #[must_use]
    pub fn verdict_words(&self) -> &'static str {
        if self.doubt() == Some(DISTURBED) { "valid, disturbed" } else { self.verdict.status.name() }
    }

    /// What is to be known before the figures are read, in a word; `None`: nothing.
    #[must_use]
    pub fn doubt(&self) -> Option<&'static str> {
        let is_disturbed = self.others.as_ref().is_some_and(|others| others.disturbed.is_some());
        match self.verdict.status {
            Status::Valid => is_disturbed.then_some(DISTURBED),
            other => Some(other.name()),
        }
    }

    /// The same with its reasons; empty: there is none.
    #[must_use]
    pub fn why_doubted(&self) -> String {
        match (self.verdict.status, &self.others) {
            (Status::Valid, others) => others.iter().filter_map(|others| others.disturbed.clone()).collect(),
            (other, _) => format!("{}: {}", other.name(), self.verdict.reasons.join("; ")),
        }
    }
}

const DISTURBED: &str = "disturbed";

/// The exit code of a fault of the program: the gravest that there is.
const FAULT: u8 = 1;

/// Whether a result can be believed, and why not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// How the run stands.
    pub status: Status,
    /// Why; empty when valid.
    pub reasons: Vec<String>,
    /// The program's exit code.
    pub exit_code: u8,
}

impl Verdict {
    /// Adds counts that do not balance, unless the engine has already said so.
    pub(super) fn refuse(&mut self, inconsistencies: &[Inconsistency]) {
        for inconsistency in inconsistencies {
            self.exit_code = FAULT;
            if self.status == Status::Valid {
                self.status = Status::Invalid;
            }
            let text = format!("{NOT_CONSERVED}: {inconsistency}");
            if !self.reasons.contains(&text) {
                self.reasons.push(text);
            }
        }
    }
}
