//! Answers that are kept for the comparison with the truth.

use crate::{
    plan::Expected,
    verify::{Overlap, Writes},
};
use iotbench_core::{Aggregate, Chunk, Error, Query, Value};
use iotbench_cycle_finder::{Cycle, CycleSearch, Reason, SearchSpec, Step};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Rows of an answer that are kept as they are; of the others only a digest is kept.
pub const WHOLE_ROWS: usize = 1 << 16;

/// A query and the rows of its answer.
#[derive(Clone, Debug)]
pub struct KeptAnswer {
    /// What was asked.
    pub query: Query,
    /// The first rows.
    pub rows: Option<Chunk>,
    /// A digest of each of the others.
    pub digests: Vec<u64>,
    /// What was written meanwhile.
    pub overlap: Overlap,
    /// What the answer of a user's statement has to be; `None`: a query was asked.
    pub expected: Option<Expected>,
    /// The rows of a user's statement, also those without a figure; of one that writes, those that it changed.
    pub answered_rows: u64,
    /// What the user wrote.
    pub statement: Option<Box<str>>,
}

impl KeptAnswer {
    /// Nothing was answered yet.
    #[must_use]
    pub fn new(query: Query, overlap: Overlap) -> Self {
        Self { query, rows: None, digests: Vec::new(), overlap, expected: None, answered_rows: 0, statement: None }
    }

    /// Keeps the rows of a chunk.
    ///
    /// # Errors
    /// Its columns are not those of the chunks before.
    pub fn take(&mut self, chunk: &Chunk) -> Result<(), Error> {
        match self.expected {
            None => self.keep(chunk),
            Some(expected) => {
                self.answered_rows += chunk.len() as u64;
                // More than one row is wrong already, whatever it holds.
                let has_figure = expected.figure.is_some_and(|figure| !is_of_nothing(chunk, figure));
                if has_figure && self.len() < 2 { self.keep(chunk) } else { Ok(()) }
            }
        }
    }

    fn keep(&mut self, chunk: &Chunk) -> Result<(), Error> {
        match &mut self.rows {
            None => self.rows = Some(chunk.clone()),
            Some(rows) if rows.len() + chunk.len() <= WHOLE_ROWS => rows.append(chunk)?,
            Some(_) => self.digests.extend((0..chunk.len()).map(|row| {
                let values = chunk.columns.iter().map(|column| column.get(row));
                row_hash(chunk.devices.get(row).copied(), chunk.timestamps_ns.get(row).copied(), values)
            })),
        }
        Ok(())
    }

    /// How many rows the answer had.
    #[must_use]
    pub fn len(&self) -> u64 {
        (self.rows.as_ref().map_or(0, Chunk::len) + self.digests.len()) as u64
    }
}

/// Whether the one row of a chunk says that there was no datapoint, for which a query has no row.
fn is_of_nothing(chunk: &Chunk, figure: Aggregate) -> bool {
    let number = chunk.columns.first().and_then(|column| column.get(0)).and_then(|value| value.as_f64());
    chunk.len() == 1 && (number.is_none() || (figure == Aggregate::Count && number == Some(0.0)))
}

/// The answers of an operation, in the order of its requests.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// Each of them.
    pub answers: Vec<KeptAnswer>,
    /// The machine cycle that they led to, where one was searched.
    pub cycle: Option<KeptCycle>,
    /// Whether they are compared however long it takes.
    pub must_be_compared: bool,
    /// The writes beside it.
    pub writes: Writes,
}

/// A search for a machine cycle, and how it ended.
#[derive(Clone, Debug)]
pub struct KeptCycle {
    /// What was searched, and how.
    pub spec: SearchSpec,
    /// Of which device.
    pub device: u32,
    /// Around which moment, in nanoseconds since the Unix epoch.
    pub t_ns: i64,
    /// What was found.
    pub found: FoundCycle,
}

/// How a search for a machine cycle ended.
#[derive(Clone, Debug, PartialEq)]
pub enum FoundCycle {
    /// With a cycle.
    Cycle {
        /// The time of its first datapoint.
        start_ns: i64,
        /// The time of the first datapoint after it.
        end_ns: i64,
        /// How many datapoints it has.
        points: u64,
        /// The sum of each signal over them.
        sums: Vec<f64>,
    },
    /// Without one.
    None(Reason),
    /// It did not end.
    Unfinished,
}

impl FoundCycle {
    /// How a search stands.
    pub fn of(search: &mut CycleSearch) -> Self {
        match search.step() {
            Step::Found(Cycle { start_ns, end_ns, points, sums }) => {
                Self::Cycle { start_ns, end_ns, points, sums: sums.to_vec() }
            }
            Step::NotFound(reason) => Self::None(reason),
            Step::Ask(_) => Self::Unfinished,
        }
    }
}

/// A digest of a row.
pub fn row_hash<'a>(
    device: Option<u32>,
    timestamp_ns: Option<i64>,
    values: impl Iterator<Item = Option<Value<'a>>>,
) -> u64 {
    let mut hasher = DefaultHasher::new();
    (device, timestamp_ns).hash(&mut hasher);
    for value in values {
        match value {
            None => 0_u8.hash(&mut hasher),
            Some(Value::F32(v)) => (1_u8, v.to_bits()).hash(&mut hasher),
            Some(Value::F64(v)) => (2_u8, v.to_bits()).hash(&mut hasher),
            Some(Value::I64(v)) => (3_u8, v).hash(&mut hasher),
            Some(Value::U16(v)) => (4_u8, v).hash(&mut hasher),
            Some(Value::Text(v)) => (5_u8, v).hash(&mut hasher),
        }
    }
    hasher.finish()
}
