//! The runs of a sweep in one table. Pure.

use crate::{
    document::{Document, Figures, Status, Swept},
    query_jitter::{SizedQuery, query_jitter},
    terminal::{
        figure::{count, duration, or_none, significant},
        finished, machine,
        table::{paragraph, table},
        usable,
    },
};
use comfy_table::CellAlignment::Right;

/// A row a value: how long its operations took, and what that is in queries and bytes a second; below, the query jitter
/// where the sweep asks for it, and what the database was. For a terminal of `columns` columns, of which at most 100 are
/// used. Documents without a sweep are left out.
#[must_use]
pub fn render_sweep(documents: &[Document], columns: u16) -> String {
    let columns = usable(columns);
    let printable = documents.iter().map(|d| d.printable().unwrap_or_else(|_| d.clone()));
    let mut documents: Vec<_> = printable.filter(|d| d.sweep.is_some()).collect();
    documents.sort_by_key(|d| d.sweep.as_ref().map(|swept| swept.value));
    let runs: Vec<Run<'_>> = documents.iter().filter_map(Run::of).collect();
    let Some(first) = runs.first() else { return finished("No run of this sweep has a document.") };
    let mut sections = vec![headline(&runs, first, columns), times(&runs, first, columns)];
    sections.extend(jitter(&runs, first, columns));
    sections.push(machine::of_sweep(first.document, &common_remarks(&documents), columns));
    finished(&sections.join("\n\n"))
}

/// A run as the table needs it.
struct Run<'a> {
    document: &'a Document,
    swept: &'a Swept,
    /// The time of an operation without its pauses.
    time: Option<&'a Figures>,
    response: Option<&'a Figures>,
}

impl<'a> Run<'a> {
    fn of(document: &'a Document) -> Option<Self> {
        let kind = document.latency.as_ref().and_then(|latency| latency.kinds.first());
        let time = kind.map(|kind| kind.busy.as_ref().unwrap_or(&kind.by_operation.service));
        let response = kind.map(|kind| &kind.by_operation.response);
        Some(Self { document, swept: document.sweep.as_ref()?, time, response })
    }

    fn mean_us(&self) -> Option<f64> {
        self.time.and_then(|time| time.mean).filter(|&us| us > 0.0)
    }

    /// So many of something in an operation as so many a second of its time.
    fn rate(&self, in_an_operation: u64) -> Option<f64> {
        self.mean_us().map(|us| in_an_operation as f64 * 1e6 / us)
    }

    fn requests(&self) -> Option<u64> {
        let operation = self.document.load.groups.first()?.operations.first()?;
        Some(operation.requests.into())
    }

    fn is_transaction(&self) -> bool {
        self.document.load.groups.iter().flat_map(|group| &group.operations).any(|operation| operation.transaction)
    }
}

fn headline(runs: &[Run<'_>], first: &Run<'_>, columns: u16) -> String {
    let valid = runs.iter().all(|run| run.document.verdict.status == Status::Valid);
    let verdict = if valid { "VALID" } else { "NOT ALL VALID" };
    let (profile, target) = (&first.document.profile, first.document.target.name());
    let runs_of = format!("{profile} on {target}: {} values of {}", count(runs.len() as u64), first.swept.field);
    let mut lines = vec![format!("{verdict}  {runs_of}")];
    for run in runs.iter().filter(|run| run.document.verdict.status != Status::Valid) {
        let verdict = &run.document.verdict;
        let why = format!("- {}: {}: {}", run.swept.value, verdict.status.name(), verdict.reasons.join("; "));
        lines.push(paragraph(&why, columns));
    }
    lines.join("\n")
}

fn times(runs: &[Run<'_>], first: &Run<'_>, columns: u16) -> String {
    let row = |run: &Run<'_>| {
        let figure = |figure: fn(&Figures) -> Option<f64>| or_none(run.time.and_then(figure), duration);
        let load = &run.document.load;
        let bytes = run.swept.records.zip(run.swept.record_bytes).map(|(records, bytes)| records * bytes);
        vec![
            count(run.swept.value),
            count(load.ok),
            count(load.fail + load.unknown),
            figure(|t| t.mean),
            figure(|t| t.min),
            figure(|t| t.max),
            or_none(run.requests().and_then(|requests| run.rate(requests)), significant),
            or_none(bytes.and_then(|bytes| run.rate(bytes)).map(|rate| rate / 1e3), significant),
            or_none(run.response.and_then(|response| response.mean), duration),
        ]
    };
    let field = first.swept.field.rsplit('.').next().unwrap_or_default();
    let heads = ["done", "failed", "T mean", "T min", "T max", "queries/s", "kB/s", "response"];
    let text = table(field, &heads, runs.iter().map(row).collect(), Right, columns);
    let commit = if first.is_transaction() { ", begin and commit" } else { "" };
    let mut notes = vec![format!("T is the time of an operation's requests{commit}, without the pauses between them")];
    notes.extend(first.swept.record_bytes.map(|bytes| format!("kB/s counts a record as {} bytes", count(bytes))));
    format!("{text}\n{}", paragraph(&format!("{}.", notes.join("; ")), columns))
}

fn jitter(runs: &[Run<'_>], first: &Run<'_>, columns: u16) -> Option<String> {
    let limits = &first.swept.classes;
    if limits.is_empty() {
        return None;
    }
    let query = |run: &Run<'_>| {
        Some(SizedQuery { value: run.swept.value, records: run.swept.records?, time_us: run.mean_us()? })
    };
    let queries: Vec<_> = runs.iter().filter_map(query).collect();
    let empty: Vec<_> = runs.iter().filter_map(|run| run.document.empty_transaction_us).collect();
    let empty_us = (!empty.is_empty()).then(|| empty.iter().sum::<f64>() / empty.len() as f64);
    let classes = query_jitter(&queries, limits, empty_us.unwrap_or(0.0));
    let row = |class: &crate::query_jitter::JitterClass| {
        let jitter = or_none(class.jitter_ms, |ms| duration(ms * 1e3));
        vec![format!("{}–{}", count(class.from), count(class.to)), count(class.pairs as u64), jitter]
    };
    let text = table("Query jitter", &["pairs", "mean"], classes.iter().map(row).collect(), Right, columns);
    let note = match empty_us {
        Some(us) => format!("with the time of an empty transaction, {}", duration(us)),
        None => "without the time of an empty transaction: its requests are no transaction here".into(),
    };
    Some(format!("{text}\n{}", paragraph(&format!("{note}."), columns)))
}

/// What every run says.
fn common_remarks(documents: &[Document]) -> Vec<String> {
    let Some((first, others)) = documents.split_first() else { return Vec::new() };
    let in_all = |remark: &&String| others.iter().all(|other| other.remarks.contains(remark));
    first.remarks.iter().filter(in_all).cloned().collect()
}
