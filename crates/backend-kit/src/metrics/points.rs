//! Datapoints put together: a server answers series by series, and a datapoint is a value of each signal at one time.

use super::{datapoint::Datapoint, names::DEVICE};
use crate::{cell::Cell, millis::ns};
use iotbench_core::{Cause, Error};
use std::collections::BTreeMap;

/// Takes a datapoint: its device, its time, and for each signal that was asked about what was found.
pub type Take<'t> = dyn FnMut(u32, i64, &[Option<&Cell<'_>>]) -> Result<(), Error> + 't;

/// Values of one signal of one device.
#[derive(Clone, Copy, Debug)]
pub struct Series<'d, 'a> {
    /// Which of the signals that were asked about.
    pub place: usize,
    /// Whose they are.
    pub device: u32,
    /// The values, in any order.
    pub values: &'d [Datapoint<'a>],
}

/// Gives the datapoints of these series of `width` signals, by device and time, to `take`.
pub fn points<'d, 'a: 'd>(
    width: usize,
    series: impl IntoIterator<Item = Series<'d, 'a>>,
    take: &mut Take<'_>,
) -> Result<(), Error> {
    let mut devices: BTreeMap<u32, Vec<Vec<&Datapoint<'_>>>> = BTreeMap::new();
    for Series { place, device, values } in series.into_iter().filter(|series| !series.values.is_empty()) {
        devices.entry(device).or_insert_with(|| vec![Vec::new(); width])[place].extend(values);
    }
    for (device, mut signals) in devices {
        let mut cells = vec![None; width];
        for values in &mut signals {
            // As they come already, unless the latest was asked for first, or a signal is of two series.
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

/// A device's number.
pub fn device_number(tag: &str) -> Result<u32, Error> {
    tag.parse().map_err(|_| Error::new(Cause::Protocol, format!("the tag {DEVICE} is {tag:?}, which is no number")))
}

#[cfg(test)]
mod tests {
    use super::{super::number, *};

    #[test]
    fn values_of_one_time_become_one_datapoint() {
        let values = |text: &'static str| serde_json::from_str::<Vec<Datapoint<'_>>>(text).unwrap();
        let all = [(0, 1, values("[[3,1],[2,2]]")), (0, 0, values("[[2,3]]")), (1, 1, values("[[2,4.5],[4,5.5]]"))];
        let series = all.iter().map(|(place, device, values)| Series { place: *place, device: *device, values });
        let mut rows = Vec::new();
        points(3, series, &mut |device, time, cells| {
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
        assert!(device_number("x").is_err());
    }
}
