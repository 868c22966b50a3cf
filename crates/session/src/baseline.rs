//! Earlier runs that new ones are held against.

use crate::{error::SessionError, one_run::Done};
use iotbench_report::{Cell, CompareOptions, Comparison, Document, compare, read_documents};
use std::path::Path;

/// Earlier runs, and how new ones are compared with them.
pub struct Baseline {
    runs: Vec<Document>,
    options: CompareOptions,
}

impl Baseline {
    /// Reads the runs in a folder, before anything new is run.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn read(folder: &Path, options: CompareOptions) -> Result<Self, SessionError> {
        Ok(Self { runs: read_documents(folder)?, options })
    }

    /// Compares each target with its own earlier runs.
    ///
    /// # Errors
    /// A target has none, or they are not alike.
    pub fn compared(&self, done: &[Done]) -> Result<Vec<Comparison>, SessionError> {
        let mut cells: Vec<Cell> = Vec::new();
        for run in done.iter().flat_map(|done| &done.runs).map(|run| &run.document) {
            match cells.iter_mut().find(|cell| cell.new.first().is_some_and(|first| is_of_one_cell(first, run))) {
                Some(cell) => cell.new.push(run.clone()),
                None => cells.push(self.cell(run)?),
            }
        }
        Ok(compare(cells, &self.options)?)
    }

    fn cell(&self, run: &Document) -> Result<Cell, SessionError> {
        let base: Vec<Document> = self.runs.iter().filter(|base| is_of_one_cell(base, run)).cloned().collect();
        if base.is_empty() {
            let (profile, target) = (run.profile_title(), run.target.title());
            return Err(SessionError::usage(format!(
                "the baseline has no run of {profile} on {target} to compare with"
            )));
        }
        Ok(Cell { base, new: vec![run.clone()] })
    }
}

fn is_of_one_cell(a: &Document, b: &Document) -> bool {
    let key = |run: &Document| (run.profile_title(), run.target.title(), run.sweep.as_ref().map(|swept| swept.value));
    key(a) == key(b)
}
