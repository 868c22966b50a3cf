//! What is asked for at once: some devices with little data, or a stretch of time of one with much. Pure.

use super::account::Segment;
use crate::verify::indices_in;
use iotbench_core::TimeRange;
use iotbench_simulator::Dataset;
use std::ops::Bound::{self, Excluded, Included};

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
        let is_full = self.devices.len() >= DEVICES || self.points.saturating_add(points) > PIECE;
        if is_full && !self.devices.is_empty() {
            return false;
        }
        self.devices.push(device);
        self.segments.extend_from_slice(segments);
        self.points = self.points.saturating_add(points);
        true
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.devices.clear();
        self.segments.clear();
        self.points = 0;
    }

    /// What is asked for in a stretch of time, in parts: half of the devices each, then half of the only one's datapoints, then
    /// the only datapoint's time, what is before it and what is after it. Empty: it has no parts.
    pub fn parts(&self, range: TimeRange, dataset: &dyn Dataset) -> Vec<(Self, TimeRange)> {
        let [device] = self.devices.as_slice() else {
            let (first, second) = self.devices.split_at(self.devices.len() / 2);
            return [first, second].map(|devices| (self.of(devices), range)).into();
        };
        let ns = |index| dataset.timestamp_ns(*device, index);
        let ranges = match self.indices(*device, range, dataset).as_slice() {
            [] => Vec::new(),
            [only] => around(ns(*only), range),
            several => several.get(several.len() / 2).map_or_else(Vec::new, |&middle| {
                let cut_ns = ns(middle);
                [TimeRange { to: Excluded(cut_ns), ..range }, TimeRange { from: Included(cut_ns), ..range }].into()
            }),
        };
        ranges.into_iter().map(|range| (self.clone(), range)).collect()
    }

    fn of(&self, devices: &[u32]) -> Self {
        let segments: Vec<_> =
            self.segments.iter().filter(|segment| devices.contains(&segment.device)).cloned().collect();
        Self { devices: devices.to_vec(), points: points(&segments), segments }
    }

    /// The datapoints of the only device that lie in a stretch of time.
    fn indices(&self, device: u32, range: TimeRange, dataset: &dyn Dataset) -> Vec<u64> {
        let asked = indices_in(dataset, device, range);
        let within = |segment: &Segment| segment.indices.start.max(asked.start)..segment.indices.end.min(asked.end);
        self.segments.iter().flat_map(within).collect()
    }

    /// In how many stretches of time its datapoints are asked for: several only of a single device.
    pub fn stretches(&self) -> u64 {
        if self.devices.len() == 1 { self.points.div_ceil(PIECE).max(1) } else { 1 }
    }

    /// One of these stretches. Together they are all time, and none is held: a ledger that others wrote may ask for any number.
    pub fn stretch(&self, number: u64, dataset: &dyn Dataset) -> TimeRange {
        let cut_ns = |number: u64| {
            let index = self.index(number.checked_mul(PIECE)?)?;
            self.devices.first().map(|&device| dataset.timestamp_ns(device, index))
        };
        let is_first = number == 0;
        let from = cut_ns(number).filter(|_| !is_first).map_or(Bound::Unbounded, Included);
        let is_last = number.saturating_add(1) >= self.stretches();
        let to = cut_ns(number.saturating_add(1)).filter(|_| !is_last).map_or(Bound::Unbounded, Excluded);
        TimeRange { from, to }
    }

    /// The index of one of its datapoints, by its place among them.
    fn index(&self, mut place: u64) -> Option<u64> {
        for Segment { indices, .. } in &self.segments {
            let length = indices.end - indices.start;
            if place < length {
                return Some(indices.start + place);
            }
            place -= length;
        }
        None
    }
}

/// An instant in a stretch of time, with what is before it and after it; empty: the instant is all of it.
fn around(ns: i64, range: TimeRange) -> Vec<TimeRange> {
    let instant = TimeRange { from: Included(ns), to: Included(ns) };
    let before = TimeRange { to: Excluded(ns), ..range };
    let after = TimeRange { from: Excluded(ns), ..range };
    let beside = [(range.contains(ns.saturating_sub(1)), before), (range.contains(ns.saturating_add(1)), after)];
    let beside: Vec<_> = beside.into_iter().filter(|(is_there, _)| *is_there).map(|(_, range)| range).collect();
    if beside.is_empty() { beside } else { [vec![instant], beside].concat() }
}

