//! What the journal of a run begins with.

use iotbench_engine::{GroupPlan, OperationPlan, Plan};
use iotbench_report::journal::{Kind, Line, Span};

/// The first line.
pub(super) fn begin(plan: &Plan) -> Line {
    let measured = plan.ramp.is_none().then(|| {
        let from_ns = plan.phases.warmup_ns;
        Span { from_ns, to_ns: from_ns.saturating_add(plan.phases.duration_ns) }
    });
    Line::begin(measured, plan.groups.iter().flat_map(GroupPlan::operations).map(kind).collect())
}

fn kind(plan: &OperationPlan) -> Kind {
    Kind { name: plan.name.clone(), is_one_request: plan.is_one_request(), has_pauses: plan.has_pauses() }
}
