//! Counts what is visible while a load runs, on a thread and a connection of its own.

use super::pause::pause;
use crate::clock::RunClock;
use iotbench_core::{Cause, Database, Error};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// So many counts in a row may take longer than the deadline: a database that is overloaded is a finding, not an error.
const MAX_LATE: u32 = 4;
/// How often the thread looks whether it shall end.
const STOP_LOOK: Duration = Duration::from_millis(20);
/// Looks that are kept until somebody takes them: half an hour of them.
const MAX_LOOKS: usize = 3600;

/// What one count saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// When it was asked for, in nanoseconds since the run's start.
    pub from_ns: u64,
    /// When it was answered.
    pub to_ns: u64,
    /// Datapoints that were visible at some moment between the two.
    pub points: u64,
}

impl Look {
    /// The middle of its time: off by half of it at most.
    pub fn at_ns(&self) -> u64 {
        self.from_ns.midpoint(self.to_ns)
    }
}

/// Looks on a thread of their own, until dropped.
#[derive(Debug)]
pub struct VisibleWatch {
    looks: Arc<Mutex<Looks>>,
    stop: Arc<AtomicBool>,
    /// Nothing else is asked of the database.
    unloaded: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Looks {
    seen: Vec<Look>,
    error: Option<Error>,
}

impl VisibleWatch {
    /// Starts the thread. A count that takes longer than `deadline` is given up.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(database: Arc<dyn Database>, clock: RunClock, deadline: Duration) -> Result<Self, Error> {
        let looks = Arc::new(Mutex::new(Looks::default()));
        let [stop, unloaded] = std::array::from_fn(|_| Arc::new(AtomicBool::new(false)));
        let (seen, stopped, hurried) = (Arc::clone(&looks), Arc::clone(&stop), Arc::clone(&unloaded));
        let body = move || {
            if let Err(error) = watch(&*database, clock, deadline, &seen, &stopped, &hurried) {
                lock(&seen).error = Some(error);
            }
        };
        let thread = std::thread::Builder::new().name("iotbench-visible".into()).spawn(body);
        let thread = thread.map_err(|e| Error::new(Cause::Client, format!("cannot start a thread: {e}")))?;
        Ok(Self { looks, stop, unloaded, thread: Some(thread) })
    }

    /// Whether nothing else is asked of the database: then counting need not be a small load, and is not paused for long.
    pub fn set_unloaded(&self, unloaded: bool) {
        self.unloaded.store(unloaded, Ordering::Relaxed);
    }

    /// What was seen since this was asked last, in order.
    ///
    /// # Errors
    /// Why nothing more can be seen.
    pub fn take(&self) -> Result<Vec<Look>, Error> {
        let mut looks = lock(&self.looks);
        match &looks.error {
            Some(error) if looks.seen.is_empty() => Err(error.clone()),
            _ => Ok(std::mem::take(&mut looks.seen)),
        }
    }
}

impl Drop for VisibleWatch {
    fn drop(&mut self) {
        self.end();
    }
}

impl VisibleWatch {
    /// Looks no more.
    pub fn end(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // What it had to say it has said.
            let _ = thread.join();
        }
    }
}

fn lock(looks: &Mutex<Looks>) -> std::sync::MutexGuard<'_, Looks> {
    looks.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(
    database: &dyn Database,
    clock: RunClock,
    deadline: Duration,
    looks: &Mutex<Looks>,
    stop: &AtomicBool,
    unloaded: &AtomicBool,
) -> Result<(), Error> {
    let failed = |e| Error::new(Cause::Client, format!("no runtime: {e}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let now_ns = || clock.now_ns();
    runtime.block_on(look_on(database, now_ns, deadline, looks, stop, unloaded))
}

/// Counts until it is stopped, by the runtime's time.
async fn look_on(
    database: &dyn Database,
    now_ns: impl Fn() -> u64,
    deadline: Duration,
    looks: &Mutex<Looks>,
    stop: &AtomicBool,
    unloaded: &AtomicBool,
) -> Result<(), Error> {
    let (mut reader, mut late, mut number) = (database.reader().await?, 0, 0);
    while !stop.load(Ordering::Relaxed) {
        let from_ns = now_ns();
        let counting = tokio::time::timeout(deadline, reader.visible_points());
        let Some(counted) = unless_stopped(stop, counting).await else { break };
        if let Ok(points) = counted {
            keep(looks, Look { from_ns, to_ns: now_ns(), points: points? });
            late = 0;
        } else {
            late += 1;
            if late == MAX_LATE {
                let message = format!("no count within {} s, {late} times in a row", deadline.as_secs_f64());
                return Err(Error::new(Cause::TimedOut, message));
            }
            // What was asked for on that connection may still come.
            reader = database.reader().await?;
        }
        let took = Duration::from_nanos(now_ns() - from_ns);
        unless_stopped(stop, tokio::time::sleep(pause(number, Duration::ZERO))).await;
        let rest = pause(number, took).saturating_sub(pause(number, Duration::ZERO));
        unless_set([stop, unloaded], tokio::time::sleep(rest)).await;
        number += 1;
    }
    Ok(())
}

fn keep(looks: &Mutex<Looks>, look: Look) {
    let mut looks = lock(looks);
    if looks.seen.len() < MAX_LOOKS {
        looks.seen.push(look);
    }
}

/// What a future gives, unless the watch is to end before.
async fn unless_stopped<T>(stop: &AtomicBool, future: impl Future<Output = T>) -> Option<T> {
    unless_set([stop], future).await
}

/// What a future gives, unless one of the flags is set before.
async fn unless_set<const N: usize, T>(flags: [&AtomicBool; N], future: impl Future<Output = T>) -> Option<T> {
    let set = async {
        while flags.iter().all(|flag| !flag.load(Ordering::Relaxed)) {
            tokio::time::sleep(STOP_LOOK).await;
        }
    };
    tokio::select! {
        value = future => Some(value),
        () = set => None,
    }
}

#[cfg(test)]
mod tests;
