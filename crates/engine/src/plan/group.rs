//! What each group does, as meant.

use super::operation::{self, OperationPlan};
use crate::{
    profile::{Arrival, Group, LoadModel, Overflow, Profile, Ramp},
    units::{Auto, Rate},
};
use iotbench_core::{Backend, Layout};
use iotbench_simulator::Dataset;
use serde::{Deserialize, Serialize};

/// Users or sensors that do the same at the same pace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupPlan {
    /// Its name.
    pub name: String,
    /// What they do; with `others`, the first of it.
    pub operation: OperationPlan,
    /// What they do besides: each time one of all is chosen by its share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OperationPlan>,
    /// How fast.
    pub load: Load,
    /// Connections they share.
    pub connections: u32,
}

impl GroupPlan {
    /// All that they do, in the profile's order.
    pub fn operations(&self) -> impl Iterator<Item = &OperationPlan> {
        std::iter::once(&self.operation).chain(&self.others)
    }
}

/// A load model as meant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "model")]
pub enum Load {
    /// A closed loop.
    Closed {
        /// Virtual users; with a ramp, of the first step.
        users: u32,
        /// From an answer to the next start.
        think_ns: u64,
    },
    /// An open loop.
    Open {
        /// The spread of starts.
        arrival: Arrival,
        /// Operations a second.
        rate: f64,
        /// Operations that wait or are under way before others are dropped; `None`: all wait.
        drop_above: Option<u32>,
    },
    /// Devices that all report within a window of each interval.
    Interval {
        /// Devices that report; with a ramp, in the first step.
        devices: u32,
        /// From one report of a device to its next.
        interval_ns: u64,
        /// Within how much of it, from its beginning, all reports arrive.
        window_ns: u64,
    },
    /// Sensors with bounded queues.
    Paced {
        /// Datapoints a second and device.
        rate: f64,
        /// Datapoints that a queue holds.
        queue: u32,
    },
}

impl Load {
    /// The word in results.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed { .. } => "closed",
            Self::Open { arrival: Arrival::Constant, .. } => "open (constant)",
            Self::Open { arrival: Arrival::Poisson, .. } => "open (poisson)",
            Self::Interval { .. } => "interval",
            Self::Paced { .. } => "paced",
        }
    }
}

type FieldError = (String, String);

/// More connections than this are a slip, unless a user asks for them.
const DEFAULT_MOST_CONNECTIONS: u64 = 256;

pub(super) fn plans(
    profile: &Profile,
    dataset: &dyn Dataset,
    backend: &dyn Backend,
    layout: Layout,
) -> Result<Vec<GroupPlan>, FieldError> {
    let first_load = |i| profile.ramp.as_ref().filter(|_| i == 0).map(|r| super::check::ramp(profile, r).first());
    let one = |(i, group): (usize, &Group)| {
        group_plan(profile, group, dataset, backend, layout, first_load(i))
            .map_err(|(key, m)| (format!("groups.{i}.{key}"), m))
    };
    profile.groups.iter().enumerate().map(one).collect()
}

fn group_plan(
    profile: &Profile,
    group: &Group,
    dataset: &dyn Dataset,
    backend: &dyn Backend,
    layout: Layout,
    first_load: Option<u32>,
) -> Result<GroupPlan, FieldError> {
    let load = load(profile, group, dataset, first_load)?;
    let mut operations = operation::plans(profile, group, &load, backend, layout)?.into_iter();
    let operation = operations.next().ok_or_else(|| ("operations".into(), "a group needs an operation".into()))?;
    Ok(GroupPlan {
        name: group.name.clone(),
        operation,
        others: operations.collect(),
        connections: connections(profile, group, &load, backend)?,
        load,
    })
}

/// `first_load`: that of a ramp's first step, where the ramp changes this group.
fn load(profile: &Profile, group: &Group, dataset: &dyn Dataset, first_load: Option<u32>) -> Result<Load, FieldError> {
    let config = &group.load;
    let users = u32::try_from(config.users.0).map_err(|_| ("load.users".into(), "too many users".into()))?;
    match config.model {
        LoadModel::Closed => Ok(Load::Closed { users, think_ns: config.think_time.as_ns() }),
        LoadModel::Open => {
            let Some(rate) = first_load.map(|load| Rate(load.into())).or(config.rate.set()) else {
                return Err(("load.rate".into(), "an open loop needs a rate: set load.rate or --rate".into()));
            };
            let limit = u32::try_from(config.in_flight.0).unwrap_or(u32::MAX);
            let drop_above = (config.overflow == Overflow::Drop).then_some(limit);
            Ok(Load::Open { arrival: config.arrival, rate: rate.0, drop_above })
        }
        LoadModel::Paced => {
            #[expect(clippy::cast_precision_loss, reason = "a period in ns is far below 2^53")]
            let own_rate = 1e9 / dataset.period_ns() as f64;
            let queue = config.queue.0.checked_div(config.message.0).unwrap_or(0);
            let queue = u32::try_from(queue).unwrap_or(u32::MAX);
            if queue == 0 {
                return Err((
                    "load.queue".into(),
                    "the queue holds not even one datapoint of load.message bytes".into(),
                ));
            }
            Ok(Load::Paced { rate: config.rate.set().map_or(own_rate, |r| r.0), queue })
        }
        LoadModel::Interval => Ok(Load::Interval {
            devices: first_load.unwrap_or_else(|| super::check::devices(profile)),
            interval_ns: config.interval.as_ns(),
            window_ns: super::interval::window_ns(group)?,
        }),
    }
}

fn connections(profile: &Profile, group: &Group, load: &Load, backend: &dyn Backend) -> Result<u32, FieldError> {
    let most = backend.capabilities().most_writers.map_or(u64::MAX, u64::from);
    let wanted = match group.connections {
        Auto::Set(n) if n.0 == 0 => return Err(("connections".into(), "at least one connection is needed".into())),
        Auto::Set(n) if n.0 > most => {
            return Err((
                "connections".into(),
                format!("{} takes at most {most} connections that write", backend.name()),
            ));
        }
        Auto::Set(n) => n.0,
        Auto::Auto => {
            let users = match load {
                Load::Closed { users, .. } => profile.ramp.as_ref().map_or(u64::from(*users), Ramp::greatest),
                Load::Open { .. } | Load::Interval { .. } => 32,
                Load::Paced { .. } => u64::from(super::check::devices(profile)),
            };
            users.clamp(1, DEFAULT_MOST_CONNECTIONS).min(most)
        }
    };
    u32::try_from(wanted).map_err(|_| ("connections".into(), "too many connections".into()))
}
