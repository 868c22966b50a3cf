//! The settings of InfluxDB 2.x, and what its address says.

use iotbench_backend_kit::http::{
    Server,
    address::{Access, Known, one_of, only_one, refuse, server},
    server::{Credentials, Password},
};
use iotbench_core::{Endpoint, Name, Setting, SettingError, Settings, Target};
use serde::Deserialize;
use std::path::PathBuf;

/// In which language questions are asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    #[default]
    InfluxQl,
    Flux,
}

/// Who speaks with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Our own, over hyper.
    Own,
    /// The crate `influxdb2`.
    #[cfg(feature = "influxdb2-crate")]
    Crate,
}

/// The same as written: it can be asked for without being there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenClient {
    #[default]
    Own,
    Crate,
}

/// The settings under `[backend.influxdb2]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    org: Option<String>,
    bucket: Option<Name>,
    client: WrittenClient,
    language: Option<Language>,
    gzip: bool,
    token_file: Option<PathBuf>,
    ca: Option<PathBuf>,
}

/// The settings as meant.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) org: String,
    /// What the names of our buckets begin with.
    pub(crate) bucket: Name,
    pub(crate) client: Client,
    pub(crate) language: Language,
    pub(crate) gzip: bool,
    /// The server is private, and is set up with [`PRIVATE_TOKEN`] when nobody has yet.
    pub(crate) is_private: bool,
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting { key: "org", default: "iotbench", help: "the organisation, which must be there; else the URL's org" },
    Setting { key: "bucket", default: "iotbench", help: "our buckets are called BUCKET_TABLE" },
    Setting {
        key: "client",
        default: "own",
        help: "own, or crate: the crate influxdb2, which asks Flux, where this program was built with it",
    },
    Setting { key: "language", default: "influxql", help: "of questions: influxql, or flux" },
    Setting { key: "gzip", default: "false", help: "true compresses each request" },
    Setting { key: "token_file", default: "", help: "file that holds the API token; else IOTBENCH_INFLUXDB2_TOKEN" },
    Setting { key: "ca", default: "", help: "PEM file of the authorities to trust over https; unset: the public ones" },
];

const TOKEN_VARIABLE: &str = "IOTBENCH_INFLUXDB2_TOKEN";
pub(super) const KNOWN: Known = Known { what: "InfluxDB 2.x", port: 8086, password_variable: TOKEN_VARIABLE };
const DEFAULT_NAME: &str = "iotbench";
/// The token of a private server, which listens on this machine alone, as those of the other databases do without any.
pub(crate) const PRIVATE_TOKEN: &str = "iotbench-private-server";

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
        let endpoint = only_one(target, &KNOWN, "http://HOST:8086/?org=ORG or https://HOST:8086/?org=ORG")?;
        let keys = Keys::of(endpoint)?;
        let access =
            Access { username: None, password_file: None, ca: written.ca.as_deref(), insecure: target.insecure };
        if !endpoint.expose().username().is_empty() || endpoint.expose().password().is_some() {
            return Err(refuse("url", format!("give a token, by token_file or {TOKEN_VARIABLE}, and no user")));
        }
        let mut server = server(endpoint, &KNOWN, &access, &variable)?;
        let client = client(&written, &server)?;
        let token = match (written.token_file, variable(TOKEN_VARIABLE)) {
            (Some(file), _) => Some(Password::InFile(file)),
            (None, Some(token)) if !token.is_empty() => Some(Password::Known(token)),
            _ if keys.is_private => Some(Password::Known(PRIVATE_TOKEN.into())),
            _ => None,
        };
        server.credentials = token.map(|password| Credentials { username: String::new(), password });
        let org = one_of("org", written.org, keys.org)?.unwrap_or_else(|| DEFAULT_NAME.into());
        let bucket = match written.bucket {
            Some(bucket) => bucket,
            None => Name::new(DEFAULT_NAME).map_err(|e| refuse("bucket", e))?,
        };
        let language = written.language.unwrap_or(match client {
            Client::Own => Language::InfluxQl,
            #[cfg(feature = "influxdb2-crate")]
            Client::Crate => Language::Flux,
        });
        let (gzip, is_private) = (written.gzip, keys.is_private);
        Ok(Self { server, org, bucket, client, language, gzip, is_private })
    }
}

/// Who is to speak with the server, if they can do what else is set.
#[cfg(feature = "influxdb2-crate")]
fn client(written: &Written, server: &Server) -> Result<Client, SettingError> {
    if written.client == WrittenClient::Own {
        return Ok(Client::Own);
    }
    match written {
        Written { language: Some(Language::InfluxQl), .. } => {
            Err(refuse("language", "the crate influxdb2 asks Flux alone: leave it out, or set client = \"own\""))
        }
        Written { gzip: true, .. } => Err(refuse("gzip", "the crate influxdb2 is built without: set client = \"own\"")),
        _ if server.trust.is_some() => {
            Err(refuse("url", "the crate influxdb2 is built without TLS: write http://…, or set client = \"own\""))
        }
        _ if !server.base_path.is_empty() => {
            Err(refuse("url", "the crate influxdb2 takes no path before /api: set client = \"own\""))
        }
        _ => Ok(Client::Crate),
    }
}

