//! A way to a server on which connections are counted.

use std::{
    io::{self, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
};
use url::Url;

/// Passes every connection on. Its threads end with it, those of open connections with these.
pub struct Proxy {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Proxy {
    /// A way to the server at `url`.
    pub fn to(url: &Url) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, url.port().unwrap()));
        let address = listener.local_addr().unwrap();
        let (connections, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counter, over) = (Arc::clone(&connections), Arc::clone(&is_over));
        let accepting = std::thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                counter.fetch_add(1, Ordering::SeqCst);
                if let Ok(server) = TcpStream::connect(server) {
                    pass(&client, &server);
                    pass(&server, &client);
                }
            }
        });
        Self { address, connections, is_over, accepting: Some(accepting) }
    }

    /// The server's address by this way.
    pub fn url(&self, server: &Url) -> Url {
        let mut url = server.clone();
        url.set_port(Some(self.address.port())).unwrap();
        url
    }

    /// How many connections have come since the last time.
    pub fn take_count(&self) -> usize {
        self.connections.swap(0, Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

fn pass(from: &TcpStream, to: &TcpStream) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.flush();
        let _ = to.shutdown(Shutdown::Write);
    });
}
