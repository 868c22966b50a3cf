//! Where a result comes from.

use crate::environment::Environment;
use serde::{Deserialize, Serialize};

/// The program that made a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its version.
    pub version: String,
    /// The commit it was built from, where the build was told (`IOTBENCH_GIT`).
    pub git: Option<String>,
    /// The features it was built with, such as backends.
    pub features: Vec<String>,
}

impl Tool {
    /// This build, with the features of the program around it.
    #[must_use]
    pub fn this(features: Vec<String>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            git: option_env!("IOTBENCH_GIT").filter(|git| !git.is_empty()).map(Into::into),
            features,
        }
    }
}

/// What a document says of a run that its outcome does not know.
#[derive(Clone, Debug, PartialEq)]
pub struct Provenance {
    /// The program.
    pub tool: Tool,
    /// The command as given; secrets are taken out by the caller.
    pub command: Vec<String>,
    /// The machine.
    pub environment: Environment,
    /// Whether the database's server was started for this run.
    pub managed: bool,
}
