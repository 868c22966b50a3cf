//! What a server counts of itself, under names that mean the same of every server.

use crate::Error;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

macro_rules! counters {
    ($($(#[doc = $meaning:literal])+ $variant:ident = $name:literal,)+) => {
        /// Something that a server counts of itself, and that only grows while the server runs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Counter {
            $($(#[doc = $meaning])+ $variant,)+
        }

        impl Counter {
            /// All of them, in the order in which they are told.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Its stable name in results.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// What it counts.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($meaning),+).trim_ascii(),)+ }
            }
        }
    };
}

counters! {
    /// Rows that were inserted: records of a table, documents, or samples, as the server stores them.
    RowsWritten = "rows_written",
    /// Rows that were looked at to answer reads.
    RowsRead = "rows_read",
    /// Transactions or commits that were carried out.
    Transactions = "transactions",
    /// Transactions that were taken back.
    Rollbacks = "rollbacks",
    /// Pages that were found in the server's own cache.
    CacheHits = "cache_hits",
    /// Pages that were not, and were read from the operating system.
    CacheMisses = "cache_misses",
    /// Bytes that were written to the log of changes.
    WalBytes = "wal_bytes",
    /// Times that this log was forced to the disk.
    WalSyncs = "wal_syncs",
    /// Checkpoints that were made, or asked for.
    Checkpoints = "checkpoints",
    /// Pages that were written to data files.
    PagesWritten = "pages_written",
    /// Times that what was in memory was written to files.
    Flushes = "flushes",
    /// Times that files were merged into others.
    Compactions = "compactions",
    /// Times that somebody waited for another's lock.
    LockWaits = "lock_waits",
    /// Transactions that were ended because they waited for each other.
    Deadlocks = "deadlocks",
    /// Bytes that queries wrote to temporary files.
    TempBytes = "temp_bytes",
}

impl Counter {
    /// Whether it counts bytes.
    #[must_use]
    pub fn is_of_bytes(self) -> bool {
        self.name().ends_with("_bytes")
    }
}

/// Where a backend has a counter from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterSource {
    /// Which it is.
    pub counter: Counter,
    /// The server's own name of it: a column, a variable, a field; or a sum of several.
    pub field: &'static str,
}

impl CounterSource {
    /// This counter from this field.
    #[must_use]
    pub const fn new(counter: Counter, field: &'static str) -> Self {
        Self { counter, field }
    }
}

/// A counter, and how far it had come.
pub type Counted = (Counter, u64);

/// One connection that reads the server's counters.
#[async_trait]
pub trait CounterReader: Send {
    /// Those that the server has, of [`BackendInfo::counters`](crate::BackendInfo::counters); what its version lacks is left out.
    async fn read(&mut self) -> Result<Vec<Counted>, Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_said_alike_in_series_and_documents() {
        for counter in Counter::ALL {
            assert_eq!(serde_json::to_value(counter).unwrap(), counter.name());
            assert!(counter.meaning().ends_with('.') && !counter.meaning().starts_with(' '), "{counter:?}");
        }
        assert!(Counter::WalBytes.is_of_bytes() && !Counter::WalSyncs.is_of_bytes());
    }
}
