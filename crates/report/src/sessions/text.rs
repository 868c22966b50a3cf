//! Sittings as text for people. Pure.

use super::{
    SessionsFigure, SessionsRecord, SessionsSummary, SittingsJob,
    summary::{CAPACITY, whole},
};
use crate::{
    document::{Capacity, Document},
    printable::printable,
    repetitions::in_words,
    terminal::{
        figure::{NONE, count, or_none},
        finished,
        table::{paragraph, table},
        usable,
    },
};
use comfy_table::CellAlignment::{Left, Right};

/// The answers first, then a row for each sitting that was held, then the figures with their intervals. `documents` are those
/// of the runs that have ended, in the order of the record. For a terminal of `columns` columns, of which at most 100 are used.
#[must_use]
pub fn render_sessions<J: SittingsJob>(record: &SessionsRecord<J>, documents: &[Document], columns: u16) -> String {
    let columns = usable(columns);
    let mut sections = vec![headline(record)];
    sections.extend(record.summary.answers.iter().map(|answer| paragraph(&printable(answer), columns)));
    if !documents.is_empty() {
        sections.push(sittings(record, documents, columns));
    }
    sections.extend(over_sittings(&record.summary, columns));
    finished(&sections.join("\n\n"))
}

/// What runs of several targets, each in every sitting, tell together: the answers, then the figures with their intervals.
/// `within_s`: from the beginning of the first to the end of the last, in seconds.
#[must_use]
pub fn render_over_sittings(documents: &[Document], within_s: Option<f64>, columns: u16) -> String {
    let (summary, columns) = (SessionsSummary::over(documents, within_s), usable(columns));
    let mut sections: Vec<String> =
        summary.answers.iter().map(|answer| paragraph(&printable(answer), columns)).collect();
    sections.extend(over_sittings(&summary, columns));
    finished(&sections.join("\n\n"))
}

/// The figures with their intervals, and what must be known of them.
fn over_sittings(summary: &SessionsSummary, columns: u16) -> Vec<String> {
    let mut sections = Vec::new();
    if !summary.figures.is_empty() {
        let rows = summary.figures.iter().map(row).collect();
        let heads = ["sittings", "mean", "90 % from", "to", "least", "greatest"];
        sections.push(table("Over sittings", &heads, rows, Right, columns));
    }
    let notes = notes(summary).into_iter().map(|note| paragraph(&printable(&note), columns));
    sections.push(notes.collect::<Vec<_>>().join("\n"));
    sections
}

/// `SESSIONS  pmu_write: 3 of 5 sittings, over 7200 s`
fn headline<J: SittingsJob>(record: &SessionsRecord<J>) -> String {
    let profile = record.jobs.first().map(|job| printable(job.profile_name())).unwrap_or_default();
    format!("SESSIONS  {profile}: {} of {} sittings", record.held(), record.sessions)
}

fn sittings<J>(record: &SessionsRecord<J>, documents: &[Document], columns: u16) -> String {
    let ended = record.entries.iter().filter_map(|entry| Some((entry, entry.end.as_ref()?)));
    let rows = ended.zip(documents).map(|((entry, end), document)| {
        let name = format!("{} {}", entry.session, printable(&entry.target));
        // To the second: `2026-01-05T10:00:00Z`.
        let began = end.began.get(..19).unwrap_or(&end.began).replace('T', " ");
        let (figure, interval) = found(document);
        let verdict = document.verdict_words().to_owned();
        vec![name, began, verdict, figure, interval, printable(&end.folder)]
    });
    let heads = ["began, UTC", "verdict", "found", "its own interval", "folder"];
    table("Sitting", &heads, rows.collect(), Left, columns)
}

/// What a sitting found, and between what it lies by that sitting alone.
fn found(document: &Document) -> (String, String) {
    let rate = || document.throughput.as_ref().and_then(|throughput| throughput.operations_per_s);
    let (_, show) = in_words("operations_per_s");
    match &document.capacity {
        Some(capacity) => (or_none(capacity.limit(), whole), of_search(capacity)),
        None => (or_none(rate(), |rate| format!("{}/s", show(rate))), NONE.into()),
    }
}

fn of_search(capacity: &Capacity) -> String {
    let bound = |bound: Option<u32>| or_none(bound, |load| count(load.into()));
    format!("{} to {}", bound(capacity.lower), bound(capacity.upper))
}

fn row(figure: &SessionsFigure) -> Vec<String> {
    let (name, show) = in_words(&figure.figure);
    let show = if figure.figure == CAPACITY { whole } else { show };
    let mark = if figure.is_at_least { "≥\u{a0}" } else { "" };
    vec![
        format!("{} {name}", printable(&figure.target)),
        count(figure.sittings as u64),
        format!("{mark}{}", show(figure.mean)),
        or_none(figure.low, show),
        or_none(figure.high, show),
        show(figure.least),
        show(figure.greatest),
    ]
}

fn notes(summary: &SessionsSummary) -> Vec<String> {
    let mut notes = vec![format!(
        "Means are geometric. Intervals: {}, each sitting with a fresh server and an empty database.",
        summary.method
    )];
    notes.extend(summary.left_out.iter().map(|run| format!("left out: {run}")));
    notes.extend(summary.remarks.iter().map(|remark| format!("remark: {remark}")));
    notes
}
