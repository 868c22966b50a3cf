//! Sensors with bounded queues: the pacer offers datapoints by the clock, the writer takes them as it can.

use super::{CorrectedRow, Feed, Filler, Taken};
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

const SECOND_NS: i64 = 1_000_000_000;

/// The sensors of one loop: every `stride`-th device from `first` on. A sensor's operations follow each other.
#[derive(Debug)]
pub struct PacedSource {
    grants: Receiver<Grant>,
    payload: Payload,
    first: u32,
    stride: u32,
    filler: Filler,
    given: Taken,
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
    free_since_ns: u64,
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
            free_since_ns: 0,
            listed: false,
        });
        let sensors = sensors.collect();
        Self { grants, payload, first, stride, filler, given: Taken::default(), sensors, candidates: VecDeque::new() }
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
        let mut second = |number| self.filler.timestamp_ns(sensor.device, number).div_euclid(SECOND_NS);
        loop {
            let whole = match (self.payload, sensor.gathered.back()) {
                (_, None) => false,
                (Payload::Second, Some(last)) => {
                    // The queue may have lost the end of this second: then the next that it holds is of another one.
                    let next = sensor.offered.front().map_or(last.number + 1, |next| next.number);
                    second(next) != second(last.number)
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
        self.given.again = self.filler.take_again();
        sensor.busy = true;
        let (user, free_since_ns) = (u32::try_from(local).ok()?, sensor.free_since_ns);
        Some(Due { intended_ns, user, free_since_ns, generated: 0, lost: 0 })
    }
}

impl Feed for PacedSource {
    fn taken(&self) -> Taken {
        self.given
    }

    fn take_corrected(&mut self, rows: &mut Vec<CorrectedRow>) {
        self.filler.take_corrected(rows);
    }

    /// Sensors may hold what was granted: that is known when it is asked for.
    fn has_ended(&self, _now_ns: u64) -> bool {
        false
    }

    fn left_with_place(&mut self, now_ns: u64, tell: &mut dyn FnMut(usize, Left)) {
        self.left(now_ns, &mut |left| tell(0, left));
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

    fn complete(&mut self, due: Due, ended_ns: u64) {
        let local = due.user as usize;
        if let Some(sensor) = self.sensors.get_mut(local) {
            sensor.busy = false;
            sensor.free_since_ns = ended_ns;
        }
        self.list(local);
    }

    fn left(&mut self, _now_ns: u64, tell: &mut dyn FnMut(Left)) {
        let held: usize = self.sensors.iter().map(|s| s.offered.len() + s.gathered.len()).sum();
        tell(Left::Points((held + self.grants.len()) as u64));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_channel::Sender;
    use iotbench_simulator::DatasetConfig;
    use std::path::Path;

    const PERIOD_NS: u64 = 100_000_000;

    /// Sensors of ten datapoints a second each.
    struct Sensors {
        source: PacedSource,
        grants: Option<Sender<Grant>>,
        queued: Vec<Arc<AtomicU32>>,
        batch: Batch,
    }

    impl Sensors {
        fn new(devices: u32, payload: Payload) -> Self {
            let config = serde_json::json!({ "name": "pmu", "rate": 10.0, "jitter": "0s" });
            let config: DatasetConfig = serde_json::from_value(config).unwrap();
            let dataset = config.open(1, 0, devices, Path::new(".")).unwrap();
            let batch = Batch::new(dataset.schema());
            let (grants, taken) = async_channel::bounded(1000);
            let queued: Vec<Arc<AtomicU32>> = (0..devices).map(|_| Arc::default()).collect();
            let source = PacedSource::new(taken, payload, 0, 1, queued.clone(), Filler::new(dataset, 0));
            Self { source, grants: Some(grants), queued, batch }
        }

        fn offer(&self, device: u32, numbers: std::ops::Range<u64>) {
            for number in numbers {
                self.queued[device as usize].fetch_add(1, Ordering::Relaxed);
                let grant = Grant { intended_ns: number * PERIOD_NS, number, device, devices: u32::MAX };
                self.grants.as_ref().unwrap().try_send(grant).unwrap();
            }
        }

        fn take(&mut self) -> Next {
            self.batch.clear();
            self.source.take(0, &mut self.batch)
        }

        /// What the next operation sends of which device, and when its last datapoint was due.
        fn operation(&mut self) -> Option<(Due, u32, std::ops::Range<u64>)> {
            let Next::Due(due) = self.take() else { return None };
            let [run] = self.batch.runs() else { panic!("one stretch of one device") };
            Some((due, run.device, run.indices()))
        }
    }

    #[test]
    fn an_operation_is_whole_when_its_datapoints_are_there_and_due_with_the_last() {
        let mut sensors = Sensors::new(1, Payload::Count(3));
        sensors.offer(0, 0..2);
        assert_eq!(sensors.take(), Next::Wait);
        sensors.offer(0, 2..4);
        let (due, _, sent) = sensors.operation().unwrap();
        assert_eq!((due.intended_ns, sent), (2 * PERIOD_NS, 0..3));
        assert_eq!(due.generated, 0, "the pacer counted them when they were offered");
    }

    #[test]
    fn a_second_ends_with_its_last_datapoint() {
        let mut sensors = Sensors::new(1, Payload::Second);
        sensors.offer(0, 0..25);
        let (due, _, sent) = sensors.operation().unwrap();
        assert_eq!((due.intended_ns, sent), (9 * PERIOD_NS, 0..10));
        assert_eq!(sensors.take(), Next::Wait, "a sensor's operations follow each other");
        sensors.source.complete(due, 0);
        let (due, _, sent) = sensors.operation().unwrap();
        assert_eq!(sent, 10..20);
        sensors.source.complete(due, 0);
        assert_eq!(sensors.take(), Next::Wait, "half a second is no operation yet");
    }

    #[test]
    fn a_second_whose_end_was_lost_ends_before_the_next_one() {
        let mut sensors = Sensors::new(1, Payload::Second);
        sensors.offer(0, 0..8);
        assert_eq!(sensors.take(), Next::Wait);
        sensors.offer(0, 12..20);
        let (due, _, sent) = sensors.operation().unwrap();
        assert_eq!((due.intended_ns, sent), (7 * PERIOD_NS, 0..8));
        sensors.source.complete(due, 0);
        assert_eq!(sensors.operation().unwrap().2, 12..20);
    }

    #[test]
    fn what_the_full_queue_lost_is_missing_and_the_rest_keeps_its_identity() {
        let mut sensors = Sensors::new(1, Payload::Count(2));
        sensors.offer(0, 0..1);
        sensors.offer(0, 5..6);
        let Next::Due(_) = sensors.take() else { panic!("two datapoints are there") };
        let firsts: Vec<u64> = sensors.batch.runs().iter().map(|r| r.first).collect();
        assert_eq!(firsts, [0, 5]);
    }

    #[test]
    fn a_queue_is_emptied_only_by_what_is_gathered() {
        let mut sensors = Sensors::new(1, Payload::Count(2));
        sensors.offer(0, 0..6);
        let (due, ..) = sensors.operation().unwrap();
        assert_eq!(sensors.queued[0].load(Ordering::Relaxed), 4, "while it sends, its queue fills");
        sensors.source.complete(due, 0);
        sensors.take();
        assert_eq!(sensors.queued[0].load(Ordering::Relaxed), 2);
    }

    #[test]
    fn sensors_do_not_wait_for_each_other() {
        let mut sensors = Sensors::new(3, Payload::Count(1));
        sensors.offer(1, 0..1);
        sensors.offer(2, 0..2);
        let devices: Vec<u32> = std::iter::from_fn(|| sensors.operation()).map(|(_, device, _)| device).collect();
        assert_eq!(devices, [1, 2]);
    }

    #[test]
    fn at_the_end_the_rest_is_sent_and_then_it_has_finished() {
        let mut sensors = Sensors::new(2, Payload::Second);
        sensors.offer(0, 0..12);
        sensors.offer(1, 0..3);
        sensors.grants.take();
        let mut sent = 0;
        let mut under_way = Vec::new();
        for _ in 0..10 {
            match sensors.take() {
                Next::Due(due) => {
                    sent += sensors.batch.len();
                    under_way.push(due);
                }
                Next::Wait => under_way.drain(..).for_each(|due| sensors.source.complete(due, 0)),
                Next::Finished => break,
            }
        }
        assert_eq!((sent, sensors.take()), (15, Next::Finished));
    }

    #[test]
    fn what_is_never_taken_is_told() {
        let mut sensors = Sensors::new(1, Payload::Count(4));
        sensors.offer(0, 0..7);
        sensors.operation().unwrap();
        let mut left = Vec::new();
        sensors.source.left(0, &mut |l| left.push(l));
        assert_eq!(left, [Left::Points(3)]);
    }
}
