//! Series of known truth, from a fixed seed.

/// Standard normal and log-normal deviates, and series with a memory.
pub struct Noise(fastrand::Rng);

impl Noise {
    pub fn with_seed(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    /// Box and Muller 1958.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.0.f64()).cos()
    }

    /// With the mean 1.
    pub fn log_normal(&mut self, sigma: f64) -> f64 {
        (sigma * self.normal() - sigma * sigma / 2.0).exp()
    }

    /// AR(1): each value is `memory` of the one before it and noise; standard deviation 1 throughout.
    pub fn with_memory(&mut self, memory: f64, count: usize) -> Vec<f64> {
        let fresh = (1.0 - memory * memory).sqrt();
        let mut value = self.normal();
        let mut next = || {
            value = memory * value + fresh * self.normal();
            value
        };
        (0..count).map(|_| next()).collect()
    }
}

/// The share of so many experiments that `holds`.
pub fn share(experiments: u32, mut holds: impl FnMut(u64) -> bool) -> f64 {
    let held = (0..experiments).filter(|&seed| holds(u64::from(seed))).count();
    held as f64 / f64::from(experiments)
}
