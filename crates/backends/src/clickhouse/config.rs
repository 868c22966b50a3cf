//! The settings of ClickHouse, and what its address says.

use iotbench_backend_kit::http::{
    Server,
    address::{Access, Known, only_one, refuse, server},
};
use iotbench_core::{Setting, SettingError, Settings, Target};
use serde::Deserialize;
use std::path::PathBuf;

/// How long a stretch of time one partition of the table holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Partition {
    /// All of it.
    #[default]
    None,
    Day,
    Month,
}

/// When an insert is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Insert {
    /// When its part is written.
    #[default]
    Sync,
    /// When the part is written that the server makes of several inserts.
    Async,
    /// When the server has it in its memory.
    AsyncNoWait,
}

impl Insert {
    /// What asks for it in the address of a request.
    pub(crate) fn parameters(self) -> &'static str {
        match self {
            Self::Sync => "",
            Self::Async => "&async_insert=1&wait_for_async_insert=1",
            Self::AsyncNoWait => "&async_insert=1&wait_for_async_insert=0",
        }
    }
}

/// The settings under `[backend.clickhouse]` as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    database: String,
    partition_by: Partition,
    insert: Insert,
    gzip: bool,
    username: Option<String>,
    password_file: Option<PathBuf>,
    ca: Option<PathBuf>,
}

impl Default for Written {
    fn default() -> Self {
        Self {
            database: DEFAULT_DATABASE.into(),
            partition_by: Partition::default(),
            insert: Insert::default(),
            gzip: false,
            username: None,
            password_file: None,
            ca: None,
        }
    }
}

/// The settings as meant.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) database: String,
    pub(crate) partition_by: Partition,
    pub(crate) insert: Insert,
    pub(crate) gzip: bool,
}

const DEFAULT_DATABASE: &str = "default";

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        key: "database",
        default: DEFAULT_DATABASE,
        help: "the database that the table is made in; it has to exist",
    },
    Setting { key: "partition_by", default: "none", help: "a partition of the table: none, day, month" },
    Setting {
        key: "insert",
        default: "sync",
        help: "sync: each insert is a part; async: the server gathers inserts, and answers when they are a part; async_no_wait: \
               it answers before",
    },
    Setting { key: "gzip", default: "false", help: "true compresses each request" },
    Setting { key: "username", default: "", help: "the user, where the URL names none" },
    Setting {
        key: "password_file",
        default: "",
        help: "file that holds the password; else the URL's, else IOTBENCH_CLICKHOUSE_PASSWORD",
    },
    Setting { key: "ca", default: "", help: "PEM file of the authorities to trust over https; unset: the public ones" },
];

pub(super) const KNOWN: Known =
    Known { what: "ClickHouse", port: 8123, password_variable: "IOTBENCH_CLICKHOUSE_PASSWORD" };

impl Config {
    /// The settings and the address together. `variable` looks into the environment.
    ///
    /// # Errors
    /// The first setting, or part of the address, that cannot be taken.
    pub(crate) fn new(
        settings: &Settings,
        target: &Target,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingError> {
        let Written { database, partition_by, insert, gzip, username, password_file, ca } = settings.typed(SETTINGS)?;
        if database.is_empty() {
            return Err(refuse("database", "a database has a name: leave the key out for `default`"));
        }
        let endpoint = only_one(target, &KNOWN, "http://HOST:8123/ or https://HOST:8443/")?;
        if endpoint.expose().query().is_some() {
            return Err(refuse(
                "url",
                "the address of ClickHouse has nothing after a question mark: there are settings for it",
            ));
        }
        let access = Access {
            username: username.as_deref(),
            password_file: password_file.as_deref(),
            ca: ca.as_deref(),
            insecure: target.insecure,
        };
        let server = server(endpoint, &KNOWN, &access, variable)?;
        Ok(Self { server, database, partition_by, insert, gzip })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Endpoint;

    fn config(url: &str, settings: &str) -> Result<Config, SettingError> {
        let target = Target { endpoints: vec![Endpoint::new(url.parse().unwrap())], ..Target::default() };
        Config::new(&Settings(serde_json::from_str(settings).unwrap()), &target, |_| Some("s3cret".into()))
    }

    #[test]
    fn an_address_alone_is_enough() {
        let all = config("http://h/", r#"{"partition_by":"month","insert":"async_no_wait"}"#).unwrap();
        assert_eq!((all.server.port, all.database.as_str(), all.gzip), (8123, "default", false));
        assert_eq!((all.partition_by, all.insert), (Partition::Month, Insert::AsyncNoWait));
        assert_eq!(all.insert.parameters(), "&async_insert=1&wait_for_async_insert=0");
        let none = config("http://h/", "{}").unwrap();
        assert_eq!((none.partition_by, none.insert.parameters()), (Partition::None, ""));
    }

    #[test]
    fn what_cannot_be_taken_is_named_and_no_secret_is_shown() {
        for (url, settings, key) in [
            ("postgres://h/", "{}", "url"),
            ("http://h/?database=x", "{}", "url"),
            ("http://h/", r#"{"partition_by":"week"}"#, "partition_by"),
            ("http://h/", r#"{"insert":"never"}"#, "insert"),
            ("http://h/", r#"{"database":""}"#, "database"),
            ("http://h/", r#"{"engine":"Log"}"#, "engine"),
        ] {
            assert_eq!(config(url, settings).unwrap_err().key, key, "{url} {settings}");
        }
        assert!(!format!("{:?}", config("http://me@h/", "{}").unwrap()).contains("s3cret"));
    }
}
