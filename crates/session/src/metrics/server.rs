//! A small HTTP server on a thread of its own: one connection and one request at a time.

use super::{Metrics, MetricsAddress, exposition};
use crate::error::SessionError;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::CONTENT_TYPE,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{
    convert::Infallible,
    io,
    net::{SocketAddr, TcpListener},
    time::Duration,
};
use tokio::net::TcpStream;

/// Whoever takes longer to ask and to listen is hung up on.
const PATIENCE: Duration = Duration::from_secs(5);
/// What Prometheus calls the format.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Takes the address and serves until the program ends. Gives where: a port of 0 is any that is free.
pub(super) fn start(address: MetricsAddress, metrics: Metrics) -> Result<SocketAddr, SessionError> {
    let MetricsAddress(address) = address;
    let listen = || {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok((listener.local_addr()?, listener))
    };
    let taken = |e: io::Error| {
        SessionError::usage(format!("--metrics cannot be served at {address}: {e}; name another address or port"))
    };
    let (address, listener) = listen().map_err(taken)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| SessionError::internal(format!("--metrics: no runtime: {e}")))?;
    let serve = move || runtime.block_on(accept(listener, metrics));
    let thread = std::thread::Builder::new().name("metrics".into()).spawn(serve);
    thread.map(|_| address).map_err(|e| SessionError::internal(format!("--metrics: no thread: {e}")))
}

async fn accept(listener: TcpListener, metrics: Metrics) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        match listener.accept().await {
            // What becomes of a connection is the reader's affair.
            Ok((connection, _)) => drop(tokio::time::timeout(PATIENCE, converse(connection, &metrics)).await),
            // Such as no file descriptor being left: not at once again.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn converse(connection: TcpStream, metrics: &Metrics) -> hyper::Result<()> {
    let service = service_fn(async |request| Ok::<_, Infallible>(answer(&request, metrics)));
    http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(connection), service).await
}

fn answer(request: &Request<Incoming>, metrics: &Metrics) -> Response<Full<Bytes>> {
    if (request.method(), request.uri().path()) != (&Method::GET, "/metrics") {
        return plain(StatusCode::NOT_FOUND, "iotbench serves GET /metrics\n");
    }
    match exposition::text(&metrics.now()) {
        Ok(text) => {
            let mut response = Response::new(Full::new(Bytes::from(text)));
            response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(OPEN_METRICS));
            response
        }
        Err(error) => plain(StatusCode::INTERNAL_SERVER_ERROR, &format!("{error}\n")),
    }
}

fn plain(status: StatusCode, text: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text.to_owned())));
    *response.status_mut() = status;
    response
}
