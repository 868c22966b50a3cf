//! What the answers of InfluxDB 2.x that are no success mean: `{"code":"…","message":"…"}`.

use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::http::error::{elsewhere, full, retry_after, shown};
use iotbench_core::{Action, Applied, Cause, Error};
use serde::Deserialize;

/// An answer to `/api/v2/write` that is no acknowledgement. Of lines that are refused as such the others may be stored.
pub(crate) fn of_write(status: StatusCode, headers: &HeaderMap, body: &[u8], lines: usize) -> Error {
    let error = of_status(status, headers, body);
    let applied = match status.as_u16() {
        400 | 422 if lines > 1 => Applied::Maybe,
        100..=299 | 500..=502 | 504..=599 => Applied::Maybe,
        _ => Applied::No,
    };
    error.applied(applied)
}

/// An answer to anything else that is no success.
pub(crate) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let (text, code) = (message_of(body), status.as_u16());
    match code {
        300..=399 => elsewhere(status, headers),
        400 | 422 => Error::new(Cause::Data, format!("{code}: {text}")),
        401 | 403 => Error::new(Cause::Auth, format!("{code}: {text}: see token_file and org")),
        404 if text.contains("bucket") || text.contains("organization") => {
            Error::new(Cause::Server, format!("404: {text}")).action(Action::Stop)
        }
        404 => Error::new(Cause::Server, format!("404: {text}: is this an InfluxDB 2.x?")).action(Action::Stop),
        413 => Error::new(Cause::Data, format!("413: {text}: send fewer datapoints at once")),
        429 | 503 => Error::new(Cause::Throttled { retry_after: retry_after(headers) }, format!("{code}: {text}")),
        507 => full(&format!("507: {text}")),
        500..=599 if text.contains("no space left on device") => full(&text),
        500..=599 => Error::new(Cause::Server, format!("{code}: {text}")),
        _ => Error::new(Cause::Protocol, format!("{code}: {text}")),
    }
}

fn message_of(body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Body {
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
        let throttled = Cause::Throttled { retry_after: None };
        for (status, body, cause, action, applied) in [
            (
                400,
                r#"{"code":"invalid","message":"unable to parse 'x': missing fields"}"#,
                Cause::Data,
                RetryMayHelp,
                Applied::Maybe,
            ),
            (
                422,
                r#"{"code":"unprocessable entity","message":"field type conflict dropped=1"}"#,
                Cause::Data,
                RetryMayHelp,
                Applied::Maybe,
            ),
            (401, r#"{"code":"unauthorized","message":"unauthorized access"}"#, Cause::Auth, Stop, Applied::No),
            (404, r#"{"code":"not found","message":"bucket \"x\" not found"}"#, Cause::Server, Stop, Applied::No),
            (404, "404 page not found", Cause::Server, Stop, Applied::No),
            (413, "", Cause::Data, RetryMayHelp, Applied::No),
            (429, "", throttled, RetryMayHelp, Applied::No),
            (503, "", throttled, RetryMayHelp, Applied::No),
            (500, r#"{"message":"write /x: no space left on device"}"#, Cause::Full, Stop, Applied::Maybe),
            (500, "", Cause::Server, RetryMayHelp, Applied::Maybe),
            (200, "", Cause::Protocol, DiscardWriter, Applied::Maybe),
        ] {
            let error = of_write(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes(), 3);
            assert_eq!((error.cause, error.action, error.applied), (cause, action, applied), "{status} {body}");
        }
    }
}
