//! Writes over HTTP: one request a batch.

use super::encoder;
use crate::influxdb::{
    client::{given_up, write_uri},
    connection::{Connection, Content},
    error,
    server::Server,
};
use crate::line_protocol::{Encoder, Gzip};
use async_trait::async_trait;
use hyper::{StatusCode, Uri, body::Bytes};
use iotbench_core::{Acknowledged, Batch, Error, Name, TableSpec, Writer};
use std::{mem, sync::Arc};

/// The most bytes of an answer that is no acknowledgement.
const MOST_ERROR_BYTES: usize = 64 << 10;

/// A connection that posts batches.
pub(crate) struct HttpWriter {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    uri: Uri,
    encoder: Encoder,
    gzip: Option<Gzip>,
    compressed: Vec<u8>,
}

impl HttpWriter {
    pub(crate) async fn connect(
        server: &Server,
        database: &Name,
        table: Arc<TableSpec>,
        gzip: bool,
    ) -> Result<Self, Error> {
        Ok(Self {
            connection: Some(server.connect_to_write().await?),
            uri: write_uri(server, database)?,
            encoder: encoder(table)?,
            gzip: gzip.then(Gzip::new),
            compressed: Vec::new(),
        })
    }

    /// Posts a body of so many lines.
    async fn post(&mut self, content: Content, body: Bytes, lines: usize) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.post(&self.uri, content, body).await?;
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MOST_ERROR_BYTES).await?;
        self.connection = Some(connection);
        if head.status == StatusCode::NO_CONTENT {
            return Ok(());
        }
        Err(error::of_write(head.status, &head.headers, &text, lines))
    }
}

#[async_trait]
impl Writer for HttpWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        let points = batch.len() as u64;
        let lines = self.encoder.encode(batch)?;
        let count = lines.ends.len();
        if count == 0 {
            return Ok(Acknowledged { points, bytes: 0 });
        }
        let (content, buffer) = match &mut self.gzip {
            None => (Content::Lines, mem::take(&mut lines.bytes)),
            Some(gzip) => {
                gzip.compress(&lines.bytes, &mut self.compressed)?;
                (Content::GzippedLines, mem::take(&mut self.compressed))
            }
        };
        let body = Bytes::from(buffer);
        let bytes = body.len() as u64;
        let posted = self.post(content, body.clone(), count).await;
        // The request is answered, and so its body is ours alone again: this gives back the buffer and copies nothing.
        let buffer = Vec::from(body);
        match content {
            Content::GzippedLines => self.compressed = buffer,
            _ => self.encoder.lines.bytes = buffer,
        }
        posted.map(|()| Acknowledged { points, bytes })
    }
}
