//! What runs found out.

use iotbench_engine::Outcome;
use iotbench_report::{Comparison, Document, Repetitions};
use iotbench_session::{Event, SessionObserver};
use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// A run that came to its end, valid or not.
#[derive(Clone, Debug)]
pub struct BenchmarkRun {
    /// The engine's account of it.
    pub outcome: Outcome,
    /// The same as the document that the command writes: `run.json`.
    pub document: Document,
    /// Its folder; gone with the benchmark unless [`results`](crate::Benchmark::results) was given.
    pub folder: PathBuf,
}

/// What the runs of a benchmark found out.
#[derive(Clone, Debug)]
pub struct BenchmarkRuns {
    /// Each run, in the order in which they were made.
    pub runs: Vec<BenchmarkRun>,
    /// What repetitions tell together.
    pub repetitions: Option<Repetitions>,
    /// How they compare with the baseline; empty without one, and where a run is not valid.
    pub comparisons: Vec<Comparison>,
}

impl BenchmarkRuns {
    /// Whether all are valid.
    ///
    /// # Errors
    /// The first that is not.
    pub fn valid(&self) -> Result<(), iotbench_engine::NotValid> {
        self.runs.iter().try_for_each(|run| run.outcome.valid().map(drop))
    }

    /// Whether they are worse than the baseline: in a gated metric, by more than what does not matter, and not by chance.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        self.comparisons.iter().any(|comparison| comparison.is_regression)
    }
}

/// Keeps what a session tells of runs that end.
#[derive(Default)]
pub(super) struct Collected(Mutex<Vec<BenchmarkRun>>);

impl Collected {
    pub(super) fn taken(&self) -> Vec<BenchmarkRun> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl SessionObserver for Collected {
    fn event(&self, event: &Event<'_>) {
        if let Event::RunEnded { outcome, document, folder } = event {
            let run = BenchmarkRun {
                outcome: (*outcome).clone(),
                document: (*document).clone(),
                folder: (*folder).to_owned(),
            };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(run);
        }
    }
}
