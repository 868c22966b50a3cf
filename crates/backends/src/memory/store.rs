//! The vector of datapoints, and what each query means.

use super::rollup;
use iotbench_backend_kit::{answer::Answer, total::known};
use iotbench_core::{
    Aggregate, Batch, Chunk, ComputedBy, Consecutive, Counts, Devices, Direction, Error, Fill, Predicate, Query, Reply,
    ReplyColumn, Rollup, Schema, SignalId, Sink, TagId, Tags, TimeRange, Value, ValueType,
};
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    ops::{Bound, Range},
    slice::from_ref,
};

/// One stored datapoint.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    device: u32,
    index: u64,
    timestamp_ns: i64,
    values: Vec<Stored>,
}

#[derive(Clone, Debug)]
enum Stored {
    F32(f32),
    F64(f64),
    I64(i64),
    U16(u16),
    Text(String),
}

impl Stored {
    fn value(&self) -> Value<'_> {
        match self {
            Self::F32(v) => Value::F32(*v),
            Self::F64(v) => Value::F64(*v),
            Self::I64(v) => Value::I64(*v),
            Self::U16(v) => Value::U16(*v),
            Self::Text(v) => Value::Text(v),
        }
    }
}

impl From<Value<'_>> for Stored {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::F32(v) => Self::F32(v),
            Value::F64(v) => Self::F64(v),
            Value::I64(v) => Self::I64(v),
            Value::U16(v) => Self::U16(v),
            Value::Text(v) => Self::Text(v.into()),
        }
    }
}

impl Point {
    /// The datapoints of a batch.
    pub(crate) fn all_of(batch: &Batch) -> Vec<Self> {
        let of_run = |run: iotbench_core::RunRows| {
            run.run.indices().zip(run.rows).map(move |(index, row)| Self {
                device: run.run.device,
                index,
                timestamp_ns: batch.timestamps_ns()[row],
                values: batch.columns().iter().filter_map(|c| c.get(row)).map(Stored::from).collect(),
            })
        };
        batch.run_rows().flat_map(of_run).collect()
    }

    /// `None`: it was stored without it.
    fn value(&self, signal: SignalId) -> Option<Value<'_>> {
        self.values.get(usize::from(signal)).map(Stored::value)
    }

    fn number(&self, signal: SignalId) -> f64 {
        self.value(signal).and_then(|value| value.as_f64()).unwrap_or(f64::NAN)
    }
}

/// A device, the beginning of a bucket and a figure of each signal.
type FilledRow = (u32, i64, Vec<Option<f64>>);

/// The figures of a bucket: of each aggregate those of each signal.
type BucketRows = Vec<Vec<Option<f64>>>;

/// Datapoints in the order of their storing.
#[derive(Debug, Default)]
pub(crate) struct Store {
    points: Vec<Point>,
    /// Whether it was altered for signals that are added.
    has_added: bool,
}

impl Store {
    /// From now on it has them.
    pub(crate) fn add_signals(&mut self) {
        self.has_added = true;
    }

    pub(crate) fn has_added_signals(&self) -> bool {
        self.has_added
    }

    pub(crate) fn extend(&mut self, points: Vec<Point>) {
        self.points.extend(points);
    }

    /// A datapoint of each unit of these devices that something is stored of, by which it is.
    pub(crate) fn units(&self, tags: &Tags, devices: &Range<u32>) -> BTreeMap<(u32, u64), u64> {
        let stored = self.points.iter().filter(|point| devices.contains(&point.device));
        stored.map(|point| ((point.device, tags.unit(point.device, point.index)), point.index)).collect()
    }

    pub(crate) fn count(&self) -> Counts {
        let values: usize = self.points.iter().map(|p| p.values.len()).sum();
        Counts { points: self.points.len() as u64, values: values as u64 }
    }

