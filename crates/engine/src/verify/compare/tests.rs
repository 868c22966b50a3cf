//! Answers of a database that holds any of the states that a read beside writes may see.

mod consecutive;
mod last_points;
mod percentile;
mod second_sends;

use super::*;
use crate::{
    read::History,
    verify::overlap::{Meanwhile, Overlap, Progress},
};
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Batch, BucketWidth, Chunk, Database, Domain, Items, Layout, Marker, Name, OpenRequest, Percentile, Predicate,
    Registry, ReplyColumn, Rollup, Run, Settings, TableSpec, Tag, TagValues, Tags, Target,
};
use iotbench_simulator::{Dataset, DatasetConfig};
use proptest::prelude::*;
use std::{collections::BTreeSet, num::NonZeroU64, path::Path, sync::Arc};

const EXACT: Exactness = Exactness::new(|_| Domain::Full, false);
const DEVICES: u32 = 3;
/// Datapoints that each of the first two devices has before the load.
const HISTORY: u64 = 12;

fn dataset() -> Arc<dyn Dataset> {
    let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu", "rate": 50.0 })).unwrap();
    config.open(1, 0, DEVICES, Path::new(".")).unwrap()
}

fn history() -> History {
    History { dataset: dataset(), devices: 2, positions: HISTORY }
}

/// Of which the values read as numbers.
fn tags() -> Tags {
    let values = TagValues::Numbered { prefix: "1".into(), count: 2 };
    Tags::new(5, vec![Tag { name: "rack".into(), values }]).unwrap()
}

fn of_tags() -> Truth {
    Truth::new(history()).with_tags(tags())
}

/// Datapoints, each by device and index.
type Rows = BTreeSet<(u32, u64)>;

