//! What every backend refuses before it sends anything.

use crate::{condition, descending, having, rollup};
use iotbench_core::{Batch, Cause, Column, Error, Query, Signal, SignalId, TableSpec};
use std::slice::from_ref;

/// Checks that a batch can be stored in this table: its columns are the schema's, or those without all that are added, its devices
/// the table's, and all its numbers finite.
///
/// # Errors
/// [`Cause::Data`] with nothing applied, naming the first value that cannot be stored.
pub fn refuse(batch: &Batch, table: &TableSpec) -> Result<(), Error> {
    let signals = table.schema.signals();
    let are_columns =
        |signals: &[Signal]| batch.columns().iter().map(Column::value_type).eq(signals.iter().map(|s| s.value_type));
    if !are_columns(signals) && !are_columns(table.schema.first_signals()) {
        return Err(Error::new(Cause::Data, "the batch's columns are not those of the table's schema"));
    }
    if let Some(run) = batch.runs().iter().find(|run| run.device >= table.devices) {
        let message = format!("device {} is none of the table's {} devices", run.device, table.devices);
        return Err(Error::new(Cause::Data, message));
    }
    for (signal, column) in signals.iter().zip(batch.columns()) {
        let bad_row = match column {
            // Whether there is one is asked of all at once, which costs a fraction of asking each.
            Column::F32(values) if values.iter().fold(false, |bad, v| bad | !v.is_finite()) => {
                values.iter().position(|v| !v.is_finite())
            }
            Column::F64(values) if values.iter().fold(false, |bad, v| bad | !v.is_finite()) => {
                values.iter().position(|v| !v.is_finite())
            }
            Column::F32(_) | Column::F64(_) => None,
            Column::I64(_) | Column::U16(_) | Column::Text(_) => None,
        };
        if let Some(row) = bad_row {
            let message = format!("signal {} of row {row} is not a finite number", signal.name);
            return Err(Error::new(Cause::Data, message));
        }
    }
    Ok(())
}

/// Checks that a query names signals of this table.
///
/// # Errors
/// [`Cause::Client`] for a signal that the table does not have, for none at all, and for a condition on what has no one figure.
pub fn refuse_unknown_signals(query: &Query, table: &TableSpec) -> Result<(), Error> {
    match signals_of(query) {
        Some([]) => Err(Error::new(Cause::Client, "a query names at least one signal")),
        _ => refuse_signals_beyond(query, table.schema.width()),
    }
}

/// Checks that a query names no signal beyond the first so many; it may name none.
///
/// # Errors
/// [`Cause::Client`] for a signal that the table does not have, and for a condition on what has no one figure.
pub fn refuse_signals_beyond(query: &Query, width: usize) -> Result<(), Error> {
    having::refuse(query)?;
    condition::refuse(query)?;
    descending::refuse(query)?;
    rollup::refuse(query)?;
    if let Query::Having { of, .. }
    | Query::Filled { of, .. }
    | Query::Where { of, .. }
    | Query::Descending { of }
    | Query::Rollup { of, .. } = query
    {
        refuse_signals_beyond(of, width)?;
    }
    match signals_of(query).unwrap_or_default().iter().find(|&&signal| usize::from(signal) >= width) {
        Some(signal) => Err(Error::new(Cause::Client, format!("signal {signal} is none of the table's {width}"))),
        None => Ok(()),
    }
}

/// The signals that a query names; `None` where it is about all of them.
fn signals_of(query: &Query) -> Option<&[SignalId]> {
    match query {
        Query::Range { signals, .. } | Query::Aggregates { signals, .. } | Query::Buckets { signals, .. } => {
            Some(signals)
        }
        Query::TotalBuckets { signals, .. } | Query::TagFigures { signals, .. } => Some(signals),
        Query::Nearest { signal, .. }
        | Query::Filter { signal, .. }
        | Query::Minimum { signal, .. }
        | Query::MaxOfFirst { signal, .. }
        | Query::TopDevices { signal, .. }
        | Query::NewestVisible { signal, .. }
        | Query::Consecutive { signal, .. }
        | Query::Where { signal, .. }
        | Query::Having { signal, .. } => Some(from_ref(signal)),
        Query::Filled { of, .. } | Query::Descending { of } | Query::Rollup { of, .. } => signals_of(of),
        Query::Records { .. } | Query::Newest { .. } | Query::LastPoints { .. } | Query::Count | Query::Scan => None,
    }
}
