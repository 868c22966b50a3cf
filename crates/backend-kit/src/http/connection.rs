//! One HTTP/1.1 connection, driven by whoever waits for its answer: it has no task of its own, so that an answer wakes
//! the one who asked and nobody else. A server may close it after any answer (RFC 9112, section 9.3): what then could not be
//! sent is sent on a new one. What was sent is never sent again.

use super::{
    error,
    limits::{MAX_HEAD_BYTES, MAX_HEADERS},
    server::Way,
};
use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, Response, Uri,
    body::{Body, Bytes, Incoming},
    client::conn::http1,
    header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT},
};
use hyper_util::rt::TokioIo;
use iotbench_core::{Action, Applied, Cause, Error};
use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::Poll,
};
use tokio::io::{AsyncRead, AsyncWrite};

/// A byte stream, encrypted or not.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Driver = http1::Connection<TokioIo<Box<dyn Stream>>, Full<Bytes>>;

/// A connection to a server.
pub struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    /// `None` once the connection has ended.
    driver: Option<Pin<Box<Driver>>>,
    way: Way,
    /// A server that closes a connection without one answer wants no other.
    has_answered: bool,
}

/// A request that has no answer.
struct Unanswered {
    why: Error,
    /// Where nothing of it was sent: the request.
    unsent: Option<Request<Full<Bytes>>>,
}

/// What a request's body is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Its media type; `None`: the server knows from the address.
    pub media_type: Option<&'static str>,
    /// Whether it is compressed.
    pub gzip: bool,
}

const PRODUCT: HeaderValue = HeaderValue::from_static(concat!("iotbench/", env!("CARGO_PKG_VERSION")));

impl Connection {
    /// A new one on this way, with small requests sent at once.
    ///
    /// # Errors
    /// Dns, Connect, Tls.
    pub async fn open(way: Way) -> Result<Self, Error> {
        let mut builder = http1::Builder::new();
        builder.max_buf_size(MAX_HEAD_BYTES).max_headers(MAX_HEADERS);
        let opened = builder.handshake(TokioIo::new(way.stream().await?)).await;
        let (sender, driver) = opened.map_err(|e| error::of_exchange(&e, Applied::No))?;
        Ok(Self { sender, driver: Some(Box::pin(driver)), way, has_answered: false })
    }

    /// Posts a body and returns the head of the answer. Redirects are answers like any other.
    ///
    /// # Errors
    /// Connect or Protocol; [`Applied::No`] where the request was never sent.
    pub async fn post(&mut self, uri: &Uri, content: Content, body: Bytes) -> Result<Response<Incoming>, Error> {
        self.send_body(Method::POST, uri, content, body).await
    }

    /// The same by another method.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub async fn send_body(
        &mut self,
        method: Method,
        uri: &Uri,
        content: Content,
        body: Bytes,
    ) -> Result<Response<Incoming>, Error> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method;
        *request.uri_mut() = uri.clone();
        let headers = request.headers_mut();
        if let Some(media_type) = content.media_type {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        if content.gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        self.send(request).await
    }

    /// Sends a request without a body.
    ///
    /// # Errors
    /// As [`post`](Self::post).
    pub async fn ask(&mut self, method: Method, uri: &Uri) -> Result<Response<Incoming>, Error> {
        let mut request = Request::new(Full::default());
        *request.method_mut() = method;
        *request.uri_mut() = uri.clone();
        self.send(request).await
    }

    async fn send(&mut self, mut request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Error> {
        let headers = request.headers_mut();
        headers.insert(HOST, self.way.host_header.clone());
        headers.insert(USER_AGENT, PRODUCT);
        if let Some(authorization) = &self.way.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        headers.extend(self.way.headers.clone());
        self.look().await;
        let response = match self.exchange(request).await {
            Err(Unanswered { unsent: Some(request), .. }) if self.has_answered => {
                *self = Self::open(self.way.clone()).await?;
                self.exchange(request).await.map_err(|unanswered| unanswered.why)?
            }
            answered => answered.map_err(|unanswered| unanswered.why)?,
        };
        self.has_answered = true;
        // We never offer to take a compressed answer.
        if response.headers().contains_key(CONTENT_ENCODING) {
            return Err(Error::new(Cause::Protocol, "the answer is compressed, and we did not ask for that")
                .applied(Applied::Maybe));
        }
        Ok(response)
    }

    /// Takes note of an end that has come since the last answer, before anything is sent into it.
    async fn look(&mut self) {
        let driver = &mut self.driver;
        poll_fn(|context| {
            if driver.as_mut().is_some_and(|driver| driver.as_mut().poll(context).is_ready()) {
                *driver = None;
            }
            Poll::Ready(())
        })
        .await;
    }

    async fn exchange(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unanswered> {
        let sender = &mut self.sender;
        let exchange = async {
            if let Err(e) = sender.ready().await {
                return Err(Unanswered { why: error::of_exchange(&e, Applied::No), unsent: Some(request) });
            }
            sender.try_send_request(request).await.map_err(|mut e| {
                let unsent = e.take_message();
                let applied = if unsent.is_some() { Applied::No } else { Applied::Maybe };
                Unanswered { why: error::of_exchange(&e.into_error(), applied), unsent }
            })
        };
        drive(&mut self.driver, exchange).await
    }

    /// The next piece of an answer's body; `None` at its end.
    pub async fn piece(&mut self, body: &mut Incoming) -> Result<Option<Bytes>, Error> {
        loop {
            match drive(&mut self.driver, body.frame()).await {
                None => return Ok(None),
                Some(Err(e)) => return Err(error::of_exchange(&e, Applied::Maybe)),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        return Ok(Some(data));
                    }
                }
            }
        }
    }

    /// The whole of a body that must be short.
    ///
    /// # Errors
    /// Protocol for a body of more than `most_bytes`, of which the rest is never read.
    pub async fn short_body(&mut self, mut body: Incoming, most_bytes: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        if body.is_end_stream() {
            return Ok(bytes);
        }
        while let Some(piece) = self.piece(&mut body).await? {
            if bytes.len() + piece.len() > most_bytes {
                let message = format!("an answer of more than {most_bytes} bytes where a short one was expected");
                return Err(Error::new(Cause::Protocol, message).applied(Applied::Maybe));
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }
}

/// The address of an endpoint of a server.
pub fn uri(path_and_query: &str) -> Result<Uri, Error> {
    Uri::try_from(path_and_query).map_err(|e| Error::new(Cause::Client, format!("{path_and_query}: {e}")))
}

/// The connection was left in the middle of an answer.
pub fn given_up() -> Error {
    Error::new(Cause::Connect, "the connection was given up in the middle of an answer: take another one")
        .action(Action::DiscardWriter)
        .applied(Applied::No)
}

/// Completes an exchange while its connection is driven.
async fn drive<T>(driver: &mut Option<Pin<Box<Driver>>>, exchange: impl Future<Output = T>) -> T {
    let mut exchange = pin!(exchange);
    poll_fn(|context| {
        if let Poll::Ready(done) = exchange.as_mut().poll(context) {
            return Poll::Ready(done);
        }
        // How a connection ended is told to the exchange as well.
        if driver.as_mut().is_some_and(|driver| driver.as_mut().poll(context).is_ready()) {
            *driver = None;
        }
        exchange.as_mut().poll(context)
    })
    .await
}
