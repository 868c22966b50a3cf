//! What a plan takes at most, as far as that is known before it is run.

use super::{GroupPlan, Load, OperationPlan, Payload, Plan};
use crate::{
    profile::Arrival,
    ramp::{Quantity, RampPlan},
    shape::Timeline,
};
use iotbench_core::ValueType;
use iotbench_simulator::Dataset;

const NS_PER_S: f64 = 1e9;
/// A random number of arrivals is below its mean and so many standard deviations, but for one of a thousand million times.
const DEVIATIONS: f64 = 6.0;
/// And a geometric length is below so many times its mean.
const TAIL: f64 = 21.0;
const TIMESTAMP_BYTES: u64 = 8;

/// What a plan takes at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// How long its load takes; with a ramp, where its steps do not contradict one another.
    pub load_ns: u64,
    /// With a ramp: how many steps it has at most, however they contradict one another, and how long each counts.
    pub steps: Option<(u32, u64)>,
    /// The datapoints that are written before the load.
    pub history_points: u64,
    /// The datapoints that a second of the load sends; `None`: as many as the database takes.
    pub points_per_s: Option<f64>,
    /// The datapoints that the load sends in all; `None`: the database decides how many.
    pub load_points: Option<u64>,
    /// The bytes of a datapoint's time and values, without anything that a database adds.
    pub point_bytes: u64,
}

impl Forecast {
    /// The bytes of so many datapoints.
    #[must_use]
    pub fn bytes(&self, points: u64) -> u64 {
        points.saturating_mul(self.point_bytes)
    }

    /// All datapoints that are written, those before the load too.
    #[must_use]
    pub fn points(&self) -> Option<u64> {
        self.load_points.map(|points| points.saturating_add(self.history_points))
    }
}

impl Plan {
    /// What it takes at most; `dataset` is the one that it was planned with.
    #[must_use]
    pub fn forecast(&self, dataset: &dyn Dataset) -> Forecast {
        let writers = || self.groups.iter().filter(|group| group.operations().any(writes));
        let sources = || writers().map(|group| Source { plan: self, group, period_s: period_s(dataset) });
        let load_ns = self.longest_load_ns().min(self.phases.run_deadline_ns.unwrap_or(u64::MAX));
        let load_s = seconds(load_ns);
        Forecast {
            load_ns,
            steps: self.ramp.as_ref().map(|ramp| (ramp.most_steps(), ramp.step_ns)),
            history_points: self.phases.preload.saturating_mul(self.phases.preload_devices.into()),
            points_per_s: sources().map(|source| source.points_per_s()).sum(),
            load_points: match self.ramp {
                None => sources().map(|source| source.points(load_s)).sum::<Option<f64>>().map(up),
                Some(_) => sources().next().is_none().then_some(0),
            },
            point_bytes: point_bytes(dataset),
        }
    }
}

impl Plan {
    /// The most datapoints that its load, with a ramp at its greatest, sends in so long; `None`: as many as the database takes.
    pub(super) fn most_points_in(&self, dataset: &dyn Dataset, ns: u64) -> Option<f64> {
        let writers = self.groups.iter().filter(|group| group.operations().any(writes));
        let sources = writers.map(|group| Source { plan: self, group, period_s: period_s(dataset) });
        sources.map(|source| source.most_points_in(seconds(ns))).sum()
    }
}

/// A group that writes.
struct Source<'a> {
    plan: &'a Plan,
    group: &'a GroupPlan,
    period_s: f64,
}

