//! The writes of a mixed load with its reads and without them.

use super::{Durations, LatencySummary, rounded};
use iotbench_engine::{GroupPlan, Measured, Outcome};
use serde::{Deserialize, Serialize};

/// How the writes of the greatest sustained load do beside its reads, and by themselves: equal figures say that the
/// database keeps the two apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WritesAlone {
    /// Each kind of write.
    pub kinds: Vec<WritesOfKind>,
}

/// One kind of write, twice by equally many users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WritesOfKind {
    /// The kind's name, as in `latency.kinds`.
    pub name: String,
    /// While others read.
    pub mixed: WriteFigures,
    /// While nobody reads.
    pub alone: WriteFigures,
}

/// What became of one kind of write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriteFigures {
    /// Operations acknowledged a second.
    pub operations_per_s: Option<f64>,
    /// From the intended start to the last reply.
    pub response: LatencySummary,
    /// From the send to the last reply.
    pub service: LatencySummary,
}

impl WritesAlone {
    /// `None`: the writes were not run alone.
    pub(super) fn new(outcome: &Outcome) -> Option<Self> {
        let (mixed, alone) = (outcome.measured.as_ref()?, outcome.writes_alone.as_ref()?);
        let operations = outcome.plan.groups.iter().flat_map(GroupPlan::operations);
        let writes = operations.enumerate().filter(|(_, operation)| operation.question().is_none());
        let kinds = writes.map(|(index, _)| WritesOfKind {
            name: mixed.recording.kinds().get(index).map(|kind| kind.name.clone()).unwrap_or_default(),
            mixed: WriteFigures::new(mixed, index),
            alone: WriteFigures::new(alone, index),
        });
        Some(Self { kinds: kinds.collect() })
    }
}

impl WriteFigures {
    fn new(measured: &Measured, kind: usize) -> Self {
        let recording = measured.recording.kind(kind);
        let mut durations = Durations::with_bounds(recording.by_operation(), recording.never_started());
        durations.see_late(&measured.client.seen_late());
        Self {
            operations_per_s: rounded(durations.response.count as f64 / measured.seconds_long()),
            response: durations.response,
            service: durations.service,
        }
    }
}
