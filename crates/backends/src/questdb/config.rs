//! The settings of QuestDB, and what its address says.

use iotbench_backend_kit::http::{
    Server,
    address::{Access, Known, only_one, refuse, server},
};
use iotbench_core::{Setting, SettingError, Settings, Target};
use serde::Deserialize;
use std::path::PathBuf;

/// How long a stretch of time one partition of a table holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Partition {
    Hour,
    #[default]
    Day,
    Week,
    Month,
    Year,
}

impl Partition {
    /// As `CREATE TABLE` takes it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Hour => "HOUR",
            Self::Day => "DAY",
            Self::Week => "WEEK",
            Self::Month => "MONTH",
            Self::Year => "YEAR",
        }
    }
}

/// The settings under `[backend.questdb]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    partition_by: Partition,
    gzip: bool,
    username: Option<String>,
    password_file: Option<PathBuf>,
    ca: Option<PathBuf>,
}

/// The settings as meant.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) partition_by: Partition,
    pub(crate) gzip: bool,
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting { key: "partition_by", default: "day", help: "a partition of the table: hour, day, week, month, year" },
    Setting { key: "gzip", default: "false", help: "true compresses each request" },
    Setting { key: "username", default: "", help: "the user, where the URL names none" },
    Setting {
        key: "password_file",
        default: "",
        help: "file that holds the password; else the URL's, else IOTBENCH_QUESTDB_PASSWORD",
    },
    Setting { key: "ca", default: "", help: "PEM file of the authorities to trust over https; unset: the public ones" },
];

pub(super) const KNOWN: Known = Known { what: "QuestDB", port: 9000, password_variable: "IOTBENCH_QUESTDB_PASSWORD" };

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
        let written: Written = settings.typed(SETTINGS)?;
        let endpoint = only_one(target, &KNOWN, "http://HOST:9000/ or https://HOST:9000/")?;
        if endpoint.expose().query().is_some() {
            return Err(refuse("url", "the address of QuestDB has nothing after a question mark"));
        }
        let access = Access {
            username: written.username.as_deref(),
            password_file: written.password_file.as_deref(),
            ca: written.ca.as_deref(),
            insecure: target.insecure,
        };
        let server = server(endpoint, &KNOWN, &access, variable)?;
        Ok(Self { server, partition_by: written.partition_by, gzip: written.gzip })
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
        let config = config("http://h/", r#"{"partition_by":"hour"}"#).unwrap();
        assert_eq!((config.server.port, config.partition_by, config.gzip), (9000, Partition::Hour, false));
    }

    #[test]
    fn what_cannot_be_taken_is_named_and_no_secret_is_shown() {
        for (url, settings, key) in [
            ("postgres://h/", "{}", "url"),
            ("http://h/?db=x", "{}", "url"),
            ("http://h/", r#"{"partition_by":"fortnight"}"#, "partition_by"),
            ("http://h/", r#"{"dedup":true}"#, "dedup"),
        ] {
            assert_eq!(config(url, settings).unwrap_err().key, key, "{url} {settings}");
        }
        assert!(!format!("{:?}", config("http://me@h/", "{}").unwrap()).contains("s3cret"));
    }
}
