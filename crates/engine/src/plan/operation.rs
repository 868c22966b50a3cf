//! What an operation does, as meant.

use super::{Context, devices, group::Load, keys_of_kind, question::Question, question_keys};
use crate::{
    profile::{Datapoints, Group, OperationConfig, OperationKind, Profile},
    units::Span,
};
use iotbench_core::Layout;
use serde::{Deserialize, Serialize};

/// One thing that a user does: requests one after the other on one connection, as a transaction or not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperationPlan {
    /// Its name in the result.
    pub name: String,
    /// Its part of the group's operations, relative to the others.
    pub share: f64,
    /// What its requests do.
    pub kind: RequestKind,
    /// Which datapoints of each device one request carries.
    pub payload: Payload,
    /// How many consecutive devices one request is about.
    pub devices: u32,
    /// How many requests it has.
    pub requests: u32,
    /// From the answer of a request to the next request.
    pub pause_ns: u64,
    /// Whether begin and commit are around its requests.
    pub transaction: bool,
}

/// What a request asks of a database. Each kind has its arm where a connection sends it (`lane.rs`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    /// To take a batch.
    Write,
    /// To answer a question.
    Read(Question),
}

/// Which datapoints of a device one request carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// So many consecutive ones.
    Count(u32),
    /// All of one second.
    Second,
    /// All since the user's last send, but none older than `window_ns`.
    SinceLast {
        /// Older data is lost.
        window_ns: u64,
    },
}

impl OperationPlan {
    /// One request that writes.
    #[must_use]
    pub fn write(name: &str, payload: Payload) -> Self {
        Self {
            name: name.into(),
            share: 1.0,
            kind: RequestKind::Write,
            payload,
            devices: 1,
            requests: 1,
            pause_ns: 0,
            transaction: false,
        }
    }

    /// What it asks; `None`: it writes.
    #[must_use]
    pub fn question(&self) -> Option<&Question> {
        match &self.kind {
            RequestKind::Write => None,
            RequestKind::Read(question) => Some(question),
        }
    }

    /// Whether it is a user's statement that may change what is stored.
    #[must_use]
    pub fn changes(&self) -> bool {
        matches!(self.question(), Some(Question::Statement(own)) if own.statement.writes())
    }

    /// Whether it is nothing but one request: then what is measured of the operation is measured of the request.
    #[must_use]
    pub fn is_one_request(&self) -> bool {
        self.requests == 1 && !self.transaction && !matches!(self.question(), Some(Question::Cycle { .. }))
    }

    /// Whether it waits between two of its requests.
    #[must_use]
    pub fn has_pauses(&self) -> bool {
        self.requests > 1 && self.pause_ns > 0
    }

    /// How many datapoints it carries or reads, where that is the same each time.
    #[must_use]
    pub fn records(&self) -> Option<u64> {
        if let Some(question) = self.question() {
            return question.records().map(|records| records * u64::from(self.requests));
        }
        match self.payload {
            Payload::Count(n) => Some(u64::from(n) * u64::from(self.requests) * u64::from(self.devices)),
            Payload::Second | Payload::SinceLast { .. } => None,
        }
    }

    /// How many datapoints of each device it carries, where that is the same each time; else 1.
    #[must_use]
    pub fn points_per_device(&self) -> u32 {
        match self.payload {
            Payload::Count(n) => n * self.requests,
            Payload::Second | Payload::SinceLast { .. } => 1,
        }
    }
}

type FieldError = (String, String);

/// An operation with more datapoints is a slip: its batch stays in memory until it is answered.
const MAX_POINTS: u64 = 1_000_000;

