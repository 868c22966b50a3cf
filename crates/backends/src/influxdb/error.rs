//! What the errors of InfluxDB mean.

use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::http::error::{cause_of_io, elsewhere, full, retry_after, shown};
use iotbench_core::{Action, Applied, Cause, Error};
use std::io;

/// A datagram that could not be sent. The one before may have been what failed.
pub(crate) fn of_datagram(error: &io::Error, host: &str, port: u16) -> Error {
    let refused = error.kind() == io::ErrorKind::ConnectionRefused;
    let hint = if refused { ": no UDP listener is there" } else { "" };
    Error::new(cause_of_io(error), format!("{host}:{port}: {error}{hint}"))
        .action(Action::DiscardWriter)
        .applied(Applied::Maybe)
}

/// The first request on a connection, that got no answer and changes nothing.
pub(crate) fn of_first_request(error: Error, host: &str, port: u16) -> Error {
    let hint = match error.cause {
        Cause::Connect => ": it may have as many connections as it takes (max-connection-limit): use fewer",
        _ => "",
    };
    let message = format!("{host}:{port}: the server does not go on with a new connection: {}{hint}", error.message);
    Error { message, ..error }.applied(Applied::No)
}

/// An answer to `/write` that is no acknowledgement. `lines` is how many were sent.
pub(crate) fn of_write(status: StatusCode, headers: &HeaderMap, body: &[u8], lines: usize) -> Error {
    let text = message_of(body);
    if status != StatusCode::BAD_REQUEST {
        let applied = match status.as_u16() {
            100..=299 | 500..=502 | 504..=599 => Applied::Maybe,
            _ => Applied::No,
        };
        return of_status(status, headers, &text).applied(applied);
    }
    // Points are dropped one by one, and none is named: only all or nothing can be told.
    let partial = text.starts_with("partial write");
    let applied = if partial && dropped(&text) != Some(lines) { Applied::Maybe } else { Applied::No };
    let hint = if text.contains("points beyond retention policy") { ": the database keeps them not" } else { "" };
    Error::new(Cause::Data, format!("{}{hint}", shown(&text))).applied(applied)
}

/// The number at the end of `… dropped=7`.
fn dropped(text: &str) -> Option<usize> {
    text.rsplit_once("dropped=")?.1.trim_end().parse().ok()
}

/// An answer to `/query` other than 200.
pub(crate) fn of_query(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    of_status(status, headers, &message_of(body))
}

fn of_status(status: StatusCode, headers: &HeaderMap, text: &str) -> Error {
    let (text, code) = (shown(text), status.as_u16());
    match code {
        401 | 403 => Error::new(Cause::Auth, format!("{code}: {text}")),
        404 if text.contains("database not found") => database_is_gone(&text),
        404 => Error::new(Cause::Server, format!("404: {text}: is this an InfluxDB 1.x?")).action(Action::Stop),
        413 => Error::new(Cause::Data, format!("{text}: send fewer datapoints at once, or raise max-body-size")),
        429 | 503 => Error::new(Cause::Throttled { retry_after: retry_after(headers) }, format!("{code}: {text}")),
        507 => full(&format!("{code}: {text}")),
        300..=399 => elsewhere(status, headers),
        500..=599 => of_server_text(&text),
        _ => Error::new(Cause::Protocol, format!("{code}: {text}")),
    }
}

/// The error of one statement, which comes with status 200, or of a failed request.
pub(crate) fn of_statement(text: &str) -> Error {
    let text = shown(text);
    if text.contains("database not found") { database_is_gone(&text) } else { of_server_text(&text) }
}

fn of_server_text(text: &str) -> Error {
    if text.contains("no space left on device") || text.contains("disk quota exceeded") {
        return full(text);
    }
    if text.contains("cache-max-memory-size exceeded") || text.contains("max-concurrent-queries limit exceeded") {
        return Error::new(Cause::Throttled { retry_after: None }, text);
    }
    if text.contains("not authorized") || text.contains("authorization failed") || text.contains("privilege") {
        return Error::new(Cause::Auth, text);
    }
    Error::new(Cause::Server, text)
}

fn database_is_gone(text: &str) -> Error {
    Error::new(Cause::Server, format!("{text}: somebody dropped it")).action(Action::Stop)
}

