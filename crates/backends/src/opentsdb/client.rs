//! Asks one server, and writes and deletes the few things that mark what is ours.

use super::{
    document::Document,
    error::{improper, names_unknown_device, of_status, of_write},
    facts::{Told, Version},
    question::{Asked, deletion, question},
};
use hyper::{HeaderMap, Method, Response, StatusCode, Uri, body::Bytes, body::Incoming};
use iotbench_backend_kit::{
    http::{
        Connection, Content, Server,
        connection::{given_up, uri},
        limits::{MAX_SHORT_BYTES, MAX_WHOLE_BYTES},
    },
    metrics::Millis,
};
use iotbench_core::Error;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// So many names are assigned at once: a server may take no more than 8 KiB.
const NAMES_AT_ONCE: usize = 32;
/// What a body is when it is JSON.
pub(crate) const JSON: Content = Content { media_type: Some("application/json"), gzip: false };

/// A connection for questions, and for marks.
pub(crate) struct Client {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    base_path: String,
    query: Uri,
}

impl Client {
    pub(crate) async fn connect(server: &Server) -> Result<Self, Error> {
        Ok(Self {
            connection: Some(server.connect().await?),
            base_path: server.base_path.clone(),
            query: uri(&format!("{}/api/query?arrays", server.base_path))?,
        })
    }

    /// The connection, for other requests.
    pub(crate) fn into_connection(self) -> Option<Connection> {
        self.connection
    }

    /// Asks about values of these devices, or of all. Gives what `take` makes of the answer, and the bytes of it.
    pub(crate) async fn ask<T>(
        &mut self,
        span: Millis,
        devices: Option<&[u32]>,
        asked: &[Asked],
        take: impl FnOnce(&Document<'_>) -> Result<T, Error>,
    ) -> Result<(T, u64), Error> {
        let text = match self.post(question(span, devices, asked)).await {
            // Of the others there may be something.
            Err(e) if names_unknown_device(&e) => self.post(question(span, None, asked)).await?,
            answered => answered?,
        };
        let document = Document::read(&text, span, devices, asked)?;
        Ok((take(&document)?, text.len() as u64))
    }

    /// The names of all metrics that begin so, those with nothing stored too.
    pub(crate) async fn metrics(&mut self, prefix: &str) -> Result<Vec<String>, Error> {
        let path = format!("/api/suggest?type=metrics&max=1000000&q={prefix}");
        let names: Vec<String> = self.get(Method::GET, &path).await?;
        Ok(names.into_iter().filter(|name| name.starts_with(prefix)).collect())
    }

    /// What the server says that it is.
    pub(crate) async fn version(&mut self) -> Result<Version, Error> {
        self.get(Method::GET, "/api/version").await
    }

    /// How the server is set.
    pub(crate) async fn told(&mut self) -> Result<Told, Error> {
        self.get(Method::GET, "/api/config").await.map(Told)
    }

    /// Makes the names of metrics, and of a tag, known: what was never written can then be asked about.
    pub(crate) async fn assign(&mut self, metrics: &[String], tag: &str) -> Result<(), Error> {
        for names in metrics.chunks(NAMES_AT_ONCE) {
            let body = json!({ "metric": names, "tagk": [tag] }).to_string();
            let (status, headers, text) = self.exchange(Method::POST, "/api/uid/assign", Some(body)).await?;
            if !status.is_success() && !are_known(&text) {
                return Err(of_status(status, &headers, &text));
            }
        }
        Ok(())
    }

    /// Writes one value and waits until it is stored, and so is what this server took before.
    pub(crate) async fn put(&mut self, datapoint: &Value) -> Result<(), Error> {
        let (status, headers, text) =
            self.exchange(Method::POST, "/api/put?details&sync", Some(datapoint.to_string())).await?;
        let is_stored = serde_json::from_slice(&text).is_ok_and(|said: Value| said["success"] == 1);
        if status.is_success() && is_stored { Ok(()) } else { Err(of_write(status, &headers, &text)) }
    }

    /// Has all values of a metric of ours deleted, which takes a while.
    pub(crate) async fn delete(&mut self, metric: &str) -> Result<(), Error> {
        self.get::<Value>(Method::DELETE, &deletion(metric)).await.map(drop)
    }

    /// Keeps a note about no series, in the place of one of its time.
    pub(crate) async fn put_note<T: DeserializeOwned>(&mut self, note: &Value) -> Result<T, Error> {
        let (status, headers, text) = self.exchange(Method::PUT, "/api/annotation", Some(note.to_string())).await?;
        if status.is_success() { read(&text) } else { Err(of_status(status, &headers, &text)) }
    }

    /// The note of this second, if there is one.
    pub(crate) async fn note<T: DeserializeOwned>(&mut self, second: u32) -> Result<Option<T>, Error> {
        let path = format!("/api/annotation?start_time={second}");
        match self.exchange(Method::GET, &path, None).await? {
            (StatusCode::NOT_FOUND, ..) => Ok(None),
            (status, _, text) if status.is_success() => read(&text).map(Some),
            (status, headers, text) => Err(of_status(status, &headers, &text)),
        }
    }

    /// The notes of these seconds.
    pub(crate) async fn notes<T: DeserializeOwned>(&mut self, first: u32, last: u32) -> Result<Vec<T>, Error> {
        self.get(Method::GET, &format!("/api/annotations?start_time={first}&end_time={last}")).await
    }

    pub(crate) async fn delete_note(&mut self, second: u32) -> Result<(), Error> {
        let path = format!("/api/annotation?start_time={second}");
        let (status, headers, text) = self.exchange(Method::DELETE, &path, None).await?;
        if status.is_success() { Ok(()) } else { Err(of_status(status, &headers, &text)) }
    }

    async fn post(&mut self, body: String) -> Result<Vec<u8>, Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.post(&self.query, JSON, Bytes::from(body)).await?;
        let (status, headers, text) = self.finish(connection, response, MAX_WHOLE_BYTES).await?;
        if status.is_success() { Ok(text) } else { Err(of_status(status, &headers, &text)) }
    }

