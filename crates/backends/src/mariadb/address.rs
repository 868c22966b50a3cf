//! Where a server is and how it is reached, from the URL.

use super::config::{Config, refused};
use iotbench_core::{Endpoint, SettingError, Target};
use percent_encoding::percent_decode_str;
use sqlx::{
    ConnectOptions,
    mysql::{MySqlConnectOptions, MySqlSslMode},
};
use std::{fmt, path::PathBuf};

/// The database that is used, and created, when the URL names none.
pub(crate) const DEFAULT_DATABASE: &str = "iotbench";
/// The port where the URL names none.
pub(crate) const DEFAULT_PORT: u16 = 3306;
/// The environment variable with the password, where neither URL nor file has one.
pub(crate) const PASSWORD_VARIABLE: &str = "IOTBENCH_MARIADB_PASSWORD";
const SCHEMES: [&str; 2] = ["mysql", "mariadb"];
const SYSTEM_DATABASES: [&str; 4] = ["mysql", "information_schema", "performance_schema", "sys"];
const MAX_NAME_CHARACTERS: usize = 64;
/// Of one connection; a server keeps 16,382 for all of them.
const CACHED_STATEMENTS: usize = 32;

/// A password, never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Whether and how a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    /// Plain text.
    None,
    /// Encrypted to whoever answers.
    Unchecked,
    /// The certificate's authority is checked.
    Authority,
    /// The certificate's authority and its host name are checked.
    Full,
}

impl Encryption {
    /// The word for it in results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unchecked => "certificate not checked",
            Self::Authority => "authority checked",
            Self::Full => "authority and host name checked",
        }
    }
}

/// A server, who logs in, and which database is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) socket: Option<PathBuf>,
    pub(crate) user: String,
    pub(crate) password: Option<Secret>,
    pub(crate) encryption: Encryption,
    /// The database that holds our table.
    pub(crate) database: String,
    /// The URL names no database: ours is created where it is missing.
    pub(crate) is_default_database: bool,
}

impl Address {
    /// The address that a target means.
    ///
    /// # Errors
    /// What is no address of one MySQL server, or would fall back to plain text unseen.
    pub(crate) fn new(target: &Target) -> Result<Self, SettingError> {
        let url_error = |message: String| refused("url", message);
        let endpoint = match target.endpoints.as_slice() {
            [endpoint] => endpoint,
            [] => return Err(url_error("give the server as mysql://USER@HOST:PORT/DATABASE".into())),
            several => return Err(url_error(format!("one server is loaded, and {} were given", several.len()))),
        };
        let url = endpoint.expose();
        if !SCHEMES.contains(&url.scheme()) {
            return Err(url_error(format!(
                "{endpoint} is no MariaDB or MySQL server: write mysql://HOST or mariadb://HOST"
            )));
        }
        if url.fragment().is_some() {
            return Err(url_error("write # in a name or password as %23".into()));
        }
        let options = UrlOptions::new(endpoint)?;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        if host.is_empty() && options.socket.is_none() {
            return Err(url_error(format!("{endpoint} names no host: write mysql://HOST or mariadb://HOST")));
        }
        let decoded = |part: &str| {
            let text = percent_decode_str(part).decode_utf8().map(std::borrow::Cow::into_owned);
            text.map_err(|_| url_error(format!("{endpoint} holds a part that is not UTF-8")))
        };
        let user = decoded(url.username())?;
        let database = decoded(url.path().trim_start_matches('/'))?;
        let is_local = options.socket.is_some() || is_loopback(&host);
        Ok(Self {
            encryption: options.encryption(is_local, target.insecure)?,
            host: if host.is_empty() { "localhost".into() } else { host },
            port: url.port().unwrap_or(DEFAULT_PORT),
            socket: options.socket,
            user: if user.is_empty() { "root".into() } else { user },
            password: url.password().map(decoded).transpose()?.map(Secret),
            is_default_database: database.is_empty(),
            database: database_name(database)?,
        })
    }

