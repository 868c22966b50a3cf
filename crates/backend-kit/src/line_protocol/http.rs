//! Writes over HTTP: one request a batch.

use super::Encoder;
use crate::http::{Connection, Content, Gzip, connection::given_up, limits::MAX_REFUSAL_BYTES};
use async_trait::async_trait;
use hyper::{HeaderMap, StatusCode, Uri, body::Bytes};
use iotbench_core::{Acknowledged, Batch, Error, Writer};
use std::mem;

/// What a refusal means: status, head and text of the answer, and how many lines were sent.
pub type Refusal = fn(StatusCode, &HeaderMap, &[u8], usize) -> Error;

/// A connection that posts batches.
pub struct HttpWriter {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    uri: Uri,
    encoder: Encoder,
    gzip: Option<Gzip>,
    compressed: Vec<u8>,
    refusal: Refusal,
}

impl HttpWriter {
    /// A writer that posts to this address, each request compressed if asked for. An answer 204 acknowledges.
    pub fn new(connection: Connection, uri: Uri, encoder: Encoder, is_compressed: bool, refusal: Refusal) -> Self {
        let gzip = is_compressed.then(Gzip::fastest);
        Self { connection: Some(connection), uri, encoder, gzip, compressed: Vec::new(), refusal }
    }

    /// Posts a body of so many lines.
    async fn post(&mut self, content: Content, body: Bytes, lines: usize) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.post(&self.uri, content, body).await?;
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
        self.connection = Some(connection);
        if head.status == StatusCode::NO_CONTENT {
            return Ok(());
        }
        Err((self.refusal)(head.status, &head.headers, &text, lines))
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
            None => (Content::default(), mem::take(&mut lines.bytes)),
            Some(gzip) => {
                gzip.compress(&lines.bytes, &mut self.compressed)?;
                (Content { media_type: None, gzip: true }, mem::take(&mut self.compressed))
            }
        };
        let body = Bytes::from(buffer);
        let bytes = body.len() as u64;
        let posted = self.post(content, body.clone(), count).await;
        // The request is answered, and so its body is ours alone again: this gives back the buffer and copies nothing.
        let buffer = Vec::from(body);
        if content.gzip {
            self.compressed = buffer;
        } else {
            self.encoder.lines.bytes = buffer;
        }
        posted.map(|()| Acknowledged { points, bytes })
    }
}
