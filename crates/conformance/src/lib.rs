//! The behaviour that iotbench expects of a database backend.
//!
//! A backend's own test implements [`Fixture`] (where its database is, and how a stranger's table gets there) and calls
//! [`check`] for each layout. The checks write datapoints to it and to the `memory` backend, ask both the same
//! questions, and hold one answer against the other as exactly as the backend's declared capabilities say; some answers
//! are known beforehand and hold the `memory` backend too. What the capabilities exclude is skipped with the reason.
//!
//! ```
//! use iotbench_conformance::{Fixture, assert_conforms, check};
//! use iotbench_core::{Backend, Layout, OpenRequest, Registry, Settings, TableSpec, Target};
//!
//! struct Memory;
//!
//! #[async_trait::async_trait]
//! impl Fixture for Memory {
//!     fn backend(&self) -> &'static dyn Backend {
//!         Registry::new(iotbench_backends::BACKENDS).find("memory").expect("it is built in")
//!     }
//!     fn request(&self, table: TableSpec) -> OpenRequest {
//!         OpenRequest { target: Target::default(), settings: Settings::default(), table }
//!     }
//! }
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! assert_conforms(&check(&Memory, Layout::Wide).await);
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Limits
//! Checks run one after the other on one connection of each kind. They say nothing of speed, of crashes, or of what
//! many connections do to one another.
//!
//! # Invariants
//! - A check never sleeps but between two looks at a change that is not done, and never depends on the machine's speed.
//! - Data and questions are the same in every run: they come from fixed seeds.
//! - A check that could not be made is never counted as passed.

mod added;
mod checks;
mod compare;
mod data;
mod known;
mod patient;
mod percentile;
mod questions;
mod subject;

pub use patient::patient;
pub use subject::Fixture;

use iotbench_core::Layout;
use std::fmt;
use subject::Subject;

/// What came of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The backend behaves.
    Passed,
    /// The check does not apply, and why.
    Skipped(String),
    /// It does not behave, and in which way.
    Failed(String),
}

/// One check and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What was checked.
    pub check: String,
    /// What came of it.
    pub verdict: Verdict,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.verdict {
            Verdict::Passed => write!(f, "passed   {}", self.check),
            Verdict::Skipped(reason) => write!(f, "skipped  {}: {reason}", self.check),
            Verdict::Failed(reason) => write!(f, "FAILED   {}: {reason}", self.check),
        }
    }
}

/// Makes every check of a backend in one layout.
pub async fn check(fixture: &dyn Fixture, layout: Layout) -> Vec<Outcome> {
    let subject = Subject::new(fixture, layout);
    let mut outcomes = Vec::new();
    checks::all(&subject, &mut outcomes).await;
    outcomes
}

/// Fails a test with every check that failed.
///
/// # Panics
/// When a check failed, or when not one was passed.
pub fn assert_conforms(outcomes: &[Outcome]) {
    let failed: Vec<String> =
        outcomes.iter().filter(|o| matches!(o.verdict, Verdict::Failed(_))).map(ToString::to_string).collect();
    assert!(failed.is_empty(), "{} of {} checks failed:\n{}", failed.len(), outcomes.len(), failed.join("\n"));
    assert!(outcomes.iter().any(|o| o.verdict == Verdict::Passed), "no check applied");
}
