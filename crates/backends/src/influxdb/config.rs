//! The settings of InfluxDB, and what its address says.

use iotbench_backend_kit::http::{
    Server,
    address::{Access, Known, one_of, only_one, refuse, server},
};
use iotbench_core::{Endpoint, Name, Setting, SettingError, Settings, Target};
use serde::Deserialize;
use std::path::PathBuf;

/// How lines are put into datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Datagram {
    /// One line each, as Arnst et al. 2019 send them.
    Line,
    /// As many lines as one Ethernet frame takes.
    Mtu,
    /// As many lines as one datagram takes.
    #[serde(rename = "64k")]
    Largest,
}

/// What carries the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// `POST /write`.
    Http { gzip: bool },
    /// Datagrams to the server's UDP listener at this host and port.
    Udp { datagram: Datagram, host: String, port: u16 },
}

/// The settings under `[backend.influxdb]` as written.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Written {
    database: Option<Name>,
    transport: TransportName,
    datagram: Option<Datagram>,
    udp: Option<String>,
    gzip: bool,
    username: Option<String>,
    password_file: Option<PathBuf>,
    ca: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TransportName {
    #[default]
    Http,
    Udp,
}

/// The settings as meant.
#[derive(Debug)]
pub(crate) struct Config {
    pub(crate) server: Server,
    pub(crate) database: Name,
    pub(crate) transport: Transport,
}

/// The settings for help.
pub(crate) const SETTINGS: &[Setting] = &[
    Setting { key: "database", default: "iotbench", help: "the database, made and marked by iotbench" },
    Setting { key: "transport", default: "http", help: "http, or udp: nothing is acknowledged" },
    Setting {
        key: "datagram",
        default: "line",
        help: "over udp: line (one a datagram), mtu (packed to 1432 bytes) or 64k (packed to 65507 bytes)",
    },
    Setting { key: "udp", default: "", help: "HOST:PORT of the UDP listener; unset: the URL's host, port 8089" },
    Setting { key: "gzip", default: "false", help: "over http: true compresses each request" },
    Setting { key: "username", default: "", help: "the user, where the URL names none" },
    Setting {
        key: "password_file",
        default: "",
        help: "file that holds the password; else the URL's, else IOTBENCH_INFLUXDB_PASSWORD",
    },
    Setting { key: "ca", default: "", help: "PEM file of the authorities to trust over https; unset: the public ones" },
];

pub(super) const KNOWN: Known = Known { what: "InfluxDB", port: 8086, password_variable: "IOTBENCH_INFLUXDB_PASSWORD" };
const DEFAULT_DATABASE: &str = "iotbench";
const DEFAULT_UDP_PORT: u16 = 8089;

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
        let endpoint = only_one(target, &KNOWN, "http://HOST:8086/ or https://HOST:8086/")?;
        let keys = Keys::of(endpoint)?;
        let access = Access {
            username: written.username.as_deref(),
            password_file: written.password_file.as_deref(),
            ca: written.ca.as_deref(),
            insecure: target.insecure,
        };
        let server = server(endpoint, &KNOWN, &access, variable)?;
        let udp = one_of("udp", written.udp.clone(), keys.udp)?;
        let transport = transport(&written, udp.as_deref(), &server.host)?;
        let in_url = keys.db.map(|db| Name::new(&db).map_err(|e| refuse("url", e))).transpose()?;
        let database = match one_of("database", written.database, in_url)? {
            Some(database) => database,
            None => Name::new(DEFAULT_DATABASE).map_err(|e| refuse("database", e))?,
        };
        Ok(Self { server, database, transport })
    }
}

/// The keys that an address may carry: `?db=NAME&udp=HOST:PORT`.
#[derive(Default)]
struct Keys {
    db: Option<String>,
    udp: Option<String>,
}

impl Keys {
    fn of(endpoint: &Endpoint) -> Result<Self, SettingError> {
        let mut keys = Self::default();
        for (key, value) in endpoint.expose().query_pairs() {
            let place = match key.as_ref() {
                "db" => &mut keys.db,
                "udp" => &mut keys.udp,
                "u" | "p" => {
                    return Err(refuse("url", "give user and password before the host: http://USER:PASSWORD@HOST/"));
                }
                // Not repeated: it may be the rest of a password.
                _ => return Err(refuse("url", "what follows the ? is unknown: the URL takes db and udp")),
            };
            if place.replace(value.into_owned()).is_some() {
                return Err(refuse("url", format!("{key:?} is given twice")));
            }
        }
        Ok(keys)
    }
}

fn transport(written: &Written, udp: Option<&str>, host: &str) -> Result<Transport, SettingError> {
    match written.transport {
        TransportName::Http if written.datagram.is_some() => {
            Err(refuse("datagram", "only transport = \"udp\" sends datagrams"))
        }
        TransportName::Http => Ok(Transport::Http { gzip: written.gzip }),
        TransportName::Udp if written.gzip => Err(refuse("gzip", "InfluxDB takes compressed lines over HTTP only")),
        TransportName::Udp => {
            let (host, port) = match udp {
                Some(address) => udp_address(address, host)?,
                None => (host.to_owned(), DEFAULT_UDP_PORT),
            };
            Ok(Transport::Udp { datagram: written.datagram.unwrap_or(Datagram::Line), host, port })
        }
    }
}

