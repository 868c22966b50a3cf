//! A way to a server that cannot encrypt, as its users put before it: connections are encrypted up to here.

use crate::server::certificates::Certificate;
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{net::Ipv4Addr, sync::Arc, thread::JoinHandle};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::oneshot,
};
use tokio_rustls::TlsAcceptor;
use url::Url;

/// Passes every connection on in plain text. All ends with it.
pub struct EncryptingProxy {
    url: Url,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl EncryptingProxy {
    /// A way to the server at `url` with this certificate.
    pub fn to(url: &Url, certificate: &Certificate) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config(certificate)));
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))).unwrap();
        let (own, server) = (listener.local_addr().unwrap().port(), (Ipv4Addr::LOCALHOST, url.port().unwrap()));
        let (end, ended) = oneshot::channel();
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = pass_all(&listener, &acceptor, server) => {}
                    _ = ended => {}
                }
            });
        });
        let mut url = url.clone();
        url.set_port(Some(own)).unwrap();
        Self { url, end: Some(end), thread: Some(thread) }
    }

    /// The server's address by this way.
    pub fn url(&self) -> &Url {
        &self.url
    }
}

impl Drop for EncryptingProxy {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn pass_all(listener: &TcpListener, acceptor: &TlsAcceptor, server: (Ipv4Addr, u16)) {
    while let Ok((client, _)) = listener.accept().await {
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A client that refuses the certificate is what some tests are about.
            let Ok(mut client) = acceptor.accept(client).await else { return };
            let Ok(mut server) = TcpStream::connect(server).await else { return };
            let _ = copy_bidirectional(&mut client, &mut server).await;
        });
    }
}

fn config(certificate: &Certificate) -> ServerConfig {
    let chain = CertificateDer::pem_file_iter(&certificate.file).unwrap().collect::<Result<_, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_file(&certificate.key).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    builder.with_no_client_auth().with_single_cert(chain, key).unwrap()
}
