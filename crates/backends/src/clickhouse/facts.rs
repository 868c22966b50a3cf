//! What the server says of itself: its version and its effective settings.

use super::{
    client::{Client, improper},
    config::{Config, Insert},
};
use iotbench_backend_kit::{cell::Cell, sql::AskRows};
use iotbench_core::{Acknowledgement, Action, Cause, Error, Promise, PromiseLevel, PromiseSource, ServerFacts};
use std::collections::BTreeMap;

/// The settings that matter for a result.
const SHOWN: &str = "'async_insert', 'async_insert_busy_timeout_ms', 'fsync_after_insert', 'fsync_part_directory', \
                     'index_granularity', 'insert_quorum', 'max_insert_block_size', 'max_memory_usage', 'max_threads', \
                     'min_bytes_for_wide_part', 'parts_to_delay_insert', 'parts_to_throw_insert'";

/// The oldest that was tried.
const OLDEST: (u32, u32) = (18, 16);

/// The server's facts.
pub(crate) async fn facts(client: &mut Client, config: &Config) -> Result<ServerFacts, Error> {
    let mut version = String::new();
    let note = |row: &[Cell<'_>]| {
        version = row.first().and_then(Cell::text).unwrap_or_default().to_owned();
        Ok(())
    };
    client.ask("SELECT version()", note).await?;
    refuse_older(&version)?;
    let settings = settings(client).await?;
    refuse_without_async(config.insert, &version, &settings)?;
    let ways = [
        (config.gzip, ", compressed"),
        (config.insert != Insert::Sync, ", gathered by the server"),
        (config.insert == Insert::AsyncNoWait, " after its answer"),
    ];
    let more = ways.into_iter().filter_map(|(is_so, words)| is_so.then_some(words));
    let is_queued = config.insert == Insert::AsyncNoWait;
    Ok(ServerFacts {
        product: "ClickHouse".into(),
        version,
        driver: "hyper 1, own RowBinary".into(),
        method: ["RowBinary over HTTP"].into_iter().chain(more).collect(),
        acknowledgement: if is_queued { Acknowledgement::Queued } else { Acknowledgement::Applied },
        promise: promise(config.insert, |name| settings.get(name).map(String::as_str)),
        settings,
    })
}

async fn settings(client: &mut Client) -> Result<BTreeMap<String, String>, Error> {
    let mut settings = BTreeMap::new();
    let note = |row: &[Cell<'_>]| {
        let [Cell::Text(name), value] = row else { return Err(improper(&"settings of other columns")) };
        settings.insert(name.to_string(), value.to_string());
        Ok(())
    };
    let select = format!(
        "SELECT name, value FROM system.settings WHERE name IN ({SHOWN}) \
         UNION ALL SELECT name, value FROM system.merge_tree_settings WHERE name IN ({SHOWN})"
    );
    client.ask(&select, note).await?;
    Ok(settings)
}

fn refuse_older(version: &str) -> Result<(), Error> {
    let mut numbers = version.split('.').map_while(|part| part.parse::<u32>().ok());
    let Some(found) = numbers.next().zip(numbers.next()) else {
        return Err(improper(&format!("its version is {version:?}")));
    };
    if found >= OLDEST {
        return Ok(());
    }
    let message =
        format!("ClickHouse {version} is older than {}.{}, which is the oldest that was tried", OLDEST.0, OLDEST.1);
    Err(Error::new(Cause::Server, message).action(Action::Stop))
}

fn refuse_without_async(insert: Insert, version: &str, settings: &BTreeMap<String, String>) -> Result<(), Error> {
    if insert == Insert::Sync || settings.contains_key("async_insert") {
        return Ok(());
    }
    let message =
        format!("ClickHouse {version} has no asynchronous inserts, which came with 21.11: leave `insert` out");
    Err(Error::new(Cause::Server, message).action(Action::Stop))
}

/// An insert is answered when its part is written, which without `fsync_after_insert` is in the memory of the operating system
/// alone. Source: <https://clickhouse.com/docs/en/operations/settings/merge-tree-settings>.
fn promise<'s>(insert: Insert, setting: impl Fn(&str) -> Option<&'s str>) -> Promise {
    let nodes = 1;
    if insert == Insert::AsyncNoWait {
        let source = PromiseSource::Declared("wait_for_async_insert=0 answers before anything is written".into());
        return Promise { level: PromiseLevel::Buffered, nodes, source };
    }
    let is_on = |name| setting(name).map(|value| value != "0");
    let (level, source) = match (is_on("fsync_after_insert"), is_on("fsync_part_directory")) {
        (Some(true), Some(true)) => (PromiseLevel::OsCrash, PromiseSource::ReadBack),
        (Some(_), _) => (PromiseLevel::ProcessCrash, PromiseSource::ReadBack),
        (None, _) => {
            let source = "a ClickHouse without fsync_after_insert never forces a part to the disk (its documentation)";
            (PromiseLevel::ProcessCrash, PromiseSource::Declared(source.into()))
        }
    };
    Promise { level, nodes, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promise_follows_what_is_forced_to_the_disk() {
        let of = |insert, after: Option<&'static str>, directory| {
            let setting = |name: &str| if name == "fsync_after_insert" { after } else { directory };
            let promise = promise(insert, setting);
            (promise.level, promise.source == PromiseSource::ReadBack)
        };
        use PromiseLevel::{Buffered, OsCrash, ProcessCrash};
        assert_eq!(of(Insert::Sync, None, None), (ProcessCrash, false));
        assert_eq!(of(Insert::Sync, Some("0"), Some("0")), (ProcessCrash, true));
        assert_eq!(of(Insert::Async, Some("1"), Some("0")), (ProcessCrash, true), "the part's name may be lost");
        assert_eq!(of(Insert::Async, Some("1"), Some("1")), (OsCrash, true));
        assert_eq!(of(Insert::AsyncNoWait, Some("1"), Some("1")), (Buffered, false));
    }

    #[test]
    fn a_server_that_is_too_old_is_refused_with_both_versions() {
        assert!(["18.16.1", "18.20.0", "24.3.1.2672"].iter().all(|version| refuse_older(version).is_ok()));
        let told = refuse_older("18.14.19").unwrap_err().to_string();
        assert!(told.contains("18.14.19") && told.contains("18.16"), "{told}");
        assert!(refuse_older("PostgreSQL 12").is_err() && refuse_older("").is_err());
        let (none, some) = (BTreeMap::new(), BTreeMap::from([("async_insert".to_owned(), "0".to_owned())]));
        let told = refuse_without_async(Insert::Async, "18.16.1", &none).unwrap_err().to_string();
        assert!(told.contains("18.16.1") && told.contains("21.11"), "{told}");
        assert!(refuse_without_async(Insert::Sync, "18.16.1", &none).is_ok());
        assert!(refuse_without_async(Insert::AsyncNoWait, "24.1", &some).is_ok());
    }
}
