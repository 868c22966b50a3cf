//! A server that gives the answers that InfluxDB 2's documentation shows, each to the requests that begin so.

use http_body_util::{BodyExt, Full};
use hyper::{
    Method, Request, Response,
    body::{Bytes, Incoming},
    header::{AUTHORIZATION, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};
use tokio::net::TcpListener;
use url::Url;

/// What a request begins with (`METHOD path`), and the status and body that it is answered with.
pub type Answer = (&'static str, u16, &'static str);

/// The buckets of a server that keeps them.
type Buckets = Arc<Mutex<Vec<Value>>>;

/// A running server. It ends with the runtime of the test.
pub struct Stub {
    pub url: Url,
    requests: Arc<Mutex<Vec<String>>>,
    buckets: Option<Buckets>,
}

impl Stub {
    pub async fn start(answers: &'static [Answer]) -> Self {
        Self::serve(answers, None).await
    }

    /// One that keeps buckets, these at first.
    pub async fn with_buckets(answers: &'static [Answer], buckets: &[Value]) -> Self {
        Self::serve(answers, Some(Arc::new(Mutex::new(buckets.to_vec())))).await
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a server runs beside its client; the backend under test spawns nothing"
    )]
    async fn serve(answers: &'static [Answer], buckets: Option<Buckets>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/?org=plant", listener.local_addr().unwrap()).parse().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (shared, kept) = (Arc::clone(&requests), buckets.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (requests, kept) = (Arc::clone(&shared), kept.clone());
                let serve = service_fn(move |request| answer(answers, kept.clone(), Arc::clone(&requests), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), serve));
            }
        });
        Self { url, requests, buckets }
    }

    /// The names of the buckets that it keeps.
    pub fn bucket_names(&self) -> Vec<String> {
        let buckets = self.buckets.as_ref().unwrap().lock().unwrap();
        buckets.iter().map(|bucket| bucket["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Method, path and body of each request.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// The answer to a request about buckets: method, what follows their path, and the body.
fn about_buckets(buckets: &Mutex<Vec<Value>>, method: &Method, rest: &str, body: &[u8]) -> (u16, String) {
    let mut buckets = buckets.lock().unwrap();
    let body = || serde_json::from_slice::<Value>(body).unwrap();
    let asked = |key| url::form_urlencoded::parse(&rest.as_bytes()[1..]).find(|(k, _)| k == key).map(|(_, v)| v);
    let id = rest.strip_prefix('/').and_then(|id| buckets.iter().position(|bucket| bucket["id"] == *id));
    match (method, id) {
        (&Method::POST, _) => {
            let mut bucket = body();
            bucket["id"] = json!(format!("{}", buckets.len() + 100));
            buckets.push(bucket.clone());
            (201, bucket.to_string())
        }
        (&Method::PATCH, Some(id)) => {
            buckets[id]["description"] = body()["description"].clone();
            (200, buckets[id].to_string())
        }
        (&Method::DELETE, Some(id)) => {
            buckets.remove(id);
            (204, String::new())
        }
        (&Method::GET, None) => {
            let name = asked("name");
            let is_asked = |bucket: &&Value| name.as_ref().is_none_or(|name| bucket["name"] == **name);
            let found: Vec<_> = buckets.iter().filter(is_asked).collect();
            match name {
                Some(name) if found.is_empty() => {
                    (404, json!({ "code": "not found", "message": format!("bucket {name:?} not found") }).to_string())
                }
                _ => (200, json!({ "buckets": found }).to_string()),
            }
        }
        _ => (404, json!({ "code": "not found", "message": "bucket not found" }).to_string()),
    }
}

async fn answer(
    answers: &'static [Answer],
    buckets: Option<Buckets>,
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
    let uri = head.uri.to_string();
    let (status, text) = match (found, buckets.zip(uri.strip_prefix("/api/v2/buckets"))) {
        _ if !is_known => (401, r#"{"code":"unauthorized","message":"unauthorized access"}"#.to_owned()),
        (_, Some((buckets, rest))) => about_buckets(&buckets, &head.method, rest, &body),
        (Some((_, status, text)), None) => (*status, (*text).to_owned()),
        (None, None) => (404, r#"{"code":"not found","message":"path not found"}"#.to_owned()),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status.try_into().unwrap();
    Ok(response)
}
