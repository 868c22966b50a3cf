//! What the answers of ClickHouse that are no success mean. Source of the numbers: `ErrorCodes.cpp` of the server.

use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::http::error::{elsewhere, full, retry_after, shown};
use iotbench_core::{Action, Applied, Cause, Error};

/// So many rows of an insert are stored together or not at all: `max_insert_block_size`, the server's default.
const ROWS_OF_BLOCK: usize = 1_048_576;

/// What the server calls it.
mod code {
    pub(super) const UNKNOWN_TABLE: u16 = 60;
    pub(super) const SYNTAX_ERROR: u16 = 62;
    pub(super) const UNKNOWN_DATABASE: u16 = 81;
    pub(super) const UNKNOWN_SETTING: u16 = 115;
    pub(super) const TIMEOUT_EXCEEDED: u16 = 159;
    pub(super) const READONLY: u16 = 164;
    pub(super) const UNKNOWN_USER: u16 = 192;
    pub(super) const REQUIRED_PASSWORD: u16 = 194;
    pub(super) const TOO_MANY_QUERIES: u16 = 202;
    pub(super) const MEMORY_LIMIT: u16 = 241;
    pub(super) const TABLE_IS_READ_ONLY: u16 = 242;
    pub(super) const NOT_ENOUGH_SPACE: u16 = 243;
    pub(super) const TOO_MANY_PARTS: u16 = 252;
    pub(super) const ACCESS_DENIED: u16 = 497;
    pub(super) const AUTHENTICATION_FAILED: u16 = 516;
}

/// An answer to an insert that is no acknowledgement.
pub(crate) fn of_write(status: StatusCode, headers: &HeaderMap, body: &[u8], rows: usize) -> Error {
    let error = of_status(status, headers, body);
    // Found before anything is stored: what is no row, who may not, and what there is too much of.
    let is_refused = matches!(status.as_u16(), 300..=499 | 503)
        || matches!(error.cause, Cause::Auth | Cause::Throttled { .. } | Cause::Data)
        || code_of(&String::from_utf8_lossy(body)) == Some(code::UNKNOWN_TABLE);
    let applied = if is_refused && rows <= ROWS_OF_BLOCK { Applied::No } else { Applied::Maybe };
    error.applied(applied)
}

/// An answer to a question, or to a statement, that is no success.
pub(crate) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let text = message_of(body);
    if let Some(code) = code_of(&text) {
        return of_code(code, &text);
    }
    match status.as_u16() {
        300..=399 => elsewhere(status, headers),
        401 | 403 => Error::new(Cause::Auth, format!("{}: {text}", status.as_u16())),
        404 => Error::new(Cause::Server, format!("404: {text}: is this a ClickHouse?")).action(Action::Stop),
        413 => Error::new(Cause::Data, format!("413: {text}: send fewer datapoints at once")),
        429 | 503 => {
            Error::new(Cause::Throttled { retry_after: retry_after(headers) }, format!("{}: {text}", status.as_u16()))
        }
        507 => full(&format!("507: {text}")),
        500..=599 => Error::new(Cause::Server, format!("{}: {text}", status.as_u16())),
        other => Error::new(Cause::Protocol, format!("{other}: {text}")),
    }
}

fn of_code(code: u16, text: &str) -> Error {
    let server = |more: &str| Error::new(Cause::Server, format!("{text}{more}"));
    match code {
        _ if text.contains("No space left") => full(text),
        code::NOT_ENOUGH_SPACE => full(text),
        code::UNKNOWN_TABLE => server(": somebody dropped it").action(Action::Stop),
        code::UNKNOWN_DATABASE => server(": make it, or name another by `database`").action(Action::Stop),
        code::UNKNOWN_SETTING => server(": this server is too old, or too new, for it").action(Action::Stop),
        code::UNKNOWN_USER..=code::REQUIRED_PASSWORD | code::ACCESS_DENIED | code::AUTHENTICATION_FAILED => {
            Error::new(Cause::Auth, text)
        }
        code::TOO_MANY_PARTS => {
            let message = format!("{text}: each insert is a part: insert more at once, or less often");
            Error::new(Cause::Throttled { retry_after: None }, message)
        }
        code::TOO_MANY_QUERIES | code::TIMEOUT_EXCEEDED => Error::new(Cause::Throttled { retry_after: None }, text),
        code::MEMORY_LIMIT => server(": max_memory_usage bounds a query's memory"),
        code::READONLY | code::TABLE_IS_READ_ONLY | code::SYNTAX_ERROR => Error::new(Cause::Data, text),
        // Below are what no value, no type and no name can be.
        1..=99 => Error::new(Cause::Data, text),
        _ => server(""),
    }
}

/// `Code: 60, e.displayText() = DB::Exception: …`, in later versions `Code: 60. DB::Exception: …`.
fn code_of(text: &str) -> Option<u16> {
    let rest = text.trim_start().strip_prefix("Code: ")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Its words, without those that say it a second time.
fn message_of(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.split(", e.what() = ").next().unwrap_or_default();
    shown(text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_meaning() {
        use Action::{DiscardWriter, RetryMayHelp, Stop};
        let said =
            |code: u16| format!("Code: {code}, e.displayText() = DB::Exception: Words, e.what() = DB::Exception");
        let later = "Code: 252. DB::Exception: Too many parts (300). (TOO_MANY_PARTS) (version 24.1)";
        for (status, body, cause, action, applied) in [
            (404, said(60), Cause::Server, Stop, Applied::No),
            (500, said(27), Cause::Data, RetryMayHelp, Applied::No),
            (401, said(193), Cause::Auth, Stop, Applied::No),
            (500, said(115), Cause::Server, Stop, Applied::Maybe),
            (500, said(241), Cause::Server, RetryMayHelp, Applied::Maybe),
            (500, said(243), Cause::Full, Stop, Applied::Maybe),
            (500, said(202), Cause::Throttled { retry_after: None }, RetryMayHelp, Applied::No),
            (500, later.into(), Cause::Throttled { retry_after: None }, RetryMayHelp, Applied::No),
            (500, "Code: 74. DB::Exception: No space left on device".into(), Cause::Full, Stop, Applied::Maybe),
            (404, "Not Found".into(), Cause::Server, Stop, Applied::No),
            (429, String::new(), Cause::Throttled { retry_after: None }, RetryMayHelp, Applied::No),
            (502, String::new(), Cause::Server, RetryMayHelp, Applied::Maybe),
            (200, String::new(), Cause::Protocol, DiscardWriter, Applied::Maybe),
            (200, said(241), Cause::Server, RetryMayHelp, Applied::Maybe),
        ] {
            let error = of_write(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes(), 1);
            assert!(!error.message.contains("e.what()"), "{error}");
            assert_eq!((error.cause, error.action, error.applied), (cause, action, applied), "{status} {body}");
        }
    }

    #[test]
    fn of_a_long_insert_some_rows_may_be_stored() {
        let body = b"Code: 27. DB::Exception: Cannot parse input";
        let applied = |rows| of_write(StatusCode::BAD_REQUEST, &HeaderMap::new(), body, rows).applied;
        assert_eq!((applied(ROWS_OF_BLOCK), applied(ROWS_OF_BLOCK + 1)), (Applied::No, Applied::Maybe));
    }
}
