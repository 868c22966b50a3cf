//! Rows of answers, from the cells of series.

use super::datapoint::{Cell, value};
use crate::answer::Answer;
use iotbench_core::{
    Cause, ComputedBy, Counts, Error, Reply, ReplyColumn, SignalId, Sink, TableSpec, Value, ValueType,
};

/// What is known to be nothing without asking.
pub const NOTHING: Reply = Reply { rows: 0, bytes: 0, computed_by: ComputedBy::Server };

/// The time and the value of the datapoint that was found, and the bytes of the answers.
pub type Found = (Option<(i64, Cell<'static>)>, u64);

/// The types of these signals.
pub fn types(table: &TableSpec, signals: &[SignalId]) -> Vec<ValueType> {
    signals.iter().map(|&signal| table.schema.signals()[usize::from(signal)].value_type).collect()
}

/// Appends cells to columns of these types.
pub fn push(columns: &mut [ReplyColumn], cells: &[Option<&Cell<'_>>], types: &[ValueType]) -> Result<(), Error> {
    for ((column, cell), &value_type) in columns.iter_mut().zip(cells).zip(types) {
        column.push(cell.map(|cell| value(cell, value_type)).transpose()?)?;
    }
    Ok(())
}

/// Answers with the one datapoint that was found, if any.
pub fn one_point(
    device: u32,
    value_type: ValueType,
    (found, bytes): Found,
    computed_by: ComputedBy,
    sink: &mut dyn Sink,
) -> Result<Reply, Error> {
    let mut answer = Answer::new(sink, [value_type]);
    if let Some((time, cell)) = found {
        answer.row(device, time, |columns| push(columns, &[Some(&cell)], &[value_type]))?;
    }
    answer.finish(bytes, computed_by)
}

/// Answers with counts.
pub fn counts_row(Counts { points, values }: Counts, bytes: u64, sink: &mut dyn Sink) -> Result<Reply, Error> {
    let mut answer = Answer::new(sink, [ValueType::I64; 2]);
    answer.row(0, 0, |columns| {
        columns.iter_mut().zip([points, values]).try_for_each(|(column, count)| {
            let count = i64::try_from(count).map_err(|e| Error::new(Cause::Protocol, e))?;
            column.push(Some(Value::I64(count)))
        })
    })?;
    answer.finish(bytes, ComputedBy::Server)
}
