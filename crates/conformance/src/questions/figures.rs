//! The questions about figures: of devices, of their time buckets, of devices together, and which of them meet a condition.

use super::{FIGURES, SECOND, some_signals};
use crate::data::{Dataset, ORIGIN_NS};
use iotbench_core::{
    Aggregate, BucketWidth, Devices, Fill, Items, Percentile, Predicate, Query, Rollup, SignalId, TagId, TimeRange,
};
use std::ops::Bound::{Excluded, Included, Unbounded};

/// Figures of the devices with each value of a tag together, over all time and bucket by bucket; and of no time, and of no figure.
pub(super) fn of_each_value(dataset: &Dataset) -> Vec<Query> {
    let all = vec![Aggregate::Min, Aggregate::Mean, Aggregate::Max, Aggregate::Sum, Aggregate::Count];
    let range = TimeRange { from: Included(ORIGIN_NS), to: Excluded(ORIGIN_NS + 9_000_000_000) };
    let mut queries = Vec::new();
    for tag in (0..).take(dataset.schema.tags().len()) {
        let of = |signals: &[SignalId], aggregates: &[Aggregate], range, width| {
            let (signals, aggregates) = (signals.to_vec(), aggregates.to_vec());
            Query::TagFigures { tag, signals, aggregates, range, width }
        };
        queries.extend([
            of(&[0, 1], &all, TimeRange::ALL, None),
            of(&[1], &all[1..2], range, None),
            of(&[0, 1], &all, range, Some(SECOND)),
            of(&[0], &all[4..], TimeRange::ALL, Some(SECOND)),
            of(&[0], &all, TimeRange::half_open(0, 1), None),
            of(&[0], &[], TimeRange::ALL, None),
        ]);
    }
    queries
}

/// Of the figures of each value of the first tag those that meet a condition, and how many of their buckets do.
pub(super) fn of_some_values() -> Vec<Query> {
    let range = TimeRange { from: Included(ORIGIN_NS), to: Excluded(ORIGIN_NS + 9_000_000_000) };
    let figures =
        |width| Query::TagFigures { tag: 0, signals: vec![1], aggregates: vec![Aggregate::Mean], range, width };
    let above = |of, at_least| holding(of, 1, Predicate::Above(-0.377), at_least);
    let mut queries =
        vec![above(figures(None), None), above(figures(Some(SECOND)), None), above(figures(Some(SECOND)), Some(3))];
    let only =
        |of, indicator| Query::Where { of: Box::new(of), signal: 1, predicate: Predicate::Above(-0.377), indicator };
    queries.extend([only(figures(None), false), only(figures(Some(SECOND)), false), only(figures(None), true)]);
    queries.push(above(only(figures(Some(SECOND)), true), Some(2)));
    queries
}

/// What figures of devices come to by the values of the first tag, or by device.
pub(super) fn rollups(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let (range, devices, signals) = (TimeRange::half_open(times[1], times[times.len() - 2]), Devices::All, vec![0]);
    let aggregates = |aggregates: &[Aggregate]| Query::Aggregates {
        devices: devices.clone(),
        signals: signals.clone(),
        aggregates: aggregates.to_vec(),
        range,
    };
    let buckets = |devices: &Devices, width| Query::Buckets {
        devices: devices.clone(),
        signals: signals.clone(),
        aggregates: vec![Aggregate::Mean],
        range,
        width,
    };
    let (above, second) = (Predicate::Above(10.377), Some(SECOND));
    let fifth = BucketWidth::from_ns(200_000_000).unwrap_or(SECOND);
    let by: Vec<Vec<TagId>> = if dataset.schema.tags().is_empty() { vec![vec![]] } else { vec![vec![], vec![0]] };
    let mut queries = Vec::new();
    for by in by {
        let rollup = |of, items, every, figure| {
            let rollup = Rollup { items, by: by.clone(), every, figure };
            Query::Rollup { of: Box::new(of), rollup }
        };
        let (figures, runs) = (Items::Figures { per: None }, Items::Runs { predicate: above });
        let counts = |each| Items::Counts { predicate: above, each };
        let last = Devices::Some(vec![dataset.devices - 1]);
        queries.extend([
            rollup(aggregates(&[Aggregate::Mean]), figures, None, Aggregate::Mean),
            rollup(aggregates(&[Aggregate::Last]), figures, None, Aggregate::Max),
            rollup(buckets(&devices, fifth), counts(None), None, Aggregate::Sum),
            rollup(buckets(&devices, fifth), counts(second), None, Aggregate::Mean),
            rollup(buckets(&last, fifth), counts(second), second, Aggregate::Sum),
            rollup(buckets(&devices, fifth), runs, None, Aggregate::Count),
            rollup(buckets(&devices, fifth), runs, second, Aggregate::Mean),
            rollup(buckets(&devices, fifth), runs, None, Aggregate::Min),
        ]);
    }
    queries
}

