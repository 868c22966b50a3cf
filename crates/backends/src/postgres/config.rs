//! The settings of PostgreSQL.

use iotbench_core::{Layout, Setting, SettingError, Settings};
use serde::Deserialize;
use std::path::PathBuf;

/// How a batch is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Method {
    /// Prepared `INSERT … VALUES` of many rows.
    Insert,
    /// Prepared `INSERT … SELECT FROM unnest`: an array a column.
    Unnest,
    /// `COPY … FROM STDIN (FORMAT binary)`.
    Copy,
}

impl Method {
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Insert => "insert: prepared, many rows a statement",
            Self::Unnest => "unnest: prepared, an array a column",
            Self::Copy => "copy: binary COPY",
        }
    }
}

/// What one commit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Commit {
    Batch,
    Datapoint,
}

/// The table's one index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Indexes {
    None,
    /// On the time.
    Time,
    /// On device and time; with one device on the time.
    Tag,
}

/// When a commit is acknowledged (`synchronous_commit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SynchronousCommit {
    /// As the server, the database or the role is set.
    Server,
    Off,
    Local,
    RemoteWrite,
    On,
    RemoteApply,
}

impl SynchronousCommit {
    /// The value of the session's parameter, where it is to be set.
    pub(crate) fn parameter(self) -> Option<&'static str> {
        match self {
            Self::Server => None,
            Self::Off => Some("off"),
            Self::Local => Some("local"),
            Self::RemoteWrite => Some("remote_write"),
            Self::On => Some("on"),
            Self::RemoteApply => Some("remote_apply"),
        }
    }
}

/// The settings under `[backend.postgres]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) method: Method,
    pub(crate) commit: Commit,
    pub(crate) indexes: Indexes,
    pub(crate) synchronous_commit: SynchronousCommit,
    pub(crate) unlogged: bool,
    partitions: u16,
    distributed: bool,
    pub(crate) citus_workers: u8,
    pub(crate) hypertable: bool,
    chunk_seconds: u32,
    pub(crate) schema: String,
    pub(crate) password_file: PathBuf,
    pub(crate) ca: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            method: Method::Insert,
            commit: Commit::Batch,
            indexes: Indexes::Tag,
            synchronous_commit: SynchronousCommit::Server,
            unlogged: false,
            partitions: 1,
            distributed: false,
            citus_workers: 0,
            hypertable: false,
            chunk_seconds: WEEK_SECONDS,
            schema: "public".into(),
            password_file: PathBuf::new(),
            ca: PathBuf::new(),
        }
    }
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        key: "method",
        default: "insert",
        help: "how a batch is written: insert (prepared, many rows), unnest (arrays) or copy (binary COPY)",
    },
    Setting {
        key: "commit",
        default: "batch",
        help: "what one commit holds: a batch, or a datapoint (not in layout bulk)",
    },
    Setting { key: "indexes", default: "tag", help: "tag (device and time), time, or none" },
    Setting {
        key: "synchronous_commit",
        default: "server",
        help: "server (as it is set there), off, local, remote_write, on or remote_apply",
    },
    Setting { key: "unlogged", default: "false", help: "a table without write-ahead log: empty after a crash" },
    Setting {
        key: "partitions",
        default: "1",
        help: "tables that the rows are divided over, by a hash of the device, or with one device of the time; 1: none",
    },
    Setting {
        key: "distributed",
        default: "false",
        help: "a table of Citus, distributed over its workers by a hash of the device, or with one device of the time",
    },
    Setting {
        key: "citus_workers",
        default: "0",
        help: "as distributed, over so many workers: a private server has them, one by --url must have them; 0 to 8",
    },
    Setting {
        key: "hypertable",
        default: "false",
        help: "a hypertable of TimescaleDB: chunks by time; a private server has the extension, one by --url must",
    },
    Setting { key: "chunk_seconds", default: "604800", help: "of time in one chunk of a hypertable" },
    Setting { key: "schema", default: "public", help: "the schema that holds the table; it is not created" },
    Setting { key: "password_file", default: "", help: "a file whose first line is the password" },
    Setting { key: "ca", default: "", help: "a PEM file with the authority that signed the server's certificate" },
];

/// TimescaleDB's own default for a chunk.
const WEEK_SECONDS: u32 = 604_800;

/// What the rows are divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// One table.
    None,
    /// So many tables of this server.
    Partitions(u16),
    /// Shards on the workers of a Citus cluster.
    Shards,
    /// Chunks of so many seconds.
    Chunks(u32),
}

/// As many workers as there are addresses kept for them: the study of Gkamas et al. 2022 has up to 8.
pub(crate) const MAX_CITUS_WORKERS: u8 = 8;

/// More partitions than this are a slip.
const MAX_PARTITIONS: u16 = 1024;

/// The longest identifier of PostgreSQL.
const IDENTIFIER_BYTES: usize = 63;

