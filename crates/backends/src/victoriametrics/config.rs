//! The settings of VictoriaMetrics, and what its address says.

use iotbench_backend_kit::http::{
    Server,
    address::{Access, Known, only_one, refuse, server},
};
use iotbench_core::{Name, Setting, SettingError, Settings, Target};
use serde::Deserialize;
use std::{path::PathBuf, sync::Arc};

/// The settings under `[backend.victoriametrics]` as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    database: String,
    gzip: bool,
    username: Option<String>,
    password_file: Option<PathBuf>,
    ca: Option<PathBuf>,
}

impl Default for Written {
    fn default() -> Self {
        Self { database: "iotbench".into(), gzip: true, username: None, password_file: None, ca: None }
    }
}

/// The settings as meant.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) server: Arc<Server>,
    /// The value of the label `db` of all our series.
    pub(crate) database: Name,
    pub(crate) gzip: bool,
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting { key: "database", default: "iotbench", help: "the label db of every series that iotbench writes" },
    Setting { key: "gzip", default: "true", help: "compresses each request" },
    Setting { key: "username", default: "", help: "the user, where the URL names none" },
    Setting {
        key: "password_file",
        default: "",
        help: "file that holds the password; else the URL's, else IOTBENCH_VICTORIAMETRICS_PASSWORD",
    },
    Setting { key: "ca", default: "", help: "PEM file of the authorities to trust over https; unset: the public ones" },
];

pub(super) const KNOWN: Known =
    Known { what: "VictoriaMetrics", port: 8428, password_variable: "IOTBENCH_VICTORIAMETRICS_PASSWORD" };

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
        let endpoint = only_one(target, &KNOWN, "http://HOST:8428/ or https://HOST:8428/")?;
        if endpoint.expose().query().is_some() {
            return Err(refuse("url", "the address of VictoriaMetrics has nothing after a question mark"));
        }
        let access = Access {
            username: written.username.as_deref(),
            password_file: written.password_file.as_deref(),
            ca: written.ca.as_deref(),
            insecure: target.insecure,
        };
        let server = Arc::new(server(endpoint, &KNOWN, &access, variable)?);
        let database = Name::new(&written.database).map_err(|e| refuse("database", e))?;
        Ok(Self { server, database, gzip: written.gzip })
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
        let config = config("http://h/behind/", "{}").unwrap();
        assert_eq!((config.server.port, config.server.base_path.as_str()), (8428, "/behind"));
        assert_eq!((config.database.as_str(), config.gzip), ("iotbench", true));
        assert!(config.server.credentials.is_none());
    }

    #[test]
    fn what_cannot_be_taken_is_named_and_no_secret_is_shown() {
        for (url, settings, key) in [
            ("mysql://h/", "{}", "url"),
            ("http://h/?db=x", "{}", "url"),
            ("http://h/", r#"{"database":"A b"}"#, "database"),
            ("http://h/", r#"{"ca":"/x"}"#, "ca"),
            ("http://:p4ss@h/", "{}", "username"),
            ("http://h/", r#"{"gzipp":true}"#, "gzipp"),
        ] {
            assert_eq!(config(url, settings).unwrap_err().key, key, "{url} {settings}");
        }
        assert!(Config::new(&Settings::default(), &Target::default(), |_| None).is_err());
        assert!(!format!("{:?}", config("http://me@h/", "{}").unwrap()).contains("s3cret"));
    }
}
