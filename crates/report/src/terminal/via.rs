//! What a broker between devices and writers carried.

use super::{
    figure::{NONE, count, duration, or_none},
    table::{paragraph, table},
};
use crate::document::{Document, LatencySummary, Via};
use comfy_table::CellAlignment::Right;

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    let via = document.via.as_ref()?;
    let of_database = document.latency.as_ref().map(|latency| &latency.by_operation);
    let stages = &via.stages;
    let mut rows = vec![
        row("publish", Some(&stages.publish)),
        row("broker", Some(&stages.broker)),
        row("queue", Some(&stages.queue)),
        row("write", of_database.map(|latency| &latency.service)),
        row("end to end", of_database.map(|latency| &latency.response)),
    ];
    if let Some(acknowledgement) = &stages.acknowledgement {
        rows.push(row("(acknowledged to device)", Some(acknowledgement)));
    }
    let name = format!("Via {}", document.target.via.as_deref().unwrap_or(&via.protocol));
    let text = table(&name, &["count", "mean", "p50", "p99", "p99.9", "max"], rows, Right, columns);
    Some(format!("{text}\n{}", paragraph(&sentences(via), columns)))
}

fn row(name: &str, figures: Option<&LatencySummary>) -> Vec<String> {
    let Some(figures) = figures else { return std::iter::once(name).chain([NONE; 6]).map(String::from).collect() };
    let LatencySummary { mean, p50, p99, p999, max, .. } = *figures;
    let times = [mean, p50, p99, p999, max].map(|us| or_none(us, duration));
    [name.to_owned(), count(figures.count)].into_iter().chain(times).collect()
}

/// `10,000 messages published, 10,000 delivered (100 %): 0 lost, 0 duplicates, 0 reordered.`, and who held them up.
pub(crate) fn sentences(via: &Via) -> String {
    let acknowledged = via.acknowledged.map(|n| format!(", {} acknowledged by the broker", count(n)));
    let fraction = via.delivered_fraction.map(|part| format!(" ({} %)", percent(part)));
    let mut text = format!(
        "{} messages published{}, {} delivered{}: {} lost, {} came twice, {} out of order.",
        count(via.published),
        acknowledged.unwrap_or_default(),
        count(via.delivered),
        fraction.unwrap_or_default(),
        count(via.lost),
        count(via.duplicates),
        count(via.reordered),
    );
    match via.dropped_by_broker {
        Some(dropped) => text.push_str(&format!(" The broker says that it dropped {}.", count(dropped))),
        None => text.push_str(" The broker does not say what it dropped."),
    }
    for (messages, seconds, what) in [
        (via.held_back, via.held_back_s, "had to wait at their device for the broker"),
        (via.backlogged, via.backlogged_s, "had to wait at the subscriber for a writer"),
    ] {
        if messages > 0 {
            let waited = duration(seconds * 1e6);
            text.push_str(&format!(" {} {what}, {waited} together.", count(messages)));
        }
    }
    for (messages, what) in
        [(via.too_late, "came too late to be told from duplicates"), (via.foreign, "were not of this run")]
    {
        if messages > 0 {
            text.push_str(&format!(" {} {what}.", count(messages)));
        }
    }
    text
}

/// A part of a hundred that is a hundred only when nothing lacks.
fn percent(part: f64) -> String {
    if part >= 1.0 { "100".into() } else { format!("{:.3}", (part * 1e5).floor() / 1e3) }
}