impl Config {
    /// The settings as typed.
    ///
    /// # Errors
    /// The first setting that PostgreSQL, or this layout, cannot take.
    pub(crate) fn new(settings: &Settings, layout: Layout) -> Result<Self, SettingError> {
        let config: Self = settings.typed(SETTINGS)?;
        let refuse =
            |key: &str, message: &str| Err(SettingError { key: key.into(), message: message.into(), suggestion: None });
        if layout == Layout::Bulk && config.commit == Commit::Datapoint {
            return refuse("commit", "a record of layout bulk holds many datapoints: commit by batch");
        }
        config.refuse_division()?;
        let schema = &config.schema;
        if schema.is_empty() || schema.len() > IDENTIFIER_BYTES || schema.contains('\0') {
            return refuse("schema", "a schema's name has 1 to 63 bytes, none of them NUL");
        }
        if schema.starts_with("pg_") || schema == "information_schema" {
            return refuse("schema", "a schema of PostgreSQL's own holds no tables of others");
        }
        Ok(config)
    }

    /// What the rows are divided into.
    pub(crate) fn division(&self) -> Division {
        match self.partitions {
            _ if self.distributed || self.citus_workers > 0 => Division::Shards,
            _ if self.hypertable => Division::Chunks(self.chunk_seconds),
            1 => Division::None,
            count => Division::Partitions(count),
        }
    }

    fn refuse_division(&self) -> Result<(), SettingError> {
        let refuse = |key: &str, message: String| Err(SettingError { key: key.into(), message, suggestion: None });
        if !(1..=MAX_PARTITIONS).contains(&self.partitions) {
            return refuse("partitions", format!("from 1 to {MAX_PARTITIONS}"));
        }
        if self.citus_workers > MAX_CITUS_WORKERS {
            return refuse("citus_workers", format!("from 0 to {MAX_CITUS_WORKERS}"));
        }
        if self.chunk_seconds == 0 {
            return refuse("chunk_seconds", "at least 1".into());
        }
        let is_distributed = self.distributed || self.citus_workers > 0;
        if self.hypertable && is_distributed {
            return refuse("hypertable", "TimescaleDB and Citus do not share a table: leave one of them out".into());
        }
        if self.partitions > 1 && (self.hypertable || is_distributed) {
            let message = "chunks and shards are partitions of their own: leave this out";
            return refuse("partitions", message.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(json: &str, layout: Layout) -> Result<Config, SettingError> {
        Config::new(&Settings(serde_json::from_str(json).unwrap()), layout)
    }

    #[test]
    fn the_defaults_are_those_that_help_shows() {
        for setting in SETTINGS {
            let quoted = serde_json::Value::String(setting.default.into()).to_string();
            let is_plain = setting.default.parse::<u32>().is_ok() || setting.default == "false";
            let value = if is_plain { setting.default } else { &quoted };
            let given = config(&format!("{{\"{}\": {value}}}", setting.key), Layout::Wide);
            assert_eq!(given, Ok(Config::default()), "{}", setting.key);
        }
    }

    #[test]
    fn bad_settings_are_named() {
        for (json, key) in [
            (r#"{"method": "load"}"#, "method"),
            (r#"{"commit": "row"}"#, "commit"),
            (r#"{"commit": "datapoint"}"#, "commit"),
            (r#"{"indexes": "all"}"#, "indexes"),
            (r#"{"partitions": 0}"#, "partitions"),
            (r#"{"partitions": 1025}"#, "partitions"),
            (r#"{"partitions": 2, "distributed": true}"#, "partitions"),
            (r#"{"partitions": 2, "hypertable": true}"#, "partitions"),
            (r#"{"citus_workers": 9}"#, "citus_workers"),
            (r#"{"citus_workers": 2, "hypertable": true}"#, "hypertable"),
            (r#"{"distributed": true, "hypertable": true}"#, "hypertable"),
            (r#"{"hypertable": true, "chunk_seconds": 0}"#, "chunk_seconds"),
            (r#"{"synchronous_commit": "maybe"}"#, "synchronous_commit"),
            (r#"{"unlogged": 1}"#, "unlogged"),
            (r#"{"schema": ""}"#, "schema"),
            (r#"{"schema": "pg_catalog"}"#, "schema"),
            (r#"{"schema": "a\u0000"}"#, "schema"),
            (r#"{"sync_commit": "on"}"#, "sync_commit"),
        ] {
            assert_eq!(config(json, Layout::Bulk).unwrap_err().key, key);
        }
        assert!(config(r#"{"commit": "datapoint"}"#, Layout::Narrow).is_ok());
    }

    #[test]
    fn the_rows_are_divided_in_one_way() {
        let division = |json| config(json, Layout::Wide).unwrap().division();
        assert_eq!(division("{}"), Division::None);
        assert_eq!(division(r#"{"partitions": 3}"#), Division::Partitions(3));
        assert_eq!(division(r#"{"distributed": true}"#), Division::Shards);
        assert_eq!(division(r#"{"citus_workers": 4}"#), Division::Shards);
        assert_eq!(division(r#"{"hypertable": true}"#), Division::Chunks(WEEK_SECONDS));
    }
}
