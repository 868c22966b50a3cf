//! A server that gives the answers that InfluxDB 2's documentation shows, each to the requests that begin so.

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;
use url::Url;

/// What a request begins with (`METHOD path`), and the status and body that it is answered with.
pub type Answer = (&'static str, u16, &'static str);

/// A running server. It ends with the runtime of the test.
pub struct Stub {
    pub url: Url,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    #[expect(
        clippy::disallowed_methods,
        reason = "a server runs beside its client; the backend under test spawns nothing"
    )]
    pub async fn start(answers: &'static [Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/?org=plant", listener.local_addr().unwrap()).parse().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&requests);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let requests = Arc::clone(&shared);
                let serve = service_fn(move |request| answer(answers, Arc::clone(&requests), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), serve));
            }
        });
        Self { url, requests }
    }

    /// Method, path and body of each request.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn answer(
    answers: &'static [Answer],
    requests: Arc<Mutex<Vec<String>>>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    // With the space behind it, which an answer may name to mean all of it.
    let line = format!("{} {} ", head.method, head.uri);
    requests.lock().unwrap().push(format!("{line}{}", String::from_utf8_lossy(&body)));
    let is_known =
        head.headers.get(AUTHORIZATION).is_some_and(|value| value == HeaderValue::from_static("Token s3cret"));
    let found = answers.iter().find(|(begin, ..)| line.starts_with(begin));
    let (status, text) = match found {
        _ if !is_known => (401, r#"{"code":"unauthorized","message":"unauthorized access"}"#),
        Some((_, status, text)) => (*status, *text),
        None => (404, r#"{"code":"not found","message":"path not found"}"#),
    };
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status.try_into().unwrap();
    Ok(response)
}
