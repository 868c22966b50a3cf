//! Jobs run to their end, repeated, and held against earlier runs.

use crate::{
    baseline::Baseline,
    error::{SessionError, exit_code::REGRESSION, interrupted},
    job::Job,
    one_run::{Done, Finished},
    options::SessionOptions,
    repetitions::{carry_out_in_order, order, summary},
};
use iotbench_engine::{StopSignal, gravest};
use iotbench_report::{Comparison, Repetitions};

/// What runs found out.
pub struct Runs {
    /// What each job left, in the order in which they ran.
    pub done: Vec<Done>,
    /// What repetitions tell together; `None`: nothing was repeated.
    pub repetitions: Option<Repetitions>,
    /// How they compare with the baseline; `None`: there is none, or not every run is valid.
    pub compared: Option<Result<Vec<Comparison>, SessionError>>,
    /// What ended them before their time.
    pub ended: Result<(), SessionError>,
    /// The signal that ended them, where it left runs out.
    left_out_by: Option<i32>,
}

/// Runs jobs that are checked so many times each, and compares what they found with `baseline`.
#[must_use]
pub fn run_all(
    jobs: &[Job<'_>],
    runs: u32,
    baseline: Option<&Baseline>,
    options: &SessionOptions,
    stop: &StopSignal,
) -> Runs {
    let order = order(jobs, runs);
    let mut done = Vec::with_capacity(order.len());
    let ended = carry_out_in_order(jobs, &order, options, stop, &mut done);
    let wanted: usize = order.iter().filter_map(|&job| jobs.get(job)).map(|job| job.runs.len()).sum();
    let made = done.iter().map(|done| done.runs.len()).sum::<usize>();
    let repetitions = summary(jobs, runs, &done);
    let left_out_by = stop.requested().filter(|_| made < wanted);
    let mut runs = Runs { done, repetitions, compared: None, ended, left_out_by };
    runs.compared = baseline.filter(|_| runs.are_valid()).map(|baseline| baseline.compared(&runs.done));
    runs
}

impl Runs {
    /// All of them.
    pub fn finished(&self) -> impl Iterator<Item = &Finished> {
        self.done.iter().flat_map(|done| &done.runs)
    }

    /// Whether there are some, and all are valid.
    #[must_use]
    pub fn are_valid(&self) -> bool {
        self.ended.is_ok() && self.finished().next().is_some() && self.finished().all(|run| run.exit_code() == 0)
    }

    /// Whether they are worse than the baseline.
    #[must_use]
    pub fn are_a_regression(&self) -> bool {
        self.compared.iter().flatten().flatten().any(|comparison| comparison.is_regression)
    }

    /// The program's exit code for what they found.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let regression = self.are_a_regression().then_some(REGRESSION);
        gravest(self.finished().map(Finished::exit_code).chain(self.left_out_by.map(interrupted)).chain(regression))
    }
}
