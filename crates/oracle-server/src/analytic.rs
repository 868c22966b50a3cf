//! Closed formulae for response times, in seconds and requests per second.
//!
//! A function returns `None` where its formula does not hold: a load that the server cannot carry, or arguments without
//! meaning.
//!
//! Queueing formulae after L. Kleinrock, *Queueing Systems, Volume 1: Theory* (1975).

/// An open load with constant arrivals on a first-come-first-served server with constant service time that freezes once
/// in the observed window, and catches up within it.
///
/// A request that arrives `u` after the freeze begins waits `stall − u (1 − utilisation)`, down to 0. So the waits that
/// the stall causes are uniform, and the quantiles follow. Exact up to the gap between two arrivals. With utilisation 0
/// it is the limit for a server that takes any number of requests at once.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StalledQueue {
    /// Length of the freeze.
    pub stall_s: f64,
    /// Length of the observed window.
    pub window_s: f64,
    /// Arrival rate × service time.
    pub utilisation: f64,
    /// Service time.
    pub service_s: f64,
}

impl StalledQueue {
    /// The `q`-quantile of response time, 0 ≤ q ≤ 1: `stall − (1 − q)(1 − utilisation) window + service`, and at least
    /// the service time.
    #[must_use]
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        let wait_s = self.stall_s - (1.0 - q) * (1.0 - self.utilisation) * self.window_s;
        ((0.0..=1.0).contains(&q) && self.holds()).then(|| wait_s.max(0.0) + self.service_s)
    }

    /// The mean response time: `stall² / (2 window (1 − utilisation)) + service`.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        let wait_s = self.stall_s.powi(2) / (2.0 * self.window_s * (1.0 - self.utilisation));
        self.holds().then_some(wait_s + self.service_s)
    }

    fn holds(&self) -> bool {
        let catch_up_s = self.stall_s / (1.0 - self.utilisation);
        (0.0..1.0).contains(&self.utilisation)
            && self.stall_s >= 0.0
            && self.service_s >= 0.0
            && catch_up_s <= self.window_s
    }
}

/// M/M/1, the mean response time: `1 / (μ − λ)`.
#[must_use]
pub fn mm1_mean_s(arrivals_per_s: f64, capacity_per_s: f64) -> Option<f64> {
    is_carried(arrivals_per_s, capacity_per_s).then(|| 1.0 / (capacity_per_s - arrivals_per_s))
}

/// M/M/1, the `q`-quantile of response time, 0 ≤ q < 1: `−ln(1 − q) / (μ − λ)`.
#[must_use]
pub fn mm1_quantile_s(arrivals_per_s: f64, capacity_per_s: f64, q: f64) -> Option<f64> {
    exponential_quantile_s(mm1_mean_s(arrivals_per_s, capacity_per_s)?, q)
}

/// M/M/1, the highest arrival rate whose `q`-quantile of response time is within `limit_s`: `μ + ln(1 − q) / limit`.
#[must_use]
pub fn mm1_arrivals_within_per_s(capacity_per_s: f64, q: f64, limit_s: f64) -> Option<f64> {
    let arrivals_per_s = capacity_per_s + (1.0 - q).ln() / limit_s;
    ((0.0..1.0).contains(&q) && limit_s > 0.0 && is_carried(arrivals_per_s, capacity_per_s)).then_some(arrivals_per_s)
}

/// M/D/1, the mean response time: `1/μ + ρ / (2 μ (1 − ρ))`.
#[must_use]
pub fn md1_mean_s(arrivals_per_s: f64, capacity_per_s: f64) -> Option<f64> {
    let utilisation = arrivals_per_s / capacity_per_s;
    is_carried(arrivals_per_s, capacity_per_s)
        .then(|| (1.0 + utilisation / (2.0 * (1.0 - utilisation))) / capacity_per_s)
}