/// A database with these datapoints.
fn database(dataset: &dyn Dataset, stored: &Rows) -> Arc<dyn Database> {
    let table = TableSpec {
        name: Name::new("t").unwrap(),
        layout: Layout::Wide,
        schema: dataset.schema().clone().with_tags(tags()).unwrap(),
        devices: DEVICES,
        marker: Marker { run_id: "test".into(), fingerprint: "test".into() },
    };
    let request = OpenRequest { target: Target::default(), settings: Settings::default(), table };
    let database = Registry::new(BACKENDS).find("memory").unwrap().open(request).unwrap();
    block_on(async {
        database.create().await.unwrap();
        let mut writer = database.writer().await.unwrap();
        let mut batch = Batch::new(dataset.schema());
        for &(device, first) in stored {
            batch.clear();
            dataset.fill(Run { device, first, count: 1 }, &mut batch);
            writer.write(&batch).await.unwrap();
        }
    });
    database
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// What it answers.
fn ask(database: &dyn Database, query: &Query, overlap: &Overlap) -> KeptAnswer {
    let mut answer = KeptAnswer::new(query.clone(), overlap.clone());
    block_on(async {
        let mut reader = database.reader().await.unwrap();
        let mut sink = |chunk: &Chunk| answer.take(chunk);
        reader.query(query, &mut sink).await.unwrap();
    });
    answer
}

fn holding(of: Query, predicate: Predicate, at_least: Option<u64>) -> Query {
    Query::Having { of: Box::new(of), signal: 0, predicate, at_least, per: None }
}

/// The mean of a signal of each device, or of each of its buckets.
fn one_figure(range: TimeRange, width: Option<BucketWidth>) -> Query {
    let (devices, signals, aggregates) = (Devices::All, vec![0], vec![Aggregate::Mean]);
    match width {
        Some(width) => Query::Buckets { devices, signals, aggregates, range, width },
        None => Query::Aggregates { devices, signals, aggregates, range },
    }
}

fn queries(from_ns: i64) -> Vec<Query> {
    let (devices, signals, aggregates) = (Devices::All, vec![0, 1], Aggregate::ALL.to_vec());
    let since = from(from_ns);
    let near = |predicate, direction| Query::Nearest { device: 1, signal: 0, predicate, direction };
    vec![
        Query::Scan,
        Query::Count,
        Query::Range { devices: Devices::Some(vec![1]), signals: vec![0, 2], range: since },
        filter(since, false),
        filter(since, true),
        Query::Records { device: 1, from_ns, limit: 7 },
        Query::Newest { devices: Devices::All, limit: 9 },
        Query::LastPoints { devices: Devices::All },
        Query::LastPoints { devices: Devices::Some(vec![1]) },
        holding(Query::LastPoints { devices: Devices::All }, Predicate::Above(0.0), None),
        holding(one_figure(since, None), Predicate::Above(0.0), None),
        holding(one_figure(since, BucketWidth::from_ns(40_000_000)), Predicate::Below(0.0), None),
        holding(one_figure(since, BucketWidth::from_ns(20_000_000)), Predicate::Above(0.0), Some(3)),
        descending(Query::Range { devices: Devices::All, signals: vec![0, 2], range: since }),
        descending(filter(since, true)),
        over_some(one_figure(since, None), 1, false),
        over_some(one_figure(since, BucketWidth::from_ns(40_000_000)), 0, true),
        over_some(total_buckets(since, None), 0, false),
        holding(over_some(one_figure(since, BucketWidth::from_ns(40_000_000)), 0, true), Predicate::Above(0.5), None),
        rollup(one_figure(since, None), Items::Figures { per: None }, None, Aggregate::Mean),
        rollup(one_figure(since, None), Items::Figures { per: Some(0) }, None, Aggregate::Sum),
        rollup(short(since), Items::Counts { predicate: Predicate::Above(0.0), each: None }, None, Aggregate::Max),
        rollup(short(since), Items::Counts { predicate: Predicate::Above(0.0), each: tenth() }, None, Aggregate::Mean),
        rollup(
            short(since),
            Items::Counts { predicate: Predicate::Above(0.0), each: tenth() },
            tenth(),
            Aggregate::Sum,
        ),
        rollup(short(since), Items::Runs { predicate: Predicate::Above(0.0) }, None, Aggregate::Count),
        rollup(short(since), Items::Runs { predicate: Predicate::Above(0.0) }, tenth(), Aggregate::Mean),
        rollup(short(since), Items::Runs { predicate: Predicate::Above(0.0) }, None, Aggregate::Sum),
        rollup(short(since), Items::Runs { predicate: Predicate::Above(0.0) }, None, Aggregate::Min),
        rollup(sum_and_count(since), Items::Values { beside: 0 }, None, Aggregate::Mean),
        rollup(over_some(sum_and_count(since), 1, false), Items::Values { beside: 0 }, None, Aggregate::Mean),
        Query::NewestVisible { device: 1, signal: 0 },
        Query::Minimum { device: 1, signal: 1, range: since },
        Query::MaxOfFirst { device: 1, signal: 0, from_ns, limit: 6 },
        buckets(since),
        total_buckets(since, None),
        total_buckets(since, Some(3)),
        total_buckets(TimeRange { from: Bound::Unbounded, to: Bound::Excluded(from_ns) }, Some(2)),
        gaps(10_000_000, since),
        gaps(20_000_000, TimeRange::ALL),
        gaps(50_000_000, since),
        differences(None, since),
        Query::Consecutive { devices: Devices::All, signal: 1, range: since, what: Consecutive::TimeWeightedMean },
        differences(NonZeroU64::new(1_000_000_000), TimeRange::ALL),
        top(Aggregate::Mean, since),
        top(Aggregate::Count, since),
        percentiles(since, None),
        percentiles(since, BucketWidth::from_ns(100_000_000)),
        Query::Aggregates { devices, signals, aggregates, range: since },
        near(Predicate::Above(0.0), Direction::FirstAfter(from_ns)),
        near(Predicate::Below(0.0), Direction::LastBefore(i64::MAX)),
    ]
}

fn descending(of: Query) -> Query {
    Query::Descending { of: Box::new(of) }
}

fn over_some(of: Query, signal: SignalId, indicator: bool) -> Query {
    Query::Where { of: Box::new(of), signal, predicate: Predicate::Above(0.0), indicator }
}

/// By the only tag.
fn rollup(of: Query, items: Items, every: Option<BucketWidth>, figure: Aggregate) -> Query {
    Query::Rollup { of: Box::new(of), rollup: Rollup { items, by: vec![0], every, figure } }
}

/// One datapoint lies in each bucket.
fn short(range: TimeRange) -> Query {
    one_figure(range, BucketWidth::from_ns(20_000_000))
}

fn tenth() -> Option<BucketWidth> {
    BucketWidth::from_ns(100_000_000)
}

fn sum_and_count(range: TimeRange) -> Query {
    let aggregates = vec![Aggregate::Sum, Aggregate::Count];
    Query::Aggregates { devices: Devices::All, signals: vec![0], aggregates, range }
}

fn top(aggregate: Aggregate, range: TimeRange) -> Query {
    Query::TopDevices { devices: Devices::All, signal: 1, aggregate, range, limit: 2 }
}

/// Datapoints come each 20 ms.
fn gaps(longer_than_ns: u64, range: TimeRange) -> Query {
    Query::Consecutive { devices: Devices::All, signal: 1, range, what: Consecutive::Gaps { longer_than_ns } }
}

fn differences(per_ns: Option<NonZeroU64>, range: TimeRange) -> Query {
    Query::Consecutive { devices: Devices::All, signal: 1, range, what: Consecutive::Differences { per_ns } }
}

fn filter(range: TimeRange, all_signals: bool) -> Query {
    Query::Filter { devices: Devices::All, signal: 1, predicate: Predicate::Above(0.0), range, all_signals }
}

/// Figures of every two datapoints.
fn buckets(range: TimeRange) -> Query {
    let (devices, signals, aggregates) = (Devices::All, vec![0, 1], Aggregate::ALL.to_vec());
    Query::Buckets { devices, signals, aggregates, range, width: BucketWidth::from_ns(40_000_000).unwrap() }
}

/// Percentiles of a signal beside its mean, over all datapoints of a device or bucket by bucket.
fn percentiles(range: TimeRange, width: Option<BucketWidth>) -> Query {
    let percentile = |text| Aggregate::Percentile(Percentile::parse(text).unwrap());
    let (devices, signals) = (Devices::All, vec![0]);
    let aggregates = vec![percentile("p50"), Aggregate::Mean, percentile("p99"), percentile("p0.1")];
    match width {
        Some(width) => Query::Buckets { devices, signals, aggregates, range, width },
        None => Query::Aggregates { devices, signals, aggregates, range },
    }
}

/// The same of both devices together, but of first and last values.
fn total_buckets(range: TimeRange, newest: Option<u64>) -> Query {
    let (devices, signals) = (Devices::All, vec![0, 1]);
    let aggregates = vec![Aggregate::Min, Aggregate::Mean, Aggregate::Max, Aggregate::Sum, Aggregate::Count];
    Query::TotalBuckets {
        devices,
        signals,
        aggregates,
        range,
        width: BucketWidth::from_ns(40_000_000).unwrap(),
        newest,
    }
}

/// How far the load is: for each device how many were acknowledged, and how many more were sent.
fn overlap_of(progress: &[(u64, u64)]) -> Overlap {
    let devices = (0..).zip(progress).map(|(device, &(acked, more))| {
        let start = history().span(device) * u64::from(device < 2);
        Progress { device, acked: start..start + acked, sent: start + acked + more }
    });
    Overlap::Known(Meanwhile::new(devices.collect()))
}

/// What has to be stored, and what may be besides.
fn states(overlap: &Overlap) -> (Rows, Vec<(u32, u64)>) {
    let mut truth = of_tags();
    truth.beside(overlap);
    let (mut certain, mut possible) = (Rows::new(), Vec::new());
    for device in 0..DEVICES {
        for stretch in truth.stretches(device, TimeRange::ALL) {
            let rows = stretch.indices.map(|index| (device, index));
            if stretch.certain { certain.extend(rows) } else { possible.extend(rows) }
        }
    }
    (certain, possible)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever of the possible datapoints a read saw, its answer is right.
    #[test]
    fn every_state_that_may_be_seen_is_right(
        progress in prop::collection::vec((0..6_u64, 0..6_u64), DEVICES as usize),
        seen in prop::collection::vec(any::<bool>(), 6 * DEVICES as usize),
        start in 0..HISTORY + 8,
    ) {
        let (overlap, dataset) = (overlap_of(&progress), dataset());
        let (mut stored, possible) = states(&overlap);
        stored.extend(possible.into_iter().zip(seen).filter(|(_, seen)| *seen).map(|(row, _)| row));
        let database = database(&*dataset, &stored);
        for query in queries(dataset.timestamp_ns(1, start)) {
            let answer = ask(&*database, &query, &overlap);
            prop_assert_eq!(compare(&mut of_tags(), &answer, EXACT), Finding::Right, "{:?}", query);
        }
    }

    /// A datapoint that was acknowledged and is not there, or is there and was never sent, is found by whoever asks for
    /// all.
    #[test]
    fn what_is_missing_and_what_is_alien_is_found(
        progress in prop::collection::vec((1..6_u64, 0..6_u64), DEVICES as usize),
        device in 0..DEVICES,
        which in 0..12_usize,
    ) {
        let (overlap, dataset) = (overlap_of(&progress), dataset());
        let (certain, possible) = states(&overlap);
        let of_device: Vec<_> = certain.iter().copied().filter(|row| row.0 == device).collect();
        let missing = of_device[which % of_device.len()];
        let end = certain.iter().chain(&possible).filter(|row| row.0 == device).map(|row| row.1 + 1).max().unwrap();
        let without = certain.iter().copied().filter(|row| *row != missing).collect();
        let with: Rows = certain.iter().copied().chain([(device, end + which as u64)]).collect();
        for (stored, what) in [(without, "missing"), (with, "alien")] {
            let database = database(&*dataset, &stored);
            let everything = Query::Newest { devices: Devices::All, limit: 1000 };
            for query in [Query::Scan, everything] {
                let answer = ask(&*database, &query, &overlap);
                let found = compare(&mut of_tags(), &answer, EXACT);
                prop_assert!(matches!(found, Finding::Wrong(_)), "{what} {query:?}: {found:?}");
            }
        }
    }
}

#[test]
fn a_count_is_held_against_what_there_has_to_be_and_may_be() {
    let (overlap, dataset) = (overlap_of(&[(2, 3), (2, 3), (2, 3)]), dataset());
    let (certain, possible) = states(&overlap);
    let all: Rows = certain.iter().copied().chain(possible).collect();
    let finding = |stored: &Rows| {
        let answer = ask(&*database(&*dataset, stored), &Query::Count, &overlap);
        compare(&mut of_tags(), &answer, EXACT)
    };
    assert_eq!((finding(&certain), finding(&all)), (Finding::Right, Finding::Right));
    let fewer = certain.into_iter().skip(1).collect();
    assert_eq!(finding(&fewer), Finding::Wrong("29 points were counted, of 30 to 39".into()));
}

#[test]
fn a_bucket_of_another_time_a_wrong_figure_and_a_missing_row_are_found() {
    let (certain, _) = states(&Overlap::None);
    let answer = ask(&*database(&*dataset(), &certain), &buckets(TimeRange::ALL), &Overlap::None);
    let finding = |change: &dyn Fn(&mut KeptAnswer)| {
        let mut answer = answer.clone();
        change(&mut answer);
        match compare(&mut of_tags(), &answer, EXACT) {
            Finding::Wrong(how) => how,
            other => format!("{other:?}"),
        }
    };
    assert_eq!(finding(&|_| {}), "Right");
    let time = finding(&|answer| answer.rows.as_mut().unwrap().timestamps_ns[8] += 1);
    assert!(time.starts_with("row 8 is of device 0 and time "), "{time}");
    let figure = finding(&|answer| {
        let rows = answer.rows.as_mut().unwrap();
        let mut columns = rows.columns.clone();
        columns.swap(0, 1);
        rows.columns = columns;
    });
    assert!(figure.starts_with("row 0, figure 0 is Some("), "{figure}");
    let rows = answer.len();
    let missing = finding(&|answer| shorten(answer.rows.as_mut().unwrap()));
    assert_eq!(missing, format!("row {} is missing", rows - 1));
    // Of rows that are not kept whole it is known how many they are.
    let kept_in_part = |digests| {
        finding(&|answer| {
            shorten(answer.rows.as_mut().unwrap());
            answer.digests = vec![0; digests];
        })
    };
    assert_eq!(kept_in_part(1), "Right");
    assert_eq!(kept_in_part(2), format!("{} rows were answered, and there are {rows}", rows + 1));
}

#[test]
fn a_device_in_the_wrong_place_is_found() {
    let (certain, _) = states(&Overlap::None);
    let query = top(Aggregate::Mean, TimeRange::ALL);
    let answer = ask(&*database(&*dataset(), &certain), &query, &Overlap::None);
    let finding = |change: &dyn Fn(&mut Chunk)| {
        let mut answer = answer.clone();
        change(answer.rows.as_mut().unwrap());
        compare(&mut of_tags(), &answer, EXACT)
    };
    assert_eq!(finding(&|_| {}), Finding::Right);
    assert!(matches!(finding(&|rows| rows.devices.swap(0, 1)), Finding::Wrong(_)), "each with the other's figure");
    assert!(matches!(finding(&|rows| rows.timestamps_ns[1] = 5), Finding::Wrong(_)), "with a time");
    assert_eq!(finding(&|rows| shorten(rows)), Finding::Wrong("device 1 is missing".into()));
}

/// Answers as a database would give them that takes other buckets for the newest, or gives too few or too many.
#[test]
fn buckets_that_are_not_the_newest_are_found() {
    let (overlap, dataset) = (overlap_of(&[(0, 3), (0, 0), (0, 0)]), dataset());
    let (certain, possible) = states(&overlap);
    let all: Rows = certain.iter().copied().chain(possible).collect();
    let end = |index| TimeRange { from: Bound::Unbounded, to: Bound::Excluded(dataset.timestamp_ns(0, index)) };
    let finding = |asked: &Query, stored: &Rows, answered: &Query| {
        let answer = ask(&*database(&*dataset, stored), answered, &overlap);
        let answer = KeptAnswer { query: asked.clone(), ..answer };
        compare(&mut of_tags(), &answer, EXACT)
    };
    // Of the moment in the history all is certain; three datapoints later may be there, or not.
    let query = |newest| total_buckets(end(HISTORY - 1), newest);
    for newest in [1, 2, 5, 99] {
        assert_eq!(finding(&query(Some(newest)), &certain, &query(Some(newest))), Finding::Right);
        for others in [total_buckets(end(HISTORY - 3), Some(newest)), query(None)] {
            assert!(matches!(finding(&query(Some(newest)), &certain, &others), Finding::Wrong(_)), "{others:?}");
        }
    }
    for other in [1, 3] {
        assert!(matches!(finding(&query(Some(2)), &certain, &query(Some(other))), Finding::Wrong(_)), "{other}");
    }
    let later = |newest| total_buckets(end(HISTORY + 3), Some(newest));
    for (stored, other) in [(&certain, 1), (&all, 1), (&certain, 3), (&all, 3)] {
        assert_eq!(finding(&later(2), stored, &later(2)), Finding::Right);
        assert!(matches!(finding(&later(2), stored, &later(other)), Finding::Wrong(_)), "{other}");
    }
}

/// Puts another value, or none, into the first column.
fn replace(rows: &mut Chunk, row: usize, value: Option<Value<'_>>) {
    let mut column = ReplyColumn::new(rows.columns[0].value_type());
    for place in 0..rows.len() {
        let kept = rows.columns[0].get(place);
        column.push(if place == row { value } else { kept }).unwrap();
    }
    rows.columns[0] = column;
}

/// Leaves the last row out.
fn shorten(rows: &mut Chunk) {
    let mut shorter = Chunk::new(rows.columns.iter().map(ReplyColumn::value_type));
    for row in 0..rows.len() - 1 {
        shorter.devices.push(rows.devices[row]);
        shorter.timestamps_ns.push(rows.timestamps_ns[row]);
        for (to, from) in shorter.columns.iter_mut().zip(&rows.columns) {
            to.push(from.get(row)).unwrap();
        }
    }
    *rows = shorter;
}

#[test]
fn what_is_written_of_too_many_devices_is_not_judged() {
    let (certain, _) = states(&Overlap::None);
    let answer = ask(&*database(&*dataset(), &certain), &Query::Scan, &Overlap::Unknown);
    assert_eq!(compare(&mut of_tags(), &answer, EXACT), Finding::NotJudged);
}
