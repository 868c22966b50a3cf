//! Several runs: their verdicts, and their plots in one.

use super::{
    capacity::curve,
    chart::{Axis, Chart, Line, Shape, Unit},
    percentiles::{self, Distribution},
    ranking::field_name,
    timeline,
};
use crate::{
    contender::{Contender, Field},
    document::{Document, Status},
    reported_run::ReportedRun,
};
use iotbench_recorder::Bounded;
use maud::{Markup, html};

/// Of more contenders than these a heading tells the number.
const MAX_NAMES: usize = 8;

/// What is compared, in a line.
pub(super) fn title(fields: &[Field<'_>]) -> String {
    let profiles = once_each(fields.iter().map(|field| field.profile.as_str()));
    let contenders = fields.iter().flat_map(|field| &field.contenders);
    let names = once_each(contenders.map(|contender| contender.name.as_str()));
    let names = if names.len() > MAX_NAMES { format!("{} contenders", names.len()) } else { names.join(", ") };
    format!("{} on {names}", profiles.join(", "))
}

fn once_each<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

/// How many of the runs can be believed, and of the others, why not.
pub(super) fn verdict(runs: &[ReportedRun]) -> Markup {
    let valid = runs.iter().filter(|run| run.document.verdict.status == Status::Valid).count();
    let doubtful: Vec<&Document> = runs.iter().map(|run| &run.document).filter(|run| run.doubt().is_some()).collect();
    html! {
        p {
            @if valid == runs.len() { span class="badge valid" { "valid" } } @else { span class="badge invalid" { (valid) " valid" } }
            " "
            @if doubtful.is_empty() { "All " (runs.len()) " runs: nothing is known against their figures." }
            @else if valid == runs.len() { "All " (runs.len()) " runs can be believed; others disturbed some of them." }
            @else { (valid) " of " (runs.len()) " runs can be believed; only these are ranked." }
        }
        @if !doubtful.is_empty() {
            ul.reasons { @for run in doubtful { li { (run.run_id) ": " (run.why_doubted()) } } }
        }
    }
}

/// The contenders' distributions, capacity curves and rates, each in one plot.
pub(super) fn plots(field: &Field<'_>, number: usize, fields: usize) -> Markup {
    let distributions: Vec<Distribution> = field.contenders.iter().filter_map(distribution).collect();
    let figures = [
        percentiles::figure("Response time by percentile", &distributions),
        capacities(field),
        over_time(field, "Throughput", "ok", Axis::linear("operations acknowledged a second", Unit::Number), number),
        over_time(
            field,
            "Response time, p99 of each second",
            "response_p99_us",
            Axis::log("response time", Unit::Microseconds),
            number,
        ),
    ];
    html! {
        section {
            h2 { "Side by side" @if fields > 1 { ": " (field_name(field)) } }
            div.charts { @for figure in figures.into_iter().flatten() { (figure) } }
        }
    }
}

/// The operations of all valid runs together.
fn distribution(contender: &Contender<'_>) -> Option<Distribution> {
    let mut durations = Bounded::default();
    for document in contender.valid() {
        durations.merge(&document.latency.as_ref()?.by_operation.response.bounded()?);
    }
    let (label, colour) = (contender.name.clone(), contender.place);
    (durations.count() > 0).then_some(Distribution { label, colour, shape: Shape::Solid, durations })
}

/// Each run with the name and the colour of its line: the contender's, and of several runs which it is.
fn named_runs<'a>(field: &'a Field<'_>) -> impl Iterator<Item = (String, usize, &'a ReportedRun)> {
    field.contenders.iter().flat_map(|contender| {
        let several = contender.runs.len() > 1;
        contender.runs.iter().enumerate().map(move |(place, run)| {
            let which = if several { format!(", run {}", place + 1) } else { String::new() };
            (format!("{}{which}", contender.name), contender.place, *run)
        })
    })
}

fn capacities(field: &Field<'_>) -> Option<Markup> {
    let mut quantity = None;
    let lines: Vec<(Line, Vec<f64>)> = named_runs(field)
        .filter_map(|(label, colour, run)| {
            let capacity = run.document.capacity.as_ref()?;
            quantity = Some(capacity.quantity.clone());
            let (at, figures) = curve(capacity, &|step| step.mean_response_us.filter(|us| *us > 0.0));
            Some((Line { label, colour, shape: Shape::Solid, figures }, at))
        })
        .collect();
    let x = Axis::linear(quantity?, Unit::Number);
    let table_lines = lines.iter().map(|(line, _)| line.label.clone()).collect::<Vec<_>>();
    let chart =
        Chart { bridges: true, ..Chart::of_lines(x, Axis::log("mean response time", Unit::Microseconds), lines) };
    let mut table = timeline::table(&chart.at, &chart.lines, Unit::Microseconds);
    table.heads = std::iter::once("load".to_owned()).chain(table_lines).collect();
    Some(chart.figure("Response time by load", "The mean of each load's trials.", &table))
}

fn over_time(field: &Field<'_>, title: &str, column: &str, y: Axis, number: usize) -> Option<Markup> {
    let lines: Vec<(Line, Vec<f64>)> = named_runs(field)
        .filter_map(|(label, colour, run)| {
            let series = run.timeline.as_ref()?;
            let mut figures = series.figures(column)?;
            if y.log {
                figures.iter_mut().for_each(|figure| *figure = figure.filter(|figure| *figure > 0.0));
            }
            Some((Line { label, colour, shape: Shape::Solid, figures }, series.starts_s()))
        })
        .collect();
    if lines.is_empty() {
        return None;
    }
    let unit = y.unit;
    let chart = Chart::of_lines(Axis::linear("seconds since each run's start", Unit::Seconds), y, lines);
    let chart = Chart { clock: Some(format!("field-{number}")), ..chart };
    let table = timeline::table(&chart.at, &chart.lines, unit);
    Some(chart.figure(title, "", &table))
}
