//! What is stored, from the number of values of each series.

use iotbench_core::Counts;
use std::collections::BTreeMap;

/// Datapoints and values of series of these signals and devices, with so many values each. A device has as many datapoints
/// as its fullest signal has values: one that lost a value shows, one that lost all is gone.
pub fn counts(series: impl IntoIterator<Item = (usize, u32, u64)>) -> Counts {
    let mut values_of: BTreeMap<(u32, usize), u64> = BTreeMap::new();
    for (signal, device, values) in series {
        let sum = values_of.entry((device, signal)).or_default();
        *sum = sum.saturating_add(values);
    }
    let mut points_of: BTreeMap<u32, u64> = BTreeMap::new();
    for (&(device, _), &values) in &values_of {
        let points = points_of.entry(device).or_default();
        *points = values.max(*points);
    }
    let sum = |sum: u64, more: &u64| sum.saturating_add(*more);
    Counts { points: points_of.values().fold(0, sum), values: values_of.values().fold(0, sum) }
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

    #[test]
    fn what_no_server_holds_is_not_added_up_to_little() {
        let most = u64::MAX;
        let series = [(0, 0, most), (0, 0, 1), (0, 1, 5)];
        assert_eq!(counts(series), Counts { points: most, values: most });
    }
}
