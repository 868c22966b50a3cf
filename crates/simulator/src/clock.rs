//! Planned time: index to timestamp and back.

use crate::counter_hash::CounterHash;
use jiff::SignedDuration;

/// Units that a resolution can be, coarsest first.
const UNITS_NS: [i64; 4] = [1_000_000_000, 1_000_000, 1_000, 1];

/// Why a clock cannot be as described.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// The time between two datapoints is not positive.
    #[error("the time between two datapoints must be at least 1 ns and at most 100 years")]
    Period,
    /// Jitter that could change the order of datapoints.
    #[error("the timestamp jitter must be from 0 to the time between two datapoints, {period:#}")]
    Jitter {
        /// The time between two datapoints.
        period: SignedDuration,
    },
    /// An offset that is no offset.
    #[error("the clock offset must be from 0 to 10 years")]
    Offset,
    /// Times that are not on the grid.
    #[error("the resolution {resolution:#} must be positive and divide origin and time between two datapoints")]
    Resolution {
        /// What was asked for.
        resolution: SignedDuration,
    },
}

/// How a device's clock goes; all in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockPlan {
    /// The timestamp of index 0 without offset and jitter, since the Unix epoch.
    pub origin_ns: i64,
    /// The nominal time between two datapoints of a device.
    pub period_ns: i64,
    /// Each device's clock is off by a fixed time from minus to plus this.
    pub offset_ns: i64,
    /// Each timestamp is late by a time from 0 to below this; at most the period, so that the order stays.
    pub jitter_ns: i64,
    /// The grid of timestamps; by default the coarsest of 1 s, 1 ms, 1 µs and 1 ns that origin, period and offset
    /// allow, and 1 ns when there is jitter.
    pub resolution_ns: Option<i64>,
}

/// The planned times of all devices: `origin + index × period + the device's offset + jitter`, with the jitter at
/// least 0 and below one period, so that timestamps of a device rise strictly and can be converted back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    plan: ClockPlan,
    resolution_ns: i64,
    offsets: CounterHash,
    jitter: CounterHash,
}

impl Clock {
    /// The clock of this plan.
    ///
    /// # Errors
    /// A period, jitter, offset or resolution outside its range.
    pub fn new(plan: ClockPlan, seed: u64) -> Result<Self, ClockError> {
        const YEAR_NS: i64 = 31_557_600_000_000_000;
        if !(1..=100 * YEAR_NS).contains(&plan.period_ns) {
            return Err(ClockError::Period);
        }
        if !(0..=plan.period_ns).contains(&plan.jitter_ns) {
            return Err(ClockError::Jitter { period: SignedDuration::from_nanos(plan.period_ns) });
        }
        if !(0..=10 * YEAR_NS).contains(&plan.offset_ns) {
            return Err(ClockError::Offset);
        }
        let resolution_ns = plan.resolution_ns.unwrap_or_else(|| natural_resolution_ns(&plan));
        if resolution_ns < 1 || plan.origin_ns % resolution_ns != 0 || plan.period_ns % resolution_ns != 0 {
            return Err(ClockError::Resolution { resolution: SignedDuration::from_nanos(resolution_ns) });
        }
        let hash = CounterHash::new(seed).derive(0x0063_6c6f_636b);
        Ok(Self { plan, resolution_ns, offsets: hash.derive(0), jitter: hash.derive(1) })
    }

    /// See [`ClockPlan::origin_ns`].
    #[must_use]
    pub fn origin_ns(&self) -> i64 {
        self.plan.origin_ns
    }

    /// See [`ClockPlan::period_ns`].
    #[must_use]
    pub fn period_ns(&self) -> i64 {
        self.plan.period_ns
    }

    /// Every timestamp is a multiple of this.
    #[must_use]
    pub fn resolution_ns(&self) -> i64 {
        self.resolution_ns
    }

    /// The clock of one device.
    #[must_use]
    pub fn of(&self, device: u32) -> DeviceClock {
        let steps = u64::try_from(self.plan.offset_ns / self.resolution_ns).unwrap_or(0);
        let offset_steps = i128::from(self.offsets.below(device.into(), 2 * steps + 1)) - i128::from(steps);
        DeviceClock {
            start_ns: i128::from(self.plan.origin_ns) + offset_steps * i128::from(self.resolution_ns),
            period_ns: self.plan.period_ns,
            resolution_ns: self.resolution_ns,
            jitter_steps: u64::try_from(self.plan.jitter_ns / self.resolution_ns).unwrap_or(0),
            jitter: self.jitter.derive(device.into()),
        }
    }
}

/// The planned times of one device. Times beyond what an `i64` holds (the year 2262) stop at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceClock {
    start_ns: i128,
    period_ns: i64,
    resolution_ns: i64,
    jitter_steps: u64,
    jitter: CounterHash,
}

impl DeviceClock {
    /// The planned time of a datapoint.
    #[must_use]
    #[inline]
    pub fn timestamp_ns(&self, index: u64) -> i64 {
        let nominal_ns = self.start_ns + i128::from(index) * i128::from(self.period_ns);
        let late_steps = if self.jitter_steps == 0 { 0 } else { self.jitter.below(index, self.jitter_steps) };
        saturated(nominal_ns + i128::from(late_steps) * i128::from(self.resolution_ns))
    }

