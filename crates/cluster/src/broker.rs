//! The NATS server between coordinator and agents: how it is reached.

use crate::ClusterError;
use async_nats::{Client, ConnectErrorKind, ConnectOptions, ServerAddr};
use percent_encoding::percent_decode_str;
use std::{net::IpAddr, path::PathBuf, time::Duration};

/// From a lost connection to the next attempt, and between attempts: well within a lease.
const RECONNECT: Duration = Duration::from_millis(200);
/// How long an attempt may take.
const CONNECT: Duration = Duration::from_secs(5);

/// Where the broker is, and how it lets one in.
#[derive(Clone)]
pub struct Broker {
    addresses: Vec<ServerAddr>,
    credentials: Option<PathBuf>,
    authority: Option<PathBuf>,
}

impl std::fmt::Debug for Broker {
    /// Without what the addresses may hold of secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Broker").field("at", &self.shown()).finish_non_exhaustive()
    }
}

impl Broker {
    /// The broker at these addresses, with commas between those of one cluster: `nats://host:4222`, or `tls://host:4222` for
    /// an encrypted connection. A user and password, or a token, may stand before the host. `credentials`: a file of NATS
    /// (`.creds`), or one of a single line, `user:password` or a token; `authority`: the certificates, in PEM, that vouch for the broker, where the system's do not.
    ///
    /// # Errors
    /// An address that is none; it is not repeated, because it may hold a password.
    pub fn new(
        addresses: &str,
        credentials: Option<PathBuf>,
        authority: Option<PathBuf>,
    ) -> Result<Self, ClusterError> {
        let addresses = addresses.split(',').map(|address| {
            let whole = Some(address.trim()).filter(|address| !is_cut_off(address)).ok_or(ClusterError::NoAddress)?;
            let address: ServerAddr = whole.parse().map_err(|_| ClusterError::NoAddress)?;
            if address.host().is_empty() { Err(ClusterError::NoAddress) } else { Ok(address) }
        });
        let addresses = addresses.collect::<Result<Vec<ServerAddr>, _>>()?;
        Ok(Self { addresses, credentials, authority })
    }

    /// Its addresses without secrets.
    #[must_use]
    pub fn shown(&self) -> String {
        let shown = |address: &ServerAddr| {
            let host = address.host().trim_matches(['[', ']']);
            let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
            format!("{}://{host}:{}", address.scheme(), address.port())
        };
        self.addresses.iter().map(shown).collect::<Vec<_>>().join(",")
    }

    /// Those of its addresses where passwords and data go over a network in clear text, without secrets; `None`: they do nowhere.
    #[must_use]
    pub fn in_clear_text(&self) -> Option<String> {
        let open: Vec<_> = self.addresses.iter().filter(|at| !is_encrypted(at) && !is_loopback(at)).cloned().collect();
        (!open.is_empty()).then(|| Self { addresses: open, credentials: None, authority: None }.shown())
    }

    /// Refuses such an address, unless that is wanted.
    ///
    /// # Errors
    /// It is not.
    pub fn check_clear_text(&self, is_wanted: bool) -> Result<(), ClusterError> {
        self.in_clear_text().filter(|_| !is_wanted).map_or(Ok(()), |at| Err(ClusterError::ClearText(at)))
    }

    /// A connection that comes back by itself whenever it is lost.
    pub(crate) async fn connect(&self, name: &str) -> Result<Client, ClusterError> {
        let mut options = ConnectOptions::new()
            .name(name)
            .connection_timeout(CONNECT)
            // Opening the connections of a part may take longer than the default; each request has its own limit.
            .request_timeout(None)
            // A server of which another one tells is encrypted where those are that were named.
            .require_tls(self.addresses.iter().all(is_encrypted))
            .max_reconnects(None::<usize>)
            .reconnect_delay_callback(|_| RECONNECT);
        // Where one of this machine was named, it would have clear text go to another.
        if self.in_clear_text().is_none() && !self.addresses.iter().all(is_encrypted) {
            options = options.ignore_discovered_servers();
        }
        // The client library does not read them from the addresses.
        if let Some(entry) = self.addresses.iter().find_map(entry) {
            options = entry.given_to(options);
        }
        if let Some(file) = &self.credentials {
            let wrong = |e: std::io::Error| ClusterError::Credentials { file: file.clone(), why: e.to_string() };
            let text = std::fs::read_to_string(file).map_err(wrong)?;
            options = match Entry::of_file(&text) {
                Some(entry) => entry.given_to(options),
                None => options.credentials(&text).map_err(wrong)?,
            };
        }
        if let Some(file) = &self.authority {
            options = options.add_root_certificates(file.clone());
        }
        let refused = |e: async_nats::ConnectError| {
            let why = e.to_string();
            // A certificate that nobody vouches for comes as an error of the connection.
            let kind = if why.contains("certificate") { ConnectErrorKind::Tls } else { e.kind() };
            ClusterError::Broker { at: self.shown(), kind, why }
        };
        options.connect(self.addresses.clone()).await.map_err(refused)
    }
}

/// Whether an unescaped character cuts a password off, so that a part of it would be taken, and shown, as the host.
fn is_cut_off(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split_once(['/', '?', '#']).is_some_and(|(_, path)| path.contains('@'))
}

/// By `tls://`: that a server of `nats://` offers encryption is said in clear text, and can be left out on the way.
fn is_encrypted(address: &ServerAddr) -> bool {
    matches!(address.scheme(), "tls" | "wss")
}