/// Of the tag whose values read as numbers.
pub(super) fn beside_numbers(dataset: &Dataset) -> Vec<Query> {
    let tags = dataset.schema.tags();
    let ids = (0..).take(tags.len()).filter(|&tag| tags.number(tag, 0).is_some());
    let figures = |aggregates: &[Aggregate]| {
        let (devices, signals, aggregates) = (Devices::All, vec![1], aggregates.to_vec());
        Query::Aggregates { devices, signals, aggregates, range: TimeRange::ALL }
    };
    let mut queries = Vec::new();
    for tag in ids {
        let rollup = |of: Query, items, by: &[TagId], figure| {
            let rollup = Rollup { items, by: by.to_vec(), every: None, figure };
            Query::Rollup { of: Box::new(of), rollup }
        };
        let values = || figures(&[Aggregate::Sum, Aggregate::Count]);
        let predicate = Predicate::Above(0.377);
        let some = Query::Where { of: Box::new(values()), signal: 0, predicate, indicator: false };
        let (per, beside) = (Items::Figures { per: Some(tag) }, Items::Values { beside: tag });
        queries.extend([
            rollup(figures(&[Aggregate::Mean]), per, &[0, 1], Aggregate::Mean),
            rollup(figures(&[Aggregate::Max]), per, &[], Aggregate::Sum),
            rollup(values(), beside, &[0], Aggregate::Mean),
            rollup(values(), beside, &[], Aggregate::Mean),
            rollup(some, beside, &[1], Aggregate::Mean),
        ]);
        let of = || Box::new(Query::LastPoints { devices: Devices::All });
        queries.extend([Predicate::Above(0.0377), Predicate::Below(0.0377)].map(|predicate| Query::Having {
            of: of(),
            signal: 1,
            predicate,
            at_least: None,
            per: Some(tag),
        }));
    }
    queries
}

/// Figures over the points alone with a value that meets a condition, or the part of them.
pub(super) fn over_some(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let (range, all) = (TimeRange::half_open(times[1], times[times.len() - 2]), Devices::All);
    let last = Devices::Some(vec![dataset.devices - 1]);
    let mut queries = Vec::new();
    let mut only = |of, signal, predicate, indicator| {
        queries.push(Query::Where { of: Box::new(of), signal, predicate, indicator });
    };
    for predicate in [Predicate::Above(10.377), Predicate::Below(10.377)] {
        let two = || vec![Aggregate::Mean, Aggregate::Count];
        let figures = |devices: &Devices, signals: &[SignalId], aggregates, range| Query::Aggregates {
            devices: devices.clone(),
            signals: signals.to_vec(),
            aggregates,
            range,
        };
        let buckets = |devices: &Devices, signals: &[SignalId], aggregates| Query::Buckets {
            devices: devices.clone(),
            signals: signals.to_vec(),
            aggregates,
            range,
            width: SECOND,
        };
        let together = |aggregates| Query::TotalBuckets {
            devices: all.clone(),
            signals: vec![0],
            aggregates,
            range,
            width: SECOND,
            newest: None,
        };
        for signal in [0, some_signals(dataset).last().copied().unwrap_or(0)] {
            only(figures(&all, &[signal], two(), TimeRange::ALL), signal, predicate, false);
            only(figures(&last, &[signal], vec![Aggregate::Last, Aggregate::Sum], range), signal, predicate, false);
            only(buckets(&all, &[signal], two()), signal, predicate, false);
            only(figures(&all, &[signal], vec![Aggregate::Mean], range), signal, predicate, true);
            only(buckets(&last, &[signal], vec![Aggregate::Mean, Aggregate::Sum]), signal, predicate, true);
            only(figures(&all, &some_signals(dataset), two(), range), signal, predicate, false);
            only(buckets(&last, &some_signals(dataset), vec![Aggregate::Max]), signal, predicate, false);
        }
        only(together(vec![Aggregate::Max, Aggregate::Mean]), 0, predicate, false);
        only(together(vec![Aggregate::Count]), some_signals(dataset).last().copied().unwrap_or(0), predicate, false);
        only(figures(&all, &[0], of_percents(&["p50"]), range), 0, predicate, false);
        only(figures(&all, &[0], two(), TimeRange::half_open(0, 1)), 0, predicate, false);
    }
    queries
}

