//! What lies between consecutive values of a signal, where the client works it out: one value is held at a time.

use crate::answer::Answer;
use iotbench_core::{Chunk, ComputedBy, Consecutive, Error, Query, Reader, Reply, Sink, Value};

/// Answers [`Query::Consecutive`] by asking for the values themselves: `None` where something else is asked.
///
/// # Errors
/// The reader's own; the sink's.
pub async fn answer(reader: &mut dyn Reader, query: &Query, sink: &mut dyn Sink) -> Option<Result<Reply, Error>> {
    let Query::Consecutive { devices, signal, range, what } = query else { return None };
    let values = Query::Range { devices: devices.clone(), signals: vec![*signal], range: *range };
    let mut pairs = Pairs::new(*what, sink);
    Some(match reader.query(&values, &mut pairs).await {
        Ok(reply) => pairs.finish(reply.bytes),
        Err(error) => Err(error),
    })
}

/// A sink for the values of a signal, by device, then time, that answers with what lies between them.
pub struct Pairs<'a> {
    answer: Answer<'a>,
    what: Consecutive,
    previous: Option<Previous>,
    /// When the first value of the device was.
    first: i64,
    /// The values of the device, each by how long it lasted.
    weighted: f64,
}

/// The value before.
#[derive(Clone, Copy)]
struct Previous {
    device: u32,
    time: i64,
    /// 0 where its number is not asked for.
    number: f64,
}

impl<'a> Pairs<'a> {
    /// What is asked about the values that will come.
    pub fn new(what: Consecutive, sink: &'a mut dyn Sink) -> Self {
        Self { answer: Answer::new(sink, [what.value_type()]), what, previous: None, first: 0, weighted: 0.0 }
    }

    /// Ends the answer, of which the values took so many bytes.
    ///
    /// # Errors
    /// The sink's.
    pub fn finish(mut self, bytes: u64) -> Result<Reply, Error> {
        self.end_device()?;
        self.answer.finish(bytes, ComputedBy::Client)
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate is f64")]
    fn pair(&mut self, earlier: Previous, later: Previous) -> Result<(), Error> {
        let apart_ns = later.time.abs_diff(earlier.time);
        let difference = later.number - earlier.number;
        match self.what {
            Consecutive::Gaps { longer_than_ns } if apart_ns > longer_than_ns => {
                let length = Value::I64(i64::try_from(apart_ns).unwrap_or(i64::MAX));
                self.answer.row(later.device, earlier.time, |columns| columns[0].push(Some(length)))
            }
            Consecutive::Gaps { .. } => Ok(()),
            Consecutive::Differences { per_ns: None } => {
                self.answer.figures_at(later.device, later.time, [Some(difference)])
            }
            Consecutive::Differences { per_ns: Some(_) } if apart_ns == 0 => Ok(()),
            Consecutive::Differences { per_ns: Some(per_ns) } => {
                let rate = difference / (apart_ns as f64 / per_ns.get() as f64);
                self.answer.figures_at(later.device, later.time, [Some(rate)])
            }
            Consecutive::TimeWeightedMean => {
                self.weighted += earlier.number * apart_ns as f64;
                Ok(())
            }
        }
    }

    /// The last value of a device has come, if there is one.
    #[expect(clippy::cast_precision_loss, reason = "a mean is f64")]
    fn end_device(&mut self) -> Result<(), Error> {
        match self.previous.take() {
            Some(Previous { device, time, number }) if self.what == Consecutive::TimeWeightedMean => {
                let apart_ns = time.abs_diff(self.first);
                let mean = if apart_ns == 0 { number } else { self.weighted / apart_ns as f64 };
                self.answer.figures(device, [Some(mean)])
            }
            _ => Ok(()),
        }
    }

    /// What is taken of a value; `None` where it is passed over.
    fn number(&self, value: Option<Value<'_>>) -> Option<f64> {
        match self.what {
            Consecutive::Gaps { .. } => value.map(|_| 0.0),
            Consecutive::Differences { .. } | Consecutive::TimeWeightedMean => value?.as_f64(),
        }
    }
}

impl Sink for Pairs<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for (row, (&device, &time)) in chunk.devices.iter().zip(&chunk.timestamps_ns).enumerate() {
            let value = chunk.columns.first().and_then(|column| column.get(row));
            let Some(number) = self.number(value) else { continue };
            let later = Previous { device, time, number };
            match self.previous.filter(|earlier| earlier.device == device) {
                Some(earlier) => self.pair(earlier, later)?,
                None => {
                    self.end_device()?;
                    (self.first, self.weighted) = (time, 0.0);
                }
            }
            self.previous = Some(later);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::ValueType;
    use std::num::NonZeroU64;

