//! The runs of a sweep in one table. Pure.

use crate::{
    document::{Document, Status},
    query_jitter::JitterClass,
    sweep_table::{SweepRow, SweepTable},
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
    let (Some(first), Some(sweep)) = (documents.first(), SweepTable::new(&documents)) else {
        return finished("No run of this sweep has a document.");
    };
    let mut sections = vec![headline(&documents, first, &sweep, columns), times(&sweep, first, columns)];
    sections.extend(jitter(&sweep, columns));
    sections.push(machine::of_sweep(first, &common_remarks(&documents), columns));
    finished(&sections.join("\n\n"))
}

fn headline(documents: &[Document], first: &Document, sweep: &SweepTable, columns: u16) -> String {
    let is_valid = documents.iter().all(|document| document.verdict.status == Status::Valid);
    let doubted = || documents.iter().filter(|document| document.doubt().is_some());
    let verdict = match doubted().next() {
        None => "VALID".into(),
        Some(disturbed) if is_valid => disturbed.verdict_words().to_uppercase(),
        Some(_) => "NOT ALL VALID".into(),
    };
    let (profile, target) = (first.profile_title(), first.target.name());
    let runs_of = format!("{profile} on {target}: {} values of {}", count(documents.len() as u64), sweep.field);
    let mut lines = vec![format!("{verdict}  {runs_of}")];
    for document in doubted() {
        let value = document.sweep.as_ref().map_or(0, |swept| swept.value);
        lines.push(paragraph(&format!("- {value}: {}", document.why_doubted()), columns));
    }
    lines.join("\n")
}

fn times(sweep: &SweepTable, first: &Document, columns: u16) -> String {
    let row = |row: &SweepRow| {
        vec![
            count(row.value),
            count(row.ok),
            count(row.failed),
            or_none(row.mean_us, duration),
            or_none(row.min_us, duration),
            or_none(row.max_us, duration),
            or_none(row.queries_per_s, significant),
            or_none(row.kb_per_s, significant),
            or_none(row.response_mean_us, duration),
        ]
    };
    let field = sweep.field.rsplit('.').next().unwrap_or_default();
    let heads = ["done", "failed", "T mean", "T min", "T max", "queries/s", "kB/s", "response"];
    let text = table(field, &heads, sweep.rows.iter().map(row).collect(), Right, columns);
    let is_transaction = first.load.groups.iter().flat_map(|group| &group.operations).any(|o| o.transaction);
    let commit = if is_transaction { ", begin and commit" } else { "" };
    let mut notes = vec![format!("T is the time of an operation's requests{commit}, without the pauses between them")];
    notes.extend(sweep.record_bytes.map(|bytes| format!("kB/s counts a record as {} bytes", count(bytes))));
    format!("{text}\n{}", paragraph(&format!("{}.", notes.join("; ")), columns))
}

fn jitter(sweep: &SweepTable, columns: u16) -> Option<String> {
    if sweep.jitter.is_empty() {
        return None;
    }
    let row = |class: &JitterClass| {
        let jitter = or_none(class.jitter_ms, |ms| duration(ms * 1e3));
        vec![format!("{}–{}", count(class.from), count(class.to)), count(class.pairs as u64), jitter]
    };
    let text = table("Query jitter", &["pairs", "mean"], sweep.jitter.iter().map(row).collect(), Right, columns);
    let note = match sweep.empty_transaction_us {
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
