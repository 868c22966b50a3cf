//! From when on a machine's storage or processors count as others than they were.

/// The storage has drifted when one median of its appends is more than so many times another.
pub const STORAGE_DRIFT: f64 = 1.25;
/// The processors have changed when the same piece of work took more than so many times as long.
pub const PROCESSOR_DRIFT: f64 = 1.15;
