//! What a backend opens when it is told where its database is: for whoever decides beforehand whether it may.

use crate::{Settings, Target};
use std::path::PathBuf;
use url::Url;

/// What a backend opens at a target with these settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opens {
    /// Hosts and ports that it connects or sends to, as they were written; port 0 where nobody knows it.
    pub addresses: Vec<(String, u16)>,
    /// Files that it reads.
    pub files: Vec<PathBuf>,
    /// Sockets, or their folders.
    pub sockets: Vec<PathBuf>,
}

impl Opens {
    /// What is opened by an address with `default_port` where it names none, and by settings that are called as those of all
    /// backends are: `ca` and `…_file` name files.
    #[must_use]
    pub fn of(target: &Target, settings: &Settings, default_port: Option<u16>) -> Self {
        let mut opens = Self::default();
        for endpoint in &target.endpoints {
            let url = endpoint.expose();
            if let Some(host) = url.host_str().filter(|host| !host.is_empty()) {
                let port = endpoint.port().or(default_port).unwrap_or_default();
                opens.addresses.push((host.trim_matches(['[', ']']).into(), port));
            }
            opens.add_query(url);
        }
        let named = settings.0.iter().filter(|(key, _)| *key == "ca" || key.ends_with("_file"));
        let files = named.filter_map(|(_, value)| value.as_str()).filter(|file| !file.is_empty());
        opens.files.extend(files.map(PathBuf::from));
        opens
    }

    /// What follows the `?` of an address: `?host=/run/postgresql`, `?socket=…`, `?tlsCAFile=…`.
    fn add_query(&mut self, url: &Url) {
        for (key, value) in url.query_pairs() {
            match key.to_ascii_lowercase().as_str() {
                "host" | "socket" => self.sockets.push(PathBuf::from(&*value)),
                other if other.ends_with("file") => self.files.push(PathBuf::from(&*value)),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endpoint;
    use serde_json::{Value, json};

    fn of(urls: &[&str], settings: Value) -> Opens {
        let endpoints: Vec<Endpoint> = urls.iter().map(|url| url.parse().unwrap()).collect();
        let settings = Settings(serde_json::from_value(settings).unwrap());
        Opens::of(&Target { endpoints, ..Target::default() }, &settings, Some(5432))
    }

    #[test]
    fn what_addresses_and_settings_name_is_told() {
        let all = of(
            &["postgres://me:p@db/x?sslmode=disable", "http://[::1]:80/", "mongodb://h:1/?tlsCAFile=/a&x=/b"],
            json!({"ca": "/c.pem", "password_file": "p", "token_file": "", "bucket": "/no/file"}),
        );
        assert_eq!(all.addresses, [("db".into(), 5432), ("::1".into(), 80), ("h".into(), 1)]);
        assert_eq!(all.files, ["/a", "/c.pem", "p"].map(PathBuf::from));
        // What stands before the last @ is a user, and a port that is usual for a scheme is not ours.
        let evil = of(
            &["http://db:5432@evil/", "http://db:5432%40evil@evil", "https://db\\@evil/", "http://h:80/"],
            json!({}),
        );
        let at = |host: &str, port| (host.to_owned(), port);
        assert_eq!(evil.addresses, [at("evil", 5432), at("evil", 5432), at("db", 5432), at("h", 80)]);
        let sockets = of(&["postgres:///d?host=/run/p", "mysql:///?socket=s"], json!({}));
        assert_eq!((sockets.addresses.len(), sockets.sockets), (0, vec!["/run/p".into(), "s".into()]));
    }
}
