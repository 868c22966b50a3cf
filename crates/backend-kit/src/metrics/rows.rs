//! Rows of answers, from the cells of series.

use crate::{
    answer::Answer,
    cell::{Cell, value},
};
use iotbench_core::{ComputedBy, Error, Reply, ReplyColumn, Sink, ValueType};

/// The time and the value of the datapoint that was found, and the bytes of the answers.
pub type Found = (Option<(i64, Cell<'static>)>, u64);

/// Appends cells to columns of these types.
pub fn push(columns: &mut [ReplyColumn], cells: &[Option<&Cell<'_>>], types: &[ValueType]) -> Result<(), Error> {
    for ((column, cell), &value_type) in columns.iter_mut().zip(cells).zip(types) {
        column.push(cell.map_or(Ok(None), |cell| value(cell, value_type))?)?;
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
