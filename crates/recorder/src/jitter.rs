//! Jitter of response times.

use serde::{Deserialize, Serialize};

use crate::wide;

/// The mean absolute difference of successive response times of one thread and one kind of operation.
///
/// Unlike the smoothed jitter of RFC 3550, which forgets a stall within a few operations, this is a plain mean, and it
/// merges: differences are taken within a thread, and threads are added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jitter {
    pairs: u64,
    #[serde(with = "wide")]
    sum_ns: u128,
}

impl Jitter {
    /// Records that a response time followed on another.
    #[inline]
    pub fn record(&mut self, earlier_ns: u64, later_ns: u64) {
        self.pairs += 1;
        self.sum_ns += u128::from(earlier_ns.abs_diff(later_ns));
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        self.pairs += other.pairs;
        self.sum_ns += other.sum_ns;
    }

    /// Differences recorded.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// The mean absolute difference in nanoseconds; `None` without a pair.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.pairs > 0).then(|| self.sum_ns as f64 / self.pairs as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::Jitter;

    #[test]
    fn differences_have_no_sign_and_add_up() {
        let mut one = Jitter::default();
        assert_eq!(one.mean_ns(), None);
        one.record(10, 30);
        one.record(30, 25);
        let mut two = Jitter::default();
        two.record(0, 5);
        one.merge(&two);
        assert_eq!((one.pairs(), one.mean_ns()), (3, Some(10.0)));
    }
}
