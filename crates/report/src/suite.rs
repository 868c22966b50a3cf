//! What became of a suite's runs, as text. Pure.

use crate::{
    document::Document,
    terminal::{finished, table::paragraph, usable},
};
use iotbench_suite::{Record, State};

/// What distinguishes a run from others of its profile: database, layout, strategy, variant, value of a sweep.
#[must_use]
pub fn title_of_run(document: &Document) -> String {
    let variant = document.variant.iter().map(|variant| format!(", {variant}"));
    let value = document.sweep.iter().map(|swept| format!(", {} = {}", swept.field, swept.value));
    std::iter::once(document.target.title()).chain(variant).chain(value).collect()
}

/// How many runs there are by their state, and why those without results have none. For a terminal of `columns` columns, of
/// which at most 100 are used.
#[must_use]
pub fn render_suite_state(record: &Record, first_look: bool, columns: u16) -> String {
    let columns = usable(columns);
    let count = |is: fn(&State) -> bool| record.entries.iter().filter(|entry| is(&entry.state)).count();
    let counts = [
        (count(|state| matches!(state, State::Ended { exit_code: 0, .. })), "valid"),
        (count(|state| matches!(state, State::Ended { exit_code: 1.., .. })), "not valid"),
        (count(|state| matches!(state, State::Failed { .. })), "failed"),
        (count(|state| matches!(state, State::NotAvailable { .. })), "not available"),
        (count(|state| *state == State::Waiting), "still to be done"),
    ];
    let known = counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
    let length = if record.full { "the study's own lengths" } else { "short form" };
    let mut lines = vec![format!(
        "SUITE  {} ({length}): {} runs: {}",
        record.suite,
        record.entries.len(),
        known.collect::<Vec<_>>().join(", ")
    )];
    if first_look {
        lines.push("A first look: too few and too short runs to publish anything of them.".into());
    }
    let mut reasons: Vec<String> = record
        .entries
        .iter()
        .filter_map(|entry| {
            let why = match &entry.state {
                State::Failed { message, exit_code } => format!("failed ({exit_code}): {message}"),
                State::NotAvailable { reason } => format!("n/a: {reason}"),
                State::Waiting | State::Ended { .. } => return None,
            };
            Some(format!("{} on {}: {why}", entry.profile, entry.target))
        })
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    lines.extend(reasons);
    finished(&lines.iter().map(|line| paragraph(&crate::printable(line), columns)).collect::<Vec<_>>().join("\n"))
}
