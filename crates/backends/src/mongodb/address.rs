//! What the addresses of MongoDB say, and the driver's options that they become.

use super::{config::Config, recipe::MAX_SHARDS};
use iotbench_core::{Endpoint, Name, Opens, SettingError, Target};
use mongodb::options::{AuthMechanism, ClientOptions, ConnectionString, Credential, ServerAddress, Tls, TlsOptions};
use std::{fmt, fs, net::IpAddr, path::PathBuf, time::Duration};

/// The variable that may hold the password.
const PASSWORD_VARIABLE: &str = "IOTBENCH_MONGODB_PASSWORD";
/// The port where the URL names none.
pub(crate) const DEFAULT_PORT: u16 = 27017;
const DEFAULT_DATABASE: &str = "iotbench";
/// Databases of the server's own. In a URL they say where the user is known, not where data goes.
const OF_THE_SERVER: [&str; 3] = ["admin", "config", "local"];
/// The driver waits so long for a server that takes the operation, as during an election; then it has failed.
const SELECTION: Duration = Duration::from_secs(2);
/// An attempt to connect has failed after so long.
const CONNECT: Duration = Duration::from_secs(10);
/// How many connections a pool opens at a time.
const CONNECTING: u32 = 64;

fn refuse(key: &str, message: impl fmt::Display) -> SettingError {
    SettingError { key: key.into(), message: message.to_string(), suggestion: None }
}

/// Where the servers are, who we are there, and which database is ours to use.
#[derive(Clone)]
pub(crate) struct Address {
    options: ClientOptions,
    pub(crate) database: Name,
    /// Read when a connection is made.
    password_file: Option<PathBuf>,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The options hold the password.
        f.debug_struct("Address").field("hosts", &self.options.hosts).field("database", &self.database).finish()
    }
}

impl Address {
    /// The address that a target means: several endpoints are the members of one set, or the routers of one cluster.
    /// `variable` looks up the environment.
    ///
    /// # Errors
    /// No address, another scheme, a part of the URL that is not understood, addresses that differ in more than the host.
    pub(crate) fn of(
        target: &Target,
        config: &Config,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingError> {
        let (first, others) = target.endpoints.split_first().ok_or_else(|| no_address(config))?;
        let mut options = options(first, target.insecure, config)?;
        for other in others {
            if apart_from_host(first) != apart_from_host(other) {
                return Err(refuse(
                    "url",
                    "the addresses of one cluster differ in host and port alone: write the rest alike",
                ));
            }
            options.hosts.extend(parse(other)?.hosts);
        }
        let of_url = options.default_database.clone().filter(|name| !OF_THE_SERVER.contains(&name.as_str()));
        let database = database(&config.database, of_url)?;
        let password_file = Some(config.password_file.clone()).filter(|file| !file.as_os_str().is_empty());
        check_password(options.credential.as_mut(), password_file.is_some(), variable)?;
        Ok(Self { options, database, password_file })
    }

    /// What is opened, of which the driver's own reading of the address says the hosts: it reads some addresses otherwise than
    /// others do.
    ///
    /// # Errors
    /// A way to log in whose token comes from a file that no address and no setting names.
    pub(crate) fn opens(&self, of_address: Opens) -> Result<Opens, SettingError> {
        let mechanism = self.options.credential.as_ref().and_then(|credential| credential.mechanism.as_ref());
        if matches!(mechanism, Some(AuthMechanism::MongoDbOidc)) {
            return Err(refuse("url", "MONGODB-OIDC gives the server a token of its machine: log in by a password"));
        }
        let mut opens = Opens { addresses: Vec::new(), ..of_address };
        for host in &self.options.hosts {
            match host {
                ServerAddress::Tcp { host, port } => {
                    let host = host.trim_matches(['[', ']']).to_owned();
                    opens.addresses.push((host, port.unwrap_or(DEFAULT_PORT)));
                }
                ServerAddress::Unix { path } => opens.sockets.push(path.clone()),
                // One that nobody knows is allowed by nobody.
                other => opens.addresses.push((other.to_string(), 0)),
            }
        }
        Ok(opens)
    }

    /// The driver's options, with the password.
    ///
    /// # Errors
    /// The file of the password cannot be read.
    pub(crate) fn options(&self) -> Result<ClientOptions, iotbench_core::Error> {
        let mut options = self.options.clone();
        if let (Some(file), Some(credential)) = (&self.password_file, &mut options.credential) {
            let text = fs::read_to_string(file).map_err(|e| {
                let message = format!("password_file {}: {e}", file.display());
                iotbench_core::Error::new(iotbench_core::Cause::Auth, message)
            })?;
            credential.password = Some(text.lines().next().unwrap_or_default().to_owned());
        }
        Ok(options)
    }

    /// How the connection is encrypted.
    pub(crate) fn encryption(&self) -> &'static str {
        match &self.options.tls {
            Some(Tls::Enabled(tls)) if tls.allow_invalid_certificates == Some(true) => "on, certificate not checked",
            Some(Tls::Enabled(_)) => "on, certificate and host name checked",
            Some(Tls::Disabled) | None => "off",
        }
    }
}

