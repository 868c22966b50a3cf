//! In which order a device sends: gaps, late datapoints and scrambled stretches.

use crate::counter_hash::{CounterHash, scale};
use iotbench_core::Run;

/// Widest stretch that can be scrambled.
pub const MAX_WINDOW: u32 = 64;

/// Missing datapoints: in each block of indices one gap, somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gaps {
    /// Indices in a block.
    pub block: u64,
    /// Missing indices in a row, fewer than a block has.
    pub length: u64,
}

/// Late datapoints: one in each block of indices is sent only when a later one is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// Indices in a block: one in so many is late.
    pub one_in: u64,
    /// By how many datapoints it is late.
    pub by: u64,
}

/// Stretches of datapoints that arrive scrambled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scrambled {
    /// How many of all stretches, as a share of 2^64.
    pub share: u64,
    /// Datapoints in a stretch, 2 to [`MAX_WINDOW`].
    pub window: u32,
}

/// The order in which a device's datapoints are sent: a bijection from positions to the indices that are not missing,
/// computed for any position by itself.
#[derive(Clone, Copy, Debug)]
pub struct SendingOrder {
    hash: CounterHash,
    gaps: Option<Gaps>,
    late: Option<Late>,
    scrambled: Option<Scrambled>,
}

impl SendingOrder {
    /// An order with these disturbances.
    #[must_use]
    pub fn new(seed: u64, gaps: Option<Gaps>, late: Option<Late>, scrambled: Option<Scrambled>) -> Self {
        Self { hash: CounterHash::new(seed).derive(0x006f_7264_6572), gaps, late, scrambled }
    }

    /// Appends what a device sends at these positions; neighbouring indices become one run.
    pub fn runs(&self, device: u32, first: u64, count: u32, runs: &mut Vec<Run>) {
        if count == 0 {
            return;
        }
        if self.gaps.is_none() && self.late.is_none() && self.scrambled.is_none() {
            return runs.push(Run { device, first, count });
        }
        let mut open: Option<Run> = None;
        for position in first..first + u64::from(count) {
            let index = self.index(device, position);
            match &mut open {
                Some(run) if run.indices().end == index => run.count += 1,
                _ => runs.extend(open.replace(Run { device, first: index, count: 1 })),
            }
        }
        runs.extend(open);
    }

    /// The index that a device sends at a position.
    #[must_use]
    pub fn index(&self, device: u32, position: u64) -> u64 {
        let hash = self.hash.derive(device.into());
        let position = self.scrambled.map_or(position, |s| s.position(hash.derive(2), position));
        let position = self.late.map_or(position, |l| l.index(hash.derive(1), position));
        self.gaps.map_or(position, |g| g.index(hash.derive(0), position))
    }

    /// The position at which a device sends an index that is not missing.
    #[must_use]
    pub fn position_of(&self, device: u32, index: u64) -> u64 {
        let hash = self.hash.derive(device.into());
        let position = self.gaps.map_or(index, |g| g.present_before(hash.derive(0), index));
        let position = self.late.map_or(position, |l| l.position(hash.derive(1), position));
        self.scrambled.map_or(position, |s| s.place_of(hash.derive(2), position))
    }

    /// How many datapoints before an index are not missing.
    #[must_use]
    pub fn positions_before(&self, device: u32, index: u64) -> u64 {
        let hash = self.hash.derive(device.into());
        self.gaps.map_or(index, |g| g.present_before(hash.derive(0), index))
    }
}

impl Gaps {
    fn start(self, hash: CounterHash, block: u64) -> u64 {
        hash.below(block, self.block - self.length + 1)
    }

    fn index(self, hash: CounterHash, position: u64) -> u64 {
        let present = self.block - self.length;
        let (block, within) = (position / present, position % present);
        let skipped = if within < self.start(hash, block) { 0 } else { self.length };
        block * self.block + within + skipped
    }

    fn present_before(self, hash: CounterHash, index: u64) -> u64 {
        let (block, within) = (index / self.block, index % self.block);
        let start = self.start(hash, block);
        let present = if within <= start { within } else { start.max(within.saturating_sub(self.length)) };
        block * (self.block - self.length) + present
    }
}