    /// The points of these devices in this time, by device, then time, then the order of storing.
    fn select(&self, devices: &Devices, range: TimeRange) -> Vec<&Point> {
        let wanted = |p: &&Point| devices.contains(p.device) && range.contains(p.timestamp_ns);
        let mut points: Vec<&Point> = self.points.iter().filter(wanted).collect();
        points.sort_by_key(|p| (p.device, p.timestamp_ns));
        points
    }

    fn of_device(&self, device: u32, range: TimeRange) -> Vec<&Point> {
        self.select(&Devices::Some(vec![device]), range)
    }

    fn since(&self, device: u32, from_ns: i64, limit: u64) -> Vec<&Point> {
        let range = TimeRange { from: Bound::Included(from_ns), to: Bound::Unbounded };
        let mut points = self.of_device(device, range);
        points.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        points
    }

    fn last_of_each(&self, devices: &Devices) -> Vec<&Point> {
        let points = self.select(devices, TimeRange::ALL);
        points.chunk_by(|a, b| a.device == b.device).filter_map(<[_]>::last).copied().collect()
    }

    /// The newest points of which a value meets a condition, as so many times the number of a tag.
    fn last_holding(
        &self,
        tags: &Tags,
        devices: &Devices,
        (signal, predicate, per): (SignalId, Predicate, Option<TagId>),
    ) -> Vec<&Point> {
        let mut last = self.last_of_each(devices);
        last.retain(|p| {
            let per = per.map_or(1.0, |tag| tags.number(tag, p.device).unwrap_or(f64::NAN));
            predicate.holds(p.number(signal) / per)
        });
        last
    }

    /// The only figures of another query, each with what it is of.
    fn figures(&self, schema: &Schema, of: &Query) -> Result<Vec<rollup::Figure>, Error> {
        let mut all = Vec::new();
        let mut take = |chunk: &Chunk| {
            let row = |row: usize| {
                let figure = chunk.columns[0].get(row)?.as_f64()?;
                Some((chunk.devices[row], chunk.timestamps_ns[row], figure))
            };
            all.extend((0..chunk.len()).filter_map(row));
            Ok(())
        };
        self.answer(schema, of, &mut take)?;
        Ok(all)
    }

    /// The points alone with a value that meets a condition, or all, with 1 for a value that does and 0 for each other.
    fn only(&self, signal: SignalId, predicate: Predicate, indicator: bool) -> Self {
        let of = |point: &Point| {
            let number = point.value(signal).and_then(|value| value.as_f64());
            let holds = number.is_some_and(|number| predicate.holds(number));
            let mut point = point.clone();
            if indicator && number.is_some() {
                point.values[usize::from(signal)] = Stored::F64(f64::from(u8::from(holds)));
            }
            (holds || indicator).then_some(point)
        };
        Self { points: self.points.iter().filter_map(of).collect(), has_added: self.has_added }
    }

    /// The points of a range or of a filter, the newest of each device first, and the signals of their rows.
    fn descending(&self, of: &Query, all: &[SignalId]) -> (Vec<&Point>, Vec<SignalId>) {
        let (mut points, signals) = match of {
            Query::Range { devices, signals, range } => (self.select(devices, *range), signals.clone()),
            Query::Filter { devices, signal, predicate, range, all_signals } => {
                let mut points = self.select(devices, *range);
                points.retain(|p| predicate.holds(p.number(*signal)));
                (points, if *all_signals { all.to_vec() } else { vec![*signal] })
            }
            _ => (Vec::new(), all.to_vec()),
        };
        points.reverse();
        points.sort_by_key(|p| p.device);
        (points, signals)
    }

    fn rollup(&self, schema: &Schema, of: &Query, rollup: &Rollup) -> Result<Vec<(u32, i64, Vec<f64>)>, Error> {
        rollup.tags().try_for_each(|tag| known(schema.tags(), tag).map(drop))?;
        Ok(rollup::rows(rollup, schema.tags(), &self.figures(schema, of)?))
    }