fn no_address(config: &Config) -> SettingError {
    if usize::from(config.shards) > MAX_SHARDS {
        return refuse(
            "shards",
            format!("a private cluster has 1 to {MAX_SHARDS} shards; one of more is named by --url"),
        );
    }
    refuse("url", "give the server as mongodb://USER@HOST:PORT/DATABASE")
}

/// Who we are there, the database and the options.
fn apart_from_host(endpoint: &Endpoint) -> (&str, Option<&str>, &str, Option<&str>) {
    let url = endpoint.expose();
    (url.username(), url.password(), url.path().trim_matches('/'), url.query())
}

/// What a URL says; the driver's messages do not repeat it.
fn parse(endpoint: &Endpoint) -> Result<ConnectedAs, SettingError> {
    let url = endpoint.expose();
    match url.scheme() {
        "mongodb" => {}
        "mongodb+srv" => {
            return Err(refuse("url", "name a server itself: mongodb://HOST:PORT/; DNS is not asked for more"));
        }
        _ => return Err(refuse("url", format!("{endpoint} is no MongoDB: write mongodb://HOST:27017/"))),
    }
    if url.fragment().is_some() {
        return Err(refuse("url", "write # in a password or name as %23"));
    }
    if url.query_pairs().any(|(key, value)| key == "compressors" && value.to_lowercase().contains("zstd")) {
        return Err(refuse("url", "compressors=zstd is not built in (it is a library in C): write zlib or snappy"));
    }
    // What the driver says of it repeats parts, which may be secret.
    let wrong =
        |_| refuse("url", "the driver does not take it: options of the URL are those of MongoDB, each as KEY=VALUE");
    let connection = ConnectionString::parse(url.as_str()).map_err(wrong)?;
    if connection.write_concern.is_some() {
        return Err(refuse("url", "leave w, journal and wtimeoutMS out: the settings w and j say it"));
    }
    let hosts = match &connection.host_info {
        mongodb::options::HostInfo::HostIdentifiers(hosts) => hosts.clone(),
        _ => return Err(refuse("url", "name a server itself: mongodb://HOST:PORT/")),
    };
    Ok(ConnectedAs { connection, hosts: hosts.into_iter().map(with_port).collect() })
}

fn with_port(address: ServerAddress) -> ServerAddress {
    match address {
        ServerAddress::Tcp { host, port } => ServerAddress::Tcp { host, port: port.or(Some(DEFAULT_PORT)) },
        // A socket.
        other => other,
    }
}

struct ConnectedAs {
    connection: ConnectionString,
    hosts: Vec<ServerAddress>,
}

fn options(endpoint: &Endpoint, insecure: bool, config: &Config) -> Result<ClientOptions, SettingError> {
    let ConnectedAs { connection, hosts } = parse(endpoint)?;
    let mut options = ClientOptions::default();
    options.tls = Some(tls(&connection, &hosts, insecure, config)?);
    options.hosts = hosts;
    options.app_name = Some("iotbench".into());
    options.credential = connection.credential;
    options.default_database = connection.default_database;
    options.repl_set_name = connection.replica_set;
    options.direct_connection = connection.direct_connection;
    options.compressors = connection.compressors;
    // Retries would hide in the service time, and a connection is waited for by whoever measures.
    options.retry_writes = Some(false);
    options.retry_reads = Some(false);
    options.max_adaptive_retries = Some(0);
    options.max_pool_size = Some(u32::MAX);
    options.max_connecting = Some(CONNECTING);
    options.server_selection_timeout = Some(connection.server_selection_timeout.unwrap_or(SELECTION));
    options.connect_timeout = Some(connection.connect_timeout.unwrap_or(CONNECT));
    Ok(options)
}

