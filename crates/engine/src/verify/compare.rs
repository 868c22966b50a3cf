//! One answer held against the truth.

use super::{
    consecutive,
    exactness::{Exactness, Found, row_differs, shown},
    figure::Figure,
    filled,
    groups::{self, ExpectedFigures},
    having, last_points, newest, rollup,
    second_sends::SecondSends,
    told::can_be_told,
    top::{Standing, Top},
    truth::{Only, Row, Truth},
};
use crate::read::KeptAnswer;
use iotbench_core::{Aggregate, Consecutive, Devices, Direction, Fill, Items, Query, SignalId, TimeRange, Value};
use std::ops::{Bound, ControlFlow};

/// Datapoints of the same device and time that there may be.
const MOST_COPIES: u32 = 2;

/// What is found of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It is the truth.
    Right,
    /// It is not, and how they differ.
    Wrong(String),
    /// It cannot be told: datapoints were written meanwhile.
    NotJudged,
}

impl From<Result<(), String>> for Finding {
    fn from(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Wrong, |()| Self::Right)
    }
}

/// Holds one of the answers of an operation against the truth: against the history, and against what was written while it
/// was asked, of which it has to hold what was acknowledged before and may hold what was sent before it ended.
pub fn compare(truth: &mut Truth, answer: &KeptAnswer, exactness: Exactness) -> Finding {
    let mut exactness = exactness;
    if let Some(expected) = answer.expected {
        let rows = answer.answered_rows;
        match expected.rows.filter(|&expected| expected != rows) {
            Some(expected) => return Finding::Wrong(format!("{rows} rows were answered, and not {expected}")),
            None if expected.figure.is_none() => return Finding::Right,
            None if rows > 1 => {
                return Finding::Wrong(format!("{rows} rows were answered, and a figure is the only one"));
            }
            None => exactness = exactness.of_statement(truth.history(), &answer.query),
        }
    }
    truth.beside(&answer.overlap);
    if !can_be_told(truth, answer, exactness) {
        return Finding::NotJudged;
    }
    let found = match &answer.query {
        Query::Newest { devices, limit } => newest::newest(truth, answer, devices, *limit, exactness),
        Query::LastPoints { devices } => last_points::last_points(truth, answer, devices, None, exactness),
        Query::Having { of, signal, predicate, per, .. } if let Query::LastPoints { devices } = &**of => {
            last_points::last_points(truth, answer, devices, Some((*signal, *predicate, *per)), exactness)
        }
        _ => Compare { truth, answer, exactness }.with_truth(),
    };
    found.into()
}

struct Compare<'a> {
    truth: &'a mut Truth,
    answer: &'a KeptAnswer,
    exactness: Exactness,
}

