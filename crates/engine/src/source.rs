//! Where the operations of the load models come from.

mod closed;
mod of_group;
mod open;
mod own_users;
mod paced;
mod partly_open;
mod stretch;

pub use of_group::{MakeSource, SourcesRequest};

use closed::{ClosedSettings, ClosedSource};
use open::OpenSource;
use own_users::OwnUsers;
use paced::PacedSource;
use partly_open::{PartlyOpenSource, Sessions};

use crate::{read::Draw, slice::UserTime};
use iotbench_core::{Batch, Left, Run, Source};
use iotbench_simulator::{Dataset, Sends, Twice};
use std::sync::Arc;
use stretch::Stretch;
pub use stretch::Stretches;

/// Which operation a source gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Its place among the group's operations.
    pub place: usize,
    /// Whose it is and which of his, or of the whole schedule, from 0: what a question is drawn from.
    pub draw: Draw,
    /// How many of its datapoints are second sends.
    pub again: u64,
}

/// A datapoint that is sent wrong and then right, in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrectedRow {
    /// Its row.
    pub row: usize,
    /// Whose it is.
    pub device: u32,
    /// Its index.
    pub index: u64,
    /// Whether this is the send that corrects.
    pub is_second: bool,
}

/// A source that says which of its group's operations it gives.
pub trait Feed: Source {
    /// The operation that `take` gave last.
    fn taken(&self) -> Taken;

    /// Whether [`Source::take`] has nothing more to give, for certain: who has no connection to send on need not ask it.
    fn has_ended(&self, now_ns: u64) -> bool;

    /// Puts those datapoints of the operation that `take` gave last into `rows` that are sent wrong and then right.
    fn take_corrected(&mut self, rows: &mut Vec<CorrectedRow>) {
        rows.clear();
    }

    /// As [`Source::left`], with the place of each.
    fn left_with_place(&mut self, now_ns: u64, tell: &mut dyn FnMut(usize, Left));

    /// From `start_ns` on, which `now_ns` is not before, operations are a new generation's.
    fn begin_generation(&mut self, _start_ns: u64, _now_ns: u64) {}

    /// Takes what users did beside operations and thinking since this was asked last: in the generation before the present
    /// one, and in the present one.
    fn take_user_times(&mut self) -> [UserTime; 2] {
        Default::default()
    }
}

/// Fills batches from a dataset, by positions in the devices' sending orders; in a load whose devices send some datapoints
/// twice a second send has a position too. Where signals are added, a batch has them or lacks them: the plan has no operation with
/// datapoints from both sides of that position.
#[derive(Debug)]
pub struct Filler {
    dataset: Arc<dyn Dataset>,
    /// Positions that the preload used.
    preload: u64,
    /// The dataset's number of the device 0 of whoever fills.
    first_device: u32,
    /// What is sent twice.
    twice: Option<Twice>,
    /// Second sends since this was asked last.
    again: u64,
    /// Since this was asked last, what is sent wrong and then right.
    corrected: Vec<CorrectedRow>,
    runs: Vec<Run>,
}

impl Filler {
    /// A filler whose position 0 comes after `preload` datapoints of each device, and that sends each datapoint once.
    pub fn new(dataset: Arc<dyn Dataset>, preload: u64) -> Self {
        Self { dataset, preload, first_device: 0, twice: None, again: 0, corrected: Vec::new(), runs: Vec::new() }
    }

    /// The same of a load, which sends some datapoints twice where the dataset says so, those of the preload among them.
    pub fn of_load(self) -> Self {
        Self { twice: self.dataset.twice(), ..self }
    }

    /// The same for a group whose devices are numbered from this one of the dataset's on.
    pub fn of_devices_from(self, first_device: u32) -> Self {
        Self { first_device, ..self }
    }

    /// The dataset.
    pub fn dataset(&self) -> &dyn Dataset {
        &*self.dataset
    }

    /// Appends what a device sends at these positions.
    pub fn fill(&mut self, device: u32, first: u64, count: u32, batch: &mut Batch) {
        let device = self.first_device + device;
        let Some(twice) = self.twice else {
            return self.append_right(device, self.preload + first, count, batch);
        };
        let send = twice.sends_before(device, self.preload) + first;
        twice.tell(device, send, count, &mut |sends| self.append(twice, device, sends, batch));
    }

