//! Watches what servers send to drivers that set no limit: an answer that memory keeps without an end, and one that keeps a thread
//! reading. The connection is ended under the driver, and the call fails as what the protocol does not allow.
//!
//! A driver that reads a message of 2 GiB gives nobody its bytes before it has them all. What is seen from outside is that a connection
//! brings much and that the memory grows by as much, which answers that are read row by row never do. An answer below
//! [`course::PART`] on each of many connections is not seen.

mod course;
mod pulse;

pub use pulse::Pulses;

use course::{Bounds, Course, Look};
use iotbench_core::{Applied, BackendInfo, Cause, Error};
use iotbench_sampler::OwnConnections;
use std::{
    sync::{
        Arc, OnceLock,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// How often memory is looked at: 10 MiB come meanwhile at 1 GiB/s.
const LOOK: Duration = Duration::from_millis(10);
/// The same while it grows.
const LOOK_GROWING: Duration = Duration::from_millis(1);
/// It grows where it has become so much more since the last look.
const GROWING_BYTES: u64 = 1 << 20;
/// So long after its deadline a thread that has not looked up is kept busy by what it reads.
const GRACE: Duration = Duration::from_secs(1);

/// The thread that watches.
#[derive(Debug)]
pub struct HoardWatch {
    /// It ends when this does.
    until: Option<SyncSender<()>>,
    found: Arc<OnceLock<Error>>,
    pulses: Pulses,
    thread: Option<JoinHandle<()>>,
}

impl HoardWatch {
    /// Watches what a backend's driver takes without a limit; `None`: it has one.
    pub fn over(backend: &BackendInfo, deadline: Duration) -> Option<Self> {
        Self::start(deadline, backend.unlimited_answers?)
    }

    /// Starts to watch the connections of this process, whose calls take `deadline` at the most and hold `honest_bytes` of each one's
    /// answers. `None` where the kernel tells nothing of
    /// them.
    pub fn start(deadline: Duration, honest_bytes: u64) -> Option<Self> {
        let bounds = Bounds { deadline, honest_bytes };
        let mut own = OwnConnections::open().ok()?;
        own.received().ok()?;
        let (until, ended) = sync_channel(1);
        let (found, pulses) = (Arc::new(OnceLock::new()), Pulses::default());
        let (told, seen) = (Arc::clone(&found), pulses.clone());
        let body = move || {
            if let Err(error) = watch(&mut own, bounds, &seen, &ended, &told) {
                // What was found stands.
                let _ = told.set(blind(&error));
            }
        };
        let thread = std::thread::Builder::new().name("iotbench-hoard".into()).spawn(body).ok()?;
        Some(Self { until: Some(until), found, pulses, thread: Some(thread) })
    }

    /// Where threads that call a driver say that they look up.
    pub fn pulses(&self) -> &Pulses {
        &self.pulses
    }

    /// What a server did that its connection was ended for.
    pub fn found(&self) -> Option<&Error> {
        self.found.get()
    }
}

impl Drop for HoardWatch {
    fn drop(&mut self) {
        drop(self.until.take());
        // It panics nowhere.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

fn watch(
    own: &mut OwnConnections,
    bounds: Bounds,
    pulses: &Pulses,
    ended: &Receiver<()>,
    found: &OnceLock<Error>,
) -> std::io::Result<()> {
    let began = Instant::now();
    let mut course =
        Course::new(bounds, Look { at: Duration::ZERO, rss_bytes: own.rss_bytes()?, received: own.received()? });
    let (mut next, mut before_bytes) = (LOOK, u64::MAX);
    while ended.recv_timeout(next) == Err(RecvTimeoutError::Timeout) {
        let (at, rss_bytes) = (began.elapsed(), own.rss_bytes()?);
        next = if rss_bytes.saturating_sub(before_bytes) >= GROWING_BYTES { LOOK_GROWING } else { LOOK };
        before_bytes = rss_bytes;
        if !course.is_due(at, rss_bytes) {
            continue;
        }
        let is_stuck = pulses.oldest().is_some_and(|age| age > bounds.deadline + GRACE);
        let Some(guilt) = course.look(Look { at, rss_bytes, received: own.received()? }, is_stuck) else { continue };
        let ended: std::io::Result<Vec<()>> = guilt.connections.iter().map(|&connection| own.end(connection)).collect();
        let error = Error::new(Cause::Protocol, format!("{}{}", guilt.what, outcome(&ended))).applied(Applied::Maybe);
        // The first one stands.
        let _ = found.set(error);
    }
    Ok(())
}

fn outcome(ended: &std::io::Result<Vec<()>>) -> String {
    match ended {
        Ok(_) => ": its connection was ended".into(),
        Err(error) => format!(": the run is given up, its connection could not be ended ({error})"),
    }
}

/// Memory that nobody watches any more is no reason to go on without a limit.
fn blind(error: &std::io::Error) -> Error {
    Error::new(
        Cause::Client,
        format!("the kernel no longer tells what connections bring, which bounds what a server can send: {error}"),
    )
}
