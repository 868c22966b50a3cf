//! What the server is told to do: service time, discipline, faults.

use std::{
    num::{NonZeroU8, NonZeroU64},
    time::Duration,
};

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The behaviour of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// How long a request takes once its service has begun.
    pub service: ServiceTime,
    /// How many are served at once.
    pub discipline: Discipline,
    /// What goes wrong. Where several apply to one request, the first in the list that does is taken.
    pub faults: Vec<Fault>,
}

/// How long a request takes once its service has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceTime {
    /// Always the same.
    Constant(Duration),
    /// Exponentially distributed.
    Exponential {
        /// Mean of the distribution.
        mean: Duration,
        /// Together with a request's id it decides that request's time, in whatever order requests arrive.
        seed: u64,
    },
    /// A server that warms up: from `cold` at the epoch exponentially towards `settled`.
    WarmUp {
        /// At the epoch.
        cold: Duration,
        /// In the end.
        settled: Duration,
        /// After this time 1/e of the difference is left.
        time_constant: Duration,
    },
    /// A server that changes without an end in sight: linearly from one time to another, which then stays.
    Drift {
        /// At the epoch.
        from: Duration,
        /// At the end of the drift, and after it.
        to: Duration,
        /// How long it takes; not zero.
        over: Duration,
    },
}

/// How many requests are served at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discipline {
    /// All: the service of each begins on arrival.
    Parallel,
    /// One, over all connections, first come first served: the capacity is 1 / mean service time.
    Queue,
}

/// A programmed fault. Requests are counted over all connections, in the order in which the server took them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Freezes the server: requests that arrive during the stall begin service at its end, and one in service when it
    /// begins is suspended until then. A reply that falls due at the very instant at which the stall begins waits too.
    Stall {
        /// Begin, from the epoch.
        at: Duration,
        /// Length; stalls that overlap unite.
        length: Duration,
    },
    /// Takes and records every request but answers only the first `after` of them.
    Hang {
        /// Requests answered before the hang.
        after: u64,
    },
    /// When the n-th, 2n-th, … request falls due, its connection is reset (RST) instead of answered. The request counts
    /// as stored. Replies still due on that connection are lost with it.
    ResetAfterStoring {
        /// The n.
        every: NonZeroU64,
    },
    /// Answers the n-th, 2n-th, … request with an error.
    ErrorEvery {
        /// The n.
        every: NonZeroU64,
        /// Status of the reply; over HTTP the number of the fault's answer
        /// ([`Service::with_faults`](crate::http::Service::with_faults)).
        status: NonZeroU8,
    },
}

impl ServiceTime {
    /// Service time of the request with this id at the epoch.
    #[must_use]
    pub fn of_request_ns(&self, id: u64) -> u64 {
        self.of_request_at_ns(id, 0)
    }

    /// Service time of the request with this id whose service begins when the server has worked for so long.
    #[must_use]
    pub fn of_request_at_ns(&self, id: u64, work_ns: u64) -> u64 {
        match *self {
            Self::Constant(service) => duration_ns(service),
            Self::Exponential { mean, seed } => {
                exponential_ns(duration_ns(mean), xxh3_64_with_seed(&id.to_le_bytes(), seed))
            }
            Self::WarmUp { cold, settled, time_constant } => {
                between_ns(settled, cold, (-seconds(work_ns) / time_constant.as_secs_f64()).exp())
            }
            Self::Drift { from, to, over } => between_ns(from, to, (seconds(work_ns) / over.as_secs_f64()).min(1.0)),
        }
    }
}

/// Nanoseconds of a duration; at most `u64::MAX` (584 years).
pub(crate) fn duration_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The time that lies this part of the way from one to another.
fn between_ns(from: Duration, to: Duration, part: f64) -> u64 {
    let (from_s, to_s) = (from.as_secs_f64(), to.as_secs_f64());
    duration_ns(Duration::try_from_secs_f64(from_s + (to_s - from_s) * part).unwrap_or_default())
}

/// Exponential variate by inversion, from 64 uniform bits.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative; 37 means at most")]
pub(crate) fn exponential_ns(mean_ns: u64, bits: u64) -> u64 {
    // Half a step above a multiple of 2^-53: never 0, whose logarithm would be infinite.
    let uniform = ((bits >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    (-uniform.ln() * mean_ns as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_service_time_is_the_same_for_all() {
        let service = ServiceTime::Constant(Duration::from_micros(5));
        assert!((0..100).all(|id| service.of_request_ns(id) == 5_000));
    }

    #[test]
    fn exponential_times_have_the_mean_and_the_quantiles() {
        let service = ServiceTime::Exponential { mean: Duration::from_millis(1), seed: 1 };
        let mut times_ns: Vec<u64> = (0..100_000).map(|id| service.of_request_ns(id)).collect();
        times_ns.sort_unstable();
        let mean_ns = times_ns.iter().sum::<u64>() as f64 / 1e5;
        assert!((mean_ns / 1e6 - 1.0).abs() < 0.01, "mean {mean_ns}");
        let p99_ns = times_ns[99_000] as f64;
        assert!((p99_ns / (1e6 * 100_f64.ln()) - 1.0).abs() < 0.03, "p99 {p99_ns}");
    }

    #[test]
    fn the_seed_decides_exponential_times() {
        let of = |seed| ServiceTime::Exponential { mean: Duration::from_millis(1), seed }.of_request_ns(7);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }

    #[test]
    fn a_server_warms_up_and_drifts_as_it_is_told() {
        let ms = Duration::from_millis;
        let second = 1_000_000_000;
        let warm_up = ServiceTime::WarmUp { cold: ms(16), settled: ms(10), time_constant: Duration::from_secs(15) };
        let at_ms = |service: ServiceTime, s: u64| service.of_request_at_ns(0, s * second) as f64 / 1e6;
        for (s, expected_ms) in [(0, 16.0), (15, 10.0 + 6.0 * (-1_f64).exp()), (3_000, 10.0)] {
            assert!((at_ms(warm_up, s) - expected_ms).abs() < 1e-5, "{s} s");
        }
        let drift = ServiceTime::Drift { from: ms(10), to: ms(9), over: Duration::from_secs(100) };
        assert_eq!([0, 50, 100, 200].map(|s| at_ms(drift, s)), [10.0, 9.5, 9.0, 9.0]);
        assert_eq!(drift.of_request_ns(7), 10_000_000);
    }

    #[test]
    fn extreme_bits_give_finite_times() {
        assert_eq!(exponential_ns(1_000, u64::MAX), 0);
        assert_eq!(exponential_ns(1_000, 0), 37_430);
    }
}
