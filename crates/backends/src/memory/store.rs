//! The vector of datapoints, and what each query means.

use super::{
    figures::{figure, figures},
    point::{Point, Stored, less},
    rollup,
    rows::Rows,
};
use iotbench_backend_kit::{answer::Answer, total::known};
use iotbench_core::{
    Chunk, ComputedBy, Consecutive, Counts, Devices, Direction, Error, Fill, Predicate, Query, Reply, ReplyColumn,
    Rollup, Schema, SignalId, Sink, TagId, Tags, TimeRange, Value, ValueType,
};
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    ops::{Bound, Range},
    slice::from_ref,
};

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
