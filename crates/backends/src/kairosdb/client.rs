//! Asks one server, and writes and deletes the few things that mark what is ours.

use super::{
    config::Node,
    document::Document,
    error::{improper, of_status, of_write},
};
use hyper::{
    HeaderMap, Method, Response, StatusCode, Uri,
    body::{Bytes, Incoming},
};
use iotbench_backend_kit::http::{
    Connection, Content, Server,
    connection::{given_up, uri},
    date::now_s,
    limits::{MAX_SHORT_BYTES, MAX_WHOLE_BYTES},
};
use iotbench_core::{Cause, Error, Name};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a body is when it is JSON.
pub(crate) const JSON: Content = Content { media_type: Some("application/json"), gzip: false };

/// A connection for questions, and for marks.
pub(crate) struct Client {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    base_path: String,
    query: Uri,
    query_tags: Uri,
    write: Uri,
    now_s: Option<u64>,
}

/// Where datapoints are written.
pub(crate) fn write_uri(server: &Server) -> Result<Uri, Error> {
    uri(&format!("{}/api/v1/datapoints", server.base_path))
}

impl Client {
    pub(crate) async fn connect(server: &Server) -> Result<Self, Error> {
        Ok(Self {
            connection: Some(server.connect().await?),
            base_path: server.base_path.clone(),
            query: uri(&format!("{}/api/v1/datapoints/query", server.base_path))?,
            query_tags: uri(&format!("{}/api/v1/datapoints/query/tags", server.base_path))?,
            write: write_uri(server)?,
            now_s: None,
        })
    }

    /// A connection to the first of these servers that can be reached: they share one store.
    pub(crate) async fn of_any(nodes: &[Node]) -> Result<Self, Error> {
        let (last, others) = nodes.split_last().ok_or_else(|| Error::new(Cause::Client, "no server"))?;
        for node in others {
            match Self::connect(&node.server).await {
                Err(e) if e.cause == Cause::Connect => {}
                connected => return connected,
            }
        }
        Self::connect(&last.server).await
    }

    /// Asks about values. Gives what `take` makes of the answer, and the bytes of it.
    pub(crate) async fn ask<T>(
        &mut self,
        question: String,
        take: impl FnOnce(&Document<'_>) -> Result<T, Error>,
    ) -> Result<(T, u64), Error> {
        let text = self.post(self.query.clone(), question).await?;
        let document = serde_json::from_slice(&text).map_err(improper)?;
        Ok((take(&document)?, text.len() as u64))
    }

    /// Asks for the values that a tag of these metrics has; and the bytes of the answer.
    pub(crate) async fn ask_tag(&mut self, question: String, tag: &str) -> Result<(BTreeSet<String>, u64), Error> {
        let text = self.post(self.query_tags.clone(), question).await?;
        let mut document: Document<'_> = serde_json::from_slice(&text).map_err(improper)?;
        let groups = document.queries.iter_mut().flat_map(|metric| &mut metric.results);
        let values = groups.flat_map(|group| group.tags.remove(tag).unwrap_or_default()).collect();
        Ok((values, text.len() as u64))
    }

    /// Asks for the values that each tag of these metrics has, metric by metric.
    pub(crate) async fn ask_tags(&mut self, question: String) -> Result<Vec<BTreeMap<String, Vec<String>>>, Error> {
        let text = self.post(self.query_tags.clone(), question).await?;
        let document: Document<'_> = serde_json::from_slice(&text).map_err(improper)?;
        Ok(document.queries.into_iter().flat_map(|metric| metric.results).map(|group| group.tags).collect())
    }

    /// The names of all metrics that begin so.
    pub(crate) async fn metrics(&mut self, prefix: &str) -> Result<Vec<String>, Error> {
        #[derive(Deserialize)]
        struct Names {
            results: Vec<String>,
        }
        // A name of ours is safe in an address. The server of some stores takes `_` for any character.
        let text = self.request(Method::GET, &format!("/api/v1/metricnames?prefix={prefix}")).await?;
        let names: Names = serde_json::from_slice(&text).map_err(improper)?;
        Ok(names.results.into_iter().filter(|name| name.starts_with(prefix)).collect())
    }

    /// The time that the server told with its last answer, in Unix seconds.
    pub(crate) fn now_s(&self) -> Option<u64> {
        self.now_s
    }

    /// What the server says that it is.
    pub(crate) async fn version(&mut self) -> Result<String, Error> {
        #[derive(Deserialize)]
        struct Version {
            version: String,
        }
        let text = self.request(Method::GET, "/api/v1/version").await?;
        let said: Version = serde_json::from_slice(&text).map_err(improper)?;
        said.version.strip_prefix("KairosDB ").map(Into::into).ok_or_else(|| improper(said.version))
    }

    /// Writes a few datapoints, which become visible later.
    pub(crate) async fn write(&mut self, body: String) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.post(&self.write, JSON, Bytes::from(body)).await?;
        let (status, headers, text) = self.finish(connection, response, MAX_SHORT_BYTES).await?;
        if status == StatusCode::NO_CONTENT { Ok(()) } else { Err(of_write(status, &headers, &text)) }
    }

    /// Deletes a metric of ours with all its values.
    pub(crate) async fn delete(&mut self, metric: &str) -> Result<(), Error> {
        self.request(Method::DELETE, &format!("/api/v1/metric/{metric}")).await.map(drop)
    }

    async fn post(&mut self, uri: Uri, body: String) -> Result<Vec<u8>, Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.post(&uri, JSON, Bytes::from(body)).await?;
        let (status, headers, text) = self.finish(connection, response, MAX_WHOLE_BYTES).await?;
        if status.is_success() { Ok(text) } else { Err(of_status(status, &headers, &text)) }
    }

    async fn request(&mut self, method: Method, path: &str) -> Result<Vec<u8>, Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.ask(method, &uri(&format!("{}{path}", self.base_path))?).await?;
        let (status, headers, text) = self.finish(connection, response, MAX_SHORT_BYTES).await?;
        if status.is_success() { Ok(text) } else { Err(of_status(status, &headers, &text)) }
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
        self.now_s = now_s(&head.headers);
        Ok((head.status, head.headers, text))
    }
}

/// The address of a table's metric in words, for errors.
pub(crate) fn of_table(table: &Name) -> String {
    format!("the metrics of table {table}")
}
