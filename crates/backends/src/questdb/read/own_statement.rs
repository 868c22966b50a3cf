//! Statements that a user wrote. A server without accounts has no way to refuse those that write: that they begin with a word
//! that reads, and hold no `INTO`, is all that holds them.

use super::QuestReader;
use crate::questdb::sql::{quoted, signal_name, text};
use iotbench_backend_kit::{
    cell::first_number,
    line_protocol::device_digits,
    sql::AskRows,
    statement::{Spelling, StatementAnswer, spelled},
};
use iotbench_core::{Error, Reply, Sink, StatementCall, TableSpec};
use std::sync::Arc;

struct Words<'a>(&'a TableSpec);

impl Spelling for Words<'_> {
    fn table(&self) -> String {
        quoted(self.0.name.as_str())
    }

    fn signal(&self, call: &StatementCall<'_>) -> String {
        quoted(signal_name(self.0, call.signal))
    }

    fn device(&mut self, device: u32) -> String {
        text(&format!("{device:0width$}", width = device_digits(self.0)))
    }

    fn number(&mut self, number: i64) -> String {
        number.to_string()
    }
}

impl QuestReader {
    pub(super) async fn answer_statement(
        &mut self,
        call: &StatementCall<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let sql = spelled(call, &mut Words(&table));
        let mut answer = StatementAnswer::new(call, sink);
        let bytes = self.client.ask(&sql, |row| answer.row(first_number(row), 0)).await?;
        answer.finish_of(bytes)
    }
}
