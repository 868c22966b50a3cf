//! Statements that a user wrote.

use super::SqliteReader;
use crate::sqlite::error::classify;
use iotbench_backend_kit::statement::{Spelling, StatementAnswer, spelled};
use iotbench_core::{Action, Cause, Error, Reply, Sink, StatementCall, TableSpec};
use rusqlite::{params_from_iter, types::ValueRef};

struct Words<'a> {
    table: &'a TableSpec,
    numbers: Vec<i64>,
}

impl Spelling for Words<'_> {
    fn table(&self) -> String {
        self.table.name.to_string()
    }

    fn signal(&self, call: &StatementCall<'_>) -> String {
        let signal = self.table.schema.signals().get(usize::from(call.signal));
        signal.map_or_else(String::new, |signal| format!("\"{}\"", signal.name))
    }

    fn device(&mut self, device: u32) -> String {
        self.number(device.into())
    }

    fn number(&mut self, number: i64) -> String {
        self.numbers.push(number);
        format!("?{}", self.numbers.len())
    }
}

impl SqliteReader {
    pub(super) fn answer_statement(&self, call: &StatementCall<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut words = Words { table: &self.table, numbers: Vec::new() };
        let sql = spelled(call, &mut words);
        let mut statement = self.connection.prepare_cached(&sql).map_err(|e| classify(&e))?;
        if !statement.readonly() {
            return Err(Error::new(Cause::Client, "the statement writes").action(Action::Stop));
        }
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(&words.numbers)).map_err(|e| classify(&e))?;
        let mut answer = StatementAnswer::new(call, sink);
        while let Some(row) = rows.next().map_err(|e| classify(&e))? {
            let (mut number, mut bytes) = (None, 0);
            for place in 0..columns {
                let value = row.get_ref(place).map_err(|e| classify(&e))?;
                let (of_cell, length) = cell(value);
                // Nothing tells the type of an expression's column: without a value it counts as one of numbers.
                let is_number = of_cell.is_some() || value == ValueRef::Null;
                number = number.or(is_number.then_some(of_cell));
                bytes += length;
            }
            answer.row(number.flatten(), bytes)?;
        }
        answer.finish()
    }
}

/// A cell as a number, if it is one, and how many bytes it is.
fn cell(value: ValueRef<'_>) -> (Option<f64>, u64) {
    #[expect(clippy::cast_precision_loss, reason = "a figure has no more than 53 bits")]
    match value {
        ValueRef::Null => (None, 0),
        ValueRef::Integer(number) => (Some(number as f64), 8),
        ValueRef::Real(number) => (Some(number), 8),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => (None, bytes.len() as u64),
    }
}
