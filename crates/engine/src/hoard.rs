//! Watches what servers send to drivers that set no limit: an answer that memory keeps without an end, and one that keeps a thread
//! reading. The connection is ended under the driver, and the call fails as what the protocol does not allow.
//!
//! A driver that reads a message of 2 GiB gives nobody its bytes before it has them all. What is seen from outside is that a connection
//! on which nothing is sent brings much, and that the memory grows by as much, which answers that are read row by row never do. Answers
//! below 18 MiB on each of many connections are not seen.

mod course;
mod pulse;

pub use pulse::Pulses;

use crate::caught::caught;
use course::{Course, Look};
use futures_util::future::{Either, select};
use iotbench_core::{Applied, BackendInfo, CarrierFacts, Cause, Error};
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
/// A thread that has nothing but one call to see to looks up sooner than that.
const LOOKS_UP: Duration = Duration::from_secs(10);
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
    /// Watches what a backend's driver takes without a limit; `None`: it has one. What comes from the `carrier` is no answer.
    pub fn over(backend: &BackendInfo, deadline: Duration, carrier: Option<&CarrierFacts>) -> Option<Self> {
        if backend.unlimited_answers { Self::start(deadline, carrier.and_then(|facts| facts.port)) } else { None }
    }

    /// Starts to watch the connections of this process, whose calls take `deadline` at the most, but those to the port
    /// `except`. `None` where the kernel tells nothing of
    /// them.
    pub fn start(deadline: Duration, except: Option<u16>) -> Option<Self> {
        let mut own = OwnConnections::open(except).ok()?;
        own.carried().ok()?;
        let (until, ended) = sync_channel(1);
        let (found, pulses) = (Arc::new(OnceLock::new()), Pulses::default());
        let (told, seen) = (Arc::clone(&found), pulses.clone());
        let body = move || {
            if let Err(error) = watch(&mut own, deadline, &seen, &ended, &told) {
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

/// A call of a driver on this thread, during which somebody sees whether the thread looks up.
pub async fn seen<T>(watch: Option<&HoardWatch>, call: impl Future<Output = T>) -> T {
    let Some(watch) = watch else { return call.await };
    let pulse = watch.pulses().begin().go_on();
    tokio::pin!(call, pulse);
    // The pulse has no end.
    match select(call, pulse).await {
        Either::Left((result, _)) => result,
        Either::Right((never, _)) => match never {},
    }
}

/// A call of a backend's driver that is watched, within a time.
///
/// # Errors
/// The call's own; [`Cause::TimedOut`]; [`Cause::Protocol`] where its connection was ended.
pub async fn watched<T>(
    backend: &BackendInfo,
    within: Duration,
    call: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let watch = HoardWatch::over(backend, within.min(LOOKS_UP), None);
    let late = |_| Error::new(Cause::TimedOut, format!("no answer within {} s", within.as_secs()));
    let result =
        tokio::time::timeout(within, seen(watch.as_ref(), caught(call))).await.unwrap_or_else(|e| Err(late(e)));
    result.map_err(|error| watch.as_ref().and_then(HoardWatch::found).cloned().unwrap_or(error))
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
    deadline: Duration,
    pulses: &Pulses,
    ended: &Receiver<()>,
    found: &OnceLock<Error>,
) -> std::io::Result<()> {
    let began = Instant::now();
    let mut course = Course::new(Look { at: Duration::ZERO, rss_bytes: own.rss_bytes()?, carried: own.carried()? });
    let (mut next, mut before_bytes) = (LOOK, u64::MAX);
    let (mut last, mut awake_since, mut told_at) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    while ended.recv_timeout(next) == Err(RecvTimeoutError::Timeout) {
        let (at, rss_bytes) = (began.elapsed(), own.rss_bytes()?);
        next = if rss_bytes.saturating_sub(before_bytes) >= GROWING_BYTES { LOOK_GROWING } else { LOOK };
        before_bytes = rss_bytes;
        if at > last + GRACE {
            // The whole process stood still: nobody could look up.
            awake_since = at;
        }
        last = at;
        if !course.is_due(at, rss_bytes) {
            continue;
        }
        let is_stuck = pulses.oldest().is_some_and(|age| age.min(at - awake_since) > deadline + GRACE);
        let carried = match own.carried() {
            // No descriptor is free, or the kernel has no time: for a while.
            Err(_) if at < told_at + deadline + GRACE => continue,
            carried => carried?,
        };
        told_at = at;
        let Some(guilt) = course.look(Look { at, rss_bytes, carried }, is_stuck) else { continue };
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
