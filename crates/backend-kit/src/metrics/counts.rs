//! What is stored, from the number of values of each series.

use iotbench_core::Counts;
use std::collections::BTreeMap;

/// Datapoints and values of series of these signals and devices, with so many values each. A device has as many datapoints
/// as its fullest signal has values: one that lost a value shows, one that lost all is gone.
pub fn counts(series: impl IntoIterator<Item = (usize, u32, u64)>) -> Counts {
    let mut values_of: BTreeMap<(u32, usize), u64> = BTreeMap::new();
    for (signal, device, values) in series {
        *values_of.entry((device, signal)).or_default() += values;
    }
    let mut points_of: BTreeMap<u32, u64> = BTreeMap::new();
    for (&(device, _), &values) in &values_of {
        let points = points_of.entry(device).or_default();
        *points = values.max(*points);
    }
    Counts { points: points_of.values().sum(), values: values_of.values().sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_value_shows() {
        let series = [(0, 0, 5), (0, 1, 2), (1, 0, 4), (1, 1, 2)];
        assert_eq!(counts(series), Counts { points: 7, values: 13 });
        assert_eq!(counts([(0, 0, 2), (0, 0, 3), (1, 0, 4)]), Counts { points: 5, values: 9 }, "one of two series");
        assert_eq!(counts([]), Counts::default());
    }
}
