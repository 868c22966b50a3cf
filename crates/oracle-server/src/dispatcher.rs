//! The thread that answers requests when they fall due.

use std::{
    io::Write,
    net::{Shutdown, TcpStream},
    sync::Arc,
    thread,
    time::Duration,
};

use rustix::net::{SendFlags, send, sockopt::set_socket_linger};

use crate::{
    http::{Answer, Then},
    ledger::Fate,
    scheduler::{Action, Due},
    state::{Shared, State},
};

/// An answer of more than this may not fit into a socket at once, and has a thread of its own.
const AT_ONCE_BYTES: usize = 4 << 10;

/// Answers requests until the server stops.
pub(crate) fn run(shared: &Shared) {
    sharpen_timer();
    thread::scope(|scope| {
        let mut state = shared.lock();
        while !state.stopping {
            let Some(due) = state.scheduler.pop_due(shared.now_ns()) else {
                state = shared.wait(state);
                continue;
            };
            let Some(delivery) = begin(shared, &mut state, due) else { continue };
            // The write is outside the lock, so that readers never wait for it; the ledger already has it, so that
            // whoever has the reply finds it there.
            drop(state);
            let undelivered = delivery.carry_out(scope, shared).err();
            state = shared.lock();
            if let Some(connection) = undelivered {
                state.settle(due.ticket, Fate::Undeliverable);
                state.connections.remove(&connection);
            }
        }
    });
}

/// What is left to do with a request once the ledger has it.
enum Delivery {
    Reply { connection: u32, stream: Arc<TcpStream>, answer: Answer },
    Reset { stream: Arc<TcpStream> },
}

/// Stamps and records; `None` when the connection is gone.
fn begin(shared: &Shared, state: &mut State, due: Due) -> Option<Delivery> {
    let entry = *state.entries.get(due.ticket)?;
    let Some(stream) = state.connections.get(&entry.connection).map(Arc::clone) else {
        state.settle(due.ticket, Fate::Undeliverable);
        return None;
    };
    match due.action {
        Action::Reply { status } => {
            let answer = shared.reply(&entry, status);
            state.settle(due.ticket, Fate::Answered { reply_ns: shared.now_ns(), status });
            Some(Delivery::Reply { connection: entry.connection, stream, answer })
        }
        Action::Reset => {
            state.connections.remove(&entry.connection);
            state.settle(due.ticket, Fate::Reset { reset_ns: shared.now_ns() });
            Some(Delivery::Reset { stream })
        }
    }
}

impl Delivery {
    /// Writes the reply, or resets; returns the connection that did not take its reply.
    fn carry_out<'scope>(self, scope: &'scope thread::Scope<'scope, '_>, shared: &'scope Shared) -> Result<(), u32> {
        match self {
            Self::Reply { connection, stream, answer } if is_short(&answer) => {
                if write(&stream, &answer.bytes) {
                    shared.count_written(answer.bytes.len());
                    return Ok(());
                }
                // Wakes the connection's reader, which ends it; it may have ended by itself.
                let _ = stream.shutdown(Shutdown::Both);
                Err(connection)
            }
            Self::Reply { connection, stream, answer } => {
                let long = thread::Builder::new().name("oracle-long".into());
                let spawned = long.spawn_scoped(scope, move || write_long(shared, &stream, &answer));
                spawned.map(drop).map_err(|_| connection)
            }
            Self::Reset { stream } => {
                reset(&stream);
                Ok(())
            }
        }
    }
}

fn is_short(answer: &Answer) -> bool {
    answer.then == Then::Wait && answer.bytes.len() <= AT_ONCE_BYTES
}

/// Writes an answer that takes its time, until it or its connection ends. The server's stop ends its connections.
fn write_long(shared: &Shared, mut stream: &TcpStream, Answer { bytes, then }: &Answer) {
    let mut send = |bytes: &[u8]| {
        let sent = stream.write_all(bytes).is_ok();
        shared.count_written(bytes.len());
        sent
    };
    let mut goes_on = send(bytes);
    match then {
        Then::Wait => {}
        // The reader gets its end by the client's, or by this one's reset where the client still sends.
        Then::Close => {
            let _ = stream.shutdown(Shutdown::Both);
        }
        Then::Repeat(piece) => {
            while goes_on {
                goes_on = send(piece);
            }
        }
        Then::Drip(piece, pause) => {
            while goes_on {
                thread::sleep(*pause);
                goes_on = send(piece);
            }
        }
    }
}

/// Writes a reply without waiting; a client that has let its replies pile up until the socket is full does not get it.
fn write(stream: &TcpStream, frame: &[u8]) -> bool {
    loop {
        match send(stream, frame, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Err(rustix::io::Errno::INTR) => {}
            sent => return sent == Ok(frame.len()),
        }
    }
}

/// Makes the close of the connection a reset, and its reader end. The reader's or the dispatcher's handle, whichever is
/// dropped last, closes.
fn reset(stream: &TcpStream) {
    // Both fail only on a connection that the client has ended first, and which therefore needs no reset.
    let _ = set_socket_linger(stream, Some(Duration::ZERO));
    let _ = stream.shutdown(Shutdown::Read);
}

/// Lets the kernel wake this thread at the nanosecond it asks for, not within the 50 µs of slack that are usual.
#[cfg(target_os = "linux")]
fn sharpen_timer() {
    // Fails only where the call is forbidden; replies are then later by up to the usual slack, as the ledger shows.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

#[cfg(not(target_os = "linux"))]
fn sharpen_timer() {}

#[cfg(test)]
mod tests {
    use std::{
        net::{Ipv4Addr, TcpListener},
        time::Instant,
    };

    use super::*;
    use crate::{
        ledger::Entry,
        program::{Discipline, Program, ServiceTime},
        protocol::Protocol,
        scheduler::Scheduler,
        wire::{REPLY_BYTES, STATUS_OK},
    };

    #[test]
    fn a_client_that_reads_nothing_does_not_hold_up_the_server() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        rustix::net::sockopt::set_socket_send_buffer_size(&server, 4 << 10).unwrap();
        rustix::net::sockopt::set_socket_recv_buffer_size(&client, 4 << 10).unwrap();
        let taken = (0..10_000_000).take_while(|_| write(&server, &[0; REPLY_BYTES])).count();
        assert!((1..10_000_000).contains(&taken), "{taken} replies taken");
    }

    #[test]
    fn a_reply_whose_connection_is_gone_is_undeliverable() {
        let service = ServiceTime::Constant(Duration::ZERO);
        let scheduler = Scheduler::new(&Program { service, discipline: Discipline::Queue, faults: vec![] });
        let shared = Shared::new(Protocol::Raw, Instant::now(), scheduler, 1);
        let fate = Fate::Unanswered;
        let mut state = shared.lock();
        let (payload_bytes, payload_hash, arrival_ns, endpoint) = (0, 0, 0, 0);
        let entry = Entry { connection: 0, id: 1, points: 1, payload_bytes, payload_hash, arrival_ns, endpoint, fate };
        state.entries.push(entry);
        let due = Due { ticket: 0, due_ns: 0, action: Action::Reply { status: STATUS_OK } };
        assert!(begin(&shared, &mut state, due).is_none());
        assert_eq!(state.entries[0].fate, Fate::Undeliverable);
    }
}
