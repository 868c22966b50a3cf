//! Views for programs: JSON, each with the version of its form.

use crate::{
    compare::{Comparison, MetricNoise},
    document::Document,
    history::History,
};
use iotbench_scoring::{Ranking, Robustness};
use serde_json::{Error, Value, json, to_value};

const COMPARE_SCHEMA: &str = "iotbench-compare/1.0";
const HISTORY_SCHEMA: &str = "iotbench-history/1.0";
const SCORE_SCHEMA: &str = "iotbench-score/1.1";

/// Several documents as one, in `runs`.
///
/// # Errors
/// Never for documents of runs; serde reserves the right.
pub fn json_of_runs(documents: &[Document]) -> Result<Value, Error> {
    let runs = documents.iter().map(|document| to_value(document.printable()?));
    Ok(json!({ "runs": runs.collect::<Result<Vec<_>, Error>>()? }))
}

/// The document of one run, or several as one, as text.
///
/// # Errors
/// As [`json_of_runs`].
pub fn render_json(documents: &[Document]) -> Result<String, Error> {
    match documents {
        [one] => one.to_json(),
        several => Ok(format!("{:#}\n", json_of_runs(several)?)),
    }
}

/// Comparisons as text.
#[must_use]
pub fn json_comparisons(comparisons: &[Comparison]) -> String {
    format!("{:#}\n", json!({ "schema": COMPARE_SCHEMA, "comparisons": comparisons }))
}

/// How far equals lie apart, as text.
#[must_use]
pub fn json_noise(noise: &[MetricNoise]) -> String {
    format!("{:#}\n", json!({ "schema": COMPARE_SCHEMA, "noise_floor": noise }))
}

/// Series of runs with their changes, as text.
#[must_use]
pub fn json_history(History { series, left_out }: &History) -> String {
    format!("{:#}\n", json!({ "schema": HISTORY_SCHEMA, "series": series, "left_out": left_out }))
}

/// A ranking and what it rests on, as text.
#[must_use]
pub fn json_ranking(ranking: &Ranking, robustness: &Robustness, remarks: &[String]) -> String {
    let document = json!({ "schema": SCORE_SCHEMA, "ranking": ranking, "robustness": robustness, "remarks": remarks });
    format!("{document:#}\n")
}
