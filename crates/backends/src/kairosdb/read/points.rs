//! Datapoints put together: the server answers metric by metric, and a datapoint is a value of each at one time.

use crate::kairosdb::{
    document::{Cell, Datapoint, Document, Group},
    error::improper,
    names::DEVICE,
    question::ns,
};
use iotbench_core::{Cause, Error, Value, ValueType};
use std::collections::BTreeMap;

/// Takes a datapoint: its device, its time, and for each metric what was found.
pub(crate) type Take<'t> = dyn FnMut(u32, i64, &[Option<&Cell<'_>>]) -> Result<(), Error> + 't;

/// Gives the datapoints of an answer, by device and time, to `take`. Each metric that was asked about is a signal.
pub(crate) fn points(document: &Document<'_>, take: &mut Take<'_>) -> Result<(), Error> {
    let width = document.queries.len();
    for (device, mut signals) in by_device(document)? {
        let mut cells = vec![None; width];
        for values in &mut signals {
            // As they come already, unless the latest was asked for first, or a series is of two types.
            values.sort_by_key(|value| value.ms);
        }
        let mut heads: Vec<_> = signals.iter().map(|values| values.iter().peekable()).collect();
        while let Some(ms) = heads.iter_mut().filter_map(|values| values.peek().map(|value| value.ms)).min() {
            for (cell, values) in cells.iter_mut().zip(&mut heads) {
                *cell = values.next_if(|value| value.ms == ms).map(|value| &value.cell);
            }
            take(device, ns(ms), &cells)?;
        }
    }
    Ok(())
}

/// The values of each device, metric by metric.
fn by_device<'d, 'a>(document: &'d Document<'a>) -> Result<BTreeMap<u32, Vec<Vec<&'d Datapoint<'a>>>>, Error> {
    let width = document.queries.len();
    let mut devices: BTreeMap<u32, Vec<Vec<&Datapoint<'_>>>> = BTreeMap::new();
    for (signal, metric) in document.queries.iter().enumerate() {
        // A metric that is not there is answered with a group of nothing.
        for group in metric.results.iter().filter(|group| !group.values.is_empty()) {
            let signals = devices.entry(device_of(group)?).or_insert_with(|| vec![Vec::new(); width]);
            signals[signal].extend(&group.values);
        }
    }
    Ok(devices)
}

/// The device that a group is of.
pub(crate) fn device_of(group: &Group<'_>) -> Result<u32, Error> {
    match group.tags.get(DEVICE).map(Vec::as_slice) {
        Some([device]) => device_number(device),
        other => Err(improper(format!("a series has the devices {other:?}"))),
    }
}

/// A device's number.
pub(crate) fn device_number(tag: &str) -> Result<u32, Error> {
    tag.parse().map_err(|_| Error::new(Cause::Protocol, format!("the tag {DEVICE} is {tag:?}, which is no number")))
}

/// A cell as a value of this type.
///
/// # Errors
/// Protocol for a cell that holds anything else.
pub(crate) fn value<'c>(cell: &'c Cell<'_>, value_type: ValueType) -> Result<Value<'c>, Error> {
    let unexpected = || Error::new(Cause::Protocol, format!("a {value_type:?} signal holds {cell:?}"));
    Ok(match (value_type, cell) {
        #[expect(clippy::cast_possible_truncation, reason = "an f32 was stored as the f64 of the same value")]
        (ValueType::F32, cell) => Value::F32(number(cell).ok_or_else(unexpected)? as f32),
        (ValueType::F64, cell) => Value::F64(number(cell).ok_or_else(unexpected)?),
        (ValueType::I64, Cell::Integer(v)) => Value::I64(*v),
        (ValueType::U16, Cell::Integer(v)) => Value::U16(u16::try_from(*v).map_err(|_| unexpected())?),
        (ValueType::Text, Cell::Text(v)) => Value::Text(v),
        _ => return Err(unexpected()),
    })
}

/// A cell as a number; a text as the number that it reads as.
pub(crate) fn number(cell: &Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Float(v) => Some(*v),
        #[expect(clippy::cast_precision_loss, reason = "a float that is whole, or a figure, which is f64 everywhere")]
        Cell::Integer(v) => Some(*v as f64),
        Cell::Text(text) => Value::Text(text).as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_time_become_one_datapoint() {
        let text = r#"{"queries":[
            {"results":[{"tags":{"device":["1"]},"values":[[3,1],[2,2]]},{"tags":{"device":["0"]},"values":[[2,3]]}]},
            {"results":[{"tags":{"device":["1"]},"values":[[2,4.5],[4,5.5]]}]},
            {"results":[{"tags":{},"values":[]}]}]}"#;
        let document: Document<'_> = serde_json::from_str(text).unwrap();
        let mut rows = Vec::new();
        points(&document, &mut |device, time, cells| {
            let cells: Vec<_> = cells.iter().map(|cell| cell.and_then(number)).collect();
            rows.push((device, time, cells));
            Ok(())
        })
        .unwrap();
        let expected = [
            (0, 2_000_000, vec![Some(3.0), None, None]),
            (1, 2_000_000, vec![Some(2.0), Some(4.5), None]),
            (1, 3_000_000, vec![Some(1.0), None, None]),
            (1, 4_000_000, vec![None, Some(5.5), None]),
        ];
        assert_eq!(rows, expected);
        let alien = r#"{"queries":[{"results":[{"tags":{"device":["x"]},"values":[[1,1]]}]}]}"#;
        assert!(points(&serde_json::from_str(alien).unwrap(), &mut |_, _, _| Ok(())).is_err());
    }
}
