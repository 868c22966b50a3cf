//! How response times were distributed over a run's time.

use super::{
    chart::{Axis, Cell, Chart, Unit},
    table::Table,
    timeline::adorn,
};
use crate::{
    document::Document,
    heat_map::{HeatColumn, HeatMap},
    terminal::figure::{count, duration, or_none},
};
use maud::{Markup, html};

pub(super) fn section(document: &Document, map: &HeatMap, colour: usize, clock: &str) -> Option<Markup> {
    let cells: Vec<Cell> = map.columns.iter().flat_map(cells).collect();
    let (first, last) = (map.columns.first()?, map.columns.last()?);
    let least = cells.iter().map(|cell| cell.2).reduce(f64::min)?;
    let most = cells.iter().map(|cell| cell.3).reduce(f64::max)?;
    let x = Axis::linear("seconds since the start", Unit::Seconds);
    let y = Axis::log("response time", Unit::Microseconds);
    // Two invisible points span the axes.
    let span = super::chart::Line {
        label: String::new(),
        colour,
        shape: super::chart::Shape::Points,
        figures: vec![Some(least), Some(most)],
    };
    let chart = Chart { cells, colour, lines: vec![span], ..Chart::new(x, y, vec![first.from_s, last.to_s]) };
    let chart = adorn(chart, document, clock);
    let note = "The darker a cell, the more operations were acknowledged then after so long: several modes, pauses and \
                drifts that percentiles hide.";
    Some(
        html! { section { h2 { "Distribution over time" } (chart.figure("Response times, all operations", note, &table(map))) } },
    )
}

fn cells(column: &HeatColumn) -> Vec<Cell> {
    let cell = |(&row, &count): (&u32, &u64)| {
        (column.from_s, column.to_s, HeatMap::row_from_us(row), HeatMap::row_from_us(row + 1), count)
    };
    column.rows.iter().map(cell).collect()
}

fn table(map: &HeatMap) -> Table {
    let row = |column: &HeatColumn| {
        let quantiles = column.quantiles_ns.map(|ns| or_none(ns, |ns| duration(ns as f64 / 1e3)));
        [vec![format!("{:.0}", column.from_s), count(column.count)], quantiles.into()].concat()
    };
    let rows = map.columns.iter().map(row).collect();
    Table { all_in: "latency.hlog", ..Table::new(&["second", "operations", "p50", "p90", "p99", "greatest"], rows) }
}
