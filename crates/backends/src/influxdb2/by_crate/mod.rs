//! The crate `influxdb2` as another client: it makes its own points of what it is given, writes them as lines, and reads the
//! answers to Flux into maps. It is here to be compared with our own client; README.md says what it cannot do.

mod read;
mod write;

pub(crate) use read::ask;
pub(crate) use write::CrateWriter;

use super::{config::Config, error};
use ::influxdb2::{Client, ClientBuilder, RequestError};
use hyper::{HeaderMap, StatusCode};
use iotbench_backend_kit::http::error::shown;
use iotbench_core::{Action, Applied, Cause, Error};
use std::error::Error as _;

/// What the results name as the driver.
pub(crate) const DRIVER: &str = "influxdb2 0.5.2 (crate), reqwest 0.11";

/// A client with one connection, made at the first request, straight to the server and no further: as our own.
///
/// # Errors
/// Client when the token cannot be read, or the crate refuses.
pub(crate) fn client(config: &Config) -> Result<Client, Error> {
    let server = &config.server;
    let token = server.credentials.as_ref().map(|credentials| credentials.password.read()).transpose()?;
    let host = if server.host.contains(':') { format!("[{}]", server.host) } else { server.host.clone() };
    let url = format!("http://{host}:{}", server.port);
    let http =
        reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().pool_max_idle_per_host(1);
    let builder = ClientBuilder::with_builder(http, url, &config.org, token.unwrap_or_default());
    builder.build().map_err(|e| Error::new(Cause::Client, e).action(Action::Stop))
}

/// What a request came to that was no success. `lines`: how many were sent, if it was a write.
pub(crate) fn of_request(request: RequestError, lines: usize) -> Error {
    match request {
        RequestError::Http { status, text } => match StatusCode::from_u16(status.as_u16()) {
            Ok(status) => error::of_write(status, &HeaderMap::new(), text.as_bytes(), lines),
            Err(e) => Error::new(Cause::Protocol, e),
        },
        RequestError::ReqwestProcessing { source } => of_exchange(&source.without_url()),
        RequestError::Serializing { source } => Error::new(Cause::Client, source),
        // An error in the form of a table is among them.
        RequestError::Deserializing { text } => Error::new(Cause::Server, shown(&text)),
    }
}

fn of_exchange(error: &reqwest::Error) -> Error {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        text = format!("{text}: {deeper}");
        source = deeper.source();
    }
    let (cause, applied) = match (error.is_connect(), &text) {
        (true, text) if text.contains("dns error") => (Cause::Dns, Applied::No),
        (true, _) => (Cause::Connect, Applied::No),
        (false, _) if error.is_decode() => (Cause::Protocol, Applied::Maybe),
        (false, _) => (Cause::Connect, Applied::Maybe),
    };
    Error::new(cause, shown(&text)).applied(applied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_means_what_it_means_to_our_own_client() {
        let status = |code| reqwest::StatusCode::from_u16(code).unwrap();
        for (code, text, cause, applied) in [
            (400, r#"{"message":"unable to parse 'x'"}"#, Cause::Data, Applied::Maybe),
            (401, r#"{"message":"unauthorized access"}"#, Cause::Auth, Applied::No),
            (503, "", Cause::Throttled { retry_after: None }, Applied::No),
            (200, "", Cause::Protocol, Applied::Maybe),
        ] {
            let error = of_request(RequestError::Http { status: status(code), text: text.into() }, 3);
            assert_eq!((error.cause, error.applied), (cause, applied), "{code}");
        }
        let error = of_request(RequestError::Deserializing { text: "failed to \u{1b}parse".into() }, 0);
        assert_eq!((error.cause, error.message.as_str()), (Cause::Server, "failed to  parse"));
    }
}
