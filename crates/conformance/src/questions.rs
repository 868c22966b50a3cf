//! The questions that the backend and the oracle are asked.

mod figures;

use crate::{
    data::{Dataset, ORIGIN_NS, Random},
    percentile::percentile_in,
};
pub(crate) use figures::of_percents;
use figures::{
    aggregates, beside_numbers, buckets, filled, having, of_each_value, of_some_values, over_some, percentiles,
    rollups, top_devices,
};
use iotbench_core::{
    Aggregate, BucketWidth, Consecutive, Devices, Direction, Predicate, Query, SignalId, TagId, Tagged, TimeRange,
};
use std::{
    num::NonZeroU64,
    ops::Bound::{self, Excluded, Included, Unbounded},
};

/// The questions about a dataset, by the name of the check that they belong to.
pub(crate) fn about(dataset: &Dataset) -> Vec<(&'static str, Vec<Query>)> {
    let times = dataset.times(0);
    vec![
        ("every value and nanosecond comes back", vec![Query::Scan]),
        ("count", vec![Query::Count]),
        ("ranges of time: open, closed, unbounded, empty", ranges(&times)),
        ("one and many devices and signals", selections(dataset, &times)),
        ("consecutive records", records(&times)),
        ("first and last with a predicate", nearest(dataset, &times)),
        ("the minimum, the earliest of equals", minima(dataset, &times)),
        ("the newest records", newest(dataset)),
        ("the newest of each device", last_points(dataset)),
        ("the newest of one series", newest_visible(dataset)),
        ("the maximum of the first records", maxima(dataset, &times)),
        ("last, least, mean and greatest", aggregates(dataset, &times)),
        (BUCKETS, buckets(dataset, &times)),
        (PERCENTILES, percentiles(dataset, &times)),
        (FILTER, filters(dataset, &times)),
        (HAVING, having(dataset, &times)),
        (FILLED, filled(dataset, &times)),
        (OVER_SOME, over_some(dataset, &times)),
        (ROLLUP, rollups(dataset, &times)),
        ("the newest of a stretch first", descending(dataset, &times)),
        (FILTER_DESCENDING, descending_filters(dataset, &times)),
        (TOP, top_devices(dataset, &times)),
        (CONSECUTIVE, consecutive(dataset, &times)),
    ]
}