    /// How many signals there are, and the rows of every bucket of each device that has one.
    fn filled(&self, schema: &Schema, of: &Query, fill: Fill) -> Result<(usize, Vec<FilledRow>), Error> {
        let Query::Buckets { signals, aggregates, range, width, .. } = of else { return Ok((0, Vec::new())) };
        let Some((first, last)) = width.ends(*range) else { return Ok((signals.len(), Vec::new())) };
        let mut devices: BTreeMap<u32, BTreeMap<i64, BucketRows>> = BTreeMap::new();
        let mut take = |chunk: &Chunk| {
            for row in 0..chunk.len() {
                let buckets = devices.entry(chunk.devices[row]).or_default();
                let figure = |column: &ReplyColumn| column.get(row).and_then(|value| value.as_f64());
                buckets.entry(chunk.timestamps_ns[row]).or_default().push(chunk.columns.iter().map(figure).collect());
            }
            Ok(())
        };
        self.answer(schema, of, &mut take)?;
        let mut rows = Vec::new();
        for (device, buckets) in devices {
            for start in (first..=last).step_by(usize::try_from(width.as_ns()).unwrap_or(usize::MAX)) {
                for aggregate in 0..aggregates.len() {
                    let of_bucket = |(&at, rows): (&i64, &BucketRows), signal: usize| (at, rows[aggregate][signal]);
                    let figure = |signal: usize| match buckets.get(&start) {
                        Some(rows) => rows[aggregate][signal],
                        None => {
                            let before = of_bucket(buckets.range(..start).next_back()?, signal);
                            fill.between(
                                before,
                                buckets.range(start..).next().map(|next| of_bucket(next, signal)),
                                start,
                            )
                        }
                    };
                    rows.push((device, start, (0..signals.len()).map(figure).collect()));
                }
            }
        }
        Ok((signals.len(), rows))
    }