impl Source<'_> {
    /// What it sends in so many seconds.
    fn points(&self, load_s: f64) -> Option<f64> {
        let phases = &self.plan.phases;
        let operation = self.most();
        let counted = phases.operations.filter(|_| phases.warmup_ns == 0).map(|operations| {
            // Those that are under way when the last one is answered are sent too.
            (operations as f64 + f64::from(self.group.connections.max(self.users()))) * operation
        });
        let timed = match self.group.load {
            Load::Closed { think_ns: 0, .. } => None,
            Load::Closed { users, think_ns } => {
                Some(f64::from(users) * (load_s / seconds(think_ns)).ceil().max(1.0) * operation)
            }
            Load::Open { arrival, rate, .. } => {
                let constant_s = Timeline::of(&self.group.shape).by(load_s * NS_PER_S) / NS_PER_S;
                Some(arrivals(arrival, rate * constant_s) * operation)
            }
            Load::PartlyOpen { arrival, rate, mean_operations, .. } => {
                let constant_s = Timeline::of(&self.group.shape).by(load_s * NS_PER_S) / NS_PER_S;
                Some(of_sessions(arrival, rate * constant_s, mean_operations) * operation)
            }
            Load::Interval { devices, interval_ns, .. } => {
                Some(f64::from(devices) * (load_s / seconds(interval_ns)).ceil() * self.most_of_device())
            }
            Load::Paced { rate, .. } => Some(f64::from(self.devices()) * (rate * load_s).ceil()),
        };
        [counted, timed].into_iter().flatten().reduce(f64::min)
    }

    /// What it sends in a second, with a ramp at its greatest load.
    fn points_per_s(&self) -> Option<f64> {
        let operation = self.most();
        match self.group.load {
            Load::Closed { think_ns: 0, .. } => None,
            Load::Closed { users, think_ns } => {
                Some(self.ramped(Quantity::Users, users.into()) * operation / seconds(think_ns))
            }
            Load::Open { rate, .. } => Some(self.ramped(Quantity::OperationsPerSecond, rate) * operation),
            Load::PartlyOpen { rate, mean_operations, .. } => Some(rate * mean_operations * operation),
            Load::Interval { devices, interval_ns, .. } => {
                let devices = self.ramped(Quantity::Devices, devices.into());
                Some(devices * self.most_of_device() / seconds(interval_ns))
            }
            Load::Paced { rate, .. } => Some(f64::from(self.devices()) * rate),
        }
    }

    /// What it sends in so many seconds at most, with a ramp at its greatest load.
    fn most_points_in(&self, seconds: f64) -> Option<f64> {
        let by_rate = self.points_per_s()? * seconds;
        Some(self.gathered_in(seconds).map_or(by_rate, |gathered| gathered.min(by_rate)))
    }

    /// Where each user sends what its own device has measured since it last sent: no more than that measures meanwhile, and
    /// had gathered before.
    fn gathered_in(&self, so_many_s: f64) -> Option<f64> {
        let Load::Closed { users, .. } = self.group.load else { return None };
        let window_s = |operation: &OperationPlan| match operation.payload {
            Payload::SinceLast { window_ns } => Some(seconds(window_ns)),
            Payload::Count(_) | Payload::Second => None,
        };
        let windows_s: Vec<f64> = self.writing().map(window_s).collect::<Option<_>>()?;
        let before_s = windows_s.into_iter().fold(0.0, f64::max);
        Some(self.ramped(Quantity::Users, users.into()) * ((so_many_s + before_s) / self.period_s + 1.0))
    }

    /// The greatest load of the ramp, where it changes this group's.
    fn ramped(&self, of: Quantity, otherwise: f64) -> f64 {
        let ramp: Option<&RampPlan> = self.plan.ramp.as_ref().filter(|ramp| ramp.quantity == of);
        ramp.filter(|_| self.group.part.ramped).map_or(otherwise, |ramp| f64::from(ramp.most()))
    }

    fn users(&self) -> u32 {
        match self.group.load {
            Load::Closed { users, .. } => users,
            Load::Open { .. } | Load::PartlyOpen { .. } | Load::Interval { .. } | Load::Paced { .. } => 0,
        }
    }

    fn devices(&self) -> u32 {
        let devices = self.plan.devices_of(self.group);
        devices.end.saturating_sub(devices.start)
    }

    /// The most datapoints that an operation carries.
    fn most(&self) -> f64 {
        let points = |operation: &OperationPlan| self.of_device(operation) * f64::from(operation.devices);
        self.writing().map(points).fold(0.0, f64::max)
    }

    /// The most that it carries of each device.
    fn most_of_device(&self) -> f64 {
        self.writing().map(|operation| self.of_device(operation)).fold(0.0, f64::max)
    }

    fn writing(&self) -> impl Iterator<Item = &OperationPlan> {
        self.group.operations().filter(|operation| writes(operation))
    }

    fn of_device(&self, operation: &OperationPlan) -> f64 {
        let of_request = match operation.payload {
            Payload::Count(n) => n.into(),
            Payload::Second => (1.0 / self.period_s).ceil() + 1.0,
            Payload::SinceLast { window_ns } => (seconds(window_ns) / self.period_s).ceil() + 1.0,
        };
        of_request * f64::from(operation.requests)
    }
}

fn writes(operation: &OperationPlan) -> bool {
    operation.question().is_none()
}

fn period_s(dataset: &dyn Dataset) -> f64 {
    seconds(dataset.period_ns().unsigned_abs().max(1))
}

/// How many of so many expected operations there are at most.
fn arrivals(arrival: Arrival, expected: f64) -> f64 {
    match arrival {
        Arrival::Constant => expected.ceil() + 1.0,
        Arrival::Poisson => (expected + DEVIATIONS * expected.sqrt()).ceil() + 1.0,
    }
}

/// How many operations so many expected sessions of a geometric length have at most.
fn of_sessions(arrival: Arrival, sessions: f64, mean: f64) -> f64 {
    let of_length = mean * (mean - 1.0);
    let of_arrivals = if arrival == Arrival::Poisson { mean * mean } else { 0.0 };
    let deviation = (sessions.ceil() * (of_length + of_arrivals)).sqrt();
    // A sum of a few geometric lengths has a longer tail than its deviation says.
    (arrivals(arrival, sessions) * mean).max(sessions * mean + DEVIATIONS * deviation).ceil() + TAIL * mean
}

fn point_bytes(dataset: &dyn Dataset) -> u64 {
    let value = |signal: &iotbench_core::Signal| match signal.value_type {
        ValueType::U16 => 2,
        ValueType::F32 => 4,
        ValueType::F64 | ValueType::I64 => 8,
        ValueType::Text => u64::from(signal.max_text_bytes),
    };
    TIMESTAMP_BYTES + dataset.schema().signals().iter().map(value).sum::<u64>()
}

#[expect(clippy::cast_precision_loss, reason = "a forecast needs no more than 53 bits")]
fn seconds(ns: u64) -> f64 {
    ns as f64 / NS_PER_S
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and cut off at the most")]
fn up(points: f64) -> u64 {
    points.ceil() as u64
}