fn holding(of: Query, signal: SignalId, predicate: Predicate, at_least: Option<u64>) -> Query {
    Query::Having { of: Box::new(of), signal, predicate, at_least, per: None }
}

/// Conditions on figures of devices and of their buckets, and on the newest points; no figure is as near to a limit as arithmetic rounds.
pub(super) fn having(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let (range, all) = (TimeRange::half_open(times[1], times[times.len() / 2]), Devices::All);
    let last = Devices::Some(vec![dataset.devices - 1]);
    let mut queries = Vec::new();
    for signal in [0, some_signals(dataset).last().copied().unwrap_or(0)] {
        let of_each = |aggregate| Query::Aggregates {
            devices: all.clone(),
            signals: vec![signal],
            aggregates: vec![aggregate],
            range,
        };
        let buckets = |devices: &Devices, aggregate| Query::Buckets {
            devices: devices.clone(),
            signals: vec![signal],
            aggregates: vec![aggregate],
            range,
            width: SECOND,
        };
        let together = Query::TotalBuckets {
            devices: all.clone(),
            signals: vec![signal],
            aggregates: vec![Aggregate::Max],
            range,
            width: SECOND,
            newest: None,
        };
        let (above, below) = (Predicate::Above(10.377), Predicate::Below(10.377));
        queries.extend([
            holding(of_each(Aggregate::Mean), signal, above, None),
            holding(of_each(Aggregate::Last), signal, below, None),
            holding(of_each(of_percents(&["p75"])[0]), signal, above, None),
            holding(buckets(&all, Aggregate::Mean), signal, above, None),
            holding(buckets(&all, Aggregate::Last), signal, above, None),
            holding(buckets(&last, Aggregate::Min), signal, below, Some(1)),
            holding(buckets(&all, Aggregate::Mean), signal, above, Some(9)),
            holding(buckets(&all, Aggregate::Mean), signal, above, Some(u64::MAX)),
            holding(together.clone(), signal, above, None),
            holding(together, signal, above, Some(2)),
            holding(Query::LastPoints { devices: all.clone() }, signal, above, None),
            holding(Query::LastPoints { devices: all.clone() }, signal, below, None),
        ]);
    }
    queries
}

/// Buckets as short as most of them hold no point, before the first one and after the last one too.
pub(super) fn filled(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let tenth = times[9.min(times.len() - 1)];
    let range = TimeRange::half_open(times[0] - 3_000_000_000, tenth + 2_000_000_000);
    let of = |devices, aggregates, ns, range| {
        let width = BucketWidth::from_ns(ns)?;
        Some(Query::Buckets { devices, signals: some_signals(dataset), aggregates, range, width })
    };
    let (all, two) = (|| Devices::All, || vec![Aggregate::Mean, Aggregate::Count]);
    let asked = [
        (of(all(), two(), 43_000_000, range), Fill::Linear),
        (of(all(), two(), 43_000_000, range), Fill::Previous),
        (of(all(), vec![Aggregate::Last], 1_000_000_000, range), Fill::Linear),
        (of(Devices::Some(vec![dataset.devices - 1]), two(), 7_000_000, range), Fill::Null),
        (of(all(), two(), 1_000_000_000, TimeRange::half_open(0, 9_000_000_000)), Fill::Previous),
        (of(all(), two(), 1_000_000_000, TimeRange::half_open(tenth, tenth)), Fill::Null),
    ];
    asked.into_iter().filter_map(|(of, fill)| Some(Query::Filled { of: Box::new(of?), fill })).collect()
}

pub(super) fn aggregates(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let signals = [some_signals(dataset), vec![0]];
    let ranges = [TimeRange::ALL, TimeRange::half_open(times[3], times[times.len() / 2]), TimeRange::half_open(0, 1)];
    let devices = [Devices::All, Devices::Some(vec![dataset.devices - 1]), Devices::Some(vec![4711])];
    let mut figures: Vec<Vec<Aggregate>> = Aggregate::ALL.iter().map(|&figure| vec![figure]).collect();
    figures.extend([FIGURES.to_vec(), vec![Aggregate::Max, Aggregate::Last], Aggregate::ALL.to_vec()]);
    let mut queries = Vec::new();
    for devices in devices {
        for range in ranges {
            for aggregates in &figures {
                for signals in &signals {
                    let (devices, signals, aggregates) = (devices.clone(), signals.clone(), aggregates.clone());
                    queries.push(Query::Aggregates { devices, signals, aggregates, range });
                }
            }
        }
    }
    queries
}

