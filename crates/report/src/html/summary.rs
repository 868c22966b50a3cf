//! What a run comes to: verdict, answer, the figures that are asked for first.

use super::quantity::Scale;
use crate::{
    document::{Document, Status},
    terminal::{
        answer::sentence,
        figure::{NONE, TIE, count, figure_of, or_none, significant},
    },
};
use maud::{Markup, html};

/// The verdict in a word.
pub(super) fn badge(document: &Document) -> Markup {
    let class = document.doubt().unwrap_or(document.verdict.status.name());
    html! { span class=(format!("badge {class}")) { (document.verdict_words()) } }
}

/// The verdict with its reasons, and the answer in a sentence.
pub(super) fn verdict(document: &Document) -> Markup {
    let said = match document.verdict.status {
        Status::Valid if document.doubt().is_some() => {
            "Others had a part of the machine: these figures may be too low."
        }
        Status::Valid => "Nothing is known against these figures.",
        Status::Invalid => "Do not quote these figures.",
        Status::Running => "This run has not ended, or was killed: these are its figures so far.",
        Status::Aborted => "The run was ended early: these are its figures until then.",
        Status::Failed => "The run could not be carried out.",
    };
    html! {
        p { (badge(document)) " " (said) }
        @if !document.verdict.reasons.is_empty() {
            ul.reasons { @for reason in &document.verdict.reasons { li { (reason) } } }
        }
        p.answer { (sentence(document).replace(TIE, "\u{a0}")) }
    }
}

/// A few figures, large.
pub(super) fn figures(document: &Document) -> Markup {
    let mut tiles: Vec<(&str, String, String)> = Vec::new();
    if let Some(capacity) = &document.capacity {
        let bound = |bound: Option<u32>| or_none(bound, |load| count(load.into()));
        let range = format!("{} to {}", bound(capacity.lower), bound(capacity.upper));
        tiles.push(("Sustained", range, capacity.quantity.clone()));
    }
    if let Some(throughput) = &document.throughput {
        let rates = [
            ("Operations", throughput.operations_per_s),
            ("Datapoints written", throughput.points_per_s),
            ("Rows read", throughput.rows_read_per_s),
        ];
        let done = rates.into_iter().filter_map(|(name, rate)| Some((name, rate.filter(|rate| *rate > 0.0)?)));
        tiles.extend(done.map(|(name, rate)| (name, significant(rate), "a second".into())));
    }
    if let Some(latency) = &document.latency {
        let response = &latency.by_operation.response;
        for (name, key) in [("Response p50", "p50"), ("Response p99", "p99")] {
            let interval = response.ci95.get(key).and_then(|ci| ci.low.zip(ci.high));
            let lack = response.unsupported.get(key).cloned().unwrap_or_default();
            let note = interval.map_or(lack, |(low, high)| {
                let unit = Scale::of_microseconds([low, high].into_iter());
                format!("{} to {} {}", unit.show(Some(low)), unit.show(Some(high)), unit.name)
            });
            tiles.push((name, figure_of(response, key), note));
        }
    }
    let database: Vec<_> = document.resources.iter().filter(|r| r.is_of_database()).collect();
    let roles = database.iter().map(|r| r.role.as_str()).collect::<Vec<_>>().join(", ");
    let cpu_pct = database.iter().filter_map(|r| r.cpu_pct_mean).reduce(|a, b| a + b);
    if let Some(cpu_pct) = cpu_pct {
        tiles.push(("CPU", format!("{}{TIE}%", significant(cpu_pct)), format!("of a core; {roles}")));
    }
    if let Some(bytes) = document.storage.bytes_per_point {
        tiles.push(("Stored", significant(bytes), "bytes a datapoint".into()));
    }
    if document.points.counts.acked > 0 {
        let note = format!("of {} acknowledged", count(document.points.to_be_stored()));
        tiles.push(("Datapoints lost", document.points.lost().map_or(NONE.into(), count), note));
    }
    html! {
        dl.figures { @for (name, figure, note) in tiles {
            div { dt { (name) } dd { (figure) br; small { (note) } } }
        } }
    }
}
