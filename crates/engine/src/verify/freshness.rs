//! How long an acknowledged datapoint takes until a read sees it.

use super::Frontier;
use crate::{
    caught::caught,
    clock::RunClock,
    profile::Arrival,
    schedule::{Schedule, mix},
};
use iotbench_core::{Cause, Chunk, Database, Error, Query, Reader, SignalId};
use iotbench_recorder::LatencyHistogram;
use iotbench_simulator::Dataset;
use std::{
    iter::Peekable,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// Probes a second, at exponential intervals: probes in step with what they measure would see the same part of it each time.
const PROBES_PER_S: f64 = 1.0;
/// How often probes look whether something was acknowledged, or is visible.
const LOOK: Duration = Duration::from_millis(1);
/// A datapoint that has not been seen for long is looked for less often: each time after this part of its age.
const PART_OF_AGE: u64 = 50;
/// How often the end of the load is looked at.
const STOP_LOOK: Duration = Duration::from_millis(20);

/// The lags that probes saw.
#[derive(Clone, Debug, Default)]
pub struct Freshness {
    /// From the acknowledgement to the end of the first read that saw the datapoint: an upper bound, which holds one read.
    pub lag: LatencyHistogram,
    /// How old each datapoint was that no read saw within the deadline: its lag is at least that.
    pub unseen: LatencyHistogram,
}

/// What probes are made from.
pub struct ProbeParts {
    /// Where they read, on a connection of their own.
    pub database: Arc<dyn Database>,
    /// The run's clock.
    pub clock: RunClock,
    /// What they look for.
    pub sought: Sought,
}

/// What probes look for.
pub struct Sought {
    /// What the datapoints are.
    pub dataset: Arc<dyn Dataset>,
    /// What was acknowledged.
    pub frontier: Arc<Frontier>,
    /// Draws the times of the probes, and the signals.
    pub seed: u64,
    /// How long a datapoint is waited for.
    pub deadline: Duration,
}

/// Probes on a thread of their own.
#[derive(Debug)]
pub struct Probe {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Freshness, Error>>,
}

impl Probe {
    /// Starts the thread.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(parts: ProbeParts) -> Result<Self, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let body = move || probe(&parts, &stopped);
        let thread = std::thread::Builder::new().name("iotbench-fresh".into()).spawn(body);
        let thread = thread.map_err(|e| Error::new(Cause::Client, format!("cannot start a thread: {e}")))?;
        Ok(Self { stop, thread })
    }

    /// Ends the probes.
    ///
    /// # Errors
    /// What a probe could not read with, or a fault of the program.
    pub fn finish(self) -> Result<Freshness, Error> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|_| Err(Error::new(Cause::Client, "the freshness probe panicked")))
    }
}

fn probe(parts: &ProbeParts, stop: &AtomicBool) -> Result<Freshness, Error> {
    let failed = |e| Error::new(Cause::Client, format!("no runtime: {e}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    runtime.block_on(async {
        let mut reader = parts.database.reader().await?;
        let now = || parts.clock.now_ns();
        Probes::new(&parts.sought, now).run(&mut *reader, stop).await
    })
}

/// A datapoint that was acknowledged and is looked for.
struct Acknowledged {
    device: u32,
    signal: SignalId,
    timestamp_ns: i64,
    at_ns: u64,
    /// When it is looked for next.
    look_ns: u64,
}

/// The probes of a load: each is due at a time of its own, whatever became of those before, takes the next datapoint that is
/// acknowledged then, and looks for it until a read sees it or a later one of its series.
struct Probes<'a, Now> {
    sought: &'a Sought,
    now: Now,
    due: Peekable<Schedule>,
    /// For each that waits for an acknowledgement: its number, and how many acknowledgements there had been.
    waiting: Vec<(u64, u64)>,
    looking: Vec<Acknowledged>,
    freshness: Freshness,
}

impl<'a, Now: Fn() -> u64> Probes<'a, Now> {
    fn new(sought: &'a Sought, now: Now) -> Self {
        let from_ns = now();
        let due = Schedule::new(Arrival::Poisson, PROBES_PER_S, sought.seed).with_rate(PROBES_PER_S, 0, from_ns);
        let freshness = Freshness::default();
        Self { sought, now, due: due.peekable(), waiting: Vec::new(), looking: Vec::new(), freshness }
    }

