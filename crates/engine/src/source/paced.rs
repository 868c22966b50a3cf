//! Sensors with bounded queues: the pacer offers datapoints by the clock, the writer takes them as it can.

use super::Filler;
use crate::{pacer::Grant, plan::Payload};
use async_channel::Receiver;
use async_trait::async_trait;
use iotbench_core::{Batch, Due, Left, Next, Source};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

/// The sensors of one loop: every `stride`-th device from `first` on. A sensor's operations follow each other.
#[derive(Debug)]
pub struct PacedSource {
    grants: Receiver<Grant>,
    payload: Payload,
    first: u32,
    stride: u32,
    filler: Filler,
    sensors: Vec<SensorQueue>,
    /// Sensors that may have an operation.
    candidates: VecDeque<usize>,
}

#[derive(Debug)]
struct SensorQueue {
    device: u32,
    /// Datapoints in the queue, as the pacer sees it.
    queued: Arc<AtomicU32>,
    offered: VecDeque<Grant>,
    /// Taken from the queue for the operation to come.
    gathered: VecDeque<Grant>,
    busy: bool,
    listed: bool,
}

impl PacedSource {
    /// The sensors of one loop, with the counters of their queues.
    pub fn new(
        grants: Receiver<Grant>,
        payload: Payload,
        first: u32,
        stride: u32,
        queued: Vec<Arc<AtomicU32>>,
        filler: Filler,
    ) -> Self {
        let sensors = queued.into_iter().zip(0_u32..).map(|(queued, i)| SensorQueue {
            device: first + i * stride,
            queued,
            offered: VecDeque::new(),
            gathered: VecDeque::new(),
            busy: false,
            listed: false,
        });
        let sensors = sensors.collect();
        Self { grants, payload, first, stride, filler, sensors, candidates: VecDeque::new() }
    }

    fn accept(&mut self, grant: Grant) {
        let local = ((grant.device - self.first) / self.stride) as usize;
        if let Some(sensor) = self.sensors.get_mut(local) {
            sensor.offered.push_back(grant);
        }
        self.list(local);
    }

    fn list(&mut self, local: usize) {
        if let Some(sensor) = self.sensors.get_mut(local)
            && !sensor.busy
            && !sensor.listed
        {
            sensor.listed = true;
            self.candidates.push_back(local);
        }
    }

    /// Takes from a sensor's queue until its next operation is whole; true when it is.
    fn gather(&mut self, local: usize, closed: bool) -> bool {
        let Some(sensor) = self.sensors.get_mut(local) else { return false };
        loop {
            let whole = match (self.payload, sensor.gathered.back()) {
                (_, None) => false,
                (Payload::Second, Some(last)) => {
                    let second = |ns: i64| ns.div_euclid(1_000_000_000);
                    let position = last.number;
                    let this = second(self.filler.timestamp_ns(sensor.device, position));
                    second(self.filler.timestamp_ns(sensor.device, position + 1)) != this
                }
                (Payload::Count(n), Some(_)) => sensor.gathered.len() >= n as usize,
                (Payload::SinceLast { .. }, Some(_)) => true,
            };
            if whole {
                return true;
            }
            let Some(grant) = sensor.offered.pop_front() else {
                return closed && !sensor.gathered.is_empty();
            };
            sensor.queued.fetch_sub(1, Ordering::Relaxed);
            sensor.gathered.push_back(grant);
        }
    }

    fn start(&mut self, local: usize, batch: &mut Batch) -> Option<Due> {
        let sensor = self.sensors.get_mut(local)?;
        let intended_ns = sensor.gathered.back()?.intended_ns;
        while let Some(grant) = sensor.gathered.pop_front() {
            let mut count = 1;
            while sensor.gathered.front().is_some_and(|g| g.number == grant.number + u64::from(count)) {
                sensor.gathered.pop_front();
                count += 1;
            }
            self.filler.fill(sensor.device, grant.number, count, batch);
        }
        sensor.busy = true;
        Some(Due { intended_ns, user: u32::try_from(local).ok()?, generated: 0, lost: 0 })
    }
}

#[async_trait]
impl Source for PacedSource {
    fn take(&mut self, _now_ns: u64, batch: &mut Batch) -> Next {
        while let Ok(grant) = self.grants.try_recv() {
            self.accept(grant);
        }
        let closed = self.grants.is_closed() && self.grants.is_empty();
        while let Some(local) = self.candidates.pop_front() {
            if let Some(sensor) = self.sensors.get_mut(local) {
                sensor.listed = false;
            }
            if self.gather(local, closed)
                && let Some(due) = self.start(local, batch)
            {
                return Next::Due(due);
            }
        }
        if !closed {
            return Next::Wait;
        }
        let mut remaining = false;
        for local in 0..self.sensors.len() {
            let holds = self.sensors.get(local).is_some_and(|s| !s.offered.is_empty() || !s.gathered.is_empty());
            remaining |= holds;
            if holds
                && self.gather(local, true)
                && self.sensors.get(local).is_some_and(|s| !s.busy)
                && let Some(due) = self.start(local, batch)
            {
                return Next::Due(due);
            }
        }
        if remaining { Next::Wait } else { Next::Finished }
    }

    async fn ready(&mut self) {
        match self.grants.recv().await {
            Ok(grant) => self.accept(grant),
            // What remains waits for the answer of its sensor's present operation.
            Err(_) if self.sensors.iter().any(|s| s.busy) => std::future::pending().await,
            Err(_) => {}
        }
    }

    fn complete(&mut self, due: Due, _ended_ns: u64) {
        let local = due.user as usize;
        if let Some(sensor) = self.sensors.get_mut(local) {
            sensor.busy = false;
        }
        self.list(local);
    }

    fn left(&mut self, _now_ns: u64, tell: &mut dyn FnMut(Left)) {
        let held: usize = self.sensors.iter().map(|s| s.offered.len() + s.gathered.len()).sum();
        tell(Left::Points((held + self.grants.len()) as u64));
    }
}
