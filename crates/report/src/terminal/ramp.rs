//! The curve of a ramp.

use super::{
    figure::{count, duration, or_none, significant},
    load::visible,
    table::{paragraph, table},
};
use crate::document::{Document, Purpose, Step};
use comfy_table::CellAlignment::Left;
use iotbench_recorder::Level;

/// Width of the longest bar.
const BAR_COLUMNS: f64 = 20.0;

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    let capacity = document.capacity.as_ref()?;
    let most = capacity.steps.iter().filter_map(|step| step.operations_per_s).fold(0.0, f64::max);
    let mut steps: Vec<(usize, &Step)> = (1..).zip(&capacity.steps).collect();
    steps.sort_by_key(|(place, step)| (step.offered_load, *place));
    let rows = steps.into_iter().map(|(place, step)| row(place, step, most)).collect();
    let load = match capacity.quantity.as_str() {
        "virtual users" => "users",
        "devices" => "devices",
        _ => "offered/s",
    };
    let heads = [load, "operations/s", "values/s", "mean response", "p99", "verdict", "curve"];
    let text = table("Step", &heads, rows, Left, columns);
    let failures = (1..).zip(&capacity.steps).filter_map(|(place, step)| Some((place, step.failure.as_deref()?)));
    let failures: Vec<_> =
        failures.map(|(place, why): (usize, _)| paragraph(&format!("step {place} failed: {why}"), columns)).collect();
    let lags = (1..).zip(&capacity.steps).filter_map(|(place, step)| Some((place, step.visibility.as_ref()?)));
    let lags: Vec<_> =
        lags.map(|(place, seen): (usize, _)| paragraph(&format!("step {place}: {}", visible(seen)), columns)).collect();
    let lack = capacity.steps.iter().any(|step| p99_response(step).is_none());
    let why = || format!("– p99 needs {} samples", Level::P99.samples_needed());
    let lack = if lack { vec![why()] } else { vec![] };
    let followed_s: f64 = capacity.steps.iter().filter_map(|step| step.followed_s).sum();
    let followed = format!(
        "operations count by when they begin, and were followed to their answers for {} beyond the ends of the steps",
        duration(followed_s * 1e6)
    );
    let followed = if followed_s > 0.0 { vec![paragraph(&followed, columns)] } else { vec![] };
    let state = paragraph(&capacity.state_said(), columns);
    let criterion = paragraph(&format!("stop criterion: {}", capacity.criterion), columns);
    Some([vec![text], lack, lags, failures, followed, vec![state, criterion]].concat().join("\n"))
}

fn row(place: usize, step: &Step, most: f64) -> Vec<String> {
    let purpose = match step.purpose {
        Purpose::Grow => "grow",
        Purpose::Bisect => "bisect",
        Purpose::Below => "below",
        Purpose::Above => "above",
        Purpose::Sentinel => "sentinel",
        Purpose::Retest => "retest",
        Purpose::Listed => "listed",
        Purpose::WritesAlone => "alone",
        Purpose::Soak => "soak",
        Purpose::Overload => "overload",
        Purpose::After => "after",
    };
    vec![
        format!("{place} {purpose}"),
        count(step.offered_load.into()),
        or_none(step.operations_per_s, significant),
        or_none(step.values_per_s, significant),
        mean_response(step).unwrap_or_else(|| or_none(None, duration)),
        p99_response(step).unwrap_or_else(|| or_none(None, duration)),
        if step.passed { "ok".into() } else { "failed".into() },
        bar(step.operations_per_s.unwrap_or_default(), most),
    ]
}

/// The mean response of a step.
pub(super) fn mean_response(step: &Step) -> Option<String> {
    bounded(step.mean_response_us, step.mean_response_at_least_us, step.mean_response_at_most_us)
}

fn p99_response(step: &Step) -> Option<String> {
    bounded(step.p99_response_us, step.p99_response_at_least_us, step.p99_response_at_most_us)
}

/// `1.31 s`, `1.31 s to 1.50 s` or `≥ 1.31 s`.
fn bounded(known_us: Option<f64>, at_least_us: Option<f64>, at_most_us: Option<f64>) -> Option<String> {
    match (known_us, at_least_us, at_most_us) {
        (Some(known), ..) => Some(duration(known)),
        (None, Some(least), Some(most)) => Some(format!("{} to {}", duration(least), duration(most))),
        (None, Some(least), None) => Some(format!("≥ {}", duration(least))),
        (None, None, _) => None,
    }
}

fn bar(rate: f64, most: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to the width of a bar")]
    let length = if most > 0.0 { (rate / most * BAR_COLUMNS).clamp(0.0, BAR_COLUMNS).round() as usize } else { 0 };
    "█".repeat(length)
}
