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
    document::{Document, LatencySummary, Via},
    reported_run::ReportedRun,
    terminal::{figure::TIE, load, scenario, via},
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
        @if let Some(via) = &document.via { (through_a_broker(via, colour)) }
        @if let Some(change) = &document.schema_change {
            p { (load::schema_change(change).replace(TIE, "\u{a0}")) }
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

/// What became of messages, and how long their way to a writer took stage by stage.
fn through_a_broker(of: &Via, colour: usize) -> Markup {
    let stages = [("publish", &of.stages.publish), ("broker", &of.stages.broker), ("queue", &of.stages.queue)];
    let lines = stages.into_iter().enumerate();
    let lines = lines.filter_map(|(place, (label, figures))| line(label, colour + place, Shape::Solid, figures));
    let figure = percentiles::figure("Time from the intended start to a writer, by stage", &lines.collect::<Vec<_>>());
    html! {
        section {
            h2 { "Through a broker" }
            p { (via::sentences(of).replace(TIE, "\u{a0}")) }
            @if let Some(figure) = figure { (figure) }
        }
    }
}

fn line(label: &str, colour: usize, shape: Shape, figures: &LatencySummary) -> Option<Distribution> {
    Some(Distribution { label: label.into(), colour, shape, durations: figures.bounded()? })
}

fn distributions(document: &Document, colour: usize) -> Option<Markup> {
    let latency = document.latency.as_ref()?;
    let durations = &latency.by_operation;
    let all = [
        line("response", colour, Shape::Solid, &durations.response),
        line("service", colour, Shape::Dashed, &durations.service),
    ];
    let all: Vec<Distribution> = all.into_iter().flatten().collect();
    percentiles::figure("Response and service time by percentile", &all)
}
