//! What the server counts of itself: `serverStatus`, of whichever server of a set answers as its primary.

use super::ownership::run;
use async_trait::async_trait;
use iotbench_core::{Counted, Counter, CounterReader, CounterSource, Error};
use mongodb::{
    Database,
    bson::{Bson, Document, doc},
};

/// Where each is from; a router of shards has those of `metrics` alone.
pub(crate) const SOURCES: &[CounterSource] = &[
    CounterSource::new(Counter::RowsWritten, "metrics.document.inserted"),
    CounterSource::new(Counter::RowsRead, "metrics.queryExecutor.scannedObjects"),
    CounterSource::new(Counter::CacheHits, "wiredTiger.cache: pages requested from the cache - pages read into cache"),
    CounterSource::new(Counter::CacheMisses, "wiredTiger.cache: pages read into cache"),
    CounterSource::new(Counter::WalBytes, "wiredTiger.log: log bytes written"),
    CounterSource::new(Counter::WalSyncs, "wiredTiger.log: log sync operations"),
    CounterSource::new(Counter::Checkpoints, "wiredTiger.transaction: transaction checkpoints, where there is one"),
    CounterSource::new(Counter::PagesWritten, "wiredTiger.cache: pages written from cache"),
];

/// Sections that are left out of the answer, as far as a version has them.
const LEFT_OUT: [&str; 12] = [
    "asserts",
    "catalogStats",
    "defaultRWConcern",
    "flowControl",
    "globalLock",
    "indexStats",
    "locks",
    "mirroredReads",
    "repl",
    "shardingStatistics",
    "tcmalloc",
    "transactions",
];

/// A client that reads them.
pub(crate) struct MongoCounters {
    admin: Database,
}

impl MongoCounters {
    pub(crate) fn new(database: &Database) -> Self {
        Self { admin: database.client().database("admin") }
    }
}

#[async_trait]
impl CounterReader for MongoCounters {
    async fn read(&mut self) -> Result<Vec<Counted>, Error> {
        let mut command = doc! { "serverStatus": 1 };
        command.extend(LEFT_OUT.map(|section| (section.to_owned(), Bson::Int32(0))));
        Ok(counted(&run(&self.admin, command).await?))
    }
}

fn counted(status: &Document) -> Vec<Counted> {
    let at = |path: &[&str]| number(status, path);
    let cache = |name| at(&["wiredTiger", "cache", name]);
    let misses = cache("pages read into cache");
    // The two are not read at one instant.
    let hits = cache("pages requested from the cache").zip(misses).map(|(all, misses)| all.saturating_sub(misses));
    let counters = [
        (Counter::RowsWritten, at(&["metrics", "document", "inserted"])),
        (Counter::RowsRead, at(&["metrics", "queryExecutor", "scannedObjects"])),
        (Counter::CacheHits, hits),
        (Counter::CacheMisses, misses),
        (Counter::WalBytes, at(&["wiredTiger", "log", "log bytes written"])),
        (Counter::WalSyncs, at(&["wiredTiger", "log", "log sync operations"])),
        (Counter::Checkpoints, at(&["wiredTiger", "transaction", "transaction checkpoints"])),
        (Counter::PagesWritten, cache("pages written from cache")),
    ];
    counters.into_iter().filter_map(|(counter, value)| Some((counter, value?))).collect()
}

/// A count in documents within each other.
fn number(status: &Document, path: &[&str]) -> Option<u64> {
    let (last, sections) = path.split_last()?;
    let section = sections.iter().try_fold(status, |section, name| section.get_document(name).ok())?;
    match section.get(last)? {
        Bson::Int32(number) => u64::try_from(*number).ok(),
        Bson::Int64(number) => u64::try_from(*number).ok(),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count, and what is none becomes 0"
        )]
        Bson::Double(number) => Some(*number as u64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_has_is_told_and_what_it_lacks_is_left_out() {
        let cache = doc! { "pages requested from the cache": 10_i64, "pages read into cache": 4 };
        let status = doc! { "metrics": { "document": { "inserted": 7_i64 } }, "wiredTiger": { "cache": cache } };
        let expected = [(Counter::RowsWritten, 7), (Counter::CacheHits, 6), (Counter::CacheMisses, 4)];
        assert_eq!(counted(&status), expected);
        assert_eq!(counted(&doc! { "metrics": 1, "wiredTiger": { "cache": "none" } }), []);
    }
}
