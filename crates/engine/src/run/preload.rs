//! The history, written before the load as fast as the database takes it.

use super::{Session, prepare::CONNECT};
use crate::{
    caught::caught, hoard::seen, observer::Event, outcome::Phase, plan::PhasesPlan, source::Filler, verdict::Reason,
};
use futures_util::stream::{FuturesUnordered, StreamExt};
use iotbench_core::{Acknowledgement, Batch, Cause, Error, Writer};
use std::{sync::Arc, time::Duration};

/// Datapoints in a request.
const BATCH: u32 = 1000;
/// Connections that write at once.
const WRITERS: u32 = 4;

impl Session<'_> {
    /// Writes the history and waits until nothing of it is left to be done while others are measured.
    pub(super) fn preload(&mut self) -> Result<(), Reason> {
        self.begin_phase(Phase::Preload, None)?;
        self.outcome.preloaded_points = self.write_history()?;
        self.settle_history(self.outcome.preloaded_points)?;
        Ok(())
    }

    /// What is read has to be there, and what was not settled would be a load. False: the user does not wait.
    pub(super) fn settle_history(&mut self, written: u64) -> Result<bool, Reason> {
        if self.outcome.target.acknowledgement < Acknowledgement::Applied {
            return Ok(self.settled_count(written)?.is_some());
        }
        self.settle()
    }

    /// Writes the history, on several connections where the backend takes them; says how much of it was acknowledged, which is
    /// all unless the user ended the run.
    pub(super) fn write_history(&mut self) -> Result<u64, Reason> {
        let capabilities = &self.backend.info().capabilities;
        // Calls that block would only wait for one another on this thread.
        let most = if capabilities.blocking { 1 } else { capabilities.most_writers.unwrap_or(WRITERS) };
        let mut idle = Vec::new();
        for _ in 0..most.min(WRITERS) {
            let database = Arc::clone(&self.database);
            let writer = self.control_plane(CONNECT, database.writer())?;
            idle.push((writer, Batch::new(self.planned.dataset.schema())));
        }
        let mut blocks = Blocks::new(self.planned.plan.phases);
        let total = blocks.total();
        let mut filler = Filler::new(Arc::clone(&self.planned.dataset), 0);
        let deadline = self.deadline();
        let mut written = 0;
        let mut under_way = FuturesUnordered::new();
        loop {
            while !self.stop.ends()
                && let Some((writer, mut batch)) = idle.pop()
            {
                batch.clear();
                blocks.fill_next(&mut filler, &mut batch);
                if batch.is_empty() {
                    idle.push((writer, batch));
                    break;
                }
                self.journal_sends(&batch)?;
                under_way.push(send(writer, batch, deadline));
            }
            let next = self.runtime.block_on(seen(self.hoard.as_ref(), under_way.next()));
            let Some((writer, batch, result)) = next else { break };
            result.map_err(|e| Reason::Target { cause: e.cause, message: e.message })?;
            written += batch.len() as u64;
            idle.push((writer, batch));
            self.tell(&Event::Preloaded { points: written, total })?;
        }
        if written == total {
            self.journal_history()?;
        }
        Ok(written)
    }
}

async fn send(
    mut writer: Box<dyn Writer>,
    batch: Batch,
    deadline: Duration,
) -> (Box<dyn Writer>, Batch, Result<(), Error>) {
    let result = match tokio::time::timeout(deadline, caught(writer.write(&batch))).await {
        Ok(result) => result.map(|_| ()),
        Err(_) => Err(Error::new(Cause::TimedOut, format!("no answer within {} s", deadline.as_secs_f64()))),
    };
    (writer, batch, result)
}

/// The history in blocks of a request: device by device, several devices in a block where each has little.
struct Blocks {
    phases: PhasesPlan,
    device: u32,
    first: u64,
}

impl Blocks {
    fn new(phases: PhasesPlan) -> Self {
        Self { phases, device: 0, first: 0 }
    }

    fn total(&self) -> u64 {
        self.phases.preload * u64::from(self.phases.preload_devices)
    }

    /// Fills an empty batch with the next block; it stays empty after the last.
    fn fill_next(&mut self, filler: &mut Filler, batch: &mut Batch) {
        let mut free = BATCH;
        while free > 0 && self.device < self.phases.preload_devices {
            let left = self.phases.preload - self.first;
            let count = u32::try_from(left).unwrap_or(u32::MAX).min(free);
            filler.fill(self.device, self.first, count, batch);
            free -= count;
            self.first += u64::from(count);
            if self.first == self.phases.preload {
                (self.device, self.first) = (self.device + 1, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_simulator::DatasetConfig;
    use std::path::Path;

    #[test]
    fn blocks_hold_each_datapoint_of_the_history_once() {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu" })).unwrap();
        for (preload, preload_devices, requests) in [(1, 2500, 3), (300, 7, 3), (2500, 2, 5), (1000, 1, 1)] {
            let dataset = config.open(1, 0, preload_devices, Path::new(".")).unwrap();
            let phases = PhasesPlan { preload, preload_devices, ..PhasesPlan::default() };
            let (mut blocks, mut filler) = (Blocks::new(phases), Filler::new(Arc::clone(&dataset), 0));
            let (mut batch, mut seen, mut sent) = (Batch::new(dataset.schema()), std::collections::HashSet::new(), 0);
            loop {
                batch.clear();
                blocks.fill_next(&mut filler, &mut batch);
                if batch.is_empty() {
                    break;
                }
                sent += 1;
                let points = batch.runs().iter().flat_map(|run| run.indices().map(|index| (run.device, index)));
                points.for_each(|point| assert!(seen.insert(point)));
            }
            assert_eq!((seen.len() as u64, sent), (blocks.total(), requests));
        }
    }
}
