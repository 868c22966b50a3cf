//! What is asked for at once: some devices with little data, or a stretch of time of one with much. Pure.

use super::expected::Segment;
use iotbench_core::TimeRange;
use iotbench_simulator::Dataset;
use std::ops::Bound;

/// Datapoints that are asked for at once, about.
const PIECE: u64 = 20_000;
/// Devices that are asked for at once.
const DEVICES: usize = 64;

/// A question to the database, with what its answer should be.
#[derive(Debug, Default)]
pub struct Piece {
    pub devices: Vec<u32>,
    pub segments: Vec<Segment>,
    points: u64,
}

impl Piece {
    /// Adds a device with all its datapoints; false, and nothing is added: it is enough already.
    pub fn add(&mut self, device: u32, segments: &[Segment]) -> bool {
        let points = points(segments);
        let is_full = self.devices.len() >= DEVICES || self.points + points > PIECE;
        if is_full && !self.devices.is_empty() {
            return false;
        }
        self.devices.push(device);
        self.segments.extend_from_slice(segments);
        self.points += points;
        true
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.devices.clear();
        self.segments.clear();
        self.points = 0;
    }

    /// The stretches of time in which its datapoints are asked for: together all time. Several only of a single device.
    pub fn ranges(&self, dataset: &dyn Dataset) -> Vec<TimeRange> {
        let [device] = self.devices.as_slice() else { return vec![TimeRange::ALL] };
        let (mut ranges, mut from, mut room) = (Vec::new(), Bound::Unbounded, PIECE);
        for Segment { indices, .. } in &self.segments {
            let mut first = indices.start;
            while indices.end - first > room {
                first += room;
                let cut_ns = dataset.timestamp_ns(*device, first);
                ranges.push(TimeRange { from, to: Bound::Excluded(cut_ns) });
                (from, room) = (Bound::Included(cut_ns), PIECE);
            }
            room -= indices.end - first;
        }
        ranges.push(TimeRange { from, to: Bound::Unbounded });
        ranges
    }
}

/// How many datapoints there are in segments.
pub fn points(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| segment.indices.end - segment.indices.start).sum()
}

/// Of so many stretches of time the ones that a sample looks at: one from anywhere, and the last, in which the newest
/// datapoints lie.
pub fn sampled(ranges: Vec<TimeRange>, draw: u64) -> Vec<TimeRange> {
    let last = ranges.len().saturating_sub(1);
    let one = usize::try_from(draw % ranges.len().max(1) as u64).unwrap_or(0);
    let kept = ranges.into_iter().enumerate().filter(|&(place, _)| place == one || place == last);
    kept.map(|(_, range)| range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Fate;
    use iotbench_simulator::DatasetConfig;
    use std::path::Path;

    fn segment(device: u32, indices: std::ops::Range<u64>) -> Segment {
        Segment { device, indices, fate: Fate::Acked }
    }

    #[test]
    fn the_stretches_of_a_large_device_are_all_time_each_once() {
        let dataset = DatasetConfig::named("pmu").unwrap().open(1, 0, 2, Path::new(".")).unwrap();
        let mut piece = Piece::default();
        assert!(piece.add(1, &[segment(1, 10..15_000), segment(1, 20_000..70_000)]));
        assert!(!piece.add(0, &[segment(0, 0..1)]), "it is enough already");
        let ranges = piece.ranges(&*dataset);
        assert_eq!((ranges[0].from, ranges[ranges.len() - 1].to), (Bound::Unbounded, Bound::Unbounded));
        for index in 0..80_000 {
            let ns = dataset.timestamp_ns(1, index);
            assert_eq!(ranges.iter().filter(|range| range.contains(ns)).count(), 1, "index {index}");
        }
        let most = ranges.iter().map(|range| {
            let held = (10..15_000).chain(20_000..70_000);
            held.filter(|&index| range.contains(dataset.timestamp_ns(1, index))).count() as u64
        });
        assert!(most.max().unwrap() <= PIECE);
        let last = ranges[ranges.len() - 1];
        assert_eq!(sampled(ranges.clone(), 0), [ranges[0], last]);
        assert_eq!(sampled(vec![TimeRange::ALL], 7), [TimeRange::ALL]);
    }

    #[test]
    fn devices_with_little_data_are_asked_for_together() {
        let mut piece = Piece::default();
        let added = (0..1000).take_while(|&device| piece.add(device, &[segment(device, 0..10)])).count();
        assert_eq!(added, DEVICES);
        piece.clear();
        let added = (0..1000).take_while(|&device| piece.add(device, &[segment(device, 0..PIECE / 4)])).count();
        assert_eq!(added, 4);
    }
}
