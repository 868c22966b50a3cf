//! How much was acknowledged by when.

use iotbench_recorder::WINDOW_NS;
use std::collections::VecDeque;

/// Seconds that are remembered: longer than any stretch whose visibility is judged.
const MAX_SECONDS: usize = 4096;

/// Acknowledged datapoints by the end of each second since the run's start; the latest ones.
#[derive(Debug, Default)]
pub struct AckedCourse {
    /// The second that `sums` begins with.
    first: u64,
    sums: VecDeque<u64>,
}

impl AckedCourse {
    /// Adds the next second.
    pub fn push(&mut self, acked: u64) {
        let before = self.sums.back().copied().unwrap_or(0);
        self.sums.push_back(before + acked);
        if self.sums.len() > MAX_SECONDS {
            self.sums.pop_front();
            self.first += 1;
        }
    }

    /// How many datapoints had been acknowledged at a time, between two seconds in proportion; `None`: not known yet, or
    /// not any more.
    pub fn at(&self, ns: u64) -> Option<f64> {
        let sum = |second: u64| match second.checked_sub(self.first) {
            // The end of second n - 1 is the beginning of second n.
            Some(0) if self.first == 0 => Some(0),
            Some(0) | None => None,
            Some(place) => self.sums.get(usize::try_from(place - 1).ok()?).copied(),
        };
        let (second, rest_ns) = (ns / WINDOW_NS, ns % WINDOW_NS);
        let before = sum(second)?;
        let after = if rest_ns == 0 { before } else { sum(second + 1)? };
        #[expect(clippy::cast_precision_loss, reason = "counts of datapoints are far below 2^53")]
        let at = before as f64 + (after - before) as f64 * (rest_ns as f64 / WINDOW_NS as f64);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_seconds_it_is_in_proportion() {
        let mut course = AckedCourse::default();
        assert_eq!((course.at(0), course.at(1)), (Some(0.0), None));
        [100, 50].into_iter().for_each(|acked| course.push(acked));
        let at = |tenths: u64| course.at(tenths * WINDOW_NS / 10);
        assert_eq!([0, 5, 10, 15, 20].map(at), [0.0, 50.0, 100.0, 125.0, 150.0].map(Some));
        assert_eq!(at(21), None);
    }

    #[test]
    fn it_does_not_grow_for_ever() {
        let mut course = AckedCourse::default();
        (0..2 * MAX_SECONDS).for_each(|_| course.push(1));
        assert_eq!((course.sums.len(), course.at(0)), (MAX_SECONDS, None));
        let first = MAX_SECONDS as u64;
        let begins = [first, first + 1].map(|second| course.at(second * WINDOW_NS));
        assert_eq!(begins, [None, Some(first as f64 + 1.0)], "of the first that is kept the end is known");
        let most = 2 * MAX_SECONDS as u64;
        assert_eq!((course.at(most * WINDOW_NS), course.at(most * WINDOW_NS + 1)), (Some(most as f64), None));
    }
}