/// The operations of a group that write, or those that read.
pub(super) fn plans(
    context: Context<'_>,
    group: &Group,
    load: &Load,
    reads: bool,
) -> Result<Vec<OperationPlan>, FieldError> {
    let one = |(j, config): (usize, &OperationConfig)| {
        let is_statement = config.kind == OperationKind::Statement;
        let has_statement = !config.statement.is_none();
        if !is_statement && (has_statement || config.writes || !config.expect.is_none()) {
            let key = if has_statement {
                "statement"
            } else if config.writes {
                "writes"
            } else {
                "expect"
            };
            return Err((format!("operations.{j}.{key}"), format!("kind is {}: only a statement has it", config.kind)));
        }
        keys_of_kind::check(config).map_err(|(key, message)| (format!("operations.{j}.{key}"), message))?;
        let planned = if reads { read(context, group, config, load) } else { write(context, group, config, load) };
        planned.map_err(|(key, message)| (format!("operations.{j}.{key}"), message))
    };
    let configs = group.operations.iter().enumerate().filter(|(_, config)| config.is_read() == reads);
    let plans: Vec<_> = configs.map(one).collect::<Result<_, _>>()?;
    agree(&plans, load).map_err(|(j, key, message)| (format!("operations.{j}.{key}"), message.into()))?;
    Ok(plans)
}

fn read(
    context: Context<'_>,
    group: &Group,
    config: &OperationConfig,
    load: &Load,
) -> Result<OperationPlan, FieldError> {
    if matches!(load, Load::Paced { .. } | Load::Interval { .. }) {
        return Err(("kind".into(), "such a load writes: put reads into a group of their own".into()));
    }
    if config.pause.as_ns() > 0 {
        return Err(("pause".into(), "the requests of a read follow one another: write 0s".into()));
    }
    if config.transaction {
        return Err(("transaction".into(), "a read is not a transaction of its own: write false".into()));
    }
    let question = question_keys::question(context, config)?;
    let requests = match question {
        Question::CompareWindows { .. } => 2,
        _ => u32::try_from(config.requests.0).map_err(|_| too_many())?,
    };
    Ok(OperationPlan {
        share: config.share,
        requests,
        kind: RequestKind::Read(question),
        ..OperationPlan::write(&name(group, config), Payload::Count(1))
    })
}

fn write(
    context: Context<'_>,
    group: &Group,
    config: &OperationConfig,
    load: &Load,
) -> Result<OperationPlan, FieldError> {
    let Context { profile, backend, layout, .. } = context;
    let payload = payload(config, load, layout)?;
    let requests = u32::try_from(config.requests.0).map_err(|_| too_many())?;
    let Some(of_request) = config.devices.count() else {
        return Err(("devices".into(), "a request that writes is of a number of devices".into()));
    };
    let of_request = u32::try_from(of_request).map_err(|_| too_many())?;
    check_devices(devices::of(profile, group), load, payload, of_request)?;
    check_requests(profile, config, payload, of_request)?;
    Ok(OperationPlan {
        share: config.share,
        devices: of_request,
        requests,
        pause_ns: config.pause.as_ns(),
        transaction: config.transaction && backend.info().capabilities.transactions,
        ..OperationPlan::write(&name(group, config), payload)
    })
}

/// The group's name says enough of its only operation.
fn name(group: &Group, config: &OperationConfig) -> String {
    match (group.operations.len(), config.name.as_str()) {
        (1, "") => group.name.clone(),
        (_, "") => format!("{}/{}", group.name, config.kind),
        (_, name) => format!("{}/{name}", group.name),
    }
}

fn payload(config: &OperationConfig, load: &Load, layout: Layout) -> Result<Payload, FieldError> {
    let datapoints = config.datapoints.set().unwrap_or(match (load, layout) {
        // A sensor's bulk record is its second.
        (Load::Paced { .. }, Layout::Bulk) => Datapoints::Second,
        _ => Datapoints::Count(1),
    });
    match (datapoints, load) {
        (Datapoints::Count(n), _) => Ok(Payload::Count(n)),
        (Datapoints::SinceLast, Load::Closed { .. }) => Ok(Payload::SinceLast { window_ns: config.window.as_ns() }),
        (Datapoints::Second, Load::Paced { .. }) => Ok(Payload::Second),
        // An open loop fixes when operations start, not how much has gathered: one datapoint an operation.
        (Datapoints::SinceLast | Datapoints::Second, Load::Open { .. } | Load::PartlyOpen { .. }) => {
            Ok(Payload::Count(1))
        }
        (Datapoints::SinceLast, Load::Paced { .. }) => {
            Err(("datapoints".into(), "since_last belongs to a closed loop".into()))
        }
        (Datapoints::Second, Load::Closed { .. }) => {
            Err(("datapoints".into(), "second belongs to a paced load".into()))
        }
        (Datapoints::SinceLast | Datapoints::Second, Load::Interval { .. }) => {
            Err(("datapoints".into(), "a report carries a number of datapoints of each device".into()))
        }
    }
}