    async fn get<T: DeserializeOwned>(&mut self, method: Method, path: &str) -> Result<T, Error> {
        let (status, headers, text) = self.exchange(method, path, None).await?;
        if status.is_success() { read(&text) } else { Err(of_status(status, &headers, &text)) }
    }

    async fn exchange(
        &mut self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let uri = uri(&format!("{}{path}", self.base_path))?;
        let response = match body {
            None => connection.ask(method, &uri).await?,
            Some(body) => connection.send_body(method, &uri, JSON, Bytes::from(body)).await?,
        };
        self.finish(connection, response, MAX_SHORT_BYTES).await
    }

    /// Reads the whole answer and takes the connection back.
    async fn finish(
        &mut self,
        mut connection: Connection,
        response: Response<Incoming>,
        most_bytes: usize,
    ) -> Result<(StatusCode, HeaderMap, Vec<u8>), Error> {
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, most_bytes).await?;
        self.connection = Some(connection);
        Ok((head.status, head.headers, text))
    }
}

fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(text).map_err(improper)
}

/// Whether the only complaint about names is that they are known already.
fn are_known(text: &[u8]) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Refused {
        metric_errors: BTreeMap<String, String>,
        tagk_errors: BTreeMap<String, String>,
    }
    let refused: Refused = serde_json::from_slice(text).unwrap_or_default();
    let mut complaints = refused.metric_errors.values().chain(refused.tagk_errors.values()).peekable();
    complaints.peek().is_some() && complaints.all(|complaint| complaint.starts_with("Name already exists"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_known_already_are_no_error() {
        let known = r#"{"metric":{"b":"000002"},"metric_errors":{"a":"Name already exists with UID: 000001"}}"#;
        assert!(are_known(known.as_bytes()));
        assert!(are_known(br#"{"tagk_errors":{"device":"Name already exists with UID: 000001"}}"#));
        for other in [r#"{"metric_errors":{"a":"illegal character"}}"#, r#"{"error":{"message":"x"}}"#, "<html>"] {
            assert!(!are_known(other.as_bytes()), "{other}");
        }
    }
}