    /// Answers a query by reading all points.
    pub(crate) fn answer(&self, schema: &Schema, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let all: Vec<SignalId> = (0..).take(schema.width()).collect();
        let mut rows = Rows { schema, sink };
        match query {
            Query::Range { devices, signals, range } => rows.points(&self.select(devices, *range), signals),
            Query::Scan => rows.points(&self.select(&Devices::All, TimeRange::ALL), &all),
            Query::Records { device, from_ns, limit } => rows.points(&self.since(*device, *from_ns, *limit), &all),
            Query::Nearest { device, signal, predicate, direction } => {
                let points = self.of_device(*device, TimeRange::ALL).into_iter();
                let mut points = points.filter(|p| predicate.holds(p.number(*signal)));
                let found = match *direction {
                    Direction::FirstAfter(time) => points.find(|p| p.timestamp_ns > time),
                    Direction::LastBefore(time) => points.rfind(|p| p.timestamp_ns < time),
                };
                rows.points(found.as_slice(), &[*signal])
            }
            Query::Filter { devices, signal, predicate, range, all_signals } => {
                let mut points = self.select(devices, *range);
                points.retain(|p| predicate.holds(p.number(*signal)));
                rows.points(&points, if *all_signals { &all } else { from_ref(signal) })
            }
            Query::Minimum { device, signal, range } => {
                let points = self.of_device(*device, *range).into_iter();
                let least = points.reduce(|least, p| if less(p, least, *signal) { p } else { least });
                rows.points(least.as_slice(), &[*signal])
            }
            Query::Newest { devices, limit } => {
                let mut points = self.select(devices, TimeRange::ALL);
                points.reverse();
                points.sort_by_key(|p| Reverse(p.timestamp_ns));
                points.truncate(usize::try_from(*limit).unwrap_or(usize::MAX));
                rows.points(&points, &all)
            }
            Query::LastPoints { devices } => rows.points(&self.last_of_each(devices), &all),
            Query::NewestVisible { device, signal } => {
                rows.points(self.of_device(*device, TimeRange::ALL).last().copied().as_slice(), &[*signal])
            }
            Query::MaxOfFirst { device, signal, from_ns, limit } => {
                let points = self.since(*device, *from_ns, *limit);
                let greatest = points.iter().map(|p| p.number(*signal)).reduce(f64::max);
                let row = greatest.map(|greatest| (*device, 0, vec![Value::F64(greatest)]));
                rows.figures(ValueType::F64, 1, row)
            }
            Query::Count => {
                let Counts { points, values } = self.count();
                #[expect(clippy::cast_possible_wrap, reason = "no memory holds as many")]
                let row = vec![Value::I64(points as i64), Value::I64(values as i64)];
                rows.figures(ValueType::I64, 2, [(0, 0, row)])
            }
            Query::Aggregates { devices, signals, aggregates, range } => {
                let points = self.select(devices, *range);
                let by_device = points.chunk_by(|a, b| a.device == b.device);
                let figures = by_device.flat_map(|points| figures(points, 0, signals, aggregates));
                rows.figures(ValueType::F64, signals.len(), figures)
            }
            Query::Buckets { devices, signals, aggregates, range, width } => {
                let start = |point: &Point| width.start_of(point.timestamp_ns);
                let points = self.select(devices, *range);
                let by_bucket = points.chunk_by(|a, b| (a.device, start(a)) == (b.device, start(b)));
                let figures = by_bucket.flat_map(|points| figures(points, start(points[0]), signals, aggregates));
                rows.figures(ValueType::F64, signals.len(), figures)
            }
            Query::TagFigures { tag, signals, aggregates, range, width } => {
                let tags = schema.tags();
                known(tags, *tag)?;
                let start = |point: &Point| width.map_or(0, |width| width.start_of(point.timestamp_ns));
                let group = |point: &Point| (tags.choice(*tag, point.device), start(point));
                let mut points = self.select(&Devices::All, *range);
                points.sort_by_key(|point| group(point));
                let by_group = points.chunk_by(|a, b| group(a) == group(b));
                let of_each = by_group.flat_map(|points| {
                    let (value, start) = group(points[0]);
                    figures(points, start, signals, aggregates).map(move |(_, time, figures)| (value, time, figures))
                });
                rows.figures(ValueType::F64, signals.len(), of_each)
            }
            Query::Filled { of, fill } => {
                let (signals, filled) = self.filled(schema, of, *fill)?;
                let mut answer = Answer::new(rows.sink, vec![ValueType::F64; signals]);
                filled.into_iter().try_for_each(|(device, start, row)| answer.figures_at(device, start, row))?;
                answer.finish(0, ComputedBy::Server)
            }
            Query::Where { of, signal, predicate, indicator } => {
                self.only(*signal, *predicate, *indicator).answer(schema, of, rows.sink)
            }
            Query::Descending { of } => {
                let (points, signals) = self.descending(of, &all);
                rows.points(&points, &signals)
            }
            Query::Rollup { of, rollup } => {
                let of_groups = self.rollup(schema, of, rollup)?.into_iter();
                let values =
                    of_groups.map(|(group, time, row)| (group, time, row.into_iter().map(Value::F64).collect()));
                rows.figures(ValueType::F64, rollup.columns(), values)
            }
            Query::Having { of, signal, predicate, at_least, per } => match &**of {
                Query::LastPoints { devices } => {
                    rows.points(&self.last_holding(schema.tags(), devices, (*signal, *predicate, *per)), &all)
                }
                of => {
                    let mut figures = self.figures(schema, of)?;
                    figures.retain(|row| predicate.holds(row.2));
                    rows.figures(ValueType::F64, 1, counted(figures, *at_least))
                }
            },
            Query::TopDevices { devices, signal, aggregate, range, limit } => {
                let points = self.select(devices, *range);
                let by_device = points.chunk_by(|a, b| a.device == b.device);
                let mut figures: Vec<(u32, f64)> =
                    by_device.map(|points| (points[0].device, figure(points, *signal, *aggregate) + 0.0)).collect();
                figures.sort_by(|a, b| b.1.total_cmp(&a.1));
                figures.truncate(usize::try_from(*limit).unwrap_or(usize::MAX));
                let rows_of = figures.into_iter().map(|(device, figure)| (device, 0, vec![Value::F64(figure)]));
                rows.figures(ValueType::F64, 1, rows_of)
            }
            Query::Consecutive { devices, signal, range, what } => {
                let mut points = self.select(devices, *range);
                points.retain(|p| matches!(what, Consecutive::Gaps { .. }) || !p.number(*signal).is_nan());
                rows.consecutive(&points, *signal, *what)
            }
            Query::TotalBuckets { devices, signals, aggregates, range, width, newest } => {
                let start = |point: &Point| width.start_of(point.timestamp_ns);
                let mut points = self.select(devices, *range);
                points.sort_by_key(|point| start(point));
                let mut by_bucket: Vec<&[&Point]> = points.chunk_by(|a, b| start(a) == start(b)).collect();
                if let Some(newest) = newest {
                    by_bucket.reverse();
                    by_bucket.truncate(usize::try_from(*newest).unwrap_or(usize::MAX));
                }
                let of_all =
                    by_bucket.iter().flat_map(|&points| figures(points, start(points[0]), signals, aggregates));
                let figures = of_all.map(|(_, time, figures)| (0, time, figures));
                rows.figures(ValueType::F64, signals.len(), figures)
            }
        }
    }
}

