//! A dataset out of signals and a clock.

use crate::{
    Dataset,
    clock::{Clock, DeviceClock},
};
use iotbench_core::{Batch, Column, Run, Schema};
use std::{fmt::Debug, ops::Range};

/// The values of a simulated device: what distinguishes one built-in dataset from another.
pub(crate) trait Signals: Debug + Send + Sync {
    /// What a device's name begins with; its number follows.
    const DEVICE_PREFIX: &'static str;

    /// Appends a device's values at these indices to the columns, which are those of the dataset's schema.
    fn fill(&self, device: u32, indices: Range<u64>, clock: &DeviceClock, columns: &mut [Column]);
}

/// Signals that are sent in order at planned times.
#[derive(Debug)]
pub(crate) struct Simulated<S> {
    pub(crate) schema: Schema,
    pub(crate) clock: Clock,
    pub(crate) signals: S,
}

impl<S: Signals> Dataset for Simulated<S> {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn origin_ns(&self) -> i64 {
        self.clock.origin_ns()
    }

    fn period_ns(&self) -> i64 {
        self.clock.period_ns()
    }

    fn resolution_ns(&self) -> i64 {
        self.clock.resolution_ns()
    }

    fn timestamp_ns(&self, device: u32, index: u64) -> i64 {
        self.clock.of(device).timestamp_ns(index)
    }

    fn index_at(&self, device: u32, timestamp_ns: i64) -> u64 {
        self.clock.of(device).index_at(timestamp_ns)
    }

    fn fill(&self, run: Run, batch: &mut Batch) {
        let clock = self.clock.of(run.device);
        batch.append(run, |timestamps_ns, columns| {
            timestamps_ns.extend(run.indices().map(|index| clock.timestamp_ns(index)));
            self.signals.fill(run.device, run.indices(), &clock, columns);
        });
    }

    fn device_name(&self, device: u32, out: &mut String) {
        out.push_str(S::DEVICE_PREFIX);
        out.push_str(itoa::Buffer::new().format(device));
    }
}
