//! What is stored, by the simulator: the datapoints of a stretch, recomputed block by block.

use super::{
    overlap::{IndexRange, Overlap},
    second_sends::{Copies, SecondSends},
};
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
    /// The other values that signals may have, where the datapoint is sent wrong and then right.
    other: Option<&'a Batch>,
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

    /// The values that a signal may have: its own, and the other one of what is sent wrong and then right.
    pub fn values(&self, signal: u16) -> impl Iterator<Item = Value<'_>> {
        let other = self.other.and_then(|other| other.columns().get(usize::from(signal))?.get(self.row));
        self.value(signal).into_iter().chain(other)
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
    second_sends: Option<SecondSends>,
    only: Option<Only>,
    batch: Batch,
    /// The same datapoints with the values that are corrected later.
    uncorrected: Batch,
}

type Visit<'a> = dyn FnMut(Row<'_>) -> ControlFlow<()> + 'a;

impl Truth {
    pub fn new(history: History) -> Self {
        let [batch, uncorrected] = [0; 2].map(|_| Batch::new(history.dataset.schema()));
        let (tags, overlap) = (Arc::default(), Overlap::None);
        Self { history, tags, overlap, second_sends: None, only: None, batch, uncorrected }
    }

    /// The same beside a load that sends some datapoints twice.
    pub fn with_second_sends(self, second_sends: Option<SecondSends>) -> Self {
        Self { second_sends, ..self }
    }

    /// What is sent twice beside the read.
    pub fn second_sends(&self) -> Option<SecondSends> {
        self.second_sends.filter(|_| self.overlap != Overlap::None)
    }

    /// Whether two datapoints of the same device and time may be stored, at any time.
    pub fn may_hold_two(&self) -> bool {
        self.second_sends.is_some_and(SecondSends::keeps_both)
    }

    /// What an answer may hold of a datapoint, where it may hold any.
    pub fn copies(&self, device: u32, index: u64) -> Copies {
        self.second_sends().map_or(Copies::One, |sends| sends.copies(&self.history, device, index))
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
        let run =
            Run { device, first: indices.start, count: u32::try_from(indices.end - indices.start).unwrap_or(u32::MAX) };
        self.batch.clear();
        self.history.dataset.fill(run, &mut self.batch);
        self.uncorrected.clear();
        if self.second_sends().is_some_and(SecondSends::corrects) {
            self.history.dataset.fill_uncorrected(run, &mut self.uncorrected);
        }
        let rows = self.batch.len();
        for place in 0..rows {
            let row = if backwards { rows - 1 - place } else { place };
            let Some(&timestamp_ns) = self.batch.timestamps_ns().get(row) else { continue };
            let copies = match self.second_sends() {
                None => Copies::One,
                Some(_) => self.copies(device, self.history.dataset.index_at(device, timestamp_ns)),
            };
            let (right, first) = (&self.batch, &self.uncorrected);
            let of = |certain, batch, other| Row { certain, device, timestamp_ns, batch, row, other, only: self.only };
            let mut tell = |row: Row<'_>| if row.is_told() { visit(row) } else { ControlFlow::Continue(()) };
            match copies {
                Copies::One => tell(of(certain, right, None))?,
                Copies::OneOrTwo => {
                    tell(of(certain, right, None))?;
                    tell(of(false, right, None))?;
                }
                Copies::Either => {
                    tell(of(false, first, Some(right)))?;
                    tell(of(false, right, Some(first)))?;
                }
                // In whichever order the two come, it is among these; where signals are stored apart, each in its own.
                Copies::Both => {
                    tell(of(false, first, Some(right)))?;
                    tell(of(false, right, Some(first)))?;
                    tell(of(false, first, Some(right)))?;
                }
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
