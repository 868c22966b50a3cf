//! Datapoints by their fate, and what they take on disk.

use iotbench_engine::Outcome;
use iotbench_report::{Points, Storage, rounding::rounded};

pub(super) fn of_run(outcome: &Outcome) -> Points {
    Points {
        counts: outcome.points,
        preloaded: outcome.preloaded_points,
        stored: outcome.stored.counts.map(|s| s.points),
        stored_values: outcome.stored.counts.map(|s| s.values),
        replaced: outcome.stored.replaced.acked,
        verified: (),
    }
}

pub(super) fn storage(outcome: &Outcome) -> Storage {
    let (bytes_before, bytes_after) = (outcome.machine.storage_bytes_before, outcome.machine.storage_bytes_after);
    let growth = bytes_before.zip(bytes_after).and_then(|(before, after)| after.checked_sub(before));
    let written = (outcome.points.acked + outcome.preloaded_points)
        .saturating_sub(outcome.stored.emptied.acked + outcome.stored.replaced.acked);
    // What statements removed is in no growth, and what they added was not acknowledged as datapoints.
    let growth = growth.filter(|_| !outcome.plan.changes());
    let bytes_per_point = growth.and_then(|bytes| rounded(bytes as f64 / written as f64));
    let write_back_s = outcome.machine.data_disk.written_back.and_then(|took| rounded(took.as_secs_f64()));
    Storage { bytes_before, bytes_after, bytes_per_point, write_back_s }
}
