//! What became of a suite's runs, as text. Pure.

use crate::{
    document::Document,
    printable::printable_lines,
    terminal::{finished, table::paragraph, usable},
};
use iotbench_suite::{Entry, Record, State};

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

/// The runs in their order, with the command that does each.
#[must_use]
pub fn render_suite_order(record: &Record) -> String {
    let line = |(place, entry): (usize, &Entry)| {
        let state = match &entry.state {
            State::NotAvailable { reason } => format!("   # n/a: {}", printable_lines(reason)),
            _ => String::new(),
        };
        let words = entry.command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ");
        format!("{:>3}  {} on {}: {words}{state}\n", place + 1, entry.profile, entry.target)
    };
    record.entries.iter().enumerate().map(line).collect()
}

/// A word that a shell reads back as it is.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=.,:/%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_where_a_shell_would_change_it() {
        assert_eq!(shell_word("phases.duration=10s"), "phases.duration=10s");
        assert_eq!(shell_word("values=[2,10]"), "'values=[2,10]'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
    }
}