/// Another machine is reached encrypted, unless the URL says `tls=false`.
fn tls(
    connection: &ConnectionString,
    hosts: &[ServerAddress],
    insecure: bool,
    config: &Config,
) -> Result<Tls, SettingError> {
    let is_here = hosts.iter().all(is_loopback);
    let mut tls = match &connection.tls {
        Some(Tls::Enabled(tls)) => tls.clone(),
        Some(Tls::Disabled) => return no_tls(config),
        None if is_here && config.ca.as_os_str().is_empty() => return Ok(Tls::Disabled),
        None => TlsOptions::default(),
    };
    if !config.ca.as_os_str().is_empty() {
        tls.ca_file_path = Some(config.ca.clone());
    }
    if insecure {
        tls.allow_invalid_certificates = Some(true);
    }
    Ok(Tls::Enabled(tls))
}

fn no_tls(config: &Config) -> Result<Tls, SettingError> {
    if config.ca.as_os_str().is_empty() {
        Ok(Tls::Disabled)
    } else {
        Err(refuse("ca", "the URL says tls=false: only an encrypted connection has certificates"))
    }
}

fn is_loopback(address: &ServerAddress) -> bool {
    match address {
        ServerAddress::Tcp { host, .. } => {
            let host = host.trim_matches(['[', ']']);
            host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        }
        // A socket.
        _ => true,
    }
}

fn database(setting: &str, of_url: Option<String>) -> Result<Name, SettingError> {
    let setting = Some(setting).filter(|name| !name.is_empty()).map(ToOwned::to_owned);
    let name = match (setting, of_url) {
        (Some(a), Some(b)) if a != b => return Err(refuse("database", "the URL says otherwise: give it once")),
        (a, b) => a.or(b).unwrap_or_else(|| DEFAULT_DATABASE.into()),
    };
    let name = Name::new(&name).map_err(|e| refuse("database", e))?;
    if OF_THE_SERVER.contains(&name.as_str()) {
        return Err(refuse("database", format!("{name} is the server's own: choose another")));
    }
    Ok(name)
}