    /// Probes until the load has ended, and what is looked for then is seen or too old.
    async fn run(mut self, reader: &mut dyn Reader, stop: &AtomicBool) -> Result<Freshness, Error> {
        loop {
            let stopped = stop.load(Ordering::Relaxed);
            if stopped {
                self.waiting.clear();
            } else {
                self.begin();
            }
            self.look(reader).await?;
            if stopped && self.looking.is_empty() {
                return Ok(self.freshness);
            }
            tokio::time::sleep(self.pause()).await;
        }
    }

    /// Begins what is due, and takes what was acknowledged since.
    fn begin(&mut self) {
        let now_ns = (self.now)();
        let (acknowledged, device) = self.sought.frontier.latest();
        while let Some(probe) = self.due.next_if(|probe| probe.at_ns <= now_ns) {
            self.waiting.push((probe.number, acknowledged));
        }
        let (sought, looking) = (self.sought, &mut self.looking);
        self.waiting.retain(|&(number, before)| {
            if acknowledged != before {
                looking.push(sought.acknowledged(device, number));
            }
            acknowledged == before
        });
    }

    /// Looks for what it is time to look for.
    async fn look(&mut self, reader: &mut dyn Reader) -> Result<(), Error> {
        let deadline_ns = u64::try_from(self.sought.deadline.as_nanos()).unwrap_or(u64::MAX);
        for mut acked in std::mem::take(&mut self.looking) {
            if (self.now)() < acked.look_ns {
                self.looking.push(acked);
                continue;
            }
            let newest_ns = self.newest_visible(reader, &acked).await?;
            let now_ns = (self.now)();
            let age_ns = now_ns.saturating_sub(acked.at_ns);
            if newest_ns.is_some_and(|ns| ns >= acked.timestamp_ns) {
                self.freshness.lag.record(age_ns);
            } else if age_ns >= deadline_ns {
                self.freshness.unseen.record(age_ns);
            } else {
                acked.look_ns = now_ns + ns(LOOK).max(age_ns / PART_OF_AGE);
                self.looking.push(acked);
            }
        }
        Ok(())
    }

    async fn newest_visible(&self, reader: &mut dyn Reader, acked: &Acknowledged) -> Result<Option<i64>, Error> {
        let query = Query::NewestVisible { device: acked.device, signal: acked.signal };
        let mut newest_ns = None;
        let mut sink = |chunk: &Chunk| {
            newest_ns = chunk.timestamps_ns.last().copied().max(newest_ns);
            Ok(())
        };
        // One that takes longer has seen nothing in time.
        match tokio::time::timeout(self.sought.deadline, caught(reader.query(&query, &mut sink))).await {
            Ok(answer) => answer.map(|_| newest_ns),
            Err(_) => Ok(None),
        }
    }

    /// Until there is something to do.
    fn pause(&mut self) -> Duration {
        let now_ns = (self.now)();
        let due_ns = self.due.peek().map(|probe| probe.at_ns);
        let looks_ns = self.looking.iter().map(|acked| acked.look_ns);
        let next_ns = looks_ns.chain(due_ns).min().unwrap_or(u64::MAX).saturating_sub(now_ns);
        let most = if self.waiting.is_empty() { STOP_LOOK } else { LOOK };
        Duration::from_nanos(next_ns).clamp(LOOK, most)
    }
}

impl Sought {
    /// The newest datapoint that was acknowledged of a device, for the probe of this number.
    fn acknowledged(&self, device: u32, number: u64) -> Acknowledged {
        let (end, at_ns) = self.frontier.newest(device);
        // Of one that is added, the datapoint may have no value.
        let width = self.dataset.schema().first_signals().len() as u64;
        let signal = SignalId::try_from(mix(self.seed, number) % width.max(1)).unwrap_or(0);
        let timestamp_ns = self.dataset.timestamp_ns(device, end.saturating_sub(1));
        Acknowledged { device, signal, timestamp_ns, at_ns, look_ns: at_ns }
    }
}

fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
