//! What is asked of percentiles, and when two agree: databases take the value of another rank, or one between two.

use crate::{
    compare::{Row, Rows},
    data::Owned,
};
use iotbench_core::{Aggregate, BucketWidth, Percentile, Query, SignalId, TimeRange};

/// A row of percentiles that a query asks for.
pub(crate) struct Asked<'a> {
    percentile: Percentile,
    signals: &'a [SignalId],
    range: TimeRange,
    width: Option<BucketWidth>,
}

/// What the row at this place of an answer holds where it is a percentile.
pub(crate) fn percentile_in(query: &Query, place: usize) -> Option<Asked<'_>> {
    let (signals, aggregates, range, width) = match query {
        Query::Aggregates { signals, aggregates, range, .. } => (signals, aggregates, *range, None),
        Query::Buckets { signals, aggregates, range, width, .. } => (signals, aggregates, *range, Some(*width)),
        Query::Having { of, at_least: None, .. } => return percentile_in(of, place),
        _ => return None,
    };
    match aggregates.get(place % aggregates.len().max(1)) {
        Some(&Aggregate::Percentile(percentile)) => Some(Asked { percentile, signals, range, width }),
        _ => None,
    }
}

impl Asked<'_> {
    /// The values of the ranks before and after that of a row's percentile, of all that is stored.
    pub(crate) fn bounds(&self, row: &Row, column: usize, everything: &Rows) -> Option<(f64, f64)> {
        let signal = usize::from(*self.signals.get(column)?);
        let start = |ns| self.width.map_or(0, |width| width.start_of(ns));
        let is_of_row = |stored: &&Row| {
            stored.device == row.device
                && self.range.contains(stored.timestamp_ns)
                && start(stored.timestamp_ns) == row.timestamp_ns
        };
        let number = |stored: &Row| stored.values.get(signal)?.as_ref()?.value().as_f64();
        let mut values: Vec<f64> = everything.0.iter().filter(is_of_row).filter_map(number).collect();
        values.sort_by(f64::total_cmp);
        let (before, after) = self.percentile.neighbours(values.len());
        Some((*values.get(before)?, *values.get(after)?))
    }
}

/// Whether the percentiles of a row lie within their bounds.
pub(crate) fn same_percentiles(
    got: &Row,
    expected: &Row,
    bounds: impl Fn(usize) -> Option<(f64, f64)>,
    is_near: impl Fn(&Owned, &Owned) -> bool,
) -> bool {
    let is_within = |(column, value): (usize, &Option<Owned>)| match (value, bounds(column)) {
        (Some(Owned::F64(figure)), Some((least, greatest))) if !figure.is_nan() => {
            is_near(&Owned::F64(*figure), &Owned::F64(figure.clamp(least, greatest)))
        }
        _ => false,
    };
    (got.device, got.timestamp_ns, got.values.len()) == (expected.device, expected.timestamp_ns, expected.values.len())
        && got.values.iter().enumerate().all(is_within)
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Devices;

    #[test]
    fn a_percentile_lies_between_the_values_beside_it_and_not_beyond() {
        let row =
            |device, timestamp_ns, value: f64| Row { device, timestamp_ns, values: vec![Some(Owned::F64(value))] };
        let numbers = [(0, 5.0), (1, 1.0), (2, 3.0), (3, 4.0), (4, 2.0), (7, 0.0)];
        let everything = Rows(numbers.iter().flat_map(|&(ns, value)| [row(0, ns, value), row(1, ns, 9.0)]).collect());
        let aggregates = vec![Aggregate::Max, Aggregate::Percentile(Percentile::parse("p50").unwrap())];
        let (devices, signals, range) = (Devices::All, vec![0], TimeRange::half_open(0, 7));
        let query = Query::Aggregates { devices, signals, aggregates, range };
        assert!(percentile_in(&query, 2).is_none());
        let asked = percentile_in(&query, 3).unwrap();
        let expected = row(0, 0, 3.0);
        let agrees = |got: &Row| {
            let bounds = |column| asked.bounds(&expected, column, &everything);
            same_percentiles(got, &expected, bounds, |got, expected| got.is_near(expected, 1e-9))
        };
        assert!([2.0, 2.5, 3.0, 4.0].iter().all(|&value| agrees(&row(0, 0, value))));
        assert!([1.0, 2.0 - 1e-6, 4.0 + 1e-6, 5.0, f64::NAN].iter().all(|&value| !agrees(&row(0, 0, value))));
        assert!(!agrees(&row(1, 0, 3.0)) && !agrees(&row(0, 1, 3.0)));
    }
}