/// `HOST:PORT`, or the port alone on the host of the URL.
fn udp_address(text: &str, host: &str) -> Result<(String, u16), SettingError> {
    let (host, port) = text.rsplit_once(':').unwrap_or((host, text));
    match port.parse() {
        Ok(port) if port > 0 && !host.is_empty() => Ok((host.trim_matches(['[', ']']).to_owned(), port)),
        _ => Err(refuse("udp", format!("{text:?} is not HOST:PORT"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_backend_kit::http::server::{Password, Trust};

    fn config_with(url: &str, settings: &str, environment: Option<&str>) -> Result<Config, SettingError> {
        let target = Target { endpoints: vec![url.parse().unwrap()], ..Target::default() };
        let settings = Settings(serde_json::from_str(settings).unwrap());
        Config::new(&settings, &target, |_| environment.map(Into::into))
    }

    fn config(url: &str, settings: &str) -> Result<Config, SettingError> {
        config_with(url, settings, None)
    }

    #[test]
    fn an_address_alone_is_enough() {
        assert_eq!(config("https://db.example:443/", "{}").unwrap().server.port, 443);
        let config = config("http://db.example", "{}").unwrap();
        assert_eq!((config.server.host.as_str(), config.server.port), ("db.example", 8086));
        assert_eq!(config.database.as_str(), "iotbench");
        assert_eq!(config.transport, Transport::Http { gzip: false });
        assert!(config.server.trust.is_none() && config.server.credentials.is_none());
        assert!(Config::new(&Settings::default(), &Target::default(), |_| None).is_err(), "an address is needed");
    }

    #[test]
    fn datagrams_go_where_they_are_told() {
        let udp = |url: &str, settings: &str| config(url, settings).unwrap().transport;
        let to = |datagram, host: &str, port| Transport::Udp { datagram, host: host.into(), port };
        assert_eq!(udp("http://h/", r#"{"transport":"udp"}"#), to(Datagram::Line, "h", 8089));
        assert_eq!(udp("http://h/?udp=7", r#"{"transport":"udp","datagram":"mtu"}"#), to(Datagram::Mtu, "h", 7));
        let settings = r#"{"transport":"udp","datagram":"64k","udp":"[::1]:9"}"#;
        assert_eq!(udp("https://h/", settings), to(Datagram::Largest, "::1", 9));
    }

    #[test]
    fn credentials_come_from_one_place_and_are_never_shown() {
        let known = |config: Config| config.server.credentials.unwrap();
        let in_url = known(config("http://me:s3cr%40t@h/", "{}").unwrap());
        assert_eq!((in_url.username.as_str(), &in_url.password), ("me", &Password::Known("s3cr@t".into())));
        let of_environment = known(config_with("http://me@h/", "{}", Some("s3cr@t")).unwrap());
        assert_eq!(of_environment.password, Password::Known("s3cr@t".into()));
        let in_file = known(config("http://h/", r#"{"username":"me","password_file":"/x"}"#).unwrap());
        assert_eq!(in_file.password, Password::InFile("/x".into()));
        assert!(config_with("http://h/", "{}", Some("s3cr@t")).unwrap().server.credentials.is_none());
        assert!(!format!("{in_url:?} {of_environment:?}").contains("s3cr@t"));
    }

    #[test]
    fn the_scheme_decides_about_encryption() {
        let trust = |url: &str, settings: &str| config(url, settings).unwrap().server.trust;
        assert_eq!(trust("https://h/", "{}"), Some(Trust::PublicAuthorities));
        assert_eq!(trust("https://h/", r#"{"ca":"/ca.pem"}"#), Some(Trust::Authorities("/ca.pem".into())));
        let endpoints = vec![Endpoint::new("https://h/".parse().unwrap())];
        let target = Target { endpoints, insecure: true, ..Target::default() };
        let config = Config::new(&Settings::default(), &target, |_| None).unwrap();
        assert_eq!(config.server.trust, Some(Trust::Anybody));
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        for (url, settings, key) in [
            ("mysql://h/", "{}", "url"),
            ("http://h/?dbb=x", "{}", "url"),
            ("http://h/?u=me&p=s3cret", "{}", "url"),
            ("http://h/?db=a&db=a", "{}", "url"),
            ("http://h/?db=A", "{}", "url"),
            ("http://h/#x", "{}", "url"),
            ("http://h/?db=a", r#"{"database":"b"}"#, "database"),
            ("http://h/", r#"{"database":"a\"; DROP"}"#, "database"),
            ("http://h/", r#"{"databse":"a"}"#, "databse"),
            ("http://h/", r#"{"transport":"tcp"}"#, "transport"),
            ("http://h/", r#"{"datagram":"mtu"}"#, "datagram"),
            ("http://h/", r#"{"transport":"udp","gzip":true}"#, "gzip"),
            ("http://h/", r#"{"transport":"udp","udp":"h:0"}"#, "udp"),
            ("http://h/", r#"{"transport":"udp","udp":"h:x"}"#, "udp"),
            ("http://h/", r#"{"ca":"/x"}"#, "ca"),
            ("http://h/", r#"{"password_file":"/x"}"#, "username"),
            ("http://a@h/", r#"{"username":"b"}"#, "username"),
            ("http://a:b@h/", r#"{"password_file":"/x"}"#, "password_file"),
        ] {
            let error = config(url, settings).unwrap_err();
            assert_eq!(error.key, key, "{url} {settings}: {error}");
            assert!(!error.message.contains("s3cret"));
        }
    }
}
