//! What a commit promises, from the server's settings as they are in effect.

use super::config::Engine;
use iotbench_core::{Promise, PromiseLevel, PromiseSource};

/// The settings that decide, as the server answers them; `None` where it has no such variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Durability {
    pub(crate) innodb_flush_log_at_trx_commit: Option<String>,
    pub(crate) innodb_flush_log_at_timeout: Option<String>,
    pub(crate) innodb_flush_method: Option<String>,
    pub(crate) innodb_doublewrite: Option<String>,
    pub(crate) rocksdb_flush_log_at_trx_commit: Option<String>,
    pub(crate) rocksdb_write_disable_wal: Option<String>,
    pub(crate) log_bin: Option<String>,
    pub(crate) sync_binlog: Option<String>,
}

/// The promise of a commit.
///
/// With `…_flush_log_at_trx_commit` 1 (or 3) the engine waits for the disk at each commit; with 2 its log is in the
/// operating system's hands and is flushed once in a timeout; with 0 it may still be in the process. Where a binary log
/// is written, recovery keeps only what that log holds, so it must be flushed as well. InnoDB without its doublewrite
/// buffer may find a torn page after a loss of power, and with `nosync` it never asks the disk. MyRocks without a
/// write-ahead log, or under bulk load, has nothing on disk when it acknowledges.
/// Sources: <https://mariadb.com/kb/en/innodb-system-variables/>, <https://mariadb.com/kb/en/myrocks-system-variables/>,
/// <https://mariadb.com/kb/en/replication-and-binary-log-system-variables/#sync_binlog>.
pub(crate) fn promise(engine: Engine, bulk_load: bool, settings: &Durability) -> Promise {
    let level = match engine {
        Engine::InnoDb => innodb(settings),
        Engine::MyRocks if bulk_load || is_on(settings.rocksdb_write_disable_wal.as_deref()) => PromiseLevel::Buffered,
        Engine::MyRocks => by_flush(settings.rocksdb_flush_log_at_trx_commit.as_deref(), 1.0),
    };
    Promise { level: binlog_permitting(level, settings), nodes: 1, source: PromiseSource::ReadBack }
}

fn innodb(settings: &Durability) -> PromiseLevel {
    let seconds = settings.innodb_flush_log_at_timeout.as_deref().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let level = by_flush(settings.innodb_flush_log_at_trx_commit.as_deref(), seconds);
    let method = settings.innodb_flush_method.as_deref().unwrap_or_default();
    let never_syncs = method.eq_ignore_ascii_case("nosync") || method.eq_ignore_ascii_case("littlesync");
    let tears = match settings.innodb_doublewrite.as_deref() {
        Some(value) => value.eq_ignore_ascii_case("OFF") || value.eq_ignore_ascii_case("DETECT_ONLY") || value == "0",
        None => false,
    };
    if never_syncs || tears { at_most_process_crash(level) } else { level }
}

fn by_flush(at_commit: Option<&str>, seconds: f64) -> PromiseLevel {
    match at_commit {
        Some("1" | "3") => PromiseLevel::OsCrash,
        Some("2") => PromiseLevel::OsCrashWithin { seconds },
        _ => PromiseLevel::Buffered,
    }
}

fn binlog_permitting(level: PromiseLevel, settings: &Durability) -> PromiseLevel {
    let is_flushed = !is_on(settings.log_bin.as_deref()) || settings.sync_binlog.as_deref() == Some("1");
    if is_flushed { level } else { at_most_process_crash(level) }
}

fn at_most_process_crash(level: PromiseLevel) -> PromiseLevel {
    if level > PromiseLevel::ProcessCrash { PromiseLevel::ProcessCrash } else { level }
}

fn is_on(value: Option<&str>) -> bool {
    value.is_some_and(|value| value.eq_ignore_ascii_case("ON") || value == "1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use PromiseLevel::{Buffered, OsCrash, OsCrashWithin, ProcessCrash};

    type Pairs<'a> = &'a [(&'a str, &'a str)];

    fn settings(pairs: Pairs<'_>) -> Durability {
        let find = |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        Durability {
            innodb_flush_log_at_trx_commit: find("flush"),
            innodb_flush_log_at_timeout: find("timeout"),
            innodb_flush_method: find("method"),
            innodb_doublewrite: find("doublewrite"),
            rocksdb_flush_log_at_trx_commit: find("flush"),
            rocksdb_write_disable_wal: find("no_wal"),
            log_bin: find("log_bin"),
            sync_binlog: find("sync_binlog"),
        }
    }

    #[test]
    fn innodb_promises_what_it_keeps() {
        let table: &[(Pairs<'_>, PromiseLevel)] = &[
            (&[("flush", "1")], OsCrash),
            (&[("flush", "3")], OsCrash),
            (&[("flush", "2")], OsCrashWithin { seconds: 1.0 }),
            (&[("flush", "2"), ("timeout", "7")], OsCrashWithin { seconds: 7.0 }),
            (&[("flush", "0")], Buffered),
            (&[("flush", "1"), ("method", "nosync")], ProcessCrash),
            (&[("flush", "1"), ("method", "O_DIRECT")], OsCrash),
            (&[("flush", "1"), ("doublewrite", "OFF")], ProcessCrash),
            (&[("flush", "1"), ("doublewrite", "ON")], OsCrash),
            (&[("flush", "0"), ("doublewrite", "OFF")], Buffered),
            (&[("flush", "1"), ("log_bin", "ON"), ("sync_binlog", "0")], ProcessCrash),
            (&[("flush", "1"), ("log_bin", "1"), ("sync_binlog", "1")], OsCrash),
            (&[("flush", "1"), ("log_bin", "OFF"), ("sync_binlog", "0")], OsCrash),
            (&[("flush", "0"), ("log_bin", "ON"), ("sync_binlog", "1")], Buffered),
            (&[], Buffered),
        ];
        for (pairs, level) in table {
            assert_eq!(promise(Engine::InnoDb, false, &settings(pairs)).level, *level, "{pairs:?}");
        }
    }

    #[test]
    fn myrocks_promises_what_it_keeps() {
        let table: &[(Pairs<'_>, bool, PromiseLevel)] = &[
            (&[("flush", "1")], false, OsCrash),
            (&[("flush", "2")], false, OsCrashWithin { seconds: 1.0 }),
            (&[("flush", "0")], false, Buffered),
            (&[("flush", "1")], true, Buffered),
            (&[("flush", "1"), ("no_wal", "ON")], false, Buffered),
            (&[("flush", "1"), ("doublewrite", "OFF")], false, OsCrash),
            (&[("flush", "1"), ("log_bin", "ON"), ("sync_binlog", "0")], false, ProcessCrash),
        ];
        for (pairs, bulk_load, level) in table {
            assert_eq!(promise(Engine::MyRocks, *bulk_load, &settings(pairs)).level, *level, "{pairs:?} {bulk_load}");
        }
    }
}
