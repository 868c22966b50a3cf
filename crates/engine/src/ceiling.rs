//! The most operations a second that this client makes of a plan: its writes, one after the other without a pause, on a
//! backend that does nothing.

use crate::{
    plan::{GroupPlan, Load, OperationPlan, Payload, PhasesPlan, Plan, Planned},
    run::{RunOptions, run},
    shape::Shape,
    stop::StopSignal,
};
use iotbench_core::{Backend, OpenRequest, Settings, Target};
use std::sync::Arc;

/// Until all threads are up to speed.
const WARM_UP_NS: u64 = 50_000_000;
/// How long is measured: the limit that is held against it leaves room for what so short a time cannot tell.
const MEASURED_NS: u64 = 200_000_000;
/// More connections make no more operations where nothing is waited for.
const MAX_CONNECTIONS: u32 = 64;

/// A backend that does nothing, on which a client's ceiling is measured.
#[derive(Clone, Copy)]
pub struct NullBackend(pub &'static dyn Backend);

impl std::fmt::Debug for NullBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NullBackend").field(&self.0.info().name).finish()
    }
}

/// Measures it, in a quarter of a second. `None`: what is read cannot be had from a backend that holds nothing, or the run
/// was ended.
pub(crate) fn ceiling_per_s(planned: &Planned, null: NullBackend, stop: &StopSignal) -> Option<f64> {
    let plan = unpaced(&planned.plan, planned.dataset.period_ns().unsigned_abs())?;
    let open = OpenRequest { target: Target::default(), settings: Settings::default(), table: plan.table.clone() };
    let planned = Planned { plan, dataset: Arc::clone(&planned.dataset), open, base: planned.base.clone() };
    let outcome = run(planned, null.0, RunOptions::default(), &mut (), stop);
    let measured = outcome.measured.filter(|measured| measured.counts.ok > 0)?;
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    Some(measured.counts.ok as f64 / measured.seconds_long())
}

/// The plan as fast as it goes, and nothing but its load.
fn unpaced(plan: &Plan, period_ns: u64) -> Option<Plan> {
    let writes = |group: &GroupPlan| group.operations().all(|operation| operation.question().is_none());
    if !plan.groups.iter().all(writes) {
        return None;
    }
    let phases = PhasesPlan {
        preload: 0,
        warmup_ns: WARM_UP_NS,
        duration_ns: MEASURED_NS,
        operations: None,
        run_deadline_ns: None,
        ..plan.phases
    };
    let groups = plan.groups.iter().map(|group| unpaced_group(group, period_ns)).collect();
    let devices = 0..plan.table.devices;
    let plan = plan.clone();
    Some(Plan { devices, groups, phases, start_utc_ns: None, ramp: None, scenario: Vec::new(), sweep: None, ..plan })
}

fn unpaced_group(group: &GroupPlan, period_ns: u64) -> GroupPlan {
    let connections = group.connections.min(MAX_CONNECTIONS);
    let think_ns = if let Load::Closed { think_ns, .. } = group.load { think_ns } else { 0 };
    let operation = |operation: &OperationPlan| {
        let points_in = |ns: u64| Payload::Count(u32::try_from(ns / period_ns.max(1)).unwrap_or(u32::MAX).max(1));
        let payload = match operation.payload {
            Payload::Count(n) => Payload::Count(n),
            Payload::Second => points_in(1_000_000_000),
            // At the least: an answer takes its time too.
            Payload::SinceLast { window_ns } => points_in(think_ns.min(window_ns)),
        };
        OperationPlan { payload, pause_ns: 0, ..operation.clone() }
    };
    GroupPlan {
        operation: operation(&group.operation),
        others: group.others.iter().map(operation).collect(),
        load: Load::Closed { users: connections, think_ns: 0 },
        shape: Shape::Constant,
        connections,
        part: crate::plan::Part::default(),
        ..group.clone()
    }
}