fn is_loopback(address: &ServerAddr) -> bool {
    let host = address.host().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// What an address says that lets one in.
#[derive(PartialEq, Eq)]
enum Entry {
    UserAndPassword(String, String),
    Token(String),
}

impl Entry {
    /// What a file of a single line says, as it is: nothing stands for another character. `None`: it is no such file.
    fn of_file(text: &str) -> Option<Self> {
        let line = text.trim();
        let is_one_line = !line.is_empty() && !line.contains(['\n', '\r']);
        is_one_line.then(|| match line.split_once(':') {
            Some((user, password)) => Self::UserAndPassword(user.into(), password.into()),
            None => Self::Token(line.into()),
        })
    }

    fn given_to(self, options: ConnectOptions) -> ConnectOptions {
        match self {
            Self::UserAndPassword(user, password) => options.user_and_password(user, password),
            Self::Token(token) => options.token(token),
        }
    }
}

/// A user without a password is a token, as in the other clients of NATS.
fn entry(address: &ServerAddr) -> Option<Entry> {
    let user = decoded(address.username()?);
    Some(match address.password() {
        Some(password) => Entry::UserAndPassword(user, decoded(password)),
        None => Entry::Token(user),
    })
}

/// In an address, characters that would end a part of it stand as %XX.
fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    #[test]
    fn an_address_says_what_lets_one_in() {
        let of = |address: &str| entry(&address.parse().unwrap());
        assert!(of("nats://me:s3%40cret@a") == Some(Entry::UserAndPassword("me".into(), "s3@cret".into())));
        assert!(of("tls://t0k%2Fen@b") == Some(Entry::Token("t0k/en".into())));
        assert!(of("nats://a:4222").is_none());
    }

    #[test]
    fn a_file_of_a_single_line_says_what_lets_one_in() {
        let is_login = |text: &str, user: &str, password: &str| {
            Entry::of_file(text) == Some(Entry::UserAndPassword(user.into(), password.into()))
        };
        assert!(is_login("me:s3:cr%40@t\n", "me", "s3:cr%40@t"));
        assert!(Entry::of_file("t0ken\r\n") == Some(Entry::Token("t0ken".into())));
        for text in ["", "\n", "-----BEGIN NATS USER JWT-----\na:b\n", "me:s3cret\nyou:s3cret"] {
            assert!(Entry::of_file(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_broker_in_clear_text_on_another_machine_is_taken_only_where_that_is_wanted() {
        let of = |addresses: &str| Broker::new(addresses, None, None).unwrap();
        for (addresses, shown) in [
            ("nats://me:s3cret@h:4222", "nats://h:4222"),
            ("h", "nats://h:4222"),
            ("ws://h:1", "ws://h:1"),
            ("tls://a,nats://127.0.0.1,nats://10.0.0.1", "nats://10.0.0.1:4222"),
            ("nats://localhost.example", "nats://localhost.example:4222"),
            ("nats://0.0.0.0", "nats://0.0.0.0:4222"),
        ] {
            let broker = of(addresses);
            assert_eq!(broker.in_clear_text().as_deref(), Some(shown), "{addresses}");
            assert!(matches!(broker.check_clear_text(false), Err(ClusterError::ClearText(at)) if at == shown));
            assert!(broker.check_clear_text(true).is_ok());
        }
        for addresses in ["tls://h", "wss://h:1", "nats://127.0.0.1:4222,nats://[::1]", "nats://localhost"] {
            assert!(of(addresses).check_clear_text(false).is_ok(), "{addresses}");
        }
    }

    /// A broker of this machine, in clear text, that tells of another one.
    #[tokio::test]
    async fn who_named_a_broker_of_this_machine_is_not_led_to_another() {
        let [named, told] = [TcpListener::bind("127.0.0.1:0"), TcpListener::bind("127.0.0.1:0")];
        let (named, told) = (named.await.unwrap(), told.await.unwrap());
        let info =
            format!("INFO {{\"max_payload\":9,\"connect_urls\":[\"{}\"]}}\r\nPONG\r\n", told.local_addr().unwrap());
        let broker = Broker::new(&format!("nats://{}", named.local_addr().unwrap()), None, None).unwrap();
        let client = tokio::spawn(async move { broker.connect("test").await });
        // Of two servers that are known each is chosen as often.
        for _ in 0..12 {
            tokio::select! {
                met = named.accept() => {
                    let mut stream = met.unwrap().0;
                    stream.write_all(info.as_bytes()).await.unwrap();
                    assert!(stream.read(&mut [0; 1024]).await.unwrap() > 0);
                }
                _ = told.accept() => panic!("it connects where it was not told to"),
            }
        }
        client.await.unwrap().unwrap();
    }

    #[test]
    fn an_address_without_a_host_is_none() {
        for addresses in ["", "nats://", "tls://:4222", "a,", "nats://me:x@"] {
            assert!(matches!(Broker::new(addresses, None, None), Err(ClusterError::NoAddress)), "{addresses}");
        }
    }

    #[test]
    fn no_secret_is_shown() {
        let broker = Broker::new("nats://me:s3cret@a:4222, tls://t0ken@b", None, None).unwrap();
        assert_eq!(broker.shown(), "nats://a:4222,tls://b:4222");
        assert!(!format!("{broker:?}").contains("s3cret"));
        let of_version_6 = Broker::new("[::1]:4223,tls://[fe80::1]", None, None).unwrap();
        assert_eq!(of_version_6.shown(), "nats://[::1]:4223,tls://[fe80::1]:4222", "it can be given again");
        for wrong in ["nats://me:s3cret@a:x", "nats://me:a@s3cret/@h", "nats://me:1/s3cret@h"] {
            let error = Broker::new(wrong, None, None).unwrap_err().to_string();
            assert!(!error.contains("s3cret") && error.contains("nats://host:4222"), "{error}");
        }
    }
}
