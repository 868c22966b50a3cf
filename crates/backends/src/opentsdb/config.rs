//! The settings of OpenTSDB, and what its addresses say.

use iotbench_backend_kit::http::{
    Server,
    address::{Access, Known, refuse, server},
};
use iotbench_core::{Endpoint, Setting, SettingError, Settings, Target};
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Compression {
    #[default]
    None,
    Gzip,
}

/// The settings under `[backend.opentsdb]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    sync: bool,
    compression: Compression,
    username: Option<String>,
    password_file: Option<PathBuf>,
    ca: Option<PathBuf>,
}

/// How datapoints are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Method {
    /// Whether an answer waits until HBase has the values.
    pub(crate) sync: bool,
    pub(crate) gzip: bool,
}

/// The settings as meant.
#[derive(Debug)]
pub(crate) struct Config {
    /// TSDs over one HBase, at least one.
    pub(crate) servers: Vec<Server>,
    pub(crate) method: Method,
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        key: "sync",
        default: "false",
        help: "whether an acknowledgement waits until HBase has the values; else they are queued in the TSD",
    },
    Setting { key: "compression", default: "none", help: "none, or gzip for each request" },
    Setting { key: "username", default: "", help: "the user, where the URL names none" },
    Setting {
        key: "password_file",
        default: "",
        help: "file that holds the password; else the URL's, else IOTBENCH_OPENTSDB_PASSWORD",
    },
    Setting { key: "ca", default: "", help: "PEM file of the authorities to trust over https; unset: the public ones" },
];

pub(super) const KNOWN: Known = Known { what: "OpenTSDB", port: 4242, password_variable: "IOTBENCH_OPENTSDB_PASSWORD" };

impl Config {
    /// The settings and the addresses together. `variable` looks into the environment.
    ///
    /// # Errors
    /// The first setting, or part of an address, that cannot be taken.
    pub(crate) fn new(
        settings: &Settings,
        target: &Target,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingError> {
        let written: Written = settings.typed(SETTINGS)?;
        let access = Access {
            username: written.username.as_deref(),
            password_file: written.password_file.as_deref(),
            ca: written.ca.as_deref(),
            insecure: target.insecure,
        };
        if target.endpoints.is_empty() {
            return Err(refuse("url", "give the address of a server: http://HOST:4242/"));
        }
        let server = |endpoint: &Endpoint| {
            if endpoint.expose().query().is_some() {
                return Err(refuse("url", "the URL takes no keys after a ?"));
            }
            server(endpoint, &KNOWN, &access, &variable)
        };
        let servers = target.endpoints.iter().map(server).collect::<Result<_, _>>()?;
        let method = Method { sync: written.sync, gzip: written.compression == Compression::Gzip };
        Ok(Self { servers, method })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config_at(urls: &[&str], settings: &str) -> Result<Config, SettingError> {
        let endpoints = urls.iter().map(|url| Endpoint::new(url.parse().unwrap())).collect();
        let target = Target { endpoints, ..Target::default() };
        Config::new(&Settings(serde_json::from_str(settings).unwrap()), &target, |_| None)
    }

    #[test]
    fn an_address_alone_is_enough() {
        let config = config_at(&["http://db.example"], "{}").unwrap();
        let [server] = &config.servers[..] else { panic!("{config:?}") };
        assert_eq!((server.host.as_str(), server.port), ("db.example", 4242));
        assert_eq!(config.method, Method { sync: false, gzip: false });
        let config = config_at(&["http://a", "https://b/tsd/"], r#"{"sync":true,"compression":"gzip"}"#).unwrap();
        assert_eq!((config.servers.len(), config.servers[1].base_path.as_str()), (2, "/tsd"));
        assert_eq!(config.method, Method { sync: true, gzip: true });
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        for (urls, settings, key) in [
            (&[][..], "{}", "url"),
            (&["mysql://h/"], "{}", "url"),
            (&["http://h/?sync"], "{}", "url"),
            (&["http://h/"], r#"{"compression":"lz4"}"#, "compression"),
            (&["http://h/"], r#"{"sync":"yes"}"#, "sync"),
            (&["http://h/"], r#"{"sink":true}"#, "sink"),
            (&["http://h/"], r#"{"ca":"/x"}"#, "ca"),
        ] {
            let error = config_at(urls, settings).unwrap_err();
            assert_eq!(error.key, key, "{urls:?} {settings}: {error}");
        }
    }
}
