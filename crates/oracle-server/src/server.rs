//! Starts, commands and stops the server.

use std::{
    io,
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crate::{
    connection, dispatcher,
    ledger::Ledger,
    program::{Fault, Program, duration_ns},
    protocol::Protocol,
    scheduler::Scheduler,
    state::Shared,
};

/// Connections at once; more are closed on accept.
pub const CONNECTIONS_MAX: usize = 320;

/// Requests a ledger holds unless told otherwise.
pub const LEDGER_CAPACITY: usize = 4 << 20;

/// Connections that wait to be accepted: all, and those that will be closed for being too many.
const BACKLOG: i32 = 1_024;

const ACCEPT_RETRY: Duration = Duration::from_millis(1);

const READER_STACK_BYTES: usize = 256 << 10;

/// How to start a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What it does.
    pub program: Program,
    /// Time 0 of the program and of the ledger; not in the future.
    pub epoch: Instant,
    /// Requests the ledger holds. A request beyond it is counted in [`Ledger::overflow`] and its connection is closed.
    pub ledger_capacity: usize,
    /// What it speaks.
    pub protocol: Protocol,
    /// The port of 127.0.0.1 that it listens at, such as that of a server that was dropped; 0: any that is free.
    pub port: u16,
}

impl Settings {
    /// Settings for [`Protocol::Raw`] on a free port with a ledger of [`LEDGER_CAPACITY`].
    #[must_use]
    pub fn new(program: Program, epoch: Instant) -> Self {
        Self { program, epoch, ledger_capacity: LEDGER_CAPACITY, protocol: Protocol::Raw, port: 0 }
    }
}

/// A server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Stamps are counted from the epoch and cannot be negative.
    #[error("the epoch is in the future: take Instant::now() before the server is started")]
    EpochInFuture,
    /// No port on the loopback interface.
    #[error("cannot listen on the loopback interface: {0}")]
    Listen(#[source] io::Error),
    /// No thread.
    #[error("cannot start a thread: raise the limit on processes (ulimit -u): {0}")]
    Thread(#[source] io::Error),
}

/// A running server; dropping it closes its connections and ends its threads.
#[derive(Debug)]
pub struct Server {
    shared: Arc<Shared>,
    address: SocketAddr,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Server {
    /// Starts a server on 127.0.0.1, on threads of its own.
    ///
    /// # Errors
    /// An epoch in the future, no port, or no thread.
    pub fn start(settings: Settings) -> Result<Self, StartError> {
        let Settings { program, epoch, ledger_capacity, protocol, port } = settings;
        if epoch > Instant::now() {
            return Err(StartError::EpochInFuture);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(StartError::Listen)?;
        // The standard library lets 128 wait to be accepted; the next would be tried again a second later.
        rustix::net::listen(&listener, BACKLOG).map_err(|errno| StartError::Listen(errno.into()))?;
        let address = listener.local_addr().map_err(StartError::Listen)?;
        let shared = Arc::new(Shared::new(protocol, epoch, Scheduler::new(&program), ledger_capacity));
        let mut server = Self { shared, address, threads: Vec::with_capacity(2) };
        let shared = Arc::clone(&server.shared);
        server.spawn("oracle-dispatch", move || dispatcher::run(&shared))?;
        let shared = Arc::clone(&server.shared);
        server.spawn("oracle-accept", move || accept(&shared, &listener))?;
        Ok(server)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// An instant on the ledger's clock: nanoseconds since the epoch; 0 before it.
    #[must_use]
    pub fn since_epoch_ns(&self, at: Instant) -> u64 {
        self.shared.since_epoch_ns(at)
    }

    /// What happened so far, every request included whose reply the caller has seen. The server waits while the ledger is
    /// copied (about 150 ms per million requests): take it when the load has ended.
    #[must_use]
    pub fn ledger(&self) -> Ledger {
        self.shared.ledger()
    }

    /// Freezes the server from now on for `length`, as [`Fault::Stall`](crate::Fault::Stall) does.
    pub fn stall(&self, length: Duration) {
        self.shared.change(|state, now_ns| {
            state.scheduler.stall(now_ns, Some(now_ns.saturating_add(duration_ns(length))));
        });
    }

    /// Freezes the server from `at` on for `length`; in the past it counts as a stall that is over or on.
    pub fn stall_at(&self, at: Instant, length: Duration) {
        self.shared.change(|state, _| {
            let from_ns = self.shared.since_epoch_ns(at);
            state.scheduler.stall(from_ns, Some(from_ns.saturating_add(duration_ns(length))));
        });
    }

    /// Freezes the server from now on until [`Server::resume`].
    pub fn hang(&self) {
        self.shared.change(|state, now_ns| state.scheduler.stall(now_ns, None));
    }

    /// Ends the stall or hang that is on, if there is one; what waited is served then. Later programmed stalls stay, and
    /// requests lost to [`Fault::Hang`](crate::Fault::Hang) stay lost.
    pub fn resume(&self) {
        self.shared.change(|state, now_ns| state.scheduler.resume(now_ns));
    }

    /// From now on this fault strikes before those of the program and of earlier calls, until [`Server::heal`]. Requests are
    /// counted from the first that the server took; a stall is [`Server::stall`]'s.
    pub fn strike(&self, fault: Fault) {
        self.shared.change(|state, _| state.scheduler.strike(fault));
    }

    /// Ends the faults of [`Server::strike`]; what they have lost stays lost.
    pub fn heal(&self) {
        self.shared.change(|state, _| state.scheduler.heal());
    }

    /// Whether new connections are closed as soon as they are accepted. Those that are open go on.
    pub fn close_to_new(&self, is_closed: bool) {
        self.shared.lock().is_closed = is_closed;
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), StartError> {
        self.threads.push(thread::Builder::new().name(name.into()).spawn(run).map_err(StartError::Thread)?);
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.change(|state, _| {
            state.stopping = true;
            for stream in state.connections.values() {
                // A connection that the client has just ended needs no shutdown.
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
        // Wakes the accepting thread from its wait; if even this is refused, it is not waiting.
        let _ = TcpStream::connect(self.address);
        for thread in self.threads.drain(..) {
            // A panic of the thread was printed by it; in drop there is nobody else to tell.
            let _ = thread.join();
        }
    }
}

/// Accepts connections until the server stops, with a reader thread for each; returns when all have ended.
fn accept(shared: &Shared, listener: &TcpListener) {
    thread::scope(|scope| {
        for connection in 0.. {
            let accepted = listener.accept().and_then(|(stream, _)| stream.set_nodelay(true).map(|()| stream));
            let mut state = shared.lock();
            if state.stopping {
                return;
            }
            if state.is_closed || state.connections.len() >= CONNECTIONS_MAX {
                continue;
            }
            let Ok(stream) = accepted.map(Arc::new) else {
                drop(state);
                // The connection was gone already, or the process is out of file descriptors, which takes time to pass.
                thread::sleep(ACCEPT_RETRY);
                continue;
            };
            state.connections.insert(connection, Arc::clone(&stream));
            drop(state);
            let reader = thread::Builder::new().name("oracle-read".into()).stack_size(READER_STACK_BYTES);
            let spawned = reader.spawn_scoped(scope, move || connection::serve(shared, connection, &stream));
            if spawned.is_err() {
                shared.lock().connections.remove(&connection);
            }
        }
    });
}
