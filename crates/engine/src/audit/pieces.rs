//! What is asked for at once: some devices with little data, or a stretch of time of one with much. Pure.

use super::expected::Segment;
use crate::verify::indices_in;
use iotbench_core::TimeRange;
use iotbench_simulator::Dataset;
use std::ops::{Bound, Range};

/// Datapoints that are asked for at once, about.
const PIECE: u64 = 20_000;
/// Devices that are asked for at once.
const DEVICES: usize = 64;

/// A question to the database, with what its answer should be.
#[derive(Clone, Debug, Default)]
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

    /// What is asked for in a stretch of time, as two questions: of half the devices each, or of half the datapoints of the only
    /// one. `None`: it is one datapoint at most.
    pub fn halves(&self, range: TimeRange, dataset: &dyn Dataset) -> Option<[(Self, TimeRange); 2]> {
        if let [device] = self.devices.as_slice() {
            let cut_ns = dataset.timestamp_ns(*device, self.middle(*device, range, dataset)?);
            let ranges = [
                TimeRange { to: Bound::Excluded(cut_ns), ..range },
                TimeRange { from: Bound::Included(cut_ns), ..range },
            ];
            return Some(ranges.map(|range| (self.clone(), range)));
        }
        let (first, second) = self.devices.split_at(self.devices.len() / 2);
        Some([first, second].map(|devices| (self.of(devices), range)))
    }

    fn of(&self, devices: &[u32]) -> Self {
        let segments: Vec<_> =
            self.segments.iter().filter(|segment| devices.contains(&segment.device)).cloned().collect();
        Self { devices: devices.to_vec(), points: points(&segments), segments }
    }

    /// The first datapoint of the later half; `None`: there are fewer than two.
    fn middle(&self, device: u32, range: TimeRange, dataset: &dyn Dataset) -> Option<u64> {
        let asked = indices_in(dataset, device, range);
        let within = |indices: &Range<u64>| indices.start.max(asked.start)..indices.end.min(asked.end);
        let parts = || self.segments.iter().map(|segment| within(&segment.indices)).filter(|part| !part.is_empty());
        let count: u64 = parts().map(|part| part.end - part.start).sum();
        let mut before = count / 2;
        for part in parts().filter(|_| count > 1) {
            if before < part.end - part.start {
                return Some(part.start + before);
            }
            before -= part.end - part.start;
        }
        None
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

    fn segment(device: u32, indices: Range<u64>) -> Segment {
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

    /// Devices are parted until one is left, its datapoints until one is left: each of them in one of the parts.
    #[test]
    fn halves_of_halves_end_at_single_datapoints() {
        let dataset = DatasetConfig::named("pmu").unwrap().open(1, 0, 3, Path::new(".")).unwrap();
        let mut piece = Piece::default();
        for (device, segments) in
            [(0, vec![segment(0, 0..5)]), (1, vec![segment(1, 2..4), segment(1, 9..12)]), (2, vec![])]
        {
            assert!(piece.add(device, &segments));
        }
        let (mut left, mut single) = (vec![(piece, TimeRange::ALL)], Vec::new());
        while let Some((piece, range)) = left.pop() {
            match piece.halves(range, &*dataset) {
                Some(halves) => left.extend(halves),
                None => {
                    let of = |segment: &Segment| {
                        segment.indices.clone().map(|index| (segment.device, index)).collect::<Vec<_>>()
                    };
                    let held = piece.segments.iter().flat_map(of);
                    let held: Vec<_> =
                        held.filter(|&(device, index)| range.contains(dataset.timestamp_ns(device, index))).collect();
                    assert!(held.len() <= 1 && piece.devices.len() == 1, "{held:?}");
                    single.extend(held);
                }
            }
        }
        single.sort_unstable();
        let expected = (0..5).map(|index| (0, index)).chain([2, 3, 9, 10, 11].map(|index| (1, index)));
        assert_eq!(single, expected.collect::<Vec<_>>());
    }
}
