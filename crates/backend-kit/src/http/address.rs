//! What the address of an HTTP server, and the settings beside it, say of the server.

use super::server::{Credentials, Password, Server, Trust};
use iotbench_core::{Endpoint, SettingError};
use percent_encoding::percent_decode_str;
use std::{borrow::Cow, fmt, path::Path};

/// What a backend knows of its server.
#[derive(Debug)]
pub struct Known {
    /// Its name, for people.
    pub what: &'static str,
    /// The port where the address names none.
    pub port: u16,
    /// The environment's password, used when a user is known.
    pub password_variable: &'static str,
}

/// The settings about the way in.
#[derive(Debug, Default)]
pub struct Access<'a> {
    /// The user.
    pub username: Option<&'a str>,
    /// The file with the password.
    pub password_file: Option<&'a Path>,
    /// The file with the authorities that are trusted.
    pub ca: Option<&'a Path>,
    /// Whether any certificate is accepted.
    pub insecure: bool,
}

/// The server at an address. `variable` looks into the environment.
///
/// # Errors
/// The first setting, or part of the address, that cannot be taken. The keys after its `?` are the backend's.
pub fn server(
    endpoint: &Endpoint,
    known: &Known,
    access: &Access<'_>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Server, SettingError> {
    let url = endpoint.expose();
    let trust = match (url.scheme(), access.ca) {
        ("https", _) if access.insecure => Some(Trust::Anybody),
        ("https", Some(file)) => Some(Trust::Authorities(file.to_owned())),
        ("https", None) => Some(Trust::PublicAuthorities),
        ("http", Some(_)) => return Err(refuse("ca", "only https has certificates")),
        ("http", None) => None,
        _ => {
            let Known { what, port, .. } = known;
            return Err(refuse("url", format!("{endpoint} is no {what}: write http://HOST:{port}/ or https://…")));
        }
    };
    if url.fragment().is_some() {
        return Err(refuse("url", "an address has no #fragment"));
    }
    let host = url.host_str().filter(|host| !host.is_empty());
    let host = host.ok_or_else(|| refuse("url", format!("{endpoint} names no host")))?;
    Ok(Server::new(
        host.trim_matches(['[', ']']).to_owned(),
        endpoint.port().unwrap_or(known.port),
        url.path().trim_end_matches('/').to_owned(),
        trust,
        credentials(endpoint, known, access, variable)?,
    ))
}

/// The address of a database that is one server. `example` shows how it is written.
///
/// # Errors
/// There is none, or there are several.
pub fn only_one<'t>(
    target: &'t iotbench_core::Target,
    known: &Known,
    example: &str,
) -> Result<&'t Endpoint, SettingError> {
    match target.endpoints.as_slice() {
        [endpoint] => Ok(endpoint),
        [] => Err(refuse("url", format!("give the address of a server: {example}"))),
        several => {
            let (what, number) = (known.what, several.len());
            Err(refuse("url", format!("{what} is loaded by one address, and {number} are given: leave the others out")))
        }
    }
}

fn credentials(
    endpoint: &Endpoint,
    known: &Known,
    access: &Access<'_>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Option<Credentials>, SettingError> {
    let decode = |text: &str| {
        let decoded = percent_decode_str(text).decode_utf8();
        decoded.map(Cow::into_owned).map_err(|_| refuse("url", "user or password is not UTF-8"))
    };
    let url = endpoint.expose();
    let in_url = Some(url.username()).filter(|user| !user.is_empty()).map(decode).transpose()?;
    let Some(username) = one_of("username", access.username.map(Into::into), in_url)? else {
        let stray = access.password_file.is_some() || url.password().is_some();
        return if stray { Err(refuse("username", "a password needs a user")) } else { Ok(None) };
    };
    if username.contains(':') {
        return Err(refuse("username", "HTTP takes no user with a colon"));
    }
    let password = match (url.password(), access.password_file) {
        (Some(_), Some(_)) => return Err(refuse("password_file", "the URL has a password too: give it once")),
        (Some(password), None) => Password::Known(decode(password)?),
        (None, Some(file)) => Password::InFile(file.to_owned()),
        (None, None) => Password::Known(variable(known.password_variable).unwrap_or_default()),
    };
    Ok(Some(Credentials { username, password }))
}

/// A setting that cannot be taken.
pub fn refuse(key: &str, message: impl fmt::Display) -> SettingError {
    SettingError { key: key.into(), message: message.to_string(), suggestion: None }
}

/// A value that the setting, the address, or both with one voice may give.
pub fn one_of<T: PartialEq>(key: &str, setting: Option<T>, in_url: Option<T>) -> Result<Option<T>, SettingError> {
    match (setting, in_url) {
        (Some(a), Some(b)) if a != b => Err(refuse(key, "the URL says otherwise: give it once")),
        (a, b) => Ok(a.or(b)),
    }
}
