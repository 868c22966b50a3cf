//! The JSON interface of InfluxDB 2.x: setting up, organisations, buckets.

use super::error;
use hyper::{Method, StatusCode, body::Bytes};
use iotbench_backend_kit::http::{
    Connection, Content, Server,
    connection::{given_up, uri},
    date::now_s,
    limits::MAX_SHORT_BYTES,
};
use iotbench_core::{Cause, Error};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

const JSON: Content = Content { media_type: Some("application/json"), gzip: false };

/// A connection for requests that are answered with JSON, or with nothing.
pub(crate) struct Api {
    base_path: String,
    connection: Option<Connection>,
    now_s: Option<u64>,
}

/// A text as a part of an address.
pub(crate) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// An answer that InfluxDB 2.x does not give.
pub(crate) fn improper(message: &dyn std::fmt::Display) -> Error {
    Error::new(Cause::Protocol, format!("this is no answer of an InfluxDB 2.x: {message}"))
}

impl Api {
    pub(crate) async fn connect(server: &Server) -> Result<Self, Error> {
        Ok(Self { base_path: server.base_path.clone(), connection: Some(server.connect().await?), now_s: None })
    }

    /// The time that the server told with its last answer, in Unix seconds.
    pub(crate) fn now_s(&self) -> Option<u64> {
        self.now_s
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<Value, Error> {
        self.exchange(Method::GET, path, None).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Result<Value, Error> {
        self.exchange(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn patch(&mut self, path: &str, body: &Value) -> Result<Value, Error> {
        self.exchange(Method::PATCH, path, Some(body)).await
    }

    pub(crate) async fn delete(&mut self, path: &str) -> Result<Value, Error> {
        self.exchange(Method::DELETE, path, None).await
    }

    async fn exchange(&mut self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let uri = uri(&format!("{}{path}", self.base_path))?;
        let response = match body {
            None => connection.ask(method, &uri).await?,
            Some(body) => connection.send_body(method, &uri, JSON, Bytes::from(body.to_string())).await?,
        };
        let (head, body) = response.into_parts();
        self.now_s = now_s(&head.headers);
        let text = connection.short_body(body, MAX_SHORT_BYTES).await?;
        self.connection = Some(connection);
        match head.status {
            StatusCode::NO_CONTENT => Ok(Value::Null),
            StatusCode::OK | StatusCode::CREATED => serde_json::from_slice(&text).map_err(|e| improper(&e)),
            status => Err(error::of_status(status, &head.headers, &text)),
        }
    }
}