/// These rows, or how many of them each group has where it has at least so many.
fn counted(rows: Vec<(u32, i64, f64)>, at_least: Option<u64>) -> Vec<(u32, i64, Vec<Value<'static>>)> {
    let row = |(group, time, figure)| (group, time, vec![Value::F64(figure)]);
    let Some(at_least) = at_least else { return rows.into_iter().map(row).collect() };
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    rows.iter().for_each(|(group, ..)| *counts.entry(*group).or_default() += 1);
    let enough = counts.into_iter().filter(|&(_, count)| u64::from(count) >= at_least);
    enough.map(|(group, count)| row((group, 0, count.into()))).collect()
}

fn less(a: &Point, b: &Point, signal: SignalId) -> bool {
    match (a.value(signal), b.value(signal)) {
        (Some(Value::I64(a)), Some(Value::I64(b))) => a < b,
        _ => a.number(signal) < b.number(signal),
    }
}

/// What is asked about two consecutive points of a device; `None`: no row.
#[expect(clippy::cast_precision_loss, reason = "a rate is f64")]
fn between(
    earlier: &Point,
    later: &Point,
    signal: SignalId,
    what: Consecutive,
) -> Option<(u32, i64, Vec<Value<'static>>)> {
    let apart_ns = i128::from(later.timestamp_ns) - i128::from(earlier.timestamp_ns);
    match what {
        Consecutive::Gaps { longer_than_ns } => {
            let length = Value::I64(i64::try_from(apart_ns).unwrap_or(i64::MAX));
            (apart_ns > longer_than_ns.into()).then(|| (earlier.device, earlier.timestamp_ns, vec![length]))
        }
        Consecutive::Differences { per_ns } => {
            let times = per_ns.map_or(1.0, |per_ns| apart_ns as f64 / per_ns.get() as f64);
            let change = Value::F64((later.number(signal) - earlier.number(signal)) / times);
            (times != 0.0).then(|| (later.device, later.timestamp_ns, vec![change]))
        }
        Consecutive::TimeWeightedMean => None,
    }
}

/// The mean of points of one device in the order of time, of which there is at least one: each as long as it lasted.
#[expect(clippy::cast_precision_loss, reason = "a mean is f64")]
fn time_weighted_mean(points: &[&Point], signal: SignalId) -> f64 {
    let (first, last) = (points[0], points[points.len() - 1]);
    let apart = |a: &Point, b: &Point| (i128::from(b.timestamp_ns) - i128::from(a.timestamp_ns)) as f64;
    let weighted: f64 = points.windows(2).map(|pair| pair[0].number(signal) * apart(pair[0], pair[1])).sum();
    if first.timestamp_ns == last.timestamp_ns { last.number(signal) } else { weighted / apart(first, last) }
}

