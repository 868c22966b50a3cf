//! Answers out of the rows of cells that a database gives to SQL, in the layouts wide and narrow.

use crate::{
    answer::{Answer, counts_row, types},
    ask::Order,
    cell::{Cell, number, push, value},
    figures::{Collected, Group, Streamed},
    gather::{Gather, Take},
    grouped_by::place_of,
    total::known,
};
use iotbench_core::{
    Aggregate, ComputedBy, Counts, Error, Layout, Reply, SignalId, Sink, TableSpec, TagId, TakeTags, ValueType,
};
use std::{fmt::Display, future::Future};

/// A connection that answers a statement with rows of cells.
pub trait AskRows: Send {
    /// Asks, and gives every row to `take`. Returns the bytes of the answer.
    ///
    /// # Errors
    /// The server's, or that of `take`.
    fn ask(
        &mut self,
        sql: &str,
        take: impl FnMut(&[Cell<'_>]) -> Result<(), Error> + Send,
    ) -> impl Future<Output = Result<u64, Error>> + Send;

    /// The device that a cell names.
    fn device(cell: &Cell<'_>) -> Option<u32>;

    /// An answer that this database does not give.
    fn improper(message: &dyn Display) -> Error;
}

/// What is answered from the rows of a table.
pub struct SqlRows<'a, C> {
    /// Who is asked.
    pub client: &'a mut C,
    /// About this table.
    pub table: &'a TableSpec,
}

/// Figures that are asked for: of these signals, these.
type Asked<'f> = (&'f [SignalId], &'f [Aggregate]);

impl<C: AskRows> SqlRows<'_, C> {
    fn is_narrow(&self) -> bool {
        self.table.layout == Layout::Narrow
    }

    /// How many rows so many datapoints of these signals are.
    #[must_use]
    pub fn rows_of(&self, points: u64, signals: &[SignalId]) -> u64 {
        if self.is_narrow() { points.saturating_mul(signals.len() as u64) } else { points }
    }

    /// The first so many datapoints of rows of time, device and the values of the signals; in layout narrow of time, device,
    /// signal and value, those of a datapoint one after the other.
    ///
    /// # Errors
    /// The server's; the sink's; Protocol for other rows, as of all that follow.
    pub async fn points(
        &mut self,
        sql: &str,
        (signals, order, limit): (&[SignalId], Order, u64),
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let types = types(&self.table.schema, signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut left = limit;
        let mut take = |device: u32, time: i64, cells: &[Cell<'_>]| {
            if left == 0 {
                return Ok(());
            }
            left -= 1;
            answer.row(device, time, |columns| push(columns, cells, &types))
        };
        let bytes = self.stream(sql, signals, order, &mut take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// The first datapoint of each device, of the same rows device by device.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn first_of_each(
        &mut self,
        sql: &str,
        signals: &[SignalId],
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let types = types(&self.table.schema, signals);
        let mut answer = Answer::new(sink, types.iter().copied());
        let mut last = None;
        let mut take = |device: u32, time: i64, cells: &[Cell<'_>]| {
            if last.replace(device) == Some(device) {
                return Ok(());
            }
            answer.row(device, time, |columns| push(columns, cells, &types))
        };
        let bytes = self.stream(sql, signals, Order::Stretch, &mut take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    async fn stream(
        &mut self,
        sql: &str,
        signals: &[SignalId],
        order: Order,
        take: &mut Take<'_>,
    ) -> Result<u64, Error> {
        if !self.is_narrow() {
            let take = |row: &[Cell<'_>]| {
                let [time, device, cells @ ..] = row else { return Err(C::improper(&"a row with too few cells")) };
                take(device_of::<C>(device)?, time_of::<C>(time)?, cells)
            };
            return self.client.ask(sql, take).await;
        }
        let table = self.table;
        let mut gather = Gather::new(signals.iter().map(|&signal| name_of(table, signal)), order != Order::Newest);
        let push = |row: &[Cell<'_>]| {
            let [time, device, Cell::Text(signal), value] = row else {
                return Err(C::improper(&"a row of other cells than time, device, signal and value"));
            };
            gather.push((device_of::<C>(device)?, time_of::<C>(time)?, signal), value, take)
        };
        let bytes = self.client.ask(sql, push).await?;
        gather.flush(take)?;
        Ok(bytes)
    }

    /// A row of time and value, or none.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn value(
        &mut self,
        sql: &str,
        (device, signal): (u32, SignalId),
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let value_type = self.table.schema.signals()[usize::from(signal)].value_type;
        let mut answer = Answer::new(sink, [value_type]);
        let take = |row: &[Cell<'_>]| match row {
            [time, cell] => {
                answer.row(device, time_of::<C>(time)?, |columns| columns[0].push(value(cell, value_type)?))
            }
            _ => Err(C::improper(&"a row of other cells than time and value")),
        };
        let bytes = self.client.ask(sql, take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// The only figure of a device, from a row of it alone; nothing of null.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn figure(&mut self, sql: &str, device: u32, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, [ValueType::F64]);
        let take = |row: &[Cell<'_>]| match row {
            [Cell::Null] => Ok(()),
            [figure] => answer.figures(device, [number(figure)?]),
            _ => Err(C::improper(&"a row with too many cells")),
        };
        let bytes = self.client.ask(sql, take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// Devices with a figure of each, of rows of these two.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn devices_with_figures(&mut self, sql: &str, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut answer = Answer::new(sink, [ValueType::F64]);
        let take = |row: &[Cell<'_>]| match row {
            [device, figure] => answer.figures(device_of::<C>(device)?, [number(figure)?]),
            _ => Err(C::improper(&"a row of other cells than device and figure")),
        };
        let bytes = self.client.ask(sql, take).await?;
        answer.finish(bytes, ComputedBy::Server)
    }

    /// A time, from a row of it alone; `None` of null.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn time(&mut self, sql: &str) -> Result<Option<i64>, Error> {
        let mut found = None;
        let note = |row: &[Cell<'_>]| match row {
            [Cell::Null] => Ok(()),
            [time] => {
                found = Some(time_of::<C>(time)?);
                Ok(())
            }
            _ => Err(C::improper(&"a row with too many cells")),
        };
        self.client.ask(sql, note).await?;
        Ok(found)
    }

    /// Datapoints and values, of a row of both, and the bytes of the answer.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn counts(&mut self, sql: &str) -> Result<(Counts, u64), Error> {
        let mut counts = Counts::default();
        let whole = |cell: &Cell<'_>| match cell {
            Cell::Null => Ok(0),
            Cell::Integer(count) if *count >= 0 => Ok(count.unsigned_abs()),
            other => Err(C::improper(&format!("{other:?} stands where a count should"))),
        };
        let note = |row: &[Cell<'_>]| {
            let [points, values] = row else { return Err(C::improper(&"a count of other columns")) };
            counts = Counts { points: whole(points)?, values: whole(values)? };
            Ok(())
        };
        let bytes = self.client.ask(sql, note).await?;
        Ok((counts, bytes))
    }

    /// The same as an answer.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn count(&mut self, sql: &str, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (counts, bytes) = self.counts(sql).await?;
        counts_row(counts, bytes, ComputedBy::Server, sink)
    }

    /// A row a device, or bucket, and aggregate, of the first so many of them: from rows of device, beginning of the bucket or 0,
    /// signal where each has rows of its own, how many rows they are of, and the figures of each signal in turn.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn figures(
        &mut self,
        sql: &str,
        asked: Asked<'_>,
        first: Option<u64>,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let mut figures = Streamed::new(sink, asked.0.len(), asked.1.len()).first(first.unwrap_or(u64::MAX));
        let table = self.table;
        let note = |row: &[Cell<'_>]| {
            take_figures::<C>(row, table, asked, &device_of::<C>, &mut |group, aggregate, signal, figure| {
                figures.begin(group)?;
                figures.set(aggregate, signal, figure);
                Ok(())
            })
        };
        let bytes = self.client.ask(sql, note).await?;
        figures.finish(bytes, ComputedBy::Server)
    }

    /// A row a value of a tag, or bucket, and aggregate, of rows with that value in the place of the device. They come by the
    /// alphabet, and are answered in the order of the values.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn figures_by_tag(
        &mut self,
        sql: &str,
        asked: Asked<'_>,
        tag: TagId,
        sink: &mut dyn Sink,
    ) -> Result<Reply, Error> {
        let (mut figures, table) = (Collected::default(), self.table);
        let (signals, many) = (asked.0.len(), asked.0.len() * asked.1.len());
        let tags = table.schema.tags();
        let tag_type = known(tags, tag)?.values.tag_type();
        let value_of = |value: &Cell<'_>| place_of(tags, tag, value.tag(tag_type).as_deref());
        let note = |row: &[Cell<'_>]| {
            take_figures::<C>(row, table, asked, &value_of, &mut |group, aggregate, signal, figure| {
                figures.set(group, aggregate * signals + signal, many, figure);
                Ok(())
            })
        };
        let bytes = self.client.ask(sql, note).await?;
        figures.answer(signals, bytes, ComputedBy::Server, sink)
    }

