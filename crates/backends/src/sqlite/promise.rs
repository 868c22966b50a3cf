//! What a commit promises, from the pragmas that hold.

use iotbench_core::{Promise, PromiseLevel, PromiseSource};

/// `PRAGMA synchronous` as SQLite answers it: 0 OFF, 1 NORMAL, 2 FULL, 3 EXTRA.
const FULL: i64 = 2;
const EXTRA: i64 = 3;

/// The promise of a commit under these effective settings.
///
/// A committed transaction is in the operating system's hands, and so survives the process, in every mode but those
/// whose journal is in memory or missing. It survives the operating system where SQLite waits for the disk at each
/// commit: in WAL mode from FULL on (NORMAL waits at checkpoints only, which no time bounds). With a rollback journal
/// the commit is the end of the journal: truncated or overwritten it is flushed from FULL on, but deleted it is flushed
/// with its folder by EXTRA only; until then a power failure may bring the journal back and undo the commit.
/// Source: <https://www.sqlite.org/pragma.html#pragma_synchronous>.
pub(crate) fn promise(journal_mode: &str, synchronous: i64) -> Promise {
    let level = match journal_mode {
        "wal" | "truncate" | "persist" if synchronous >= FULL => PromiseLevel::OsCrash,
        "delete" if synchronous >= EXTRA => PromiseLevel::OsCrash,
        "wal" | "truncate" | "persist" | "delete" => PromiseLevel::ProcessCrash,
        _ => PromiseLevel::Buffered,
    };
    Promise { level, nodes: 1, source: PromiseSource::ReadBack }
}

/// The name of an answer to `PRAGMA synchronous`.
pub(crate) fn synchronous_name(synchronous: i64) -> &'static str {
    match synchronous {
        0 => "OFF",
        1 => "NORMAL",
        FULL => "FULL",
        EXTRA => "EXTRA",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_promises_what_it_keeps() {
        use PromiseLevel::{Buffered, OsCrash, ProcessCrash};
        let table = [
            ("wal", [ProcessCrash, ProcessCrash, OsCrash, OsCrash]),
            ("truncate", [ProcessCrash, ProcessCrash, OsCrash, OsCrash]),
            ("persist", [ProcessCrash, ProcessCrash, OsCrash, OsCrash]),
            ("delete", [ProcessCrash, ProcessCrash, ProcessCrash, OsCrash]),
            ("memory", [Buffered; 4]),
            ("off", [Buffered; 4]),
        ];
        for (mode, levels) in table {
            for (synchronous, level) in (0..).zip(levels) {
                assert_eq!(promise(mode, synchronous).level, level, "{mode} {}", synchronous_name(synchronous));
            }
        }
    }
}
