//! The server's time, which it tells in the head of an answer.

use hyper::{HeaderMap, header::DATE};
use std::time::UNIX_EPOCH;

/// It in Unix seconds; `None` where the server tells none.
#[must_use]
pub fn now_s(headers: &HeaderMap) -> Option<u64> {
    let date = headers.get(DATE)?.to_str().ok()?;
    let since = httpdate::parse_http_date(date).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_date_is_its_time_and_what_is_none_is_none() {
        let of = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(DATE, text.parse().unwrap());
            now_s(&headers)
        };
        assert_eq!(of("Tue, 14 Nov 2023 22:13:20 GMT"), Some(1_700_000_000));
        assert_eq!((of("soon"), of("Wed, 31 Dec 1969 23:59:59 GMT"), now_s(&HeaderMap::new())), (None, None, None));
    }
}