    /// The driver's options, with the password from wherever it is; `None` of it means none.
    pub(crate) fn options(&self, password: Option<&Secret>, ca: Option<Vec<u8>>) -> MySqlConnectOptions {
        let mut options = MySqlConnectOptions::new()
            .host(&self.host)
            .port(self.port)
            .username(&self.user)
            .ssl_mode(match self.encryption {
                Encryption::None => MySqlSslMode::Disabled,
                Encryption::Unchecked => MySqlSslMode::Required,
                Encryption::Authority => MySqlSslMode::VerifyCa,
                Encryption::Full => MySqlSslMode::VerifyIdentity,
            })
            // What a session needs is set by our own statement.
            .pipes_as_concat(false)
            .no_engine_substitution(false)
            .timezone(None)
            .set_names(false)
            .statement_cache_capacity(CACHED_STATEMENTS)
            .disable_statement_logging();
        if let Some(socket) = &self.socket {
            options = options.socket(socket);
        }
        if let Some(Secret(password)) = password.filter(|secret| !secret.0.is_empty()) {
            options = options.password(password);
        }
        match ca {
            Some(pem) => options.ssl_ca_from_pem(pem),
            None => options,
        }
    }

    /// Where it is, for messages.
    pub(crate) fn shown(&self) -> String {
        match &self.socket {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", self.host, self.port),
        }
    }

    /// Checks that what a setting needs of an encrypted connection is there.
    ///
    /// # Errors
    /// An authority to trust on a connection that trusts nobody.
    pub(crate) fn refuse_idle_ca(&self, config: &Config) -> Result<(), SettingError> {
        let is_idle = matches!(self.encryption, Encryption::None | Encryption::Unchecked) && config.ca.is_some();
        if is_idle { Err(refused("ca", "no certificate is checked: write sslmode=verify-full".into())) } else { Ok(()) }
    }
}

/// What follows the question mark.
#[derive(Default)]
struct UrlOptions {
    mode: Option<String>,
    socket: Option<PathBuf>,
}

impl UrlOptions {
    fn new(endpoint: &Endpoint) -> Result<Self, SettingError> {
        let mut options = Self::default();
        for (key, value) in endpoint.expose().query_pairs() {
            match &*key {
                "sslmode" | "ssl-mode" => options.mode = Some(value.to_lowercase().replace('_', "-")),
                "socket" => options.socket = Some(PathBuf::from(&*value)),
                // Not repeated: it may be the rest of a password.
                _ => {
                    let known = "sslmode and socket are known; other options are settings of the backend";
                    return Err(refused("url", format!("there is no such option in a URL: {known}")));
                }
            }
        }
        Ok(options)
    }