/// D/M/1 (constant arrivals, exponential service), the mean response time: `1 / (μ (1 − σ))`, where σ is the root in
/// [0, 1) of `σ = exp(−(1 − σ) μ/λ)`.
#[must_use]
pub fn dm1_mean_s(arrivals_per_s: f64, capacity_per_s: f64) -> Option<f64> {
    if !is_carried(arrivals_per_s, capacity_per_s) {
        return None;
    }
    if arrivals_per_s == 0.0 {
        return Some(1.0 / capacity_per_s);
    }
    // The difference f(σ) = exp(−(1 − σ) μ/λ) − σ is convex, positive at 0 and 0 at 1, so it is negative exactly
    // between the root and 1: bisect for the change of sign.
    let (mut below, mut above) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(below, above);
        let is_below = (-(1.0 - middle) * capacity_per_s / arrivals_per_s).exp() > middle;
        if is_below { below = middle } else { above = middle }
    }
    Some(1.0 / (capacity_per_s * (1.0 - below)))
}

/// D/M/1, the `q`-quantile of response time, 0 ≤ q < 1: response time is exponential with the mean of [`dm1_mean_s`].
#[must_use]
pub fn dm1_quantile_s(arrivals_per_s: f64, capacity_per_s: f64, q: f64) -> Option<f64> {
    exponential_quantile_s(dm1_mean_s(arrivals_per_s, capacity_per_s)?, q)
}

fn exponential_quantile_s(mean_s: f64, q: f64) -> Option<f64> {
    (0.0..1.0).contains(&q).then(|| -(1.0 - q).ln() * mean_s)
}

fn is_carried(arrivals_per_s: f64, capacity_per_s: f64) -> bool {
    (0.0..capacity_per_s).contains(&arrivals_per_s) && capacity_per_s.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(actual: Option<f64>, expected: f64) {
        let actual = actual.unwrap();
        assert!((actual - expected).abs() <= 1e-4 * expected.abs(), "{actual} is not {expected}");
    }

    #[test]
    fn stalled_queue_as_worked_out_by_hand() {
        // 1 s of 30 s, 1000 requests/s at half load: the worst 1 % are 0.3 s of arrivals, and waits fall by 0.5 s per s.
        let queue = StalledQueue { stall_s: 1.0, window_s: 30.0, utilisation: 0.5, service_s: 0.0005 };
        assert_close(queue.quantile_s(0.99), 0.8505);
        assert_close(queue.quantile_s(1.0), 1.0005);
        assert_close(queue.quantile_s(0.5), 0.0005);
        // 2 s of 30 s wait 0.5 s on average.
        assert_close(queue.mean_s(), 1.0 / 30.0 + 0.0005);
    }

    #[test]
    fn textbook_values() {
        assert_close(mm1_mean_s(500.0, 1000.0), 0.002);
        assert_close(mm1_quantile_s(500.0, 1000.0, 0.99), 0.009_210_3);
        assert_close(mm1_arrivals_within_per_s(1000.0, 0.99, 0.05), 907.897);
        assert_close(md1_mean_s(500.0, 1000.0), 0.0015);
        // σ = exp(−2 (1 − σ)) has the root 0.203188.
        assert_close(dm1_mean_s(500.0, 1000.0), 0.001 / (1.0 - 0.203_188));
        assert_close(dm1_quantile_s(500.0, 1000.0, 0.5), 2_f64.ln() * 0.001 / (1.0 - 0.203_188));
        assert_close(dm1_mean_s(0.0, 1000.0), 0.001);
    }

    #[test]
    fn no_figure_where_the_formula_does_not_hold() {
        let queue = StalledQueue { stall_s: 1.0, window_s: 30.0, utilisation: 0.5, service_s: 0.0005 };
        assert_eq!(StalledQueue { utilisation: 1.0, ..queue }.mean_s(), None);
        assert_eq!(StalledQueue { window_s: 1.9, ..queue }.quantile_s(0.5), None);
        assert_eq!(queue.quantile_s(1.1), None);
        for overload in [1000.0, 1001.0, -1.0, f64::NAN] {
            assert_eq!(mm1_mean_s(overload, 1000.0), None);
            assert_eq!(md1_mean_s(overload, 1000.0), None);
            assert_eq!(dm1_mean_s(overload, 1000.0), None);
        }
        assert_eq!(mm1_quantile_s(500.0, 1000.0, 1.0), None);
        assert_eq!(mm1_arrivals_within_per_s(1000.0, 0.99, 0.001), None);
    }
}