    /// Device, time and number of each row of the answer about these values, which come in chunks of two.
    fn answered(what: Consecutive, values: &[(u32, i64, Option<f64>)]) -> Vec<(u32, i64, f64)> {
        let mut rows = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let number = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64()).unwrap();
            rows.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], number(row))));
            Ok(())
        };
        let mut pairs = Pairs::new(what, &mut sink);
        for part in values.chunks(2) {
            let mut chunk = Chunk::new([ValueType::F64]);
            for &(device, time, number) in part {
                chunk.devices.push(device);
                chunk.timestamps_ns.push(time);
                chunk.columns[0].push(number.map(Value::F64)).unwrap();
            }
            pairs.push(&chunk).unwrap();
        }
        let reply = pairs.finish(9).unwrap();
        assert_eq!(reply, Reply { rows: rows.len() as u64, bytes: 9, computed_by: ComputedBy::Client });
        rows
    }

    /// Two of one time, one without a value, and another device.
    const VALUES: [(u32, i64, Option<f64>); 7] = [
        (1, 5, Some(2.0)),
        (1, 5, Some(3.0)),
        (1, 9, None),
        (1, 15, Some(1.0)),
        (1, 20, Some(4.0)),
        (2, 90, Some(7.0)),
        (2, 91, Some(6.5)),
    ];

    #[test]
    fn a_gap_is_longer_than_asked_for_and_of_one_device() {
        let gaps = |longer_than_ns| answered(Consecutive::Gaps { longer_than_ns }, &VALUES);
        assert_eq!(gaps(9), [(1, 5, 10.0)]);
        assert_eq!(gaps(4), [(1, 5, 10.0), (1, 15, 5.0)]);
        assert_eq!(gaps(0), [(1, 5, 10.0), (1, 15, 5.0), (2, 90, 1.0)]);
        let all_time = [(0, i64::MIN, Some(0.0)), (0, i64::MAX, Some(0.0))];
        assert_eq!(answered(Consecutive::Gaps { longer_than_ns: 9 }, &all_time), [(0, i64::MIN, i64::MAX as f64)]);
    }

    #[test]
    fn a_difference_is_to_the_value_before_and_a_rate_is_none_over_no_time() {
        let differences = |per_ns| answered(Consecutive::Differences { per_ns: NonZeroU64::new(per_ns) }, &VALUES);
        assert_eq!(differences(0), [(1, 5, 1.0), (1, 15, -2.0), (1, 20, 3.0), (2, 91, -0.5)]);
        assert_eq!(differences(5), [(1, 15, -1.0), (1, 20, 3.0), (2, 91, -2.5)]);
    }

    #[test]
    fn a_value_counts_as_long_as_it_lasted_and_the_last_one_of_one_time_is_the_mean() {
        let means = |values: &[_]| answered(Consecutive::TimeWeightedMean, values);
        // 3 for 10 and 1 for 5, then 7 for 1.
        assert_eq!(means(&VALUES), [(1, 0, 35.0 / 15.0), (2, 0, 7.0)]);
        assert_eq!(means(&VALUES[..2]), [(1, 0, 3.0)]);
        assert_eq!(means(&VALUES[5..6]), [(2, 0, 7.0)]);
        assert_eq!(means(&[]), []);
    }
}