impl Compare<'_> {
    fn with_truth(&mut self) -> Result<(), String> {
        match self.answer.query.clone() {
            query @ (Query::Range { .. } | Query::Filter { .. }) => self.points(&query, false),
            Query::Descending { of } => self.points(&of, true),
            Query::Records { device, from_ns, limit } => {
                self.rows(&[device], &self.all(), (from(from_ns), false), limit, |_| true)
            }
            Query::Scan => {
                self.rows(&self.truth.devices(&Devices::All), &self.all(), (TimeRange::ALL, false), u64::MAX, |_| true)
            }
            Query::Nearest { device, signal, predicate, direction } => {
                let holds = |row: &Row<'_>| row.number(signal).is_some_and(|value| predicate.holds(value));
                let found = match direction {
                    Direction::FirstAfter(ns) => {
                        let range = TimeRange { from: Bound::Excluded(ns), to: Bound::Unbounded };
                        self.first(device, range, signal, false, holds)
                    }
                    Direction::LastBefore(ns) => {
                        let range = TimeRange { from: Bound::Unbounded, to: Bound::Excluded(ns) };
                        self.first(device, range, signal, true, holds)
                    }
                };
                self.one_row(found, signal)
            }
            Query::NewestVisible { device, signal } => {
                let found = self.first(device, TimeRange::ALL, signal, true, |_| true);
                self.one_row(found, signal)
            }
            Query::Minimum { device, signal, range } => {
                let least = self.least(device, signal, range);
                self.one_row(least, signal)
            }
            Query::MaxOfFirst { device, signal, from_ns, limit } => {
                let greatest = self.greatest(device, signal, from_ns, limit);
                self.figures(greatest.into_iter())
            }
            Query::Filled { of, fill } => self.filled(&of, fill),
            Query::Having { of, predicate, at_least, .. } => {
                let (all, exactness) = (self.expected(&of).into_iter(), self.exactness);
                match at_least {
                    None => self.figures(having::having(all, predicate, exactness)),
                    Some(least) => self.figures(having::counted(all, (predicate, least), exactness).into_iter()),
                }
            }
            Query::TotalBuckets { devices, signals, aggregates, range, width, newest: Some(newest) } => {
                let devices = self.truth.devices(&devices);
                let figures = (&signals[..], &aggregates[..]);
                let expected = groups::newest_of_all(self.truth, &devices, figures, (range, width), newest);
                let rows = newest.saturating_mul(aggregates.len() as u64);
                self.first_figures(expected.into_values().rev().flatten(), rows)
            }
            query @ (Query::Aggregates { .. }
            | Query::Buckets { .. }
            | Query::TotalBuckets { .. }
            | Query::TagFigures { .. }
            | Query::Where { .. }
            | Query::Rollup { .. }) => {
                let expected = self.expected(&query);
                self.figures(expected.into_iter())
            }
            Query::TopDevices { devices, signal, aggregate, range, limit } => {
                let devices = self.truth.devices(&devices);
                let figures = groups::of_each(self.truth, &devices, (&[signal], &[aggregate]), range, None);
                self.top(figures, (signal, aggregate), limit)
            }
            Query::Consecutive { devices, signal, range, what } => self.consecutive((&devices, range), signal, what),
            Query::Count => self.count(),
            Query::Newest { .. } | Query::LastPoints { .. } => Ok(()),
        }
    }

    /// The points of a range or of a filter, or those of each device from the last on.
    fn points(&mut self, query: &Query, backwards: bool) -> Result<(), String> {
        match query {
            Query::Range { devices, signals, range } => {
                let devices = self.truth.devices(devices);
                self.rows(&devices, signals, (*range, backwards), u64::MAX, |_| true)
            }
            Query::Filter { devices, signal, predicate, range, all_signals } => {
                let devices = self.truth.devices(devices);
                let signals = if *all_signals { self.all() } else { vec![*signal] };
                let holds = |row: &Row<'_>| row.number(*signal).is_some_and(|value| predicate.holds(value));
                self.rows(&devices, &signals, (*range, backwards), u64::MAX, holds)
            }
            _ => Err("these are no points of a stretch of time".into()),
        }
    }

    fn filled(&mut self, of: &Query, fill: Fill) -> Result<(), String> {
        let Query::Buckets { aggregates, range, width, .. } = of else { return Err("these are no buckets".into()) };
        let holding = self.expected(of);
        filled::compare(self.answer, &holding, (aggregates.len(), *range), (*width, fill), self.exactness)
    }

    /// The figures of each device or group, and bucket; of another question there are none.
    fn expected(&mut self, query: &Query) -> Vec<ExpectedFigures> {
        match query {
            Query::Aggregates { devices, signals, aggregates, range } => {
                let devices = self.truth.devices(devices);
                groups::of_each(self.truth, &devices, (signals, aggregates), *range, None)
            }
            Query::Buckets { devices, signals, aggregates, range, width } => {
                let devices = self.truth.devices(devices);
                groups::of_each(self.truth, &devices, (signals, aggregates), *range, Some(*width))
            }
            Query::TotalBuckets { devices, signals, aggregates, range, width, .. } => {
                let devices = self.truth.devices(devices);
                let all = groups::of_all(self.truth, &devices, (signals, aggregates), *range, *width);
                all.into_values().flatten().collect()
            }
            Query::TagFigures { tag, signals, aggregates, range, width } => {
                let all = groups::by_tag(self.truth, *tag, (signals, aggregates), *range, *width);
                all.into_values().flatten().collect()
            }
            Query::Where { of, signal, predicate, indicator } => {
                self.truth.only(Some(Only { signal: *signal, predicate: *predicate, indicator: *indicator }));
                let expected = self.expected(of);
                self.truth.only(None);
                expected
            }
            Query::Rollup { of, rollup } if let Items::Values { beside } = rollup.items => {
                let (of, only) = match &**of {
                    Query::Where { of, signal, predicate, indicator } => {
                        (of, Some(Only { signal: *signal, predicate: *predicate, indicator: *indicator }))
                    }
                    _ => (of, None),
                };
                let Query::Aggregates { devices, signals, range, .. } = &**of else { return Vec::new() };
                let (devices, signal) = (self.truth.devices(devices), signals.first().copied().unwrap_or(0));
                self.truth.only(only);
                let expected = rollup::values(self.truth, (&devices, signal, *range), rollup, beside);
                self.truth.only(None);
                expected
            }
            Query::Rollup { of, rollup } => {
                let (figures, tags) = (self.expected(of), self.truth.tags());
                rollup::expected(&figures, rollup, &tags, self.exactness)
            }
            _ => Vec::new(),
        }
    }

    fn consecutive(&mut self, of: (&Devices, TimeRange), signal: SignalId, what: Consecutive) -> Result<(), String> {
        let (answer, exactness) = (self.answer, self.exactness);
        match what {
            Consecutive::Gaps { longer_than_ns } => consecutive::gaps(self.truth, answer, of, longer_than_ns),
            Consecutive::Differences { per_ns } => {
                consecutive::differences(self.truth, answer, of, (signal, per_ns), exactness)
            }
            Consecutive::TimeWeightedMean => {
                let means = consecutive::time_weighted_means(self.truth, of, signal);
                self.figures(means.into_iter())
            }
        }
    }

    fn all(&self) -> Vec<SignalId> {
        (0..).take(self.truth.history().dataset.schema().width()).collect()
    }

    fn rows(
        &mut self,
        devices: &[u32],
        signals: &[SignalId],
        (range, backwards): (TimeRange, bool),
        limit: u64,
        fits: impl Fn(&Row<'_>) -> bool,
    ) -> Result<(), String> {
        let (answer, exactness) = (self.answer, self.exactness);
        let (mut expected, mut wrong) = (0_u64, None);
        // How many rows of one device and time came; of what may be there twice, each of the two may be the first.
        let (mut of, mut copies) = (None, 0);
        let mut visit = |row: Row<'_>| {
            if expected == limit {
                return ControlFlow::Break(());
            }
            if !fits(&row) {
                return ControlFlow::Continue(());
            }
            if of.replace((row.device, row.timestamp_ns)) != Some((row.device, row.timestamp_ns)) {
                copies = 0;
            }
            match row_differs(answer, expected, &row, signals, exactness) {
                None if copies == MOST_COPIES => {}
                None => (expected, copies) = (expected + 1, copies + 1),
                Some(difference) if row.certain => wrong = Some(difference),
                Some(_) => {}
            }
            if wrong.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let _ = match backwards {
            false => self.truth.walk(devices, range, &mut visit),
            true => devices.iter().try_for_each(|&device| self.truth.walk_back(device, range, &mut visit)),
        };
        match wrong {
            Some(wrong) => Err(wrong),
            None if expected != answer.len() => {
                Err(format!("{} rows were answered, and there are {expected}", answer.len()))
            }
            None => Ok(()),
        }
    }

    /// The first row in a direction that fits and is certain, or is the one that was answered; with its value.
    fn first(
        &mut self,
        device: u32,
        range: TimeRange,
        signal: SignalId,
        backwards: bool,
        fits: impl Fn(&Row<'_>) -> bool,
    ) -> Option<Found> {
        let (answer, exactness, mut found) = (self.answer, self.exactness, None);
        let mut visit = |row: Row<'_>| {
            if !fits(&row) || !(row.certain || is_answered(answer, &row, signal, exactness)) {
                return ControlFlow::Continue(());
            }
            found = Some(Found::of(&row, signal));
            ControlFlow::Break(())
        };
        let _ = if backwards {
            self.truth.walk_back(device, range, &mut visit)
        } else {
            self.truth.walk(&[device], range, &mut visit)
        };
        found
    }

    /// The least row that is certain, or the one that was answered if that is less.
    fn least(&mut self, device: u32, signal: SignalId, range: TimeRange) -> Option<Found> {
        let mut least: Option<(f64, Found)> = None;
        let (answer, exactness) = (self.answer, self.exactness);
        let _ = self.truth.walk(&[device], range, &mut |row| {
            if let Some(number) = row.number(signal)
                && (row.certain || is_answered(answer, &row, signal, exactness))
                && least.as_ref().is_none_or(|(so_far, _)| number < *so_far)
            {
                least = Some((number, Found::of(&row, signal)));
            }
            ControlFlow::Continue(())
        });
        least.map(|(_, found)| found)
    }

    fn greatest(&mut self, device: u32, signal: SignalId, from_ns: i64, limit: u64) -> Option<ExpectedFigures> {
        let (mut certain, mut possible, mut figure) = (0, 0, Figure::default());
        let _ = self.truth.walk(&[device], from(from_ns), &mut |row| {
            if certain == limit {
                return ControlFlow::Break(());
            }
            // With all that may come before it, a later row may not be one of the first.
            figure.add(row.number(signal), row.certain && possible < limit);
            certain += u64::from(row.certain);
            possible += 1;
            ControlFlow::Continue(())
        });
        let values = vec![figure.of(Aggregate::Max)?];
        Some(ExpectedFigures { device, timestamp_ns: 0, certain: figure.is_certain(), values })
    }

    fn top(
        &self,
        figures: Vec<ExpectedFigures>,
        (signal, aggregate): (SignalId, Aggregate),
        limit: u64,
    ) -> Result<(), String> {
        let standing = |ExpectedFigures { device, certain, values, .. }: ExpectedFigures| {
            values.first().map(|&bounds| (device, Standing { certain, bounds }))
        };
        let standings = figures.into_iter().filter_map(standing).collect();
        let value_type = self.truth.history().dataset.schema().signals()[usize::from(signal)].value_type;
        let rows = self.answer.rows.iter().flat_map(|rows| (0..rows.len()).map(move |row| (row, rows)));
        let figure = |(row, rows): (usize, &iotbench_core::Chunk)| {
            let got = rows.columns.first().and_then(|column| column.get(row)).and_then(|value| value.as_f64());
            let (device, time) = (rows.devices.get(row).copied(), rows.timestamps_ns.get(row).copied());
            let whole = device.zip(got).filter(|_| time == Some(0));
            whole.ok_or_else(|| format!("row {row} has no device and figure, or a time: {device:?}, {got:?}, {time:?}"))
        };
        let answered: Vec<_> = rows.map(figure).collect::<Result<_, _>>()?;
        let exactness = self.exactness;
        Top { standings, limit, aggregate, value_type, exactness }.compare(&answered)
    }

    fn count(&self) -> Result<(), String> {
        let (mut certain, mut possible) = (0, 0);
        for device in self.truth.devices(&Devices::All) {
            for stretch in self.truth.stretches(device, TimeRange::ALL) {
                let points = stretch.indices.end - stretch.indices.start;
                certain += if stretch.certain { points } else { 0 };
                possible += points;
            }
        }
        if self.truth.second_sends().is_some_and(SecondSends::keeps_both) {
            possible *= 2;
        }
        let rows = self.answer.rows.as_ref();
        match rows.and_then(|rows| rows.columns.first()?.get(0)) {
            Some(Value::I64(points)) if (certain..=possible).contains(&points.cast_unsigned()) => Ok(()),
            other => Err(format!("{} points were counted, of {certain} to {possible}", shown(other))),
        }
    }

    fn one_row(&self, expected: Option<Found>, signal: SignalId) -> Result<(), String> {
        let (got, there) = (self.answer.len(), u64::from(expected.is_some()));
        if got != there {
            return Err(format!("{got} rows were answered, and there are {there}"));
        }
        let (Some(expected), Some(rows)) = (expected, &self.answer.rows) else { return Ok(()) };
        let got = (rows.devices.first().copied(), rows.timestamps_ns.first().copied());
        if got != (Some(expected.device), Some(expected.timestamp_ns)) {
            return Err(format!(
                "device and time are {got:?} and should be {:?}",
                (expected.device, expected.timestamp_ns)
            ));
        }
        let value = rows.columns.first().and_then(|column| column.get(0));
        match value {
            Some(got) if self.exactness.same(got, expected.value.value()) => Ok(()),
            got => Err(format!("signal {signal} is {got:?} and should be {:?}", expected.value.value())),
        }
    }

    fn figures(&self, expected: impl Iterator<Item = ExpectedFigures>) -> Result<(), String> {
        self.first_figures(expected, u64::MAX)
    }

    /// Of these the first so many rows that are there.
    fn first_figures(&self, expected: impl Iterator<Item = ExpectedFigures>, most: u64) -> Result<(), String> {
        let mut count = 0_usize;
        for ExpectedFigures { device, timestamp_ns, certain, values } in expected {
            if count as u64 == most {
                break;
            }
            let rows = self.answer.rows.as_ref().filter(|rows| rows.len() > count);
            let answered = rows.and_then(|rows| Some((*rows.devices.get(count)?, *rows.timestamps_ns.get(count)?)));
            let (Some(rows), true) = (rows, answered == Some((device, timestamp_ns))) else {
                match answered {
                    _ if !certain => continue,
                    // Of what is not kept whole it is told how many rows there are: their figures may be rounded.
                    None if (count as u64) < self.answer.len() => {
                        count += 1;
                        continue;
                    }
                    None => return Err(format!("row {count} is missing")),
                    Some((other, time)) => {
                        let should = format!("device {device} and time {timestamp_ns}");
                        return Err(format!(
                            "row {count} is of device {other} and time {time} and should be of {should}"
                        ));
                    }
                }
            };
            for (place, bounds) in values.into_iter().enumerate() {
                let got = rows.columns.get(place).and_then(|column| column.get(count)).and_then(|v| v.as_f64());
                if got.is_none_or(|got| !self.exactness.same_figure(got, bounds)) {
                    return Err(format!("row {count}, figure {place} is {got:?} and should be {bounds}"));
                }
            }
            count += 1;
        }
        if self.answer.len() != count as u64 {
            return Err(format!("{} rows were answered, and there are {count}", self.answer.len()));
        }
        Ok(())
    }
}

/// Whether an answer of one row is this one.
fn is_answered(answer: &KeptAnswer, row: &Row<'_>, signal: SignalId, exactness: Exactness) -> bool {
    let Some(rows) = &answer.rows else { return false };
    let got = rows.columns.first().and_then(|column| column.get(0));
    let same = got.zip(row.value(signal)).is_some_and(|(got, expected)| exactness.same(got, expected));
    same && rows.devices.first() == Some(&row.device) && rows.timestamps_ns.first() == Some(&row.timestamp_ns)
}

fn from(ns: i64) -> TimeRange {
    TimeRange { from: Bound::Included(ns), to: Bound::Unbounded }
}

#[cfg(test)]
mod tests;
