//! In which order the datapoints of many devices come: by time, in blocks.

use iotbench_core::{Batch, Run};
use iotbench_simulator::Dataset;
use std::{ops::Range, sync::Arc};

/// Datapoints of all devices in a block, about.
const BLOCK: u32 = 1000;

/// Blocks of a stretch of time one after the other, in each the devices in turn, each in its own sending order.
pub(super) struct Blocks {
    dataset: Arc<dyn Dataset>,
    /// What is left of each device's sending order.
    left: Vec<Range<u64>>,
    device: usize,
    devices_left: usize,
    by_device: u32,
    runs: Vec<Run>,
}

impl Blocks {
    /// The datapoints from a time on, up to another one or without end.
    pub(super) fn new(dataset: Arc<dyn Dataset>, devices: u32, from_ns: i64, until_ns: Option<i64>) -> Self {
        let position = |device: u32, ns: i64| dataset.positions_before(device, dataset.index_at(device, ns));
        let end = |device: u32| match (until_ns, dataset.datapoints(device)) {
            (Some(ns), None) => position(device, ns),
            (None, Some(n)) => dataset.positions_before(device, n),
            (Some(ns), Some(n)) => position(device, ns).min(dataset.positions_before(device, n)),
            (None, None) => u64::MAX,
        };
        let left: Vec<_> = (0..devices).map(|d| position(d, from_ns)..end(d)).collect();
        let devices_left = left.iter().filter(|range| !range.is_empty()).count();
        Self { left, device: 0, devices_left, by_device: (BLOCK / devices).max(1), runs: Vec::new(), dataset }
    }

    /// Appends the next block of about a thousand datapoints; false when it was the last.
    pub(super) fn fill_next(&mut self, batch: &mut Batch) -> bool {
        while batch.len() < BLOCK as usize && self.devices_left > 0 {
            self.fill_device(batch);
            self.device = if self.device + 1 < self.left.len() { self.device + 1 } else { 0 };
        }
        self.devices_left > 0
    }

    fn fill_device(&mut self, batch: &mut Batch) {
        let Some(left) = self.left.get_mut(self.device).filter(|left| !left.is_empty()) else { return };
        let count = u32::try_from(left.end - left.start).unwrap_or(u32::MAX).min(self.by_device);
        let device = u32::try_from(self.device).unwrap_or(u32::MAX);
        self.runs.clear();
        self.dataset.sending_order(device, left.start, count, &mut self.runs);
        for &run in &self.runs {
            self.dataset.fill(run, batch);
        }
        left.start += u64::from(count);
        self.devices_left -= usize::from(left.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_simulator::{DEFAULT_ORIGIN_NS, DatasetConfig};
    use std::path::Path;

    fn all(devices: u32, from_ns: i64, length_ns: i64) -> (Vec<(u32, u64)>, usize) {
        let dataset = DatasetConfig::named("pmu").unwrap().open(1, DEFAULT_ORIGIN_NS, devices, Path::new(".")).unwrap();
        let from_ns = DEFAULT_ORIGIN_NS + from_ns;
        let mut blocks = Blocks::new(Arc::clone(&dataset), devices, from_ns, Some(from_ns + length_ns));
        let (mut seen, mut largest) = (Vec::new(), 0);
        loop {
            let mut batch = Batch::new(dataset.schema());
            let more = blocks.fill_next(&mut batch);
            largest = largest.max(batch.len());
            seen.extend(batch.runs().iter().flat_map(|r| r.indices().map(|i| (r.device, i))));
            if !more {
                return (seen, largest);
            }
        }
    }

    #[test]
    fn every_datapoint_of_the_stretch_comes_once() {
        for (devices, from_s, length_s) in [(1, 0, 1), (1, 7, 61), (7, 3, 30), (3000, 0, 1)] {
            let (seen, largest) = all(devices, from_s * 1_000_000_000, length_s * 1_000_000_000);
            let indices = u64::try_from(from_s * 50).unwrap()..u64::try_from((from_s + length_s) * 50).unwrap();
            let expected: Vec<_> = (0..devices).flat_map(|d| indices.clone().map(move |i| (d, i))).collect();
            let mut sorted = seen.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, expected);
            assert!(largest <= 2 * BLOCK as usize);
        }
    }

    #[test]
    fn devices_advance_together() {
        let (seen, _) = all(10, 0, 60_000_000_000);
        let mut latest = [0_u64; 10];
        for (device, index) in seen {
            latest[device as usize] = index;
            let (least, most) = (latest.iter().min().unwrap(), latest.iter().max().unwrap());
            assert!(most - least <= 2 * u64::from(BLOCK) / 10);
        }
    }

    #[test]
    fn an_empty_stretch_has_no_datapoint() {
        assert!(all(2, 0, 0).0.is_empty());
    }
}
