//! How long an acknowledged datapoint takes until a read sees it.

use super::Frontier;
use crate::{clock::RunClock, schedule::mix};
use iotbench_core::{Cause, Chunk, Database, Error, Query, Reader, SignalId};
use iotbench_recorder::LatencyHistogram;
use iotbench_simulator::Dataset;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// From one probe to the next.
const INTERVAL: Duration = Duration::from_secs(1);
/// How often a probe looks whether something was acknowledged, or is visible.
const LOOK: Duration = Duration::from_millis(1);

/// The lags that probes saw.
#[derive(Clone, Debug, Default)]
pub struct Freshness {
    /// From the acknowledgement to the end of the first read that saw the datapoint: an upper bound, which holds one read.
    pub lag: LatencyHistogram,
    /// Datapoints that no read saw within the deadline, or before the load ended.
    pub unseen: u64,
}

/// What probes are made from.
pub struct ProbeParts {
    /// Where they read, on a connection of their own.
    pub database: Arc<dyn Database>,
    /// What the datapoints are.
    pub dataset: Arc<dyn Dataset>,
    /// What was acknowledged.
    pub frontier: Arc<Frontier>,
    /// The run's clock.
    pub clock: RunClock,
    /// Draws the devices and signals.
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
        let mut freshness = Freshness::default();
        let mut number = 0;
        while !stop.load(Ordering::Relaxed) {
            let Some(acked) = next_acknowledged(parts, number, stop).await else { break };
            number += 1;
            match until_visible(parts, &mut *reader, &acked, stop).await? {
                Some(seen_ns) => freshness.lag.record(seen_ns.saturating_sub(acked.at_ns)),
                None => freshness.unseen += 1,
            }
            sleep_unless(stop, INTERVAL).await;
        }
        Ok(freshness)
    })
}

/// A datapoint that was just acknowledged.
struct Acknowledged {
    device: u32,
    signal: SignalId,
    timestamp_ns: i64,
    at_ns: u64,
}

/// Waits for the next acknowledgement, whichever device it is of; `None` when the load has ended.
async fn next_acknowledged(parts: &ProbeParts, number: u64, stop: &AtomicBool) -> Option<Acknowledged> {
    let (before, _) = parts.frontier.latest();
    while !stop.load(Ordering::Relaxed) {
        let (now, device) = parts.frontier.latest();
        if now != before {
            let (end, at_ns) = parts.frontier.newest(device);
            let width = parts.dataset.schema().width() as u64;
            let signal = SignalId::try_from(mix(parts.seed, number) % width.max(1)).unwrap_or(0);
            let timestamp_ns = parts.dataset.timestamp_ns(device, end.saturating_sub(1));
            return Some(Acknowledged { device, signal, timestamp_ns, at_ns });
        }
        tokio::time::sleep(LOOK).await;
    }
    None
}

/// When a read first saw the datapoint, or a later one of its series; `None`: none did in time.
async fn until_visible(
    parts: &ProbeParts,
    reader: &mut dyn Reader,
    acked: &Acknowledged,
    stop: &AtomicBool,
) -> Result<Option<u64>, Error> {
    let query = Query::NewestVisible { device: acked.device, signal: acked.signal };
    let deadline_ns = u64::try_from(parts.deadline.as_nanos()).unwrap_or(u64::MAX);
    while parts.clock.now_ns().saturating_sub(acked.at_ns) < deadline_ns && !stop.load(Ordering::Relaxed) {
        let mut newest_ns = None;
        let mut sink = |chunk: &Chunk| {
            newest_ns = chunk.timestamps_ns.last().copied().max(newest_ns);
            Ok(())
        };
        let answer = tokio::time::timeout(parts.deadline, reader.query(&query, &mut sink)).await;
        let Ok(answer) = answer else { return Ok(None) };
        answer?;
        if newest_ns.is_some_and(|ns| ns >= acked.timestamp_ns) {
            return Ok(Some(parts.clock.now_ns()));
        }
        tokio::time::sleep(LOOK).await;
    }
    Ok(None)
}

async fn sleep_unless(stop: &AtomicBool, time: Duration) {
    let end = tokio::time::Instant::now() + time;
    while tokio::time::Instant::now() < end && !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
