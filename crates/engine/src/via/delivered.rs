//! The source of a loop behind a broker: what was delivered.

use super::{Account, Stages};
use crate::source::{Feed, Taken};
use async_channel::{Receiver, Sender, TryRecvError};
use async_trait::async_trait;
use iotbench_core::{Batch, Due, Label, Left, Next, Source};
use std::sync::Arc;

/// A received message.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) label: Label,
    /// When it was received, in nanoseconds since the run's start.
    pub(crate) received_ns: u64,
    pub(crate) batch: Batch,
}

/// Gives what was delivered; the loops of a group share it.
#[derive(Debug)]
pub(crate) struct Delivered {
    arrivals: Receiver<Arrival>,
    used: Sender<Batch>,
    /// One that came while waiting.
    waiting: Option<Arrival>,
    operations: usize,
    /// Whether operations are due by a schedule; else datapoints are.
    offers_operations: bool,
    given: Taken,
    stages: Stages,
    account: Arc<Account>,
}

impl Delivered {
    pub(super) fn new(
        arrivals: Receiver<Arrival>,
        used: Sender<Batch>,
        operations: usize,
        offers_operations: bool,
        account: Arc<Account>,
    ) -> Self {
        let (waiting, given, stages) = (None, Taken::default(), Stages::default());
        Self { arrivals, used, waiting, operations, offers_operations, given, stages, account }
    }

    fn record(&mut self, label: &Label, received_ns: u64, now_ns: u64) {
        if self.account.is_measured(label.intended_ns) {
            self.stages.publish.record(label.published_ns.saturating_sub(label.intended_ns));
            self.stages.broker.record(received_ns.saturating_sub(label.published_ns));
            self.stages.queue.record(now_ns.saturating_sub(received_ns));
        }
    }
}

impl Feed for Delivered {
    fn taken(&self) -> Taken {
        self.given
    }

    fn has_ended(&self, _now_ns: u64) -> bool {
        self.waiting.is_none() && self.arrivals.is_closed() && self.arrivals.is_empty()
    }

    /// Asked at the end of the loop: what is delivered from then on has nobody who would take it.
    fn left_with_place(&mut self, _now_ns: u64, tell: &mut dyn FnMut(usize, Left)) {
        self.arrivals.close();
        while let Some(arrival) = self.waiting.take().or_else(|| self.arrivals.try_recv().ok()) {
            let Label { intended_ns, operation, .. } = arrival.label;
            let place = (operation as usize).min(self.operations.saturating_sub(1));
            tell(place, Left::Points(arrival.batch.len() as u64));
            if self.offers_operations {
                tell(place, Left::Operation { intended_ns });
            }
        }
    }
}

#[async_trait]
impl Source for Delivered {
    fn take(&mut self, now_ns: u64, batch: &mut Batch) -> Next {
        let arrival = match self.waiting.take().map_or_else(|| self.arrivals.try_recv(), Ok) {
            Ok(arrival) => arrival,
            Err(TryRecvError::Empty) => return Next::Wait,
            Err(TryRecvError::Closed) => return Next::Finished,
        };
        let Arrival { label, received_ns, batch: mut filled } = arrival;
        self.record(&label, received_ns, now_ns);
        std::mem::swap(batch, &mut filled);
        // When as many are kept as may be, this one is not.
        let _ = self.used.try_send(filled);
        let place = (label.operation as usize).min(self.operations.saturating_sub(1));
        self.given = Taken { place, ..Taken::default() };
        // Datapoints came into being where they were published, and nothing could be sent before it was here.
        let (intended_ns, user) = (label.intended_ns, label.device);
        Next::Due(Due { intended_ns, user, free_since_ns: received_ns, generated: 0, lost: 0 })
    }

    async fn ready(&mut self) {
        if self.waiting.is_none() {
            // An error means that nothing more will come, which `take` finds out.
            self.waiting = self.arrivals.recv().await.ok();
        }
    }

    fn complete(&mut self, _due: Due, _ended_ns: u64) {}

    /// Nothing, before the end: what was delivered is taken as soon as a connection is free.
    fn left(&mut self, _now_ns: u64, _tell: &mut dyn FnMut(Left)) {}
}

impl Drop for Delivered {
    fn drop(&mut self) {
        let stages = std::mem::take(&mut self.stages);
        self.account.add(|carried| carried.stages.merge(&stages));
    }
}
