//! Statements that a user wrote, which the server answers to nobody who would change something by them.

use super::ClickHouseReader;
use crate::clickhouse::sql::{quoted, signal_name};
use iotbench_backend_kit::{
    cell::first_number,
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
        device.to_string()
    }

    fn number(&mut self, number: i64) -> String {
        number.to_string()
    }
}

impl ClickHouseReader {
    pub(super) async fn answer_statement(
        &mut self,
        call: &StatementCall<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let sql = spelled(call, &mut Words(&table));
        let mut answer = StatementAnswer::new(call, sink);
        let bytes = self.client.ask_read_only(&sql, |row| answer.row(first_number(row), 0)).await?;
        answer.finish_of(bytes)
    }
}