#[cfg(not(feature = "influxdb2-crate"))]
fn client(written: &Written, _: &Server) -> Result<Client, SettingError> {
    match written.client {
        WrittenClient::Own => Ok(Client::Own),
        WrittenClient::Crate => Err(refuse(
            "client",
            "this program was built without the crate influxdb2: build it with --features influxdb2-crate, or set \
             client = \"own\"",
        )),
    }
}

/// The keys that an address may carry.
#[derive(Default)]
struct Keys {
    org: Option<String>,
    is_private: bool,
}

impl Keys {
    fn of(endpoint: &Endpoint) -> Result<Self, SettingError> {
        let mut keys = Self::default();
        for (key, value) in endpoint.expose().query_pairs() {
            match (key.as_ref(), value.as_ref()) {
                ("org", _) if keys.org.is_none() => keys.org = Some(value.into_owned()),
                ("setup", "private") => keys.is_private = true,
                ("token", _) => {
                    return Err(refuse(
                        "url",
                        format!("a token is never in the URL: use token_file or {TOKEN_VARIABLE}"),
                    ));
                }
                // Not repeated: it may be the rest of a password.
                _ => return Err(refuse("url", "what follows the ? is unknown or there twice: the URL takes org")),
            }
        }
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(url: &str, settings: &str, token: Option<&str>) -> Result<Config, SettingError> {
        let target = Target { endpoints: vec![Endpoint::new(url.parse().unwrap())], ..Target::default() };
        Config::new(&Settings(serde_json::from_str(settings).unwrap()), &target, |_| token.map(Into::into))
    }

    #[test]
    fn an_address_and_a_token_are_enough() {
        let of = config("http://h/?org=plant", "{}", Some("s3cret")).unwrap();
        assert_eq!((of.server.port, of.org.as_str(), of.bucket.as_str()), (8086, "plant", "iotbench"));
        assert_eq!((of.language, of.is_private), (Language::InfluxQl, false));
        let credentials = of.server.credentials.as_ref().unwrap();
        assert_eq!((credentials.username.as_str(), &credentials.password), ("", &Password::Known("s3cret".into())));
        assert!(!format!("{of:?}").contains("s3cret"));
        let private = config("http://127.0.0.1:9/?setup=private", r#"{"language":"flux"}"#, None).unwrap();
        assert!(private.is_private && private.language == Language::Flux && private.server.credentials.is_some());
        assert!(config("http://h/", "{}", None).unwrap().server.credentials.is_none());
    }

    #[cfg(not(feature = "influxdb2-crate"))]
    #[test]
    fn a_client_that_is_not_built_in_is_refused_with_the_way_to_it() {
        let error = config("http://h/", r#"{"client":"crate"}"#, None).unwrap_err();
        assert!(error.key == "client" && error.message.contains("--features influxdb2-crate"), "{error}");
    }

    #[cfg(feature = "influxdb2-crate")]
    #[test]
    fn the_crate_is_refused_what_it_cannot_do() {
        let of = config("http://h/", r#"{"client":"crate"}"#, None).unwrap();
        assert_eq!((of.client, of.language), (Client::Crate, Language::Flux));
        for (url, settings, key) in [
            ("http://h/", r#"{"client":"crate","language":"influxql"}"#, "language"),
            ("http://h/", r#"{"client":"crate","gzip":true}"#, "gzip"),
            ("https://h/", r#"{"client":"crate"}"#, "url"),
            ("http://h/influx/", r#"{"client":"crate"}"#, "url"),
        ] {
            assert_eq!(config(url, settings, None).unwrap_err().key, key, "{url} {settings}");
        }
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        for (url, settings, key) in [
            ("mysql://h/", "{}", "url"),
            ("http://h/?token=s3cret", "{}", "url"),
            ("http://me:s3cret@h/", "{}", "url"),
            ("http://h/?org=a&org=b", "{}", "url"),
            ("http://h/?org=a", r#"{"org":"b"}"#, "org"),
            ("http://h/", r#"{"bucket":"a b"}"#, "bucket"),
            ("http://h/", r#"{"language":"sql"}"#, "language"),
        ] {
            let error = config(url, settings, None).unwrap_err();
            assert!(error.key == key && !error.to_string().contains("s3cret"), "{url} {settings}: {error}");
        }
    }
}
