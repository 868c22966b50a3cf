//! What is stored, by the simulator: the datapoints of a stretch, recomputed block by block.

use super::overlap::{IndexRange, Overlap};
use crate::read::History;
use iotbench_core::{Batch, Devices, Predicate, Run, SignalId, Tags, TimeRange, Value};
use iotbench_simulator::Dataset;
use std::{
    ops::{Bound, ControlFlow, Range},
    sync::Arc,
};

/// Datapoints recomputed at once.
const BLOCK: u64 = 1024;

/// A datapoint that is stored, or may be.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    /// Whether an answer has to hold it: if not, it was being written, and the answer may.
    pub certain: bool,
    /// Whose.
    pub device: u32,
    /// When, in nanoseconds since the Unix epoch.
    pub timestamp_ns: i64,
    batch: &'a Batch,
    row: usize,
    only: Option<Only>,
}

/// A condition on the datapoints that are told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Only {
    /// The signal.
    pub signal: SignalId,
    /// The condition on its value.
    pub predicate: Predicate,
    /// All are told, and the number of the signal is 1 where it meets it, else 0.
    pub indicator: bool,
}

impl Row<'_> {
    /// The value of a signal.
    pub fn value(&self, signal: u16) -> Option<Value<'_>> {
        self.batch.columns().get(usize::from(signal))?.get(self.row)
    }

    /// The value of a signal as a number, or whether it meets a condition where that is asked; text that reads as none is none.
    pub fn number(&self, signal: u16) -> Option<f64> {
        let number = self.value(signal)?.as_f64()?;
        match self.only {
            Some(only) if only.indicator && only.signal == signal => {
                Some(f64::from(u8::from(only.predicate.holds(number))))
            }
            _ => Some(number),
        }
    }

    /// Whether it is told.
    fn is_told(&self) -> bool {
        let holds = |only: Only| {
            let number = self.value(only.signal).and_then(|value| value.as_f64());
            only.indicator || number.is_some_and(|number| only.predicate.holds(number))
        };
        self.only.is_none_or(holds)
    }
}

/// Recomputes what is stored.
#[derive(Debug)]
pub struct Truth {
    history: History,
    tags: Arc<Tags>,
    overlap: Overlap,
    only: Option<Only>,
    batch: Batch,
}

type Visit<'a> = dyn FnMut(Row<'_>) -> ControlFlow<()> + 'a;

impl Truth {
    pub fn new(history: History) -> Self {
        let batch = Batch::new(history.dataset.schema());
        Self { history, tags: Arc::default(), overlap: Overlap::None, only: None, batch }
    }

    /// The same of devices with these tags.
    pub fn with_tags(self, tags: Tags) -> Self {
        Self { tags: Arc::new(tags), ..self }
    }

    /// What is known of the devices.
    pub fn tags(&self) -> Arc<Tags> {
        Arc::clone(&self.tags)
    }

    /// From now on, what is true of a read beside these writes.
    pub fn beside(&mut self, overlap: &Overlap) {
        self.overlap.clone_from(overlap);
    }

    /// From now on those alone that meet a condition; `None`: all.
    pub fn only(&mut self, only: Option<Only>) {
        self.only = only;
    }

    /// The history.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The devices that a query is about and of which something may be stored, ascending.
    pub fn devices(&self, devices: &Devices) -> Vec<u32> {
        let of_load = match &self.overlap {
            Overlap::Known(meanwhile) => meanwhile.devices.last().map_or(0, |progress| progress.device + 1),
            Overlap::None | Overlap::Unknown => 0,
        };
        let end = self.history.devices.max(of_load);
        match devices.list() {
            None => (0..end).collect(),
            Some(list) => list.iter().copied().filter(|&device| device < end).collect(),
        }
    }

    /// Tells the datapoints by device, then by time, until told to stop.
    pub fn walk(&mut self, devices: &[u32], range: TimeRange, visit: &mut Visit<'_>) -> ControlFlow<()> {
        for &device in devices {
            for IndexRange { indices, certain } in self.stretches(device, range) {
                let mut first = indices.start;
                while first < indices.end {
                    let end = indices.end.min(first + BLOCK);
                    self.block(device, first..end, certain, false, visit)?;
                    first = end;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Tells the datapoints of a device from the latest on.
    pub fn walk_back(&mut self, device: u32, range: TimeRange, visit: &mut Visit<'_>) -> ControlFlow<()> {
        for IndexRange { indices, certain } in self.stretches(device, range).into_iter().rev() {
            let mut end = indices.end;
            while indices.start < end {
                let first = indices.start.max(end.saturating_sub(BLOCK));
                self.block(device, first..end, certain, true, visit)?;
                end = first;
            }
        }
        ControlFlow::Continue(())
    }

    /// Tells one datapoint, whether or not it belongs to the history.
    pub fn one(&mut self, device: u32, index: u64, visit: &mut Visit<'_>) {
        // There is nothing after one datapoint that could be stopped.
        let _ = self.block(device, index..index + 1, true, false, visit);
    }

    fn block(
        &mut self,
        device: u32,
        indices: Range<u64>,
        certain: bool,
        backwards: bool,
        visit: &mut Visit<'_>,
    ) -> ControlFlow<()> {
        self.batch.clear();
        let count = u32::try_from(indices.end - indices.start).unwrap_or(u32::MAX);
        let dataset = Arc::clone(&self.history.dataset);
        dataset.fill(Run { device, first: indices.start, count }, &mut self.batch);
        let rows = self.batch.len();
        for place in 0..rows {
            let row = if backwards { rows - 1 - place } else { place };
            let Some(&timestamp_ns) = self.batch.timestamps_ns().get(row) else { continue };
            let row = Row { certain, device, timestamp_ns, batch: &self.batch, row, only: self.only };
            if row.is_told() {
                visit(row)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// What may be stored of a device in a stretch of time.
    pub fn stretches(&self, device: u32, range: TimeRange) -> Vec<IndexRange> {
        let asked = indices_in(&*self.history.dataset, device, range);
        let mut stretches = self.overlap.stretches(&self.history, device);
        for IndexRange { indices, .. } in &mut stretches {
            *indices = indices.start.max(asked.start)..indices.end.min(asked.end);
        }
        stretches.retain(|stretch| !stretch.indices.is_empty());
        stretches
    }
}

/// The indices of a device whose times lie in a stretch, stored or not.
pub fn indices_in(dataset: &dyn Dataset, device: u32, range: TimeRange) -> Range<u64> {
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
