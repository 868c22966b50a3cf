//! A stateless random number generator: the n-th number of a stream is a hash of n.

/// Weyl increment of `SplitMix64`.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A stream of random numbers in which any number can be asked for directly.
///
/// The n-th number is what the generator `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014) would deliver at its n-th call, so that no state is kept and the order of asking is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterHash(u64);

impl CounterHash {
    /// The stream of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(mix(seed))
    }

    /// A stream of its own for a part (a device, a signal), independent of this one.
    #[must_use]
    pub fn derive(self, part: u64) -> Self {
        Self(mix(self.0 ^ mix(part.wrapping_add(GOLDEN_GAMMA))))
    }

    /// The number at this place of the stream: 64 uniform bits.
    #[must_use]
    #[inline]
    pub fn at(self, index: u64) -> u64 {
        mix(self.0.wrapping_add(index.wrapping_mul(GOLDEN_GAMMA)))
    }

    /// A uniform number in `0..bound`; 0 when the bound is 0.
    #[must_use]
    #[inline]
    pub fn below(self, index: u64, bound: u64) -> u64 {
        scale(self.at(index), bound)
    }

    /// A uniform number in `[0, 1)` with 53 random bits.
    #[must_use]
    #[inline]
    pub fn unit(self, index: u64) -> f64 {
        unit(self.at(index))
    }
}

/// Maps 64 random bits to `0..bound` by multiplication (Lemire 2019, without rejection: the bias is below bound / 2^64).
#[inline]
pub fn scale(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

/// Maps 64 random bits to `[0, 1)`.
#[inline]
#[expect(clippy::cast_precision_loss, reason = "53 bits are exact in f64")]
pub fn unit(bits: u64) -> f64 {
    const ULP: f64 = 1.0 / 9_007_199_254_740_992.0;
    (bits >> 11) as f64 * ULP
}

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first outputs of the published `SplitMix64` with state 1234567.
    #[test]
    fn the_mixer_is_that_of_splitmix64() {
        let outputs: Vec<u64> =
            (1..=3).map(|n| mix(1_234_567_u64.wrapping_add(GOLDEN_GAMMA.wrapping_mul(n)))).collect();
        assert_eq!(outputs, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_fill_their_range_evenly() {
        let stream = CounterHash::new(1).derive(2);
        let mut counts = [0_u32; 10];
        for i in 0..100_000 {
            counts[usize::try_from(stream.below(i, 10)).unwrap()] += 1;
            assert!((0.0..1.0).contains(&stream.unit(i)));
        }
        assert!(counts.iter().all(|&c| (9_600..10_400).contains(&c)), "{counts:?}");
    }

    #[test]
    fn neighbouring_parts_and_seeds_are_unrelated() {
        let a = CounterHash::new(1);
        for other in [CounterHash::new(2), a.derive(0), a.derive(1), a.derive(0).derive(0)] {
            let agreeing: u32 = (0..1000).map(|i| (!(a.at(i) ^ other.at(i))).count_ones()).sum();
            assert!((31_000..33_000).contains(&agreeing), "{agreeing} of 64,000 bits agree");
        }
    }
}
