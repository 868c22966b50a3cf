//! Earlier runs that new ones are held against.

use super::{carry_out::Done, options::RunArguments};
use crate::{commands::comparing::refused, error::CliError};
use iotbench_report::{Cell, CompareOptions, Comparison, Document, compare, read_documents};

/// The runs of `--baseline`, and how new ones are compared with them.
pub(super) struct Baseline {
    runs: Vec<Document>,
    options: CompareOptions,
}

/// Checks that what says how to compare has something to compare with.
pub(super) fn check(arguments: &RunArguments) -> Result<(), CliError> {
    match arguments.comparison.without_use().filter(|_| arguments.baseline.is_none()) {
        Some(option) => Err(CliError::usage(format!(
            "{option} says how runs are compared, and nothing is: give --baseline DIR, or leave {option} out"
        ))),
        None => Ok(()),
    }
}

impl Baseline {
    /// Reads them before anything is run; `None`: none are asked for.
    pub(super) fn read(arguments: &RunArguments) -> Result<Option<Self>, CliError> {
        let Some(folder) = &arguments.baseline else { return Ok(None) };
        Ok(Some(Self { runs: read_documents(folder)?, options: arguments.comparison.options(None) }))
    }

    /// Compares each target with its own earlier runs.
    pub(super) fn compared(&self, done: &[Done]) -> Result<Vec<Comparison>, CliError> {
        let mut cells: Vec<Cell> = Vec::new();
        for run in done.iter().flat_map(|done| &done.runs).map(|run| &run.document) {
            match cells.iter_mut().find(|cell| cell.new.first().is_some_and(|first| is_of_one_cell(first, run))) {
                Some(cell) => cell.new.push(run.clone()),
                None => cells.push(self.cell(run)?),
            }
        }
        compare(cells, &self.options).map_err(|error| refused(&error))
    }

    fn cell(&self, run: &Document) -> Result<Cell, CliError> {
        let base: Vec<Document> = self.runs.iter().filter(|base| is_of_one_cell(base, run)).cloned().collect();
        if base.is_empty() {
            let (profile, target) = (run.profile_title(), run.target.title());
            return Err(CliError::usage(format!("the baseline has no run of {profile} on {target} to compare with")));
        }
        Ok(Cell { base, new: vec![run.clone()] })
    }
}

fn is_of_one_cell(a: &Document, b: &Document) -> bool {
    let key = |run: &Document| (run.profile_title(), run.target.title(), run.sweep.as_ref().map(|swept| swept.value));
    key(a) == key(b)
}
