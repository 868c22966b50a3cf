//! Datapoints of one device as they are read, and what a layout must know to read them.

use super::selection::bind;
use crate::sqlite::error::classify;
use iotbench_backend_kit::{
    answer::types,
    ask::{Ask, Order},
    figures::Collected,
    sql::Grouping,
};
use iotbench_core::{
    Action, Cause, Chunk, ComputedBy, Consecutive, Error, ReplyColumn, Schema, SignalId, Value, ValueType,
};
use rusqlite::{Connection, Rows, types::ValueRef};
use std::ops::ControlFlow;

/// Datapoints of one device, in the order asked for.
pub(crate) trait Points {
    /// Goes to the next datapoint and says its time.
    fn next(&mut self) -> Result<Option<i64>, Error>;

    /// Appends the values of the present datapoint, one to each column.
    fn values(&mut self, columns: &mut [ReplyColumn]) -> Result<(), Error>;

    /// The bytes decoded so far.
    fn bytes(&self) -> u64;
}

/// What is asked of one device, on a connection.
#[derive(Clone, Copy)]
pub(crate) struct OfDevice<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) device: u32,
    pub(crate) ask: &'c Ask<'c>,
}

/// How a layout is read. What is decoded is added to `bytes`.
pub(crate) trait Shape: Send + Sync {
    /// The table's schema.
    fn schema(&self) -> &Schema;

    /// Who filters, orders by value and aggregates.
    fn computed_by(&self) -> ComputedBy;

    /// The query for the datapoints of `:device` from `:first` to `:last`.
    fn sql(&self, ask: &Ask<'_>) -> String;

    /// The datapoints in the rows of that query.
    fn points<'r>(&self, rows: Rows<'r>, ask: &Ask<'_>) -> Box<dyn Points + 'r>;

    /// The figures of each signal that SQL works out by grouping: of the device, or of its buckets. Not asked where the
    /// client aggregates.
    fn grouped(
        &self,
        of: OfDevice<'_>,
        grouping: &Grouping<'_>,
        figures: &mut Collected,
        bytes: &mut u64,
    ) -> Result<(), Error>;

    /// The query for the devices with the greatest figure of a signal, by this function: device and figure. Not asked where the
    /// client aggregates.
    fn top(&self, ask: &Ask<'_>, function: &str) -> Result<String, Error>;

    /// The query for what lies between consecutive values of the signal of `:device`: time, and what was asked. Not asked where the
    /// client aggregates.
    fn between(&self, ask: &Ask<'_>, what: Consecutive) -> Result<String, Error>;

    /// The greatest number of a signal over the first datapoints.
    fn greatest(&self, of: OfDevice<'_>, bytes: &mut u64) -> Result<Option<f64>, Error>;
}

/// Gives each datapoint, as a chunk of one row, to `take` until that breaks.
pub(crate) fn for_each(
    shape: &dyn Shape,
    of: OfDevice<'_>,
    bytes: &mut u64,
    mut take: impl FnMut(&mut Chunk) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let mut statement = of.connection.prepare_cached(&shape.sql(of.ask)).map_err(|e| classify(&e))?;
    bind(&mut statement, of.device, of.ask).map_err(|e| classify(&e))?;
    let mut points = shape.points(statement.raw_query(), of.ask);
    let mut point = Chunk::new(types(shape.schema(), of.ask.signals));
    while let Some(time) = points.next()? {
        point.clear();
        point.devices.push(of.device);
        point.timestamps_ns.push(time);
        points.values(&mut point.columns)?;
        if take(&mut point)?.is_break() {
            break;
        }
    }
    *bytes += points.bytes();
    Ok(())
}

/// A cell as a value of this type; its bytes are added.
pub(crate) fn decode<'a>(
    cell: ValueRef<'a>,
    value_type: ValueType,
    bytes: &mut u64,
) -> Result<Option<Value<'a>>, Error> {
    // The connection is none the worse for it.
    let unexpected =
        || Error::new(Cause::Protocol, format!("a {value_type:?} cell holds {cell:?}")).action(Action::RetryMayHelp);
    *bytes += 8;
    let value = match (value_type, cell) {
        (_, ValueRef::Null) => return Ok(None),
        #[expect(clippy::cast_possible_truncation, reason = "an f32 was stored as the f64 of the same value")]
        (ValueType::F32, ValueRef::Real(v)) => Value::F32(v as f32),
        (ValueType::F64, ValueRef::Real(v)) => Value::F64(v),
        (ValueType::I64, ValueRef::Integer(v)) => Value::I64(v),
        (ValueType::U16, ValueRef::Integer(v)) => Value::U16(u16::try_from(v).map_err(|_| unexpected())?),
        (ValueType::Text, ValueRef::Text(v)) => {
            *bytes += v.len() as u64 - 8.min(v.len() as u64);
            Value::Text(std::str::from_utf8(v).map_err(|_| unexpected())?)
        }
        _ => return Err(unexpected()),
    };
    Ok(Some(value))
}

/// The order as SQL, given the columns of time and the expression of a signal. The least value is looked for where SQLite can
/// tell it.
pub(crate) fn order_by(ask: &Ask<'_>, time: &[&str], number: impl Fn(SignalId) -> String) -> String {
    let times = |direction: &str| {
        let columns = time.iter().chain(&["_rowid_"]).map(|column| format!("{column}{direction}"));
        columns.collect::<Vec<_>>().join(", ")
    };
    match ask.order {
        Order::Stretch | Order::Oldest | Order::After => format!(" ORDER BY {}", times("")),
        Order::Newest | Order::Before => format!(" ORDER BY {}", times(" DESC")),
        Order::Least => {
            let number = number(ask.signal);
            format!(" AND {number} IS NOT NULL ORDER BY {number}, {} LIMIT 1", times(""))
        }
    }
}
