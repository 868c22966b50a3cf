//! The server's wire protocol: length-prefixed binary frames over TCP, all integers little-endian.
//!
//! ```text
//! request   u32 payload length | u64 request id | u32 datapoints | payload
//! reply     u64 request id | u8 status | u32 datapoints confirmed
//! ```
//!
//! Requests may be pipelined; replies come in the order in which they fall due and name their request. The id is the
//! client's: by convention the index of the operation in its schedule, so that the ledger can compute the intended
//! start from it. Status 0 ([`STATUS_OK`]) means stored; any other means that nothing was stored and confirms 0
//! datapoints.
//!
//! Encoding and decoding are pure functions over byte slices; whoever calls them does the I/O.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
};

/// Largest payload of one request.
pub const PAYLOAD_MAX_BYTES: usize = 16 << 20;

/// Bytes before the payload of a request.
pub const REQUEST_HEADER_BYTES: usize = 16;

/// Bytes of a reply.
pub const REPLY_BYTES: usize = 13;

/// Status of a reply whose request was stored.
pub const STATUS_OK: u8 = 0;

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Index of the operation in the client's schedule.
    pub id: u64,
    /// Datapoints that the payload carries, as told by the client; the server does not look into the payload.
    pub points: u32,
    /// Content; at most [`PAYLOAD_MAX_BYTES`].
    pub payload: &'a [u8],
}

/// One reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Id of the request it answers.
    pub id: u64,
    /// [`STATUS_OK`] or the programmed error.
    pub status: u8,
    /// Datapoints confirmed: those of the request, or 0 with an error status.
    pub count: u32,
}

/// A frame announces or would need more than [`PAYLOAD_MAX_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a payload of {length} bytes is over the limit of {PAYLOAD_MAX_BYTES}: send smaller batches")]
pub struct PayloadTooLong {
    /// Length of the refused payload in bytes.
    pub length: usize,
}

impl<'a> Request<'a> {
    /// Appends the request's frame to `out`.
    ///
    /// # Errors
    /// [`PayloadTooLong`]; `out` is then unchanged.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), PayloadTooLong> {
        let too_long = PayloadTooLong { length: self.payload.len() };
        let length = u32::try_from(self.payload.len()).map_err(|_| too_long)?;
        if self.payload.len() > PAYLOAD_MAX_BYTES {
            return Err(too_long);
        }
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&self.id.to_le_bytes());
        out.extend_from_slice(&self.points.to_le_bytes());
        out.extend_from_slice(self.payload);
        Ok(())
    }

    /// Reads the request at the start of `bytes`: the request and the bytes it took, or `None` when it is not complete.
    ///
    /// # Errors
    /// [`PayloadTooLong`]: the stream cannot be continued.
    pub fn decode(bytes: &'a [u8]) -> Result<Option<(Self, usize)>, PayloadTooLong> {
        let Some(frame_bytes) = frame_bytes(bytes)? else { return Ok(None) };
        let Some(frame) = bytes.get(..frame_bytes) else { return Ok(None) };
        let Some((header, payload)) = frame.split_first_chunk::<REQUEST_HEADER_BYTES>() else { return Ok(None) };
        let [_, _, _, _, i0, i1, i2, i3, i4, i5, i6, i7, p0, p1, p2, p3] = *header;
        let id = u64::from_le_bytes([i0, i1, i2, i3, i4, i5, i6, i7]);
        let points = u32::from_le_bytes([p0, p1, p2, p3]);
        Ok(Some((Self { id, points, payload }, frame_bytes)))
    }
}

