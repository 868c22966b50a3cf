//! What the server counts of itself: a function of its SQL, which has no figures unless `metrics.enabled` is on.

use super::client::{Client, improper};
use async_trait::async_trait;
use iotbench_backend_kit::{cell::Cell, sql::AskRows};
use iotbench_core::{Action, Cause, Counted, Counter, CounterReader, CounterSource, Error};

/// Where each is from: a row of `table_writer_metrics()`.
pub(crate) const SOURCES: &[CounterSource] = &[
    CounterSource::new(Counter::RowsWritten, "committed_rows"),
    CounterSource::new(Counter::Transactions, "total_commits"),
    CounterSource::new(Counter::Rollbacks, "rollbacks"),
];

const STATEMENT: &str = "SELECT name, value FROM table_writer_metrics()";

/// A connection that reads them.
pub(crate) struct QuestCounters {
    client: Client,
}

impl QuestCounters {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }
}

#[async_trait]
impl CounterReader for QuestCounters {
    async fn read(&mut self) -> Result<Vec<Counted>, Error> {
        let mut counted = Vec::with_capacity(SOURCES.len());
        let note = |row: &[Cell<'_>]| {
            counted.extend(of_row(row)?);
            Ok(())
        };
        self.client.ask(STATEMENT, note).await?;
        if counted.is_empty() { Err(counts_nothing()) } else { Ok(counted) }
    }
}

/// A server that does not count answers with -1.
fn of_row(row: &[Cell<'_>]) -> Result<Option<Counted>, Error> {
    let [Cell::Text(name), Cell::Integer(value)] = row else {
        return Err(improper(&"table_writer_metrics() has other columns"));
    };
    let source = SOURCES.iter().find(|source| source.field == name);
    Ok(source.zip(u64::try_from(*value).ok()).map(|(source, value)| (source.counter, value)))
}

fn counts_nothing() -> Error {
    let message = "this QuestDB counts nothing: metrics.enabled=true in its server.conf, or QDB_METRICS_ENABLED=true in its \
                   environment, has it count";
    Error::new(Cause::Server, message).action(Action::Stop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_counter_and_one_that_is_off_is_none() {
        let of = |name: &'static str, value| of_row(&[Cell::Text(name.into()), Cell::Integer(value)]).unwrap();
        assert_eq!(of("committed_rows", 3_010), Some((Counter::RowsWritten, 3_010)));
        assert_eq!(of("rollbacks", 0), Some((Counter::Rollbacks, 0)));
        assert_eq!(of("o3commits", 5), None);
        assert_eq!(of("total_commits", -1), None);
        assert!(of_row(&[Cell::Text("rollbacks".into()), Cell::Null]).is_err());
    }
}
