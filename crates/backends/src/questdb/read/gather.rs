//! Layout narrow: the values of one device and time become one datapoint again.

use crate::questdb::sql::signal_name;
use iotbench_backend_kit::cell::Cell;
use iotbench_core::{Error, SignalId, TableSpec};
use std::collections::{BTreeMap, HashMap};

/// Takes a datapoint: its device, its time, and a cell for each signal.
pub(crate) type Take<'t> = dyn FnMut(u32, i64, &[Cell<'_>]) -> Result<(), Error> + Send + 't;

/// Puts the values of one time together, device by device.
pub(crate) struct Gather<'a> {
    places: HashMap<&'a str, usize>,
    width: usize,
    /// Rows come device by device, and not time by time.
    is_by_device: bool,
    time: i64,
    /// Several datapoints of one device and time one after the other, in the order of storing.
    points: BTreeMap<u32, Vec<Vec<Cell<'static>>>>,
}

impl<'a> Gather<'a> {
    pub(crate) fn new(table: &'a TableSpec, signals: &[SignalId], is_by_device: bool) -> Self {
        let names = signals.iter().map(|&signal| signal_name(table, signal));
        Self { places: names.zip(0..).collect(), width: signals.len(), is_by_device, time: 0, points: BTreeMap::new() }
    }

    /// Takes one value.
    pub(crate) fn push(
        &mut self,
        (device, time, signal): (u32, i64, &str),
        value: &Cell<'_>,
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        if time != self.time || self.is_by_device && !self.points.contains_key(&device) {
            self.flush(take)?;
            self.time = time;
        }
        let Some(&place) = self.places.get(signal) else { return Ok(()) };
        let points = self.points.entry(device).or_default();
        let free = points.iter_mut().find(|point| point[place] == Cell::Null);
        let value = value.clone().into_owned();
        match free {
            Some(point) => point[place] = value,
            None => {
                let mut point = vec![Cell::Null; self.width];
                point[place] = value;
                points.push(point);
            }
        }
        Ok(())
    }

    /// Hands over what is there of the present time.
    pub(crate) fn flush(&mut self, take: &mut Take<'_>) -> Result<(), Error> {
        while let Some((device, points)) = self.points.pop_first() {
            for point in points {
                take(device, self.time, &point)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Layout, Marker, Name, Schema, Signal, ValueType};

    #[test]
    fn values_of_one_time_become_one_datapoint_of_each_device() {
        let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::U16, max_text_bytes: 0 };
        let table = TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Narrow,
            schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
            devices: 2,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        };
        let mut gather = Gather::new(&table, &[0, 1], false);
        let mut points = Vec::new();
        let mut take = |device: u32, time: i64, cells: &[Cell<'_>]| {
            points.push((device, time, cells.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")));
            Ok(())
        };
        for (device, time, signal, value) in
            [(1, 2, "b", 1), (0, 2, "a", 2), (1, 2, "a", 3), (1, 2, "a", 4), (0, 2, "alien", 9), (0, 1, "a", 5)]
        {
            gather.push((device, time, signal), &Cell::Integer(value), &mut take).unwrap();
        }
        gather.flush(&mut take).unwrap();
        let expected = [(0, 2, "2,"), (1, 2, "3,1"), (1, 2, "4,"), (0, 1, "5,")].map(|(d, t, c)| (d, t, c.to_owned()));
        assert_eq!(points, expected);
    }
}
