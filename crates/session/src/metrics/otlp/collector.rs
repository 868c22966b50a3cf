//! Where figures are pushed to, and what lets us in there.

use crate::error::SessionError;
use hyper::{
    HeaderMap, Uri,
    header::{HeaderName, HeaderValue},
};
use iotbench_backend_kit::http::{Server, server::Trust};
use iotbench_core::Endpoint;
use percent_encoding::percent_decode_str;
use std::fmt;

/// Standard variables of OpenTelemetry.
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const CERTIFICATE: &str = "OTEL_EXPORTER_OTLP_CERTIFICATE";
/// The signal's own path below the endpoint.
const PATH: &str = "/v1/metrics";
/// Where an address without a port means, over HTTP.
const PORT: u16 = 4318;

/// A collector that takes OTLP over HTTP. What lets us in is never shown.
#[derive(Debug)]
pub struct OtlpCollector {
    pub(super) server: Server,
    pub(super) path: Uri,
    shown: String,
}

impl OtlpCollector {
    /// The one at this address, such as `http://127.0.0.1:4318`, below which is `/v1/metrics`. `variable` looks into the environment:
    /// `OTEL_EXPORTER_OTLP_HEADERS` has what else each request carries, as `name=value,name=value` with percent-encoded values;
    /// `OTEL_EXPORTER_OTLP_CERTIFICATE` names a PEM file of the authorities to trust in place of the public ones.
    ///
    /// # Errors
    /// What cannot be taken; it is never repeated, because it may hold a secret.
    pub fn new(address: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Self, SessionError> {
        let refuse =
            |why: &str| SessionError::usage(format!("--otlp: {why}; write http://HOST:{PORT} or https://HOST"));
        let endpoint: Endpoint = address.trim().parse().map_err(|e| refuse(&format!("this is no address: {e}")))?;
        let url = endpoint.expose();
        if !url.username().is_empty() || url.password().is_some() || endpoint.is_cut_off() {
            let why = format!("an address has no user and password here: {HEADERS}=authorization=… lets in");
            return Err(refuse(&why));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refuse(&format!("an address has no ? or # here: {HEADERS} has what lets in")));
        }
        let authorities = variable(CERTIFICATE).filter(|file| !file.is_empty());
        let (trust, port) = match (url.scheme(), authorities) {
            ("http", _) => (None, PORT),
            ("https", None) => (Some(Trust::PublicAuthorities), 443),
            ("https", Some(file)) => (Some(Trust::Authorities(file.into())), 443),
            _ => return Err(refuse("it is neither http nor https")),
        };
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| refuse("it names no host"))?;
        let host = host.trim_matches(['[', ']']).to_owned();
        let path = format!("{}{PATH}", url.path().trim_end_matches('/'));
        let path = Uri::try_from(path).map_err(|_| refuse("its path is none that HTTP takes"))?;
        // A path may be a secret too.
        let shown = endpoint.to_string();
        let shown = shown.strip_suffix(url.path()).unwrap_or("***").to_owned();
        let mut server = Server::new(host, endpoint.port().unwrap_or(port), String::new(), trust, None);
        server.headers = headers(&variable(HEADERS).unwrap_or_default())?;
        Ok(Self { server, path, shown })
    }
}

/// Its address, without a secret.
impl fmt::Display for OtlpCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// `name=value,name=value`, as W3C's baggage is written, whose values are percent-encoded.
fn headers(text: &str) -> Result<HeaderMap, SessionError> {
    let mut headers = HeaderMap::new();
    for (number, pair) in (1..).zip(text.split(',').map(str::trim).filter(|pair| !pair.is_empty())) {
        let wrong = |why: &str| {
            SessionError::usage(format!("{HEADERS}: header {number} {why}; write name=value, with commas between them"))
        };
        let (name, value) = pair.split_once('=').ok_or_else(|| wrong("has no ="))?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| wrong("has no name that HTTP takes"))?;
        let value = percent_decode_str(value.trim()).decode_utf8().map_err(|_| wrong("is not UTF-8"))?;
        let mut value = HeaderValue::try_from(&*value).map_err(|_| wrong("has no value that HTTP takes"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collector(address: &str, headers: &str) -> Result<OtlpCollector, String> {
        let headers = headers.to_owned();
        let variable = move |name: &str| (name == HEADERS).then(|| headers.clone());
        OtlpCollector::new(address, variable).map_err(|error| error.to_string())
    }

    #[test]
    fn the_path_of_the_signal_stands_behind_that_of_the_address() {
        for (address, host, port, path) in [
            ("http://127.0.0.1:4318", "127.0.0.1", 4318, "/v1/metrics"),
            ("http://h/", "h", 4318, "/v1/metrics"),
            ("https://h/otlp/", "h", 443, "/otlp/v1/metrics"),
            ("http://[::1]:80", "::1", 80, "/v1/metrics"),
        ] {
            let found = collector(address, "").unwrap();
            assert_eq!((&*found.server.host, found.server.port, found.path.path()), (host, port, path), "{address}");
        }
        assert_eq!(collector("http://h:4318/c4n4ry", "").unwrap().to_string(), "http://h:4318");
    }

    #[test]
    fn headers_are_percent_decoded_and_a_secret_in_them_or_the_address_is_never_shown() {
        let found = collector("http://h", "authorization=Basic%20c4n4ry=, x-scope = a ,").unwrap();
        assert_eq!(found.server.headers["authorization"], "Basic c4n4ry=");
        assert_eq!(found.server.headers["x-scope"], "a");
        assert!(!format!("{found:?} {found}").contains("c4n4ry"), "{found:?}");
        for (address, headers) in [
            ("http://c4n4ry@h", ""),
            ("http://me:c4n4ry@h", ""),
            ("http://me:c4n4ry/@h", ""),
            ("http://h?token=c4n4ry", ""),
            ("http://h/#c4n4ry", ""),
            ("c4n4ry", ""),
            ("grpc://c4n4ry", ""),
            ("http://h", "c4n4ry"),
            ("http://h", "c4n4ry c4n4ry=x"),
            ("http://h", "x=c4n4ry%0A"),
        ] {
            let refused = collector(address, headers).unwrap_err();
            assert!(!refused.contains("c4n4ry"), "{refused}");
        }
    }
}
