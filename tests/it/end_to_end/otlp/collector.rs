//! A collector of OTLP over HTTP in this process, which answers as it is told and keeps what it was sent.

use serde_json::Value;
use std::{
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    time::Instant,
};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Received {
    pub head: String,
    pub body: String,
    pub at: Instant,
}

impl Received {
    pub fn message(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// What a request is answered with by its number, from 0; `None`: nothing, and the connection stays open.
pub type Answers = fn(usize) -> Option<&'static str>;

pub const TAKEN: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

pub struct Collector {
    pub url: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Collector {
    pub fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::<Mutex<Vec<Received>>>::default();
        let kept = Arc::clone(&received);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, kept) = (stream.unwrap(), Arc::clone(&kept));
                std::thread::spawn(move || converse(&stream, answers, &kept));
            }
        });
        Self { url, received }
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn converse(stream: &TcpStream, answers: Answers, received: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    while let Some(request) = request(&mut reader) {
        let number = {
            let mut received = received.lock().unwrap();
            received.push(request);
            received.len() - 1
        };
        let Some(answer) = answers(number) else { continue };
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn request(reader: &mut impl BufRead) -> Option<Received> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap()];
    reader.read_exact(&mut body).ok()?;
    Some(Received { head, body: String::from_utf8(body).unwrap(), at: Instant::now() })
}