    fn encryption(&self, is_local: bool, insecure: bool) -> Result<Encryption, SettingError> {
        let checked = |mode: Encryption| {
            let message = "certificates are to be checked (sslmode) and not to be checked (insecure): choose one";
            if insecure { Err(refused("url", message.into())) } else { Ok(mode) }
        };
        match self.mode.as_deref() {
            None if is_local => Ok(Encryption::None),
            None if insecure => Ok(Encryption::Unchecked),
            None => Ok(Encryption::Full),
            Some("disable" | "disabled") => Ok(Encryption::None),
            Some("require" | "required") => Ok(Encryption::Unchecked),
            Some("verify-ca") => checked(Encryption::Authority),
            Some("verify-full" | "verify-identity") => checked(Encryption::Full),
            Some(mode @ ("prefer" | "preferred" | "allow")) => {
                let message = format!("sslmode={mode} falls back to plain text unseen");
                Err(refused("url", format!("{message}: write disable, require, verify-ca or verify-full")))
            }
            Some(mode) => {
                let known = "disable, require, verify-ca or verify-full";
                Err(refused("url", format!("there is no sslmode {mode:?}: write {known}")))
            }
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn database_name(name: String) -> Result<String, SettingError> {
    if name.is_empty() {
        return Ok(DEFAULT_DATABASE.into());
    }
    let is_odd = name.contains(['/', '\\', '.']) || name.chars().any(char::is_control) || name.ends_with(' ');
    if is_odd || name.chars().count() > MAX_NAME_CHARACTERS {
        return Err(refused("url", format!("{name:?} cannot name a database")));
    }
    if SYSTEM_DATABASES.contains(&name.to_lowercase().as_str()) {
        return Err(refused("url", format!("{name} is the server's own database: choose another")));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(url: &str) -> Target {
        Target { endpoints: vec![Endpoint::new(url.parse().unwrap())], ..Target::default() }
    }

    fn address(url: &str) -> Address {
        Address::new(&target(url)).unwrap()
    }

    #[test]
    fn every_part_of_the_url_counts() {
        let found = address("mysql://me:p%40ss@db.example:3307/lab%20data");
        assert_eq!((found.host.as_str(), found.port, found.user.as_str()), ("db.example", 3307, "me"));
        assert_eq!((found.database.as_str(), found.is_default_database), ("lab data", false));
        assert_eq!(found.password, Some(Secret("p@ss".into())));
        assert!(!format!("{found:?}").contains("p@ss"));
        let found = address("mariadb://127.0.0.1");
        assert_eq!((found.user.as_str(), found.port, found.password.as_ref()), ("root", 3306, None));
        assert_eq!((found.database.as_str(), found.is_default_database), ("iotbench", true));
        let found = address("mysql://localhost/d?socket=/run/my.sock");
        assert_eq!((found.shown().as_str(), found.encryption), ("/run/my.sock", Encryption::None));
        assert_eq!(address("mysql://[::1]:1/d").host, "::1");
    }

    #[test]
    fn other_hosts_are_encrypted_and_checked_unless_the_url_says_otherwise() {
        for (url, encryption) in [
            ("mysql://127.0.0.1/d", Encryption::None),
            ("mysql://localhost/d", Encryption::None),
            ("mysql://[::1]/d", Encryption::None),
            ("mysql://10.0.0.1/d", Encryption::Full),
            ("mysql://db.example/d", Encryption::Full),
            ("mysql://db.example/d?sslmode=disable", Encryption::None),
            ("mysql://db.example/d?sslmode=require", Encryption::Unchecked),
            ("mysql://db.example/d?ssl-mode=VERIFY_CA", Encryption::Authority),
            ("mysql://127.0.0.1/d?ssl-mode=VERIFY_IDENTITY", Encryption::Full),
        ] {
            assert_eq!(address(url).encryption, encryption, "{url}");
        }
        let insecure = |url| Address::new(&Target { insecure: true, ..target(url) });
        assert_eq!(insecure("mysql://db.example/d").unwrap().encryption, Encryption::Unchecked);
        assert!(insecure("mysql://db.example/d?sslmode=verify-full").is_err());
    }

    #[test]
    fn what_is_no_address_of_a_server_is_refused() {
        for (url, part) in [
            ("postgres://h/d", "no MariaDB or MySQL"),
            ("mysql:///d", "no host"),
            ("mysql://h/mysql", "server's own"),
            ("mysql://h/a%2fb", "cannot name"),
            ("mysql://h/d?sslmode=prefer", "plain text"),
            ("mysql://h/d?sslmode=sometimes", "no sslmode"),
            ("mysql://h/d?charset=latin1", "no such option"),
            ("mysql://h/d#x", "%23"),
        ] {
            let error = Address::new(&target(url)).unwrap_err();
            assert!(error.key == "url" && error.message.contains(part), "{url}: {error}");
        }
        assert!(Address::new(&Target::default()).is_err());
        let endpoint = |url: &str| Endpoint::new(url.parse().unwrap());
        let two = vec![endpoint("mysql://a/d"), endpoint("mysql://b/d")];
        assert!(Address::new(&Target { endpoints: two, ..Target::default() }).is_err());
    }

    #[test]
    fn no_message_holds_a_password() {
        for url in ["postgres://me:s3cret@h/d", "mysql://me:s3cret@h/d?x=s3cret", "mysql://me:s3cret@h/d#s3cret"] {
            assert!(!Address::new(&target(url)).unwrap_err().to_string().contains("s3cret"), "{url}");
        }
    }
}
