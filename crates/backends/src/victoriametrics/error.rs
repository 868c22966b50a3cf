//! What the answers of VictoriaMetrics that are no success mean.

use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::http::error::{elsewhere, full, retry_after, shown};
use iotbench_core::{Action, Applied, Cause, Error};

/// An answer to `/write` that is no acknowledgement. What is refused with a 4xx was not read to its end, and lines
/// before the fault may be stored: the server takes a request in blocks of 64 KiB.
pub(crate) fn of_write(status: StatusCode, headers: &HeaderMap, body: &[u8], _lines: usize) -> Error {
    let applied = match status.as_u16() {
        300..=399 | 401 | 403 | 404 | 413 | 429 | 503 => Applied::No,
        _ => Applied::Maybe,
    };
    of_status(status, headers, body).applied(applied)
}

/// An answer to anything else that is no success.
pub(crate) fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Error {
    let (text, code) = (shown(String::from_utf8_lossy(body).trim()), status.as_u16());
    match code {
        300..=399 => elsewhere(status, headers),
        400 => Error::new(Cause::Data, format!("400: {text}")),
        401 | 403 => Error::new(Cause::Auth, format!("{code}: {text}")),
        404 => Error::new(Cause::Server, format!("404: {text}: is this a VictoriaMetrics?")).action(Action::Stop),
        413 => Error::new(Cause::Data, format!("413: {text}: send fewer datapoints at once")),
        422 => of_query(&text),
        429 | 503 => of_busy(code, headers, &text),
        507 => full(&format!("507: {text}")),
        500..=599 if is_full(&text) => full(&text),
        500..=599 => Error::new(Cause::Server, format!("{code}: {text}")),
        _ => Error::new(Cause::Protocol, format!("{code}: {text}")),
    }
}

/// A question that the server does not answer: its limits are those of its flags.
fn of_query(text: &str) -> Error {
    let is_limit =
        ["-search.max", "cannot select more than", "the number of matching"].iter().any(|w| text.contains(w));
    let hint = if is_limit { ": raise that limit of the server" } else { "" };
    Error::new(Cause::Server, format!("422: {text}{hint}"))
}

/// It has its own limits of requests at once; it also becomes read only when its disk is nearly full.
fn of_busy(code: u16, headers: &HeaderMap, text: &str) -> Error {
    if text.contains("read-only") || is_full(text) {
        return full(&format!("{code}: {text}"));
    }
    Error::new(Cause::Throttled { retry_after: retry_after(headers) }, format!("{code}: {text}"))
}

fn is_full(text: &str) -> bool {
    text.contains("no space left on device") || text.contains("disk quota exceeded")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refusal_has_its_meaning() {
        use Action::{DiscardWriter, RetryMayHelp, Stop};
        let throttled = Cause::Throttled { retry_after: None };
        for (status, body, cause, action, applied) in [
            (400, "cannot read gzipped data: unexpected EOF", Cause::Data, RetryMayHelp, Applied::Maybe),
            (401, "", Cause::Auth, Stop, Applied::No),
            (404, "unsupported path requested", Cause::Server, Stop, Applied::No),
            (413, "", Cause::Data, RetryMayHelp, Applied::No),
            (
                422,
                r#"{"status":"error","error":"duplicate output timeseries"}"#,
                Cause::Server,
                RetryMayHelp,
                Applied::Maybe,
            ),
            (429, "", throttled, RetryMayHelp, Applied::No),
            (503, "cannot handle more than 8 concurrent inserts", throttled, RetryMayHelp, Applied::No),
            (
                503,
                "the storage is in read-only mode; see -storage.minFreeDiskSpaceBytes",
                Cause::Full,
                Stop,
                Applied::No,
            ),
            (500, "write /x: no space left on device", Cause::Full, Stop, Applied::Maybe),
            (500, "", Cause::Server, RetryMayHelp, Applied::Maybe),
            (200, "", Cause::Protocol, DiscardWriter, Applied::Maybe),
        ] {
            let error = of_write(StatusCode::from_u16(status).unwrap(), &HeaderMap::new(), body.as_bytes(), 1);
            assert_eq!((error.cause, error.action, error.applied), (cause, action, applied), "{status} {body}");
        }
    }

    #[test]
    fn a_limit_of_the_server_is_named_with_the_way_out() {
        let body = br#"{"error":"cannot select more than -search.maxSamplesPerQuery=10 samples"}"#;
        let error = of_status(StatusCode::UNPROCESSABLE_ENTITY, &HeaderMap::new(), body);
        assert!(error.message.contains("raise that limit"), "{error}");
    }
}
