//! The settings of MongoDB.

use iotbench_core::{Setting, SettingError, Settings};
use serde::Deserialize;
use std::path::PathBuf;

/// How finely times are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Precision {
    /// A date, and beside it the nanoseconds within its millisecond.
    Ns,
    /// A date alone: what is below a millisecond is cut off.
    Ms,
}

/// The collection's one index beside that of `_id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Indexes {
    None,
    /// On the time.
    Time,
    /// On device and time; with one device on the time.
    Tag,
}

/// How many members of a set must have a write before it is acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub(crate) enum Members {
    /// As the server is set.
    Server,
    Majority,
    Number(u32),
}

impl TryFrom<serde_json::Value> for Members {
    type Error = &'static str;
    fn try_from(value: serde_json::Value) -> Result<Self, Self::Error> {
        let number = value.as_u64().or_else(|| value.as_str()?.parse().ok());
        match (value.as_str(), number.and_then(|number| u32::try_from(number).ok())) {
            (Some("server"), _) => Ok(Self::Server),
            (Some("majority"), _) => Ok(Self::Majority),
            (_, Some(number @ 1..=50)) => Ok(Self::Number(number)),
            _ => Err("write server, majority or a number from 1 to 50"),
        }
    }
}

/// Whether a write is acknowledged only when it is in the journal on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "serde_json::Value")]
pub(crate) enum Journaled {
    /// As the server is set.
    Server,
    Yes,
    No,
}

impl TryFrom<serde_json::Value> for Journaled {
    type Error = &'static str;
    fn try_from(value: serde_json::Value) -> Result<Self, Self::Error> {
        match (value.as_bool(), value.as_str()) {
            (Some(true), _) | (_, Some("true")) => Ok(Self::Yes),
            (Some(false), _) | (_, Some("false")) => Ok(Self::No),
            (_, Some("server")) => Ok(Self::Server),
            _ => Err("write server, true or false"),
        }
    }
}

/// The settings under `[backend.mongodb]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) database: String,
    pub(crate) w: Members,
    pub(crate) j: Journaled,
    pub(crate) precision: Precision,
    pub(crate) indexes: Indexes,
    pub(crate) shards: u16,
    pub(crate) password_file: PathBuf,
    pub(crate) ca: PathBuf,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            database: String::new(),
            w: Members::Server,
            j: Journaled::Server,
            precision: Precision::Ns,
            indexes: Indexes::Tag,
            shards: 0,
            password_file: PathBuf::new(),
            ca: PathBuf::new(),
        }
    }
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting { key: "database", default: "", help: "the database; unset: the URL's, else iotbench" },
    Setting {
        key: "w",
        default: "server",
        help: "members that must have a write: server (as it is set there), majority, or a number",
    },
    Setting {
        key: "j",
        default: "server",
        help: "true waits for the journal on disk; server (as it is set), or false",
    },
    Setting {
        key: "precision",
        default: "ns",
        help: "ns (a date, and the nanoseconds beside it), or ms: what is below a millisecond is cut off",
    },
    Setting { key: "indexes", default: "tag", help: "tag (device and time), time, or none" },
    Setting {
        key: "shards",
        default: "0",
        help: "1 to 8: a private cluster of so many shards; with --url those that it must have, or the run is refused",
    },
    Setting { key: "password_file", default: "", help: "a file whose first line is the password" },
    Setting { key: "ca", default: "", help: "a PEM file with the authority that signed the server's certificate" },
];

impl Config {
    /// The settings as typed.
    ///
    /// # Errors
    /// The first setting that MongoDB cannot take.
    pub(crate) fn new(settings: &Settings) -> Result<Self, SettingError> {
        settings.typed(SETTINGS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_that_help_shows() {
        for setting in SETTINGS {
            let number = setting.default.parse::<u16>().map(serde_json::Value::from);
            let value = number.unwrap_or_else(|_| setting.default.into());
            let given = Settings([(setting.key.to_owned(), value)].into_iter().collect());
            assert_eq!(Config::new(&given), Ok(Config::default()), "{}", setting.key);
        }
    }
}
