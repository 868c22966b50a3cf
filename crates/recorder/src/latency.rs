//! The three durations of an operation, and their histograms.

use serde::{Deserialize, Serialize};

use crate::histogram::LatencyHistogram;

/// The three instants of an answered operation or request, in nanoseconds since the run's epoch, in their order.
///
/// Only the instants are kept, so that response = lag + service holds by construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    intended_ns: u64,
    sent_ns: u64,
    replied_ns: u64,
    own_delay_ns: u64,
}

impl Timing {
    /// The timing of what was due at `intended_ns`, sent at `sent_ns` and answered by its last reply at `replied_ns`.
    ///
    /// `None` when the instants are out of order: no duration is negative, and the caller must count the sample as lost.
    #[must_use]
    pub const fn new(intended_ns: u64, sent_ns: u64, replied_ns: u64) -> Option<Self> {
        if intended_ns <= sent_ns && sent_ns <= replied_ns {
            Some(Self { intended_ns, sent_ns, replied_ns, own_delay_ns: 0 })
        } else {
            None
        }
    }

    /// The same of what the client sent `own_delay_ns` later than it could have; at most the lag is its own.
    #[must_use]
    pub const fn with_own_delay(self, own_delay_ns: u64) -> Self {
        let lag_ns = self.lag_ns();
        Self { own_delay_ns: if own_delay_ns < lag_ns { own_delay_ns } else { lag_ns }, ..self }
    }

    /// When it was due.
    #[must_use]
    pub const fn intended_ns(&self) -> u64 {
        self.intended_ns
    }

    /// When it was sent.
    #[must_use]
    pub const fn sent_ns(&self) -> u64 {
        self.sent_ns
    }

    /// When its last reply came, or when it was given up.
    #[must_use]
    pub const fn replied_ns(&self) -> u64 {
        self.replied_ns
    }

    /// From the intended start to the send.
    #[must_use]
    pub const fn lag_ns(&self) -> u64 {
        self.sent_ns - self.intended_ns
    }

    /// From the send to the last reply.
    #[must_use]
    pub const fn service_ns(&self) -> u64 {
        self.replied_ns - self.sent_ns
    }

    /// From the intended start to the last reply: what a user waits.
    #[must_use]
    pub const fn response_ns(&self) -> u64 {
        self.replied_ns - self.intended_ns
    }

    /// The response time without the client's own delay.
    #[must_use]
    pub const fn undelayed_ns(&self) -> u64 {
        self.response_ns() - self.own_delay_ns
    }
}

/// Histograms of the three durations of the same operations or requests, and of the response without the client's own delay.
/// None of them is simply called latency.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    lag: LatencyHistogram,
    service: LatencyHistogram,
    response: LatencyHistogram,
    undelayed: LatencyHistogram,
}

impl Latency {
    /// Records the durations of one operation or request.
    #[inline]
    pub fn record(&mut self, timing: &Timing) {
        debug_assert_eq!(timing.lag_ns() + timing.service_ns(), timing.response_ns());
        self.lag.record(timing.lag_ns());
        self.service.record(timing.service_ns());
        self.response.record(timing.response_ns());
        self.undelayed.record(timing.undelayed_ns());
    }

    /// From the distributions of the same operations or requests; `undelayed` is empty where it is not known.
    #[must_use]
    pub fn from_parts(
        lag: LatencyHistogram,
        service: LatencyHistogram,
        response: LatencyHistogram,
        undelayed: LatencyHistogram,
    ) -> Self {
        Self { lag, service, response, undelayed }
    }

    /// Adds all that `other` holds.
    pub fn merge(&mut self, other: &Self) {
        self.lag.merge(&other.lag);
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.undelayed.merge(&other.undelayed);
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        self.lag.clear();
        self.service.clear();
        self.response.clear();
        self.undelayed.clear();
    }

    /// From the intended start to the send.
    #[must_use]
    pub fn lag(&self) -> &LatencyHistogram {
        &self.lag
    }

    /// From the send to the last reply.
    #[must_use]
    pub fn service(&self) -> &LatencyHistogram {
        &self.service
    }

    /// From the intended start to the last reply.
    #[must_use]
    pub fn response(&self) -> &LatencyHistogram {
        &self.response
    }

    /// The response without the client's own delay; empty where that is not known.
    #[must_use]
    pub fn undelayed(&self) -> &LatencyHistogram {
        &self.undelayed
    }

    /// Operations or requests recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.response.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_lag_at_most_all_is_the_clients_own() {
        let timing = Timing::new(100, 110, 150).unwrap();
        assert_eq!((timing.intended_ns(), timing.sent_ns(), timing.replied_ns()), (100, 110, 150));
        let undelayed = |own_ns| timing.with_own_delay(own_ns).undelayed_ns();
        assert_eq!([0, 4, 10, 20].map(undelayed), [50, 46, 40, 40]);
        assert_eq!(timing.with_own_delay(4).response_ns(), 50, "the response stays what it was");
    }

    #[test]
    fn distributions_that_were_recorded_elsewhere_keep_their_places() {
        let of = |ns| {
            let mut histogram = LatencyHistogram::new();
            histogram.record(ns);
            histogram
        };
        let latency = Latency::from_parts(of(1), of(2), of(3), of(4));
        let all = [latency.lag(), latency.service(), latency.response(), latency.undelayed()];
        assert_eq!(all.map(LatencyHistogram::max_ns), [1, 2, 3, 4].map(Some));
    }
}
