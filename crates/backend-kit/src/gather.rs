//! Values one by one, in the order of time, as cells: those of one device and time become one datapoint again.

use crate::cell::Cell;
use iotbench_core::Error;
use std::collections::{BTreeMap, HashMap};

/// Takes a datapoint: its device, its time, and a cell for each signal.
pub type Take<'t> = dyn FnMut(u32, i64, &[Cell<'_>]) -> Result<(), Error> + Send + 't;

/// The values of one time, device by device.
#[derive(Debug)]
pub struct Gather<'a> {
    places: HashMap<&'a str, usize>,
    /// Values come device by device, and not time by time.
    is_by_device: bool,
    time: i64,
    /// By device, and by the order of storing where there are several of one device and time.
    points: BTreeMap<(u32, usize), Vec<Cell<'static>>>,
    /// Datapoints that were handed over, to be filled again.
    spare: Vec<Vec<Cell<'static>>>,
}

impl<'a> Gather<'a> {
    /// Datapoints of the signals of these names.
    pub fn new(names: impl IntoIterator<Item = &'a str>, is_by_device: bool) -> Self {
        let places = names.into_iter().zip(0..).collect();
        Self { places, is_by_device, time: 0, points: BTreeMap::new(), spare: Vec::new() }
    }

    /// Takes one value. A signal that comes twice begins another datapoint of that device and time.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn push(
        &mut self,
        (device, time, signal): (u32, i64, &str),
        value: &Cell<'_>,
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        if time != self.time || self.is_by_device && !self.points.contains_key(&(device, 0)) {
            self.flush(take)?;
            self.time = time;
        }
        let Some(&place) = self.places.get(signal) else { return Ok(()) };
        let mut number = 0;
        loop {
            let empty = || self.spare.pop().unwrap_or_else(|| vec![Cell::Null; self.places.len()]);
            let point = self.points.entry((device, number)).or_insert_with(empty);
            if point[place] == Cell::Null {
                point[place] = value.clone().into_owned();
                return Ok(());
            }
            number += 1;
        }
    }

    /// Hands over what is there of the present time.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn flush(&mut self, take: &mut Take<'_>) -> Result<(), Error> {
        while let Some(((device, _), mut point)) = self.points.pop_first() {
            take(device, self.time, &point)?;
            point.fill(Cell::Null);
            self.spare.push(point);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The datapoints of the signals `a` and `b` in values of device, time, signal and value, each as text.
    fn gathered(is_by_device: bool, values: &[(u32, i64, &str, i64)]) -> Vec<(u32, i64, String)> {
        let mut gather = Gather::new(["a", "b"], is_by_device);
        let mut points = Vec::new();
        let mut take = |device: u32, time: i64, cells: &[Cell<'_>]| {
            points.push((device, time, cells.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")));
            Ok(())
        };
        for &(device, time, signal, value) in values {
            gather.push((device, time, signal), &Cell::Integer(value), &mut take).unwrap();
        }
        gather.flush(&mut take).unwrap();
        points
    }

    #[test]
    fn values_of_one_time_become_one_datapoint_of_each_device() {
        let values =
            [(1, 2, "b", 1), (0, 2, "a", 2), (1, 2, "a", 3), (1, 2, "a", 4), (0, 2, "alien", 9), (0, 1, "a", 5)];
        let expected = [(0, 2, "2,"), (1, 2, "3,1"), (1, 2, "4,"), (0, 1, "5,")].map(|(d, t, c)| (d, t, c.to_owned()));
        assert_eq!(gathered(false, &values), expected);
    }

    #[test]
    fn device_by_device_a_device_is_whole_when_another_begins_at_the_same_time() {
        let values = [(1, 2, "a", 1), (0, 2, "b", 2), (0, 2, "a", 3)];
        assert_eq!(gathered(true, &values), [(1, 2, "1,".into()), (0, 2, "3,2".into())]);
        assert_eq!(gathered(false, &values), [(0, 2, "3,2".into()), (1, 2, "1,".into())]);
    }
}
