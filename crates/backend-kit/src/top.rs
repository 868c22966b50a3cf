//! The devices with the greatest figure of a signal, where the client chooses them: of those with the greatest so far are held no
//! more than are asked for.

use crate::answer::{Answer, NOTHING_BY_CLIENT};
use iotbench_core::{Chunk, ComputedBy, Error, Query, Reader, Reply, Sink, ValueType};
use std::{cmp::Ordering, collections::BTreeSet};

/// Answers [`Query::TopDevices`] by asking for the figure of each device: `None` where something else is asked.
///
/// # Errors
/// The reader's own; the sink's.
pub async fn answer(reader: &mut dyn Reader, query: &Query, sink: &mut dyn Sink) -> Option<Result<Reply, Error>> {
    let Query::TopDevices { devices, signal, aggregate, range, limit } = query else { return None };
    let of_each = Query::Aggregates {
        devices: devices.clone(),
        signals: vec![*signal],
        aggregates: vec![*aggregate],
        range: *range,
    };
    if *limit == 0 {
        return Some(Ok(NOTHING_BY_CLIENT));
    }
    let mut top = Top::new(*limit);
    Some(match reader.query(&of_each, &mut top).await {
        Ok(reply) => top.finish(reply.bytes, sink),
        Err(error) => Err(error),
    })
}

/// Takes the figure of each device, and holds those with the greatest.
#[derive(Debug)]
pub struct Top {
    limit: u64,
    standings: BTreeSet<Standing>,
}

/// A device and its figure. Who stands first is the least.
#[derive(Clone, Copy, Debug)]
struct Standing {
    device: u32,
    figure: f64,
}

impl Ord for Standing {
    fn cmp(&self, other: &Self) -> Ordering {
        other.figure.total_cmp(&self.figure).then(self.device.cmp(&other.device))
    }
}

impl PartialOrd for Standing {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Standing {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Standing {}

impl Top {
    /// Of so many devices at most.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self { limit, standings: BTreeSet::new() }
    }

    /// Answers with a row a device, the greatest figure first and equal ones by device.
    ///
    /// # Errors
    /// The sink's own.
    pub fn finish(self, bytes: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, [ValueType::F64]);
        for Standing { device, figure } in self.standings {
            answer.figures(device, [Some(figure)])?;
        }
        answer.finish(bytes, ComputedBy::Client)
    }
}

impl Sink for Top {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        for (row, &device) in chunk.devices.iter().enumerate() {
            let number = chunk.columns.first().and_then(|column| column.get(row)).and_then(|value| value.as_f64());
            // What is no number is greater and less than none. Both zeros are equal.
            if let Some(figure) = number.filter(|number| !number.is_nan()) {
                self.standings.insert(Standing { device, figure: figure + 0.0 });
            }
            if self.standings.len() as u64 > self.limit {
                self.standings.pop_last();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Value;

    #[test]
    fn the_greatest_come_first_and_equal_ones_by_device() {
        let top = |limit| {
            let mut top = Top::new(limit);
            let mut chunk = Chunk::new([ValueType::F64]);
            let figures = [Some(2.0), None, Some(-0.0), Some(7.0), Some(0.0), Some(f64::NAN), Some(7.0)];
            for (device, figure) in (0..).zip(figures) {
                chunk.devices.push(device);
                chunk.timestamps_ns.push(0);
                chunk.columns[0].push(figure.map(Value::F64)).unwrap();
            }
            top.push(&chunk).unwrap();
            assert!(top.standings.len() as u64 <= limit);
            let mut seen = Vec::new();
            let mut sink = |chunk: &Chunk| {
                let figure = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64()).unwrap();
                seen.extend((0..chunk.len()).map(|row| (chunk.devices[row], figure(row))));
                Ok(())
            };
            let reply = top.finish(9, &mut sink).unwrap();
            assert_eq!(reply, Reply { rows: seen.len() as u64, bytes: 9, computed_by: ComputedBy::Client });
            seen
        };
        let all = [(3, 7.0), (6, 7.0), (0, 2.0), (2, 0.0), (4, 0.0)];
        assert_eq!((top(9), top(4), top(1)), (all.to_vec(), all[..4].to_vec(), all[..1].to_vec()));
    }
}
