//! Whether a result can be believed.

use super::check::Inconsistency;
use iotbench_engine::{Reason, gravest};
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

impl From<iotbench_engine::Status> for Status {
    fn from(status: iotbench_engine::Status) -> Self {
        match status {
            iotbench_engine::Status::Running => Self::Running,
            iotbench_engine::Status::Valid => Self::Valid,
            iotbench_engine::Status::Invalid => Self::Invalid,
            iotbench_engine::Status::Aborted => Self::Aborted,
            iotbench_engine::Status::Failed => Self::Failed,
        }
    }
}

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

impl From<&iotbench_engine::Verdict> for Verdict {
    fn from(verdict: &iotbench_engine::Verdict) -> Self {
        Self {
            status: verdict.status.into(),
            reasons: verdict.reasons.iter().map(ToString::to_string).collect(),
            exit_code: verdict.exit_code(),
        }
    }
}

impl Verdict {
    /// Adds counts that do not balance, unless the engine has already said so.
    pub(super) fn refuse(&mut self, inconsistencies: &[Inconsistency]) {
        for inconsistency in inconsistencies {
            let reason = Reason::NotConserved(inconsistency.to_string());
            self.exit_code = gravest([self.exit_code, reason.exit_code()]);
            if self.status == Status::Valid {
                self.status = Status::Invalid;
            }
            let text = reason.to_string();
            if !self.reasons.contains(&text) {
                self.reasons.push(text);
            }
        }
    }
}
