//! What was written while a read was under way: what its answer may hold, and what it has to.

use crate::read::History;
use std::ops::Range;

/// What a read has to do with writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Overlap {
    /// Nothing was written meanwhile: the answer holds the history.
    #[default]
    None,
    /// Something was, of the devices asked about.
    Known(Meanwhile),
    /// Something was, of more devices than are followed.
    Unknown,
}

/// Where the load was when a read began, as far as that has to be seen, and when it ended, as far as it may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meanwhile {
    /// The devices asked about, ascending.
    pub devices: Vec<Progress>,
}

/// How far a device was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which.
    pub device: u32,
    /// The datapoints of the load that were acknowledged before the read began.
    pub acked: Range<u64>,
    /// The end of what could have been sent before the read ended.
    pub sent: u64,
}

/// Datapoints of a device that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexRange {
    /// Their indices.
    pub indices: Range<u64>,
    /// Whether an answer has to hold them: if not, it may.
    pub certain: bool,
}

impl Meanwhile {
    /// Of these devices, in any order.
    #[must_use]
    pub fn new(mut devices: Vec<Progress>) -> Self {
        devices.sort_unstable_by_key(|progress| progress.device);
        Self { devices }
    }

    fn of(&self, device: u32) -> Option<&Progress> {
        let place = self.devices.binary_search_by_key(&device, |progress| progress.device).ok()?;
        self.devices.get(place)
    }
}

impl Overlap {
    /// The datapoints of a device that an answer may hold, ascending and disjoint.
    #[must_use]
    pub fn stretches(&self, history: &History, device: u32) -> Vec<IndexRange> {
        let mut certain = history.indices(device);
        let Self::Known(meanwhile) = self else { return all_certain(certain) };
        let Some(progress) = meanwhile.of(device) else { return all_certain(certain) };
        if progress.sent <= progress.acked.start {
            return all_certain(certain);
        }
        certain.extend((!progress.acked.is_empty()).then(|| progress.acked.clone()));
        let mut stretches = Vec::with_capacity(2 * certain.len() + 1);
        let mut next = 0;
        // A datapoint that came late may have been sent into a gap of the history.
        for indices in certain {
            stretches.push(IndexRange { indices: next..indices.start, certain: false });
            next = indices.end;
            stretches.push(IndexRange { indices, certain: true });
        }
        stretches.push(IndexRange { indices: next..progress.sent, certain: false });
        stretches.retain(|stretch| !stretch.indices.is_empty());
        stretches
    }
}

fn all_certain(indices: Vec<Range<u64>>) -> Vec<IndexRange> {
    indices.into_iter().map(|indices| IndexRange { indices, certain: true }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_simulator::DatasetConfig;
    use std::path::Path;

    #[test]
    fn what_was_acknowledged_is_certain_and_what_was_sent_is_possible() {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu" })).unwrap();
        let history = History { dataset: config.open(1, 0, 3, Path::new(".")).unwrap(), devices: 1, positions: 10 };
        let of = |device, acked: Range<u64>, sent| {
            let overlap = Overlap::Known(Meanwhile::new(vec![Progress { device, acked, sent }]));
            let stretches = overlap.stretches(&history, device).into_iter();
            stretches.map(|s| (s.indices, s.certain)).collect::<Vec<_>>()
        };
        assert_eq!(of(0, 10..10, 10), [(0..10, true)], "nothing was sent");
        assert_eq!(of(0, 10..15, 25), [(0..10, true), (10..15, true), (15..25, false)]);
        assert_eq!(of(0, 10..10, 25), [(0..10, true), (10..25, false)], "nothing is promised");
        assert_eq!(of(2, 0..5, 7), [(0..5, true), (5..7, false)], "a device without a history");
        assert_eq!(Overlap::None.stretches(&history, 2), []);
    }
}
