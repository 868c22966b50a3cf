//! The rows of an answer, and what is asked about consecutive ones.

use super::point::Point;
use iotbench_backend_kit::answer::Answer;
use iotbench_core::{ComputedBy, Consecutive, Error, Reply, Schema, SignalId, Sink, Value, ValueType};

/// Where the rows of one answer go.
pub(super) struct Rows<'a> {
    pub(super) schema: &'a Schema,
    pub(super) sink: &'a mut dyn Sink,
}

impl Rows<'_> {
    pub(super) fn points(&mut self, points: &[&Point], signals: &[SignalId]) -> Result<Reply, Error> {
        let types = signals.iter().map(|&s| self.schema.signals()[usize::from(s)].value_type);
        let mut answer = Answer::new(self.sink, types);
        for point in points {
            answer.row(point.device, point.timestamp_ns, |columns| {
                let values = signals.iter().map(|&s| point.value(s));
                columns.iter_mut().zip(values).try_for_each(|(column, value)| column.push(value))
            })?;
        }
        answer.finish(0, ComputedBy::Server)
    }

    /// What is asked about consecutive ones of these points.
    pub(super) fn consecutive(
        &mut self,
        points: &[&Point],
        signal: SignalId,
        what: Consecutive,
    ) -> Result<Reply, Error> {
        if what == Consecutive::TimeWeightedMean {
            let by_device = points.chunk_by(|a, b| a.device == b.device);
            let means =
                by_device.map(|points| (points[0].device, 0, vec![Value::F64(time_weighted_mean(points, signal))]));
            return self.figures(ValueType::F64, 1, means);
        }
        let pairs = points.windows(2).filter(|pair| pair[0].device == pair[1].device);
        let rows = pairs.filter_map(|pair| between(pair[0], pair[1], signal, what));
        self.figures(what.value_type(), 1, rows)
    }

    pub(super) fn figures<'v>(
        &mut self,
        value_type: ValueType,
        width: usize,
        rows: impl IntoIterator<Item = (u32, i64, Vec<Value<'v>>)>,
    ) -> Result<Reply, Error> {
        let mut answer = Answer::new(self.sink, vec![value_type; width]);
        for (device, time, figures) in rows {
            answer.row(device, time, |columns| {
                columns.iter_mut().zip(figures).try_for_each(|(column, figure)| column.push(Some(figure)))
            })?;
        }
        answer.finish(0, ComputedBy::Server)
    }
}

/// What is asked about two consecutive points of a device; `None`: no row.
#[expect(clippy::cast_precision_loss, reason = "a rate is f64")]
fn between(
    earlier: &Point,
    later: &Point,
    signal: SignalId,
    what: Consecutive,
) -> Option<(u32, i64, Vec<Value<'static>>)> {
    let apart_ns = i128::from(later.timestamp_ns) - i128::from(earlier.timestamp_ns);
    match what {
        Consecutive::Gaps { longer_than_ns } => {
            let length = Value::I64(i64::try_from(apart_ns).unwrap_or(i64::MAX));
            (apart_ns > longer_than_ns.into()).then(|| (earlier.device, earlier.timestamp_ns, vec![length]))
        }
        Consecutive::Differences { per_ns } => {
            let times = per_ns.map_or(1.0, |per_ns| apart_ns as f64 / per_ns.get() as f64);
            let change = Value::F64((later.number(signal) - earlier.number(signal)) / times);
            (times != 0.0).then(|| (later.device, later.timestamp_ns, vec![change]))
        }
        Consecutive::TimeWeightedMean => None,
    }
}

/// The mean of points of one device in the order of time, of which there is at least one: each as long as it lasted.
#[expect(clippy::cast_precision_loss, reason = "a mean is f64")]
fn time_weighted_mean(points: &[&Point], signal: SignalId) -> f64 {
    let (first, last) = (points[0], points[points.len() - 1]);
    let apart = |a: &Point, b: &Point| (i128::from(b.timestamp_ns) - i128::from(a.timestamp_ns)) as f64;
    let weighted: f64 = points.windows(2).map(|pair| pair[0].number(signal) * apart(pair[0], pair[1])).sum();
    if first.timestamp_ns == last.timestamp_ns { last.number(signal) } else { weighted / apart(first, last) }
}
