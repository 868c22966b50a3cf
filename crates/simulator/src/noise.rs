//! Noise that looks normal and is bounded.

use crate::counter_hash::CounterHash;

/// A noise value of mean 0 and standard deviation 1: the sum of four uniform numbers, made of the 64 bits of one hash
/// (Irwin-Hall distribution), hence never beyond ±3.4642. It needs no logarithm and no cosine, so that it is the same on any machine.
#[must_use]
#[inline]
pub fn normal(bits: u64) -> f64 {
    // The sum of four uniform 16-bit numbers has the mean 131,070 and the standard deviation 65,536 / sqrt(3).
    const SCALE: f64 = 1.732_050_807_568_877_2 / 65_536.0;
    let sum = (bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48);
    #[expect(clippy::cast_possible_truncation, reason = "four 16-bit numbers add up to 18 bits")]
    let sum = sum as i32;
    f64::from(sum - 131_070) * SCALE
}

/// The noise value at this place of a stream.
#[must_use]
#[inline]
pub fn normal_at(stream: CounterHash, index: u64) -> f64 {
    normal(stream.at(index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_deviation_tails_and_bound_are_those_of_noise() {
        let stream = CounterHash::new(7);
        let values: Vec<f64> = (0..200_000).map(|i| normal_at(stream, i)).collect();
        let n = 200_000.0;
        let mean = values.iter().sum::<f64>() / n;
        let deviation = (values.iter().map(|v| v * v).sum::<f64>() / n).sqrt();
        assert!(mean.abs() < 0.01, "mean {mean}");
        assert!((deviation - 1.0).abs() < 0.01, "standard deviation {deviation}");
        let beyond_two = values.iter().filter(|v| v.abs() > 2.0).count();
        assert!((6_000..10_500).contains(&beyond_two), "{beyond_two} beyond two standard deviations");
    }

    #[test]
    fn the_extremes_stay_inside_the_bound() {
        const BOUND: f64 = 3.464_2;
        assert!(normal(0) >= -BOUND && normal(u64::MAX) <= BOUND);
        assert!(normal(u64::MAX) > BOUND - 0.001);
    }
}
