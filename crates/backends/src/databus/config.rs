//! The settings of Databus, and what its address says.

use iotbench_backend_kit::http::{
    Server,
    address::{Access, Known, only_one, refuse, server},
};
use iotbench_core::{Name, Setting, SettingError, Settings, Target};
use serde::Deserialize;
use std::path::PathBuf;

/// The settings under `[backend.databus]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    database: Option<Name>,
    username: Option<String>,
    password_file: Option<PathBuf>,
    ca: Option<PathBuf>,
}

/// The settings as meant.
#[derive(Debug)]
pub(crate) struct Config {
    /// It always has credentials.
    pub(crate) server: Server,
    /// The group of tables that ours belong to; Databus calls it a database, or a schema.
    pub(crate) database: String,
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        key: "database",
        default: "iotbench",
        help: "the Databus database of our tables, made where it is missing",
    },
    Setting { key: "username", default: "", help: "the user or robot, where the URL names none" },
    Setting {
        key: "password_file",
        default: "",
        help: "file that holds the API key; else the URL's password, else IOTBENCH_DATABUS_KEY",
    },
    Setting { key: "ca", default: "", help: "PEM file of the authorities to trust over https; unset: the public ones" },
];

const DEFAULT_DATABASE: &str = "iotbench";
pub(super) const KNOWN: Known = Known { what: "Databus", port: 9000, password_variable: "IOTBENCH_DATABUS_KEY" };

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
        let endpoint = only_one(target, &KNOWN, "http://USER@HOST:9000/; no Databus can be started here")?;
        if endpoint.expose().query_pairs().next().is_some() {
            // Not repeated: it may be the rest of a password.
            return Err(refuse("url", "the URL takes nothing behind a ?"));
        }
        let access = Access {
            username: written.username.as_deref(),
            password_file: written.password_file.as_deref(),
            ca: written.ca.as_deref(),
            insecure: target.insecure,
        };
        let server = server(endpoint, &KNOWN, &access, variable)?;
        if server.credentials.is_none() {
            return Err(refuse("username", "Databus takes nothing without a user and an API key: name them"));
        }
        let database = written.database.map_or_else(|| DEFAULT_DATABASE.to_owned(), Into::into);
        Ok(Self { server, database })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_backend_kit::http::server::{Credentials, Password};
    use iotbench_core::Endpoint;

    fn config(urls: &[&str], settings: &str) -> Result<Config, SettingError> {
        let endpoints = urls.iter().map(|url| Endpoint::new(url.parse().unwrap())).collect();
        let target = Target { endpoints, ..Target::default() };
        let variable = |name: &str| (name == "IOTBENCH_DATABUS_KEY").then(|| "s3cret".to_owned());
        Config::new(&Settings(serde_json::from_str(settings).unwrap()), &target, variable)
    }

    #[test]
    fn an_address_with_a_user_is_enough() {
        let of = config(&["http://robot1@db.example/"], "{}").unwrap();
        assert_eq!((of.server.host.as_str(), of.server.port, of.database.as_str()), ("db.example", 9000, "iotbench"));
        let key = Credentials { username: "robot1".into(), password: Password::Known("s3cret".into()) };
        assert_eq!(of.server.credentials, Some(key));
        assert!(!format!("{of:?}").contains("s3cret"));
        let of = config(&["https://db.example:1/x"], r#"{"username":"me","database":"plant"}"#).unwrap();
        assert_eq!((of.server.port, of.server.base_path.as_str(), of.database.as_str()), (1, "/x", "plant"));
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        for (urls, settings, key) in [
            (&[][..], "{}", "url"),
            (&["http://me@a/", "http://me@b/"], "{}", "url"),
            (&["mysql://me@h/"], "{}", "url"),
            (&["http://me@h/?db=x"], "{}", "url"),
            (&["http://h/"], "{}", "username"),
            (&["http://me@h/"], r#"{"database":"a b"}"#, "database"),
            (&["http://me@h/"], r#"{"databse":"x"}"#, "databse"),
        ] {
            let error = config(urls, settings).unwrap_err();
            assert_eq!(error.key, key, "{urls:?} {settings}: {error}");
        }
    }
}
