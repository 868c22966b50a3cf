//! The writes of a mixed load with its reads and without them.

use super::{
    figure::{duration, or_none, significant},
    table::table,
};
use crate::document::{Document, WriteFigures};
use comfy_table::CellAlignment::Right;

pub(super) fn section(document: &Document, columns: u16) -> Option<String> {
    let writes = document.writes_alone.as_ref()?;
    let rows = writes.kinds.iter().flat_map(|kind| {
        [row(&format!("{} beside reads", kind.name), &kind.mixed), row(&format!("{} alone", kind.name), &kind.alone)]
    });
    let heads = ["operations/s", "response p50", "p99", "mean", "service p50", "p99"];
    Some(table("Writes", &heads, rows.collect(), Right, columns))
}

fn row(name: &str, figures: &WriteFigures) -> Vec<String> {
    let (response, service) = (&figures.response, &figures.service);
    let cells = [response.p50, response.p99, response.mean, service.p50, service.p99];
    let cells = cells.map(|us| or_none(us, duration));
    [name.to_owned(), or_none(figures.operations_per_s, significant)].into_iter().chain(cells).collect()
}
