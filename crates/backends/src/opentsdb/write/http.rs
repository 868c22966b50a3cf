//! Writes over HTTP.

use super::{
    account::{judge, with_earlier},
    json::JsonEncoder,
    refuse_batch,
};
use crate::opentsdb::{
    client::{Client, JSON},
    config::Method,
};
use async_trait::async_trait;
use hyper::{Uri, body::Bytes};
use iotbench_backend_kit::{
    http::{
        Connection, Content, Gzip, Server,
        connection::{given_up, uri},
        limits::MAX_PART_BYTES,
    },
    metrics::Queued,
};
use iotbench_core::{Acknowledged, Batch, Cause, Error, TableSpec, Writer};
use std::{mem, ops::Range, sync::Arc};

/// A connection that posts batches.
pub(crate) struct HttpWriter {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    uri: Uri,
    table: Arc<TableSpec>,
    encoder: JsonEncoder,
    /// The server's limit of a request, before it is compressed.
    most_body_bytes: usize,
    text: Vec<u8>,
    gzip: Option<Gzip>,
    compressed: Vec<u8>,
    queued: Arc<Queued>,
}

impl HttpWriter {
    pub(crate) async fn connect(
        server: &Server,
        table: Arc<TableSpec>,
        method: Method,
        queued: Arc<Queued>,
    ) -> Result<Self, Error> {
        let mut client = Client::connect(server).await?;
        let most_body_bytes = client.told().await?.most_body_bytes();
        let sync = if method.sync { "&sync" } else { "" };
        Ok(Self {
            connection: client.into_connection(),
            uri: uri(&format!("{}/api/put?details{sync}", server.base_path))?,
            encoder: JsonEncoder::new(&table),
            table,
            most_body_bytes,
            text: Vec::new(),
            gzip: method.gzip.then(Gzip::fastest),
            compressed: Vec::new(),
            queued,
        })
    }

    /// Posts as many rows from `first` on as a request takes. Gives them, and the bytes of the request.
    async fn post(&mut self, batch: &Batch, first: usize) -> Result<(Range<usize>, u64), Error> {
        let rows = self.encoder.encode(batch, first, self.most_body_bytes, &mut self.text);
        if rows.is_empty() {
            let message = format!(
                "one datapoint is longer than the {} bytes that the server takes at once (tsd.http.request.max_chunk)",
                self.most_body_bytes
            );
            return Err(Error::new(Cause::Data, message));
        }
        let (content, buffer) = match &mut self.gzip {
            None => (JSON, mem::take(&mut self.text)),
            Some(gzip) => {
                gzip.compress(&self.text, &mut self.compressed)?;
                (Content { gzip: true, ..JSON }, mem::take(&mut self.compressed))
            }
        };
        let body = Bytes::from(buffer);
        let bytes = body.len() as u64;
        let posted = self.exchange(batch, rows.clone(), content, body.clone()).await;
        // The request is answered, and so its body is ours alone again: this gives back the buffer and copies nothing.
        let buffer = Vec::from(body);
        if content.gzip {
            self.compressed = buffer;
        } else {
            self.text = buffer;
        }
        posted.map(|()| (rows, bytes))
    }

    async fn exchange(
        &mut self,
        batch: &Batch,
        rows: Range<usize>,
        content: Content,
        body: Bytes,
    ) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.post(&self.uri, content, body).await?;
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MAX_PART_BYTES).await?;
        self.connection = Some(connection);
        judge(&self.table, batch, rows, head.status, &head.headers, &text)
    }
}

#[async_trait]
impl Writer for HttpWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse_batch(batch, &self.table)?;
        let (mut first, mut bytes) = (0, 0);
        while first < batch.len() {
            match self.post(batch, first).await {
                Ok((rows, sent)) => {
                    self.queued.acknowledged((rows.len() * self.table.schema.width()) as u64);
                    first = rows.end;
                    bytes += sent;
                }
                Err(mut error) => {
                    error.applied = with_earlier(first, error.applied);
                    return Err(error);
                }
            }
        }
        Ok(Acknowledged { points: batch.len() as u64, bytes })
    }
}
