//! Writes layout wide: one line a datapoint, a field for each signal.

use super::{
    Dialect, Encode,
    lines::{Lines, push_series, push_typed_tags, push_value},
};
use iotbench_core::{Batch, TableSpec};
use std::sync::Arc;

/// Encodes one line a datapoint.
pub struct WideLines {
    table: Arc<TableSpec>,
    /// `name=` of every signal, from the second on with a comma before it.
    keys: Vec<Vec<u8>>,
    /// What every line of a device begins with.
    start: Vec<u8>,
    /// What stands behind its values: the tags that are fields.
    typed_tags: Vec<u8>,
}

impl WideLines {
    pub fn new(table: Arc<TableSpec>) -> Self {
        let signals = table.schema.signals().iter().enumerate();
        let keys = signals.map(|(place, signal)| {
            let comma = if place == 0 { "" } else { "," };
            format!("{comma}{}=", signal.name).into_bytes()
        });
        let keys = keys.collect();
        Self { table, keys, start: Vec::new(), typed_tags: Vec::new() }
    }
}

impl Encode for WideLines {
    fn encode(&mut self, batch: &Batch, dialect: Dialect, lines: &mut Lines) {
        let mut digits = itoa::Buffer::new();
        for run_rows in batch.tagged_rows(self.table.schema.tags()) {
            self.start.clear();
            push_series(&mut self.start, &self.table, run_rows.run, dialect.has_typed_fields);
            self.typed_tags.clear();
            if dialect.has_typed_fields {
                push_typed_tags(&mut self.typed_tags, &self.table, run_rows.run);
            }
            self.start.push(b' ');
            for row in run_rows.rows {
                lines.bytes.extend_from_slice(&self.start);
                for (key, column) in self.keys.iter().zip(batch.columns()) {
                    lines.bytes.extend_from_slice(key);
                    push_value(&mut lines.bytes, column, row, dialect.escapes_newlines);
                }
                lines.bytes.extend_from_slice(&self.typed_tags);
                lines.end(digits.format(dialect.times.in_unit(batch.timestamps_ns()[row])));
            }
        }
    }
}
