//! Where a database is reached and what it consists of.

use serde::{Deserialize, Serialize};
use std::{fmt, net::SocketAddr, path::PathBuf};
use url::Url;

/// An address of a server. Its user and password never appear in `Debug`, `Display` or a serialised form.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint(Url);

impl Endpoint {
    /// An endpoint from a URL.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self(url)
    }

    /// The whole URL, credentials included: for the driver only.
    #[must_use]
    pub fn expose(&self) -> &Url {
        &self.0
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = self.0.clone();
        let cleared = shown.set_password(None).and_then(|()| shown.set_username("")).is_ok();
        shown.set_query(None);
        shown.set_fragment(None);
        if cleared || (self.0.username().is_empty() && self.0.password().is_none()) {
            write!(f, "{shown}")
        } else {
            write!(f, "{}:***", self.0.scheme())
        }
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
    fn a_path_is_shown_whole() {
        let endpoint = Endpoint::new(Url::parse("sqlite:/tmp/a.db").unwrap());
        assert_eq!(endpoint.to_string(), "sqlite:/tmp/a.db");
    }
}
