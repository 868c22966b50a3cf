//! What a run of a plan takes, as far as that is known beforehand: time and data.

use super::{GroupPlan, Load, OperationPlan, Payload, Plan};
use crate::profile::Arrival;
use iotbench_core::{Schema, ValueType};

const SECOND_NS: u64 = 1_000_000_000;
const TIME_BYTES: u64 = 8;

/// What a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The longest that its load takes; preparing and checking come on top.
    pub load_ns: u64,
    /// Whether that is certain: a search whose trials contradict one another takes longer.
    pub is_certain: bool,
    /// The most steps of a ramp where no trial contradicts another.
    pub steps: Option<u64>,
    /// The longest that answers under way are waited for.
    pub drain_ns: u64,
    /// The longest that flushing and counting may take.
    pub settle_ns: u64,
    /// What it writes.
    pub data: ExpectedData,
}

/// What a run writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedData {
    /// So much.
    Known {
        /// Datapoints.
        points: u64,
        /// Their times and values, as numbers and texts alone.
        raw_bytes: u64,
        /// Whether it is the most; else the mean of a random number.
        is_most: bool,
    },
    /// A closed loop writes as fast as the database answers.
    AsFastAsAnswered,
    /// It is what a search finds out.
    UntilTooMuch,
}

impl Plan {
    /// What its run takes. Of its dataset a device has a datapoint every `period_ns`.
    #[must_use]
    pub fn expected(&self, period_ns: i64) -> Expected {
        let limit_ns = self.phases.run_deadline_ns;
        Expected {
            load_ns: self.longest_load_ns().min(limit_ns.unwrap_or(u64::MAX)),
            is_certain: limit_ns.is_some() || self.ramp.as_ref().is_none_or(|ramp| !ramp.is_search()),
            steps: self.ramp.as_ref().map(crate::ramp::RampPlan::most_steps),
            drain_ns: self.phases.drain_ns,
            settle_ns: self.phases.settle_ns,
            data: self.expected_data(period_ns.unsigned_abs().max(1)),
        }
    }

    fn expected_data(&self, period_ns: u64) -> ExpectedData {
        let length_ns = self.phases.warmup_ns.saturating_add(self.phases.duration_ns);
        let mut points = self.phases.preload.saturating_mul(self.phases.preload_devices.into());
        let mut is_most = true;
        for group in self.groups.iter().filter(|group| group.operations().any(writes)) {
            if self.ramp.is_some() && group.part.ramped {
                return ExpectedData::UntilTooMuch;
            }
            let length_ns = if self.ramp.is_some() { self.longest_load_ns() } else { length_ns };
            let devices = u64::try_from(self.devices_of(group).len()).unwrap_or(u64::MAX);
            let Some(of_group) = points_of(group, devices, length_ns, period_ns) else {
                return ExpectedData::AsFastAsAnswered;
            };
            is_most &= !matches!(group.load, Load::Open { arrival: Arrival::Poisson, .. });
            points = points.saturating_add(of_group);
        }
        ExpectedData::Known { points, raw_bytes: points.saturating_mul(raw_bytes(&self.table.schema)), is_most }
    }
}

/// The most datapoints that a group writes in so long; `None`: as fast as it is answered.
fn points_of(group: &GroupPlan, devices: u64, length_ns: u64, period_ns: u64) -> Option<u64> {
    let most = |of: fn(&OperationPlan, u64) -> u64| {
        group.operations().filter(|o| writes(o)).map(|o| of(o, period_ns)).max().unwrap_or(0)
    };
    match group.load {
        Load::Closed { .. } => None,
        Load::Open { rate, .. } => Some(times(rate, length_ns).saturating_mul(most(points_of_operation))),
        Load::Interval { devices, interval_ns, .. } => {
            let reports = length_ns.div_ceil(interval_ns.max(1)).saturating_mul(devices.into());
            Some(reports.saturating_mul(most(points_of_device)))
        }
        Load::Paced { rate, .. } => Some(times(rate, length_ns).saturating_mul(devices)),
    }
}

fn writes(operation: &OperationPlan) -> bool {
    operation.question().is_none()
}

fn points_of_operation(operation: &OperationPlan, period_ns: u64) -> u64 {
    points_of_device(operation, period_ns).saturating_mul(operation.devices.into())
}

fn points_of_device(operation: &OperationPlan, period_ns: u64) -> u64 {
    let request = match operation.payload {
        Payload::Count(n) => n.into(),
        Payload::Second => SECOND_NS.div_ceil(period_ns),
        Payload::SinceLast { window_ns } => window_ns.div_ceil(period_ns),
    };
    request.saturating_mul(operation.requests.into())
}

/// How often something happens at this rate a second in so long.
#[expect(clippy::cast_precision_loss, reason = "of a length and a number that people read")]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rounded up, and more than u64::MAX is that"
)]
fn times(rate: f64, length_ns: u64) -> u64 {
    (rate * (length_ns as f64 / SECOND_NS as f64)).ceil() as u64
}

/// A datapoint's time and values, without any name, index or padding.
fn raw_bytes(schema: &Schema) -> u64 {
    let values = schema.signals().iter().map(|signal| match signal.value_type {
        ValueType::F32 => 4,
        ValueType::F64 | ValueType::I64 => 8,
        ValueType::U16 => 2,
        ValueType::Text => u64::from(signal.max_text_bytes),
    });
    TIME_BYTES + values.sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Signal;

    fn group(load: Load, operation: OperationPlan) -> GroupPlan {
        GroupPlan {
            name: "g".into(),
            operation,
            others: Vec::new(),
            load,
            connections: 1,
            devices: None,
            part: super::super::Part::default(),
        }
    }

    fn open(rate: f64) -> Load {
        Load::Open { arrival: Arrival::Constant, rate, drop_above: None }
    }

    #[test]
    fn a_rate_times_a_length_times_the_datapoints_of_an_operation() {
        let of = |load, operation| points_of(&group(load, operation), 5, 60 * SECOND_NS, SECOND_NS / 100);
        let hundred = || OperationPlan::write("w", Payload::Count(100));
        assert_eq!(of(open(10.0), hundred()), Some(60_000));
        assert_eq!(of(open(0.01), hundred()), Some(100), "a part of an operation is one");
        assert_eq!(of(open(10.0), OperationPlan { requests: 2, devices: 3, ..hundred() }), Some(360_000));
        // A datapoint every 10 ms: 100 of them are a second.
        assert_eq!(of(open(1.0), OperationPlan::write("w", Payload::Second)), Some(6_000));
        assert_eq!(of(Load::Paced { rate: 1000.0, queue: 1 }, hundred()), Some(300_000));
        // Each of two devices reports three times.
        let interval = Load::Interval { devices: 2, interval_ns: 25 * SECOND_NS, window_ns: SECOND_NS };
        assert_eq!(of(interval, OperationPlan { devices: 2, ..hundred() }), Some(600));
        assert_eq!(of(Load::Closed { users: 1, think_ns: 0 }, hundred()), None);
    }

    #[test]
    fn a_datapoint_is_its_time_and_its_values() {
        let signal = |name: &str, value_type, max_text_bytes| Signal { name: name.into(), value_type, max_text_bytes };
        let signals = vec![
            signal("a", ValueType::F32, 0),
            signal("b", ValueType::F64, 0),
            signal("c", ValueType::U16, 0),
            signal("d", ValueType::Text, 30),
        ];
        assert_eq!(raw_bytes(&Schema::new(signals).unwrap()), 8 + 4 + 8 + 2 + 30);
    }
}
