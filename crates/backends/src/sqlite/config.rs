//! The settings of SQLite and where its file lies.

use iotbench_core::{Setting, SettingError, Settings, Target};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use std::{fmt, path::PathBuf};

/// When SQLite waits for the disk (`PRAGMA synchronous`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Synchronous {
    #[serde(alias = "off")]
    Off,
    #[serde(alias = "normal")]
    Normal,
    #[serde(alias = "full")]
    Full,
    #[serde(alias = "extra")]
    Extra,
}

impl fmt::Display for Synchronous {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "OFF",
            Self::Normal => "NORMAL",
            Self::Full => "FULL",
            Self::Extra => "EXTRA",
        })
    }
}

/// How SQLite makes a transaction atomic (`PRAGMA journal_mode`). The modes in memory and without a journal are left
/// out: a crash of the process destroys the database in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JournalMode {
    Wal,
    Delete,
    Truncate,
    Persist,
}

impl fmt::Display for JournalMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Wal => "wal",
            Self::Delete => "delete",
            Self::Truncate => "truncate",
            Self::Persist => "persist",
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

impl fmt::Display for Indexes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time",
            Self::None => "none",
        })
    }
}

/// The settings under `[backend.sqlite]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) synchronous: Synchronous,
    pub(crate) journal_mode: Option<JournalMode>,
    pub(crate) cache_kib: u32,
    pub(crate) page_bytes: u32,
    pub(crate) busy_timeout_ms: u32,
    pub(crate) indexes: Indexes,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            synchronous: Synchronous::Full,
            journal_mode: None,
            cache_kib: 2000,
            page_bytes: 4096,
            busy_timeout_ms: 5000,
            indexes: Indexes::Time,
        }
    }
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        key: "synchronous",
        default: "FULL",
        help: "when to wait for the disk: OFF, NORMAL, FULL (each commit) or EXTRA (and its folder)",
    },
    Setting {
        key: "journal_mode",
        default: "wal",
        help: "wal, delete, truncate or persist; a file that was there before keeps its own unless this is set",
    },
    Setting { key: "cache_kib", default: "2000", help: "page cache of each connection in KiB" },
    Setting { key: "page_bytes", default: "4096", help: "page size of a new file: a power of two from 512 to 65536" },
    Setting {
        key: "busy_timeout_ms",
        default: "5000",
        help: "how long a connection waits for another one's lock before it fails",
    },
    Setting { key: "indexes", default: "time", help: "time (one index over device and time) or none" },
];

const PAGE_BYTES: std::ops::RangeInclusive<u32> = 512..=65536;

impl Config {
    /// The settings as typed.
    ///
    /// # Errors
    /// The first setting that SQLite cannot take.
    pub(crate) fn new(settings: &Settings) -> Result<Self, SettingError> {
        let config: Self = settings.typed(SETTINGS)?;
        let refuse =
            |key: &str, message: &str| Err(SettingError { key: key.into(), message: message.into(), suggestion: None });
        if !(config.page_bytes.is_power_of_two() && PAGE_BYTES.contains(&config.page_bytes)) {
            return refuse("page_bytes", "a page has a power of two from 512 to 65536 bytes");
        }
        if i32::try_from(config.cache_kib).is_err() {
            return refuse("cache_kib", "at most 2147483647");
        }
        if i32::try_from(config.busy_timeout_ms).is_err() {
            return refuse("busy_timeout_ms", "at most 2147483647");
        }
        Ok(config)
    }
}

const FILE_NAME: &str = "iotbench.sqlite";

