//! Which datapoints a load sends a second time, and when.

use crate::counter_hash::CounterHash;

/// Second sends: of each block of positions of a device's sending order one is sent again, the same, when a later one is due.
///
/// A *send* is a place in what a load sends of a device: slot x sends the datapoint of position x, and then that of
/// position x - `after` once more, if that is one of those. So a second send comes behind its first, whatever order the
/// positions give the datapoints. The history before a load has each datapoint once.
#[derive(Clone, Copy, Debug)]
pub struct Twice {
    hash: CounterHash,
    one_in: u64,
    after: u64,
}

/// A stretch of what a device sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sends {
    /// The position in the sending order of the first.
    pub first: u64,
    /// How many positions.
    pub count: u32,
    /// Whether it is the second send of a datapoint, and the only one of its stretch.
    pub is_second: bool,
}

impl Twice {
    /// One in so many positions, at least two, is sent again so many positions later, at least one.
    #[must_use]
    pub fn new(seed: u64, one_in: u64, after: u64) -> Self {
        Self { hash: CounterHash::new(seed).derive(0x0074_7769_6365), one_in: one_in.max(2), after: after.max(1) }
    }

    /// Whether what a device sends at this position of its sending order is sent a second time.
    #[must_use]
    pub fn is_of(&self, device: u32, position: u64) -> bool {
        self.is_marked(self.hash.derive(device.into()), position)
    }

    /// The slot in which what is sent a second time at this position is sent again.
    #[must_use]
    pub fn slot_of_second(&self, position: u64) -> u64 {
        position.saturating_add(self.after)
    }

    /// How many sends of a device there are before the slot of this position.
    #[must_use]
    pub fn sends_before(&self, device: u32, position: u64) -> u64 {
        self.before(self.hash.derive(device.into()), position)
    }

    /// The slot of a device's `send`-th send: the position that is due then.
    #[must_use]
    pub fn slot(&self, device: u32, send: u64) -> u64 {
        self.slot_of(self.hash.derive(device.into()), send)
    }

    /// Tells what a device sends at these places, in order.
    pub fn tell(&self, device: u32, send: u64, count: u32, tell: &mut dyn FnMut(Sends)) {
        let hash = self.hash.derive(device.into());
        let mut slot = self.slot_of(hash, send);
        let mut is_second = self.before(hash, slot) < send;
        let mut left = count;
        while left > 0 {
            let first = slot;
            if is_second {
                tell(Sends { first: slot - self.after, count: 1, is_second });
                (left, slot, is_second) = (left - 1, slot + 1, false);
                continue;
            }
            let mut count = 0;
            while left > 0 && !is_second {
                (left, count) = (left - 1, count + 1);
                is_second = slot.checked_sub(self.after).is_some_and(|position| self.is_marked(hash, position));
                slot += u64::from(!is_second);
            }
            tell(Sends { first, count, is_second: false });
        }
    }

    fn is_marked(&self, hash: CounterHash, position: u64) -> bool {
        hash.below(position / self.one_in, self.one_in) == position % self.one_in
    }

    /// How many positions before this one are sent again.
    fn marked_before(&self, hash: CounterHash, position: u64) -> u64 {
        let (block, within) = (position / self.one_in, position % self.one_in);
        block + u64::from(hash.below(block, self.one_in) < within)
    }

    fn before(&self, hash: CounterHash, slot: u64) -> u64 {
        slot + self.marked_before(hash, slot.saturating_sub(self.after))
    }

    /// The last slot that begins with this send or before it.
    fn slot_of(&self, hash: CounterHash, send: u64) -> u64 {
        // Blocks have one each, so that the slot is within two of what the share says.
        let beyond = u128::from(send.saturating_sub(self.after));
        let one_in = u128::from(self.one_in);
        let by_share = u64::try_from(beyond * one_in / (one_in + 1)).unwrap_or(u64::MAX);
        let mut slot = send.min(self.after) + by_share;
        while self.before(hash, slot) > send {
            slot -= 1;
        }
        while self.before(hash, slot + 1) <= send {
            slot += 1;
        }
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn twice() -> impl Strategy<Value = Twice> {
        (any::<u64>(), 2_u64..40, 1_u64..300).prop_map(|(seed, one_in, after)| Twice::new(seed, one_in, after))
    }

    /// What a device sends, one by one, from the definition.
    fn by_definition(twice: &Twice, device: u32, slots: u64) -> Vec<(u64, bool)> {
        let of_slot = |slot: u64| {
            let second = slot.checked_sub(twice.after).filter(|&position| twice.is_of(device, position));
            std::iter::once((slot, false)).chain(second.map(|position| (position, true)))
        };
        (0..slots).flat_map(of_slot).collect()
    }

    fn told(twice: &Twice, device: u32, send: u64, count: u32) -> Vec<(u64, bool)> {
        let mut all = Vec::new();
        twice.tell(device, send, count, &mut |Sends { first, count, is_second }| {
            assert!(count == 1 || (count > 0 && !is_second));
            all.extend((first..first + u64::from(count)).map(|position| (position, is_second)));
        });
        all
    }

    proptest! {
        #[test]
        fn what_is_told_is_the_order_however_it_is_cut(twice in twice(), device: u32, cut in 0_u32..900) {
            let expected = by_definition(&twice, device, 900);
            let mut sends = told(&twice, device, 0, cut);
            sends.extend(told(&twice, device, cut.into(), 900 - cut));
            prop_assert_eq!(&sends[..], &expected[..900]);
        }

        #[test]
        fn the_slot_of_a_send_is_the_one_in_which_it_is(twice in twice(), device: u32) {
            let mut send = 0;
            for slot in 0..400 {
                prop_assert_eq!(twice.sends_before(device, slot), send);
                let sends = 1 + u64::from(slot.checked_sub(twice.after).is_some_and(|p| twice.is_of(device, p)));
                for of_slot in send..send + sends {
                    prop_assert_eq!(twice.slot(device, of_slot), slot);
                }
                send += sends;
            }
        }

        #[test]
        fn the_share_is_as_asked_however_far(twice in twice(), device: u32, far in 0_u64..1 << 60) {
            let blocks = 50 * twice.one_in;
            let first = far / twice.one_in * twice.one_in;
            let sends = twice.sends_before(device, first + twice.after + blocks) - twice.sends_before(device, first + twice.after);
            prop_assert_eq!(sends, blocks + 50);
            let slot = twice.slot(device, far);
            prop_assert!(twice.sends_before(device, slot) <= far && far < twice.sends_before(device, slot + 1));
        }
    }
}
