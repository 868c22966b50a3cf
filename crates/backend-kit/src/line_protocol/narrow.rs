//! Writes layout narrow: one line a value, the signal as a tag.

use super::{
    Dialect, Encode,
    lines::{Lines, push_series, push_typed_tags, push_value},
    names::{SIGNAL, VALUE},
};
use iotbench_core::{Batch, TableSpec};
use std::sync::Arc;

/// Encodes one line a value; the values of a datapoint follow one another in the order of their signals.
pub struct NarrowLines {
    table: Arc<TableSpec>,
    /// `,signal=name v=` of every signal.
    keys: Vec<Vec<u8>>,
    /// What every line of a device begins with.
    start: Vec<u8>,
    /// What stands behind its values: the tags that are fields.
    typed_tags: Vec<u8>,
}

impl NarrowLines {
    pub fn new(table: Arc<TableSpec>) -> Self {
        let signals = table.schema.signals().iter();
        let keys = signals.map(|signal| format!(",{SIGNAL}={} {VALUE}=", signal.name).into_bytes()).collect();
        Self { table, keys, start: Vec::new(), typed_tags: Vec::new() }
    }
}

impl Encode for NarrowLines {
    fn encode(&mut self, batch: &Batch, dialect: Dialect, lines: &mut Lines) {
        let mut digits = itoa::Buffer::new();
        for run_rows in batch.tagged_rows(self.table.schema.tags()) {
            self.start.clear();
            push_series(&mut self.start, &self.table, run_rows.run, dialect.has_typed_fields);
            self.typed_tags.clear();
            if dialect.has_typed_fields {
                push_typed_tags(&mut self.typed_tags, &self.table, run_rows.run);
            }
            for row in run_rows.rows {
                let time = digits.format(dialect.times.in_unit(batch.timestamps_ns()[row]));
                for (key, column) in self.keys.iter().zip(batch.columns()) {
                    lines.bytes.extend_from_slice(&self.start);
                    lines.bytes.extend_from_slice(key);
                    push_value(&mut lines.bytes, column, row, dialect.escapes_newlines);
                    lines.bytes.extend_from_slice(&self.typed_tags);
                    lines.end(time);
                }
            }
        }
    }
}
