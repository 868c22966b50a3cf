//! What the answers of QuestDB that are no success mean.

use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::http::error::{elsewhere, full, retry_after, shown};
use iotbench_core::{Action, Applied, Cause, Error};
use serde::Deserialize;

/// An answer to `/write` that is no acknowledgement. One line that is refused refuses the whole request.
pub(crate) fn of_write(status: StatusCode, headers: &HeaderMap, body: &[u8], _lines: usize) -> Error {
    let applied = match status.as_u16() {
        100..=299 | 500..=502 | 504..=599 => Applied::Maybe,
        _ => Applied::No,
    };
    of_status(status, headers, body).applied(applied)
}

/// An answer to a question, or to a statement, that is no success.
pub(crate) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let (text, code) = (message_of(body), status.as_u16());
    if code == 507 || is_full(&text) {
        return full(&format!("{code}: {text}"));
    }
    match code {
        300..=399 => elsewhere(status, headers),
        400 if text.contains("suspended") => suspended(&text),
        400 if text.contains("table does not exist") => {
            Error::new(Cause::Server, format!("{text}: somebody dropped it")).action(Action::Stop)
        }
        400 => Error::new(Cause::Data, format!("400: {text}")),
        401 | 403 => Error::new(Cause::Auth, format!("{code}: {text}")),
        404 => Error::new(Cause::Server, format!("404: {text}: is this a QuestDB?")).action(Action::Stop),
        413 => Error::new(Cause::Data, format!("413: {text}: send fewer datapoints at once")),
        429 | 503 => Error::new(Cause::Throttled { retry_after: retry_after(headers) }, format!("{code}: {text}")),
        500..=599 => Error::new(Cause::Server, format!("{code}: {text}")),
        _ => Error::new(Cause::Protocol, format!("{code}: {text}")),
    }
}

/// A table whose log cannot be applied any more.
pub(crate) fn suspended(text: &str) -> Error {
    let message = format!("{text}: the server does not apply the table's log any more; its own log says why");
    Error::new(Cause::Server, message).action(Action::Stop)
}

fn is_full(text: &str) -> bool {
    text.contains("No space left") || text.contains("no space left") || text.contains("errno=28")
}

/// What `/exec` calls `error` and `/write` calls `message`; else the text as it is.
fn message_of(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Body {
        #[serde(alias = "error")]
        message: String,
    }
    let parsed: Result<Body, _> = serde_json::from_slice(body);
    shown(&parsed.map_or_else(|_| String::from_utf8_lossy(body).trim().to_owned(), |body| body.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_meaning() {
        use Action::{DiscardWriter, RetryMayHelp, Stop};
        let conflict = r#"{"code":"invalid","message":"failed to parse line protocol:errors encountered on line(s):\nerror in line 1: table: t, column: d; cast error from protocol type: STRING to column type: DOUBLE","line":1,"errorId":"x"}"#;
        for (status, body, cause, action, applied) in [
            (400, conflict, Cause::Data, RetryMayHelp, Applied::No),
            (
                400,
                r#"{"query":"x","error":"table does not exist [table=t]","position":14}"#,
                Cause::Server,
                Stop,
                Applied::No,
            ),
            (400, r#"{"message":"table is suspended"}"#, Cause::Server, Stop, Applied::No),
            (401, "Unauthorized", Cause::Auth, Stop, Applied::No),
            (404, "Not Found", Cause::Server, Stop, Applied::No),
            (413, "", Cause::Data, RetryMayHelp, Applied::No),
            (429, "", Cause::Throttled { retry_after: None }, RetryMayHelp, Applied::No),
            (500, r#"{"message":"could not write [errno=28]"}"#, Cause::Full, Stop, Applied::Maybe),
            (500, "", Cause::Server, RetryMayHelp, Applied::Maybe),
            (200, "", Cause::Protocol, DiscardWriter, Applied::Maybe),
        ] {
            let error = of_write(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes(), 1);
            assert_eq!((error.cause, error.action, error.applied), (cause, action, applied), "{status} {body}");
        }
    }
}
