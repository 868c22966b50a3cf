//! Figures of a run that tables of studies print.

use crate::{
    document::{Document, Spread},
    score::scored_run,
    sweep_table::{SweepRow, SweepTable},
};
use iotbench_scoring::{Criterion, Ranking, Table};

type Figure = (&'static str, fn(&Document) -> Option<f64>);

/// Beside the criteria of scores; in the units that their names end with.
const STUDY_FIGURES: [Figure; 16] = [
    ("capacity", |document| document.capacity.as_ref()?.limit()),
    ("operations_per_s", |document| document.throughput.as_ref()?.operations_per_s),
    ("values_per_s", |document| document.throughput.as_ref()?.values_per_s),
    ("bytes_per_s", |document| document.throughput.as_ref()?.bytes_per_s),
    ("operations_per_s_min", |document| windows(document)?.min),
    ("operations_per_s_q1", |document| windows(document)?.q1),
    ("operations_per_s_median", |document| windows(document)?.median),
    ("operations_per_s_q3", |document| windows(document)?.q3),
    ("operations_per_s_max", |document| windows(document)?.max),
    ("response_mean_us", |document| document.latency.as_ref()?.by_operation.response.at_most("mean")),
    ("response_jitter_us", |document| document.latency.as_ref()?.jitter),
    ("failed_pct", failed_pct),
    ("service_mean_us", |document| document.latency.as_ref()?.by_operation.service.mean),
    ("time_mean_us", |document| swept(document)?.mean_us),
    ("queries_per_s", |document| swept(document)?.queries_per_s),
    ("kb_per_s", |document| swept(document)?.kb_per_s),
];

/// What a table of a study has in place of a profile where its figures are scores.
pub const SCORES: &str = "score";
const SCORE_FIGURES: [&str; 3] = ["write_score_pct", "read_score_pct", "total_score_pct"];
/// What is of a pair of sizes and of no run.
pub(super) const JITTER: &str = "jitter_ms";

fn windows(document: &Document) -> Option<&Spread> {
    Some(&document.throughput.as_ref()?.windows.as_ref()?.operations_per_s)
}

fn failed_pct(document: &Document) -> Option<f64> {
    let load = &document.load.counts;
    (load.offered > 0).then(|| 100.0 * (load.offered - load.ok.min(load.offered)) as f64 / load.offered as f64)
}

/// The row of a run in the table of its sweep.
fn swept(document: &Document) -> Option<SweepRow> {
    SweepTable::new(std::slice::from_ref(document))?.rows.into_iter().next()
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

/// Whether a table of this profile can have a column of this name.
#[must_use]
pub fn is_study_figure(profile: &str, name: &str) -> bool {
    if profile == SCORES {
        return SCORE_FIGURES.contains(&name);
    }
    STUDY_FIGURES.iter().any(|(figure, _)| *figure == name)
        || Criterion::ALL.iter().any(|criterion| criterion.name() == name)
}

/// Whether a curve can have a figure of this name.
#[must_use]
pub fn is_curve_figure(name: &str) -> bool {
    name == JITTER || is_study_figure("", name)
}

/// A contender's score by the name of its column.
pub(super) fn score(ranking: &Ranking, contender: &str, figure: &str) -> Option<f64> {
    let of_half = |half: &Option<Table>| {
        half.as_ref()?.rows.iter().find(|row| row.contender == contender).map(|row| row.score_pct)
    };
    match figure {
        "write_score_pct" => of_half(&ranking.write),
        "read_score_pct" => of_half(&ranking.read),
        "total_score_pct" => ranking.total.iter().find(|total| total.contender == contender).map(|t| t.total_pct),
        _ => None,
    }
}
