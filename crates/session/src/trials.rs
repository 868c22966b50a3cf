//! `trials.jsonl`: the trials of a search, a line each, so that a search that was interrupted goes on where it stopped.

use crate::document::throughput::{measured_part, throughput, visibility};
use iotbench_engine::{Measured, Plan, StepFigures};
use iotbench_report::{
    Appender, Document, ErrorsOfCause, FolderError, Latency, MeasuredPart, ResultsFolder, SittingsJob, Status,
    TRIALS_FILE, Throughput, Visibility, errors_by_cause, lines, printable, read_document,
};
use serde::{Deserialize, Serialize};
use std::{
    io,
    path::{Path, PathBuf},
};

/// Name and version of the format.
const SCHEMA: &str = "iotbench-trials/1.0";

/// What the file begins with: all that is needed to go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchHead {
    /// The format.
    pub schema: String,
    /// The workload as meant.
    pub plan: Plan,
    /// Where relative paths of the profile start.
    pub base: PathBuf,
    /// Where the user said that the database is, without secrets.
    pub endpoints: Vec<String>,
    /// The memory budget of a private server's caches.
    pub server_memory_bytes: u64,
}

impl SearchHead {
    /// The head of a search that begins.
    #[must_use]
    pub fn new(plan: Plan, base: PathBuf, endpoints: Vec<String>, server_memory_bytes: u64) -> Self {
        Self { schema: SCHEMA.into(), plan, base, endpoints, server_memory_bytes }
    }
}

impl SittingsJob for SearchHead {
    fn profile_name(&self) -> &str {
        &self.plan.profile.name
    }
}

/// A trial that was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// What it came to.
    pub figures: StepFigures,
    /// What would be the result were it the answer; null: its load was too much.
    part: Option<TrialPart>,
}

/// The blocks of a document that are of the answer's trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TrialPart {
    measured: MeasuredPart,
    throughput: Throughput,
    latency: Latency,
    errors: Vec<ErrorsOfCause>,
    visibility: Option<Visibility>,
}

impl TrialRecord {
    pub(crate) fn new(figures: &StepFigures, measured: &Measured) -> Self {
        let part = figures.judgement.passed.then(|| TrialPart {
            measured: measured_part(measured),
            throughput: throughput(measured),
            latency: Latency::of(&measured.recording, &measured.client.seen_late()),
            errors: errors_by_cause(measured.recording.errors()),
            visibility: measured.visibility.as_ref().map(visibility),
        });
        Self { figures: figures.clone(), part }
    }
}

/// A search that was interrupted.
#[derive(Clone, Debug)]
pub struct SavedSearch {
    /// What it was begun with.
    pub head: SearchHead,
    /// The trials that it made.
    pub trials: Vec<TrialRecord>,
}

/// Why a search does not go on.
#[derive(Debug, thiserror::Error)]
pub enum SavedSearchError {
    /// The run was no search, or was interrupted before it had begun.
    #[error("{0} has no trials.jsonl with a search in it: begin it anew")]
    None(String),
    /// The search came to its end.
    #[error("the search in {0} has ended: there is nothing to go on with")]
    Ended(String),
    /// It was written by another version.
    #[error("{path} has the format {found:?}, and this iotbench reads {SCHEMA}: use the iotbench that wrote it")]
    OtherVersion {
        /// The file.
        path: String,
        /// What it says of itself.
        found: String,
    },
    /// A line in the middle is damaged.
    #[error("{path}, line {line}: {why}; begin the search anew")]
    Damaged {
        /// The file.
        path: String,
        /// Which line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
    },
    /// The folder cannot be read, or somebody writes to it.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// Reads the search in the folder of a run that is over or was killed. A last line that is torn is no trial.
///
/// # Errors
/// There is none, or somebody writes to the folder.
pub fn read_search(folder: &Path) -> Result<SavedSearch, SavedSearchError> {
    let path = folder.join(TRIALS_FILE);
    if !path.is_file() {
        return Err(SavedSearchError::None(shown(folder)));
    }
    // Who holds the folder goes on with the search himself.
    let _held = ResultsFolder::of_killed(folder)?;
    if matches!(read_document(folder)?.verdict.status, Status::Valid | Status::Invalid) {
        return Err(SavedSearchError::Ended(shown(folder)));
    }
    let mut read = lines(&path)?;
    let whole = |text: &String| text.ends_with('\n');
    let damaged = |line: u64, error: serde_json::Error| SavedSearchError::Damaged {
        path: shown(&path),
        line,
        why: error.to_string(),
    };
    let first = read.next_line()?.filter(whole).ok_or_else(|| SavedSearchError::None(shown(folder)))?;
    let head: SearchHead = serde_json::from_str(&first).map_err(|e| damaged(1, e))?;
    if head.schema != SCHEMA {
        return Err(SavedSearchError::OtherVersion { path: shown(&path), found: printable(&head.schema) });
    }
    let mut trials = Vec::new();
    while let Some(line) = read.next_line()?.filter(whole) {
        trials.push(serde_json::from_str(&line).map_err(|e| damaged(read.number(), e))?);
    }
    Ok(SavedSearch { head, trials })
}

/// The trials of a search that goes on, with those that another process made.
#[derive(Debug)]
pub(crate) struct Trials {
    file: Appender,
    earlier: Vec<TrialRecord>,
}

impl Trials {
    pub fn begin(folder: &ResultsFolder, head: &SearchHead, earlier: Vec<TrialRecord>) -> Result<Self, FolderError> {
        let failed = |source| FolderError::Write { path: shown(&folder.path().join(TRIALS_FILE)), source };
        let mut trials = Self { file: folder.appender(TRIALS_FILE)?, earlier };
        append(&mut trials.file, head).map_err(failed)?;
        trials.earlier.iter().try_for_each(|trial| append(&mut trials.file, trial)).map_err(failed)?;
        Ok(trials)
    }

    pub fn add(&mut self, trial: &TrialRecord) -> io::Result<()> {
        append(&mut self.file, trial)
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    /// What this process cannot know of the trials before it: the figures of the answer, if one of them is it. Their times
    /// are those of another run's clock.
    pub fn complete(&self, document: &mut Document) {
        let Some(capacity) = &mut document.capacity else { return };
        capacity.steps.iter_mut().take(self.earlier.len()).for_each(|step| step.from_s = None);
        if document.measured.is_some() {
            return;
        }
        let is_answer = |trial: &&TrialRecord| Some(trial.figures.step.load) == capacity.sustained;
        let answer = self.earlier.iter().rev().filter(is_answer).find_map(|trial| trial.part.clone());
        let Some(TrialPart { measured, throughput, latency, errors, visibility }) = answer else { return };
        document.measured = Some(MeasuredPart { from_s: None, to_s: None, length_s: measured.length_s });
        (document.throughput, document.latency) = (Some(throughput), Some(latency));
        (document.errors, document.visibility) = (errors, visibility);
    }
}

/// A path for people.
fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// A line in one piece.
fn append(file: &mut Appender, record: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    file.append(&line)
}
