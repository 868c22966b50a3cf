//! How long operations took.

use super::{
    figure::{count, duration, or_none},
    table::{paragraph, table},
};
use crate::document::{Document, Durations, Figures};
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
    if let Some(figure) = &latency.response_at_least {
        figures.push(("response at least".into(), figure));
    }
    for (name, durations) in [("failed after", &latency.failed), ("given up after", &latency.unknown)] {
        figures.extend(durations.as_ref().map(|d| (name.to_owned(), &d.response)));
    }
    let heads = ["count", "p50", "p90", "p95", "p99", "p99.9", "max", "mean"];
    let rows = figures.iter().map(|(name, figures)| row(name, figures)).collect();
    let text = table("Latency", &heads, rows, Right, columns);
    let why: Vec<_> = lacks(figures.iter().map(|(_, figures)| *figures)).into_iter().collect();
    if why.is_empty() {
        return Some(text);
    }
    Some(format!("{text}\n{}", paragraph(&format!("– {}", why.join(", ")), columns)))
}

fn of<'a>(prefix: &str, durations: &'a Durations) -> Vec<(String, &'a Figures)> {
    [("response", &durations.response), ("service", &durations.service), ("lag", &durations.lag)]
        .map(|(name, figures)| (format!("{prefix}{name}"), figures))
        .into()
}

fn row(name: &str, figures: &Figures) -> Vec<String> {
    let Figures { p50, p90, p95, p99, p999, max, mean, .. } = *figures;
    let cells = [p50, p90, p95, p99, p999, max, mean].map(|us| or_none(us, duration));
    [name.to_owned(), count(figures.count)].into_iter().chain(cells).collect()
}

/// For each quantile that some row lacks, how large its sample would have to be.
fn lacks<'a>(figures: impl Iterator<Item = &'a Figures>) -> BTreeSet<String> {
    let name = |key: &str| if key == "p999" { "p99.9".to_owned() } else { key.to_owned() };
    let needed = |why: &str| why.split(',').next().unwrap_or_default().to_owned();
    figures.flat_map(|f| f.unsupported.iter().map(move |(key, why)| format!("{} {}", name(key), needed(why)))).collect()
}
