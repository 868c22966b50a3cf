//! What each group does, as meant.

use super::{
    Context, devices, interval,
    operation::{self, OperationPlan},
    shape,
};
use crate::{
    profile::{Arrival, DrawConfig, Group, LoadConfig, LoadModel, Overflow, Profile},
    shape::Shape,
    units::{Auto, Rate},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

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
    /// How that changes with time: of an open loop its rate is the mean, of a closed one its users are those of the peak.
    #[serde(default, skip_serializing_if = "Shape::is_constant")]
    pub shape: Shape,
    /// Reads: how the devices and moments that they ask about are spread.
    #[serde(default, skip_serializing_if = "DrawConfig::is_even")]
    pub draw: DrawConfig,
    /// Connections they share.
    pub connections: u32,
    /// Those of all devices that they send for, in all parts of the run; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub devices: Option<Range<u32>>,
    /// Which part of the profile's group it is.
    #[serde(default)]
    pub part: Part,
    /// Of a part of a run: whether the group is one part's alone, whatever its devices.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undivided: bool,
}

/// A part of a group of a profile, of which some users write and others read: the users from one share of all to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Whether a ramp changes the group.
    pub ramped: bool,
}

impl Default for Part {
    fn default() -> Self {
        Self { from: 0.0, to: 1.0, ramped: false }
    }
}

impl Part {
    /// How many of so many users belong to it. The parts of a group have all users together.
    #[must_use]
    pub fn of(&self, users: u64) -> u64 {
        #[expect(clippy::cast_precision_loss, reason = "fewer users than 2^53")]
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a positive number")]
        let end = |share: f64| (users as f64 * share).round() as u64;
        end(self.to) - end(self.from)
    }

    /// As [`Part::of`], of a number of users that fits.
    #[must_use]
    pub fn of_users(&self, users: u32) -> u32 {
        u32::try_from(self.of(users.into())).unwrap_or(users)
    }

    /// Whether it is the whole group.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.to - self.from >= 1.0
    }
}

impl GroupPlan {
    /// All that they do, in the profile's order.
    pub fn operations(&self) -> impl Iterator<Item = &OperationPlan> {
        std::iter::once(&self.operation).chain(&self.others)
    }

    /// What an operation asks, in words; `None`: it writes.
    #[must_use]
    pub fn asks(&self, operation: &OperationPlan) -> Option<String> {
        operation.question().map(|question| format!("{question}{}", self.draw))
    }

    /// Whether they are users' statements that may change what is stored; then all operations are.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.operation.changes()
    }

    /// Whether they read; then all operations do.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.operation.question().is_some()
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
    /// Sessions that arrive by a schedule, and go on as their answers come.
    PartlyOpen {
        /// The spread of arrivals.
        arrival: Arrival,
        /// Sessions a second.
        rate: f64,
        /// How many operations a session has in the mean.
        mean_operations: f64,
        /// From an answer to the session's next start.
        think_ns: u64,
        /// Above so many sessions at once others are dropped.
        most_sessions: u32,
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
    /// What a part of a group does of its load.
    fn part(self, part: &Part) -> Result<Self, &'static str> {
        match self {
            whole if part.is_whole() => Ok(whole),
            Self::Closed { users, think_ns } => Ok(Self::Closed { users: part.of_users(users), think_ns }),
            Self::Open { .. } if part.ramped => {
                Err("a ramp of a rate is over a group that only writes or only reads: use two groups")
            }
            Self::Open { arrival, rate, drop_above } => {
                Ok(Self::Open { arrival, rate: rate * (part.to - part.from), drop_above })
            }
            Self::PartlyOpen { .. } => Err(
                "a session either writes or reads: use two groups, one of sessions that write and one of others that read",
            ),
            Self::Paced { .. } | Self::Interval { .. } => {
                Err("such a load writes: put reads into a group of their own")
            }
        }
    }

    /// The word in results.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed { .. } => "closed",
            Self::Open { arrival: Arrival::Constant, .. } => "open (constant)",
            Self::Open { arrival: Arrival::Poisson, .. } => "open (poisson)",
            Self::PartlyOpen { arrival: Arrival::Constant, .. } => "partly open (constant)",
            Self::PartlyOpen { arrival: Arrival::Poisson, .. } => "partly open (poisson)",
            Self::Interval { .. } => "interval",
            Self::Paced { .. } => "paced",
        }
    }
}

