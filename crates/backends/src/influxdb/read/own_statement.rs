//! Statements that a user wrote. The server has no way to refuse those that write to who may write: that they begin with a word
//! that reads, and hold no `INTO`, is all that holds them.

use super::InfluxReader;
use crate::influxdb::influxql::quoted;
use iotbench_backend_kit::{
    cell::first_number,
    line_protocol::device_digits,
    statement::{Spelling, StatementAnswer, spelled},
};
use iotbench_core::{Error, Reply, Sink, StatementCall, TableSpec};
use std::sync::Arc;

/// The first column of every answer but that of SHOW.
const TIME: &str = "time";

struct Words<'a>(&'a TableSpec);

impl Spelling for Words<'_> {
    fn table(&self) -> String {
        quoted(self.0.name.as_str())
    }

    fn signal(&self, call: &StatementCall<'_>) -> String {
        let signal = self.0.schema.signals().get(usize::from(call.signal));
        signal.map_or_else(String::new, |signal| quoted(&signal.name))
    }

    fn device(&mut self, device: u32) -> String {
        format!("'{device:0width$}'", width = device_digits(self.0))
    }

    fn number(&mut self, number: i64) -> String {
        number.to_string()
    }
}

impl InfluxReader {
    pub(super) async fn answer_statement(
        &mut self,
        call: &StatementCall<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let table = Arc::clone(&self.table);
        let statement = spelled(call, &mut Words(&table));
        let mut answer = StatementAnswer::new(call, sink);
        let bytes = self
            .client
            .ask(&statement, |series| {
                let first = usize::from(series.columns.first().is_some_and(|name| name == TIME));
                series.rows().try_for_each(|row| answer.row(first_number(row.get(first..).unwrap_or_default()), 0))
            })
            .await?;
        answer.finish_of(bytes)
    }
}