/// `all`: the group's.
fn check_devices(all: u32, load: &Load, payload: Payload, devices: u32) -> Result<(), FieldError> {
    let fail = |message: String| Err(("devices".into(), message));
    // Fewer devices than fill a request report in a smaller one.
    if devices > all && !matches!(load, Load::Interval { .. }) {
        return fail(format!("a request cannot carry {devices} devices of {all}: see the profile's own devices"));
    }
    match (devices, load, payload) {
        (1, ..)
        | (
            _,
            Load::Closed { .. } | Load::Open { .. } | Load::PartlyOpen { .. } | Load::Interval { .. },
            Payload::Count(_),
        ) => Ok(()),
        (_, Load::Paced { .. }, _) => fail("a sensor of a paced load sends its own datapoints: write 1".into()),
        (_, _, Payload::Second | Payload::SinceLast { .. }) => {
            fail("a request over several devices carries a number of datapoints of each: set datapoints".into())
        }
    }
}

fn check_requests(
    profile: &Profile,
    config: &OperationConfig,
    payload: Payload,
    devices: u32,
) -> Result<(), FieldError> {
    let requests = config.requests.0;
    let Payload::Count(count) = payload else {
        let several = "an operation of several requests carries a number of datapoints in each: set datapoints";
        return if requests > 1 { Err(("datapoints".into(), several.into())) } else { Ok(()) };
    };
    let points = u64::from(count).saturating_mul(u64::from(devices)).saturating_mul(requests);
    if points > MAX_POINTS {
        let message = format!("{requests} requests carry {points} datapoints, more than {MAX_POINTS}");
        return Err((if requests > 1 { "requests" } else { "devices" }.into(), message));
    }
    let deadline = profile.phases.deadline;
    let pauses = config.pause.0.saturating_mul(u32::try_from(requests - 1).unwrap_or(u32::MAX));
    if pauses >= deadline.0 {
        let message = format!("the pauses of an operation are {}, and its deadline is {deadline}", Span(pauses));
        return Err(("pause".into(), message));
    }
    Ok(())
}

fn too_many() -> FieldError {
    ("requests".into(), format!("more than {MAX_POINTS}"))
}

/// What the operations of one group must have in common, so that none sends another's datapoints.
fn agree(plans: &[OperationPlan], load: &Load) -> Result<(), (usize, &'static str, &'static str)> {
    let Some(first) = plans.first() else { return Ok(()) };
    let gathers = |plan: &OperationPlan| matches!(plan.payload, Payload::SinceLast { .. });
    for (j, plan) in plans.iter().enumerate().skip(1) {
        if matches!(load, Load::Paced { .. }) {
            return Err((j, "kind", "the sensors of a paced load have one operation: use another group"));
        }
        if gathers(plan) != gathers(first) {
            return Err((j, "datapoints", "either all operations of a group write since_last, or none"));
        }
        if plan.devices != first.devices {
            return Err((j, "devices", "the operations of a group are over equally many devices"));
        }
        if plan.changes() != first.changes() {
            return Err((
                j,
                "writes",
                "statements that write have connections of their own: put them into a group of their own",
            ));
        }
        if plans.iter().take(j).any(|other| other.name == plan.name) {
            return Err((j, "name", "another operation of the group is called so: give it a name"));
        }
    }
    Ok(())
}
