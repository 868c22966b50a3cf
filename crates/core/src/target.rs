//! Where a database is reached and what it consists of.

use serde::{Deserialize, Serialize};
use std::{fmt, net::SocketAddr, path::PathBuf, str::FromStr};
use url::{ParseError, Position, Url};

/// An address of a server. Its user and password never appear in `Debug`, `Display` or a serialised form.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    url: Url,
    port: Option<u16>,
}

impl Endpoint {
    /// An endpoint from a URL, which has forgotten port 80 of http and 443 of https: from text they are known.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self { port: url.port(), url }
    }

    /// The port as written; `None`: the database's own is meant ([`crate::BackendInfo::default_port`]).
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether a `/` that is not escaped ends the user or password too soon: what follows, up to the `@`, looks like a path.
    /// What follows a `?` or `#` is never shown.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.url.host_str().is_some_and(|host| !host.is_empty()) && self.url.path().contains('@')
    }

    /// The whole URL, credentials included: for the driver only.
    #[must_use]
    pub fn expose(&self) -> &Url {
        &self.url
    }

    /// The same as text from which the whole endpoint can be read again, its port as it was written: for whoever connects in
    /// another process.
    #[must_use]
    pub fn expose_text(&self) -> String {
        with_port(&self.url, self.port)
    }
}

/// A URL with a port that it has forgotten, because it is the usual one of its scheme.
fn with_port(url: &Url, port: Option<u16>) -> String {
    match port.filter(|_| url.port().is_none()) {
        Some(port) => format!("{}:{port}{}", &url[..Position::AfterHost], &url[Position::BeforePath..]),
        None => url.to_string(),
    }
}

impl FromStr for Endpoint {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let url: Url = text.parse()?;
        // No port is the usual one of a scheme that nobody knows.
        let as_written = || Url::parse(&format!("x{}", text.trim_start())).ok()?.port();
        Ok(Self { port: url.port().or_else(as_written), url })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.url.clone();
        let cleared = shown.set_password(None).and_then(|()| shown.set_username("")).is_ok();
        shown.set_query(None);
        shown.set_fragment(None);
        if self.is_cut_off() {
            return write!(f, "{}://***", self.url.scheme());
        }
        if self.url.cannot_be_a_base() && self.url.path().contains('@') {
            // The two slashes are missing: all of it is a path.
            return write!(f, "{}:***", self.url.scheme());
        }
        if !cleared && (!self.url.username().is_empty() || self.url.password().is_some()) {
            return write!(f, "{}:***", self.url.scheme());
        }
        f.write_str(&with_port(&shown, self.port))
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

impl Serialize for Endpoint {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A process of the database whose resources are to be sampled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// What it is for, e.g. `server`, `cassandra`.
    pub role: String,
    /// Its number within the role, from 0.
    pub node: u32,
    /// The root of its process tree, where it runs on this machine.
    pub pid: Option<u32>,
    /// Where others of the database reach it, as far as that is known: its address and first port.
    pub address: Option<SocketAddr>,
}

/// A database to load: endpoints, nodes, and for embedded ones a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Target {
    /// Addresses to connect to; none for an embedded database in `folder`.
    pub endpoints: Vec<Endpoint>,
    /// The processes it consists of, as far as they are known.
    pub nodes: Vec<Node>,
    /// An empty folder of the run's own, where an embedded database puts its files.
    pub folder: Option<PathBuf>,
    /// Certificates are not checked: an encrypted connection to whoever answers.
    pub insecure: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_never_shown() {
        let without_slashes: Endpoint = "mqtt:me:verysecret@h/db".parse().unwrap();
        assert_eq!(without_slashes.to_string(), "mqtt:***");
        for text in
            ["postgres://me:s3cret@h:5432/db", "http://h/?token=s3cret", "mysql://s3cret@h/db", "mysql://h/db#s3cret"]
        {
            let endpoint = Endpoint::new(Url::parse(text).unwrap());
            let target = Target { endpoints: vec![endpoint.clone()], ..Target::default() };
            let shown = format!("{endpoint} {endpoint:?} {target:?} {}", serde_json::to_string(&target).unwrap());
            assert!(!shown.contains("s3cret"), "{shown}");
            assert!(endpoint.expose().as_str().contains("s3cret"));
        }
    }

    #[test]
    fn a_port_that_is_written_is_known_and_shown_also_where_it_is_usual_for_the_scheme() {
        for (text, port, shown) in [
            ("http://me:p@h:80/x?y", Some(80), "http://h:80/x"),
            ("https://[::1]:443", Some(443), "https://[::1]:443/"),
            (" http://h:8086/", Some(8086), "http://h:8086/"),
            ("http://h/", None, "http://h/"),
            ("postgres://h:5432/d", Some(5432), "postgres://h:5432/d"),
            ("sqlite:/tmp/a.db", None, "sqlite:/tmp/a.db"),
        ] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert_eq!((endpoint.port(), endpoint.to_string().as_str()), (port, shown));
            assert_eq!(shown.parse::<Endpoint>().unwrap().port(), port, "what is shown can be given again");
            let again: Endpoint = endpoint.expose_text().parse().unwrap();
            assert_eq!(again, endpoint, "to another process nothing of it is lost");
            assert_eq!(again.expose().password(), endpoint.expose().password());
        }
    }

    #[test]
    fn what_a_password_that_is_cut_off_leaves_is_not_shown() {
        for text in ["http://me:12/s3cret@h/", "http://me:12/@s3cret", "postgres://h:12/s3/cret@h"] {
            let endpoint: Endpoint = text.parse().unwrap();
            assert!(endpoint.is_cut_off(), "{text}");
            let scheme = text.split(':').next().unwrap();
            assert_eq!(endpoint.to_string(), format!("{scheme}://***"));
        }
        for whole in ["http://me:a%2Fb%40@h/x", "http://h/?token=a@b", "sqlite:/tmp/a@b.db", "sqlite:///tmp/a@b.db"] {
            assert!(!whole.parse::<Endpoint>().unwrap().is_cut_off(), "{whole}");
        }
    }

    #[test]
    fn a_path_is_shown_whole() {
        let endpoint = Endpoint::new(Url::parse("sqlite:/tmp/a.db").unwrap());
        assert_eq!(endpoint.to_string(), "sqlite:/tmp/a.db");
    }
}
