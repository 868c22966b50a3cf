//! The figures that an answer has to hold, worked out of the truth: of each device, of each of its time buckets, or of each bucket of
//! several devices together, also of those with each value of a tag.

use super::{
    figure::{Bounds, Figure},
    truth::{Row, Truth},
};
use iotbench_core::{Aggregate, BucketWidth, Devices, SignalId, TagId, TimeRange};
use std::{collections::BTreeMap, ops::ControlFlow};

/// A device, or what devices are put together by, and the beginning of a bucket; 0 without one.
type Group = (u32, i64);

/// The figures of one aggregate of a device, or of one of its buckets.
pub(super) struct ExpectedFigures {
    pub(super) device: u32,
    /// The beginning of the bucket; 0 without buckets.
    pub(super) timestamp_ns: i64,
    /// Whether there has to be a row of them.
    pub(super) certain: bool,
    /// One a signal.
    pub(super) values: Vec<Bounds>,
}

impl ExpectedFigures {
    /// The figures of a device and time, aggregate by aggregate.
    fn of((device, timestamp_ns): Group, figures: &mut [Figure], aggregates: &[Aggregate]) -> Vec<Self> {
        figures.iter_mut().for_each(Figure::complete);
        let certain = figures.iter().all(Figure::is_certain);
        let row = |&aggregate: &Aggregate| {
            let values: Option<Vec<_>> = figures.iter().map(|figure| figure.of(aggregate)).collect();
            values.map(|values| Self { device, timestamp_ns, certain, values })
        };
        aggregates.iter().filter_map(row).collect()
    }
}

/// The figures of each device, or of each of its buckets.
pub(super) fn of_each(
    truth: &mut Truth,
    devices: &[u32],
    (signals, aggregates): (&[SignalId], &[Aggregate]),
    range: TimeRange,
    width: Option<BucketWidth>,
) -> Vec<ExpectedFigures> {
    let (mut expected, mut group) = (Vec::new(), None);
    let mut figures = vec![Figure::new(aggregates); signals.len()];
    let _ = truth.walk(devices, range, &mut |row| {
        let of_row = (row.device, width.map_or(0, |width| width.start_of(row.timestamp_ns)));
        if let Some(ended) = group.replace(of_row).filter(|&group| group != of_row) {
            expected.extend(ExpectedFigures::of(ended, &mut figures, aggregates));
            figures.iter_mut().for_each(Figure::clear);
        }
        figures.iter_mut().zip(signals).for_each(|(figure, &signal)| figure.add(row.number(signal), row.certain));
        ControlFlow::Continue(())
    });
    if let Some(last) = group {
        expected.extend(ExpectedFigures::of(last, &mut figures, aggregates));
    }
    expected
}

/// The figures of all devices with the same value of a tag together, or of each of their buckets: by the place of the value and the
/// beginning of the bucket.
pub(super) fn by_tag(
    truth: &mut Truth,
    tag: TagId,
    figures: (&[SignalId], &[Aggregate]),
    range: TimeRange,
    width: Option<BucketWidth>,
) -> BTreeMap<Group, Vec<ExpectedFigures>> {
    let (devices, tags) = (truth.devices(&Devices::All), truth.tags());
    let group =
        |row: &Row<'_>| (tags.choice(tag, row.device), width.map_or(0, |width| width.start_of(row.timestamp_ns)));
    together(truth, &devices, figures, range, group)
}

/// The figures of each bucket of all devices together, by its beginning.
pub(super) fn of_all(
    truth: &mut Truth,
    devices: &[u32],
    figures: (&[SignalId], &[Aggregate]),
    range: TimeRange,
    width: BucketWidth,
) -> BTreeMap<Group, Vec<ExpectedFigures>> {
    together(truth, devices, figures, range, |row| (0, width.start_of(row.timestamp_ns)))
}

/// The figures of each group of rows, whatever devices they are of.
fn together(
    truth: &mut Truth,
    devices: &[u32],
    (signals, aggregates): (&[SignalId], &[Aggregate]),
    range: TimeRange,
    group: impl Fn(&Row<'_>) -> Group,
) -> BTreeMap<Group, Vec<ExpectedFigures>> {
    let mut groups = BTreeMap::new();
    let _ = truth.walk(devices, range, &mut |row| {
        let figures = groups.entry(group(&row)).or_insert_with(|| vec![Figure::new(aggregates); signals.len()]);
        figures.iter_mut().zip(signals).for_each(|(figure, &signal)| figure.add(row.number(signal), row.certain));
        ControlFlow::Continue(())
    });
    let of = |(group, mut figures): (Group, Vec<Figure>)| (group, ExpectedFigures::of(group, &mut figures, aggregates));
    groups.into_iter().map(of).collect()
}

/// The same as far back as the newest buckets may lie: in the end of the stretch that as many fill, where each of these certainly
/// holds a value, else in all of it.
pub(super) fn newest_of_all(
    truth: &mut Truth,
    devices: &[u32],
    figures: (&[SignalId], &[Aggregate]),
    (range, width): (TimeRange, BucketWidth),
    newest: u64,
) -> BTreeMap<Group, Vec<ExpectedFigures>> {
    let is_certain = |rows: &&Vec<ExpectedFigures>| rows.iter().all(|row| row.certain);
    if let Some(end) = width.last_of(range, newest) {
        let expected = of_all(truth, devices, figures, end, width);
        if expected.values().filter(is_certain).count() as u64 == newest {
            return expected;
        }
    }
    of_all(truth, devices, figures, range, width)
}
