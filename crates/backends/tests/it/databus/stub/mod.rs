//! A server that speaks Databus's protocol and keeps its tables in memory.
//!
//! Protocol: github.com/deanhiller/databus at 1a427291 (2015-03-27), `webapp/conf/routes`, `webapp/app/controllers` and the
//! pages of help in `webapp/app/views/gui/Help`. What the source does otherwise than the help says is done here as the
//! source does it: a request of rows that is refused is answered with 500, whatever the reason.

mod decimal;
mod modules;
mod store;

use http_body_util::{BodyExt, Collected, Full};
use hyper::{
    Method, Request, Response,
    body::{Bytes, Incoming},
    header::AUTHORIZATION,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex},
};
pub use store::{Refusal, Store};
use tokio::net::TcpListener;
use url::Url;

/// `me:s3cret`, as it is sent.
const CREDENTIALS: &str = "Basic bWU6czNjcmV0";

/// A running server. It ends with the runtime of the test.
pub struct Stub {
    pub url: Url,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    store: Store,
    /// What the next requests are answered with, whatever they ask.
    canned: VecDeque<(u16, String)>,
    /// Method, path and body of each request.
    requests: Vec<String>,
}

impl Stub {
    #[expect(
        clippy::disallowed_methods,
        reason = "a server runs beside its client; the backend under test spawns nothing"
    )]
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://me:s3cret@{}/", listener.local_addr().unwrap()).parse().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = Arc::clone(&shared);
                let answer = service_fn(move |request| answer(Arc::clone(&state), request));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
            }
        });
        Self { url, state }
    }

    /// Looks at the tables, or changes them, from outside.
    pub fn store<T>(&self, with: impl FnOnce(&mut Store) -> T) -> T {
        with(&mut self.state.lock().unwrap().store)
    }

    /// Answers a request so, after those that are answered so already.
    pub fn answer_next(&self, status: u16, body: &str) {
        self.state.lock().unwrap().canned.push_back((status, body.to_owned()));
    }

    pub fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }
}

async fn answer(state: Arc<Mutex<State>>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    let is_known = head.headers.get(AUTHORIZATION).is_some_and(|value| value == CREDENTIALS);
    let path = head.uri.path_and_query().map_or("", |path| path.as_str());
    let mut state = state.lock().unwrap();
    state.requests.push(format!("{} {path} {}", head.method, String::from_utf8_lossy(&body)));
    let (status, text) = match state.canned.pop_front() {
        Some(canned) => canned,
        None => respond(&mut state.store, &head.method, path, &body, is_known),
    };
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status.try_into().unwrap();
    Ok(response)
}

fn respond(store: &mut Store, method: &Method, path: &str, body: &[u8], is_known: bool) -> (u16, String) {
    let answered = match (method, path.split_once("/api/")) {
        (&Method::POST, Some(("", "registerV1"))) if !is_known => {
            Err(Refusal::new(400, "user or key is invalid for user=me"))
        }
        (&Method::POST, Some(("", "registerV1"))) => parsed(body).and_then(|body| store.register(&body)),
        (&Method::POST, Some(("", "postdataV1"))) => {
            let posted = parsed(body).and_then(|body| match is_known {
                true => store.post(&body),
                false => Err(Refusal::new(401, "user=me has no access to table")),
            });
            posted.map(|()| String::new()).map_err(|Refusal(_, text)| Refusal::new(500, &format!("<html>Oops: {text}")))
        }
        (&Method::GET, Some(("", _))) if !is_known => {
            Err(Refusal::new(401, "key is invalid for user=me or username does not exist"))
        }
        (&Method::GET, Some(("", modules))) => modules::answer(store, modules),
        _ => Err(Refusal::new(404, "<h1>Not found</h1>")),
    };
    answered.map_or_else(|Refusal(status, text)| (status, text), |text| (200, text))
}

fn parsed(body: &[u8]) -> Result<Value, Refusal> {
    serde_json::from_slice(body)
        .map_err(|e| Refusal::new(400, &format!("There was a problem parsing the JSON request: {e}")))
}
