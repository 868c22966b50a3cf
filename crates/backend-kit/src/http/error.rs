//! What the errors of the way to an HTTP server mean, and what all such servers answer alike.

use crate::handshake::with_way_out;
use hyper::{
    HeaderMap, StatusCode,
    header::{DATE, HeaderName, LOCATION, RETRY_AFTER},
};
use iotbench_core::{Action, Applied, Cause, Error};
use std::{error::Error as _, io, time::Duration};

/// A server's text is shown up to here.
const MAX_CHARACTERS: usize = 300;
/// Linux: too many open files in the process, and in the system.
const NO_FILES_LEFT: [i32; 2] = [24, 23];

/// A connection that could not be made.
pub fn of_connect(error: &io::Error, host: &str, port: u16) -> Error {
    Error::new(cause_of_io(error), format!("{host}:{port}: {error}"))
}

/// Whether a failure on the way is the connection's, or our own limits'.
pub fn cause_of_io(error: &io::Error) -> Cause {
    let ours = error.raw_os_error().is_some_and(|code| NO_FILES_LEFT.contains(&code))
        || matches!(error.kind(), io::ErrorKind::AddrNotAvailable | io::ErrorKind::OutOfMemory);
    if ours { Cause::Client } else { Cause::Connect }
}

/// A TLS handshake that failed.
pub fn of_handshake(error: &io::Error, host: &str) -> Error {
    let cause = if error.kind() == io::ErrorKind::ConnectionReset { Cause::Connect } else { Cause::Tls };
    Error::new(cause, format!("{host}: {}", with_way_out(&error.to_string())))
}

/// A request that got no answer. `applied` is what holds if it was sent.
pub fn of_exchange(error: &hyper::Error, applied: Applied) -> Error {
    let cause = match error.source().and_then(|e| e.downcast_ref::<io::Error>()) {
        // What ends a body that is no HTTP, or no TLS.
        Some(e) if matches!(e.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) => Cause::Protocol,
        Some(e) => cause_of_io(e),
        None if error.is_parse() || error.is_parse_status() || error.is_parse_too_large() => Cause::Protocol,
        None if error.is_user() => Cause::Client,
        None => Cause::Connect,
    };
    let applied = if error.is_canceled() { Applied::No } else { applied };
    let source = error.source().map(|e| format!(": {e}")).unwrap_or_default();
    Error::new(cause, shown(&format!("{error}{source}"))).action(Action::DiscardWriter).applied(applied)
}

/// An answer that sends us elsewhere: redirects are never followed.
pub fn elsewhere(status: StatusCode, headers: &HeaderMap) -> Error {
    let place = headers.get(LOCATION).and_then(|place| place.to_str().ok()).unwrap_or("elsewhere");
    let place = shown(place.split(['?', '#']).next().unwrap_or_default());
    let message = format!("{}: the server sends us to {place}: give its own address", status.as_u16());
    Error::new(Cause::Protocol, message).action(Action::Stop)
}

/// A server without room for more, by its status 507 or its words.
pub fn full(text: &str) -> Error {
    Error::new(Cause::Full, format!("{text}: make room on the server's disk"))
}

/// When to come again: in seconds, or at a date, which is held against the server's own.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let asked = text(RETRY_AFTER)?.trim();
    if let Ok(seconds) = asked.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let (then, now) = (httpdate::parse_http_date(asked).ok()?, httpdate::parse_http_date(text(DATE)?).ok()?);
    Some(then.duration_since(now).unwrap_or_default())
}

/// A server's text as it may be shown: no control characters, and not too long. It may repeat the data we sent.
pub fn shown(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut shown: String = clean.take(MAX_CHARACTERS).collect();
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_on_the_way_are_told_from_our_own_limits() {
        for (error, cause) in [
            (io::Error::from_raw_os_error(24), Cause::Client),
            (io::Error::from(io::ErrorKind::AddrNotAvailable), Cause::Client),
            (io::Error::from(io::ErrorKind::ConnectionRefused), Cause::Connect),
        ] {
            assert_eq!(of_connect(&error, "h", 1).cause, cause, "{error}");
        }
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        assert_eq!(of_handshake(&reset, "h").cause, Cause::Connect);
        let bad = io::Error::new(io::ErrorKind::InvalidData, rustls::Error::NoCertificatesPresented);
        assert_eq!((of_handshake(&bad, "h").cause, of_handshake(&bad, "h").action), (Cause::Tls, Action::Stop));
    }
}
