//! Drawing from a few values with given weights.

/// Draws numbers `0..n` with given weights in constant time (the alias method; Vose, "A linear algorithm for generating
/// random numbers with a given distribution", 1991).
#[derive(Clone, Debug)]
pub struct AliasTable {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Below this the slot's own number is drawn, else its alias.
    threshold: u32,
    alias: u32,
}

impl AliasTable {
    /// A table for these weights; `None` unless they are finite, not negative, not all 0, and at most 2^24 in number.
    #[must_use]
    pub fn new(weights: &[f64]) -> Option<Self> {
        let count = u32::try_from(weights.len()).ok().filter(|&n| n <= 1 << 24)?;
        let sum: f64 = weights.iter().sum();
        if !(sum > 0.0 && sum.is_finite() && weights.iter().all(|&w| w >= 0.0)) {
            return None;
        }
        let mut shares: Vec<f64> = weights.iter().map(|w| w / sum * f64::from(count)).collect();
        let mut slots: Vec<Slot> = (0..count).map(|alias| Slot { threshold: u32::MAX, alias }).collect();
        let (mut small, mut large): (Vec<u32>, Vec<u32>) = (0..count).partition(|&i| shares[i as usize] < 1.0);
        while let (Some(poor), Some(&rich)) = (small.pop(), large.last()) {
            let share = shares[poor as usize];
            slots[poor as usize] = Slot { threshold: threshold(share), alias: rich };
            shares[rich as usize] -= 1.0 - share;
            if shares[rich as usize] < 1.0 {
                large.pop();
                small.push(rich);
            }
        }
        Some(Self { slots })
    }

    /// The number that 64 random bits draw.
    #[must_use]
    pub fn draw(&self, bits: u64) -> u32 {
        let [a, b, c, d, low @ ..] = bits.to_le_bytes();
        let (place, coin) = (u64::from(u32::from_le_bytes([a, b, c, d])), u32::from_le_bytes(low));
        let own = ((place * self.slots.len() as u64) >> 32) as u32;
        match self.slots.get(own as usize) {
            Some(slot) if coin >= slot.threshold => slot.alias,
            _ => own,
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 0 to 1 of 2^32, cut off there")]
fn threshold(share: f64) -> u32 {
    (share * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter_hash::CounterHash;

    #[test]
    fn numbers_come_as_often_as_they_weigh() {
        let table = AliasTable::new(&[1.0, 0.0, 3.0, 6.0]).unwrap();
        let mut counts = [0_u32; 4];
        for i in 0..100_000 {
            counts[table.draw(CounterHash::new(1).at(i)) as usize] += 1;
        }
        assert!(counts[1] == 0, "{counts:?}");
        for (count, expected) in [(counts[0], 10_000), (counts[2], 30_000), (counts[3], 60_000)] {
            assert!(count.abs_diff(expected) < 800, "{counts:?}");
        }
    }

    #[test]
    fn impossible_weights_are_refused() {
        for bad in [&[][..], &[0.0], &[-1.0, 2.0], &[f64::NAN], &[f64::INFINITY]] {
            assert!(AliasTable::new(bad).is_none(), "{bad:?}");
        }
    }
}
