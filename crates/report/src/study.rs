//! What a study printed beside the figures of runs. Pure.

use crate::{
    document::{Document, Spread},
    score::scored_run,
    terminal::{
        figure::{or_none, significant},
        finished,
        table::{paragraph, table},
        usable,
    },
};
use comfy_table::CellAlignment::Right;
use iotbench_scoring::Criterion;
use iotbench_suite::{StudyRow, StudyTable};

type Figure = (&'static str, fn(&Document) -> Option<f64>);

/// Figures that tables of studies print, beside the criteria of scores: in the units that their names end with.
const STUDY_FIGURES: [Figure; 13] = [
    ("capacity", |document| document.capacity.as_ref()?.lower.map(f64::from)),
    ("operations_per_s", |document| document.throughput.as_ref()?.operations_per_s),
    ("values_per_s", |document| document.throughput.as_ref()?.values_per_s),
    ("bytes_per_s", |document| document.throughput.as_ref()?.bytes_per_s),
    ("operations_per_s_min", |document| windows(document)?.min),
    ("operations_per_s_q1", |document| windows(document)?.q1),
    ("operations_per_s_median", |document| windows(document)?.median),
    ("operations_per_s_q3", |document| windows(document)?.q3),
    ("operations_per_s_max", |document| windows(document)?.max),
    ("response_mean_us", |document| document.latency.as_ref()?.by_operation.response.mean),
    ("response_jitter_us", |document| document.latency.as_ref()?.jitter),
    ("failed_pct", failed_pct),
    ("service_mean_us", |document| document.latency.as_ref()?.by_operation.service.mean),
];

fn windows(document: &Document) -> Option<&Spread> {
    Some(&document.throughput.as_ref()?.windows.as_ref()?.operations_per_s)
}

fn failed_pct(document: &Document) -> Option<f64> {
    let load = &document.load;
    (load.offered > 0).then(|| 100.0 * (load.offered - load.ok.min(load.offered)) as f64 / load.offered as f64)
}

/// A figure of a run by its name: throughput, response time or capacity, or a criterion of a score.
#[must_use]
pub fn study_figure(document: &Document, name: &str) -> Option<f64> {
    match STUDY_FIGURES.into_iter().find(|(figure, _)| *figure == name) {
        Some((_, figure)) => figure(document),
        None => {
            let figures = scored_run(document).figures;
            figures.into_iter().find(|(criterion, _): &(Criterion, f64)| criterion.name() == name).map(|(_, f)| f)
        }
    }
}

/// Whether runs have a figure of this name, so that [`study_figure`] may find one.
#[must_use]
pub fn is_study_figure(name: &str) -> bool {
    STUDY_FIGURES.iter().any(|(figure, _)| *figure == name)
        || Criterion::ALL.iter().any(|criterion| criterion.name() == name)
}

/// The table with both figures in each place, and what agrees in rank. For a terminal of `columns` columns, of which at most
/// 100 are used.
#[must_use]
pub fn render_study_table(study: &StudyTable, columns: u16) -> String {
    let columns = usable(columns);
    let heads: Vec<&str> = study.heads.iter().map(String::as_str).collect();
    let rows = study.rows.iter().map(row).collect();
    let title = format!("{} (printed | here)", study.title);
    let mut sections = vec![paragraph(&title, columns), table("", &heads, rows, Right, columns)];
    sections.push(paragraph(&study.verdict(), columns));
    sections.extend(study.note.iter().map(|note| paragraph(note, columns)));
    finished(&sections.join("\n"))
}

fn row(row: &StudyRow) -> Vec<String> {
    let both = |(printed, measured): (&Option<f64>, &Option<f64>)| {
        format!("{} | {}", or_none(*printed, significant), or_none(*measured, significant))
    };
    std::iter::once(row.name.clone()).chain(row.printed.iter().zip(&row.measured).map(both)).collect()
}
