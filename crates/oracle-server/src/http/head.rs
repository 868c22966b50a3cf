//! The head of a request: as much of HTTP/1.1 as tells where it ends and where it goes.

use crate::{protocol::Unreadable, wire::PAYLOAD_MAX_BYTES};

/// Longest head.
const HEAD_MAX_BYTES: usize = 64 << 10;

const END: &[u8] = b"\r\n\r\n";

/// What stands before a request's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    /// `METHOD target HTTP/1.1`.
    pub(crate) line: &'a str,
    head_bytes: usize,
    body_bytes: usize,
}

impl<'a> Head<'a> {
    /// Reads the head at the start of `bytes`; `None` when it is not complete.
    ///
    /// # Errors
    /// A head or body that is too long, or a body whose length is not told in advance.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Option<Self>, Unreadable> {
        let Some(end) = bytes.windows(END.len()).position(|window| window == END) else {
            return if bytes.len() > HEAD_MAX_BYTES { Err(Unreadable) } else { Ok(None) };
        };
        let head = std::str::from_utf8(&bytes[..end]).map_err(|_| Unreadable)?;
        let mut lines = head.split("\r\n");
        let line = lines.next().unwrap_or_default();
        let mut body_bytes = 0;
        for (name, value) in lines.filter_map(|header| header.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                body_bytes = value.trim().parse().map_err(|_| Unreadable)?;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                return Err(Unreadable);
            }
        }
        if body_bytes > PAYLOAD_MAX_BYTES {
            return Err(Unreadable);
        }
        Ok(Some(Self { line, head_bytes: end + END.len(), body_bytes }))
    }

    pub(crate) fn frame_bytes(&self) -> usize {
        self.head_bytes + self.body_bytes
    }

    /// The body of a whole request.
    pub(crate) fn body(&self, frame: &'a [u8]) -> &'a [u8] {
        frame.get(self.head_bytes..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_ends_where_its_length_says() {
        let bytes = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-LENGTH: 3\r\n\r\nabcPOST";
        let head = Head::read(bytes).unwrap().unwrap();
        assert_eq!((head.line, head.body(&bytes[..head.frame_bytes()])), ("POST /a HTTP/1.1", &b"abc"[..]));
        assert!((0..head.head_bytes).all(|cut| Head::read(&bytes[..cut]) == Ok(None)));
    }

    #[test]
    fn what_has_no_end_that_is_told_is_unreadable() {
        for bad in ["transfer-encoding: chunked", "content-length: x", "content-length: 99999999999"] {
            assert_eq!(Head::read(format!("POST / HTTP/1.1\r\n{bad}\r\n\r\n").as_bytes()), Err(Unreadable), "{bad}");
        }
        assert_eq!(Head::read(&[b'a'; HEAD_MAX_BYTES + 1]), Err(Unreadable));
    }
}
