//! What the server counts of itself: `SHOW STATS`, which a server with users answers to administrators alone.

use super::{
    client::Client,
    diagnostics::{Part, figure, parts},
};
use async_trait::async_trait;
use iotbench_core::{Counted, Counter, CounterReader, CounterSource, Error, Name};

/// Where each is from.
pub(crate) const SOURCES: &[CounterSource] = &[
    CounterSource::new(Counter::RowsWritten, "write.pointReq"),
    CounterSource::new(Counter::Flushes, "tsm1_engine.cacheCompactions"),
    CounterSource::new(
        Counter::Compactions,
        "tsm1_engine.tsmLevel1Compactions + tsmLevel2Compactions + tsmLevel3Compactions + tsmFullCompactions + \
         tsmOptimizeCompactions",
    ),
];

const STATEMENT: &str = "SHOW STATS FOR 'write'; SHOW STATS FOR 'tsm1_engine'";
const COMPACTIONS: [&str; 5] = [
    "tsmLevel1Compactions",
    "tsmLevel2Compactions",
    "tsmLevel3Compactions",
    "tsmFullCompactions",
    "tsmOptimizeCompactions",
];

/// A connection that reads them.
pub(crate) struct InfluxCounters {
    client: Client,
    database: Name,
}

impl InfluxCounters {
    pub(crate) fn new(client: Client, database: Name) -> Self {
        Self { client, database }
    }
}

#[async_trait]
impl CounterReader for InfluxCounters {
    async fn read(&mut self) -> Result<Vec<Counted>, Error> {
        Ok(counted(&parts(&mut self.client, STATEMENT).await?, self.database.as_str()))
    }
}

/// Points are those of the whole server; files are those of our database's shards.
fn counted(parts: &[Part], database: &str) -> Vec<Counted> {
    let points = parts.iter().find(|part| part.name == "write").and_then(|part| figure(part, "pointReq"));
    let is_ours = |part: &&Part| part.name == "tsm1_engine" && part.tags.get("database").is_some_and(|d| d == database);
    let sum = |names: &[&str]| {
        let shards = parts.iter().filter(is_ours);
        shards.flat_map(|shard| names.iter().filter_map(|name| figure(shard, name))).fold(0, u64::saturating_add)
    };
    let files = [(Counter::Flushes, sum(&["cacheCompactions"])), (Counter::Compactions, sum(&COMPACTIONS))];
    points.map(|points| (Counter::RowsWritten, points)).into_iter().chain(files).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, database: &str, figures: &[(&str, &str)]) -> Part {
        let text = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
        Part {
            name: name.into(),
            tags: [("database", database)].into_iter().map(text).collect(),
            figures: figures.iter().copied().map(text).collect(),
        }
    }

    #[test]
    fn shards_of_the_database_are_added_up() {
        let shard = [("cacheCompactions", "2"), ("tsmLevel1Compactions", "3"), ("tsmFullCompactions", "1")];
        let parts = [
            part("write", "", &[("pointReq", "700"), ("writeOk", "9")]),
            part("tsm1_engine", "ours", &shard),
            part("tsm1_engine", "ours", &shard),
            part("tsm1_engine", "_internal", &shard),
            part("tsm1_wal", "ours", &shard),
        ];
        let expected = [(Counter::RowsWritten, 700), (Counter::Flushes, 4), (Counter::Compactions, 8)];
        assert_eq!(counted(&parts, "ours"), expected);
        assert!(COMPACTIONS.iter().all(|name| SOURCES[2].field.contains(name)));
    }
}