/// Buckets that hold several datapoints, one, and none; the figures that databases find by grouping, and those that need an
/// order of time within each.
pub(super) fn buckets(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let range = TimeRange::half_open(times[3], times[times.len() - 3]);
    let devices = [Devices::All, Devices::Some(vec![dataset.devices - 1]), Devices::Some(vec![4711])];
    let mut figures: Vec<Vec<Aggregate>> = Aggregate::ALL.iter().map(|&figure| vec![figure]).collect();
    figures.extend([FIGURES.to_vec(), vec![Aggregate::Mean, Aggregate::Max, Aggregate::Count], vec![]]);
    let widths =
        [SECOND].into_iter().chain([7_000_000, 3_600_000_000_000].into_iter().filter_map(BucketWidth::from_ns));
    let mut queries = Vec::new();
    for width in widths {
        for devices in &devices {
            for aggregates in &figures {
                let (devices, aggregates) = (devices.clone(), aggregates.clone());
                let total = |newest, range| Query::TotalBuckets {
                    devices: devices.clone(),
                    signals: some_signals(dataset),
                    aggregates: aggregates.clone(),
                    range,
                    width,
                    newest,
                };
                if aggregates.iter().all(|figure| !matches!(figure, Aggregate::First | Aggregate::Last)) {
                    let before = TimeRange { from: Unbounded, to: range.to };
                    queries.extend([total(None, range), total(Some(2), range), total(Some(3), before)]);
                }
                queries.push(Query::Buckets { devices, signals: some_signals(dataset), aggregates, range, width });
            }
        }
    }
    queries
}

/// Also of first and last values, by which no database groups.
pub(super) fn top_devices(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let (all, part) = (TimeRange::ALL, TimeRange::half_open(times[3], times[times.len() / 2]));
    let devices = || {
        let last = dataset.devices - 1;
        [Devices::All, Devices::Some(vec![last]), Devices::Some((0..=last).collect()), Devices::Some(vec![0, 4711])]
    };
    let mut limits = [1, 2, u64::MAX].into_iter().cycle();
    let mut queries = Vec::new();
    for signal in some_signals(dataset) {
        for aggregate in Aggregate::ALL {
            let of = |range, devices, limit| Query::TopDevices { devices, signal, aggregate, range, limit };
            for range in [all, part] {
                queries
                    .extend(devices().into_iter().zip(&mut limits).map(|(devices, limit)| of(range, devices, limit)));
            }
            let nothing = [(TimeRange::half_open(0, 1), Devices::All, 2), (all, Devices::Some(vec![]), 2)];
            queries.extend(nothing.into_iter().map(|(range, devices, limit)| of(range, devices, limit)));
            queries.push(of(all, Devices::All, 0));
        }
    }
    queries
}

/// Questions of every device and of one, also of time buckets, alone and beside figures that databases find by grouping or by an order of time.
pub(super) fn percentiles(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let (all, part) = (TimeRange::ALL, TimeRange::half_open(times[3], times[times.len() / 2]));
    let (every, last) = (|| Devices::All, Devices::Some(vec![dataset.devices - 1]));
    let (some, one) = (|| some_signals(dataset), || vec![0]);
    let figures = |devices, signals, aggregates, range| Query::Aggregates { devices, signals, aggregates, range };
    let mut queries = vec![
        figures(every(), some(), of_percents(&["p50", "p99.9", "p0.1"]), all),
        figures(last.clone(), one(), of_percents(&["p95"]), part),
        figures(every(), some(), [of_percents(&["p95"]), vec![Aggregate::Mean, Aggregate::Last]].concat(), part),
        figures(every(), one(), of_percents(&["p50"]), TimeRange::half_open(0, 1)),
    ];
    let beside = [of_percents(&["p50"]), vec![Aggregate::Max], of_percents(&["p99"])].concat();
    let with_first = [of_percents(&["p25"]), vec![Aggregate::First]].concat();
    let of_width = [
        (1_000_000_000, every(), beside),
        (7_000_000, last, of_percents(&["p95"])),
        (3_600_000_000_000, every(), with_first),
    ];
    queries.extend(of_width.into_iter().filter_map(|(ns, devices, aggregates)| {
        let width = BucketWidth::from_ns(ns)?;
        Some(Query::Buckets { devices, signals: some(), aggregates, range: part, width })
    }));
    queries
}

/// These percentiles.
pub(crate) fn of_percents(percentiles: &[&str]) -> Vec<Aggregate> {
    percentiles.iter().filter_map(|text| Percentile::parse(text)).map(Aggregate::Percentile).collect()
}