/// `{"error":"…"}`, else the body as it is.
fn message_of(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Body {
        error: String,
    }
    let parsed: Result<Body, _> = serde_json::from_slice(body);
    parsed.map_or_else(|_| String::from_utf8_lossy(body).trim().to_owned(), |body| body.error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{DATE, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
    use std::time::Duration;

    fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn every_refusal_of_a_write_has_its_meaning() {
        use Action::{DiscardWriter, RetryMayHelp, Stop};
        let throttled = |seconds: Option<u64>| Cause::Throttled { retry_after: seconds.map(Duration::from_secs) };
        let conflict = |dropped: u32| {
            format!(
                r#"{{"error":"partial write: field type conflict: input field \"v\" on measurement \"m\" is type string, already exists as type float dropped={dropped}"}}"#
            )
        };
        let table: &[(u16, &str, Cause, Action, Applied)] = &[
            (401, r#"{"error":"authorization failed"}"#, Cause::Auth, Stop, Applied::No),
            (403, r#"{"error":"\"me\" user is not authorized to write"}"#, Cause::Auth, Stop, Applied::No),
            (404, r#"{"error":"database not found: \"x\""}"#, Cause::Server, Stop, Applied::No),
            (404, "404 page not found", Cause::Server, Stop, Applied::No),
            (400, &conflict(3), Cause::Data, RetryMayHelp, Applied::No),
            (400, &conflict(2), Cause::Data, RetryMayHelp, Applied::Maybe),
            (400, r#"{"error":"unable to parse 'x': missing fields"}"#, Cause::Data, RetryMayHelp, Applied::No),
            (
                400,
                r#"{"error":"partial write: unable to parse 'x': missing fields dropped=0"}"#,
                Cause::Data,
                RetryMayHelp,
                Applied::Maybe,
            ),
            (
                400,
                r#"{"error":"partial write: max-values-per-tag limit exceeded (100001/100000): measurement=\"m\" tag=\"device\" value=\"1\" dropped=3"}"#,
                Cause::Data,
                RetryMayHelp,
                Applied::No,
            ),
            (413, r#"{"error":"Request Entity Too Large"}"#, Cause::Data, RetryMayHelp, Applied::No),
            (429, "", throttled(None), RetryMayHelp, Applied::No),
            (503, "overloaded", throttled(None), RetryMayHelp, Applied::No),
            (500, r#"{"error":"timeout"}"#, Cause::Server, RetryMayHelp, Applied::Maybe),
            (
                500,
                r#"{"error":"engine: error writing WAL entry: write /w/_1.wal: no space left on device"}"#,
                Cause::Full,
                Stop,
                Applied::Maybe,
            ),
            (
                500,
                r#"{"error":"engine: cache-max-memory-size exceeded: (5/4)"}"#,
                throttled(None),
                RetryMayHelp,
                Applied::Maybe,
            ),
            (507, "", Cause::Full, Stop, Applied::Maybe),
            (502, "bad gateway", Cause::Server, RetryMayHelp, Applied::Maybe),
            (307, "", Cause::Protocol, Stop, Applied::No),
            (200, "", Cause::Protocol, DiscardWriter, Applied::Maybe),
            (418, "", Cause::Protocol, DiscardWriter, Applied::No),
        ];
        for (status, body, cause, action, applied) in table {
            let error = of_write(StatusCode::from_u16(*status).unwrap(), &HeaderMap::new(), body.as_bytes(), 3);
            assert_eq!((&error.cause, &error.action, &error.applied), (cause, action, applied), "{status} {body}");
        }
    }

    #[test]
    fn every_error_of_a_statement_has_its_meaning() {
        for (text, cause, action) in [
            ("database not found: x", Cause::Server, Action::Stop),
            ("error authorizing query: me not authorized to execute statement", Cause::Auth, Action::Stop),
            ("query interrupted", Cause::Server, Action::RetryMayHelp),
            (
                "max-concurrent-queries limit exceeded(5, 5)",
                Cause::Throttled { retry_after: None },
                Action::RetryMayHelp,
            ),
            ("open /x: no space left on device", Cause::Full, Action::Stop),
        ] {
            let error = of_statement(text);
            assert_eq!((error.cause, error.action), (cause, action), "{text}");
        }
    }

    #[test]
    fn the_wait_that_is_asked_for_is_read_as_seconds_and_as_a_date() {
        let of = |pairs: &[(HeaderName, &'static str)]| {
            let error = of_write(StatusCode::SERVICE_UNAVAILABLE, &headers(pairs), b"", 1);
            let Cause::Throttled { retry_after } = error.cause else { panic!("{error}") };
            retry_after.map(|wait| wait.as_secs())
        };
        let now = (DATE, "Sat, 21 Nov 2026 04:10:39 GMT");
        assert_eq!(of(&[(RETRY_AFTER, "7")]), Some(7));
        assert_eq!(of(&[(RETRY_AFTER, "Sat, 21 Nov 2026 04:10:44 GMT"), now.clone()]), Some(5));
        assert_eq!(of(&[(RETRY_AFTER, "Sat, 21 Nov 2026 04:10:30 GMT"), now.clone()]), Some(0));
        assert_eq!(of(&[(RETRY_AFTER, "soon"), now]), None);
        assert_eq!(of(&[(RETRY_AFTER, "Sat, 21 Nov 2026 04:10:44 GMT")]), None);
    }

    #[test]
    fn a_datagram_that_was_not_sent_may_have_been_the_one_before() {
        for (error, cause) in [
            (io::Error::from_raw_os_error(24), Cause::Client),
            (io::Error::from(io::ErrorKind::ConnectionRefused), Cause::Connect),
        ] {
            let lost = of_datagram(&error, "h", 1);
            assert_eq!((lost.cause, lost.action, lost.applied), (cause, Action::DiscardWriter, Applied::Maybe));
        }
    }

    #[test]
    fn a_servers_text_is_cut_and_cleaned() {
        let error = of_write(StatusCode::IM_A_TEAPOT, &HeaderMap::new(), "\x1b[31mü\0".repeat(400).as_bytes(), 1);
        assert!(error.message.chars().count() < 320 && !error.message.contains(char::is_control), "{error}");
        let place = headers(&[(LOCATION, "http://other/write?u=me&p=s3cret")]);
        let error = of_write(StatusCode::TEMPORARY_REDIRECT, &place, b"", 1);
        assert!(error.message.contains("http://other/write") && !error.message.contains("s3cret"), "{error}");
    }
}
