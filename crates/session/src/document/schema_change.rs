//! Signals that devices began to send under load.

use iotbench_engine::Outcome;
use iotbench_report::{SchemaChange, rounding::seconds};

/// When it was, and how long it took.
pub(super) fn of_run(outcome: &Outcome) -> Option<SchemaChange> {
    let change = outcome.stored.schema_change?;
    let added = outcome.plan.table.schema.added_signals().iter();
    Some(SchemaChange {
        signals: added.map(|signal| signal.name.clone()).collect(),
        from_s: Some(seconds(change.from_ns)),
        altered_s: change.altered_ns.map(|altered_ns| seconds(altered_ns.saturating_sub(change.from_ns))),
    })
}
