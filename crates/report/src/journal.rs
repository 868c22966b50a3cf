//! `journal.jsonl`: what `run.json` needs of each second and `series.csv` does not have, a line a second.
//!
//! A run that ends by itself does not need it. Of one that is killed, [`recover`](crate::recover()) adds it up.

use crate::document::{ErrorsOfCause, errors_by_cause};
use iotbench_recorder::{LoadCounts, PointCounts, WINDOW_NS, Window};
use serde::{Deserialize, Serialize};

/// Name and version of the format.
const SCHEMA: &str = "iotbench-journal/1.0";

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub enum Line {
    /// The first one.
    Begin(Beginning),
    /// A phase has begun.
    Phase {
        /// Its word, as in `run.json`.
        phase: String,
    },
    /// So many datapoints are written before the load.
    Preloaded {
        /// How many.
        points: u64,
    },
    /// A second is over.
    Second(Box<JournaledSecond>),
}

/// What is known before the run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beginning {
    /// The format.
    pub schema: String,
    /// The measured part in nanoseconds since the run's start; null: it is found step by step.
    pub measured: Option<Span>,
    /// What is recorded apart.
    pub kinds: Vec<Kind>,
}

/// A stretch of a run, in nanoseconds since its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// Its start.
    pub from_ns: u64,
    /// Its end.
    pub to_ns: u64,
}

/// A kind of operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// Its name.
    pub name: String,
    /// Whether an operation is nothing but one request.
    pub is_one_request: bool,
    /// Whether it waits between two of its requests.
    pub has_pauses: bool,
}

/// What happened in a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JournaledSecond {
    /// The second since the run's start, from 0.
    pub second: u64,
    /// Seconds covered.
    pub seconds: u64,
    /// All operations, in the second of each event; nothing is pending or censored here.
    pub operations: LoadCounts,
    /// Of these, those that were intended in the same stretch of the run.
    pub intended: LoadCounts,
    /// Datapoints by their fate.
    pub points: PointCounts,
    /// Values that were acknowledged.
    pub values_acked: u64,
    /// Rows of answers.
    pub rows_read: u64,
    /// Bytes of content sent and received.
    pub bytes: u64,
    /// Usually none.
    pub errors: Vec<ErrorsOfCause>,
}

impl Line {
    /// The first line of a run's journal. No measured part: it is found step by step.
    #[must_use]
    pub fn begin(measured: Option<Span>, kinds: Vec<Kind>) -> Self {
        Self::Begin(Beginning { schema: SCHEMA.into(), measured, kinds })
    }

    /// The line as text, line break included.
    ///
    /// # Errors
    /// Never for a line of a run; serde reserves the right.
    pub fn to_text(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        Ok(text)
    }
}

impl Beginning {
    /// Whether this version can read what follows.
    pub(crate) fn is_of_this_version(&self) -> bool {
        self.schema == SCHEMA
    }
}

impl From<&Window> for Line {
    fn from(window: &Window) -> Self {
        let counts = window.counts();
        let operations = LoadCounts {
            offered: counts.offered,
            started: counts.started,
            ok: counts.ok,
            fail: counts.fail,
            unknown: counts.unknown,
            dropped: counts.dropped,
            ..LoadCounts::default()
        };
        Self::Second(Box::new(JournaledSecond {
            second: window.first_second(),
            seconds: window.seconds(),
            operations,
            intended: window.recording().load(),
            points: counts.points,
            values_acked: counts.values_acked,
            rows_read: counts.rows_read,
            bytes: counts.bytes,
            errors: errors_by_cause(window.recording().errors()),
        }))
    }
}

impl JournaledSecond {
    /// When it began, in nanoseconds since the run's start.
    pub(crate) fn start_ns(&self) -> u64 {
        self.second.saturating_mul(WINDOW_NS)
    }

    /// When it ended.
    pub(crate) fn end_ns(&self) -> u64 {
        self.second.saturating_add(self.seconds).saturating_mul(WINDOW_NS)
    }
}
