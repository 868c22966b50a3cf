//! Reads the server's counters on a thread and a connection of its own. A look that is slow or fails delays nothing but itself.

use crate::{caught::caught, clock::RunClock};
use iotbench_core::{Action, Cause, Counted, Counter, CounterReader, Database, Error};
use iotbench_recorder::WINDOW_NS;
use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};
use tokio::{sync::watch, time::Instant};

/// A look that takes longer has failed.
const DEADLINE: Duration = Duration::from_secs(5);
/// Between two looks is at least so many times what the first took: they must stay a small load.
const TIMES: u32 = 9;
/// How long the last look may take when the load has ended.
const LAST: Duration = Duration::from_millis(500);
/// A driver that does not look up by then is left behind.
const LEFT_BEHIND: Duration = Duration::from_secs(2);
/// Looks that are kept until somebody takes them.
const MAX_LOOKS: usize = 600;

/// What one look read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterLook {
    /// When it was asked for, in nanoseconds since the run's start.
    pub at_ns: u64,
    /// The counters that the server has.
    pub values: Arc<[Counted]>,
}

impl CounterLook {
    /// How far a counter had come.
    #[must_use]
    pub fn value(&self, counter: Counter) -> Option<u64> {
        self.values.iter().find(|(read, _)| *read == counter).map(|(_, value)| *value)
    }
}

/// What reading counters cost, and whether it could be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CountersCost {
    /// Looks that were made.
    pub looks: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// How long they took in all.
    pub took: Duration,
    /// The first failure.
    pub failure: Option<Error>,
}

/// Looks on a thread of their own.
#[derive(Debug)]
pub struct CountersWatch {
    seen: Arc<Mutex<Seen>>,
    until: watch::Sender<bool>,
    ended: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Seen {
    looks: Vec<CounterLook>,
    cost: CountersCost,
}

impl CountersWatch {
    /// Starts the thread: it looks at the beginning of each second of the run.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(database: Arc<dyn Database>, clock: RunClock) -> Result<Self, Error> {
        let failed = |e| Error::new(Cause::Client, format!("cannot start a thread: {e}"));
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (until, stop) = watch::channel(false);
        let (end, ended) = sync_channel(1);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let shared = Arc::clone(&seen);
        let body = move || {
            runtime.block_on(look_on(&*database, || clock.now_ns(), &shared, stop));
            // Who has waited too long has gone on.
            let _ = end.send(());
        };
        let thread = std::thread::Builder::new().name("iotbench-counters".into()).spawn(body).map_err(failed)?;
        Ok(Self { seen, until, ended, thread: Some(thread) })
    }

    /// What was seen since this was asked last, in order.
    pub fn take(&self) -> Vec<CounterLook> {
        std::mem::take(&mut lock(&self.seen).looks)
    }

    /// Looks no more, but once where that is due; what it cost.
    pub fn end(&mut self) -> CountersCost {
        // Its thread may have ended.
        let _ = self.until.send(true);
        if self.ended.recv_timeout(LAST + LEFT_BEHIND).is_ok()
            && let Some(thread) = self.thread.take()
        {
            // A panic of the driver is caught before.
            let _ = thread.join();
        }
        lock(&self.seen).cost.clone()
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks at whole seconds until it is stopped, or the server refuses, by the runtime's time.
async fn look_on(
    database: &dyn Database,
    now_ns: impl Fn() -> u64,
    seen: &Mutex<Seen>,
    mut stop: watch::Receiver<bool>,
) {
    let mut reader = None;
    // Before the load begins the first look is as good as at its beginning, and its connection is made.
    let mut due_ns = 0_u64;
    loop {
        // Before its start the run's clock stands still.
        while now_ns() < due_ns && !*stop.borrow() {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns()))) => {}
                // The sender lives as long as the watch.
                _ = stop.wait_for(|stopped| *stopped) => {}
            }
        }
        let is_stopped = *stop.borrow();
        if is_stopped && now_ns() < due_ns {
            return;
        }
        let (begun, at_ns) = (Instant::now(), now_ns());
        let found = within(look(database, &mut reader), &mut stop).await;
        let took = begun.elapsed();
        let is_refused = found.as_ref().is_err_and(|error| error.action == Action::Stop);
        keep(seen, at_ns, took, found);
        if is_stopped || is_refused {
            return;
        }
        let pause_ns = u64::try_from((took * TIMES).as_nanos()).unwrap_or(u64::MAX);
        due_ns = (due_ns + WINDOW_NS).max(now_ns().saturating_add(pause_ns).div_ceil(WINDOW_NS) * WINDOW_NS);
    }
}

/// A look within its time, which is short once the load has ended.
async fn within(
    look: impl Future<Output = Result<Vec<Counted>, Error>>,
    stop: &mut watch::Receiver<bool>,
) -> Result<Vec<Counted>, Error> {
    let ended = async {
        // The sender lives as long as the watch.
        let _ = stop.wait_for(|stopped| *stopped).await;
        tokio::time::sleep(LAST).await;
    };
    let late = |after: Duration| Error::new(Cause::TimedOut, format!("no answer within {} s", after.as_secs_f64()));
    tokio::select! {
        found = caught(look) => found,
        () = tokio::time::sleep(DEADLINE) => Err(late(DEADLINE)),
        () = ended => Err(late(LAST)),
    }
}

/// Reads once, on the connection of before if the server has not ended it meanwhile.
async fn look(database: &dyn Database, kept: &mut Option<Box<dyn CounterReader>>) -> Result<Vec<Counted>, Error> {
    if let Some(mut reader) = kept.take() {
        match reader.read().await {
            Ok(read) => {
                *kept = Some(reader);
                return Ok(read);
            }
            Err(error) if error.cause == Cause::Connect => {}
            Err(error) => return Err(error),
        }
    }
    let mut reader = database.counters().await?;
    let read = reader.read().await?;
    *kept = Some(reader);
    Ok(read)
}

fn keep(seen: &Mutex<Seen>, at_ns: u64, took: Duration, found: Result<Vec<Counted>, Error>) {
    let mut seen = lock(seen);
    seen.cost.looks += 1;
    seen.cost.took += took;
    match found {
        Ok(values) if seen.looks.len() < MAX_LOOKS => seen.looks.push(CounterLook { at_ns, values: values.into() }),
        Ok(_) => {}
        Err(error) => {
            seen.cost.failed += 1;
            seen.cost.failure.get_or_insert(error);
        }
    }
}

#[cfg(test)]
mod tests;
