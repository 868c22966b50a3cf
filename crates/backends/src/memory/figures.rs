//! Figures over the datapoints of one device.

use super::point::Point;
use iotbench_core::{Aggregate, SignalId, Value};

/// A row an aggregate, of points of one device.
pub(super) fn figures<'p>(
    points: &'p [&'p Point],
    time: i64,
    signals: &'p [SignalId],
    aggregates: &'p [Aggregate],
) -> impl Iterator<Item = (u32, i64, Vec<Value<'static>>)> + 'p {
    aggregates.iter().map(move |&aggregate| {
        let figure = |&signal: &SignalId| Value::F64(figure(points, signal, aggregate));
        (points[0].device, time, signals.iter().map(figure).collect())
    })
}

/// A figure over points in the order of time, of which there is at least one.
pub(super) fn figure(points: &[&Point], signal: SignalId, aggregate: Aggregate) -> f64 {
    let mut numbers = points.iter().map(|p| p.number(signal));
    #[expect(clippy::cast_precision_loss, reason = "fewer points than 2^53")]
    let count = points.len() as f64;
    match aggregate {
        Aggregate::First => numbers.next().unwrap_or(f64::NAN),
        Aggregate::Last => numbers.next_back().unwrap_or(f64::NAN),
        Aggregate::Min => numbers.fold(f64::INFINITY, f64::min),
        Aggregate::Max => numbers.fold(f64::NEG_INFINITY, f64::max),
        Aggregate::Mean => numbers.sum::<f64>() / count,
        Aggregate::Sum => numbers.sum(),
        Aggregate::Count => count,
        Aggregate::Percentile(percentile) => {
            let mut ascending: Vec<f64> = numbers.collect();
            ascending.sort_by(f64::total_cmp);
            percentile.of(&ascending).unwrap_or(f64::NAN)
        }
    }
}
