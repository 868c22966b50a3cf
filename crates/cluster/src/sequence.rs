//! Which of a sender's numbered messages have come: each counts once, in whatever order it comes. Pure.

use std::collections::BTreeSet;

/// More messages are not awaited behind a gap: their sender is refused.
const MAX_AHEAD: usize = 4096;

/// The numbers that have come, from 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sequence {
    /// All before this one have come.
    next: u64,
    /// And these.
    ahead: BTreeSet<u64>,
}

/// What a number is that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It had not come before.
    New,
    /// It had.
    Again,
    /// It is too far ahead of what is missing, or no number that is followed by others.
    TooFarAhead,
}

impl Sequence {
    /// A message with this number has come.
    pub fn take(&mut self, number: u64) -> Came {
        if number < self.next || self.ahead.contains(&number) {
            return Came::Again;
        }
        if (number != self.next && self.ahead.len() >= MAX_AHEAD) || number == u64::MAX {
            return Came::TooFarAhead;
        }
        self.ahead.insert(number);
        while self.ahead.remove(&self.next) {
            self.next += 1;
        }
        Came::New
    }

    /// The first number that has not come: the sender need not keep what is before it.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether all of the first so many have come.
    #[must_use]
    pub fn has_all(&self, of: u64) -> bool {
        self.next >= of
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Messages that come in any order and any number of times: each counts once, and none is left out.
        #[test]
        fn each_message_counts_once(
            order in (1_u64..60).prop_flat_map(|n| {
                let again = prop::collection::vec(0..n, 0..40);
                (Just(n), again).prop_flat_map(|(n, again)| {
                    let all: Vec<u64> = (0..n).chain(again).collect();
                    (Just(n), Just(all).prop_shuffle())
                })
            }),
        ) {
            let (n, order) = order;
            let mut sequence = Sequence::default();
            let mut counted: Vec<u64> = order.into_iter().filter(|&number| sequence.take(number) == Came::New).collect();
            counted.sort_unstable();
            prop_assert_eq!(counted, (0..n).collect::<Vec<_>>());
            prop_assert!(sequence.has_all(n) && sequence.ahead.is_empty() && sequence.next() == n);
        }
    }

    #[test]
    fn a_gap_is_told_and_bounded() {
        let mut sequence = Sequence::default();
        assert_eq!((sequence.take(0), sequence.take(2)), (Came::New, Came::New));
        assert_eq!((sequence.next(), sequence.has_all(3)), (1, false));
        let taken = (3..10_000).take_while(|&number| sequence.take(number) == Came::New).count();
        assert_eq!((taken + 1, sequence.take(u64::MAX)), (MAX_AHEAD, Came::TooFarAhead));
        assert_eq!(
            (sequence.take(1), sequence.next()),
            (Came::New, 3 + taken as u64),
            "what is missing may always come"
        );
    }
}
