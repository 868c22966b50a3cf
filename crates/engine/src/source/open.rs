//! An open loop: operations are granted by the pacer, whatever the target does.

use super::{CorrectedRow, Feed, Filler, Taken, stretch::Stretches};
use crate::{mix::OperationMix, pacer::Grant, plan::Payload, read::Draw};
use async_channel::{Receiver, TryRecvError};
use async_trait::async_trait;
use iotbench_core::{Batch, Due, Left, Next, Source};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// Takes granted operations; many loops share one stream of grants.
#[derive(Debug)]
pub struct OpenSource {
    grants: Receiver<Grant>,
    /// A grant that came while waiting.
    taken: Option<Grant>,
    outstanding: Arc<AtomicU32>,
    filler: Filler,
    operations: OperationMix,
    stretches: Stretches,
    /// The operation that was given last.
    given: Taken,
}

impl OpenSource {
    /// A source of operations on so many devices; operation k is about block k of the devices, and round again.
    pub fn new(
        grants: Receiver<Grant>,
        outstanding: Arc<AtomicU32>,
        filler: Filler,
        devices: u32,
        operations: OperationMix,
    ) -> Self {
        let stretches = Stretches::new(devices, &operations);
        Self { grants, taken: None, outstanding, filler, operations, stretches, given: Taken::default() }
    }
}

impl Feed for OpenSource {
    fn taken(&self) -> Taken {
        self.given
    }

    fn take_corrected(&mut self, rows: &mut Vec<CorrectedRow>) {
        self.filler.take_corrected(rows);
    }

    fn has_ended(&self, _now_ns: u64) -> bool {
        self.taken.is_none() && self.grants.is_closed() && self.grants.is_empty()
    }

    fn left_with_place(&mut self, _now_ns: u64, tell: &mut dyn FnMut(usize, Left)) {
        if let Some(grant) = self.taken {
            tell(self.operations.pick(0, grant.number), Left::Operation { intended_ns: grant.intended_ns });
        }
    }
}

#[async_trait]
impl Source for OpenSource {
    fn take(&mut self, _now_ns: u64, batch: &mut Batch) -> Next {
        loop {
            let grant = match self.taken.take().map_or_else(|| self.grants.try_recv(), Ok) {
                Ok(grant) => grant,
                Err(TryRecvError::Empty) => return Next::Wait,
                Err(TryRecvError::Closed) => return Next::Finished,
            };
            let place = self.operations.pick(0, grant.number);
            self.given = Taken { place, draw: Draw { number: grant.number, ..Draw::default() }, again: 0 };
            let operation = self.operations.at(place);
            let intended_ns = grant.intended_ns;
            if operation.question().is_some() {
                return Next::Due(Due { intended_ns, user: 0, free_since_ns: 0, generated: 0, lost: 0 });
            }
            let mut stretch = self.stretches.of_operation(grant.number);
            stretch.devices.end = stretch.devices.end.min(grant.devices);
            let device = stretch.devices.start;
            let count = match operation.payload {
                Payload::Count(count) => count,
                Payload::Second | Payload::SinceLast { .. } => 1,
            };
            self.filler.fill_stretch(&stretch, operation.requests, count, batch);
            self.given.again = self.filler.take_again();
            // A recording may end before the schedule does; an operation without data is none.
            if !batch.is_empty() {
                let generated = batch.len() as u64;
                return Next::Due(Due { intended_ns, user: device, free_since_ns: 0, generated, lost: 0 });
            }
            self.outstanding.fetch_sub(1, Ordering::Relaxed);
        }
    }

    async fn ready(&mut self) {
        if self.taken.is_none() {
            // An error means that the stream is closed, which `take` finds out.
            self.taken = self.grants.recv().await.ok();
        }
    }

    fn complete(&mut self, _due: Due, _ended_ns: u64) {
        self.outstanding.fetch_sub(1, Ordering::Relaxed);
    }

    fn left(&mut self, now_ns: u64, tell: &mut dyn FnMut(Left)) {
        self.left_with_place(now_ns, &mut |_, left| tell(left));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{GroupPlan, Load, OperationPlan, Part};
    use crate::profile::Arrival;
    use crate::shape::Shape;
    use async_channel::Sender;
    use iotbench_simulator::DatasetConfig;
    use std::path::Path;

    fn source(devices: u32, count: u32) -> (OpenSource, Sender<Grant>, Arc<AtomicU32>, Batch) {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu" })).unwrap();
        let dataset = config.open(1, 0, devices, Path::new(".")).unwrap();
        let batch = Batch::new(dataset.schema());
        let (grants, taken) = async_channel::bounded(100);
        let outstanding = Arc::new(AtomicU32::new(0));
        let operation = OperationPlan::write("write", Payload::Count(count));
        let load = Load::Open { arrival: Arrival::Constant, rate: 1.0, drop_above: None };
        let group = GroupPlan {
            name: "g".into(),
            operation,
            others: vec![],
            load,
            shape: Shape::Constant,
            connections: 1,
            devices: None,
            part: Part::default(),
            draw: crate::profile::DrawConfig::default(),
            undivided: false,
        };
        let operations = OperationMix::new(&group, 1);
        let source = OpenSource::new(taken, Arc::clone(&outstanding), Filler::new(dataset, 0), devices, operations);
        (source, grants, outstanding, batch)
    }

    #[test]
    fn operations_go_round_the_devices_and_send_each_datapoint_once() {
        let (mut source, grants, outstanding, mut batch) = source(2, 3);
        let mut sent = Vec::new();
        for number in 0..4 {
            outstanding.fetch_add(1, Ordering::Relaxed);
            grants.try_send(Grant { intended_ns: number, number, device: 0, devices: u32::MAX }).unwrap();
        }
        while let Next::Due(due) = source.take(0, &mut batch) {
            sent.extend(batch.runs().iter().map(|r| (r.device, r.indices())));
            assert_eq!(due.generated, 3);
            source.complete(due, 1);
            batch.clear();
        }
        assert_eq!(sent, [(0, 0..3), (1, 0..3), (0, 3..6), (1, 3..6)]);
        assert_eq!(outstanding.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn devices_that_do_not_report_send_nothing() {
        let (mut source, grants, _, mut batch) = source(3, 1);
        grants.try_send(Grant { intended_ns: 0, number: 1, device: 0, devices: 2 }).unwrap();
        grants.try_send(Grant { intended_ns: 0, number: 2, device: 0, devices: 2 }).unwrap();
        assert!(matches!(source.take(0, &mut batch), Next::Due(_)));
        batch.clear();
        assert_eq!(source.take(0, &mut batch), Next::Wait);
    }

    #[test]
    fn what_was_granted_before_the_end_is_still_given() {
        let (mut source, grants, _, mut batch) = source(1, 1);
        assert_eq!(source.take(0, &mut batch), Next::Wait);
        grants.try_send(Grant { intended_ns: 5, number: 0, device: 0, devices: u32::MAX }).unwrap();
        grants.close();
        assert!(matches!(source.take(9, &mut batch), Next::Due(Due { intended_ns: 5, .. })));
        assert_eq!(source.take(9, &mut batch), Next::Finished);
    }
}
