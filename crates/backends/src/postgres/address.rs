//! Where the server is, who we are there, and whether the connection is encrypted.

use iotbench_core::{SettingError, Target};
use percent_encoding::percent_decode_str;
use sqlx::postgres::PgSslMode;
use std::{fmt, net::IpAddr};

/// The database that is used where the URL names none.
pub(crate) const OWN_DATABASE: &str = "iotbench";
/// The port where the URL names none.
pub(crate) const DEFAULT_PORT: u16 = 5432;
/// The variable that may hold the password.
const PASSWORD_VARIABLE: &str = "IOTBENCH_POSTGRES_PASSWORD";

/// A password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(secret: String) -> Self {
        Self(secret)
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

/// How the connection is encrypted. None of these falls back to plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tls {
    Off,
    /// Encrypted to whoever answers.
    Unchecked,
    /// The certificate is checked. Its host name need not be, but sqlx 0.8.6 refuses another one all the same.
    VerifyCa,
    VerifyFull,
}

impl Tls {
    pub(crate) fn mode(self) -> PgSslMode {
        match self {
            Self::Off => PgSslMode::Disable,
            Self::Unchecked => PgSslMode::Require,
            Self::VerifyCa => PgSslMode::VerifyCa,
            Self::VerifyFull => PgSslMode::VerifyFull,
        }
    }

    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Unchecked => "on, certificate not checked",
            Self::VerifyCa => "on, certificate checked",
            Self::VerifyFull => "on, certificate and host name checked",
        }
    }
}

/// A server, an account and a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// A name, an IP address, or the folder of a socket, which begins with `/`.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<Secret>,
    /// `None` where the URL names none.
    pub(crate) database: Option<String>,
    pub(crate) tls: Tls,
}

impl Address {
    /// The address that a target means. `variable` looks up the environment.
    ///
    /// # Errors
    /// No address or several, another scheme, a part of the URL that is not understood.
    pub(crate) fn of(target: &Target, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let endpoint = match target.endpoints.as_slice() {
            [endpoint] => endpoint,
            [] => return Err(refuse("give the server as postgres://USER@HOST:PORT/DATABASE")),
            several => {
                return Err(refuse(&format!("one server is loaded, and {} addresses were given", several.len())));
            }
        };
        let url = endpoint.expose();
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(refuse(&format!("{endpoint} is no PostgreSQL server: write postgres://HOST/DATABASE")));
        }
        if url.fragment().is_some() {
            return Err(refuse("write # in a password or name as %23"));
        }
        let (mut socket, mut mode) = (None, None);
        for (key, value) in url.query_pairs() {
            match key.as_ref() {
                "host" if value.starts_with('/') => socket = Some(value.into_owned()),
                "host" => return Err(refuse("?host= takes the folder of a socket, from the root")),
                "sslmode" => mode = Some(value.into_owned()),
                // Not repeated: it may be the rest of a password.
                _ => {
                    return Err(refuse(
                        "what follows the ? is not known: sslmode and host are; settings have the rest",
                    ));
                }
            }
        }
        let host = match (socket, url.host_str().filter(|host| !host.is_empty())) {
            (Some(socket), None) => socket,
            (None, Some(host)) => decode(host.trim_start_matches('[').trim_end_matches(']'), "host")?,
            (None, None) => return Err(refuse("the address names no host: write postgres://HOST/DATABASE")),
            (Some(_), Some(_)) => return Err(refuse("the address names a host and a socket: leave one of them out")),
        };
        let user = Some(url.username()).filter(|user| !user.is_empty());
        let password = url.password().map(|password| decode(password, "password")).transpose()?;
        Ok(Self {
            tls: tls(mode.as_deref(), &host, target.insecure)?,
            host,
            port: url.port().unwrap_or(DEFAULT_PORT),
            user: user.map(|user| decode(user, "user")).transpose()?,
            password: password.or_else(|| variable(PASSWORD_VARIABLE)).map(Secret::new),
            database: database(url.path())?,
        })
    }
}

fn refuse(message: &str) -> SettingError {
    SettingError { key: "url".into(), message: message.into(), suggestion: None }
}

/// A part of the URL as text. What is wrong with it is told without showing it.
fn decode(text: &str, part: &str) -> Result<String, SettingError> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| refuse(&format!("the {part} is not UTF-8")))?;
    if decoded.contains('\0') { Err(refuse(&format!("the {part} holds NUL"))) } else { Ok(decoded.into_owned()) }
}

fn database(path: &str) -> Result<Option<String>, SettingError> {
    let path = path.strip_prefix('/').unwrap_or(path);
    if path.contains('/') {
        return Err(refuse("the path of the address is one database: write / in its name as %2F"));
    }
    let name = decode(path, "database")?;
    Ok(Some(name).filter(|name| !name.is_empty()))
}

