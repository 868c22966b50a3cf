//! A way to a server that asks for user and password, for a client that has a token: each request goes on with both.

#![expect(clippy::disallowed_methods, reason = "the relay is the test's own")]

use crate::harness::authorization;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy},
    net::{TcpListener, TcpStream},
};
use url::Url;

/// What the client sends of its token `any`.
const OF_TOKEN: &[u8] = b"authorization: Token any\r\n";

/// Its address; it lasts as long as the runtime.
pub async fn with_password(server: &Url) -> Url {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut url: Url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    url.set_path(server.path());
    let server = server.clone();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(relay(client, server.clone()));
        }
    });
    url
}

async fn relay(client: TcpStream, server: Url) {
    let upstream = TcpStream::connect((server.host_str().unwrap(), server.port().unwrap())).await.unwrap();
    let (mut asked, mut answers) = client.into_split();
    let (mut answered, mut requests) = upstream.into_split();
    tokio::spawn(async move { copy(&mut answered, &mut answers).await });
    let mut piece = vec![0; 1 << 16];
    while let Ok(length) = asked.read(&mut piece).await
        && length > 0
    {
        let request = &piece[..length];
        let sent = match request.windows(OF_TOKEN.len()).position(|words| words == OF_TOKEN) {
            None => request.to_vec(),
            Some(at) => [&request[..at], authorization(&server).as_bytes(), &request[at + OF_TOKEN.len()..]].concat(),
        };
        requests.write_all(&sent).await.unwrap();
    }
}
