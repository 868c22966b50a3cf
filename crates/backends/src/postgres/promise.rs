//! What a commit promises, from the settings that hold.

use iotbench_core::{Promise, PromiseLevel, PromiseSource};

/// The settings that decide over a commit, as the server tells them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Durability<'a> {
    pub(crate) fsync: bool,
    pub(crate) full_page_writes: bool,
    pub(crate) synchronous_commit: &'a str,
    pub(crate) synchronous_standby_names: &'a str,
    /// The table has no write-ahead log.
    pub(crate) unlogged: bool,
}

/// The promise of a commit under these effective settings.
///
/// With `synchronous_commit = off` a commit is acknowledged before it leaves the server's memory: whatever ends the
/// server's processes loses the last three `wal_writer_delay`, so it is no more than buffered. An unlogged table is
/// emptied after any crash. In all other modes a commit is at least in the operating system's hands. It is on the disk
/// with `fsync`; without `full_page_writes` a page that was half written when the power failed cannot be mended, so
/// that is not counted on. Standbys have a commit on their disks with `on` and `remote_apply`.
/// Source: <https://www.postgresql.org/docs/current/runtime-config-wal.html>.
pub(crate) fn promise(durability: Durability<'_>) -> Promise {
    let level = if durability.unlogged || durability.synchronous_commit == "off" {
        PromiseLevel::Buffered
    } else if durability.fsync && durability.full_page_writes {
        PromiseLevel::OsCrash
    } else {
        PromiseLevel::ProcessCrash
    };
    let waits = matches!(durability.synchronous_commit, "on" | "remote_apply") && !durability.unlogged;
    let standbys = if waits { standbys(durability.synchronous_standby_names) } else { 0 };
    Promise { level, nodes: 1 + standbys, source: PromiseSource::ReadBack }
}

/// What holds of a commit on two servers: the weaker of their promises.
pub(crate) fn least(one: Promise, other: Promise) -> Promise {
    let nodes = one.nodes.min(other.nodes);
    let weaker = if other.level < one.level { other } else { one };
    Promise { nodes, ..weaker }
}

/// How many standbys a commit waits for: `FIRST n (…)`, `ANY n (…)`, `n (…)`, or a list, which means one.
fn standbys(names: &str) -> u32 {
    let Some((before, _)) = names.split_once('(') else { return u32::from(!names.trim().is_empty()) };
    before.split_whitespace().last().and_then(|number| number.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use PromiseLevel::{Buffered, OsCrash, ProcessCrash};

    const SAFE: Durability<'static> = Durability {
        fsync: true,
        full_page_writes: true,
        synchronous_commit: "on",
        synchronous_standby_names: "",
        unlogged: false,
    };

    #[test]
    fn each_setting_promises_what_it_keeps() {
        let table = [
            (SAFE, OsCrash),
            (Durability { synchronous_commit: "local", ..SAFE }, OsCrash),
            (Durability { synchronous_commit: "remote_write", ..SAFE }, OsCrash),
            (Durability { synchronous_commit: "off", ..SAFE }, Buffered),
            (Durability { fsync: false, ..SAFE }, ProcessCrash),
            (Durability { full_page_writes: false, ..SAFE }, ProcessCrash),
            (Durability { fsync: false, synchronous_commit: "off", ..SAFE }, Buffered),
            (Durability { unlogged: true, ..SAFE }, Buffered),
        ];
        for (durability, level) in table {
            assert_eq!(promise(durability).level, level, "{durability:?}");
        }
    }

    #[test]
    fn two_servers_promise_what_both_keep() {
        let safe = promise(SAFE);
        let standby = promise(Durability { synchronous_standby_names: "a", ..SAFE });
        let weak = promise(Durability { fsync: false, synchronous_standby_names: "a", ..SAFE });
        assert_eq!(least(safe.clone(), standby.clone()), safe);
        assert_eq!(least(standby, weak.clone()), weak);
        assert_eq!((least(weak.clone(), safe.clone()).level, least(weak, safe).nodes), (ProcessCrash, 1));
    }

    #[test]
    fn standbys_that_flush_are_counted() {
        let table = [
            ("", "on", 1),
            ("a", "on", 2),
            ("*", "remote_apply", 2),
            ("a, b", "on", 2),
            ("FIRST 2 (a, b, c)", "on", 3),
            ("ANY 2(a, b, c)", "on", 3),
            ("2 (a, b)", "on", 3),
            ("FIRST 2 (a, b, c)", "remote_write", 1),
            ("FIRST 2 (a, b, c)", "local", 1),
            ("FIRST 2 (a, b, c)", "off", 1),
        ];
        for (synchronous_standby_names, synchronous_commit, nodes) in table {
            let durability = Durability { synchronous_standby_names, synchronous_commit, ..SAFE };
            assert_eq!(promise(durability).nodes, nodes, "{durability:?}");
        }
    }
}
