//! Suites: many runs that answer one question, such as all of a study's.
//!
//! A [`SuiteFile`] says which profiles are run on which databases; a [`Record`] is the list of its runs in the order in which
//! they are done, and what became of each, so that an interrupted suite goes on where it stopped; a [`StudyTable`] holds what
//! a study printed beside the figures of the runs, and says how far the two agree in rank. All of it is pure: runs are
//! carried out, and files written, by whoever uses this.

mod agreement;
mod file;
mod record;
mod study_table;

pub use agreement::Agreement;
pub use file::{Cell, Score, SuiteFile, SuiteFileError, Table, TableColumn};
pub use record::{Entry, Record, SCHEMA, State};
pub use study_table::{StudyRow, StudyTable};