/// Slot x sends x, unless that is late, and then the late datapoint that waited until now, `x - by`, if there is one.
impl Late {
    fn is_late(self, hash: CounterHash, index: u64) -> bool {
        hash.below(index / self.one_in, self.one_in) == index % self.one_in
    }

    /// How many late indices there are before this one.
    fn late_before(self, hash: CounterHash, index: u64) -> u64 {
        let (block, within) = (index / self.one_in, index % self.one_in);
        block + u64::from(hash.below(block, self.one_in) < within)
    }

    /// How many datapoints are sent before slot x; never falls as x grows.
    fn sent_before(self, hash: CounterHash, slot: u64) -> u64 {
        slot - self.late_before(hash, slot) + self.late_before(hash, slot.saturating_sub(self.by))
    }

    fn index(self, hash: CounterHash, position: u64) -> u64 {
        // At most by / one_in + 2 datapoints wait at a time, so that the slot is not farther than that.
        let (mut slot, mut beyond) = (position, position + self.by / self.one_in + 3);
        while beyond - slot > 1 {
            let middle = slot + (beyond - slot) / 2;
            if self.sent_before(hash, middle) <= position {
                slot = middle;
            } else {
                beyond = middle;
            }
        }
        let is_second = self.sent_before(hash, slot) < position;
        match slot.checked_sub(self.by) {
            Some(late) if is_second || self.is_late(hash, slot) => late,
            _ => slot,
        }
    }

    /// The position at which an index is sent.
    fn position(self, hash: CounterHash, index: u64) -> u64 {
        if !self.is_late(hash, index) {
            return self.sent_before(hash, index);
        }
        let slot = index + self.by;
        self.sent_before(hash, slot) + u64::from(!self.is_late(hash, slot))
    }
}

impl Scrambled {
    /// What is sent at a position.
    fn position(self, hash: CounterHash, position: u64) -> u64 {
        let window = u64::from(self.window);
        let (stretch, within) = (position / window, position % window);
        let Some(places) = self.places(hash.derive(stretch)) else { return position };
        let place = usize::try_from(within).ok().and_then(|i| places.get(i));
        stretch * window + place.copied().unwrap_or(within)
    }

    /// The position at which that is sent: the inverse of [`position`](Self::position).
    fn place_of(self, hash: CounterHash, position: u64) -> u64 {
        let window = u64::from(self.window);
        let (stretch, within) = (position / window, position % window);
        let Some(places) = self.places(hash.derive(stretch)) else { return position };
        let place = (0..).zip(places).find_map(|(place, sent): (u64, u64)| (sent == within).then_some(place));
        stretch * window + place.unwrap_or(within)
    }

    /// A cyclic permutation (Sattolo 1986) of a stretch: no datapoint stays in its place. `None`: it is not scrambled.
    fn places(self, hash: CounterHash) -> Option<[u64; MAX_WINDOW as usize]> {
        if hash.at(0) >= self.share {
            return None;
        }
        let mut places: [u64; MAX_WINDOW as usize] = std::array::from_fn(|i| i as u64);
        for last in (1..self.window).rev() {
            places.swap(last as usize, below(hash.at(last.into()), last) as usize);
        }
        Some(places)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "below a 32-bit bound")]
