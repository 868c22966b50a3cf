//! What the server says of itself: its version and its effective settings.

use super::client::{Client, improper};
use iotbench_backend_kit::{cell::Cell, sql::AskRows};
use iotbench_core::{Acknowledgement, Action, Cause, Error, Promise, PromiseLevel, PromiseSource, ServerFacts};
use std::collections::BTreeMap;

/// The settings that matter for a result.
const SHOWN: [&str; 8] = [
    "cairo.commit.mode",
    "cairo.max.uncommitted.rows",
    "cairo.o3.max.lag",
    "cairo.wal.apply.worker.count",
    "cairo.wal.segment.rollover.row.count",
    "http.worker.count",
    "ram.usage.limit.bytes",
    "shared.worker.count",
];

/// The server's facts.
pub(crate) async fn facts(client: &mut Client, is_compressed: bool) -> Result<ServerFacts, Error> {
    let mut build = String::new();
    let note = |row: &[Cell<'_>]| {
        build = row.first().and_then(Cell::text).unwrap_or_default().to_owned();
        Ok(())
    };
    client.ask("SELECT build()", note).await?;
    let version = version_of(&build).ok_or_else(|| improper(&format!("its build is {build:?}")))?;
    let settings = settings(client).await?;
    let method = if is_compressed { "line protocol over HTTP, compressed" } else { "line protocol over HTTP" };
    refuse_older(version)?;
    Ok(ServerFacts {
        product: "QuestDB".into(),
        version: version.to_owned(),
        driver: "hyper 1, own line protocol".into(),
        method: method.into(),
        acknowledgement: Acknowledgement::Queued,
        promise: promise(settings.get("cairo.commit.mode").map(String::as_str)),
        settings,
    })
}

/// `Build Information: QuestDB 9.3.4, JDK 24.0.2, Commit Hash …`.
fn version_of(build: &str) -> Option<&str> {
    let (_, rest) = build.split_once("QuestDB ")?;
    rest.split([',', ' ']).next().filter(|version| !version.is_empty())
}

/// Before 9.1 there were no nanoseconds.
fn refuse_older(version: &str) -> Result<(), Error> {
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or(u32::MAX));
    let (major, minor) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if (major, minor) >= (9, 1) {
        return Ok(());
    }
    let message = format!("QuestDB {version} has no column of nanoseconds: it takes 9.1 or later");
    Err(Error::new(Cause::Server, message).action(Action::Stop))
}

async fn settings(client: &mut Client) -> Result<BTreeMap<String, String>, Error> {
    let mut settings = BTreeMap::new();
    let note = |row: &[Cell<'_>]| {
        if let [Cell::Text(name), value] = row
            && SHOWN.contains(&name.as_ref())
        {
            settings.insert(name.to_string(), value.to_string());
        }
        Ok(())
    };
    client.ask("SELECT property_path, value FROM (SHOW PARAMETERS)", note).await?;
    Ok(settings)
}

/// A write is acknowledged when it is in the table's log. Without `cairo.commit.mode=sync` the log is in the memory of
/// the operating system alone. Source: <https://questdb.com/docs/configuration/overview/#cairo-engine>.
fn promise(commit_mode: Option<&str>) -> Promise {
    let (level, source) = match commit_mode {
        Some("sync") => (PromiseLevel::OsCrash, PromiseSource::ReadBack),
        Some(_) => (PromiseLevel::ProcessCrash, PromiseSource::ReadBack),
        None => {
            let source = "QuestDB's default is cairo.commit.mode=nosync (its documentation)";
            (PromiseLevel::ProcessCrash, PromiseSource::Declared(source.into()))
        }
    };
    Promise { level, nodes: 1, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_promise_follows_the_commit_mode() {
        for (mode, level, is_read_back) in [
            (Some("nosync"), PromiseLevel::ProcessCrash, true),
            (Some("async"), PromiseLevel::ProcessCrash, true),
            (Some("sync"), PromiseLevel::OsCrash, true),
            (None, PromiseLevel::ProcessCrash, false),
        ] {
            let promise = promise(mode);
            assert_eq!((promise.level, promise.source == PromiseSource::ReadBack), (level, is_read_back), "{mode:?}");
        }
    }

    #[test]
    fn the_version_is_read_and_held_against_what_is_needed() {
        assert_eq!(version_of("Build Information: QuestDB 9.3.4, JDK 24.0.2, Commit Hash 9"), Some("9.3.4"));
        assert_eq!(version_of("PostgreSQL 12"), None);
        assert!(refuse_older("9.1.0").is_ok() && refuse_older("10.0").is_ok() && refuse_older("9.0.3").is_err());
    }
}