/// The file that a target means: the path of its `sqlite:PATH` endpoint, else `iotbench.sqlite` in its folder.
///
/// # Errors
/// No place at all, several endpoints, or an address that is no path.
pub(crate) fn file_of(target: &Target) -> Result<PathBuf, SettingError> {
    let refuse = |message: String| SettingError { key: "url".into(), message, suggestion: None };
    let endpoint = match target.endpoints.as_slice() {
        [] => {
            let folder = target.folder.as_ref();
            let folder = folder.ok_or_else(|| refuse("give the file as sqlite:PATH".into()))?;
            return Ok(folder.join(FILE_NAME));
        }
        [endpoint] => endpoint,
        several => return Err(refuse(format!("SQLite has one file, and {} addresses were given", several.len()))),
    };
    let url = endpoint.expose();
    if url.scheme() != "sqlite" {
        return Err(refuse(format!("{endpoint} is no SQLite file: write sqlite:PATH")));
    }
    if url.has_host() && url.host_str().is_some_and(|host| !host.is_empty()) {
        return Err(refuse(format!(
            "{endpoint} names a host: write sqlite:PATH, or sqlite:///PATH for a path from the root"
        )));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refuse(
            "write ? and # in the file's name as %3F and %23; options go under [backend.sqlite]".into(),
        ));
    }
    let path = percent_decode_str(url.path()).decode_utf8();
    let path = path.map_err(|_| refuse(format!("the path of {endpoint} is not UTF-8")))?;
    if path.is_empty() || path.ends_with('/') || path == ":memory:" || path.contains('\0') {
        return Err(refuse(format!("{endpoint} names no file: write sqlite:PATH")));
    }
    Ok(PathBuf::from(path.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Endpoint;

    fn target(url: &str) -> Target {
        Target { endpoints: vec![Endpoint::new(url.parse().unwrap())], ..Target::default() }
    }

    fn settings(json: &str) -> Settings {
        Settings(serde_json::from_str(json).unwrap())
    }

    #[test]
    fn the_file_is_the_path_of_the_address() {
        for (url, file) in [
            ("sqlite:/tmp/a.db", "/tmp/a.db"),
            ("sqlite:///tmp/a.db", "/tmp/a.db"),
            ("sqlite:a.db", "a.db"),
            ("sqlite:../a b.db", "../a b.db"),
            ("sqlite:/tmp/größe%3F.db", "/tmp/größe?.db"),
        ] {
            assert_eq!(file_of(&target(url)), Ok(PathBuf::from(file)), "{url}");
        }
        let folder = Target { folder: Some("/x".into()), ..Target::default() };
        assert_eq!(file_of(&folder), Ok(PathBuf::from("/x/iotbench.sqlite")));
    }

    #[test]
    fn an_address_that_is_no_file_is_refused() {
        for url in ["mysql://h/a", "sqlite://tmp/a.db", "sqlite:", "sqlite::memory:", "sqlite:/tmp/", "sqlite:/a?x=1"] {
            let error = file_of(&target(url)).unwrap_err();
            assert_eq!(error.key, "url", "{url}: {error}");
        }
        assert!(file_of(&Target::default()).is_err());
    }

    #[test]
    fn the_defaults_are_those_that_help_shows() {
        let defaults = Config::new(&Settings::default()).unwrap();
        let shown = r#"{"synchronous": "FULL", "cache_kib": 2000, "page_bytes": 4096, "busy_timeout_ms": 5000}"#;
        assert_eq!(Config::new(&settings(shown)).unwrap(), defaults);
        for setting in SETTINGS {
            let quoted = serde_json::Value::String(setting.default.into()).to_string();
            let value = if setting.default.parse::<u32>().is_ok() { setting.default } else { &quoted };
            let given = Config::new(&settings(&format!("{{\"{}\": {value}}}", setting.key))).unwrap();
            assert_eq!(Config { journal_mode: None, ..given }, defaults, "{}", setting.key);
        }
    }

    #[test]
    fn bad_settings_are_named() {
        for (json, key) in [
            (r#"{"synchronous": "SOMETIMES"}"#, "synchronous"),
            (r#"{"journal_mode": "memory"}"#, "journal_mode"),
            (r#"{"page_bytes": 1000}"#, "page_bytes"),
            (r#"{"cache_kib": 3000000000}"#, "cache_kib"),
            (r#"{"busy_timeout_ms": 3000000000}"#, "busy_timeout_ms"),
            (r#"{"cach_kib": 1}"#, "cach_kib"),
            (r#"{"indexes": "tag"}"#, "indexes"),
        ] {
            assert_eq!(Config::new(&settings(json)).unwrap_err().key, key);
        }
    }
}
