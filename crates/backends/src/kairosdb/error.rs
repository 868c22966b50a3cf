//! What the errors of KairosDB mean.

use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::http::error::{elsewhere, full, retry_after, shown};
use iotbench_core::{Action, Applied, Cause, Error};

/// An answer to a write that is no acknowledgement. What stands before and after a bad metric is stored all the same, and
/// none is named: what of it is there, nobody can tell.
pub(crate) fn of_write(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let applied = match status.as_u16() {
        401 | 403 | 404 | 413 | 429 | 300..=399 => Applied::No,
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
        404 => Error::new(Cause::Server, format!("404: {text}: is this a KairosDB 1.x?")).action(Action::Stop),
        413 => Error::new(Cause::Data, format!("{text}: send fewer datapoints at once")),
        429 | 503 => Error::new(Cause::Throttled { retry_after: retry_after(headers) }, format!("{code}: {text}")),
        300..=399 => elsewhere(status, headers),
        507 => full(&format!("507: {text}")),
        500..=599
            if ["No space left", "disk is full", "There is not enough space"].iter().any(|t| text.contains(t)) =>
        {
            full(&text)
        }
        500..=599 => Error::new(Cause::Server, format!("{code}: {text}")),
        _ => Error::new(Cause::Protocol, format!("{code}: {text}")),
    }
}

/// An answer that is no answer of a KairosDB.
pub(crate) fn improper(message: impl std::fmt::Display) -> Error {
    Error::new(Cause::Protocol, format!("this is no answer of a KairosDB 1.x: {message}"))
}

/// `{"errors":["…"]}`, else the body as it is.
fn message_of(body: &[u8]) -> String {
    #[derive(serde::Deserialize)]
    struct Body {
        errors: Vec<String>,
    }
    let parsed: Result<Body, _> = serde_json::from_slice(body);
    shown(&parsed.map_or_else(|_| String::from_utf8_lossy(body).trim().to_owned(), |body| body.errors.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_of_a_write_has_its_meaning() {
        use Action::{DiscardWriter, RetryMayHelp, Stop};
        let throttled = Cause::Throttled { retry_after: None };
        let bad_value = r#"{"errors":["metric[1](name=m).value may not be empty."]}"#;
        let table: &[(u16, &str, Cause, Action, Applied)] = &[
            // The good ones of the request are stored.
            (400, bad_value, Cause::Data, RetryMayHelp, Applied::Maybe),
            (400, r#"{"errors":["java.io.EOFException: End of input"]}"#, Cause::Data, RetryMayHelp, Applied::Maybe),
            (401, "", Cause::Auth, Stop, Applied::No),
            (403, "", Cause::Auth, Stop, Applied::No),
            (404, "<html>", Cause::Server, Stop, Applied::No),
            (413, "", Cause::Data, RetryMayHelp, Applied::No),
            (429, "", throttled, RetryMayHelp, Applied::No),
            (503, "", throttled, RetryMayHelp, Applied::Maybe),
            (500, r#"{"errors":["For input string: \"abc\""]}"#, Cause::Server, RetryMayHelp, Applied::Maybe),
            (500, r#"{"errors":["File Queue shutting down"]}"#, Cause::Server, RetryMayHelp, Applied::Maybe),
            (500, r#"{"errors":["java.io.IOException: No space left on device"]}"#, Cause::Full, Stop, Applied::Maybe),
            (302, "", Cause::Protocol, Stop, Applied::No),
            (200, "", Cause::Protocol, DiscardWriter, Applied::Maybe),
        ];
        for (status, body, cause, action, applied) in table {
            let error = of_write(StatusCode::from_u16(*status).unwrap(), &HeaderMap::new(), body.as_bytes());
            assert_eq!((&error.cause, &error.action, &error.applied), (cause, action, applied), "{status} {body}");
        }
    }

    #[test]
    fn what_the_server_says_is_shown() {
        let body = br#"{"errors":["one","two\u001b"]}"#;
        let error = of_status(StatusCode::BAD_REQUEST, &HeaderMap::new(), body);
        assert_eq!(error.message, "one; two ");
    }
}
