//! Figures of signals, device by device, as they are answered.

use crate::answer::Answer;
use iotbench_core::{Aggregate, ComputedBy, Error, Reply, Sink, Value, ValueType};
use std::collections::BTreeMap;

/// The servers' name of a figure.
pub fn name_of(aggregate: Aggregate) -> &'static str {
    match aggregate {
        Aggregate::Last => "last",
        Aggregate::Min => "min",
        Aggregate::Mean => "avg",
        Aggregate::Max => "max",
    }
}

/// For each device the figure of each aggregate and signal, in that order.
#[derive(Debug, Default)]
pub struct Figures(BTreeMap<u32, Vec<Option<f64>>>);

impl Figures {
    /// Notes one of `width` figures of a device.
    pub fn set(&mut self, device: u32, place: usize, width: usize, figure: Option<f64>) {
        self.0.entry(device).or_insert_with(|| vec![None; width])[place] = figure;
    }

    /// A row for each device and aggregate, with a column a signal.
    pub fn answer(
        self,
        signals: usize,
        bytes: u64,
        computed_by: ComputedBy,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, (0..signals).map(|_| ValueType::F64));
        for (device, figures) in self.0 {
            for row in figures.chunks_exact(signals) {
                answer.row(device, 0, |columns| {
                    let mut figures = columns.iter_mut().zip(row);
                    figures.try_for_each(|(column, figure)| column.push(figure.map(Value::F64)))
                })?;
            }
        }
        answer.finish(bytes, computed_by)
    }
}
