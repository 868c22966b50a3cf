//! How late answers may have been seen.

use std::time::Duration;

/// How late whoever made the load may have seen answers, because it could not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeenLate {
    /// One answer, at most: the longest time for which it could not run.
    pub longest: Duration,
    /// All answers of one connection together: it has one operation under way at a time.
    pub altogether: Duration,
    /// How many connections it had; 0: not known.
    pub connections: u64,
}

impl SeenLate {
    /// Of two that made a load together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let is_known = self.connections > 0 && other.connections > 0;
        Self {
            longest: self.longest.max(other.longest),
            altogether: self.altogether.max(other.altogether),
            connections: if is_known { self.connections + other.connections } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_agents_each_has_its_own_connections_and_stops() {
        let of = |ms, connections| {
            let stop = Duration::from_millis(ms);
            SeenLate { longest: stop, altogether: 2 * stop, connections }
        };
        assert_eq!(of(10, 3).and(of(20, 4)), of(20, 7));
        assert_eq!(of(10, 3).and(of(20, 0)), of(20, 0), "of one it is not known");
    }
}