/// Of checks that ask in every combination, a part drawn by chance: another one of each dataset, from a fixed seed. One dataset is asked all.
pub(crate) fn drawn(mut questions: Vec<(&'static str, Vec<Query>)>, seed: u64) -> Vec<(&'static str, Vec<Query>)> {
    /// Checks of more questions are drawn from, one of so many.
    const MANY: usize = 100;
    const ONE_OF: u64 = 3;
    let mut random = Random(seed);
    for (_, queries) in questions.iter_mut().filter(|(_, queries)| queries.len() > MANY) {
        queries.retain(|_| random.next().is_multiple_of(ONE_OF));
    }
    questions
}

/// The questions about devices that are replaced. A limit that lies between two of their few values says nothing of a percentile, which may
/// be either.
pub(crate) fn about_replaced(dataset: &Dataset) -> Vec<(&'static str, Vec<Query>)> {
    let mut questions = about(dataset);
    let is_of_percentile = |query: &Query| matches!(query, Query::Having { .. }) && percentile_in(query, 0).is_some();
    questions.iter_mut().for_each(|(_, queries)| queries.retain(|query| !is_of_percentile(query)));
    questions
}

/// The questions that hold for values of any size: figures over extremes may overflow.
pub(crate) fn about_extremes(dataset: &Dataset) -> Vec<(&'static str, Vec<Query>)> {
    let mut questions = about(dataset);
    let arithmetic = [
        "first and last with a predicate",
        "the minimum, the earliest of equals",
        "the maximum of the first records",
        "last, least, mean and greatest",
        BUCKETS,
        PERCENTILES,
        FILTER,
        FILTER_DESCENDING,
        HAVING,
        FILLED,
        OVER_SOME,
        ROLLUP,
        TOP,
        CONSECUTIVE,
    ];
    questions.retain(|(check, _)| !arithmetic.contains(check));
    questions
}

/// The questions about devices that have a value of a tag: of each value, or of the first of each tag.
pub(crate) fn about_tags(dataset: &Dataset) -> Vec<(&'static str, Vec<Query>)> {
    let tags = dataset.schema.tags();
    let ids = (0..).take(tags.len());
    let tagged = |tag: TagId, choice| {
        let devices = (0..dataset.devices).filter(|&device| tags.choice(tag, device) == choice).collect();
        Devices::Tagged(Tagged { tag, choice, devices })
    };
    let of_each: Vec<_> = ids.flat_map(|tag| (0..tags.choices(tag)).map(move |choice| (tag, choice))).collect();
    let each = |ask: &dyn Fn(Devices) -> Query| of_each.iter().map(|&(tag, choice)| ask(tagged(tag, choice))).collect();
    // What devices are found by is the same condition whatever is asked.
    let first = |ask: &dyn Fn(Devices) -> Query| (0..).take(tags.len()).map(|tag| ask(tagged(tag, 0))).collect();
    let (range, signals) =
        (TimeRange { from: Included(ORIGIN_NS), to: Excluded(ORIGIN_NS + 9_000_000_000) }, vec![0, 1]);
    let (aggregates, totals) = (FIGURES.to_vec(), vec![Aggregate::Max, Aggregate::Count]);
    vec![
        ("every value of devices with tags comes back", vec![Query::Scan, Query::Count]),
        ("ranges of a tag", each(&|devices| Query::Range { devices, signals: signals.clone(), range })),
        ("the newest of a tag", first(&|devices| Query::Newest { devices, limit: 5 })),
        ("the newest of each device of a tag", each(&|devices| Query::LastPoints { devices })),
        (
            "figures of a tag",
            first(&|devices| Query::Aggregates { devices, signals: vec![1], aggregates: aggregates.clone(), range }),
        ),
        (
            "percentiles of a tag",
            first(&|devices| Query::Aggregates {
                devices,
                signals: signals.clone(),
                aggregates: of_percents(&["p50"]),
                range,
            }),
        ),
        (
            "figures of time buckets of a tag",
            first(&|devices| {
                let (signals, aggregates) = (signals.clone(), totals.clone());
                Query::Buckets { devices, signals, aggregates, range, width: SECOND }
            }),
        ),
        ("figures of the devices of each value of a tag", of_each_value(dataset)),
        (
            "figures of time buckets of a tag's devices together",
            first(&|devices| {
                let (signals, aggregates) = (signals.clone(), totals.clone());
                Query::TotalBuckets { devices, signals, aggregates, range, width: SECOND, newest: None }
            }),
        ),
        ("figures of the devices of each value of a tag that meet a condition", of_some_values()),
        ("what figures of devices come to by a tag", rollups(dataset, &dataset.times(0))),
        ("figures and newest points beside the numbers of a tag", beside_numbers(dataset)),
        (
            "what lies between consecutive values of a tag",
            first(&|devices| {
                let what = Consecutive::Gaps { longer_than_ns: 50_000_000 };
                Query::Consecutive { devices, signal: 1, range, what }
            }),
        ),
        (
            "values of a tag that meet a condition",
            first(&|devices| {
                let (signal, predicate) = (1, Predicate::Above(3.0));
                Query::Filter { devices, signal, predicate, range, all_signals: true }
            }),
        ),
    ]
}

/// The questions that must find nothing.
pub(crate) fn of_nothing() -> Vec<Query> {
    let range = TimeRange::ALL;
    vec![
        Query::Scan,
        Query::Range { devices: Devices::All, signals: vec![0], range },
        Query::Range { devices: Devices::Some(vec![]), signals: vec![0], range },
        Query::Range { devices: Devices::Some(vec![0, 7]), signals: vec![0], range },
        filter(Devices::All, 0, Predicate::Below(1e9), range, false),
        filter(Devices::All, 0, Predicate::Below(1e9), range, true),
        Query::Records { device: 0, from_ns: 0, limit: 10 },
        Query::Nearest { device: 0, signal: 0, predicate: Predicate::Above(0.0), direction: Direction::FirstAfter(0) },
        Query::Nearest { device: 0, signal: 0, predicate: Predicate::Below(9.0), direction: Direction::LastBefore(9) },
        Query::Minimum { device: 0, signal: 0, range },
        Query::Newest { devices: Devices::All, limit: 3 },
        Query::LastPoints { devices: Devices::All },
        Query::NewestVisible { device: 0, signal: 0 },
        Query::MaxOfFirst { device: 0, signal: 0, from_ns: 0, limit: 3 },
        Query::Aggregates { devices: Devices::All, signals: vec![0], aggregates: FIGURES.to_vec(), range },
        Query::Buckets { devices: Devices::All, signals: vec![0], aggregates: FIGURES.to_vec(), range, width: SECOND },
        Query::TopDevices { devices: Devices::All, signal: 0, aggregate: Aggregate::Mean, range, limit: 3 },
        gaps(Devices::All, 0, range, 0),
        differences(Devices::All, 0, range, 0),
        time_weighted_mean(Devices::All, 0, range),
        Query::TotalBuckets {
            devices: Devices::All,
            signals: vec![0],
            aggregates: vec![Aggregate::Mean],
            range,
            width: SECOND,
            newest: None,
        },
    ]
}

/// The figures that dashboards ask for together.
const FIGURES: [Aggregate; 4] = [Aggregate::Last, Aggregate::Min, Aggregate::Mean, Aggregate::Max];
const BUCKETS: &str = "figures of time buckets";
const PERCENTILES: &str = "percentiles";
const TOP: &str = "devices with the greatest figure";
const CONSECUTIVE: &str = "what lies between consecutive values";
const FILTER: &str = "values that meet a condition";
const FILTER_DESCENDING: &str = "values that meet a condition, the newest first";
const FILLED: &str = "time buckets without a gap";
const OVER_SOME: &str = "figures over the points that meet a condition";
const ROLLUP: &str = "what figures of devices come to together";
const HAVING: &str = "figures and newest points that meet a condition";
const SECOND: BucketWidth = BucketWidth::SECOND;

fn range_of(from: Bound<i64>, to: Bound<i64>) -> Query {
    Query::Range { devices: Devices::Some(vec![0]), signals: vec![0], range: TimeRange { from, to } }
}

fn ranges(times: &[i64]) -> Vec<Query> {
    let (first, last) = (times[0], times[times.len() - 1]);
    let (early, late) = (times[times.len() / 4], times[times.len() / 2]);
    let froms = [Included(early), Excluded(early), Unbounded, Included(first), Excluded(first - 1)];
    let tos = [Included(late), Excluded(late), Unbounded, Included(last), Excluded(last), Included(early)];
    let mut queries: Vec<Query> =
        froms.into_iter().flat_map(|from| tos.into_iter().map(move |to| range_of(from, to))).collect();
    // Nothing lies in these.
    queries.extend([
        range_of(Included(late), Included(early)),
        range_of(Excluded(early), Excluded(early)),
        range_of(Included(last + 1_000_000_000), Unbounded),
        range_of(Unbounded, Excluded(first)),
        range_of(Excluded(i64::MAX), Unbounded),
        range_of(Unbounded, Excluded(i64::MIN)),
    ]);
    queries
}

/// Of one device, of several, of none.
fn descending(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let (part, last) = (TimeRange::half_open(times[1], times[times.len() - 2]), dataset.devices - 1);
    let signals = some_signals(dataset);
    let mut queries = Vec::new();
    for devices in [Devices::All, Devices::Some(vec![last]), Devices::Some(vec![0]), Devices::Some(vec![4711])] {
        let of =
            |signals: &[SignalId], range| Query::Range { devices: devices.clone(), signals: signals.to_vec(), range };
        queries.extend([of(&[0], part), of(&signals, TimeRange::ALL), of(&[0], TimeRange::half_open(0, 1))]);
    }
    queries.into_iter().map(|of| Query::Descending { of: Box::new(of) }).collect()
}

/// The same of whole records and values that meet a condition.
fn descending_filters(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let (part, last) = (TimeRange::half_open(times[1], times[times.len() - 2]), dataset.devices - 1);
    let (signal, above) = (some_signals(dataset)[0], Predicate::Above(10.377));
    let devices = [Devices::All, Devices::Some(vec![last]), Devices::Some(vec![0]), Devices::Some(vec![4711])];
    let each = |devices: Devices| [false, true].map(|all| filter(devices.clone(), signal, above, part, all));
    devices.into_iter().flat_map(each).map(|of| Query::Descending { of: Box::new(of) }).collect()
}

fn selections(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let width = SignalId::try_from(dataset.schema.width()).unwrap_or(SignalId::MAX);
    let all: Vec<SignalId> = (0..width).collect();
    let range = TimeRange::half_open(times[times.len() / 8], times[times.len() / 2]);
    let devices = [
        Devices::All,
        Devices::Some(vec![dataset.devices - 1]),
        Devices::Some((0..dataset.devices).collect()),
        Devices::Some(vec![0, dataset.devices - 1 + u32::from(dataset.devices == 1)]),
        Devices::Some(vec![dataset.devices, dataset.devices + 9]),
        Devices::Some(vec![]),
    ];
    let signals = [all.clone(), vec![width - 1], vec![0], all.into_iter().step_by(2).collect()];
    let mut queries = Vec::new();
    for devices in devices {
        for signals in &signals {
            queries.push(Query::Range { devices: devices.clone(), signals: signals.clone(), range });
        }
    }
    queries
}

fn records(times: &[i64]) -> Vec<Query> {
    let middle = times[times.len() / 2];
    let limits = [0, 1, 3, 17, u64::MAX];
    let starts = [i64::MIN, times[0], middle, middle + 1, times[times.len() - 1], i64::MAX];
    starts
        .into_iter()
        .flat_map(|from_ns| limits.map(|limit| Query::Records { device: 0, from_ns, limit }))
        .chain([Query::Records { device: 4711, from_ns: 0, limit: 5 }])
        .collect()
}

/// Signals of some places: the first, the second where there is one, and the last.
pub(crate) fn some_signals(dataset: &Dataset) -> Vec<SignalId> {
    let last = SignalId::try_from(dataset.schema.width() - 1).unwrap_or(SignalId::MAX);
    let mut signals = vec![0, 1.min(last), last];
    signals.dedup();
    signals
}

fn nearest(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let mut queries = Vec::new();
    let device = dataset.devices - 1;
    for signal in some_signals(dataset) {
        // Some values equal the limit 31; none is above 10^6.
        for limit in [0.0, 31.0] {
            let last = times[times.len() - 1];
            let all = [times[0], times[times.len() / 3], times[times.len() / 2] + 1, last];
            queries.extend(all.into_iter().flat_map(|time| nearest_to(device, signal, limit, time)));
        }
        let middle = times[times.len() / 2];
        let limits = [-1e6, -500.25, 62.5, 900.125, 1e6];
        queries.extend(limits.into_iter().flat_map(|limit| nearest_to(device, signal, limit, middle)));
        for direction in [Direction::FirstAfter(i64::MAX), Direction::LastBefore(i64::MIN)] {
            queries.push(Query::Nearest { device, signal, predicate: Predicate::Below(1e6), direction });
        }
    }
    queries
}

/// Both conditions in both directions.
fn nearest_to(device: u32, signal: SignalId, limit: f64, time: i64) -> impl Iterator<Item = Query> {
    let predicates = [Predicate::Above(limit), Predicate::Below(limit)];
    predicates.into_iter().flat_map(move |predicate| {
        let directions = [Direction::FirstAfter(time), Direction::LastBefore(time)];
        directions.map(|direction| Query::Nearest { device, signal, predicate, direction })
    })
}

fn minima(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let (early, late) = (times[times.len() / 4], times[times.len() / 2]);
    let ranges =
        [TimeRange::ALL, TimeRange::half_open(early, late), TimeRange { from: Excluded(early), to: Included(late) }];
    let mut queries = Vec::new();
    for signal in some_signals(dataset) {
        for device in [0, dataset.devices - 1] {
            queries.extend(ranges.map(|range| Query::Minimum { device, signal, range }));
            queries.push(Query::Minimum { device, signal, range: TimeRange::half_open(late, early) });
        }
    }
    queries
}

fn newest(dataset: &Dataset) -> Vec<Query> {
    let devices = [
        Devices::All,
        Devices::Some(vec![0]),
        Devices::Some((0..dataset.devices).collect()),
        Devices::Some(vec![4711]),
    ];
    let limits = [0, 1, 2, 100, 1100];
    devices
        .into_iter()
        .flat_map(|devices| limits.map(|limit| Query::Newest { devices: devices.clone(), limit }))
        .collect()
}

fn last_points(dataset: &Dataset) -> Vec<Query> {
    let devices = [
        Devices::All,
        Devices::Some(vec![dataset.devices - 1]),
        Devices::Some((0..dataset.devices).collect()),
        Devices::Some(vec![0, 4711]),
        Devices::Some(vec![]),
    ];
    devices.map(|devices| Query::LastPoints { devices }).to_vec()
}

fn newest_visible(dataset: &Dataset) -> Vec<Query> {
    let devices = [0, dataset.devices - 1, 4711];
    let signals = some_signals(dataset);
    devices
        .into_iter()
        .flat_map(|device| signals.iter().map(move |&signal| Query::NewestVisible { device, signal }))
        .collect()
}

fn maxima(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let mut queries = Vec::new();
    for signal in some_signals(dataset) {
        for from_ns in [i64::MIN, times[times.len() / 3], times[times.len() - 1] + 1] {
            queries.extend([1, 10, u64::MAX].map(|limit| Query::MaxOfFirst { device: 0, signal, from_ns, limit }));
        }
    }
    queries
}

fn gaps(devices: Devices, signal: SignalId, range: TimeRange, longer_than_ns: u64) -> Query {
    Query::Consecutive { devices, signal, range, what: Consecutive::Gaps { longer_than_ns } }
}

/// `per_ns`: 0 for the plain difference.
fn differences(devices: Devices, signal: SignalId, range: TimeRange, per_ns: u64) -> Query {
    Query::Consecutive { devices, signal, range, what: Consecutive::Differences { per_ns: NonZeroU64::new(per_ns) } }
}

fn time_weighted_mean(devices: Devices, signal: SignalId, range: TimeRange) -> Query {
    Query::Consecutive { devices, signal, range, what: Consecutive::TimeWeightedMean }
}

/// Of the last signal, which has every type; each tenth gap is one unit of time, the others are of 111 ms.
fn consecutive(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let signal = SignalId::try_from(dataset.schema.width() - 1).unwrap_or(SignalId::MAX);
    let part = TimeRange::half_open(times[3], times[times.len() / 2]);
    let last = || Devices::Some(vec![dataset.devices - 1]);
    vec![
        gaps(Devices::All, signal, part, 50_000_000),
        gaps(last(), signal, TimeRange::ALL, 0),
        gaps(last(), 0, part, 3_600_000_000_000),
        gaps(Devices::Some(vec![0, 4711]), 0, part, 50_000_000),
        differences(Devices::All, signal, part, 0),
        differences(last(), 0, TimeRange::ALL, 1_000_000),
        differences(Devices::Some(vec![0, 4711]), signal, part, 60_000_000_000),
        time_weighted_mean(Devices::All, signal, part),
        time_weighted_mean(
            Devices::Some(vec![0, 4711]),
            0,
            TimeRange { from: Included(times[3]), to: Included(times[3]) },
        ),
    ]
}

fn filter(devices: Devices, signal: SignalId, predicate: Predicate, range: TimeRange, all_signals: bool) -> Query {
    Query::Filter { devices, signal, predicate, range, all_signals }
}

fn filters(dataset: &Dataset, times: &[i64]) -> Vec<Query> {
    let ranges = [TimeRange::ALL, TimeRange::half_open(times[3], times[times.len() / 2])];
    let devices = [Devices::All, Devices::Some(vec![dataset.devices - 1]), Devices::Some(vec![4711])];
    let mut queries = Vec::new();
    for signal in some_signals(dataset) {
        // Some values equal the limit 31; none is above 10^6.
        for limit in [-500.25, 31.0, 900.125, 1e6] {
            for predicate in [Predicate::Above(limit), Predicate::Below(limit)] {
                for range in ranges {
                    for devices in &devices {
                        let of = |all_signals| filter(devices.clone(), signal, predicate, range, all_signals);
                        queries.extend([of(false), of(true)]);
                    }
                }
            }
        }
    }
    queries
}