/// Plain text on this machine, else encrypted with all checks, unless `sslmode` or `--insecure` says otherwise.
fn tls(mode: Option<&str>, host: &str, insecure: bool) -> Result<Tls, SettingError> {
    let tls = match mode {
        None if is_local(host) => Tls::Off,
        None | Some("verify-full") => Tls::VerifyFull,
        Some("verify-ca") => Tls::VerifyCa,
        Some("require") => Tls::Unchecked,
        Some("disable") => Tls::Off,
        Some("prefer" | "allow") => {
            return Err(refuse(
                "sslmode prefer and allow fall back to plain text silently: choose disable, require, verify-ca or verify-full",
            ));
        }
        Some(_) => return Err(refuse("sslmode is disable, require, verify-ca or verify-full")),
    };
    Ok(match tls {
        Tls::VerifyCa | Tls::VerifyFull if insecure => Tls::Unchecked,
        tls => tls,
    })
}

fn is_local(host: &str) -> bool {
    host.starts_with('/') || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Endpoint;

    fn target(url: &str) -> Target {
        Target { endpoints: vec![Endpoint::new(url.parse().unwrap())], ..Target::default() }
    }

    fn address(url: &str) -> Result<Address, SettingError> {
        Address::of(&target(url), &|_| None)
    }

    #[test]
    fn every_part_of_the_url_is_understood() {
        let got = address("postgres://m%40e:s%23cret@db.example:6543/my%2Fdb").unwrap();
        let expected = Address {
            host: "db.example".into(),
            port: 6543,
            user: Some("m@e".into()),
            password: Some(Secret("s#cret".into())),
            database: Some("my/db".into()),
            tls: Tls::VerifyFull,
        };
        assert_eq!(got, expected);
        assert!(!format!("{got:?}").contains("s#cret"));
        let got = address("postgresql://[::1]").unwrap();
        assert_eq!((got.host.as_str(), got.port, got.database, got.tls), ("::1", 5432, None, Tls::Off));
        let got = address("postgres:///db?host=/run/postgresql").unwrap();
        assert_eq!((got.host.as_str(), got.tls), ("/run/postgresql", Tls::Off));
    }

    #[test]
    fn the_password_of_the_url_comes_before_that_of_the_environment() {
        let variable = |name: &str| (name == PASSWORD_VARIABLE).then(|| "other".to_owned());
        let password = |url| Address::of(&target(url), &variable).unwrap().password.unwrap();
        assert_eq!(password("postgres://me:own@h/db").expose(), "own");
        assert_eq!(password("postgres://me@h/db").expose(), "other");
    }

    #[test]
    fn other_machines_are_reached_encrypted_and_checked() {
        let table = [
            ("postgres://h/d", false, Tls::VerifyFull),
            ("postgres://10.0.0.1/d", false, Tls::VerifyFull),
            ("postgres://localhost/d", false, Tls::Off),
            ("postgres://127.0.0.9/d", false, Tls::Off),
            ("postgres://localhost/d?sslmode=verify-full", false, Tls::VerifyFull),
            ("postgres://h/d?sslmode=verify-ca", false, Tls::VerifyCa),
            ("postgres://h/d?sslmode=require", false, Tls::Unchecked),
            ("postgres://h/d?sslmode=disable", false, Tls::Off),
            ("postgres://h/d", true, Tls::Unchecked),
            ("postgres://h/d?sslmode=disable", true, Tls::Off),
        ];
        for (url, insecure, expected) in table {
            let target = Target { insecure, ..target(url) };
            assert_eq!(Address::of(&target, &|_| None).unwrap().tls, expected, "{url} {insecure}");
        }
    }

    #[test]
    fn what_is_not_understood_is_refused_without_showing_secrets() {
        for url in [
            "mysql://me:hunter2@h/d",
            "postgres:///d",
            "postgres://me:hunter2@h/a/b",
            "postgres://me:hunter2@h/d#x",
            "postgres://me:hunter2@h/d?sslmode=prefer",
            "postgres://me:hunter2@h/d?sslmode=allow",
            "postgres://me:hunter2@h/d?sslmode=on",
            "postgres://me:hunter2@h/d?password=hunter2",
            "postgres://me:hunter2@h/d?host=other",
            "postgres://me:hunter2@h/d?host=/tmp",
            "postgres://me:hunter2%00@h/d",
            "postgres://me:hunter2%ff@h/d",
        ] {
            let error = address(url).unwrap_err();
            assert_eq!(error.key, "url", "{url}: {error}");
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
        assert!(Address::of(&Target::default(), &|_| None).is_err());
        let two = Target {
            endpoints: [target("postgres://a").endpoints, target("postgres://b").endpoints].concat(),
            ..Target::default()
        };
        assert!(Address::of(&two, &|_| None).is_err());
    }
}