/// Length in bytes of the request frame that starts `bytes`, as soon as its length field is there.
pub(crate) fn frame_bytes(bytes: &[u8]) -> Result<Option<usize>, PayloadTooLong> {
    let Some((length, _)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > PAYLOAD_MAX_BYTES {
        return Err(PayloadTooLong { length });
    }
    Ok(Some(REQUEST_HEADER_BYTES + length))
}

impl Reply {
    /// The reply's frame.
    #[must_use]
    pub fn encode(&self) -> [u8; REPLY_BYTES] {
        let [i0, i1, i2, i3, i4, i5, i6, i7] = self.id.to_le_bytes();
        let [c0, c1, c2, c3] = self.count.to_le_bytes();
        [i0, i1, i2, i3, i4, i5, i6, i7, self.status, c0, c1, c2, c3]
    }

    /// Reads a reply from its frame.
    #[must_use]
    pub fn decode(frame: &[u8; REPLY_BYTES]) -> Self {
        let [i0, i1, i2, i3, i4, i5, i6, i7, status, c0, c1, c2, c3] = *frame;
        let id = u64::from_le_bytes([i0, i1, i2, i3, i4, i5, i6, i7]);
        Self { id, status, count: u32::from_le_bytes([c0, c1, c2, c3]) }
    }
}

/// A blocking client of one connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    frames: Vec<u8>,
}

impl Client {
    /// Connects to a server.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, frames: Vec::new() })
    }

    /// Sends requests with one write and does not wait for replies.
    ///
    /// # Errors
    /// A payload that is too long ([`io::ErrorKind::InvalidInput`]; nothing is sent), or a failed write.
    pub fn send(&mut self, requests: &[Request<'_>]) -> io::Result<()> {
        self.frames.clear();
        for request in requests {
            request
                .encode(&mut self.frames)
                .map_err(|too_long| io::Error::new(io::ErrorKind::InvalidInput, too_long))?;
        }
        self.stream.write_all(&self.frames)
    }

    /// Waits for the next reply.
    ///
    /// # Errors
    /// A failed read: the time-out of [`Client::set_timeout`], a reset, or the connection's end.
    pub fn receive(&mut self) -> io::Result<Reply> {
        let mut frame = [0; REPLY_BYTES];
        self.stream.read_exact(&mut frame)?;
        Ok(Reply::decode(&frame))
    }

    /// Sends one request and waits for the next reply.
    ///
    /// # Errors
    /// Those of [`Client::send`] and [`Client::receive`].
    pub fn call(&mut self, request: &Request<'_>) -> io::Result<Reply> {
        self.send(std::slice::from_ref(request))?;
        self.receive()
    }

    /// Limits how long [`Client::receive`] waits; `None` waits for ever.
    ///
    /// # Errors
    /// A time-out of zero.
    pub fn set_timeout(&self, timeout: Option<std::time::Duration>) -> io::Result<()> {
        self.stream.set_read_timeout(timeout)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frames_are_laid_out_as_documented() {
        let mut frame = Vec::new();
        Request { id: 0x0102, points: 3, payload: b"ab" }.encode(&mut frame).unwrap();
        assert_eq!(frame, [2, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, b'a', b'b']);
        let reply = Reply { id: 0x0102, status: 7, count: 3 }.encode();
        assert_eq!(reply, [2, 1, 0, 0, 0, 0, 0, 0, 7, 3, 0, 0, 0]);
    }

    #[test]
    fn a_payload_over_the_limit_is_refused_both_ways() {
        let payload = vec![0; PAYLOAD_MAX_BYTES + 1];
        let too_long = PayloadTooLong { length: PAYLOAD_MAX_BYTES + 1 };
        let mut out = vec![9];
        assert_eq!(Request { id: 0, points: 0, payload: &payload }.encode(&mut out), Err(too_long));
        assert_eq!(out, [9]);
        let announced = u32::try_from(PAYLOAD_MAX_BYTES + 1).unwrap().to_le_bytes();
        assert_eq!(Request::decode(&announced), Err(too_long));
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(id: u64, points: u32, payload: Vec<u8>, rest: Vec<u8>) {
            let request = Request { id, points, payload: &payload };
            let mut bytes = Vec::new();
            request.encode(&mut bytes).unwrap();
            let frame_bytes = bytes.len();
            for cut in 0..frame_bytes {
                prop_assert_eq!(Request::decode(&bytes[..cut]), Ok(None));
            }
            bytes.extend_from_slice(&rest);
            prop_assert_eq!(Request::decode(&bytes), Ok(Some((request, frame_bytes))));
        }

        #[test]
        fn replies_survive_the_wire(id: u64, status: u8, count: u32) {
            let reply = Reply { id, status, count };
            prop_assert_eq!(Reply::decode(&reply.encode()), reply);
        }
    }
}
