//! The load and the fate of its operations, and what it is in a sweep.

use iotbench_engine::{GroupPlan, OperationPlan, Outcome, Payload};
use iotbench_report::{
    Group, Load, Operation, Swept,
    rounding::{finite, seconds},
};

pub(super) fn of_run(outcome: &Outcome) -> Load {
    let groups: Vec<_> = outcome.plan.groups.iter().map(group).collect();
    let mut models: Vec<_> = groups.iter().map(|g| g.model.as_str()).collect();
    models.dedup();
    let model = models.join(" + ");
    Load { model, groups, counts: outcome.load }
}

fn group(group: &GroupPlan) -> Group {
    use iotbench_engine::Load as Plan;
    let (users, think_ms, rate_per_s) = match group.load {
        Plan::Closed { users, think_ns } => (Some(users), Some(think_ns as f64 / 1e6), None),
        Plan::Open { rate, .. } | Plan::Paced { rate, .. } => (None, None, finite(rate)),
        Plan::PartlyOpen { rate, think_ns, .. } => (None, Some(think_ns as f64 / 1e6), finite(rate)),
        Plan::Interval { .. } => (None, None, None),
    };
    let session_operations = match group.load {
        Plan::PartlyOpen { mean_operations, .. } => finite(mean_operations),
        _ => None,
    };
    let (devices, interval_s, window_s) = match group.load {
        Plan::Interval { devices, interval_ns, window_ns } => {
            (Some(devices), Some(seconds(interval_ns)), Some(seconds(window_ns)))
        }
        _ => (None, None, None),
    };
    Group {
        name: group.name.clone(),
        model: group.load.name().into(),
        datapoints: datapoints(&group.operation),
        operations: group.operations().map(|plan| operation(group, plan)).collect(),
        users,
        think_ms,
        rate_per_s,
        session_operations,
        shape: (!group.shape.is_constant()).then(|| group.shape.to_string()),
        devices,
        interval_s,
        window_s,
        connections: group.connections,
    }
}

fn operation(group: &GroupPlan, plan: &OperationPlan) -> Operation {
    Operation {
        name: plan.name.clone(),
        share: finite(plan.share),
        asks: group.asks(plan),
        datapoints: datapoints(plan),
        devices: plan.devices,
        requests: plan.requests,
        pause_ms: plan.pause_ns as f64 / 1e6,
        transaction: plan.transaction,
    }
}

fn datapoints(plan: &OperationPlan) -> String {
    match plan.payload {
        _ if plan.question().is_some() => "none".into(),
        Payload::Count(count) => count.to_string(),
        Payload::Second => "second".into(),
        Payload::SinceLast { .. } => "since_last".into(),
    }
}

pub(super) fn swept(outcome: &Outcome) -> Option<Swept> {
    let swept = outcome.plan.sweep.as_ref()?;
    let operation = outcome.plan.groups.first().map(|group| &group.operation);
    Some(Swept {
        field: swept.field.clone(),
        value: swept.value,
        classes: swept.classes.clone(),
        records: operation.and_then(OperationPlan::records),
        record_bytes: swept.record_bytes,
    })
}
