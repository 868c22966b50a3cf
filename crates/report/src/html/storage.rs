//! How fast the storage under the database and its processors were, over the trials of a search.

use super::{
    chart::{Axis, Chart, Line, Shape, Unit},
    quantity::Scale,
    table::Table,
};
use crate::{
    document::{Capacity, StorageProbeFigures},
    terminal::figure::{count, or_none, significant},
};
use maud::{Markup, html};

/// `None`: it was not probed.
pub(super) fn figure(capacity: &Capacity, colour: usize) -> Option<Markup> {
    let probes = over_trials(capacity);
    if probes.is_empty() {
        return None;
    }
    let line = |label: &str, shape, figure: fn(&StorageProbeFigures) -> Option<f64>| {
        let figures = probes.iter().map(|(_, probe)| figure(probe)).collect();
        Line { label: label.into(), colour, shape, figures }
    };
    let x = Axis::linear("trials, in their order", Unit::Number);
    let y = Axis::log("an append of 8 KiB with fdatasync", Unit::Microseconds);
    let lines = vec![line("p50", Shape::Solid, |probe| probe.p50_us), line("p99", Shape::Dashed, |probe| probe.p99_us)];
    let places = || probes.iter().map(|(at, _)| *at).collect();
    let chart = Chart { lines, ..Chart::new(x, y, places()) };
    let y = Axis::linear("the same piece of work", Unit::Microseconds);
    let lines = vec![line("median", Shape::Solid, |probe| probe.work_us)];
    let work = Chart { lines, ..Chart::new(Axis::linear("trials, in their order", Unit::Number), y, places()) };
    let is_worked = probes.iter().any(|(_, probe)| probe.work_us.is_some());
    Some(html! {
        (chart.figure("Storage over the trials", NOTE, &table(&probes)))
        @if is_worked { (work.figure("Processors over the trials", WORK_NOTE, &work_table(&probes))) }
    })
}

const WORK_NOTE: &str = "Up to twenty equal pieces of work at each probe, without load and without what they waited for a processor: longer is \
                         slower.";

fn work_table(probes: &[(f64, &StorageProbeFigures)]) -> Table {
    let unit = Scale::of_microseconds(probes.iter().filter_map(|(_, probe)| probe.work_us));
    let heads = ["trial".into(), format!("work, {}", unit.name)];
    let row = |(at, probe): &(f64, &StorageProbeFigures)| vec![significant(*at), unit.show(probe.work_us)];
    Table { heads: heads.into(), rows: probes.iter().map(row).collect(), words: vec![], all_in: "run.json" }
}

const NOTE: &str = "Probes of the database's file system without load: before the search, after each trial, and after each run of a \
                    trial that was run again.";

/// The probes with their places: that after the third trial is at 3, and those before it lie between 2 and 3.
fn over_trials(capacity: &Capacity) -> Vec<(f64, &StorageProbeFigures)> {
    let of_step = |(trial, step): (usize, &'_ crate::document::Step)| {
        let probes = step.storage_probes.len();
        let at = move |place: usize| trial as f64 - (probes - place) as f64 / probes as f64;
        (1..=probes).map(at).collect::<Vec<f64>>()
    };
    let places = (1..).zip(&capacity.steps).flat_map(of_step);
    places.zip(capacity.steps.iter().flat_map(|step| &step.storage_probes)).collect()
}

fn table(probes: &[(f64, &StorageProbeFigures)]) -> Table {
    let unit = Scale::of_microseconds(probes.iter().flat_map(|(_, probe)| [probe.p50_us, probe.p99_us]).flatten());
    let heads = [
        "trial".into(),
        "appends".into(),
        format!("p50, {}", unit.name),
        format!("p99, {}", unit.name),
        "appends/s".into(),
    ];
    let row = |(at, probe): &(f64, &StorageProbeFigures)| {
        vec![
            significant(*at),
            count(probe.appends),
            unit.show(probe.p50_us),
            unit.show(probe.p99_us),
            or_none(probe.appends_per_s, significant),
        ]
    };
    Table { heads: heads.into(), rows: probes.iter().map(row).collect(), words: vec![], all_in: "run.json" }
}
