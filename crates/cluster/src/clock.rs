//! How far an agent's clock is from the coordinator's, and how surely that is known. Pure.
//!
//! Both clocks are monotonic and count nanoseconds since any instant of their own. A round trip bounds the offset from both
//! sides, because no message arrives before it was sent (Cristian, "Probabilistic clock synchronization", 1989); several
//! round trips bound it together (Marzullo and Owicki, "Maintaining the time in a distributed system", 1983).

/// A message to an agent and its answer, each stamped on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// When it was sent, by the coordinator's clock.
    pub sent_ns: i64,
    /// When it came in, by the agent's clock.
    pub came_ns: i64,
    /// When the answer was sent, by the agent's clock.
    pub answered_ns: i64,
    /// When the answer came back, by the coordinator's clock.
    pub back_ns: i64,
}

/// What is to be added to the coordinator's time to have the agent's: between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    low_ns: i64,
    high_ns: i64,
}

/// Round trips do not tell the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// There was none.
    #[error("the agent did not answer when it was asked for its time")]
    NoRoundTrip,
    /// They contradict each other, or themselves.
    #[error("the times that the agent tells contradict each other: one of the two clocks is not monotonic")]
    Contradiction,
}

impl RoundTrip {
    fn offset(&self) -> Option<Offset> {
        let low_ns = self.answered_ns.checked_sub(self.back_ns)?;
        let high_ns = self.came_ns.checked_sub(self.sent_ns)?;
        (low_ns <= high_ns).then_some(Offset { low_ns, high_ns })
    }
}

impl Offset {
    /// The offset by round trips that follow each other so closely that the clocks do not drift apart meanwhile.
    ///
    /// # Errors
    /// There is none, or no offset fits all of them.
    pub fn of(round_trips: &[RoundTrip]) -> Result<Self, ClockError> {
        let mut bounds: Option<Self> = None;
        for trip in round_trips {
            let Some(own) = trip.offset() else { return Err(ClockError::Contradiction) };
            let all = bounds.unwrap_or(own);
            let both = Self { low_ns: all.low_ns.max(own.low_ns), high_ns: all.high_ns.min(own.high_ns) };
            if both.low_ns > both.high_ns {
                return Err(ClockError::Contradiction);
            }
            bounds = Some(both);
        }
        bounds.ok_or(ClockError::NoRoundTrip)
    }

    /// The middle between the bounds, in nanoseconds.
    #[must_use]
    pub fn ns(self) -> i64 {
        self.low_ns + (self.high_ns - self.low_ns) / 2
    }

    /// How far the true offset may be from an assumed one, in nanoseconds.
    #[must_use]
    pub fn most_from(self, assumed_ns: i64) -> u64 {
        assumed_ns.abs_diff(self.low_ns).max(assumed_ns.abs_diff(self.high_ns))
    }
}

/// The offsets of an agent before, during and after a run, which goes by the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    assumed_ns: i64,
    first: Offset,
    last: Offset,
    uncertainty_ns: u64,
}

impl Clocks {
    /// By the round trips before the run.
    #[must_use]
    pub fn new(before: Offset) -> Self {
        let assumed_ns = before.ns();
        Self { assumed_ns, first: before, last: before, uncertainty_ns: before.most_from(assumed_ns) }
    }

    /// Notes the offset at a later time.
    pub fn note(&mut self, offset: Offset) {
        self.uncertainty_ns = self.uncertainty_ns.max(offset.most_from(self.assumed_ns));
        self.last = offset;
    }

    /// The agent's time that belongs to one of the coordinator's, as the run takes it.
    #[must_use]
    pub fn agents_ns(&self, ns: i64) -> i64 {
        ns.saturating_add(self.assumed_ns)
    }

    /// How far that may be wrong, at every time at which the offset was measured; drift is in it.
    #[must_use]
    pub fn uncertainty_ns(&self) -> u64 {
        self.uncertainty_ns
    }

    /// By how much the clocks have drifted apart from the first to the last look at them, at the least.
    #[must_use]
    pub fn drift_ns(&self) -> u64 {
        let apart = |one: Offset, other: Offset| u64::try_from(one.low_ns - other.high_ns).unwrap_or(0);
        apart(self.last, self.first).max(apart(self.first, self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A round trip to an agent whose clock is so far ahead, of which the ways and the agent take so long.
    fn trip(at_ns: i64, offset_ns: i64, there_ns: i64, stays_ns: i64, back_ns: i64) -> RoundTrip {
        let came_ns = at_ns + there_ns + offset_ns;
        let answered_ns = came_ns + stays_ns;
        RoundTrip { sent_ns: at_ns, came_ns, answered_ns, back_ns: answered_ns - offset_ns + back_ns }
    }

    proptest! {
        #[test]
        fn the_true_offset_lies_within_the_bounds(
            offset_ns in -1_000_000_000_000_i64..1_000_000_000_000,
            ways in prop::collection::vec((0..5_000_000_i64, 0..100_000_i64, 0..5_000_000_i64), 1..20),
        ) {
            let trips: Vec<_> = ways
                .iter()
                .zip(0..)
                .map(|(&(there, stays, back), n)| trip(n * 10_000_000, offset_ns, there, stays, back))
                .collect();
            let offset = Offset::of(&trips).unwrap();
            prop_assert!(offset.low_ns <= offset_ns && offset_ns <= offset.high_ns);
            let clocks = Clocks::new(offset);
            prop_assert!(clocks.agents_ns(7).abs_diff(7 + offset_ns) <= clocks.uncertainty_ns());
            // The fastest way there and the fastest way back count, be they of different round trips.
            let fastest = |of: fn(&(i64, i64, i64)) -> i64| ways.iter().map(of).min().unwrap();
            let width = fastest(|way| way.0) + fastest(|way| way.2);
            prop_assert_eq!(offset.high_ns - offset.low_ns, width);
        }

        #[test]
        fn drift_is_within_the_uncertainty(drift_ns in -2_000_000_i64..2_000_000, width_ns in 0..500_000_i64) {
            let burst = |offset_ns| Offset::of(&[trip(0, offset_ns, width_ns, 0, width_ns)]).unwrap();
            let mut clocks = Clocks::new(burst(5_000));
            for tenth in 1..=10 {
                clocks.note(burst(5_000 + drift_ns * tenth / 10));
            }
            let true_ns = 5_000 + drift_ns;
            prop_assert!(clocks.agents_ns(0).abs_diff(true_ns) <= clocks.uncertainty_ns());
            prop_assert!(clocks.drift_ns() <= drift_ns.unsigned_abs());
            prop_assert!(clocks.drift_ns() + 4 * width_ns.unsigned_abs() >= drift_ns.unsigned_abs());
        }
    }

    #[test]
    fn a_slow_way_in_one_direction_makes_it_uncertain_and_not_wrong() {
        let clocks = Clocks::new(Offset::of(&[trip(0, 0, 3_000_000, 0, 0)]).unwrap());
        assert_eq!((clocks.agents_ns(0), clocks.uncertainty_ns()), (1_500_000, 1_500_000));
    }

    #[test]
    fn a_clock_that_was_set_is_noticed() {
        assert_eq!(Offset::of(&[]), Err(ClockError::NoRoundTrip));
        let set = [trip(0, 0, 100, 0, 100), trip(1_000, 1_000_000, 100, 0, 100)];
        assert_eq!(Offset::of(&set), Err(ClockError::Contradiction));
        let backwards = RoundTrip { sent_ns: 100, came_ns: 50, answered_ns: 50, back_ns: 90 };
        assert_eq!(Offset::of(&[backwards]), Err(ClockError::Contradiction));
    }
}
