//! The parts of a page that tell of one run.

use super::{
    capacity,
    chart::Shape,
    cost, heat_map,
    percentiles::{self, Distribution},
    setting, timeline,
};
use crate::{
    cost::Cost,
    document::{Document, Figures},
    reported_run::ReportedRun,
    terminal::{figure::TIE, scenario},
};
use maud::{Markup, html};

/// Distribution, time, capacity, cost, setting. `colour` is the run's place in the palette, `clock` its own name.
pub(super) fn sections(run: &ReportedRun, cost: &Cost, colour: usize, clock: &str) -> Markup {
    let document = &run.document;
    html! {
        @if let Some(capacity) = &document.capacity { (capacity::section(capacity, colour)) }
        @if let Some(figure) = distributions(document, colour) {
            section { h2 { "How long operations took" } (figure) }
        }
        @if let Some(scenario) = &document.scenario {
            section {
                h2 { "Scenario" }
                p { (scenario::sentences(document, scenario).replace(TIE, "\u{a0}")) }
                ul.reasons { @for mark in &scenario.marks { li { (scenario::line(mark).replace(TIE, "\u{a0}")) } } }
            }
        }
        @if let Some(series) = &run.timeline { (timeline::section(document, series, colour, clock)) }
        @if let Some(map) = &run.heat_map {
            @if let Some(section) = heat_map::section(document, map, colour, clock) { (section) }
        }
        @if !run.missing.is_empty() {
            p.note { "Not shown, because it cannot be read: " (run.missing.join("; ")) "." }
        }
        (cost::section(std::slice::from_ref(cost)))
        (setting::section(document))
    }
}

fn distributions(document: &Document, colour: usize) -> Option<Markup> {
    let latency = document.latency.as_ref()?;
    let of = |label: &str, colour, shape, figures: &Figures| {
        Some(Distribution { label: label.into(), colour, shape, histogram: figures.histogram()? })
    };
    let durations = &latency.by_operation;
    let all = [
        of("response", colour, Shape::Solid, &durations.response),
        of("service", colour, Shape::Dashed, &durations.service),
    ];
    let all: Vec<Distribution> = all.into_iter().flatten().collect();
    percentiles::figure("Response and service time by percentile", &all)
}
