//! What the errors of OpenTSDB mean.

use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::http::error::{elsewhere, full, retry_after, shown};
use iotbench_core::{Action, Applied, Cause, Error};
use serde::Deserialize;

/// An answer to a write as a whole that is no account of its values. What it applied nobody can tell, unless it was never
/// looked at.
pub(crate) fn of_write(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let applied = match status.as_u16() {
        // All values are read before the first one is stored.
        300..=399 | 400 | 401 | 403 | 404 | 405 | 413 | 429 => Applied::No,
        _ => Applied::Maybe,
    };
    of_status(status, headers, body).applied(applied)
}

/// An answer to anything else that is no success.
pub(crate) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let (text, code) = (message_of(body), status.as_u16());
    match code {
        400 => Error::new(Cause::Data, text),
        401 | 403 => Error::new(Cause::Auth, format!("{code}: {text}")),
        404 | 405 => {
            let message = format!("{code}: {text}: is this an OpenTSDB 2.4 that reads and writes (tsd.mode = rw)?");
            Error::new(Cause::Server, message).action(Action::Stop)
        }
        413 => Error::new(Cause::Data, format!("{text}: send fewer datapoints at once")),
        429 | 503 => Error::new(Cause::Throttled { retry_after: retry_after(headers) }, format!("{code}: {text}")),
        300..=399 => elsewhere(status, headers),
        507 => full(&format!("507: {text}")),
        408 | 424 | 500..=599 => of_storage(&format!("{code}: {text}")),
        _ => Error::new(Cause::Protocol, format!("{code}: {text}")),
    }
}

/// What HBase says, or what OpenTSDB says of it.
fn of_storage(text: &str) -> Error {
    if ["No space left", "disk is full"].iter().any(|t| text.contains(t)) {
        return full(text);
    }
    Error::new(Cause::Server, shown(text))
}

/// What became of a value that was not stored, by the server's words about it.
pub(crate) fn of_value(text: &str) -> Error {
    // The exception that asks for patience names the request after that.
    if text.contains("Please throttle") || text.contains("PleaseThrottle") || text.contains("Too many") {
        return Error::new(Cause::Throttled { retry_after: None }, shown(text));
    }
    if text == "Unknown metric" {
        let message = "it knows no such metric, tag or value of a tag: set tsd.core.auto_create_metrics, \
                       tsd.core.auto_create_tagks and tsd.core.auto_create_tagvs to true";
        return Error::new(Cause::Server, message).action(Action::Stop);
    }
    let in_storage = ["Storage exception", "Timeout exception", "Write timedout", "Unexpected exception"];
    if in_storage.iter().any(|begin| text.starts_with(begin)) {
        return of_storage(text).applied(Applied::Maybe);
    }
    Error::new(Cause::Data, shown(text))
}

/// Whether a question failed because it names a device of which nothing was ever written.
pub(crate) fn names_unknown_device(error: &Error) -> bool {
    error.cause == Cause::Data && error.message.contains("No such name for 'tagv'")
}

/// An answer that is no answer of an OpenTSDB.
pub(crate) fn improper(message: impl std::fmt::Display) -> Error {
    Error::new(Cause::Protocol, format!("this is no answer of an OpenTSDB 2.4: {message}"))
}

/// `{"error":{"code":400,"message":"…","details":"…"}}`, else the body as it is.
fn message_of(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Body {
        error: Told,
    }
    #[derive(Deserialize)]
    struct Told {
        message: String,
    }
    let parsed: Result<Body, _> = serde_json::from_slice(body);
    shown(&parsed.map_or_else(|_| String::from_utf8_lossy(body).trim().to_owned(), |body| body.error.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_of_a_write_has_its_meaning() {
        use Action::{DiscardWriter, RetryMayHelp, Stop};
        let throttled = Cause::Throttled { retry_after: None };
        let told = |message: &str| format!(r#"{{"error":{{"code":400,"message":"{message}","details":"x"}}}}"#);
        let table = [
            (400, told("Unable to parse the given JSON"), Cause::Data, RetryMayHelp, Applied::No),
            (400, told("Chunked request not supported."), Cause::Data, RetryMayHelp, Applied::No),
            (401, String::new(), Cause::Auth, Stop, Applied::No),
            (403, String::new(), Cause::Auth, Stop, Applied::No),
            (404, told("Endpoint not found"), Cause::Server, Stop, Applied::No),
            (405, told("Method not allowed"), Cause::Server, Stop, Applied::No),
            (413, String::new(), Cause::Data, RetryMayHelp, Applied::No),
            (429, String::new(), throttled, RetryMayHelp, Applied::No),
            (503, String::new(), throttled, RetryMayHelp, Applied::Maybe),
            (408, told("timed out"), Cause::Server, RetryMayHelp, Applied::Maybe),
            (424, told("region is offline"), Cause::Server, RetryMayHelp, Applied::Maybe),
            (500, told("Unexpected exception"), Cause::Server, RetryMayHelp, Applied::Maybe),
            (500, told("java.io.IOException: No space left on device"), Cause::Full, Stop, Applied::Maybe),
            (302, String::new(), Cause::Protocol, Stop, Applied::No),
            (204, String::new(), Cause::Protocol, DiscardWriter, Applied::Maybe),
        ];
        for (status, body, cause, action, applied) in &table {
            let error = of_write(StatusCode::from_u16(*status).unwrap(), &HeaderMap::new(), body.as_bytes());
            assert_eq!((&error.cause, &error.action, &error.applied), (cause, action, applied), "{status} {body}");
        }
    }

    #[test]
    fn every_word_about_a_value_has_its_meaning() {
        use Action::{RetryMayHelp, Stop};
        let throttled = Cause::Throttled { retry_after: None };
        for (text, cause, action, applied) in [
            ("Unable to parse value to a number", Cause::Data, RetryMayHelp, Applied::No),
            ("Invalid timestamp", Cause::Data, RetryMayHelp, Applied::No),
            ("Please throttle", throttled, RetryMayHelp, Applied::No),
            ("Storage exception: 10001 RPCs waiting: PleaseThrottleException", throttled, RetryMayHelp, Applied::No),
            ("Unknown metric", Cause::Server, Stop, Applied::No),
            ("Storage exception: region is offline", Cause::Server, RetryMayHelp, Applied::Maybe),
            ("Storage exception: No space left on device", Cause::Full, Stop, Applied::Maybe),
            ("Timeout exception", Cause::Server, RetryMayHelp, Applied::Maybe),
            ("Write timedout", Cause::Server, RetryMayHelp, Applied::Maybe),
        ] {
            let error = of_value(text);
            assert_eq!((error.cause, error.action, error.applied), (cause, action, applied), "{text}");
        }
    }

    #[test]
    fn what_the_server_says_is_shown() {
        let body = br#"{"error":{"code":400,"message":"one\u001b","details":"long"}}"#;
        assert_eq!(of_status(StatusCode::BAD_REQUEST, &HeaderMap::new(), body).message, "one ");
        let body = br#"{"error":{"code":400,"message":"No such name for 'tagv': '4711'"}}"#;
        assert!(names_unknown_device(&of_status(StatusCode::BAD_REQUEST, &HeaderMap::new(), body)));
    }
}
