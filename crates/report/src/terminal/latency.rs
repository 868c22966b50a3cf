//! How long operations took.

use super::{
    figure::{count, figure_of},
    table::{paragraph, table},
};
use crate::document::{Document, Durations, LatencySummary};
use comfy_table::CellAlignment::Right;
use std::collections::BTreeSet;

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    let latency = document.latency.as_ref()?;
    let mut figures = of("", &latency.by_operation);
    if latency.by_request != latency.by_operation {
        figures.extend(of("request ", &latency.by_request));
    }
    if latency.kinds.len() > 1 {
        figures.extend(latency.kinds.iter().map(|k| (format!("{} response", k.name), &k.by_operation.response)));
    }
    for kind in &latency.kinds {
        let name = if latency.kinds.len() > 1 { format!("{} busy", kind.name) } else { "busy, no pauses".into() };
        figures.extend(kind.busy.as_ref().map(|busy| (name, busy)));
    }
    for (name, durations) in [("failed after", &latency.failed), ("given up after", &latency.unknown)] {
        figures.extend(durations.as_ref().map(|d| (name.to_owned(), &d.response)));
    }
    let heads = ["count", "p50", "p90", "p95", "p99", "p99.9", "max", "mean"];
    let rows = figures.iter().map(|(name, figures)| row(name, figures)).collect();
    let text = table("Latency", &heads, rows, Right, columns);
    let all = || figures.iter().map(|(_, figures)| *figures);
    let mut notes = Vec::new();
    if all().any(|figures| figures.at_least.is_some()) {
        notes.push(paragraph(
            "≥ a lower bound: some operations had no answer, or were never started, and no figure is that of the others alone",
            columns,
        ));
    }
    if all().any(|figures| !figures.ranges.is_empty()) {
        notes.push(paragraph("a to b: without what the client added, and with it; the figure lies between", columns));
    }
    // A step's throughput is of what was acknowledged within it.
    if document.capacity.as_ref().is_some_and(|capacity| capacity.steps.iter().any(|step| step.followed_s > Some(0.0)))
    {
        notes.push(paragraph(
            "operations count by when they began: those of the step's last moments are followed beyond its end, and are not in its throughput",
            columns,
        ));
    }
    let why: Vec<_> = lacks(all()).into_iter().collect();
    if !why.is_empty() {
        notes.push(paragraph(&format!("– {}", why.join(", ")), columns));
    }
    Some([vec![text], notes].concat().join("\n"))
}

fn of<'a>(prefix: &str, durations: &'a Durations) -> Vec<(String, &'a LatencySummary)> {
    [("response", &durations.response), ("service", &durations.service), ("lag", &durations.lag)]
        .map(|(name, figures)| (format!("{prefix}{name}"), figures))
        .into()
}

fn row(name: &str, figures: &LatencySummary) -> Vec<String> {
    let cells = ["p50", "p90", "p95", "p99", "p999", "max", "mean"].map(|name| figure_of(figures, name));
    [name.to_owned(), count(figures.count)].into_iter().chain(cells).collect()
}

/// For each quantile that some row lacks, how large its sample would have to be.
fn lacks<'a>(figures: impl Iterator<Item = &'a LatencySummary>) -> BTreeSet<String> {
    let name = |key: &str| if key == "p999" { "p99.9".to_owned() } else { key.to_owned() };
    let needed = |why: &str| why.split(',').next().unwrap_or_default().to_owned();
    figures
        .flat_map(|f| f.unsupported.iter().filter(|(key, _)| f.least(key).is_none()))
        .map(|(key, why)| format!("{} {}", name(key), needed(why)))
        .collect()
}