    /// The tags of devices, of rows of a device and each of them.
    ///
    /// # Errors
    /// As [`Self::points`].
    pub async fn tags(&mut self, sql: &str, take: &mut TakeTags<'_>) -> Result<(), Error> {
        let types: Vec<_> = self.table.schema.tags().as_slice().iter().map(|tag| tag.values.tag_type()).collect();
        let hand_over = |row: &[Cell<'_>]| match row {
            [device, tags @ ..] => {
                let values: Vec<_> = tags.iter().zip(&types).map(|(cell, &tag_type)| cell.tag(tag_type)).collect();
                take(device_of::<C>(device)?, &values.iter().map(Option::as_deref).collect::<Vec<_>>())
            }
            [] => Err(C::improper(&"a row without cells")),
        };
        self.client.ask(sql, hand_over).await.map(drop)
    }
}

/// A signal's name.
fn name_of(table: &TableSpec, signal: SignalId) -> &str {
    &table.schema.signals()[usize::from(signal)].name
}

fn time_of<C: AskRows>(cell: &Cell<'_>) -> Result<i64, Error> {
    if let Cell::Integer(time) = cell {
        Ok(*time)
    } else {
        Err(C::improper(&format!("{cell:?} stands where a time should")))
    }
}

fn device_of<C: AskRows>(cell: &Cell<'_>) -> Result<u32, Error> {
    C::device(cell).ok_or_else(|| C::improper(&format!("{cell:?} stands where a device should")))
}

