//! Questions: modules stacked in the path, the innermost last, which reads a table.

use super::{
    decimal::Decimal,
    store::{Cell, Refusal, Store},
};
use std::{cmp::Ordering, collections::BTreeMap, fmt::Write, sync::Arc};

/// A row on its way out, as it is written.
type Row = String;

/// What is read: its rows, and the stretch of time that was asked for.
struct Read {
    rows: Vec<(i64, Arc<BTreeMap<String, Cell>>)>,
    first: i64,
    last: i64,
}

/// Answers `modules`, what stands after `/api/`.
pub fn answer(store: &mut Store, modules: &str) -> Result<String, Refusal> {
    let (path, query) = modules.split_once('?').unwrap_or((modules, ""));
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        ["deletetableV1", name] => store.delete_table(name).map(|()| String::new()),
        ["deleterangeV1", name, from, to] => store.delete_range(name, time(from)?, time(to)?).map(|()| String::new()),
        parts => {
            let rows = rows(store, parts, query == "reverse=true")?;
            Ok(format!("{{\"data\":[{}],\"error\":\"\"}}", rows.join(",")))
        }
    }
}

fn rows(store: &Store, parts: &[&str], is_reversed: bool) -> Result<Vec<Row>, Refusal> {
    match parts {
        ["minmaxV1", interval, inner @ ..] => Ok(extremes(&read(store, inner, is_reversed)?, time(interval)?)),
        parts => Ok(read(store, parts, is_reversed)?.rows.iter().map(|(time, cells)| plain(*time, cells)).collect()),
    }
}

fn read(store: &Store, parts: &[&str], is_reversed: bool) -> Result<Read, Refusal> {
    match parts {
        ["firstvaluesV1", most, inner @ ..] => {
            let mut read = read(store, inner, is_reversed)?;
            read.rows.truncate(usize::try_from(time(most)?).unwrap_or_default());
            Ok(read)
        }
        ["rawdataV1", name, first, last] => {
            let (first, last) = (time(first)?, time(last)?);
            if first > last {
                return Err(Refusal::new(404, "start time cannot be larger than end time"));
            }
            let table = store.table(name)?;
            let mut rows: Vec<_> =
                table.rows.range(first..=last).map(|(time, cells)| (*time, Arc::clone(cells))).collect();
            if is_reversed {
                rows.reverse();
            }
            Ok(Read { rows, first, last })
        }
        _ => Err(Refusal::new(400, "module does not exist or its parameters are wrong")),
    }
}

/// The least and the greatest value of each window; no window begins at the end of the stretch.
fn extremes(read: &Read, interval: i64) -> Vec<Row> {
    let mut windows = Vec::new();
    let mut start = read.first;
    while start < read.last {
        let end = (start + interval).min(read.last);
        // The end of a window is its own; where the next one begins it has been taken already.
        let is_within = |time: i64| (start..=end).contains(&time) && (time > start || start == read.first);
        let values = read.rows.iter().filter(|(time, _)| is_within(*time)).filter_map(|(time, cells)| {
            let Some(Cell::Decimal(value)) = cells.get("value") else { return None };
            (!is_never_answered(value)).then_some((*time, value))
        });
        windows.push(window(start, values));
        start += interval;
    }
    windows
}

fn window<'v>(start: i64, values: impl Iterator<Item = (i64, &'v Decimal)>) -> Row {
    let mut row = format!("{{\"time\":{start}");
    let mut least: Option<(i64, &Decimal)> = None;
    let mut greatest: Option<(i64, &Decimal)> = None;
    for (time, value) in values {
        if least.is_none_or(|(_, least)| value.compare(least) == Ordering::Less) {
            least = Some((time, value));
        }
        if greatest.is_none_or(|(_, greatest)| value.compare(greatest) == Ordering::Greater) {
            greatest = Some((time, value));
        }
    }
    for (name, at, found) in [("min", "minAt", least), ("max", "maxAt", greatest)] {
        if let Some((time, value)) = found {
            // This module answers with texts.
            write!(row, ",\"{name}\":\"{value}\",\"{at}\":\"{time}\"").unwrap();
        }
    }
    row + "}"
}

fn plain(time: i64, cells: &BTreeMap<String, Cell>) -> Row {
    let mut row = format!("{{\"time\":{time}");
    for (name, cell) in cells {
        match cell {
            Cell::Decimal(value) if name == "value" && is_never_answered(value) => write!(row, ",\"{name}\":null"),
            Cell::Decimal(value) => write!(row, ",\"{name}\":{value}"),
            Cell::Text(text) => write!(row, ",\"{name}\":{}", serde_json::to_string(text).unwrap()),
        }
        .unwrap();
    }
    row + "}"
}

/// The server takes this one for nothing, "because of a single client".
fn is_never_answered(value: &Decimal) -> bool {
    value.is_whole("2147483647")
}

fn time(text: &str) -> Result<i64, Refusal> {
    text.parse().map_err(|_| Refusal::new(404, "start time or end time was not of type integer"))
}