    /// The first index whose timestamp is not before this time.
    #[must_use]
    pub fn index_at(&self, timestamp_ns: i64) -> u64 {
        let elapsed_ns = i128::from(timestamp_ns) - self.start_ns;
        let Ok(elapsed_ns) = u128::try_from(elapsed_ns) else { return 0 };
        let period_ns = u128::from(self.period_ns.unsigned_abs());
        let index = u64::try_from(elapsed_ns / period_ns).unwrap_or(u64::MAX);
        if self.timestamp_ns(index) >= timestamp_ns { index } else { index.saturating_add(1) }
    }
}

fn saturated(time_ns: i128) -> i64 {
    i64::try_from(time_ns).unwrap_or(if time_ns < 0 { i64::MIN } else { i64::MAX })
}

fn natural_resolution_ns(plan: &ClockPlan) -> i64 {
    if plan.jitter_ns > 0 { 1 } else { coarsest_unit_ns(&[plan.origin_ns, plan.period_ns, plan.offset_ns]) }
}

/// The coarsest of 1 s, 1 ms, 1 µs and 1 ns of which all these times are multiples.
pub fn coarsest_unit_ns(times_ns: &[i64]) -> i64 {
    UNITS_NS.into_iter().find(|unit| times_ns.iter().all(|time| time % unit == 0)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan() -> impl Strategy<Value = ClockPlan> {
        (-1_i64 << 60..1 << 60, 1_i64..2_000_000_000, 0_i64..10_000_000_000, 0.0..=1.0_f64).prop_map(
            |(origin_ns, period_ns, offset_ns, jitter)| ClockPlan {
                origin_ns,
                period_ns,
                offset_ns,
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_precision_loss,
                    reason = "a part of the period"
                )]
                jitter_ns: (jitter * period_ns as f64) as i64,
                resolution_ns: None,
            },
        )
    }

    proptest! {
        #[test]
        fn index_and_timestamp_convert_both_ways(plan in plan(), seed: u64, device: u32, index in 0_u64..1 << 31) {
            let clock = Clock::new(plan, seed).unwrap().of(device);
            let time = clock.timestamp_ns(index);
            prop_assert_eq!(clock.index_at(time), index);
            prop_assert_eq!(clock.index_at(time + 1), index + 1);
            prop_assert!(clock.timestamp_ns(index + 1) > time);
            prop_assert_eq!(clock.index_at(i64::MIN), 0);
        }

        #[test]
        fn any_time_finds_the_first_index_not_before_it(plan in plan(), seed: u64, device: u32, after in -10_i64..10_000_000_000) {
            let clock = Clock::new(plan, seed).unwrap().of(device);
            let time = plan.origin_ns + after;
            let index = clock.index_at(time);
            prop_assert!(clock.timestamp_ns(index) >= time);
            prop_assert!(index == 0 || clock.timestamp_ns(index - 1) < time);
        }

        #[test]
        fn timestamps_are_multiples_of_the_resolution(offset in 0_i64..100, jitter in 0_i64..=20, device: u32, index in 0_u64..1 << 38) {
            let ms = 1_000_000;
            let plan = ClockPlan { origin_ns: 7 * ms, period_ns: 20 * ms, offset_ns: offset * ms, jitter_ns: jitter * ms, resolution_ns: Some(ms) };
            prop_assert_eq!(Clock::new(plan, 1).unwrap().of(device).timestamp_ns(index) % ms, 0);
        }
    }

    const PLAIN: ClockPlan =
        ClockPlan { origin_ns: 0, period_ns: 20_000_000, offset_ns: 0, jitter_ns: 0, resolution_ns: None };

    #[test]
    fn the_resolution_is_the_coarsest_that_fits() {
        assert_eq!(Clock::new(PLAIN, 1).unwrap().resolution_ns(), 1_000_000);
        assert_eq!(Clock::new(ClockPlan { jitter_ns: 5, ..PLAIN }, 1).unwrap().resolution_ns(), 1);
        assert_eq!(
            Clock::new(ClockPlan { period_ns: 60_000_000_000, ..PLAIN }, 1).unwrap().resolution_ns(),
            1_000_000_000
        );
    }

    #[test]
    fn impossible_clocks_are_refused() {
        for bad in [
            ClockPlan { period_ns: 0, ..PLAIN },
            ClockPlan { jitter_ns: -1, ..PLAIN },
            ClockPlan { jitter_ns: 20_000_001, ..PLAIN },
            ClockPlan { offset_ns: -1, ..PLAIN },
            ClockPlan { resolution_ns: Some(3), ..PLAIN },
        ] {
            assert!(Clock::new(bad, 1).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn times_after_the_last_timestamp_do_not_wrap() {
        let clock = Clock::new(PLAIN, 1).unwrap().of(0);
        assert_eq!(clock.timestamp_ns(u64::MAX), i64::MAX);
    }
}
