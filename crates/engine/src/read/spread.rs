//! How draws of devices and moments are spread: evenly, or as people ask.

use crate::{
    profile::{DeviceDraw, DrawConfig, MomentDraw},
    schedule::mix,
};

/// The exponent of YCSB's Zipfian generator (Cooper et al., `SoCC` 2010).
const EXPONENT: f64 = 0.99;
/// Recent moments are so many times younger than the history is long, in the mean.
const YOUNGER: f64 = 10.0;

/// Draws a device, and a moment of its history.
#[derive(Clone, Debug)]
pub struct Spread {
    zipf: Option<Zipf>,
    moments: MomentDraw,
}

impl Spread {
    /// Over so many devices.
    #[must_use]
    pub fn new(config: DrawConfig, devices: u32, seed: u64) -> Self {
        let zipf = (config.devices == DeviceDraw::Zipf).then(|| Zipf::new(devices, seed));
        Self { zipf, moments: config.moments }
    }

    /// One of the first so many devices. `variate` is uniform between 0 and 1.
    #[must_use]
    pub fn device(&self, limit: u64, variate: f64) -> u64 {
        match &self.zipf {
            // The last devices are no first ones of several: these begin at the front again.
            Some(zipf) => zipf.device(variate).checked_rem(limit).unwrap_or(0),
            None => evenly(limit, variate),
        }
    }

    /// One of so many moments, the oldest of which is 0.
    #[must_use]
    pub fn moment(&self, limit: u64, variate: f64) -> u64 {
        match self.moments {
            MomentDraw::Uniform => evenly(limit, variate),
            MomentDraw::Recent => {
                // The inverse of an exponential distribution that is cut off at the oldest.
                let age = -(-variate * -(-YOUNGER).exp_m1()).ln_1p() / YOUNGER;
                limit.saturating_sub(1) - evenly(limit, age)
            }
        }
    }
}

/// A number from 0 up to, but without, `limit`.
pub fn evenly(limit: u64, variate: f64) -> u64 {
    #[expect(clippy::cast_precision_loss, reason = "a draw needs no more than 53 bits")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a positive number")]
    let drawn = (variate * limit as f64) as u64;
    drawn.min(limit.saturating_sub(1))
}

/// The nth most popular device is asked for in proportion to n^-0.99. Which is which follows from the seed, so that the popular
/// ones are not neighbours.
#[derive(Clone, Debug)]
struct Zipf {
    devices: u64,
    zeta: f64,
    alpha: f64,
    eta: f64,
    step: u64,
    first: u64,
}

impl Zipf {
    fn new(devices: u32, seed: u64) -> Self {
        let n = f64::from(devices.max(1));
        let zeta: f64 = (1..=devices.max(1)).map(|rank| f64::from(rank).powf(-EXPONENT)).sum();
        let of_two = 1.0 + 2_f64.powf(-EXPONENT);
        let eta = (1.0 - (2.0 / n).powf(1.0 - EXPONENT)) / (1.0 - of_two / zeta);
        let devices = u64::from(devices.max(1));
        // A step that has no divisor in common with their number reaches each of them once.
        let mut step = (mix(seed, 0) % devices) | 1;
        while greatest_common_divisor(step, devices) != 1 {
            step += 1;
        }
        Self { devices, zeta, alpha: 1.0 / (1.0 - EXPONENT), eta, step, first: mix(seed, 1) % devices }
    }

    fn device(&self, variate: f64) -> u64 {
        let place = u128::from(self.first) + u128::from(self.step) * u128::from(self.rank(variate));
        u64::try_from(place % u128::from(self.devices)).unwrap_or(0)
    }

    /// From 0, the most popular one: Gray et al., "Quickly generating billion-record synthetic databases" (SIGMOD 1994).
    fn rank(&self, variate: f64) -> u64 {
        let weight = variate * self.zeta;
        if weight < 1.0 {
            return 0;
        }
        if weight < 1.0 + 2_f64.powf(-EXPONENT) {
            return 1.min(self.devices - 1);
        }
        evenly(self.devices, (self.eta * variate - self.eta + 1.0).powf(self.alpha))
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::uniform;
    use std::collections::HashMap;

    const DRAWS: u64 = 100_000;

    fn spread(devices: DeviceDraw, moments: MomentDraw, of: u32) -> Spread {
        Spread::new(DrawConfig { devices, moments }, of, 7)
    }

    #[test]
    fn popular_devices_are_asked_for_as_zipf_has_it() {
        let spread = spread(DeviceDraw::Zipf, MomentDraw::Uniform, 1_000);
        let mut seen = HashMap::new();
        for number in 0..DRAWS {
            *seen.entry(spread.device(1_000, uniform(3, number))).or_insert(0_u32) += 1;
        }
        let mut counts: Vec<_> = seen.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let zeta: f64 = (1..=1_000).map(|rank| f64::from(rank).powf(-EXPONENT)).sum();
        let expected = |rank: f64| DRAWS as f64 * rank.powf(-EXPONENT) / zeta;
        for (place, rank) in [(0, 1.0), (1, 2.0), (9, 10.0), (99, 100.0)] {
            let (count, expected) = (f64::from(counts[place]), expected(rank));
            assert!((count - expected).abs() < 0.25 * expected, "rank {rank}: {count} instead of {expected}");
        }
        assert!(seen.keys().all(|&device| device < 1_000) && seen.len() > 900, "{}", seen.len());
        let mut popular: Vec<_> = seen.iter().map(|(device, count)| (*count, *device)).collect();
        popular.sort_unstable_by(|a, b| b.cmp(a));
        assert_ne!(popular[0].1.abs_diff(popular[1].1), 1, "neighbours");
    }

    #[test]
    fn every_device_has_one_rank() {
        for devices in [1_u32, 2, 3, 10, 64, 97, 1_000] {
            let zipf = Zipf::new(devices, 11);
            let place = |rank: u64| (zipf.first + zipf.step * rank) % u64::from(devices);
            let mut all: Vec<_> = (0..devices.into()).map(place).collect();
            all.sort_unstable();
            assert_eq!(all, (0..devices.into()).collect::<Vec<u64>>());
            let variates = [0.0, 1e-9, 0.5, 1.0 - 1e-9];
            assert!(variates.iter().all(|&variate| zipf.device(variate) < devices.into()), "{devices}");
        }
    }

    #[test]
    fn recent_moments_are_asked_for_more_often() {
        let spread = spread(DeviceDraw::Uniform, MomentDraw::Recent, 1);
        let drawn: Vec<_> = (0..DRAWS).map(|number| spread.moment(1_000, uniform(5, number))).collect();
        let newest_tenth = drawn.iter().filter(|&&moment| moment >= 900).count() as f64 / DRAWS as f64;
        // 1 - 1/e of what is left of the whole distribution.
        assert!((newest_tenth - 0.632).abs() < 0.01, "{newest_tenth}");
        assert!(drawn.iter().all(|&moment| moment < 1_000) && drawn.iter().any(|&moment| moment < 300));
        assert_eq!((spread.moment(1, 0.99), spread.moment(1, 0.0)), (0, 0));
    }

    #[test]
    fn without_a_wish_all_are_equal() {
        let spread = spread(DeviceDraw::Uniform, MomentDraw::Uniform, 10);
        let drawn: Vec<_> = (0..10_u32).map(|place| spread.device(10, (f64::from(place) + 0.5) / 10.0)).collect();
        assert_eq!(drawn, (0..10).collect::<Vec<u64>>());
        assert_eq!((spread.moment(4, 0.0), spread.moment(4, 0.999)), (0, 3));
    }
}
