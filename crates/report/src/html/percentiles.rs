//! Response times by percentile, on an axis of 1 / (1 − q): each factor of ten is a nine more.

use super::{
    chart::{Axis, Chart, Line, Shape, Unit},
    quantity::Scale,
    table::Table,
};
use crate::terminal::figure::count;
use iotbench_recorder::{Bounded, Level, Quantile};
use maud::Markup;

/// Points for each factor of ten.
const STEPS: u32 = 12;
/// The last level that a level of parts per million can express.
const MAX_DECADES: u32 = 6;

/// A distribution in the plot.
pub(super) struct Distribution {
    pub(super) label: String,
    pub(super) colour: usize,
    pub(super) shape: Shape,
    pub(super) durations: Bounded,
}

pub(super) fn figure(title: &str, distributions: &[Distribution]) -> Option<Markup> {
    let lines = distributions.iter().map(line);
    let lines: Vec<(Line, Vec<f64>)> = lines.filter(|(line, _)| !line.figures.is_empty()).collect();
    if lines.is_empty() {
        return None;
    }
    let chart = Chart::of_lines(
        Axis::log("percentile", Unit::Quantile),
        Axis::log("time of an operation", Unit::Microseconds),
        lines,
    );
    let note = "Each step to the right is a tenth of the operations that are left. A line ends where fewer than ten \
                operations lie beyond, or where it is not known because of operations without an answer.";
    Some(chart.figure(title, note, &table(distributions)))
}

/// From the median on to the last quantile that the sample supports.
fn line(distribution: &Distribution) -> (Line, Vec<f64>) {
    let steps = (0..=STEPS * MAX_DECADES).map(|step| 10_f64.powf(f64::from(step) / f64::from(STEPS)));
    let quantiles: Vec<(f64, f64)> = std::iter::once(2.0)
        .chain(steps.filter(|at| *at > 2.0))
        .filter_map(|at| {
            let ns = distribution.durations.quantile(level(at)?).ns()?;
            Some((at, ns as f64 / 1e3))
        })
        .collect();
    let (at, figures) = quantiles.into_iter().map(|(at, us)| (at, Some(us))).unzip();
    let (label, colour, shape) = (distribution.label.clone(), distribution.colour, distribution.shape);
    (Line { label, colour, shape, figures }, at)
}

/// The level of 1 / (1 − q).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and a million")]
fn level(at: f64) -> Option<Level> {
    Level::from_parts_per_million((1e6 * (1.0 - 1.0 / at)).round() as u32)
}

fn table(distributions: &[Distribution]) -> Table {
    const LEVELS: [(&str, u32); 8] = [
        ("50 %", 500_000),
        ("75 %", 750_000),
        ("90 %", 900_000),
        ("95 %", 950_000),
        ("99 %", 990_000),
        ("99.9 %", 999_000),
        ("99.99 %", 999_900),
        ("99.999 %", 999_990),
    ];
    let of = |distribution: &Distribution, parts| {
        Level::from_parts_per_million(parts).map(|l| distribution.durations.quantile(l))
    };
    let all = distributions.iter().flat_map(|d| LEVELS.iter().filter_map(|(_, parts)| of(d, *parts)?.ns()));
    let unit = Scale::of_microseconds(all.map(|ns| ns as f64 / 1e3));
    let us = |ns: u64| Some(ns as f64 / 1e3);
    let cells = |distribution: &Distribution, parts: u32| match of(distribution, parts) {
        Some(Quantile::Value { ns, ci_low_ns, ci_high_ns }) => {
            let range = format!("{} to {}", unit.show(us(ci_low_ns)), unit.show(ci_high_ns.and_then(us)));
            [unit.show(us(ns)), range]
        }
        Some(Quantile::AtLeast { ns }) => [format!("≥ {}", unit.show(us(ns))), String::new()],
        Some(Quantile::Unsupported { needed, .. }) => ["–".into(), format!("needs {}", count(needed))],
        None => ["–".into(), String::new()],
    };
    let mut heads = vec!["percentile".to_owned()];
    heads.extend(distributions.iter().flat_map(|d| [format!("{}, {}", d.label, unit.name), "95 % interval".into()]));
    let row = |name: &str, parts: u32| {
        let cells = distributions.iter().flat_map(|d| cells(d, parts));
        std::iter::once(name.to_owned()).chain(cells).collect()
    };
    let mut rows: Vec<Vec<String>> = LEVELS.iter().map(|(name, parts)| row(name, *parts)).collect();
    let counts = distributions.iter().flat_map(|d| [count(d.durations.count()), String::new()]);
    rows.push(std::iter::once("operations".to_owned()).chain(counts).collect());
    Table { heads, rows, ..Table::default() }
}
