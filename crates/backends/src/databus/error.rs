//! What the errors of Databus mean.

use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::http::error::{elsewhere, full, retry_after, shown};
use iotbench_core::{Action, Applied, Cause, Error};

/// An answer to a write that is no acknowledgement. The documentation has it that one bad row fails all of a request; the
/// source stores row by row at the end, and answers anything that went wrong with 500.
pub(crate) fn of_write(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let applied = match status.as_u16() {
        300..=499 => Applied::No,
        _ => Applied::Maybe,
    };
    of_status(status, headers, body).applied(applied)
}

/// An answer to anything else that is no success.
pub(crate) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let (text, code) = (message_of(body), status.as_u16());
    match code {
        // Registering answers a wrong key so, everything else with 401.
        400 if text.contains("is not authorized") || text.contains("key is invalid") => {
            Error::new(Cause::Auth, format!("400: {text}"))
        }
        400 if is_taken(&text) => Error::new(Cause::NotOurs, text),
        400 => Error::new(Cause::Data, text),
        401 | 403 => Error::new(Cause::Auth, format!("{code}: {text}")),
        404 if is_absent(&text) => Error::new(Cause::Server, format!("404: {text}")),
        404 => Error::new(Cause::Server, format!("404: {text}: is this a Databus?")).action(Action::Stop),
        413 => Error::new(Cause::Data, format!("{text}: send fewer datapoints at once")),
        429 | 503 => Error::new(Cause::Throttled { retry_after: retry_after(headers) }, format!("{code}: {text}")),
        300..=399 => elsewhere(status, headers),
        507 => full(&format!("507: {text}")),
        500..=599 if text.contains("No space left") => full(&text),
        500..=599 => Error::new(Cause::Server, format!("{code}: {text}")),
        _ => Error::new(Cause::Protocol, format!("{code}: {text}")),
    }
}

/// What went wrong after the first row of an answer.
pub(crate) fn of_footer(text: &str) -> Error {
    Error::new(Cause::Server, shown(text))
}

/// An answer that is no answer of a Databus.
pub(crate) fn improper(message: impl std::fmt::Display) -> Error {
    Error::new(Cause::Protocol, format!("this is no answer of a Databus: {message}"))
}

/// Whether a refusal says that there is no such table: `table does not exist=T`, `table=T does not exist`. Of a user it says
/// that too.
pub(crate) fn is_absent(text: &str) -> bool {
    text.contains("table does not exist") || text.contains("table=") && text.contains("does not exist")
}

/// Whether a refusal says that the name is taken. A table that was deleted can leave its name behind: the second text.
pub(crate) fn is_taken(text: &str) -> bool {
    text.contains("is already in use") || text.contains("already exists")
}

fn message_of(body: &[u8]) -> String {
    shown(String::from_utf8_lossy(body).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_of_a_write_has_its_meaning() {
        use Action::{DiscardWriter, RetryMayHelp, Stop};
        let throttled = Cause::Throttled { retry_after: None };
        let missing = "The table you are inserting requires column='value' to be set and is not found in json request";
        let table: &[(u16, &str, Cause, Action, Applied)] = &[
            (400, missing, Cause::Data, RetryMayHelp, Applied::No),
            (400, "user or key is invalid for user=me", Cause::Auth, Stop, Applied::No),
            (401, "user=me has no access to table=T", Cause::Auth, Stop, Applied::No),
            (403, "", Cause::Auth, Stop, Applied::No),
            (404, "<html>", Cause::Server, Stop, Applied::No),
            (404, "table does not exist=T", Cause::Server, RetryMayHelp, Applied::No),
            (413, "", Cause::Data, RetryMayHelp, Applied::No),
            (429, "", throttled, RetryMayHelp, Applied::No),
            (503, "", throttled, RetryMayHelp, Applied::Maybe),
            (500, "<html>Oops", Cause::Server, RetryMayHelp, Applied::Maybe),
            (500, "java.io.IOException: No space left on device", Cause::Full, Stop, Applied::Maybe),
            (302, "", Cause::Protocol, Stop, Applied::No),
            (204, "", Cause::Protocol, DiscardWriter, Applied::Maybe),
        ];
        for (status, body, cause, action, applied) in table {
            let error = of_write(StatusCode::from_u16(*status).unwrap(), &HeaderMap::new(), body.as_bytes());
            assert_eq!((&error.cause, &error.action, &error.applied), (cause, action, applied), "{status} {body}");
        }
    }

    #[test]
    fn a_table_that_is_not_there_is_told_from_a_user() {
        for text in
            ["<p>table does not exist=T</p>", "table=T does not exist", "Either table does not exist OR you are"]
        {
            assert!(is_absent(text), "{text}");
        }
        assert!(!is_absent("key is invalid for user=me or username does not exist"));
    }

    #[test]
    fn a_name_that_is_taken_is_somebody_elses() {
        for text in
            ["Sorry, table with tablename='T' is already in use", "Table 'T' already exists (is there a bug here?)."]
        {
            let error = of_status(StatusCode::BAD_REQUEST, &HeaderMap::new(), text.as_bytes());
            assert_eq!((error.cause, error.message.as_str()), (Cause::NotOurs, text));
        }
    }
}
