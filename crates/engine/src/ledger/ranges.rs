//! Datapoints as ranges of indices by device.

use iotbench_core::Run;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::Range};

/// Some datapoints: for each device disjoint, ascending half-open ranges of indices.
///
/// Neighbouring ranges are joined, so that a device whose datapoints are all among them takes one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointRanges {
    devices: BTreeMap<u32, BTreeMap<u64, u64>>,
}

impl PointRanges {
    /// Adds the datapoints of a run.
    pub fn add(&mut self, run: Run) {
        self.add_range(run.device, run.indices());
    }

    /// Adds datapoints of a device.
    pub fn add_range(&mut self, device: u32, indices: Range<u64>) {
        if indices.is_empty() {
            return;
        }
        let ranges = self.devices.entry(device).or_default();
        let (mut first, mut end) = (indices.start, indices.end);
        if let Some((&before, &before_end)) = ranges.range(..=first).next_back()
            && before_end >= first
        {
            first = before;
            end = end.max(before_end);
        }
        while let Some((&after, &after_end)) = ranges.range(first..=end).next() {
            end = end.max(after_end);
            ranges.remove(&after);
        }
        ranges.insert(first, end);
    }

    /// Those of a device's datapoints that are among them already, ascending.
    pub fn among(&self, device: u32, indices: &Range<u64>) -> Vec<Range<u64>> {
        let Some(ranges) = self.devices.get(&device) else { return Vec::new() };
        let from = ranges.range(..=indices.start).next_back().map_or(indices.start, |(&first, _)| first);
        let common = |(&first, &end): (&u64, &u64)| first.max(indices.start)..end.min(indices.end);
        ranges.range(from..indices.end.max(from)).map(common).filter(|common| !common.is_empty()).collect()
    }

    /// Takes over the datapoints of others.
    pub fn append(&mut self, others: &mut Self) {
        let taken = std::mem::take(&mut others.devices);
        if self.devices.is_empty() {
            self.devices = taken;
            return;
        }
        for (device, ranges) in taken {
            ranges.into_iter().for_each(|(first, end)| self.add_range(device, first..end));
        }
    }

    /// The ranges of one device, ascending.
    pub fn of_device(&self, device: u32) -> impl Iterator<Item = Range<u64>> + '_ {
        self.devices.get(&device).into_iter().flatten().map(|(&first, &end)| first..end)
    }

    /// How many ranges there are.
    #[must_use]
    pub fn ranges(&self) -> usize {
        self.devices.values().map(BTreeMap::len).sum()
    }

    /// How many datapoints there are, at most all that a number tells.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.iter().fold(0, |sum: u64, (_, range)| sum.saturating_add(range.end - range.start))
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty()
    }

    /// Every range with its device, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Range<u64>)> + '_ {
        self.devices.iter().flat_map(|(&device, ranges)| ranges.iter().map(move |(&first, &end)| (device, first..end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn neighbours_are_joined() {
        let mut acked = PointRanges::default();
        for (first, count) in [(0, 2), (4, 2), (2, 2), (10, 1)] {
            acked.add(Run { device: 7, first, count });
        }
        assert_eq!(acked.iter().collect::<Vec<_>>(), [(7, 0..6), (7, 10..11)]);
        assert_eq!((acked.ranges(), acked.is_empty()), (2, false));
        assert_eq!((PointRanges::default().ranges(), PointRanges::default().is_empty()), (0, true));
    }

    #[test]
    fn more_than_all_numbers_is_as_many_as_there_are() {
        let mut ranges = PointRanges::default();
        (0..3).for_each(|device| ranges.add_range(device, 0..u64::MAX));
        assert_eq!(ranges.len(), u64::MAX);
    }

    proptest! {
        #[test]
        fn what_is_among_them_is_what_both_hold(
            runs in prop::collection::vec((0_u64..60, 1_u32..9), 0..20), first in 0_u64..70, count in 0_u64..30
        ) {
            let mut ranges = PointRanges::default();
            runs.iter().for_each(|&(first, count)| ranges.add(Run { device: 1, first, count }));
            let asked = first..first + count;
            let held: BTreeSet<u64> = ranges.of_device(1).flatten().collect();
            let common: Vec<u64> = ranges.among(1, &asked).into_iter().flatten().collect();
            prop_assert_eq!(common, asked.clone().filter(|index| held.contains(index)).collect::<Vec<_>>());
            prop_assert_eq!(ranges.among(2, &asked), []);
        }

        #[test]
        fn ranges_hold_exactly_what_was_added(runs in prop::collection::vec((0_u32..3, 0_u64..60, 1_u32..9), 0..80)) {
            let mut acked = PointRanges::default();
            let mut model = BTreeSet::new();
            for (device, first, count) in runs {
                let run = Run { device, first, count };
                acked.add(run);
                model.extend(run.indices().map(|i| (device, i)));
            }
            prop_assert_eq!(acked.len(), model.len() as u64);
            let held: BTreeSet<_> = acked.iter().flat_map(|(d, r)| r.map(move |i| (d, i))).collect();
            prop_assert_eq!(held, model);
            let ranges: Vec<_> = acked.iter().collect();
            prop_assert!(ranges.windows(2).all(|w| w[0].0 != w[1].0 || w[0].1.end < w[1].1.start));
        }
    }
}
