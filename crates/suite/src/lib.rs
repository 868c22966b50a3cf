//! Suites: many runs that answer one question, such as all of a study's.
//!
//! A [`SuiteFile`] says which profiles are run on which databases; a [`Record`] is the list of its runs in the order in which
//! they are done, and what became of each, so that an interrupted suite goes on where it stopped; a [`Study`] holds what a
//! study printed beside the figures of the runs ([`StudyTable`], [`StudyCurve`]), says how far the two agree in rank, and
//! answers its hypotheses. All of it is pure: runs are carried out, and files written, by whoever uses this.

mod agreement;
mod file;
mod hypotheses;
mod printed;
mod record;
mod scaling;
mod study;
mod study_curve;
mod study_table;

pub use agreement::Agreement;
pub use file::{Cell, Score, SuiteFile, SuiteFileError};
pub use hypotheses::{AnsweredHypothesis, Evidence, Failure, Hypothesis, MixedWrites, StudyHypothesis};
pub use printed::{Curve, FigureKind, Over, Table, TableColumn, TableFigure};
pub use record::{Entry, Record, SCHEMA, Sittings, State};
pub use scaling::{ClusterSize, Scaling, scaling};
pub use study::Study;
pub use study_curve::{StudyCurve, StudyLine};
pub use study_table::{StudyRow, StudyTable};
