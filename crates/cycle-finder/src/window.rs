//! The whole seconds around a time, held in memory.

use crate::{
    HORIZON_S,
    marks::{Mark, Marks, Thresholds},
    reason::Reason,
};
use iotbench_core::{Chunk, TimeRange};
use std::ops::Range;

/// The most that a search holds in memory: times and values, 8 bytes each.
pub const WINDOW_BYTES: usize = 16 << 20;
const MAX_NUMBERS: usize = WINDOW_BYTES / 8;
const SECOND_NS: i64 = 1_000_000_000;

/// The datapoints of some whole seconds around a time.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    t_ns: i64,
    /// Seconds before the one that the time lies in.
    before_s: i64,
    /// Seconds from that one on.
    after_s: i64,
    /// How many channels a datapoint has, and which of them is the abscissa.
    width: usize,
    abscissa: usize,
    times_ns: Vec<i64>,
    /// Datapoint after datapoint; NaN where a value is missing.
    values: Vec<f64>,
    full: bool,
}

/// What the datapoints at hand tell.
pub(crate) enum Look {
    /// The marks.
    Found(Marks),
    /// More seconds are needed, and the window now asks for them.
    Widened,
    /// There is no cycle.
    NotFound(Reason),
}

impl Window {
    pub(crate) fn new(width: usize, abscissa: usize) -> Self {
        let (times_ns, values) = (Vec::new(), Vec::new());
        Self { t_ns: 0, before_s: 0, after_s: 0, width, abscissa, times_ns, values, full: false }
    }

    /// Two seconds: the one that the time lies in, and the nearer of its neighbours.
    pub(crate) fn restart(&mut self, t_ns: i64) {
        let early = t_ns.rem_euclid(SECOND_NS) < SECOND_NS / 2;
        (self.before_s, self.after_s) = if early { (1, 1) } else { (0, 2) };
        self.t_ns = t_ns;
        self.clear();
    }

    fn clear(&mut self) {
        self.times_ns.clear();
        self.values.clear();
        self.full = false;
    }

    /// What has to be read.
    pub(crate) fn range(&self) -> TimeRange {
        let second = self.t_ns.div_euclid(SECOND_NS);
        let edge = |second: i64| second.saturating_mul(SECOND_NS);
        TimeRange::half_open(edge(second - self.before_s), edge(second + self.after_s))
    }

    pub(crate) fn take(&mut self, chunk: &Chunk) {
        if self.times_ns.len().saturating_add(chunk.len()).saturating_mul(self.width + 1) > MAX_NUMBERS {
            self.full = true;
            return;
        }
        self.times_ns.extend_from_slice(&chunk.timestamps_ns);
        for row in 0..chunk.len() {
            let value = |channel: usize| chunk.columns.get(channel)?.get(row)?.as_f64();
            self.values.extend((0..self.width).map(|channel| value(channel).unwrap_or(f64::NAN)));
        }
    }

    /// Looks for the marks in what was taken, and widens the window on the side where one is missing.
    pub(crate) fn look(&mut self, thresholds: Thresholds) -> Look {
        if self.full {
            return Look::NotFound(Reason::TooMuchData);
        }
        if !self.times_ns.is_sorted() {
            return Look::NotFound(Reason::Repeated);
        }
        match self.marks(thresholds) {
            Ok(marks) => Look::Found(marks),
            Err(mark @ (Mark::T1 | Mark::T5)) if self.after_s >= HORIZON_S => self.give_up(mark),
            Err(mark @ (Mark::T2 | Mark::T3 | Mark::T4)) if self.before_s >= HORIZON_S => self.give_up(mark),
            Err(mark) => {
                let side = if matches!(mark, Mark::T1 | Mark::T5) { &mut self.after_s } else { &mut self.before_s };
                *side = (*side * 2).clamp(1, HORIZON_S);
                self.clear();
                Look::Widened
            }
        }
    }

    /// The marks, or the first that is missing.
    fn marks(&self, thresholds: Thresholds) -> Result<Marks, Mark> {
        let abscissa = |row: usize| self.values.get(row * self.width + self.abscissa).copied().unwrap_or(f64::NAN);
        let high = |row: &usize| thresholds.high().holds(abscissa(*row));
        let low = |row: &usize| thresholds.low().holds(abscissa(*row));
        let rows = self.times_ns.len();
        let after_t = self.times_ns.partition_point(|&time_ns| time_ns <= self.t_ns);
        let t1 = (after_t..rows).find(high).ok_or(Mark::T1)?;
        let t2 = (0..t1).rfind(low).ok_or(Mark::T2)?;
        let t3 = (0..t2).rfind(high).ok_or(Mark::T3)?;
        let t4 = (t3..=t2).reduce(|least, row| if abscissa(row) < abscissa(least) { row } else { least });
        let t4 = t4.ok_or(Mark::T4)?;
        let t5 = (t1 + 1..rows).find(low).ok_or(Mark::T5)?;
        let [t1, t2, t3, t4, t5] = [t1, t2, t3, t4, t5].map(|row| self.times_ns.get(row).copied().unwrap_or(self.t_ns));
        Ok(Marks { t1, t2, t3, t4, t5 })
    }

    /// As wide as it gets: either nothing is stored at its end, or the machine does not move.
    fn give_up(&self, mark: Mark) -> Look {
        let second = self.t_ns.div_euclid(SECOND_NS);
        let stored = if matches!(mark, Mark::T1 | Mark::T5) {
            self.times_ns.last().is_some_and(|last_ns| last_ns.div_euclid(SECOND_NS) >= second + self.after_s - 1)
        } else {
            self.times_ns.first().is_some_and(|first_ns| first_ns.div_euclid(SECOND_NS) <= second - self.before_s)
        };
        Look::NotFound(if stored { Reason::Standstill } else { Reason::EdgeOfData(mark) })
    }

    /// The rows from one time up to, but without, another.
    pub(crate) fn rows(&self, from_ns: i64, to_ns: i64) -> Range<usize> {
        let at = |limit_ns: i64| self.times_ns.partition_point(|&time_ns| time_ns < limit_ns);
        at(from_ns)..at(to_ns)
    }

    /// A row's time and values; a value that is missing is NaN.
    pub(crate) fn row(&self, row: usize) -> Option<(i64, &[f64])> {
        let start = row * self.width;
        Some((*self.times_ns.get(row)?, self.values.get(start..start + self.width)?))
    }

    /// A row's abscissa.
    pub(crate) fn abscissa(&self, row: usize) -> Option<f64> {
        self.values.get(row * self.width + self.abscissa).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Value, ValueType};

    /// A time and a value each: half as many datapoints as numbers.
    #[test]
    fn a_window_takes_as_many_numbers_as_it_may_hold_and_no_more() {
        let chunk = |rows: usize| {
            let mut chunk = Chunk::new([ValueType::F64]);
            for time_ns in 0..i64::try_from(rows).unwrap() {
                chunk.devices.push(0);
                chunk.timestamps_ns.push(time_ns);
                chunk.columns[0].push(Some(Value::F64(0.0))).unwrap();
            }
            chunk
        };
        let mut window = Window::new(1, 0);
        window.take(&chunk(MAX_NUMBERS / 2));
        assert!(!window.full);
        window.take(&chunk(1));
        assert!(window.full);
    }
}
