//! What each load that was tried led to, and between which two loads the limit lies.

use super::{
    chart::{Axis, Chart, Line, Shape, Unit},
    quantity::Scale,
    storage,
    table::Table,
};
use crate::{
    document::{BoundTrials, Capacity, Step, StorageProbes},
    terminal::figure::{TIE, count, or_none, significant},
};
use maud::{Markup, html};

pub(super) fn section(capacity: &Capacity, colour: usize) -> Markup {
    let steps = by_load(capacity);
    let response = Axis::log("response time, mean of a step", Unit::Microseconds);
    let response = plot(capacity, &steps, response, colour, &|step| step.mean_response_us.filter(|us| *us > 0.0));
    let throughput = Axis::linear("operations acknowledged a second", Unit::Number);
    let throughput = plot(capacity, &steps, throughput, colour, &|step| step.operations_per_s);
    let table = table(&steps);
    html! {
        section {
            h2 { "Capacity" }
            p { (certainty(capacity)) }
            p.dim { "Stop criterion: " (capacity.criterion) ". State: " (capacity.state_said()) "." }
            @if let Some(probes) = capacity.storage_probes.as_ref().and_then(StorageProbes::said) {
                p.dim { (probes.replace(TIE, "\u{a0}")) }
            }
            div.charts {
                (response.figure("Response time by load", NOTE, &table))
                (throughput.figure("Throughput by load", NOTE, &table))
                @if let Some(storage) = storage::figure(capacity, colour) { (storage) }
            }
        }
    }
}

const NOTE: &str =
    "Filled: sustained; rings: not. The line joins the means of each load's trials. Tinted: where the limit lies.";

/// The steps that decide, the least load first.
fn by_load(capacity: &Capacity) -> Vec<&Step> {
    let mut steps: Vec<&Step> = capacity.steps.iter().filter(|step| step.purpose.decides()).collect();
    steps.sort_by_key(|step| step.offered_load);
    steps
}

/// The mean of each load's trials, for the plot of several.
pub(super) fn curve(capacity: &Capacity, figure: &dyn Fn(&Step) -> Option<f64>) -> (Vec<f64>, Vec<Option<f64>>) {
    let steps = by_load(capacity);
    let of_load = |steps: &[&Step]| {
        let known: Vec<f64> = steps.iter().filter_map(|step| figure(step)).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    let loads = steps.chunk_by(|a, b| a.offered_load == b.offered_load);
    loads.filter_map(|steps| Some((f64::from(steps.first()?.offered_load), of_load(steps)))).unzip()
}

fn plot(capacity: &Capacity, steps: &[&Step], y: Axis, colour: usize, figure: &dyn Fn(&Step) -> Option<f64>) -> Chart {
    let at: Vec<f64> = steps.iter().map(|step| f64::from(step.offered_load)).collect();
    let (loads, means) = curve(capacity, figure);
    // Trials of one load stand at one x: its mean is told once.
    let mut known = loads.into_iter().zip(means).peekable();
    let mean = |load: &f64| known.next_if(|(own, _)| own == load).and_then(|(_, mean)| mean);
    let means = at.iter().map(mean).collect();
    let trials = |passed: bool| steps.iter().map(|step| figure(step).filter(|_| step.passed == passed)).collect();
    let line = |label: &str, shape, figures| Line { label: label.into(), colour, shape, figures };
    let lines = vec![
        line("mean", Shape::Solid, means),
        line("sustained", Shape::Points, trials(true)),
        line("not sustained", Shape::Rings, trials(false)),
    ];
    let stretch = capacity.lower.map(|lower| (f64::from(lower), capacity.upper.map(f64::from), "the limit".to_owned()));
    Chart { lines, bridges: true, stretch, ..Chart::new(Axis::linear(capacity.quantity.clone(), Unit::Number), y, at) }
}

/// How sure the interval is.
fn certainty(capacity: &Capacity) -> String {
    let bound = |bound: Option<u32>| or_none(bound, |load| count(load.into()));
    let mut text = match (capacity.lower, capacity.upper) {
        (Some(_), Some(_)) => {
            format!("The limit lies from {} to {} {}", bound(capacity.lower), bound(capacity.upper), capacity.quantity)
        }
        (Some(_), None) => format!("The limit lies above {} {}", bound(capacity.lower), capacity.quantity),
        (None, Some(_)) => format!("The limit lies below {} {}", bound(capacity.upper), capacity.quantity),
        (None, None) => return "No load was judged.".into(),
    };
    if let Some(estimate) = &capacity.estimate {
        text += &format!(" (90 % interval of this sitting, by {} trials near it)", count(estimate.trials.into()));
    }
    if let Some(search) = &capacity.search {
        let of = |trials: &Option<BoundTrials>| {
            let trials = trials.as_ref()?;
            let (load, all) = (count(trials.load.into()), trials.sustained + trials.failed);
            Some(format!("of {load} {} of {all} sustained", trials.sustained))
        };
        let bounds = [of(&search.at_sustained), of(&search.at_failed)];
        let bounds: Vec<String> = bounds.into_iter().flatten().collect();
        text += &format!(" ({} trials; {})", count(search.trials), bounds.join(", "));
        if search.client_limited {
            text += "; the client was the limit, the database's lies there or higher";
        }
    }
    text + "."
}

fn table(steps: &[&Step]) -> Table {
    let times = steps.iter().flat_map(|step| [step.mean_response_us, step.p99_response_us]).flatten();
    let unit = Scale::of_microseconds(times);
    let heads = [
        "load".into(),
        "operations/s".into(),
        format!("mean, {}", unit.name),
        format!("p99, {}", unit.name),
        "sustained".into(),
        "why not".into(),
    ];
    let bounded = |known, at_least, at_most| match (known, at_least, at_most) {
        (None, least @ Some(_), most @ Some(_)) => format!("{} to {}", unit.show(least), unit.show(most)),
        (None, least @ Some(_), None) => format!("≥ {}", unit.show(least)),
        (known, ..) => unit.show(known),
    };
    let row = |step: &&Step| {
        vec![
            count(step.offered_load.into()),
            or_none(step.operations_per_s, significant),
            bounded(step.mean_response_us, step.mean_response_at_least_us, step.mean_response_at_most_us),
            bounded(step.p99_response_us, step.p99_response_at_least_us, step.p99_response_at_most_us),
            if step.passed { "yes" } else { "no" }.into(),
            step.failure.clone().unwrap_or_default(),
        ]
    };
    let rows = steps.iter().map(row).collect();
    Table { heads: heads.into(), rows, words: vec![4, 5], all_in: "run.json" }
}
