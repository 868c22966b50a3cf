//! The server: where it is, whom to trust there, who we are, and a new connection to it.

use super::{
    connection::{Connection, Stream},
    error, tls,
};
use base64::Engine as _;
use hyper::{HeaderMap, header::HeaderValue};
use iotbench_core::{Action, Cause, Error};
use rustls::{ClientConfig, pki_types::ServerName};
use std::{
    fmt, fs, io,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, OnceLock},
};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Whose certificate is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// One of the host's name, signed by an authority that browsers trust.
    PublicAuthorities,
    /// One of the host's name, signed by an authority in this PEM file.
    Authorities(PathBuf),
    /// Any.
    Anybody,
}

/// A password, or the file that holds it.
#[derive(PartialEq, Eq)]
pub enum Password {
    /// The password.
    Known(String),
    /// The file, which is read with the first connection.
    InFile(PathBuf),
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Who we are.
#[derive(Debug, PartialEq, Eq)]
pub struct Credentials {
    /// Empty where the password is a token, which needs none.
    pub username: String,
    /// What shows it.
    pub password: Password,
}

/// What is worked out once, with the first connection: files are read then and not before.
#[derive(Debug)]
struct Prepared {
    authorization: Option<HeaderValue>,
    tls: Option<Arc<ClientConfig>>,
}

/// The way to a server: all that a new connection takes, and what every request on it carries.
#[derive(Clone, Debug)]
pub struct Way {
    host: String,
    port: u16,
    /// `None`: not encrypted.
    tls: Option<Arc<ClientConfig>>,
    pub(super) host_header: HeaderValue,
    pub(super) authorization: Option<HeaderValue>,
    /// Beside those that every request has.
    pub(super) headers: HeaderMap,
}

impl Way {
    /// A byte stream to the server, on which small requests are sent at once.
    ///
    /// # Errors
    /// Dns, Connect, Tls.
    pub(super) async fn stream(&self) -> Result<Box<dyn Stream>, Error> {
        let failed = |e: &io::Error| error::of_connect(e, &self.host, self.port);
        let addresses = resolve(&self.host, self.port).await?;
        let tcp = TcpStream::connect(addresses.as_slice()).await.map_err(|e| failed(&e))?;
        tcp.set_nodelay(true).map_err(|e| failed(&e))?;
        let Some(config) = &self.tls else { return Ok(Box::new(tcp)) };
        let name = ServerName::try_from(self.host.clone())
            .map_err(|e| Error::new(Cause::Tls, format!("{}: {e}", self.host)))?;
        let tls = TlsConnector::from(Arc::clone(config)).connect(name, tcp).await;
        Ok(Box::new(tls.map_err(|e| error::of_handshake(&e, &self.host))?))
    }
}

/// A server.
#[derive(Debug)]
pub struct Server {
    /// Its name or address, an address of version 6 without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// What stands before the path of each request, for servers behind a proxy.
    pub base_path: String,
    /// `None`: not encrypted.
    pub trust: Option<Trust>,
    /// `None`: nobody in particular.
    pub credentials: Option<Credentials>,
    /// What each request carries beside; one that holds a secret says so ([`HeaderValue::set_sensitive`]).
    pub headers: HeaderMap,
    prepared: OnceLock<Prepared>,
}

impl Server {
    /// A server that has not been looked for yet.
    pub fn new(
        host: String,
        port: u16,
        base_path: String,
        trust: Option<Trust>,
        credentials: Option<Credentials>,
    ) -> Self {
        let headers = HeaderMap::new();
        Self { host, port, base_path, trust, credentials, headers, prepared: OnceLock::new() }
    }

    /// A new connection.
    ///
    /// # Errors
    /// Dns, Connect, Tls; Client when our own files cannot be read.
    pub async fn connect(&self) -> Result<Connection, Error> {
        let Prepared { authorization, tls } = self.prepared()?;
        let way = Way {
            host: self.host.clone(),
            port: self.port,
            tls: tls.clone(),
            host_header: self.host_header()?,
            authorization: authorization.clone(),
            headers: self.headers.clone(),
        };
        Connection::open(way).await
    }

    fn host_header(&self) -> Result<HeaderValue, Error> {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        HeaderValue::try_from(format!("{host}:{}", self.port)).map_err(|e| Error::new(Cause::Client, e))
    }

    fn prepared(&self) -> Result<&Prepared, Error> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let authorization = self.credentials.as_ref().map(Credentials::header).transpose()?;
        let tls = self.trust.as_ref().map(tls::config).transpose()?;
        Ok(self.prepared.get_or_init(|| Prepared { authorization, tls }))
    }
}

impl Password {
    /// The password itself.
    pub fn read(&self) -> Result<String, Error> {
        Ok(match self {
            Self::Known(password) => password.clone(),
            Self::InFile(file) => {
                fs::read_to_string(file).map_err(|e| unreadable(file, &e))?.trim_end_matches(['\r', '\n']).to_owned()
            }
        })
    }
}

impl Credentials {
    fn header(&self) -> Result<HeaderValue, Error> {
        let password = self.password.read()?;
        let text = if self.username.is_empty() {
            format!("Token {password}")
        } else {
            format!("Basic {}", base64::prelude::BASE64_STANDARD.encode(format!("{}:{password}", self.username)))
        };
        let mut header = HeaderValue::try_from(text)
            .map_err(|_| Error::new(Cause::Client, "user and password make no HTTP header"))?;
        header.set_sensitive(true);
        Ok(header)
    }
}

/// A file of ours that cannot be read.
pub fn unreadable(file: &std::path::Path, error: &dyn fmt::Display) -> Error {
    Error::new(Cause::Client, format!("{}: {error}", file.display())).action(Action::Stop)
}

/// The addresses of a host.
pub async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, Error> {
    let found = tokio::net::lookup_host((host, port)).await;
    let addresses: Vec<_> = found.map_err(|e| Error::new(Cause::Dns, format!("{host}: {e}")))?.collect();
    if addresses.is_empty() {
        return Err(Error::new(Cause::Dns, format!("{host} has no address")));
    }
    Ok(addresses)
}
