//! The user and the password of a server of ours that is named by its address alone.

use crate::{password::Password, records::Record};
use iotbench_core::Endpoint;
use url::Url;

const USERS_AT: &str = "authSource";

impl Record {
    /// Where it is reached, with its password: for its clients only.
    #[must_use]
    pub fn endpoints(&self) -> Vec<Endpoint> {
        let urls = self.urls.iter().filter_map(|url| url.parse().ok());
        let whole = |url: Url| match &self.password {
            Some(password) => with(url, password),
            None => url,
        };
        urls.map(whole).map(Endpoint::new).collect()
    }

    /// Whether it lets in only who knows its password.
    #[must_use]
    pub fn asks_for_password(&self) -> bool {
        self.password.is_some()
    }

    /// This address with the user and the password that the server asks for there. `None`: it is another's address, has a
    /// password already or another user, or the server has ended, so that a stranger may have its port.
    #[must_use]
    pub fn admitted(&self, url: &Url) -> Option<Url> {
        let password = self.password.as_ref().filter(|_| url.password().is_none() && self.is_alive())?;
        let is_there = |ours: &Url| {
            let is_its_user = url.username().is_empty() || url.username() == ours.username();
            is_its_user && host(ours) == host(url) && port(ours) == port(url)
        };
        let ours = self.urls.iter().filter_map(|ours| ours.parse().ok()).find(is_there)?;
        let mut admitted = url.clone();
        // Where the users are that MongoDB is to look for: not in the database that the address names.
        let source = ours.query_pairs().find(|(key, _)| key == USERS_AT);
        if let Some((key, value)) = source.filter(|_| !url.query_pairs().any(|(key, _)| key == USERS_AT)) {
            admitted.query_pairs_mut().append_pair(&key, &value);
        }
        admitted.set_username(ours.username()).ok()?;
        Some(with(admitted, password))
    }
}

/// An address as others may see it.
pub(crate) fn without_password(url: &Url) -> String {
    let mut shown = url.clone();
    // An address without a host has none.
    let _ = shown.set_password(None);
    shown.to_string()
}

fn with(mut url: Url, password: &Password) -> Url {
    // An address without a host takes none.
    let _ = url.set_password(Some(password.expose()));
    url
}

fn host(url: &Url) -> Option<&str> {
    url.host_str().map(|host| if host == "localhost" { "127.0.0.1" } else { host })
}

fn port(url: &Url) -> Option<u16> {
    url.port_or_known_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{process::ProcessId, server::ServerProcess};

    fn record(url: &str, password: Option<Password>, id: ProcessId) -> Record {
        let process = ServerProcess { role: "server".into(), node: 0, id, log: "l".into(), address: None };
        Record {
            backend: "exampled".into(),
            urls: vec![url.into()],
            password,
            processes: vec![process],
            supervisor: id,
            folder: "/f".into(),
            owner: None,
            started_in: "/here".into(),
            log: "l".into(),
            since_s: 1,
        }
    }

    fn own_process() -> ProcessId {
        ProcessId::of(i32::try_from(std::process::id()).unwrap()).unwrap()
    }

    #[test]
    fn the_address_of_a_server_of_ours_gets_its_user_and_password_and_no_other_does() {
        let password = Password::draw().unwrap();
        let server = record("http://me@127.0.0.1:4711/?udp=127.0.0.1:1", Some(password.clone()), own_process());
        let admitted = |url: &str| server.admitted(&url.parse().unwrap()).map(String::from);
        let secret = password.expose();
        assert_eq!(admitted("http://127.0.0.1:4711/?a=b"), Some(format!("http://me:{secret}@127.0.0.1:4711/?a=b")));
        assert_eq!(admitted("https://me@localhost:4711/"), Some(format!("https://me:{secret}@localhost:4711/")));
        for other in [
            "http://127.0.0.1:4712/",
            "http://127.0.0.2:4711/",
            "http://127.0.0.1/",
            "http://you@127.0.0.1:4711/",
            "http://me:mine@127.0.0.1:4711/",
            "http://example.org:4711/",
            "sqlite:/tmp/x",
        ] {
            assert_eq!(admitted(other), None, "{other}");
        }
        assert_eq!(server.endpoints()[0].expose().password(), Some(secret));
        assert_eq!(without_password(server.endpoints()[0].expose()), server.urls[0]);
    }

    #[test]
    fn what_has_the_port_of_a_server_that_ended_gets_no_password() {
        let gone = ProcessId { pid: i32::MAX, start_ticks: 1 };
        let url: Url = "http://127.0.0.1:4711/".parse().unwrap();
        assert_eq!(record(url.as_str(), Some(Password::draw().unwrap()), gone).admitted(&url), None);
        assert_eq!(record(url.as_str(), None, own_process()).admitted(&url), None);
    }

    #[test]
    fn a_record_keeps_the_password_and_does_not_show_it() {
        let server = record("http://me@h:1/", Some(Password::draw().unwrap()), own_process());
        let text = serde_json::to_string(&server).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), server);
        let secret = server.password.as_ref().unwrap().expose();
        assert!(text.contains(secret) && !format!("{server:?}").contains(secret));
    }
}
