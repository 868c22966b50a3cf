//! What the server counts of itself: the rows of `system.events`.

use super::client::{Client, improper};
use async_trait::async_trait;
use iotbench_backend_kit::{cell::Cell, sql::AskRows};
use iotbench_core::{Counted, Counter, CounterReader, CounterSource, Error};

/// Where each is from: a row of `system.events`, which is missing until there is something to count.
pub(crate) const SOURCES: &[CounterSource] = &[
    CounterSource::new(Counter::RowsWritten, "InsertedRows"),
    CounterSource::new(Counter::CacheHits, "MarkCacheHits"),
    CounterSource::new(Counter::CacheMisses, "MarkCacheMisses"),
    CounterSource::new(Counter::Compactions, "Merge"),
];

const STATEMENT: &str = "SELECT event, value FROM system.events";

/// A connection that reads them.
pub(crate) struct ClickHouseCounters {
    client: Client,
}

impl ClickHouseCounters {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }
}

#[async_trait]
impl CounterReader for ClickHouseCounters {
    async fn read(&mut self) -> Result<Vec<Counted>, Error> {
        let mut counted: Vec<Counted> = SOURCES.iter().map(|source| (source.counter, 0)).collect();
        let note = |row: &[Cell<'_>]| {
            let [Cell::Text(event), value] = row else { return Err(improper(&"system.events has other columns")) };
            if let Some(place) = SOURCES.iter().position(|source| source.field == event) {
                counted[place].1 = count_of(value)?;
            }
            Ok(())
        };
        self.client.ask(STATEMENT, note).await?;
        Ok(counted)
    }
}

fn count_of(cell: &Cell<'_>) -> Result<u64, Error> {
    match cell {
        Cell::Integer(count) if *count >= 0 => Ok(count.unsigned_abs()),
        other => Err(improper(&format!("{other:?} stands where a count should"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_no_text_and_not_below_nothing() {
        assert_eq!(count_of(&Cell::Integer(7)).unwrap(), 7);
        for wrong in [Cell::Integer(-1), Cell::Null, Cell::Text("7".into())] {
            assert!(count_of(&wrong).is_err(), "{wrong:?}");
        }
    }
}
