//! When the sessions of a partly open load arrive, and how long they are. Pure.

use super::{Schedule, Start, mix, uniform};

/// Of a group's seed, the number that its draw of the sessions' lengths begins with.
const LENGTHS_OF_SEED: u64 = u64::MAX - 2;

/// After which operations a session leaves: after each with the same probability, so that lengths are geometric.
///
/// The operations of a load are numbered session by session, those of sessions that were dropped too. So the length of a session is
/// a function of the seed and the session's number, and no answer changes which operations and datapoints are whose.
#[derive(Clone, Copy, Debug)]
pub struct Lengths {
    seed: u64,
    leaves: f64,
}

impl Lengths {
    /// Sessions of so many operations in the mean, at least 1.
    pub fn new(mean: f64, seed: u64) -> Self {
        Self { seed: mix(seed, LENGTHS_OF_SEED), leaves: 1.0 / mean }
    }

    /// Whether the operation of this number is its session's last.
    pub fn ends_with(&self, number: u64) -> bool {
        uniform(self.seed, number) < self.leaves
    }
}

/// The arrivals of sessions. A start's number is that of the session's first operation.
#[derive(Clone, Debug)]
pub struct SessionStarts {
    arrivals: Schedule,
    lengths: Lengths,
    /// The next session's first operation.
    next: u64,
}

impl SessionStarts {
    /// Sessions that arrive by a schedule.
    pub fn new(arrivals: Schedule, lengths: Lengths) -> Self {
        Self { arrivals, lengths, next: 0 }
    }

    /// The same with another rate from a time on; the first operation from then on has this number.
    #[must_use]
    pub fn with_rate(&self, rate: f64, number: u64, from_ns: u64) -> Self {
        let session = self.arrivals.number;
        Self { arrivals: self.arrivals.clone().with_rate(rate, session, from_ns), next: number, ..*self }
    }
}

impl Iterator for SessionStarts {
    type Item = Start;

    fn next(&mut self) -> Option<Start> {
        let Start { at_ns, .. } = self.arrivals.next()?;
        let number = self.next;
        let last = (number..).find(|&operation| self.lengths.ends_with(operation))?;
        self.next = last + 1;
        Some(Start { number, at_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Arrival;

    /// The lengths of the first sessions, by the numbers of their first operations.
    fn lengths(mean: f64, seed: u64, sessions: usize) -> Vec<u64> {
        let arrivals = Schedule::new(Arrival::Constant, 1.0, seed);
        let starts = SessionStarts::new(arrivals, Lengths::new(mean, seed));
        let firsts: Vec<u64> = starts.take(sessions + 1).map(|start| start.number).collect();
        firsts.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn lengths_are_geometric_with_the_stated_mean() {
        let n = 20_000_u32;
        for (seed, mean) in [(1, 5.0), (2, 1.5), (3, 40.0)] {
            let drawn = lengths(mean, seed, n as usize);
            let found = drawn.iter().sum::<u64>() as f64 / f64::from(n);
            let deviation = (mean * (mean - 1.0) / f64::from(n)).sqrt();
            assert!((found - mean).abs() < 4.0 * deviation, "seed {seed}: a mean of {found}, not {mean}");
            let single = drawn.iter().filter(|&&length| length == 1).count() as f64 / f64::from(n);
            assert!((single - 1.0 / mean).abs() < 0.02, "seed {seed}: {single} of one operation");
            assert!(drawn.iter().all(|&length| length >= 1));
        }
        assert!(lengths(1.0, 1, 1_000).iter().all(|&length| length == 1));
    }

    #[test]
    fn the_seed_decides_how_long_a_session_is() {
        assert_eq!(lengths(5.0, 1, 500), lengths(5.0, 1, 500));
        assert_ne!(lengths(5.0, 1, 500), lengths(5.0, 2, 500));
    }

    #[test]
    fn sessions_arrive_by_the_schedule_whatever_their_lengths() {
        let arrivals = || Schedule::new(Arrival::Poisson, 100.0, 3);
        let of = |mean| SessionStarts::new(arrivals(), Lengths::new(mean, 3)).map(|start| start.at_ns);
        let expected: Vec<u64> = arrivals().map(|start| start.at_ns).take(1_000).collect();
        assert!(of(5.0).take(1_000).eq(expected.iter().copied()));
        assert!(of(1.0).take(1_000).eq(expected));
    }

    #[test]
    fn another_rate_goes_on_with_the_next_session() {
        let mut starts = SessionStarts::new(Schedule::new(Arrival::Constant, 10.0, 5), Lengths::new(3.0, 5));
        let whole: Vec<u64> = starts.clone().take(10).map(|start| start.number).collect();
        assert_eq!(starts.by_ref().take(4).map(|start| start.number).collect::<Vec<_>>(), whole[..4]);
        let anew: Vec<Start> = starts.with_rate(1_000.0, whole[4], 7_000_000_000).take(6).collect();
        assert_eq!(anew.iter().map(|start| start.number).collect::<Vec<_>>(), whole[4..]);
        assert_eq!((anew[0].at_ns, anew[1].at_ns), (7_000_000_000, 7_001_000_000));
    }
}
