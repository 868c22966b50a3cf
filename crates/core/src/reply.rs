//! Answers of a database, in bounded columnar chunks.

use crate::{Column, Error, Value, ValueType};
use serde::{Deserialize, Serialize};

/// The most rows in one chunk.
pub const CHUNK_ROWS: usize = 1024;

/// The values of one column of a reply, some of which the database may not have.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplyColumn {
    values: Column,
    present: Vec<bool>,
}

impl ReplyColumn {
    /// An empty column.
    #[must_use]
    pub fn new(value_type: ValueType) -> Self {
        Self { values: Column::new(value_type), present: Vec::new() }
    }

    /// The type of its values.
    #[must_use]
    pub fn value_type(&self) -> ValueType {
        self.values.value_type()
    }

    /// Appends a value, or nothing.
    ///
    /// # Errors
    /// A value of another type than the column's.
    pub fn push(&mut self, value: Option<Value<'_>>) -> Result<(), Error> {
        match value {
            None => self.values.push_default(),
            Some(value) => {
                if !self.values.push(value) {
                    let message = format!("a {:?} column was answered with {value:?}", self.value_type());
                    return Err(Error::new(crate::Cause::Protocol, message));
                }
            }
        }
        self.present.push(value.is_some());
        Ok(())
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.present.len()
    }

    /// Whether it has no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.present.is_empty()
    }

    /// The value of a row, if the database has one.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<Value<'_>> {
        if *self.present.get(row)? { self.values.get(row) } else { None }
    }
}

/// Some rows of a reply. Row `r` is device, timestamp and one value of each column.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// The device of each row.
    pub devices: Vec<u32>,
    /// The time of each row, in nanoseconds since the Unix epoch; 0 where a row has none.
    pub timestamps_ns: Vec<i64>,
    /// The values.
    pub columns: Vec<ReplyColumn>,
}

impl Chunk {
    /// An empty chunk with columns of these types.
    pub fn new(types: impl IntoIterator<Item = ValueType>) -> Self {
        let columns = types.into_iter().map(ReplyColumn::new).collect();
        Self { devices: Vec::new(), timestamps_ns: Vec::new(), columns }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.timestamps_ns.len()
    }

    /// True when there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.timestamps_ns.is_empty()
    }

    /// Appends the rows of a chunk with the same columns.
    ///
    /// # Errors
    /// Another number of columns, or a column of another type.
    pub fn append(&mut self, other: &Self) -> Result<(), Error> {
        let differs = || Error::new(crate::Cause::Protocol, "the chunks of an answer have different columns");
        if self.columns.len() != other.columns.len() {
            return Err(differs());
        }
        for (column, more) in self.columns.iter_mut().zip(&other.columns) {
            if !column.values.append(&more.values) {
                return Err(differs());
            }
            column.present.extend_from_slice(&more.present);
        }
        self.devices.extend_from_slice(&other.devices);
        self.timestamps_ns.extend_from_slice(&other.timestamps_ns);
        Ok(())
    }

    /// Removes all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.devices.clear();
        self.timestamps_ns.clear();
        for column in &mut self.columns {
            column.values.clear();
            column.present.clear();
        }
    }
}

/// Where a reader pushes the rows of its answer.
pub trait Sink: Send {
    /// Takes some rows: at most [`CHUNK_ROWS`], at least one. The reader uses the chunk again afterwards.
    ///
    /// # Errors
    /// An error of the sink's own ends the query with it.
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error>;
}

impl<F: FnMut(&Chunk) -> Result<(), Error> + Send> Sink for F {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        self(chunk)
    }
}

/// Who worked the answer out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComputedBy {
    /// The database.
    Server,
    /// The client, from more rows than it answers with.
    Client,
}

/// The end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reply {
    /// How many rows were pushed.
    pub rows: u64,
    /// How many bytes came over the wire, or were decoded where there is no wire.
    pub bytes: u64,
    /// Who worked it out.
    pub computed_by: ComputedBy,
}