fn below(bits: u64, bound: u32) -> u32 {
    scale(bits, bound.into()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{option, prelude::*};
    use std::collections::HashSet;

    fn gaps() -> impl Strategy<Value = Gaps> {
        (1_u64..50, 1_u64..500).prop_map(|(length, present)| Gaps { block: length + present, length })
    }

    fn late() -> impl Strategy<Value = Late> {
        (2_u64..100, 1_u64..1000).prop_map(|(one_in, by)| Late { one_in, by })
    }

    fn scrambled() -> impl Strategy<Value = Scrambled> {
        (any::<u64>(), 2..=MAX_WINDOW).prop_map(|(share, window)| Scrambled { share, window })
    }

    const POSITIONS: u64 = 4000;

    proptest! {
        #[test]
        fn no_datapoint_is_sent_twice_and_none_is_left_out(
            seed: u64, device: u32, gaps in option::of(gaps()), late in option::of(late()), scrambled in option::of(scrambled())
        ) {
            let order = SendingOrder::new(seed, gaps, late, scrambled);
            let sent: HashSet<u64> = (0..POSITIONS).map(|p| order.index(device, p)).collect();
            prop_assert_eq!(sent.len() as u64, POSITIONS);
            // What is missing so far is missing for good, late, or in the stretch that is not yet complete.
            let wait = late.map_or(0, |l| l.by + l.by / l.one_in + 4) + u64::from(MAX_WINDOW);
            let settled = POSITIONS.saturating_sub(wait);
            let expected = SendingOrder::new(seed, gaps, None, None);
            for position in 0..settled {
                prop_assert!(sent.contains(&expected.index(device, position)), "position {}", position);
            }
        }

        #[test]
        fn runs_are_the_order_however_it_is_cut(
            seed: u64, gaps in option::of(gaps()), late in option::of(late()), scrambled in option::of(scrambled()),
            first in 0_u64..1 << 40, cut in 1_u32..500
        ) {
            let order = SendingOrder::new(seed, gaps, late, scrambled);
            let mut runs = Vec::new();
            order.runs(1, first, cut, &mut runs);
            order.runs(1, first + u64::from(cut), 500 - cut, &mut runs);
            let sent: Vec<u64> = runs.iter().flat_map(Run::indices).collect();
            let expected: Vec<u64> = (first..first + 500).map(|p| order.index(1, p)).collect();
            prop_assert_eq!(sent, expected);
        }

        #[test]
        fn the_position_of_what_is_sent_is_where_it_is_sent(
            seed: u64, device: u32, gaps in option::of(gaps()), late in option::of(late()), scrambled in option::of(scrambled()),
            first in 0_u64..1 << 40
        ) {
            let order = SendingOrder::new(seed, gaps, late, scrambled);
            for position in (0..500).chain(first..first + 500) {
                prop_assert_eq!(order.position_of(device, order.index(device, position)), position);
            }
        }

        #[test]
        fn positions_before_an_index_are_those_that_send_less(seed: u64, gaps in gaps(), index in 0_u64..3000) {
            let order = SendingOrder::new(seed, Some(gaps), None, None);
            let before = (0..POSITIONS).filter(|&p| order.index(0, p) < index).count() as u64;
            prop_assert_eq!(order.positions_before(0, index), before);
        }

        #[test]
        fn a_gap_is_as_long_and_as_frequent_as_asked(seed: u64, gaps in gaps()) {
            let order = SendingOrder::new(seed, Some(gaps), None, None);
            let blocks = 10;
            prop_assert_eq!(order.positions_before(0, blocks * gaps.block), blocks * (gaps.block - gaps.length));
        }

        #[test]
        fn late_ones_are_late_by_what_was_asked(seed: u64, late in late().prop_filter("several late in a row are in order", |l| l.by > 4)) {
            let order = SendingOrder::new(seed, None, Some(late), None);
            let mut newest = 0;
            let mut late_ones = 0;
            for position in 0..POSITIONS {
                let index = order.index(0, position);
                if index < newest {
                    late_ones += 1;
                    prop_assert!((late.by.saturating_sub(2)..=late.by).contains(&(newest - index)), "{} behind {}", index, newest);
                } else {
                    newest = index;
                }
            }
            let due = POSITIONS.saturating_sub(late.by) / late.one_in;
            let waiting = late.by / late.one_in + 3;
            prop_assert!((due.saturating_sub(waiting)..=due + waiting).contains(&late_ones), "{} late, {} due", late_ones, due);
        }
    }

    #[test]
    fn the_share_of_scrambled_datapoints_is_as_asked() {
        let order = SendingOrder::new(5, None, None, Some(Scrambled { share: u64::MAX / 10, window: 8 }));
        let moved = (0..100_000).filter(|&p| order.index(0, p) != p).count();
        assert!((9_000..11_000).contains(&moved), "{moved}");
    }
}
