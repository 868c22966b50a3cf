//! Several runs of the same: means over them, and how exact these are. Pure.

use crate::{
    document::{Document, Interval, Status},
    suite::title_of_run,
    terminal::{
        figure::{count, duration, or_none, significant},
        finished,
        table::{paragraph, table},
        usable,
    },
    upper_ends::remarks_of_upper_ends,
};
use comfy_table::CellAlignment::Right;
use iotbench_statistics::{MeanInterval, PUBLISHABLE_REPETITIONS, t_interval};
use serde::Serialize;

/// What repetitions tell together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repetitions {
    /// How the intervals were made.
    pub method: &'static str,
    /// What decided the order of the runs.
    pub order_seed: u64,
    /// A mean for each target and figure.
    pub figures: Vec<RepeatedFigure>,
    /// Runs that are in no mean because they are not valid, and why.
    pub left_out: Vec<String>,
    /// What a reader has to know.
    pub remarks: Vec<String>,
}

/// A figure's mean over repetitions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RepeatedFigure {
    /// What was repeated: database, layout, variant, and value of a sweep.
    pub target: String,
    /// The figure's name, which ends with its unit.
    pub figure: &'static str,
    /// How many valid runs have it.
    pub runs: usize,
    /// The mean of these.
    pub mean: f64,
    /// Its 95 % confidence interval; null with one run.
    pub ci95: Option<Interval>,
    /// Standard deviation over mean, in percent; null with one run or a mean of 0.
    pub cv_pct: Option<f64>,
}

const METHOD: &str = "Student's t over repetitions";

type Figure = (&'static str, fn(&Document) -> Option<f64>);

const FIGURES: [Figure; 5] = [
    ("capacity", |document| document.capacity.as_ref()?.limit()),
    ("operations_per_s", |document| document.throughput.as_ref()?.operations_per_s),
    ("values_per_s", |document| document.throughput.as_ref()?.values_per_s.filter(|&rate| rate > 0.0)),
    ("response_mean_us", |document| document.latency.as_ref()?.by_operation.response.at_most("mean")),
    ("response_p99_us", |document| document.latency.as_ref()?.by_operation.response.at_most("p99")),
];

impl Repetitions {
    /// Of runs in any order; those that are not valid are left out. A figure that not every valid run of a target has is
    /// left out too: a mean of the rest would be that of the luckier runs.
    #[must_use]
    pub fn of(documents: &[Document], order_seed: u64) -> Self {
        let of_target = |(target, runs): (String, Vec<&Document>)| {
            let figures = shared_figures(&runs).into_iter();
            figures.map(|(figure, values)| repeated(target.clone(), figure, &values)).collect::<Vec<_>>()
        };
        let valid = documents.iter().filter(is_valid);
        Self {
            remarks: remarks_of_upper_ends(&valid, FIGURES.into_iter().map(|(name, _)| name)),
            method: METHOD,
            order_seed,
            figures: valid_by_target(documents).into_iter().flat_map(of_target).collect(),
            left_out: left_out(documents),
        }
    }
}

fn is_valid(document: &&Document) -> bool {
    document.verdict.status == Status::Valid
}

/// The valid runs of each target, in the order in which targets are first named.
pub(crate) fn valid_by_target(documents: &[Document]) -> Vec<(String, Vec<&Document>)> {
    let mut targets: Vec<(String, Vec<&Document>)> = Vec::new();
    for document in documents {
        let name = title_of_run(document);
        let valid = Some(document).filter(is_valid);
        match targets.iter_mut().find(|(target, _)| *target == name) {
            Some((_, runs)) => runs.extend(valid),
            None => targets.push((name, valid.into_iter().collect())),
        }
    }
    targets
}

/// The figures that each of these runs has, and their values: of the others a mean would be that of the luckier runs.
pub(crate) fn shared_figures(runs: &[&Document]) -> Vec<(&'static str, Vec<f64>)> {
    let shared = |(figure, of): Figure| {
        let values: Vec<f64> = runs.iter().filter_map(|run| of(run)).collect();
        (!values.is_empty() && values.len() == runs.len()).then_some((figure, values))
    };
    FIGURES.into_iter().filter_map(shared).collect()
}

/// The runs that are not valid, and why.
pub(crate) fn left_out(documents: &[Document]) -> Vec<String> {
    let invalid = documents.iter().filter(|document| !is_valid(document));
    let reason = |document: &Document| {
        let reasons = document.verdict.reasons.join("; ");
        format!("{} ({}: {reasons})", document.run_id, document.verdict.status.name())
    };
    invalid.map(reason).collect()
}

fn repeated(target: String, figure: &'static str, values: &[f64]) -> RepeatedFigure {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    // None of the figures can be negative.
    let interval = t_interval(values).map(MeanInterval::not_below_zero);
    let interval = interval.map(|i| Interval { low: Some(i.low), high: Some(i.high) });
    let cv_pct = Some(variance.sqrt() / mean * 100.0).filter(|cv| cv.is_finite());
    RepeatedFigure { target, figure, runs: values.len(), mean, ci95: interval, cv_pct }
}

/// A row for each target and figure: mean, interval, and how far single runs lie apart. For a terminal of `columns` columns,
/// of which at most 100 are used.
#[must_use]
pub fn render_repetitions(repetitions: &Repetitions, columns: u16) -> String {
    let columns = usable(columns);
    let rows = repetitions.figures.iter().map(row).collect();
    let heads = ["runs", "mean", "95 % from", "to", "CV"];
    let mut sections = vec![table("Repetitions", &heads, rows, Right, columns)];
    let mut lines = vec![format!(
        "Intervals: {}, each run with a fresh state; the order is drawn in rounds from the seed {}.",
        repetitions.method, repetitions.order_seed
    )];
    if repetitions.figures.iter().any(|figure| figure.runs < PUBLISHABLE_REPETITIONS) {
        lines.push(format!("Fewer than {PUBLISHABLE_REPETITIONS} repetitions: not for publication."));
    }
    lines.extend(repetitions.left_out.iter().map(|run| format!("left out: {run}")));
    lines.extend(repetitions.remarks.iter().map(|remark| format!("remark: {remark}")));
    sections.push(lines.iter().map(|l| paragraph(&crate::printable(l), columns)).collect::<Vec<_>>().join("\n"));
    finished(&sections.join("\n\n"))
}

/// A figure's name for people, and how it is shown.
pub(crate) fn in_words(figure: &str) -> (&str, fn(f64) -> String) {
    match figure {
        "operations_per_s" => ("operations/s", significant),
        "values_per_s" => ("values/s", significant),
        "response_mean_us" => ("mean response", duration),
        "response_p99_us" => ("p99 response", duration),
        other => (other, significant),
    }
}

fn row(figure: &RepeatedFigure) -> Vec<String> {
    let (name, show) = in_words(figure.figure);
    let end = |end: Option<f64>| or_none(end, show);
    let interval = figure.ci95.as_ref();
    vec![
        format!("{} {name}", crate::printable(&figure.target)),
        count(figure.runs as u64),
        show(figure.mean),
        end(interval.and_then(|i| i.low)),
        end(interval.and_then(|i| i.high)),
        or_none(figure.cv_pct, |cv| format!("{} %", significant(cv))),
    ]
}
