//! The time that a server has worked: wall time without the stalls.
//!
//! On this clock a stall takes no time, so queueing needs no special case for one: a reply is due at a point of work
//! time, and the stalls known so far say when that is in wall time.

/// An interval in which the server is frozen, in nanoseconds since the epoch; the end is not part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stall {
    /// Begin.
    pub from_ns: u64,
    /// End, or `None` while nothing has ended it.
    pub until_ns: Option<u64>,
}

/// Converts between wall time and work time.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkClock {
    /// Not empty each, disjoint, in order of time.
    stalls: Vec<Stall>,
}

impl WorkClock {
    /// Adds a stall; those that overlap or touch unite.
    pub(crate) fn stall(&mut self, from_ns: u64, until_ns: Option<u64>) {
        self.stalls.push(Stall { from_ns, until_ns });
        self.stalls.retain(|stall| stall.until_ns.is_none_or(|until_ns| until_ns > stall.from_ns));
        self.stalls.sort_unstable_by_key(|stall| stall.from_ns);
        self.stalls.dedup_by(|later, earlier| {
            let unite = earlier.until_ns.is_none_or(|until_ns| later.from_ns <= until_ns);
            if unite {
                earlier.until_ns = earlier.until_ns.zip(later.until_ns).map(|(a, b)| a.max(b));
            }
            unite
        });
    }

    /// Ends the stall that is on at `now_ns`, if there is one.
    pub(crate) fn resume(&mut self, now_ns: u64) {
        for stall in &mut self.stalls {
            if stall.from_ns <= now_ns && stall.until_ns.is_none_or(|until_ns| now_ns < until_ns) {
                stall.until_ns = Some(now_ns);
            }
        }
        self.stalls.retain(|stall| stall.until_ns != Some(stall.from_ns));
    }

    /// The work done until wall time `at_ns`.
    pub(crate) fn work_ns(&self, at_ns: u64) -> u64 {
        let frozen_ns: u64 = self
            .stalls
            .iter()
            .take_while(|stall| stall.from_ns < at_ns)
            .map(|stall| stall.until_ns.map_or(at_ns, |until_ns| until_ns.min(at_ns)) - stall.from_ns)
            .sum();
        at_ns - frozen_ns
    }

    /// The wall time at which the work done comes to `work_ns` with the server not frozen; `None` if a stall without an
    /// end lies before it.
    pub(crate) fn wall_ns(&self, work_ns: u64) -> Option<u64> {
        let mut wall_ns = work_ns;
        for stall in &self.stalls {
            if wall_ns < stall.from_ns {
                break;
            }
            wall_ns = wall_ns.saturating_add(stall.until_ns? - stall.from_ns);
        }
        Some(wall_ns)
    }

    /// All stalls so far and programmed, disjoint and in order of time.
    pub(crate) fn stalls(&self) -> &[Stall] {
        &self.stalls
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn clock(stalls: &[(u64, Option<u64>)]) -> WorkClock {
        let mut clock = WorkClock::default();
        for &(from_ns, until_ns) in stalls {
            clock.stall(from_ns, until_ns);
        }
        clock
    }

    #[test]
    fn work_stands_still_in_a_stall() {
        let clock = clock(&[(10, Some(15))]);
        assert_eq!([9, 10, 12, 15, 16].map(|at_ns| clock.work_ns(at_ns)), [9, 10, 10, 10, 11]);
        assert_eq!([9, 10, 11].map(|work_ns| clock.wall_ns(work_ns)), [Some(9), Some(15), Some(16)]);
    }

    #[test]
    fn overlapping_stalls_unite() {
        let clock = clock(&[(30, Some(40)), (10, Some(20)), (15, Some(25)), (25, Some(26)), (5, Some(5))]);
        let stall = |from_ns, until_ns| Stall { from_ns, until_ns: Some(until_ns) };
        assert_eq!(clock.stalls(), [stall(10, 26), stall(30, 40)]);
    }

    #[test]
    fn a_stall_without_end_swallows_later_ones_and_is_ended_by_resume() {
        let mut clock = clock(&[(10, None), (20, Some(30))]);
        assert_eq!(clock.wall_ns(9), Some(9));
        assert_eq!(clock.wall_ns(10), None);
        clock.resume(50);
        assert_eq!(clock.wall_ns(10), Some(50));
        assert_eq!(clock.stalls(), [Stall { from_ns: 10, until_ns: Some(50) }]);
    }

    #[test]
    fn resume_outside_a_stall_changes_nothing() {
        let mut clock = clock(&[(10, Some(20))]);
        clock.resume(9);
        clock.resume(20);
        assert_eq!(clock.stalls(), [Stall { from_ns: 10, until_ns: Some(20) }]);
        clock.resume(10);
        assert_eq!(clock.stalls(), []);
    }

    proptest! {
        #[test]
        fn the_two_clocks_invert_each_other(
            stalls in prop::collection::vec((0_u64..1_000, 0_u64..100), 0..10),
            at_ns in 0_u64..2_000,
        ) {
            let stalls: Vec<_> = stalls.iter().map(|&(from, length)| (from, Some(from + length))).collect();
            let clock = clock(&stalls);
            prop_assert_eq!(clock.work_ns(clock.wall_ns(at_ns).unwrap()), at_ns);
            let thawed_ns = clock.wall_ns(clock.work_ns(at_ns)).unwrap();
            let frozen = stalls.iter().any(|&(from, until)| from <= at_ns && at_ns < until.unwrap());
            prop_assert_eq!(thawed_ns > at_ns, frozen);
            prop_assert!(thawed_ns >= at_ns);
            prop_assert!(stalls.iter().all(|&(from, until)| thawed_ns < from || until.unwrap() <= thawed_ns));
        }
    }
}