/// Takes the password from the environment where the URL has a user without one.
fn check_password(
    credential: Option<&mut Credential>,
    in_file: bool,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), SettingError> {
    match credential {
        None if in_file => Err(refuse("password_file", "a password needs a user: mongodb://USER@HOST/")),
        None => Ok(()),
        Some(credential) if credential.password.is_some() && in_file => {
            Err(refuse("password_file", "the URL has a password too: give it once"))
        }
        Some(credential) => {
            if credential.password.is_none() && !in_file {
                credential.password = variable(PASSWORD_VARIABLE);
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Settings;

    fn address_with(url: &str, settings: &str, insecure: bool) -> Result<Address, SettingError> {
        let target = Target { endpoints: vec![Endpoint::new(url.parse().unwrap())], insecure, ..Target::default() };
        let config = Config::new(&Settings(serde_json::from_str(settings).unwrap()))?;
        Address::of(&target, &config, &|_| Some("of-environment".into()))
    }

    fn address(url: &str, settings: &str) -> Result<Address, SettingError> {
        address_with(url, settings, false)
    }

    #[test]
    fn an_address_alone_is_enough() {
        let local = address("mongodb://127.0.0.1/", "{}").unwrap();
        assert_eq!((local.database.as_str(), local.encryption()), ("iotbench", "off"));
        let remote = address("mongodb://db.example/mine?replicaSet=r", "{}").unwrap();
        assert_eq!((remote.database.as_str(), remote.encryption()), ("mine", "on, certificate and host name checked"));
        let unchecked = address_with("mongodb://db.example/", "{}", true).unwrap();
        assert_eq!(unchecked.encryption(), "on, certificate not checked");
        assert_eq!(address("mongodb://db.example/?tls=false", "{}").unwrap().encryption(), "off");
        assert_eq!(address("mongodb://h/admin", r#"{"database":"d"}"#).unwrap().database.as_str(), "d");
    }

    #[test]
    fn what_compresses_is_what_is_built_in() {
        let of = |names: &str| address(&format!("mongodb://h/?compressors={names}"), "{}").unwrap().options().unwrap();
        let names = |options: ClientOptions| options.compressors.map(|all| all.len());
        assert_eq!([names(of("zlib,snappy")), names(of("snappy"))], [Some(2), Some(1)]);
        let refused = address("mongodb://h/?compressors=snappy,ZSTD", "{}").unwrap_err();
        assert!(refused.message.contains("write zlib or snappy"), "{refused}");
    }

    #[test]
    fn credentials_are_never_shown() {
        let in_url = address("mongodb://me:s3cr%40t@h/", "{}").unwrap();
        let password = |address: &Address| address.options().unwrap().credential.unwrap().password;
        assert_eq!(password(&in_url).as_deref(), Some("s3cr@t"));
        assert!(!format!("{in_url:?}").contains("s3cr"));
        assert_eq!(password(&address("mongodb://me@h/", "{}").unwrap()).as_deref(), Some("of-environment"));
        let refused = address("mongodb://me:s3cret@h/?nonsense=s3cret", "{}").unwrap_err();
        assert!(!refused.message.contains("me:s3cret"), "{refused}");
    }

    #[test]
    fn several_addresses_are_the_hosts_of_one_cluster() {
        let of = |urls: &[&str]| {
            let endpoints = urls.iter().map(|url| Endpoint::new(url.parse().unwrap())).collect();
            let target = Target { endpoints, ..Target::default() };
            Address::of(&target, &Config::default(), &|_| None)
        };
        assert_eq!(of(&[]).unwrap_err().key, "url");
        let many = Config { shards: 9, ..Config::default() };
        assert_eq!(Address::of(&Target::default(), &many, &|_| None).unwrap_err().key, "shards");
        let hosts = of(&["mongodb://me:p@a:1/d", "mongodb://me:p@b:2/d"]).unwrap().options.hosts;
        assert_eq!(hosts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a:1", "b:2"]);
        assert_eq!(of(&["mongodb://a/"]).unwrap().options.hosts[0].to_string(), "a:27017");
        for other in
            ["mongodb://b:2/d", "mongodb://me:q@b:2/d", "mongodb://me:p@b:2/e", "mongodb://me:p@b:2/d?tls=true"]
        {
            let error = of(&["mongodb://me:p@a:1/d", other]).unwrap_err();
            assert!(error.key == "url" && error.message.contains("host and port alone"), "{other}: {error}");
        }
    }

    #[test]
    fn what_cannot_be_taken_is_named() {
        for (url, settings, key) in [
            ("mysql://h/", "{}", "url"),
            ("mongodb+srv://h/", "{}", "url"),
            ("mongodb://h/?replicaset_=x", "{}", "url"),
            ("mongodb://h/?w=1", "{}", "url"),
            ("mongodb://h/?journal=true", "{}", "url"),
            ("mongodb://h/a", r#"{"database":"b"}"#, "database"),
            ("mongodb://h/", r#"{"database":"admin"}"#, "database"),
            ("mongodb://h/", r#"{"database":"A.b"}"#, "database"),
            ("mongodb://h/", r#"{"password_file":"/x"}"#, "password_file"),
            ("mongodb://me:p@h/", r#"{"password_file":"/x"}"#, "password_file"),
            ("mongodb://h/?tls=false", r#"{"ca":"/x"}"#, "ca"),
            ("mongodb://h/", r#"{"w":0}"#, "w"),
            ("mongodb://h/", r#"{"w":"most"}"#, "w"),
            ("mongodb://h/", r#"{"j":1}"#, "j"),
            ("mongodb://h/", r#"{"precision":"us"}"#, "precision"),
            ("mongodb://h/", r#"{"index":"tag"}"#, "index"),
        ] {
            assert_eq!(address(url, settings).unwrap_err().key, key, "{url} {settings}");
        }
    }
}
