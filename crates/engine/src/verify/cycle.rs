//! A machine cycle held against the one that the same search finds in the truth.

use super::{overlap::Overlap, truth::Truth};
use crate::read::{FoundCycle, KeptCycle};
use iotbench_core::{Chunk, Devices, Direction, Query, SignalId, TimeRange};
use iotbench_cycle_finder::{CycleSearch, Step};
use std::ops::{Bound, ControlFlow};

/// The greatest relative error of a sum.
const SUM_ERROR: f64 = 1e-9;

/// Searches again, with the truth for an answer.
pub fn compare_cycle(truth: &mut Truth, kept: &KeptCycle) -> Result<(), String> {
    let expected = search(truth, kept)?;
    let same = match (&kept.found, &expected) {
        (
            FoundCycle::Cycle { start_ns, end_ns, points, sums },
            FoundCycle::Cycle { start_ns: true_start_ns, end_ns: true_end_ns, points: true_points, sums: true_sums },
        ) => {
            (start_ns, end_ns, points) == (true_start_ns, true_end_ns, true_points)
                && sums.iter().zip(true_sums).all(|(sum, truth)| (sum - truth).abs() <= SUM_ERROR * truth.abs())
        }
        (found, expected) => found == expected,
    };
    if same { Ok(()) } else { Err(format!("{:?} and should be {expected:?}", kept.found)) }
}

fn search(truth: &mut Truth, kept: &KeptCycle) -> Result<FoundCycle, String> {
    // A search begins and ends within the history, whatever is written after it.
    truth.beside(&Overlap::None);
    let mut search = CycleSearch::new(kept.spec.clone(), kept.device, kept.t_ns).map_err(|e| e.to_string())?;
    while let Step::Ask(query) = search.step() {
        let rows = answer(truth, &query)?;
        if !rows.is_empty() {
            search.take(&rows);
        }
        search.answered(query);
    }
    Ok(FoundCycle::of(&mut search))
}

/// What the truth answers to a query of a search.
fn answer(truth: &mut Truth, query: &Query) -> Result<Chunk, String> {
    match query {
        Query::Range { devices: Devices::Some(devices), signals, range } => {
            Ok(Rows::new(truth, signals).walk(truth, devices, *range, |_| true, false))
        }
        Query::Nearest { device, signal, predicate, direction } => {
            let fits = |value: Option<f64>| value.is_some_and(|value| predicate.holds(value));
            let rows = Rows::new(truth, &[*signal]);
            Ok(match *direction {
                Direction::FirstAfter(ns) => {
                    let range = TimeRange { from: Bound::Excluded(ns), to: Bound::Unbounded };
                    rows.first(truth, *device, range, fits)
                }
                Direction::LastBefore(ns) => {
                    let range = TimeRange { from: Bound::Unbounded, to: Bound::Excluded(ns) };
                    rows.last(truth, *device, range, fits)
                }
            })
        }
        Query::Minimum { device, signal, range } => {
            let all = Rows::new(truth, &[*signal]).walk(truth, &[*device], *range, |_| true, false);
            let number = |row: usize| all.columns.first().and_then(|column| column.get(row)?.as_f64());
            let least =
                (0..all.len()).filter_map(|row| Some((row, number(row)?))).reduce(|a, b| if b.1 < a.1 { b } else { a });
            let Some((least, _)) = least else { return Ok(all) };
            let time_ns = all.timestamps_ns.get(least).copied().unwrap_or(0);
            let only = TimeRange { from: Bound::Included(time_ns), to: Bound::Included(time_ns) };
            Ok(Rows::new(truth, &[*signal]).walk(truth, &[*device], only, |_| true, false))
        }
        other => Err(format!("a search for a cycle does not ask {other:?}")),
    }
}

/// Rows of the truth as an answer.
struct Rows {
    signals: Vec<SignalId>,
    chunk: Chunk,
}

impl Rows {
    fn new(truth: &Truth, signals: &[SignalId]) -> Self {
        let schema = truth.history().dataset.schema();
        let types = signals.iter().filter_map(|&signal| schema.signals().get(usize::from(signal)));
        Self { signals: signals.to_vec(), chunk: Chunk::new(types.map(|signal| signal.value_type)) }
    }

    fn first(self, truth: &mut Truth, device: u32, range: TimeRange, fits: impl Fn(Option<f64>) -> bool) -> Chunk {
        self.walk(truth, &[device], range, fits, true)
    }

    fn last(mut self, truth: &mut Truth, device: u32, range: TimeRange, fits: impl Fn(Option<f64>) -> bool) -> Chunk {
        let _ = truth.walk_back(device, range, &mut |row| self.take(&row, &fits, true));
        self.chunk
    }

    /// All rows that fit, or the first of them.
    fn walk(
        mut self,
        truth: &mut Truth,
        devices: &[u32],
        range: TimeRange,
        fits: impl Fn(Option<f64>) -> bool,
        only_first: bool,
    ) -> Chunk {
        let _ = truth.walk(devices, range, &mut |row| self.take(&row, &fits, only_first));
        self.chunk
    }

    fn take(
        &mut self,
        row: &super::truth::Row<'_>,
        fits: &impl Fn(Option<f64>) -> bool,
        only_first: bool,
    ) -> ControlFlow<()> {
        let tested = self.signals.first().and_then(|&signal| row.number(signal));
        if !fits(tested) {
            return ControlFlow::Continue(());
        }
        self.chunk.devices.push(row.device);
        self.chunk.timestamps_ns.push(row.timestamp_ns);
        for (column, &signal) in self.chunk.columns.iter_mut().zip(&self.signals) {
            // The columns have the signals' own types.
            let pushed = column.push(row.value(signal));
            debug_assert!(pushed.is_ok(), "a signal has values of another type than its own");
        }
        if only_first { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
