//! What was written to disk, in words: a figure, or its bounds. Pure.

use crate::{
    document::Resources,
    terminal::figure::{NONE, bytes},
};

/// A figure, `≤ 30.1 MiB` or `9.30 MiB to 30.1 MiB`.
pub(crate) fn written(resources: &Resources) -> String {
    let bounds = (resources.disk_written_least_bytes.unwrap_or(0), resources.disk_written_most_bytes);
    match (resources.disk_written_bytes, bounds) {
        (Some(exact), _) => bytes(exact),
        (None, (_, None)) => NONE.into(),
        (None, (0, Some(most))) => format!("≤ {}", bytes(most)),
        (None, (least, Some(most))) => format!("{} to {}", bytes(least), bytes(most)),
    }
}

/// The same of several parts of a system together; none of it, if nothing is known of one.
pub(crate) fn written_of_all(parts: &[&Resources]) -> String {
    let sum = |figure: fn(&Resources) -> Option<u64>| parts.iter().map(|part| figure(part)).sum::<Option<u64>>();
    let Some(first) = parts.first() else { return NONE.into() };
    let least = parts.iter().filter_map(|part| part.disk_written_least_bytes).sum();
    written(&Resources {
        disk_written_bytes: sum(|part| part.disk_written_bytes),
        disk_written_least_bytes: Some(least),
        disk_written_most_bytes: sum(|part| part.disk_written_most_bytes),
        ..(*first).clone()
    })
}

/// What there is to say of it beside the figure.
pub(crate) fn written_later(resources: &Resources) -> Option<String> {
    let later = resources.disk_written_later_bytes.filter(|later| *later > 0)?;
    Some(format!("written: of it at least {} after the measured part", bytes(later)))
}
