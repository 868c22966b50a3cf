//! What the address of a server that speaks HTTP, and the settings beside it, say: where it is, whom to trust, who we are.

use crate::influxdb::server::{Credentials, Password, Server, Trust};
use iotbench_core::{Endpoint, SettingError};
use percent_encoding::percent_decode_str;
use std::{borrow::Cow, fmt, path::PathBuf};

/// What one product's addresses have of their own.
#[derive(Debug)]
pub(crate) struct HttpAddress {
    /// Its name.
    pub(crate) product: &'static str,
    /// Its port, where the address has none.
    pub(crate) default_port: u16,
    /// The environment's password, used when a user is known.
    pub(crate) password_variable: &'static str,
}

/// The settings that say who we are and whom we trust.
#[derive(Debug)]
pub(crate) struct Who<'a> {
    pub(crate) username: &'a Option<String>,
    pub(crate) password_file: &'a Option<PathBuf>,
    pub(crate) ca: &'a Option<PathBuf>,
}

/// A setting that cannot be taken.
pub(crate) fn refuse(key: &str, message: impl fmt::Display) -> SettingError {
    SettingError { key: key.into(), message: message.to_string(), suggestion: None }
}

/// A value that the setting, the address, or both with one voice may give.
pub(crate) fn one_of<T: PartialEq>(
    key: &str,
    setting: Option<T>,
    in_url: Option<T>,
) -> Result<Option<T>, SettingError> {
    match (setting, in_url) {
        (Some(a), Some(b)) if a != b => Err(refuse(key, "the URL says otherwise: give it once")),
        (a, b) => Ok(a.or(b)),
    }
}

impl HttpAddress {
    /// The server at an endpoint. `variable` looks into the environment.
    ///
    /// # Errors
    /// The first setting, or part of the address, that cannot be taken.
    pub(crate) fn server(
        &self,
        endpoint: &Endpoint,
        who: &Who<'_>,
        insecure: bool,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Server, SettingError> {
        let (url, port) = (endpoint.expose(), self.default_port);
        let trust = match (url.scheme(), who.ca) {
            ("https", _) if insecure => Some(Trust::Anybody),
            ("https", Some(file)) => Some(Trust::Authorities(file.clone())),
            ("https", None) => Some(Trust::PublicAuthorities),
            ("http", Some(_)) => return Err(refuse("ca", "only https has certificates")),
            ("http", None) => None,
            _ => {
                let message = format!("{endpoint} is no {}: write http://HOST:{port}/ or https://…", self.product);
                return Err(refuse("url", message));
            }
        };
        if url.fragment().is_some() {
            return Err(refuse("url", "an address has no #fragment"));
        }
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| refuse("url", format!("{endpoint} names no host")))?;
        Ok(Server::new(
            host.trim_matches(['[', ']']).to_owned(),
            url.port().unwrap_or(port),
            url.path().trim_end_matches('/').to_owned(),
            trust,
            self.credentials(endpoint, who, variable)?,
        ))
    }

    fn credentials(
        &self,
        endpoint: &Endpoint,
        who: &Who<'_>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Option<Credentials>, SettingError> {
        let decode = |text: &str| {
            let decoded = percent_decode_str(text).decode_utf8();
            decoded.map(Cow::into_owned).map_err(|_| refuse("url", "user or password is not UTF-8"))
        };
        let url = endpoint.expose();
        let in_url = Some(url.username()).filter(|user| !user.is_empty()).map(decode).transpose()?;
        let Some(username) = one_of("username", who.username.clone(), in_url)? else {
            let stray = who.password_file.is_some() || url.password().is_some();
            return if stray { Err(refuse("username", "a password needs a user")) } else { Ok(None) };
        };
        if username.contains(':') {
            return Err(refuse("username", "HTTP takes no user with a colon"));
        }
        let password = match (url.password(), who.password_file) {
            (Some(_), Some(_)) => return Err(refuse("password_file", "the URL has a password too: give it once")),
            (Some(password), None) => Password::Known(decode(password)?),
            (None, Some(file)) => Password::InFile(file.clone()),
            (None, None) => Password::Known(variable(self.password_variable).unwrap_or_default()),
        };
        Ok(Some(Credentials { username, password }))
    }
}
