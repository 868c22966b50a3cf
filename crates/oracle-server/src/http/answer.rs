//! Answers: sound ones, and those by which a hostile or broken server would hold or fill its client.

use flate2::{Compression, write::GzEncoder};
use std::{
    io::{self, Write},
    net::SocketAddr,
    time::Duration,
};

/// Where an endpoint's body tells how many datapoints it took.
const POINTS: &str = "{points}";
/// Where it says what the service was told to keep.
const KEPT: &str = "{kept}";
/// So much at once goes into an answer without an end.
const PIECE_BYTES: usize = 64 << 10;

/// What is sent for a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// All of it, or its beginning, as it goes over the wire.
    pub bytes: Vec<u8>,
    /// What follows.
    pub then: Then,
}

/// What follows the beginning of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// Nothing: the connection stays open.
    Wait,
    /// The end of the connection.
    Close,
    /// This, again and again, as fast as the client takes it.
    Repeat(Vec<u8>),
    /// This, again and again, each time after a pause.
    Drip(Vec<u8>, Duration),
}

impl Answer {
    /// An answer with its length. `headers` are lines with their ends. In the body, `{points}` is the number of datapoints
    /// of the request.
    #[must_use]
    pub fn new(status: &str, headers: &str, body: &str) -> Self {
        Self::raw(format!("HTTP/1.1 {status}\r\n{headers}\r\n{body}"), Then::Wait)
    }

    /// These bytes, whatever they are.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>, then: Then) -> Self {
        Self { bytes: bytes.into(), then }
    }

    /// A body of 10 GiB, as it says, that is sent until the client has enough.
    #[must_use]
    pub fn huge(status: &str, piece: &str) -> Self {
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", 10_u64 << 30);
        Self::raw(head, Then::Repeat(piece.repeat(PIECE_BYTES / piece.len().max(1)).into_bytes()))
    }

    /// A compressed body that each of its kilobytes makes a megabyte, without an end.
    ///
    /// # Errors
    /// Never: a vector takes what is compressed.
    pub fn gzip_bomb(status: &str) -> io::Result<Self> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&vec![0; 1 << 20])?;
        let member = encoder.finish()?;
        let mut chunk = format!("{:x}\r\n", member.len()).into_bytes();
        chunk.extend_from_slice(&member);
        chunk.extend_from_slice(b"\r\n");
        let head = format!("HTTP/1.1 {status}\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n");
        Ok(Self::raw(head, Then::Repeat(chunk)))
    }

    /// A body of JSON arrays within each other; `before` stands before the first.
    #[must_use]
    pub fn deep_json(status: &str, before: &str, depth: usize) -> Self {
        Self::new(status, "", &format!("{before}{}", "[".repeat(depth)))
    }

    /// A head without an end: one header after the other.
    #[must_use]
    pub fn header_flood(status: &str) -> Self {
        let line = "x-flood: 0123456789abcdef\r\n";
        Self::raw(format!("HTTP/1.1 {status}\r\n"), Then::Repeat(line.repeat(PIECE_BYTES / line.len()).into_bytes()))
    }

    /// A body that comes byte by byte and never ends.
    #[must_use]
    pub fn slow_drip(status: &str) -> Self {
        let head = format!("HTTP/1.1 {status}\r\ncontent-length: 1000000\r\n\r\n");
        Self::raw(head, Then::Drip(b" ".to_vec(), Duration::from_millis(20)))
    }

    /// Sends the client elsewhere, with the path of the request's kind.
    #[must_use]
    pub fn redirect(status: &str, to: SocketAddr, path: &str) -> Self {
        Self::new(status, &format!("location: http://{to}{path}\r\n"), "")
    }

    /// What is answered where nothing is programmed.
    pub(crate) fn missing() -> Self {
        Self::new("501 Not Implemented", "", "").of(0, "")
    }

    /// The answer to a request of so many datapoints, of a service that keeps this text: with its body's length, where none is told.
    pub(crate) fn of(&self, points: u32, kept: &str) -> Self {
        let Some((head, body)) = split(&self.bytes) else { return self.clone() };
        let told = |name: &str| head.to_ascii_lowercase().contains(name);
        let is_whole = matches!(self.then, Then::Wait | Then::Close);
        if !is_whole || told("content-length:") || told("transfer-encoding:") {
            return self.clone();
        }
        let body = body.replace(POINTS, &points.to_string()).replace(KEPT, kept);
        let length = if head.starts_with("HTTP/1.1 204") { String::new() } else { length(&body) };
        Self::raw(format!("{head}{length}\r\n{body}"), self.then.clone())
    }

    /// The same, with these lines in its head, and then the end of the connection.
    pub(crate) fn closing(&self, headers: &str) -> Self {
        let Some((head, body)) = split(&self.bytes) else { return self.clone() };
        Self::raw(format!("{head}{headers}\r\n{body}"), Then::Close)
    }
}

fn length(body: &str) -> String {
    format!("content-length: {}\r\n", body.len())
}

/// Head with the end of its last line, and body; `None` where it is no HTTP.
fn split(bytes: &[u8]) -> Option<(&str, &str)> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.starts_with("HTTP/1.1 "))?;
    let end = text.find("\r\n\r\n")?;
    Some((&text[..end + 2], &text[end + 4..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(answer: &Answer) -> String {
        String::from_utf8(answer.of(3, "flag").bytes).unwrap()
    }

    #[test]
    fn an_answer_tells_its_length_unless_it_means_not_to() {
        assert_eq!(sent(&Answer::new("200 OK", "", "{points}")), "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n3");
        assert_eq!(sent(&Answer::new("200 OK", "", "{kept}")), "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nflag");
        assert_eq!(sent(&Answer::new("204 None", "a: b\r\n", "")), "HTTP/1.1 204 None\r\na: b\r\n\r\n");
        for own in ["HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nshort", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 20"] {
            assert_eq!(sent(&Answer::raw(own, Then::Wait)), own);
        }
    }

    #[test]
    fn a_bomb_is_small_and_valid() {
        let Answer { then: Then::Repeat(chunk), .. } = Answer::gzip_bomb("200 OK").unwrap() else { panic!() };
        assert!(chunk.len() < 16 << 10, "{} bytes for a megabyte", chunk.len());
        let start = chunk.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let mut plain = Vec::new();
        io::copy(&mut flate2::read::GzDecoder::new(&chunk[start..]), &mut plain).unwrap();
        assert_eq!(plain, vec![0; 1 << 20]);
    }
}
