//! Writes over HTTP: one request a batch.

use super::{Connection, Content, Gzip, connection::given_up, limits::MAX_REFUSAL_BYTES};
use async_trait::async_trait;
use hyper::{HeaderMap, StatusCode, Uri, body::Bytes};
use iotbench_core::{Acknowledged, Batch, Error, Writer};
use std::mem;

/// What a batch is as the body of a request, in a buffer that is kept.
pub trait EncodeBody: Send {
    /// Puts a batch in the place of the one before; says of how many lines or rows it is.
    ///
    /// # Errors
    /// Data with nothing applied, for what cannot be stored.
    fn encode_body(&mut self, batch: &Batch) -> Result<usize, Error>;

    /// What was encoded last.
    fn body(&mut self) -> &mut Vec<u8>;
}

/// What a refusal means: status, head and text of the answer, and how many lines were sent.
pub type Refusal = fn(StatusCode, &HeaderMap, &[u8], usize) -> Error;

/// A connection that posts batches.
pub struct HttpWriter<E> {
    /// `None` once an exchange was left in the middle.
    connection: Option<Connection>,
    uri: Uri,
    encoder: E,
    gzip: Option<Gzip>,
    compressed: Vec<u8>,
    acknowledges: StatusCode,
    refusal: Refusal,
}

impl<E: EncodeBody> HttpWriter<E> {
    /// A writer that posts to this address, each request compressed if asked for. An answer 204 acknowledges, and nothing
    /// that has words.
    pub fn new(connection: Connection, uri: Uri, encoder: E, is_compressed: bool, refusal: Refusal) -> Self {
        let gzip = is_compressed.then(Gzip::fastest);
        let acknowledges = StatusCode::NO_CONTENT;
        Self { connection: Some(connection), uri, encoder, gzip, compressed: Vec::new(), acknowledges, refusal }
    }

    /// The same where an answer with this status acknowledges.
    #[must_use]
    pub fn acknowledged_by(self, acknowledges: StatusCode) -> Self {
        Self { acknowledges, ..self }
    }

    /// Posts a body of so many lines.
    async fn post(&mut self, content: Content, body: Bytes, lines: usize) -> Result<(), Error> {
        let mut connection = self.connection.take().ok_or_else(given_up)?;
        let response = connection.post(&self.uri, content, body).await?;
        let (head, body) = response.into_parts();
        let text = connection.short_body(body, MAX_REFUSAL_BYTES).await?;
        self.connection = Some(connection);
        // What fails after the head was sent is told behind it.
        if head.status == self.acknowledges && text.is_empty() {
            return Ok(());
        }
        Err((self.refusal)(head.status, &head.headers, &text, lines))
    }
}

#[async_trait]
impl<E: EncodeBody> Writer for HttpWriter<E> {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        let points = batch.len() as u64;
        let lines = self.encoder.encode_body(batch)?;
        if lines == 0 {
            return Ok(Acknowledged { points, bytes: 0 });
        }
        let (content, buffer) = match &mut self.gzip {
            None => (Content::default(), mem::take(self.encoder.body())),
            Some(gzip) => {
                gzip.compress(self.encoder.body(), &mut self.compressed)?;
                (Content { media_type: None, gzip: true }, mem::take(&mut self.compressed))
            }
        };
        let body = Bytes::from(buffer);
        let bytes = body.len() as u64;
        let posted = self.post(content, body.clone(), lines).await;
        // The request is answered, and so its body is ours alone again: this gives back the buffer and copies nothing.
        let buffer = Vec::from(body);
        if content.gzip {
            self.compressed = buffer;
        } else {
            *self.encoder.body() = buffer;
        }
        posted.map(|()| Acknowledged { points, bytes })
    }
}
