//! Writes over HTTP: one request a batch.

use super::{json::JsonEncoder, refuse_batch};
use crate::kairosdb::{
    client::{JSON, write_uri},
    error::of_write,
};
use async_trait::async_trait;
use hyper::{StatusCode, Uri, body::Bytes};
use iotbench_backend_kit::{
    http::{Connection, Content, Gzip, Server, connection::given_up, limits::MAX_REFUSAL_BYTES},
    metrics::Queued,
};
use iotbench_core::{Acknowledged, Batch, Error, TableSpec, Writer};
use std::{mem, sync::Arc};

/// A connection that posts batches.
pub(crate) struct HttpWriter {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    uri: Uri,
    table: Arc<TableSpec>,
    encoder: JsonEncoder,
    text: Vec<u8>,
    gzip: Option<Gzip>,
    compressed: Vec<u8>,
    queued: Arc<Queued>,
}

impl HttpWriter {
    pub(crate) async fn connect(
        server: &Server,
        table: Arc<TableSpec>,
        gzip: bool,
        queued: Arc<Queued>,
    ) -> Result<Self, Error> {
        Ok(Self {
            connection: Some(server.connect().await?),
            uri: write_uri(server)?,
            encoder: JsonEncoder::new(&table),
            table,
            text: Vec::new(),
            gzip: gzip.then(Gzip::fastest),
            compressed: Vec::new(),
            queued,
        })
    }

    async fn post(&mut self, content: Content, body: Bytes) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.post(&self.uri, content, body).await?;
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
        self.connection = Some(connection);
        if head.status == StatusCode::NO_CONTENT {
            return Ok(());
        }
        Err(of_write(head.status, &head.headers, &text))
    }
}

#[async_trait]
impl Writer for HttpWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse_batch(batch, &self.table)?;
        let points = batch.len() as u64;
        if points == 0 {
            return Ok(Acknowledged::default());
        }
        self.encoder.encode(batch, &mut self.text);
        let (content, buffer) = match &mut self.gzip {
            None => (JSON, mem::take(&mut self.text)),
            Some(gzip) => {
                gzip.compress(&self.text, &mut self.compressed)?;
                (Content { gzip: true, ..JSON }, mem::take(&mut self.compressed))
            }
        };
        let body = Bytes::from(buffer);
        let bytes = body.len() as u64;
        let posted = self.post(content, body.clone()).await;
        // The request is answered, and so its body is ours alone again: this gives back the buffer and copies nothing.
        let buffer = Vec::from(body);
        if content.gzip {
            self.compressed = buffer;
        } else {
            self.text = buffer;
        }
        posted?;
        self.queued.acknowledged(points * batch.columns().len() as u64);
        Ok(Acknowledged { points, bytes })
    }
}