type FieldError = (String, String);

/// All groups together have no more connections than this, unless a user asks for them: servers as they come take about a
/// hundred, and some of those are kept for others.
const DEFAULT_MOST_CONNECTIONS: u64 = 64;
/// Each of a blocking backend's connections has a thread, with a recorder of its own.
const MAX_BLOCKING_CONNECTIONS: u64 = 8;

pub(super) fn plans(context: Context<'_>) -> Result<Vec<GroupPlan>, FieldError> {
    let mut plans = Vec::new();
    for (i, group) in context.profile.groups.iter().enumerate() {
        let ramped = context.profile.ramp.is_some() && i == 0;
        let devices = devices::of_group(context.profile, i);
        plans.extend(
            group_plans(context, group, ramped, devices.as_ref())
                .map_err(|(key, m)| (format!("groups.{i}.{key}"), m))?,
        );
    }
    Ok(plans)
}

/// A group as one that writes and one that reads, or as one of them: a connection does one or the other.
fn group_plans(
    context: Context<'_>,
    group: &Group,
    ramped: bool,
    devices: Option<&Range<u32>>,
) -> Result<Vec<GroupPlan>, FieldError> {
    if group.operations.is_empty() {
        return Err(("operations".into(), "a group needs an operation".into()));
    }
    let share =
        |reads: bool| -> f64 { group.operations.iter().filter(|o| o.is_read() == reads).map(|o| o.share).sum() };
    let written = share(false) / (share(false) + share(true));
    let ramp_step = context.profile.ramp.as_ref().filter(|_| ramped).map(|ramp| interval::step(context.profile, ramp));
    let (shape, mean) = shape::of_group(group, ramp_step, context.base)?;
    let whole = load(context, group, ramped, mean)?;
    let mut plans = Vec::new();
    for (reads, from, to) in [(false, 0.0, written), (true, written, 1.0)] {
        let part = Part { from, to, ramped };
        let mut operations = operation::plans(context, group, &whole, reads)?.into_iter();
        let Some(operation) = operations.next() else { continue };
        let load = whole.part(&part).map_err(|message| ("operations".to_string(), message.into()))?;
        plans.push(GroupPlan {
            name: group.name.clone(),
            operation,
            others: operations.collect(),
            connections: connections(context, group, &load, &part, reads)?,
            load,
            draw: group.draw,
            shape: shape.clone(),
            devices: devices.filter(|_| !reads).cloned(),
            part,
            undivided: false,
        });
    }
    Ok(plans)
}

/// `mean`: the rate of an open loop for which the profile has none.
fn load(context: Context<'_>, group: &Group, ramped: bool, mean: Option<f64>) -> Result<Load, FieldError> {
    let (config, dataset, profile) = (&group.load, context.dataset, context.profile);
    let ramp = profile.ramp.as_ref().filter(|_| ramped);
    let first_load = ramp.map(|r| super::check::ramp(profile, r).first());
    let users = u32::try_from(config.users.0).map_err(|_| ("load.users".into(), "too many users".into()))?;
    match config.model {
        LoadModel::Closed => Ok(Load::Closed { users, think_ns: config.think_time.as_ns() }),
        LoadModel::Open => {
            let given = first_load.map(|load| Rate(load.into())).or(config.rate.set());
            let Some(rate) = given.or(mean.map(Rate)) else {
                return Err(("load.rate".into(), "an open loop needs a rate: set load.rate or --rate".into()));
            };
            let limit = u32::try_from(config.in_flight.0).unwrap_or(u32::MAX);
            let drop_above = (config.overflow == Overflow::Drop).then_some(limit);
            Ok(Load::Open { arrival: config.arrival, rate: rate.0, drop_above })
        }
        LoadModel::PartlyOpen => partly_open(config, mean),
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
            devices: first_load.unwrap_or_else(|| devices::of(profile, group)),
            interval_ns: config.interval.as_ns(),
            window_ns: interval::window_ns(group)?,
        }),
    }
}