/// A row an aggregate, of points of one device.
fn figures<'p>(
    points: &'p [&'p Point],
    time: i64,
    signals: &'p [SignalId],
    aggregates: &'p [Aggregate],
) -> impl Iterator<Item = (u32, i64, Vec<Value<'static>>)> + 'p {
    aggregates.iter().map(move |&aggregate| {
        let figure = |&signal: &SignalId| Value::F64(figure(points, signal, aggregate));
        (points[0].device, time, signals.iter().map(figure).collect())
    })
}

/// A figure over points in the order of time, of which there is at least one.
fn figure(points: &[&Point], signal: SignalId, aggregate: Aggregate) -> f64 {
    let mut numbers = points.iter().map(|p| p.number(signal));
    #[expect(clippy::cast_precision_loss, reason = "fewer points than 2^53")]
    let count = points.len() as f64;
    match aggregate {
        Aggregate::First => numbers.next().unwrap_or(f64::NAN),
        Aggregate::Last => numbers.next_back().unwrap_or(f64::NAN),
        Aggregate::Min => numbers.fold(f64::INFINITY, f64::min),
        Aggregate::Max => numbers.fold(f64::NEG_INFINITY, f64::max),
        Aggregate::Mean => numbers.sum::<f64>() / count,
        Aggregate::Sum => numbers.sum(),
        Aggregate::Count => count,
        Aggregate::Percentile(percentile) => {
            let mut ascending: Vec<f64> = numbers.collect();
            ascending.sort_by(f64::total_cmp);
            percentile.of(&ascending).unwrap_or(f64::NAN)
        }
    }
}

/// Where the rows of one answer go.
struct Rows<'a> {
    schema: &'a Schema,
    sink: &'a mut dyn Sink,
}

impl Rows<'_> {
    fn points(&mut self, points: &[&Point], signals: &[SignalId]) -> Result<Reply, Error> {
        let types = signals.iter().map(|&s| self.schema.signals()[usize::from(s)].value_type);
        let mut answer = Answer::new(self.sink, types);
        for point in points {
            answer.row(point.device, point.timestamp_ns, |columns| {
                let values = signals.iter().map(|&s| point.value(s));
                columns.iter_mut().zip(values).try_for_each(|(column, value)| column.push(value))
            })?;
        }
        answer.finish(0, ComputedBy::Server)
    }

    /// What is asked about consecutive ones of these points.
    fn consecutive(&mut self, points: &[&Point], signal: SignalId, what: Consecutive) -> Result<Reply, Error> {
        if what == Consecutive::TimeWeightedMean {
            let by_device = points.chunk_by(|a, b| a.device == b.device);
            let means =
                by_device.map(|points| (points[0].device, 0, vec![Value::F64(time_weighted_mean(points, signal))]));
            return self.figures(ValueType::F64, 1, means);
        }
        let pairs = points.windows(2).filter(|pair| pair[0].device == pair[1].device);
        let rows = pairs.filter_map(|pair| between(pair[0], pair[1], signal, what));
        self.figures(what.value_type(), 1, rows)
    }

    fn figures<'v>(
        &mut self,
        value_type: ValueType,
        width: usize,
        rows: impl IntoIterator<Item = (u32, i64, Vec<Value<'v>>)>,
    ) -> Result<Reply, Error> {
        let mut answer = Answer::new(self.sink, vec![value_type; width]);
        for (device, time, figures) in rows {
            answer.row(device, time, |columns| {
                columns.iter_mut().zip(figures).try_for_each(|(column, figure)| column.push(Some(figure)))
            })?;
        }
        answer.finish(0, ComputedBy::Server)
    }
}