    fn append(&mut self, twice: Twice, device: u32, sends: Sends, batch: &mut Batch) {
        let Sends { first, count, is_second } = sends;
        self.again += u64::from(is_second);
        if !self.dataset.corrects() {
            return self.append_right(device, first, count, batch);
        }
        let (mut position, end) = (first, first + u64::from(count));
        while position < end {
            let right = (position..end).take_while(|&position| !twice.is_of(device, position)).count();
            let right = u32::try_from(right).unwrap_or(u32::MAX);
            self.append_right(device, position, right, batch);
            position += u64::from(right);
            if position < end {
                self.append_corrected(device, position, is_second, batch);
                position += 1;
            }
        }
    }

    fn append_right(&mut self, device: u32, first: u64, count: u32, batch: &mut Batch) {
        self.runs.clear();
        self.dataset.sending_order(device, first, count, &mut self.runs);
        self.runs.iter().for_each(|&run| self.dataset.fill(run, batch));
        if self.dataset.added_from().is_some_and(|from| first < from) {
            batch.lack(self.dataset.schema().added());
        }
    }

    /// Appends what is sent wrong and then right.
    fn append_corrected(&mut self, device: u32, position: u64, is_second: bool, batch: &mut Batch) {
        self.runs.clear();
        self.dataset.sending_order(device, position, 1, &mut self.runs);
        for &run in &self.runs {
            self.corrected.push(CorrectedRow { row: batch.len(), device, index: run.first, is_second });
            if is_second {
                self.dataset.fill(run, batch);
            } else {
                self.dataset.fill_uncorrected(run, batch);
            }
        }
    }

    /// Moves what was appended of datapoints that are sent wrong and then right since this was asked last into `rows`.
    pub fn take_corrected(&mut self, rows: &mut Vec<CorrectedRow>) {
        rows.clear();
        rows.append(&mut self.corrected);
    }

    /// How many second sends were appended since this was asked last.
    pub fn take_again(&mut self) -> u64 {
        std::mem::take(&mut self.again)
    }

    /// Appends what an operation of so many requests sends of its stretch, request by request, each with `count`
    /// datapoints of each device.
    fn fill_stretch(&mut self, stretch: &Stretch, requests: u32, count: u32, batch: &mut Batch) {
        for request in 0..u64::from(requests) {
            let first = stretch.first + request * u64::from(count);
            for device in stretch.devices.clone() {
                self.fill(device, first, count, batch);
            }
        }
    }

    /// How many positions a device has behind it at a time since the run's start, when it measures in step with the run.
    pub fn positions_by(&self, device: u32, now_ns: u64) -> u64 {
        let device = self.first_device + device;
        let index = self.dataset.index_at(device, self.planned_ns(now_ns).saturating_add(1));
        let due = self.dataset.positions_before(device, index);
        let before = |position| self.twice.map_or(position, |twice| twice.sends_before(device, position));
        before(due).saturating_sub(before(self.preload))
    }

    /// Whether a device has no datapoint planned after a time since the run's start.
    pub fn has_ended(&self, device: u32, now_ns: u64) -> bool {
        let device = self.first_device + device;
        let index = self.dataset.index_at(device, self.planned_ns(now_ns).saturating_add(1));
        self.dataset.datapoints(device).is_some_and(|end| index >= end)
    }

    /// The planned time that belongs to a time since the run's start.
    fn planned_ns(&self, now_ns: u64) -> i64 {
        let preload_ns = i64::try_from(self.preload).unwrap_or(i64::MAX).saturating_mul(self.dataset.period_ns());
        let now_ns = i64::try_from(now_ns).unwrap_or(i64::MAX);
        self.dataset.origin_ns().saturating_add(preload_ns).saturating_add(now_ns)
    }

    /// The planned time of what a device sends at a position, in nanoseconds since the Unix epoch; of a second send that of what it
    /// is sent with.
    pub fn timestamp_ns(&mut self, device: u32, position: u64) -> i64 {
        self.runs.clear();
        let device = self.first_device + device;
        let slot = self.twice.map_or(self.preload + position, |twice| {
            twice.slot(device, twice.sends_before(device, self.preload) + position)
        });
        self.dataset.sending_order(device, slot, 1, &mut self.runs);
        self.runs.first().map_or(i64::MAX, |run| self.dataset.timestamp_ns(device, run.first))
    }
}