/// Gives the figures of a row to `take`: the group, whose first part `group_of` reads, the place of the aggregate and that of the signal.
fn take_figures<C: AskRows>(
    row: &[Cell<'_>],
    table: &TableSpec,
    (signals, aggregates): Asked<'_>,
    group_of: &dyn Fn(&Cell<'_>) -> Result<u32, Error>,
    take: &mut dyn FnMut(Group, usize, usize, Option<f64>) -> Result<(), Error>,
) -> Result<(), Error> {
    let [of, bucket, signal, count, cells @ ..] = row else {
        return Err(C::improper(&"figures without what they are of"));
    };
    let first = match (table.layout, signal.text()) {
        // Each has rows of its own.
        (Layout::Narrow, name) => signals.iter().position(|&signal| name == Some(name_of(table, signal))),
        _ => Some(0),
    };
    // Without a column to group by there is a row also of no datapoints.
    let (Some(first), false) = (first, *count == Cell::Integer(0)) else { return Ok(()) };
    let group = (group_of(of)?, time_of::<C>(bucket)?);
    cells.iter().enumerate().try_for_each(|(at, cell)| match (at % aggregates.len(), first + at / aggregates.len()) {
        (aggregate, signal) if signal < signals.len() => take(group, aggregate, signal, number(cell)?),
        _ => Err(C::improper(&"more figures than were asked for")),
    })
}

#[cfg(test)]
mod tests;
