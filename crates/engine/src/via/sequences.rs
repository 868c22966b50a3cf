//! Which of its messages a device's receiver has seen: delivered, again, or out of order. Pure.
//!
//! The window is that of IPsec's anti-replay service (RFC 4303, section 3.4.3 and appendix A): the greatest number seen and
//! a bit for each of those before it, so that memory is constant however long a run lasts.

/// How far back a message is still told from one that came before.
const WINDOW: u64 = 1024;
const WORD: u64 = 64;
/// As many words as the window has.
const WORDS: usize = 16;

/// What a received message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// New, and later than all before.
    InOrder,
    /// New, and a later one came before it.
    Reordered,
    /// Received before.
    Duplicate,
    /// So far behind the latest that it cannot be told whether it was received before.
    TooLate,
}

impl Seen {
    /// Whether its datapoints are to be written: what was written before must not be again.
    #[must_use]
    pub fn is_new(self) -> bool {
        matches!(self, Self::InOrder | Self::Reordered)
    }
}

/// The messages received of every device of a way.
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    devices: Vec<Device>,
}

#[derive(Clone, Debug)]
struct Device {
    /// One more than the greatest number seen.
    next: u64,
    /// Of the last 1024 numbers before `next`, whether they were seen: bit n % 1024 for number n.
    seen: Box<[u64; WORDS]>,
}

impl Sequences {
    /// For so many devices.
    #[must_use]
    pub fn new(devices: u32) -> Self {
        Self { devices: vec![Device { next: 0, seen: Box::new([0; WORDS]) }; devices as usize] }
    }

    /// Takes in a message; `None`: there is no such device.
    pub fn note(&mut self, device: u32, sequence: u64) -> Option<Seen> {
        self.devices.get_mut(device as usize).map(|device| device.note(sequence))
    }
}

impl Device {
    fn note(&mut self, sequence: u64) -> Seen {
        if sequence >= self.next {
            // The numbers between have not been seen; of a whole window none has.
            for skipped in self.next.max(sequence.saturating_sub(WINDOW - 1))..sequence {
                self.set(skipped, false);
            }
            self.set(sequence, true);
            self.next = sequence.saturating_add(1);
            Seen::InOrder
        } else if self.next - sequence > WINDOW {
            Seen::TooLate
        } else if self.is_set(sequence) {
            Seen::Duplicate
        } else {
            self.set(sequence, true);
            Seen::Reordered
        }
    }

    fn place(sequence: u64) -> (usize, u64) {
        let bit = sequence % WINDOW;
        (usize::try_from(bit / WORD).unwrap_or(0), 1 << (bit % WORD))
    }

    fn is_set(&self, sequence: u64) -> bool {
        let (word, bit) = Self::place(sequence);
        self.seen.get(word).is_some_and(|bits| bits & bit != 0)
    }

    fn set(&mut self, sequence: u64, seen: bool) {
        let (word, bit) = Self::place(sequence);
        if let Some(bits) = self.seen.get_mut(word) {
            *bits = if seen { *bits | bit } else { *bits & !bit };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn seen(numbers: impl IntoIterator<Item = u64>) -> Vec<Seen> {
        let mut sequences = Sequences::new(1);
        numbers.into_iter().map(|number| sequences.note(0, number).unwrap()).collect()
    }

    #[test]
    fn what_comes_in_order_is_in_order_with_gaps_too() {
        assert_eq!(seen([0, 1, 2, 7, 8, 5_000, 5_001]), [Seen::InOrder; 7]);
    }

    #[test]
    fn a_message_that_comes_again_is_a_duplicate() {
        assert_eq!(seen([0, 0, 1, 0, 1])[1..], [Seen::Duplicate, Seen::InOrder, Seen::Duplicate, Seen::Duplicate]);
    }

    #[test]
    fn a_message_behind_a_later_one_is_reordered_once() {
        assert_eq!(seen([1, 0, 0]), [Seen::InOrder, Seen::Reordered, Seen::Duplicate]);
    }

    #[test]
    fn behind_the_window_nothing_can_be_told() {
        assert_eq!(seen([1024, 1, 0]), [Seen::InOrder, Seen::Reordered, Seen::TooLate]);
    }

    #[test]
    fn devices_have_numbers_of_their_own() {
        let mut sequences = Sequences::new(2);
        assert_eq!([sequences.note(0, 0), sequences.note(1, 0)], [Some(Seen::InOrder); 2]);
        assert_eq!(sequences.note(2, 0), None);
    }

    proptest! {
        /// Against a set of all that was seen: within the window every message is told as what it is, so that as many are
        /// new as there are different ones.
        #[test]
        fn every_message_is_told_as_what_it_is(
            steps in prop::collection::vec(prop_oneof![
                (1_u64..4).prop_map(|ahead| (true, ahead)),
                (1500_u64..3000).prop_map(|ahead| (true, ahead)),
                (0_u64..1500).prop_map(|behind| (false, behind)),
            ], 1..400),
        ) {
            let mut sequences = Sequences::new(1);
            let mut all = BTreeSet::new();
            let mut next = 0;
            for (is_ahead, distance) in steps {
                let number = if is_ahead { next + distance - 1 } else { next.saturating_sub(distance) };
                let expected = match (number >= next, next.saturating_sub(number) > WINDOW, all.contains(&number)) {
                    (true, ..) => Seen::InOrder,
                    (false, true, _) => Seen::TooLate,
                    (false, false, true) => Seen::Duplicate,
                    (false, false, false) => Seen::Reordered,
                };
                prop_assert_eq!(sequences.note(0, number), Some(expected), "{} of {}", number, next);
                if expected.is_new() {
                    all.insert(number);
                }
                next = next.max(number + 1);
            }
        }
    }
}
