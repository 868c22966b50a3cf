//! The writes of a mixed load with its reads and without them.

use iotbench_engine::{GroupPlan, Measured, Outcome};
use iotbench_report::{Durations, WriteFigures, WritesAlone, WritesOfKind, rounding::rounded};

/// `None`: the writes were not run alone.
pub(super) fn of_run(outcome: &Outcome) -> Option<WritesAlone> {
    let (mixed, alone) = (outcome.measured.as_ref()?, outcome.writes_alone.as_ref()?);
    let operations = outcome.plan.groups.iter().flat_map(GroupPlan::operations);
    let writes = operations.enumerate().filter(|(_, operation)| operation.question().is_none());
    let kinds = writes.map(|(index, _)| WritesOfKind {
        name: mixed.recording.kinds().get(index).map(|kind| kind.name.clone()).unwrap_or_default(),
        mixed: figures(mixed, index),
        alone: figures(alone, index),
    });
    Some(WritesAlone { kinds: kinds.collect() })
}

fn figures(measured: &Measured, kind: usize) -> WriteFigures {
    let recording = measured.recording.kind(kind);
    let mut durations = Durations::with_bounds(recording.by_operation(), recording.never_started());
    durations.see_late(&measured.client.seen_late());
    WriteFigures {
        operations_per_s: rounded(durations.response.count as f64 / measured.seconds_long()),
        response: durations.response,
        service: durations.service,
    }
}
