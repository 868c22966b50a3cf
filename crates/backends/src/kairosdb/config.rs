//! The settings of KairosDB, and what its addresses say.

use iotbench_backend_kit::http::{
    Server,
    address::{Access, Known, refuse, server},
};
use iotbench_core::{Endpoint, Setting, SettingError, Settings, Target};
use serde::Deserialize;
use std::path::PathBuf;

/// What carries datapoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// `POST /api/v1/datapoints`.
    Http { gzip: bool },
    /// A line a value over TCP: nothing is answered.
    Telnet,
}

/// Where KairosDB keeps its data: it does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Store {
    H2,
    Cassandra,
}

impl Store {
    /// The store that the settings name.
    pub(crate) fn of(settings: &Settings) -> Option<Self> {
        serde_json::from_value(settings.0.get("store")?.clone()).ok()
    }
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Compression {
    #[default]
    None,
    Gzip,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Protocol {
    #[default]
    Http,
    Telnet,
}

/// The settings under `[backend.kairosdb]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    store: Option<Store>,
    protocol: Protocol,
    compression: Option<Compression>,
    telnet: Option<String>,
    username: Option<String>,
    password_file: Option<PathBuf>,
    ca: Option<PathBuf>,
}

/// One KairosDB process: where it takes datapoints as JSON and questions, and where lines.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) server: Server,
    pub(crate) telnet: (String, u16),
}

/// The settings as meant.
#[derive(Debug)]
pub(crate) struct Config {
    /// At least one.
    pub(crate) nodes: Vec<Node>,
    pub(crate) transport: Transport,
    /// `None`: a server of the user's, who does not say.
    pub(crate) store: Option<Store>,
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        key: "store",
        default: "h2",
        help: "h2 or cassandra: which private server is started; with --url, what that one keeps its data in",
    },
    Setting { key: "protocol", default: "http", help: "http, or telnet: a line a value, and nothing is acknowledged" },
    Setting { key: "compression", default: "none", help: "over http: none, or gzip for each request" },
    Setting { key: "telnet", default: "", help: "HOST:PORT of the telnet server; unset: the URL's host, port 4242" },
    Setting { key: "username", default: "", help: "the user, where the URL names none" },
    Setting {
        key: "password_file",
        default: "",
        help: "file that holds the password; else the URL's, else IOTBENCH_KAIROSDB_PASSWORD",
    },
    Setting { key: "ca", default: "", help: "PEM file of the authorities to trust over https; unset: the public ones" },
];

pub(super) const KNOWN: Known = Known { what: "KairosDB", port: 8080, password_variable: "IOTBENCH_KAIROSDB_PASSWORD" };
const DEFAULT_TELNET_PORT: u16 = 4242;

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
            return Err(refuse("url", "give the address of a server: http://HOST:8080/"));
        }
        if written.telnet.is_some() && target.endpoints.len() > 1 {
            return Err(refuse("telnet", "with several servers each URL names its own: ?telnet=HOST:PORT"));
        }
        let node = |endpoint: &Endpoint| {
            let server = server(endpoint, &KNOWN, &access, &variable)?;
            let telnet = match written.telnet.clone().or(telnet_of(endpoint)?) {
                Some(address) => host_and_port(&address)?,
                None => (server.host.clone(), DEFAULT_TELNET_PORT),
            };
            Ok(Node { server, telnet })
        };
        let nodes = target.endpoints.iter().map(node).collect::<Result<_, _>>()?;
        let transport = match (written.protocol, written.compression) {
            (Protocol::Telnet, Some(Compression::Gzip)) => {
                return Err(refuse("compression", "lines are not compressed: only protocol = \"http\" is"));
            }
            (Protocol::Telnet, _) => Transport::Telnet,
            (Protocol::Http, compression) => Transport::Http { gzip: matches!(compression, Some(Compression::Gzip)) },
        };
        // A private server is what the settings made it.
        let is_private = !target.nodes.is_empty();
        let store = written.store.or(is_private.then_some(Store::H2));
        Ok(Self { nodes, transport, store })
    }
}

/// The one key that an address may carry: `?telnet=HOST:PORT`.
fn telnet_of(endpoint: &Endpoint) -> Result<Option<String>, SettingError> {
    let mut telnet = None;
    for (key, value) in endpoint.expose().query_pairs() {
        if key != "telnet" || telnet.replace(value.into_owned()).is_some() {
            // Not repeated: it may be the rest of a password.
            return Err(refuse("url", "what follows the ? is unknown or given twice: the URL takes telnet"));
        }
    }
    Ok(telnet)
}

fn host_and_port(text: &str) -> Result<(String, u16), SettingError> {
    let wrong = || refuse("telnet", format!("{text:?} is not HOST:PORT"));
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    match port.parse() {
        Ok(port) if port > 0 && !host.is_empty() => Ok((host.trim_matches(['[', ']']).to_owned(), port)),
        _ => Err(wrong()),
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
        let [node] = &config.nodes[..] else { panic!("{config:?}") };
        assert_eq!((node.server.host.as_str(), node.server.port), ("db.example", 8080));
        assert_eq!(node.telnet, ("db.example".into(), 4242));
        assert_eq!((config.transport, config.store), (Transport::Http { gzip: false }, None));
        assert!(config_at(&[], "{}").is_err(), "an address is needed");
    }

    #[test]
    fn each_of_several_servers_has_its_own_addresses() {
        let urls = ["http://127.0.0.1:1/?telnet=127.0.0.1:2", "http://127.0.0.2:1/?telnet=127.0.0.2:2"];
        let config = config_at(&urls, r#"{"protocol":"telnet","store":"cassandra"}"#).unwrap();
        let telnets: Vec<_> = config.nodes.iter().map(|node| node.telnet.clone()).collect();
        assert_eq!(telnets, [("127.0.0.1".to_owned(), 2), ("127.0.0.2".to_owned(), 2)]);
        assert_eq!((config.transport, config.store), (Transport::Telnet, Some(Store::Cassandra)));
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        for (urls, settings, key) in [
            (&["mysql://h/"][..], "{}", "url"),
            (&["http://h/?db=x"], "{}", "url"),
            (&["http://h/?telnet=a:1&telnet=a:2"], "{}", "url"),
            (&["http://h/?telnet=a"], "{}", "telnet"),
            (&["http://h/"], r#"{"telnet":"h:0"}"#, "telnet"),
            (&["http://h/", "http://i/"], r#"{"telnet":"h:1"}"#, "telnet"),
            (&["http://h/"], r#"{"store":"hbase"}"#, "store"),
            (&["http://h/"], r#"{"compression":"lz4"}"#, "compression"),
            (&["http://h/"], r#"{"protocol":"telnet","compression":"gzip"}"#, "compression"),
            (&["http://h/"], r#"{"stoer":"h2"}"#, "stoer"),
        ] {
            let error = config_at(urls, settings).unwrap_err();
            assert_eq!(error.key, key, "{urls:?} {settings}: {error}");
        }
    }
}
