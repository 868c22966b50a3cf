//! What a dataset is to the rest of the program.

use crate::Twice;
use iotbench_core::{Batch, Run, Schema, Tag};

/// Devices of one kind and everything they will ever measure.
///
/// Every datapoint is a pure function of seed, origin, device and index: it can be recomputed at any later time, in any
/// order and on any machine, and is the same to the last bit.
pub trait Dataset: Send + Sync + std::fmt::Debug {
    /// The signals of a datapoint.
    fn schema(&self) -> &Schema;

    /// The tags of its devices where they are recorded; none: a profile gives them some.
    fn tags(&self) -> Vec<Tag> {
        Vec::new()
    }

    /// Timestamp of index 0 without offset and jitter, ns since the Unix epoch.
    fn origin_ns(&self) -> i64;

    /// Nominal time between two datapoints of a device.
    fn period_ns(&self) -> i64;

    /// Every timestamp is a multiple of this.
    fn resolution_ns(&self) -> i64;

    /// The planned time of a datapoint: origin + index × period + the device's offset + seeded jitter below one period.
    fn timestamp_ns(&self, device: u32, index: u64) -> i64;

    /// The first index whose timestamp is not before this time; `index_at(d, timestamp_ns(d, i)) == i`.
    fn index_at(&self, device: u32, timestamp_ns: i64) -> u64;

    /// Appends the datapoints of a run to a batch of this schema. Allocates nothing in a warm batch. What lies beyond
    /// the end of a recording is left out.
    fn fill(&self, run: Run, batch: &mut Batch);

    /// Appends to `runs` what a device sends at positions `first..first + count` of its sending order. Positions skip
    /// missing datapoints and may name late ones; each datapoint that is not missing has exactly one position.
    fn sending_order(&self, device: u32, first: u64, count: u32, runs: &mut Vec<Run>) {
        if count > 0 {
            runs.push(Run { device, first, count });
        }
    }

    /// How many positions of the sending order there are for the datapoints before this index: the index itself,
    /// unless datapoints are missing.
    fn positions_before(&self, device: u32, index: u64) -> u64 {
        let _ = device;
        index
    }

    /// The position of a datapoint that is not missing in the sending order.
    fn position_of(&self, device: u32, index: u64) -> u64 {
        self.positions_before(device, index)
    }

    /// Which datapoints a load sends a second time; `None`: it sends each once, as a history always does.
    fn twice(&self) -> Option<Twice> {
        None
    }

    /// Whether the first of the two sends of a datapoint carries other values, which the second one corrects.
    fn corrects(&self) -> bool {
        false
    }

    /// As [`fill`](Self::fill), with the values that are corrected later, where there are such; the identity and the time are
    /// the same.
    fn fill_uncorrected(&self, run: Run, batch: &mut Batch) {
        self.fill(run, batch);
    }

    /// The position of each device's sending order from which on its datapoints have the signals that are added
    /// ([`Schema::added_signals`]); `None`: none is added. [`fill`](Self::fill) gives every datapoint all of them.
    fn added_from(&self) -> Option<u64> {
        None
    }

    /// How many datapoints a device has; `None` means endless (a recording ends).
    fn datapoints(&self, device: u32) -> Option<u64> {
        let _ = device;
        None
    }

    /// What whoever sees its results should know of it, such as lines of a recording that were left out.
    fn remark(&self) -> Option<&str> {
        None
    }

    /// Appends the name of a device (tag, meter) to `out`.
    fn device_name(&self, device: u32, out: &mut String);
}
