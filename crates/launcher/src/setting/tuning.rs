//! Settings that a server may have from another machine. On his own a user may set what he likes; who only asks for a server gets to
//! tune it: how much memory, how often it writes, how many at a time. None of these names a file, an address or code, switches a
//! check off, or lets anybody in, whatever its value.

use super::{ServerSettings, WrongSetting, wrong};
use iotbench_core::capitals;

/// Without the role, for whichever database: of one name no two servers make different things.
const TUNING: &[&str] = &[
    // PostgreSQL
    "autovacuum",
    "autovacuum_max_workers",
    "autovacuum_naptime",
    "bgwriter_delay",
    "bgwriter_lru_maxpages",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "commit_siblings",
    "effective_cache_size",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "jit",
    "maintenance_work_mem",
    "max_connections",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "max_worker_processes",
    "min_wal_size",
    "random_page_cost",
    "shared_buffers",
    "synchronous_commit",
    "temp_buffers",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
    "wal_writer_delay",
    "wal_writer_flush_after",
    "work_mem",
    // MariaDB
    "bulk_insert_buffer_size",
    "innodb_autoinc_lock_mode",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_read_io_threads",
    "innodb_write_io_threads",
    "join_buffer_size",
    "key_buffer_size",
    "max_allowed_packet",
    "query_cache_size",
    "query_cache_type",
    "rocksdb_block_cache_size",
    "rocksdb_flush_log_at_trx_commit",
    "sort_buffer_size",
    "sync_binlog",
    "table_open_cache",
    "thread_cache_size",
    "thread_handling",
    "thread_pool_size",
    // MongoDB
    "journalCommitInterval",
    "maxConns",
    "syncdelay",
    "wiredTigerCollectionBlockCompressor",
    "wiredTigerIndexPrefixCompression",
    "wiredTigerJournalCompressor",
    // InfluxDB
    "coordinator.max-concurrent-queries",
    "coordinator.write-timeout",
    "data.cache-max-memory-size",
    "data.cache-snapshot-memory-size",
    "data.cache-snapshot-write-cold-duration",
    "data.compact-full-write-cold-duration",
    "data.compact-throughput",
    "data.compact-throughput-burst",
    "data.index-version",
    "data.max-concurrent-compactions",
    "data.max-series-per-database",
    "data.max-values-per-tag",
    "data.wal-fsync-delay",
    "http.max-body-size",
    "query-concurrency",
    "query-memory-bytes",
    "storage-cache-max-memory-size",
    "storage-cache-snapshot-memory-size",
    "storage-cache-snapshot-write-cold-duration",
    "storage-compact-throughput-burst",
    "storage-max-concurrent-compactions",
    "storage-wal-fsync-delay",
    "storage-wal-max-concurrent-writes",
    "udp.0.batch-pending",
    "udp.0.batch-size",
    "udp.0.batch-timeout",
    "udp.0.read-buffer",
    // KairosDB and Cassandra
    "commitlog_sync",
    "commitlog_sync_period",
    "commitlog_sync_period_in_ms",
    "compaction_throughput",
    "compaction_throughput_mb_per_sec",
    "concurrent_compactors",
    "concurrent_reads",
    "concurrent_writes",
    "memtable_allocation_type",
    "memtable_flush_writers",
    "memtable_heap_space",
    "memtable_heap_space_in_mb",
    "queue_processor.batch_size",
    "queue_processor.memory_queue_size",
    "queue_processor.min_batch_size",
    // OpenTSDB and HBase
    "hbase.hregion.memstore.flush.size",
    "hbase.regionserver.global.memstore.size",
    "hbase.regionserver.handler.count",
    "hfile.block.cache.size",
    "tsd.storage.enable_appends",
    "tsd.storage.enable_compaction",
    "tsd.storage.flush_interval",
    // QuestDB
    "cairo.commit.mode",
    "cairo.max.uncommitted.rows",
    "cairo.wal.enabled.default",
    "http.worker.count",
    "shared.worker.count",
    // VictoriaMetrics
    "inmemoryDataFlushInterval",
    "insert.maxQueueDuration",
    "maxConcurrentInserts",
    "memory.allowedBytes",
    "memory.allowedPercent",
    "search.maxConcurrentRequests",
];

impl ServerSettings {
    /// Refuses settings that are not known to do no more than to tune the server.
    ///
    /// # Errors
    /// The first of them.
    pub fn only_tuning(&self) -> Result<(), WrongSetting> {
        let is_tuning = |key: &str| TUNING.iter().any(|known| capitals(known) == capitals(key));
        match self.settings.iter().find(|(_, key, _)| !is_tuning(key)) {
            None => Ok(()),
            Some((_, key, _)) => Err(wrong(
                key,
                "not taken from another machine: only settings are that are known to tune a server and no more (docs/agents.md); \
                 start it on its own machine (iotbench server start) to set others",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::lets_run;
    use iotbench_core::{On, Ready, Recipe, Role, StopBy};

    static ROLES: [Role; 1] = [Role {
        name: "server",
        on: On::EveryNode,
        ports: &[],
        files: &[],
        init: &[],
        environment: &[],
        start: &[],
        setting: &["{key}={value}"],
        reserved: &[],
        ready: Ready::Command(&[]),
        ready_within_s: 1,
        stop: StopBy::Terminate,
        url: None,
    }];
    static RECIPE: Recipe =
        Recipe { programs: &[], jars: &[], version: &[], user: "nobody", nodes: &[1, 3], roles: &ROLES, join: &[] };

    fn of(key: &str) -> ServerSettings {
        ServerSettings::new([(key.to_owned(), "1".to_owned())], &RECIPE).unwrap()
    }

    #[test]
    fn from_another_machine_a_server_is_tuned_and_nothing_else() {
        for known in ["shared_buffers", "innodb-flush-log-at-trx-commit", "cairo.commit.mode", "nodes"] {
            assert_eq!(of(known).only_tuning(), Ok(()), "{known}");
        }
        for other in [
            "hba_file",
            "ssl_key_file",
            "log_directory",
            "general_log_file",
            "secure_file_priv",
            "skip-grant-tables",
            "local_infile",
            "listen_addresses",
            "shared_buffer",
            "shared_buffers2",
            "x",
        ] {
            let error = of(other).only_tuning().unwrap_err();
            assert!(error.key == other && error.message.contains("from another machine"), "{error}");
        }
    }

    #[test]
    fn what_is_known_to_tune_is_taken_and_runs_nothing() {
        for key in TUNING {
            assert!(!lets_run(key), "{key}");
            assert_eq!(of(key).only_tuning(), Ok(()), "{key}");
        }
    }
}
