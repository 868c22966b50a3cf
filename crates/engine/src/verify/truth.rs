//! What is stored, by the simulator: the datapoints of a stretch, recomputed block by block.

use crate::read::History;
use iotbench_core::{Batch, Devices, Run, TimeRange, Value};
use std::{
    ops::{Bound, ControlFlow, Range},
    sync::Arc,
};

/// Datapoints recomputed at once.
const BLOCK: u64 = 1024;

/// A datapoint that is stored.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// Whose.
    pub device: u32,
    /// When, in nanoseconds since the Unix epoch.
    pub timestamp_ns: i64,
    batch: &'a Batch,
    row: usize,
}

impl Row<'_> {
    /// The value of a signal.
    pub fn value(&self, signal: u16) -> Option<Value<'_>> {
        self.batch.columns().get(usize::from(signal))?.get(self.row)
    }

    /// The value of a signal as a number; text that reads as none is none.
    pub fn number(&self, signal: u16) -> Option<f64> {
        self.value(signal)?.as_f64()
    }
}

/// Recomputes what is stored.
#[derive(Debug)]
pub struct Truth {
    history: History,
    batch: Batch,
}

type Visit<'a> = dyn FnMut(Row<'_>) -> ControlFlow<()> + 'a;

impl Truth {
    pub fn new(history: History) -> Self {
        let batch = Batch::new(history.dataset.schema());
        Self { history, batch }
    }

    /// The history.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The devices that a query is about and that have a history, ascending.
    pub fn devices(&self, devices: &Devices) -> Vec<u32> {
        match devices {
            Devices::All => (0..self.history.devices).collect(),
            Devices::Some(list) => list.iter().copied().filter(|&device| device < self.history.devices).collect(),
        }
    }

    /// Tells the datapoints of the history by device, then by time, until told to stop.
    pub fn walk(&mut self, devices: &[u32], range: TimeRange, visit: &mut Visit<'_>) -> ControlFlow<()> {
        for &device in devices {
            for part in self.parts(device, range) {
                let mut first = part.start;
                while first < part.end {
                    let end = part.end.min(first + BLOCK);
                    self.block(device, first..end, false, visit)?;
                    first = end;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Tells the datapoints of a device from the latest on.
    pub fn walk_back(&mut self, device: u32, range: TimeRange, visit: &mut Visit<'_>) -> ControlFlow<()> {
        for part in self.parts(device, range).into_iter().rev() {
            let mut end = part.end;
            while part.start < end {
                let first = part.start.max(end.saturating_sub(BLOCK));
                self.block(device, first..end, true, visit)?;
                end = first;
            }
        }
        ControlFlow::Continue(())
    }

    /// Tells one datapoint, whether or not it belongs to the history.
    pub fn one(&mut self, device: u32, index: u64, visit: &mut Visit<'_>) {
        // There is nothing after one datapoint that could be stopped.
        let _ = self.block(device, index..index + 1, false, visit);
    }

    fn block(&mut self, device: u32, indices: Range<u64>, backwards: bool, visit: &mut Visit<'_>) -> ControlFlow<()> {
        self.batch.clear();
        let count = u32::try_from(indices.end - indices.start).unwrap_or(u32::MAX);
        let dataset = Arc::clone(&self.history.dataset);
        dataset.fill(Run { device, first: indices.start, count }, &mut self.batch);
        let rows = self.batch.len();
        for place in 0..rows {
            let row = if backwards { rows - 1 - place } else { place };
            let Some(&timestamp_ns) = self.batch.timestamps_ns().get(row) else { continue };
            visit(Row { device, timestamp_ns, batch: &self.batch, row })?;
        }
        ControlFlow::Continue(())
    }

    /// The indices of a device's history that lie in a stretch of time.
    fn parts(&self, device: u32, range: TimeRange) -> Vec<Range<u64>> {
        let asked = self.indices_in(device, range);
        let common = |part: Range<u64>| part.start.max(asked.start)..part.end.min(asked.end);
        self.history.indices(device).into_iter().map(common).filter(|part| part.start < part.end).collect()
    }

    /// The indices of a device whose times lie in a stretch, stored or not.
    pub fn indices_in(&self, device: u32, range: TimeRange) -> Range<u64> {
        let dataset = &self.history.dataset;
        let start = match range.from {
            Bound::Included(ns) => dataset.index_at(device, ns),
            Bound::Excluded(ns) => dataset.index_at(device, ns.saturating_add(1)),
            Bound::Unbounded => 0,
        };
        let end = match range.to {
            Bound::Included(ns) => dataset.index_at(device, ns.saturating_add(1)),
            Bound::Excluded(ns) => dataset.index_at(device, ns),
            Bound::Unbounded => u64::MAX,
        };
        start..end
    }
}