/// Sessions that are longer are users of a closed loop, in effect.
const MAX_OPERATIONS: f64 = 1e6;
/// More sessions at once are a slip: each has its place in the schedule's thread.
const MAX_SESSIONS: u64 = 1_000_000;

/// `mean`: the rate where the profile has none.
fn partly_open(config: &LoadConfig, mean: Option<f64>) -> Result<Load, FieldError> {
    let refused = |key: &str, message: String| Err((format!("load.{key}"), message));
    let Some(rate) = config.rate.set().map(|rate| rate.0).or(mean) else {
        return refused("rate", "sessions arrive by a rate: set load.rate or --rate, in sessions a second".into());
    };
    let mean_operations = config.operations_per_session;
    if !(1.0..=MAX_OPERATIONS).contains(&mean_operations) {
        let message = format!("a session has from 1 to {MAX_OPERATIONS} operations in the mean, got {mean_operations}");
        return refused("operations_per_session", message);
    }
    let sessions = config.most_sessions.0;
    let most_sessions = u32::try_from(sessions).ok().filter(|_| (1..=MAX_SESSIONS).contains(&sessions));
    let Some(most_sessions) = most_sessions else {
        return refused("most_sessions", format!("from 1 to {MAX_SESSIONS} sessions at once, got {sessions}"));
    };
    let think_ns = config.think_time.as_ns();
    Ok(Load::PartlyOpen { arrival: config.arrival, rate, mean_operations, think_ns, most_sessions })
}

/// What is left of the default limit for each group, or part of one, whose number of connections nobody says.
fn default_limit(profile: &Profile) -> u64 {
    let (mut left, mut sharers) = (DEFAULT_MOST_CONNECTIONS, 0);
    for group in &profile.groups {
        let reads = group.operations.iter().filter(|o| o.is_read()).count();
        let parts = u64::from(reads > 0) + u64::from(reads < group.operations.len());
        match group.connections {
            Auto::Set(n) => left = left.saturating_sub(n.0.saturating_mul(parts)),
            Auto::Auto => sharers += parts,
        }
    }
    (left / sharers.max(1)).max(1)
}

fn connections(context: Context<'_>, group: &Group, load: &Load, part: &Part, reads: bool) -> Result<u32, FieldError> {
    let (profile, backend) = (context.profile, context.backend);
    let capabilities = &backend.info().capabilities;
    let most = capabilities.most_writers.filter(|_| !reads).map_or(u64::MAX, u64::from);
    let wanted = match group.connections {
        Auto::Set(n) if n.0 == 0 => return Err(("connections".into(), "at least one connection is needed".into())),
        Auto::Set(n) if n.0 > most => {
            return Err((
                "connections".into(),
                format!("{} takes at most {most} connections that write", backend.info().name),
            ));
        }
        Auto::Set(n) => n.0,
        Auto::Auto => {
            let users = match load {
                Load::Closed { users, .. } => {
                    let ramp = profile.ramp.as_ref().filter(|_| part.ramped);
                    ramp.map_or(u64::from(*users), |ramp| part.of(ramp.greatest()))
                }
                Load::Open { .. } | Load::PartlyOpen { .. } | Load::Interval { .. } => 32,
                Load::Paced { .. } => u64::from(devices::of(profile, group)),
            };
            let limit = if capabilities.blocking { MAX_BLOCKING_CONNECTIONS } else { u64::MAX };
            users.min(default_limit(profile)).min(limit).min(most).max(1)
        }
    };
    u32::try_from(wanted).map_err(|_| ("connections".into(), "too many connections".into()))
}