/// How many datapoints there are in segments.
pub fn points(segments: &[Segment]) -> u64 {
    segments.iter().map(|segment| segment.indices.end - segment.indices.start).sum()
}

/// Of so many stretches of time the ones that a sample looks at: one from anywhere, and the last, in which the newest
/// datapoints lie.
pub fn sampled(stretches: u64, draw: u64) -> Vec<u64> {
    let Some(last) = stretches.checked_sub(1) else { return Vec::new() };
    let one = draw % stretches;
    if one == last { vec![last] } else { vec![one, last] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Fate;
    use iotbench_simulator::DatasetConfig;
    use std::{ops::Range, path::Path, slice::from_ref};

    fn ranges(piece: &Piece, dataset: &dyn Dataset) -> Vec<TimeRange> {
        (0..piece.stretches()).map(|number| piece.stretch(number, dataset)).collect()
    }

    fn segment(device: u32, indices: Range<u64>) -> Segment {
        Segment { device, indices, fate: Fate::Acked, again: None, corrected: None }
    }

    #[test]
    fn the_stretches_of_a_large_device_are_all_time_each_once() {
        let dataset = DatasetConfig::named("pmu").unwrap().open(1, 0, 2, Path::new(".")).unwrap();
        let mut piece = Piece::default();
        assert!(piece.add(1, &[segment(1, 10..15_000), segment(1, 20_000..70_000)]));
        assert!(!piece.add(0, &[segment(0, 0..1)]), "it is enough already");
        let ranges = ranges(&piece, &*dataset);
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
        assert_eq!(sampled(piece.stretches(), 0), [0, ranges.len() as u64 - 1]);
        assert_eq!(sampled(1, 7), [0]);
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

    /// Each datapoint comes to be the only one of a part that is its instant alone, and the parts are all time.
    #[test]
    fn parts_of_parts_end_at_instants_and_at_what_is_between_them() {
        let dataset = DatasetConfig::named("pmu").unwrap().open(1, 0, 3, Path::new(".")).unwrap();
        let mut piece = Piece::default();
        for (device, segments) in
            [(0, vec![segment(0, 0..5)]), (1, vec![segment(1, 2..4), segment(1, 9..12)]), (2, vec![])]
        {
            assert!(piece.add(device, &segments));
        }
        let (mut left, mut instants, mut between) = (vec![(piece, TimeRange::ALL)], Vec::new(), Vec::new());
        while let Some((piece, range)) = left.pop() {
            let parts = piece.parts(range, &*dataset);
            if parts.is_empty() {
                let [device] = piece.devices.as_slice() else { panic!("{piece:?}") };
                match piece.indices(*device, range, &*dataset).as_slice() {
                    [] => between.push((*device, range)),
                    &[index] => {
                        let ns = dataset.timestamp_ns(*device, index);
                        assert!(range.contains(ns) && !range.contains(ns - 1) && !range.contains(ns + 1), "{range:?}");
                        instants.push((*device, index, ns));
                    }
                    several => panic!("{several:?}"),
                }
            }
            left.extend(parts);
        }
        instants.sort_unstable();
        let expected = (0..5).map(|index| (0, index)).chain([2, 3, 9, 10, 11].map(|index| (1, index)));
        assert!(instants.iter().map(|&(device, index, _)| (device, index)).eq(expected), "{instants:?}");
        for (device, _, ns) in instants {
            for beside in [ns - 1, ns + 1] {
                let holds = |part: &&(u32, TimeRange)| part.0 == device && part.1.contains(beside);
                assert_eq!(between.iter().filter(holds).count(), 1, "{device} {beside}");
            }
        }
        assert!(between.contains(&(2, TimeRange::ALL)));
    }

    fn pmu() -> std::sync::Arc<dyn Dataset> {
        DatasetConfig::named("pmu").unwrap().open(1, 0, 3, Path::new(".")).unwrap()
    }

    #[test]
    fn a_piece_is_full_when_one_datapoint_more_would_be_too_many() {
        let mut piece = Piece::default();
        assert!(piece.add(0, &[segment(0, 10..PIECE / 2 + 10)]) && piece.add(1, &[segment(1, 5..PIECE / 2 + 5)]));
        assert!(!piece.add(2, &[segment(2, 7..8)]), "it holds {PIECE}");
        assert_eq!((piece.devices.as_slice(), piece.segments.len()), ([0, 1].as_slice(), 2));
        piece.clear();
        assert!(piece.add(0, &[segment(0, 3..10 * PIECE)]), "a device that alone is too many");
        assert!(!piece.add(1, &[segment(1, 0..1)]));
    }

    /// The stretches that a device's segments are asked for in, told by the index that each of them begins with.
    #[test]
    fn a_stretch_ends_where_it_holds_as_many_as_are_asked_for_at_once() {
        let dataset = pmu();
        let cuts = |segments: &[Range<u64>]| {
            let mut piece = Piece::default();
            piece.add(1, &segments.iter().map(|indices| segment(1, indices.clone())).collect::<Vec<_>>());
            let ranges = ranges(&piece, &*dataset);
            let joined = ranges.windows(2).all(|pair| match (pair[0].to, pair[1].from) {
                (Excluded(end), Included(from)) => end == from,
                _ => false,
            });
            assert!(joined, "{ranges:?}");
            let from = |range: &TimeRange| match range.from {
                Included(ns) => Some(dataset.index_at(1, ns)),
                _ => None,
            };
            ranges.iter().filter_map(from).collect::<Vec<_>>()
        };
        assert_eq!(cuts(from_ref(&(5..PIECE + 5))), [0; 0], "just as many");
        assert_eq!(cuts(from_ref(&(5..PIECE + 6))), [PIECE + 5]);
        assert_eq!(cuts(from_ref(&(5..3 * PIECE + 5))), [PIECE + 5, 2 * PIECE + 5]);
        // 15,000 of the first segment leave room for 5,000 of the next.
        assert_eq!(cuts(&[10..15_010, 20_000..40_000]), [25_000]);
        assert_eq!(cuts(&[10..15_010, 20_000..25_000, 30_000..30_001]), [30_000]);
        assert_eq!(cuts(&[10..15_010, 20_000..25_001, 30_000..49_999]), [25_000]);
    }

    #[test]
    fn what_cannot_be_read_is_halved_by_devices_and_then_by_datapoints() {
        let (dataset, mut piece) = (pmu(), Piece::default());
        (0..3).for_each(|device| assert!(piece.add(device, &[segment(device, 4..9), segment(device, 20..21)])));
        let parts = piece.parts(TimeRange::ALL, &*dataset);
        let [(first, _), (second, range)] = parts.as_slice() else { panic!("{parts:?}") };
        assert_eq!((first.devices.as_slice(), second.devices.as_slice()), ([0].as_slice(), [1, 2].as_slice()));
        assert_eq!((first.segments.len(), second.segments.len(), *range), (2, 4, TimeRange::ALL));
        let mut again = second.clone();
        assert!(
            again.add(0, &[segment(0, 0..PIECE - 12)]) && !again.add(3, &[segment(3, 0..1)]),
            "its own are counted"
        );
        // Of the six datapoints 4, 5, 6, 7, 8 and 20 the fourth begins the second half.
        let halves = first.parts(TimeRange::ALL, &*dataset);
        let [(_, early), (_, late)] = halves.as_slice() else { panic!("{halves:?}") };
        let cut_ns = dataset.timestamp_ns(0, 7);
        assert_eq!((early.to, late.from), (Excluded(cut_ns), Included(cut_ns)));
        assert_eq!((early.from, late.to), (Bound::Unbounded, Bound::Unbounded));
    }

    #[test]
    fn a_sample_looks_at_one_stretch_of_any_and_at_the_last() {
        assert_eq!(sampled(4, 6), [2, 3]);
        assert_eq!(sampled(4, 7), [3]);
        assert_eq!(sampled(0, 7), [0; 0]);
    }

    #[test]
    fn a_device_may_have_more_stretches_than_memory_holds() {
        let (dataset, mut piece) = (pmu(), Piece::default());
        assert!(piece.add(0, &[segment(0, 5..u64::MAX)]) && !piece.add(1, &[segment(1, 0..u64::MAX)]));
        assert_eq!(piece.stretches(), u64::MAX.div_ceil(PIECE));
        let [first, last] = [0, piece.stretches() - 1].map(|number| piece.stretch(number, &*dataset));
        assert_eq!((first.from, last.to), (Bound::Unbounded, Bound::Unbounded));
        assert_eq!(first.to, Excluded(dataset.timestamp_ns(0, 5 + PIECE)));
    }
}
