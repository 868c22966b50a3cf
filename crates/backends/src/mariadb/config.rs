//! The settings of MariaDB and MySQL.

use iotbench_core::{Setting, SettingError, Settings};
use serde::Deserialize;
use std::{fmt, path::PathBuf};

/// The storage engine of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Engine {
    InnoDb,
    MyRocks,
}

impl Engine {
    /// Its name in SQL.
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::InnoDb => "InnoDB",
            Self::MyRocks => "ROCKSDB",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InnoDb => "innodb",
            Self::MyRocks => "myrocks",
        })
    }
}

/// What one commit holds outside a transaction of the profile's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Commit {
    /// All that a request sends.
    Batch,
    /// One datapoint.
    Datapoint,
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Batch => "batch",
            Self::Datapoint => "datapoint",
        })
    }
}

/// The indexes of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Indexes {
    /// One over device and time.
    Time,
    /// None: every question reads the whole table.
    None,
}

/// The settings under `[backend.mariadb]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) engine: Engine,
    pub(crate) bulk_load: bool,
    pub(crate) commit: Commit,
    pub(crate) indexes: Indexes,
    pub(crate) partitions: u16,
    pub(crate) statement_rows: u16,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) password_file: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            engine: Engine::InnoDb,
            bulk_load: false,
            commit: Commit::Batch,
            indexes: Indexes::Time,
            partitions: 1,
            statement_rows: 2048,
            ca: None,
            password_file: None,
        }
    }
}

/// More partitions than this are a slip.
const MAX_PARTITIONS: u16 = 1024;

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting { key: "engine", default: "innodb", help: "storage engine of the table: innodb or myrocks" },
    Setting {
        key: "bulk_load",
        default: "false",
        help: "rocksdb_bulk_load=1 on every writer (myrocks): acknowledged rows may be lost without any crash",
    },
    Setting {
        key: "commit",
        default: "batch",
        help: "what one commit holds: batch (a whole request) or datapoint (a commit for each of its datapoints)",
    },
    Setting { key: "indexes", default: "time", help: "time (one index over device and time) or none" },
    Setting {
        key: "partitions",
        default: "1",
        help: "parts that the rows are divided into, by the device, or with one device by the time; 1: none",
    },
    Setting {
        key: "statement_rows",
        default: "2048",
        help: "most rows of one INSERT, from 1; the server's limits on parameters and packets may lower it",
    },
    Setting { key: "ca", default: "", help: "PEM file with a certificate authority to trust besides the public ones" },
    Setting {
        key: "password_file",
        default: "",
        help: "file with the password, for a URL without one; without a file, IOTBENCH_MARIADB_PASSWORD",
    },
];

impl Config {
    /// The settings as typed.
    ///
    /// # Errors
    /// The first setting that MariaDB cannot take.
    pub(crate) fn new(settings: &Settings) -> Result<Self, SettingError> {
        let config: Self = settings.typed(SETTINGS)?;
        if config.bulk_load && config.engine != Engine::MyRocks {
            return Err(refused("bulk_load", "only engine = \"myrocks\" has it".into()));
        }
        if !(1..=MAX_PARTITIONS).contains(&config.partitions) {
            return Err(refused("partitions", format!("from 1 to {MAX_PARTITIONS}")));
        }
        if config.statement_rows == 0 {
            return Err(refused("statement_rows", "at least 1".into()));
        }
        Ok(config)
    }
}

/// A setting, or the `url`, that cannot be taken.
pub(crate) fn refused(key: &str, message: String) -> SettingError {
    SettingError { key: key.into(), message, suggestion: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(json: &str) -> Result<Config, SettingError> {
        Config::new(&Settings(serde_json::from_str(json).unwrap()))
    }

    #[test]
    fn the_defaults_are_those_that_help_shows() {
        for setting in SETTINGS.iter().filter(|s| !s.default.is_empty()) {
            let quoted = serde_json::Value::String(setting.default.into()).to_string();
            let is_plain = setting.default.parse::<u32>().is_ok() || setting.default == "false";
            let value = if is_plain { setting.default } else { &quoted };
            assert_eq!(config(&format!("{{\"{}\": {value}}}", setting.key)), Ok(Config::default()), "{}", setting.key);
        }
    }

    #[test]
    fn bad_settings_are_named() {
        for (json, key) in [
            (r#"{"engine": "myisam"}"#, "engine"),
            (r#"{"bulk_load": true}"#, "bulk_load"),
            (r#"{"commit": "never"}"#, "commit"),
            (r#"{"indexes": "all"}"#, "indexes"),
            (r#"{"partitions": 0}"#, "partitions"),
            (r#"{"partitions": 9000}"#, "partitions"),
            (r#"{"statement_rows": 0}"#, "statement_rows"),
            (r#"{"statement_rows": 70000}"#, "statement_rows"),
            (r#"{"engin": "innodb"}"#, "engin"),
        ] {
            assert_eq!(config(json).unwrap_err().key, key);
        }
        assert!(config(r#"{"bulk_load": true, "engine": "myrocks"}"#).is_ok());
    }
}
