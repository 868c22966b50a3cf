//! What a server is, how it is set, and what its acknowledgements mean.

use super::{config::Method, error::improper};
use iotbench_core::{Acknowledgement, Action, Cause, Error, Promise, PromiseLevel, PromiseSource, ServerFacts};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The effective settings of a TSD, as it tells them.
#[derive(Clone, Debug)]
pub(crate) struct Told(pub(crate) BTreeMap<String, String>);

/// The settings that matter for a result.
const SHOWN: [&str; 8] = [
    "tsd.http.request.enable_chunked",
    "tsd.http.request.max_chunk",
    "tsd.network.worker_threads",
    "tsd.storage.enable_appends",
    "tsd.storage.enable_compaction",
    "tsd.storage.fix_duplicates",
    "tsd.storage.flush_interval",
    "tsd.storage.salt.buckets",
];
/// The longest body that a server takes in one piece; without `enable_chunked` it takes no others.
const LONGEST_PIECE: usize = 8192;

impl Told {
    fn is_true(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|value| ["true", "1", "yes"].contains(&value.to_lowercase().as_str()))
    }

    /// The most bytes of a request's body. A longer one is answered by an end of the connection, and nothing else.
    pub(crate) fn most_body_bytes(&self) -> usize {
        let most = || self.0.get("tsd.http.request.max_chunk")?.parse().ok();
        if self.is_true("tsd.http.request.enable_chunked") { most().unwrap_or(4096) } else { LONGEST_PIECE }
    }

    /// Refuses a server that would keep what we made, or could not be read after a value was written twice.
    ///
    /// # Errors
    /// Server, with what must be set.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let needed = [
            ("tsd.http.query.allow_delete", "what a run made could not be removed"),
            ("tsd.storage.fix_duplicates", "a value that was written twice could not be read"),
        ];
        match needed.iter().find(|(key, _)| !self.is_true(key)) {
            None => Ok(()),
            Some((key, why)) => {
                let message = format!("{key} is not set to true: {why}");
                Err(Error::new(Cause::Server, message).action(Action::Stop))
            }
        }
    }
}

/// What a server says that it is.
#[derive(Debug, Deserialize)]
pub(crate) struct Version {
    /// The registry's build of 2.4.1 has lost it, and says `BuildData`.
    version: String,
    short_revision: String,
}

/// What every server of 2.4 has a setting for, and none before.
const SINCE_2_4: &str = "tsd.rollups.enable";

impl Version {
    fn numbers(&self) -> Option<(u32, u32)> {
        let mut numbers = self.version.split('.').map(|number| number.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    }

    /// Refuses another server or version. Before 2.4 every float was stored in 32 bits.
    ///
    /// # Errors
    /// Server, or Protocol where it is no OpenTSDB.
    pub(crate) fn check(&self, told: &Told) -> Result<(), Error> {
        match self.numbers() {
            Some((2, 4..)) => Ok(()),
            None if told.0.contains_key(SINCE_2_4) => Ok(()),
            Some(_) => {
                let message = format!("this is OpenTSDB {}, and needed is 2.4 or a later 2.x", self.version);
                Err(Error::new(Cause::Server, message).action(Action::Stop))
            }
            None => Err(improper(format!("its version is {:?}", self.version))),
        }
    }

    fn shown(&self) -> String {
        match self.numbers() {
            Some(_) => self.version.clone(),
            None => format!("not told (revision {})", self.short_revision),
        }
    }
}

pub(crate) fn facts(version: &Version, told: &Told, method: Method) -> ServerFacts {
    let shown = SHOWN.into_iter().filter_map(|key| Some((key.to_owned(), told.0.get(key)?.clone())));
    ServerFacts {
        product: "OpenTSDB".into(),
        version: version.shown(),
        driver: "hyper 1, own JSON".into(),
        method: match (method.sync, method.gzip) {
            (false, false) => "/api/put?details",
            (false, true) => "/api/put?details, compressed",
            (true, false) => "/api/put?details&sync",
            (true, true) => "/api/put?details&sync, compressed",
        }
        .into(),
        settings: shown.collect(),
        acknowledgement: if method.sync { Acknowledgement::Applied } else { Acknowledgement::Queued },
        promise: promise(method.sync),
    }
}

/// The promise. OpenTSDB tells nothing of how HBase keeps its log.
///
/// Without `sync` a value waits in the TSD's memory for up to `tsd.storage.flush_interval`, and an acknowledgement comes
/// before HBase was asked at all (<http://opentsdb.net/docs/build/html/api_http/put.html>). With it HBase has it in its memory
/// and has written its log; but a log on a local file system is not flushed
/// (<https://issues.apache.org/jira/browse/HBASE-3696>), and whether it is on one, nobody tells.
fn promise(sync: bool) -> Promise {
    let why = if sync {
        "HBase has written its log, and OpenTSDB does not tell where: on a local file system it is not flushed (HBASE-3696)"
    } else {
        "queued in the memory of the TSD before HBase is asked (OpenTSDB's documentation of /api/put)"
    };
    Promise { level: PromiseLevel::Buffered, nodes: 1, source: PromiseSource::Declared(why.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(settings: &[(&str, &str)]) -> Told {
        Told(settings.iter().map(|&(key, value)| (key.into(), value.into())).collect())
    }

    #[test]
    fn each_way_of_writing_promises_what_it_keeps() {
        for (sync, acknowledgement) in [(false, Acknowledgement::Queued), (true, Acknowledgement::Applied)] {
            let facts = facts(&version("2.4.1"), &told(&[]), Method { sync, gzip: false });
            assert_eq!((facts.acknowledgement, facts.promise.level), (acknowledgement, PromiseLevel::Buffered));
            assert_eq!(facts.method.ends_with("sync"), sync);
        }
    }

    #[test]
    fn the_longest_body_is_as_the_server_is_set() {
        let (chunked, most) = ("tsd.http.request.enable_chunked", "tsd.http.request.max_chunk");
        assert_eq!(told(&[(most, "1048576")]).most_body_bytes(), 8192);
        assert_eq!(told(&[(chunked, "false"), (most, "1048576")]).most_body_bytes(), 8192);
        assert_eq!(told(&[(chunked, "True"), (most, "1048576")]).most_body_bytes(), 1_048_576);
        assert_eq!(told(&[(chunked, "true")]).most_body_bytes(), 4096);
    }

    #[test]
    fn a_server_that_could_not_be_cleaned_or_read_is_refused() {
        let all = [("tsd.http.query.allow_delete", "true"), ("tsd.storage.fix_duplicates", "true")];
        assert!(told(&all).check().is_ok());
        for missing in 0..all.len() {
            let error = told(&all[missing..=missing]).check().unwrap_err();
            assert!(error.message.contains(all[1 - missing].0) && error.action == Action::Stop, "{error}");
        }
    }

    fn version(version: &str) -> Version {
        Version { version: version.into(), short_revision: "eb125a342".into() }
    }

    #[test]
    fn another_version_is_refused() {
        for right in ["2.4.0", "2.4.1", "2.5.0-RC1"] {
            assert!(version(right).check(&told(&[])).is_ok(), "{right}");
        }
        for wrong in ["2.3.2", "1.0.0", "3.0", "KairosDB 1.3", "", "BuildData"] {
            assert!(version(wrong).check(&told(&[])).is_err(), "{wrong}");
        }
        let unnamed = version("BuildData");
        assert!(unnamed.check(&told(&[(SINCE_2_4, "false")])).is_ok());
        assert_eq!(unnamed.shown(), "not told (revision eb125a342)");
    }
}
