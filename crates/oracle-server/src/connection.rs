//! The reading side of one connection: stamps and records requests.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

use rustix::event::{PollFd, PollFlags, poll};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    http::Answer,
    ledger::{Entry, Fate},
    protocol::{Destination, Protocol, Taken},
    state::Shared,
};

const READ_BYTES: usize = 64 << 10;

/// Reads requests until the connection ends, by either side; then removes it.
pub(crate) fn serve(shared: &Shared, connection: u32, stream: &TcpStream) {
    let mut requests = Requests::new(&shared.protocol);
    loop {
        await_bytes(stream);
        let arrival_ns = shared.now_ns();
        match requests.read(stream) {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        if requests.drain(|request| take(shared, connection, stream, arrival_ns, request)).is_err() {
            break;
        }
    }
    // No shutdown here: it would send a FIN ahead of a programmed reset. Dropping the last handle closes.
    shared.lock().connections.remove(&connection);
}

/// Waits until there is something to read, so that what arrives is stamped before it is copied.
fn await_bytes(stream: &TcpStream) {
    // Whatever ends the wait too early, or makes it fail, the read after it waits or fails for the same reason.
    let _ = poll(&mut [PollFd::new(stream, PollFlags::IN)], None);
}

fn take(shared: &Shared, connection: u32, stream: &TcpStream, arrival_ns: u64, request: &Taken<'_>) -> Result<(), End> {
    match request.place {
        Destination::Programmed(endpoint) => record(shared, connection, arrival_ns, request, endpoint),
        Destination::AtOnce(endpoint) => answer(shared, stream, &shared.answer(endpoint, 0, request.points)),
        Destination::Nowhere => {
            shared.lock().strays += 1;
            answer(shared, stream, &Answer::missing())
        }
    }
}

fn record(shared: &Shared, connection: u32, arrival_ns: u64, request: &Taken<'_>, endpoint: u16) -> Result<(), End> {
    let entry = Entry {
        connection,
        id: request.id,
        points: request.points,
        payload_bytes: u32::try_from(request.payload.len()).map_err(|_| End)?,
        payload_hash: xxh3_64(request.payload),
        arrival_ns,
        endpoint,
        fate: Fate::Unanswered,
    };
    shared.change(|state, _| state.take(entry)).map_err(|_closed| End)
}

/// Answers what is not programmed.
fn answer(shared: &Shared, mut stream: &TcpStream, answer: &Answer) -> Result<(), End> {
    shared.count_written(answer.bytes.len());
    stream.write_all(&answer.bytes).map_err(|_| End)
}

/// The connection cannot go on.
#[derive(Debug)]
struct End;

/// Cuts the stream into requests. Its buffer grows to the longest request.
#[derive(Debug)]
struct Requests<'p> {
    protocol: &'p Protocol,
    buffer: Vec<u8>,
    filled: usize,
}

impl<'p> Requests<'p> {
    fn new(protocol: &'p Protocol) -> Self {
        Self { protocol, buffer: Vec::new(), filled: 0 }
    }

    /// Reads once; returns the number of bytes read.
    fn read(&mut self, mut stream: impl Read) -> io::Result<usize> {
        let wanted = match self.protocol.frame_bytes(&self.buffer[..self.filled]) {
            Ok(frame_bytes) => frame_bytes.unwrap_or(self.filled + READ_BYTES).max(READ_BYTES),
            Err(_unreadable) => return Err(io::ErrorKind::InvalidData.into()),
        };
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        loop {
            match stream.read(&mut self.buffer[self.filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read_bytes) => {
                    self.filled += read_bytes;
                    return Ok(read_bytes);
                }
            }
        }
    }

    /// Hands over the complete requests and keeps the incomplete rest.
    fn drain(&mut self, mut take: impl FnMut(&Taken<'_>) -> Result<(), End>) -> Result<(), End> {
        let mut taken = 0;
        while let Some((request, frame_bytes)) =
            self.protocol.decode(&self.buffer[taken..self.filled]).map_err(|_unreadable| End)?
        {
            take(&request)?;
            taken += frame_bytes;
        }
        self.buffer.copy_within(taken..self.filled, 0);
        self.filled -= taken;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::wire::Request;

    /// Gives a few bytes per read.
    struct Dribble<'a> {
        bytes: &'a [u8],
        step: usize,
    }

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (head, rest) = self.bytes.split_at(self.step.min(self.bytes.len()).min(buffer.len()));
            buffer[..head.len()].copy_from_slice(head);
            self.bytes = rest;
            Ok(head.len())
        }
    }

    fn cut(bytes: &[u8], step: usize) -> Vec<(u64, Vec<u8>)> {
        let (mut dribble, mut requests, mut taken) =
            (Dribble { bytes, step }, Requests::new(&Protocol::Raw), Vec::new());
        while requests.read(&mut dribble).unwrap() > 0 {
            requests
                .drain(|request| {
                    taken.push((request.id, request.payload.to_vec()));
                    Ok(())
                })
                .unwrap();
        }
        taken
    }

    #[test]
    fn a_request_longer_than_the_buffer_comes_whole() {
        let payload = vec![7; 3 * READ_BYTES];
        let mut bytes = Vec::new();
        Request { id: 1, points: 0, payload: &payload }.encode(&mut bytes).unwrap();
        Request { id: 2, points: 0, payload: b"x" }.encode(&mut bytes).unwrap();
        assert_eq!(cut(&bytes, usize::MAX), [(1, payload), (2, b"x".to_vec())]);
    }

    proptest! {
        #[test]
        fn requests_are_the_same_however_the_stream_is_cut(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8),
            step in 1_usize..60,
        ) {
            let (mut bytes, mut sent) = (Vec::new(), Vec::new());
            for (id, payload) in (0..).zip(&payloads) {
                Request { id, points: 1, payload }.encode(&mut bytes).unwrap();
                sent.push((id, payload.clone()));
            }
            prop_assert_eq!(cut(&bytes, step), sent);
        }
    }
}
