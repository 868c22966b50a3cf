//! One answer held against the truth.

use super::{
    exactness::{Exactness, Found, row_differs},
    figure::Figure,
    newest,
    truth::{Row, Truth},
};
use crate::read::{Kept, KeptAnswer};
use iotbench_core::{Aggregate, Devices, Direction, Query, SignalId, TimeRange};
use std::ops::{Bound, ControlFlow};

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

/// Holds one of the answers of an operation against the truth.
pub fn compare(truth: &mut Truth, answer: &KeptAnswer, of: &Kept, exactness: Exactness) -> Finding {
    let Query::Newest { devices, limit } = &answer.query else {
        if of.overlaps && !lies_in_history(truth, &answer.query) {
            return Finding::NotJudged;
        }
        return Compare { truth, answer, exactness }.with_history().into();
    };
    newest::newest(truth, answer, devices, *limit, of.meanwhile.as_ref(), exactness).into()
}

/// Whether all that a query is about was there before the load.
fn lies_in_history(truth: &Truth, query: &Query) -> bool {
    let (Query::Range { devices, range, .. } | Query::Aggregates { devices, range, .. }) = query else { return false };
    let Devices::Some(list) = devices else { return false };
    let before = |device: u32| {
        let end_ns = match range.to {
            Bound::Included(ns) => ns,
            Bound::Excluded(ns) => ns.saturating_sub(1),
            Bound::Unbounded => return false,
        };
        device < truth.history().devices && end_ns <= truth.history().time_span_ns(device).1
    };
    list.iter().all(|&device| before(device))
}

struct Compare<'a> {
    truth: &'a mut Truth,
    answer: &'a KeptAnswer,
    exactness: Exactness,
}

impl Compare<'_> {
    fn with_history(&mut self) -> Result<(), String> {
        match self.answer.query.clone() {
            Query::Range { devices, signals, range } => {
                let devices = self.truth.devices(&devices);
                self.rows(&devices, &signals, range, u64::MAX)
            }
            Query::Records { device, from_ns, limit } => self.rows(&[device], &self.all(), from(from_ns), limit),
            Query::Scan => self.rows(&self.truth.devices(&Devices::All), &self.all(), TimeRange::ALL, u64::MAX),
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
                self.figures(greatest.into_iter().map(|(value, magnitude)| (device, vec![(value, magnitude)])))
            }
            Query::Aggregates { devices, signals, aggregates, range } => {
                let devices = self.truth.devices(&devices);
                let expected: Vec<_> = devices
                    .into_iter()
                    .flat_map(|device| self.aggregates(device, &signals, &aggregates, range))
                    .collect();
                self.figures(expected.into_iter())
            }
            // Counts are held against the acknowledged ones at the end of a run.
            Query::Count | Query::Newest { .. } => Ok(()),
        }
    }

    fn all(&self) -> Vec<SignalId> {
        (0..).take(self.truth.history().dataset.schema().width()).collect()
    }

    fn rows(&mut self, devices: &[u32], signals: &[SignalId], range: TimeRange, limit: u64) -> Result<(), String> {
        let (answer, exactness) = (self.answer, self.exactness);
        let (mut expected, mut wrong) = (0_u64, None);
        let _ = self.truth.walk(devices, range, &mut |row| {
            if expected == limit {
                return ControlFlow::Break(());
            }
            wrong = row_differs(answer, expected, &row, signals, exactness);
            expected += 1;
            if wrong.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match wrong {
            Some(wrong) => Err(wrong),
            None if expected != answer.len() => {
                Err(format!("{} rows were answered, and there are {expected}", answer.len()))
            }
            None => Ok(()),
        }
    }

    /// The first row in a direction that fits, with its value.
    fn first(
        &mut self,
        device: u32,
        range: TimeRange,
        signal: SignalId,
        backwards: bool,
        fits: impl Fn(&Row<'_>) -> bool,
    ) -> Option<Found> {
        let mut found = None;
        let mut visit = |row: Row<'_>| {
            if !fits(&row) {
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

    fn least(&mut self, device: u32, signal: SignalId, range: TimeRange) -> Option<Found> {
        let mut least: Option<(f64, Found)> = None;
        let _ = self.truth.walk(&[device], range, &mut |row| {
            if let Some(number) = row.number(signal)
                && least.as_ref().is_none_or(|(so_far, _)| number < *so_far)
            {
                least = Some((number, Found::of(&row, signal)));
            }
            ControlFlow::Continue(())
        });
        least.map(|(_, found)| found)
    }

    fn greatest(&mut self, device: u32, signal: SignalId, from_ns: i64, limit: u64) -> Option<(f64, f64)> {
        let (mut seen, mut figure) = (0, Figure::default());
        let _ = self.truth.walk(&[device], from(from_ns), &mut |row| {
            if seen == limit {
                return ControlFlow::Break(());
            }
            seen += 1;
            figure.add(row.number(signal));
            ControlFlow::Continue(())
        });
        figure.of(Aggregate::Max)
    }

    fn aggregates(
        &mut self,
        device: u32,
        signals: &[SignalId],
        aggregates: &[Aggregate],
        range: TimeRange,
    ) -> Vec<ExpectedFigures> {
        let mut figures = vec![Figure::default(); signals.len()];
        let _ = self.truth.walk(&[device], range, &mut |row| {
            figures.iter_mut().zip(signals).for_each(|(figure, &signal)| figure.add(row.number(signal)));
            ControlFlow::Continue(())
        });
        let row = |&aggregate: &Aggregate| {
            let values: Option<Vec<_>> = figures.iter().map(|figure| figure.of(aggregate)).collect();
            values.map(|values| (device, values))
        };
        aggregates.iter().filter_map(row).collect()
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
        let mut count = 0_usize;
        for (device, values) in expected {
            let rows = self.answer.rows.as_ref().filter(|rows| rows.len() > count);
            let Some(rows) = rows else { return Err(format!("row {count} is missing")) };
            if rows.devices.get(count) != Some(&device) {
                return Err(format!("row {count} is of device {:?} and should be {device}", rows.devices.get(count)));
            }
            for (place, (value, magnitude)) in values.into_iter().enumerate() {
                let got = rows.columns.get(place).and_then(|column| column.get(count)).and_then(|v| v.as_f64());
                if got.is_none_or(|got| !self.exactness.same_figure(got, value, magnitude)) {
                    return Err(format!("row {count}, figure {place} is {got:?} and should be {value}"));
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

fn from(ns: i64) -> TimeRange {
    TimeRange { from: Bound::Included(ns), to: Bound::Unbounded }
}

/// A device's figures, each with the magnitude of what it was worked out of.
type ExpectedFigures = (u32, Vec<(f64, f64)>);
