//! Every query of a store that can only be read whole: the client works the answer out, from the batches that were written.

use crate::{
    answer::{Answer, NOTHING_BY_CLIENT, counts_row, types},
    ask::{Ask, Order, What},
    by_client,
    consecutive::Pairs,
    fold::Fold,
    having,
    refuse::refuse_unknown_signals,
    series::Series,
    top::Top,
    total::{PARTS, Total, known},
};
use async_trait::async_trait;
use iotbench_core::{
    Aggregate, Batch, Cause, ComputedBy, Counts, Error, Query, Reader, Reply, SignalId, Sink, TableSpec, Value,
    ValueType,
};
use std::{
    cmp::{Ordering, Reverse},
    pin::pin,
    task::{Context, Poll, Waker},
};

/// Answers a query from all batches of a table, in the order in which they were stored. Who read them knows how many bytes
/// that took.
///
/// # Errors
/// A signal that the table does not have; the sink's own.
pub fn answer(query: &Query, table: &TableSpec, stored: &[Batch], sink: &mut dyn Sink) -> Result<Reply, Error> {
    refuse_unknown_signals(query, table)?;
    if let Some(answer) = of_others(query, table, stored, sink) {
        return answer;
    }
    let all: Vec<SignalId> = (0..).take(table.schema.width()).collect();
    let Some(ask) = Ask::of(query, &all).filter(Ask::wants_something) else { return Ok(NOTHING_BY_CLIENT) };
    // Which buckets are the newest, and which devices stand first, is known when all are.
    let (newest, limit) = (ask.newest(), ask.limit);
    let ask = match ask.what {
        What::TotalBuckets(..) | What::Top(_) => ask.first(u64::MAX, Order::Stretch),
        _ => ask,
    };
    let rows = Row::asked(&ask, stored);
    match ask.what {
        What::Datapoints | What::FirstOfEach => datapoints(&rows, &ask, table, sink),
        What::Greatest => greatest(&rows, &ask, sink),
        What::Figures(_) | What::Buckets(..) => {
            let mut fold = Fold::new(&ask, sink);
            let reply = datapoints(&rows, &ask, table, &mut fold)?;
            fold.finish(reply)
        }
        What::TotalBuckets(aggregates, width) => {
            let of_each = Ask { what: What::Buckets(&PARTS, width), ..ask };
            let mut total = Total::new(ask.signals.len(), newest);
            let mut fold = Fold::new(&of_each, &mut total);
            let reply = datapoints(&rows, &ask, table, &mut fold)?;
            let Reply { bytes, .. } = fold.finish(reply)?;
            total.finish(aggregates, bytes, sink)
        }
        What::ByTag(tag, aggregates, width) => {
            known(table.schema.tags(), tag)?;
            let of_each =
                Ask { what: width.map_or(What::Figures(&PARTS), |width| What::Buckets(&PARTS, width)), ..ask };
            let mut total = Total::by_tag(ask.signals.len(), table.schema.tags(), tag);
            let mut fold = Fold::new(&of_each, &mut total);
            let reply = datapoints(&rows, &ask, table, &mut fold)?;
            let Reply { bytes, .. } = fold.finish(reply)?;
            total.finish(aggregates, bytes, sink)
        }
        What::Top(aggregate) => {
            let of_each = Ask { what: What::Figures(&[aggregate]), ..ask };
            let mut top = Top::new(limit);
            let mut fold = Fold::new(&of_each, &mut top);
            let reply = datapoints(&rows, &ask, table, &mut fold)?;
            let Reply { bytes, .. } = fold.finish(reply)?;
            top.finish(bytes, sink)
        }
        What::Consecutive(what) => {
            let mut pairs = Pairs::new(what, sink);
            let reply = datapoints(&rows, &ask, table, &mut pairs)?;
            pairs.finish(reply.bytes)
        }
        What::Count => {
            let points = rows.len() as u64;
            let counts = Counts { points, values: points * all.len() as u64 };
            counts_row(counts, 0, ComputedBy::Client, sink)
        }
    }
}

/// What is asked of the answers to other questions; `None` where something else is asked.
fn of_others(query: &Query, table: &TableSpec, stored: &[Batch], sink: &mut dyn Sink) -> Option<Result<Reply, Error>> {
    let mut reader = Stored { table, stored };
    // Nothing of it waits.
    let asked = pin!(async {
        match by_client::of_others(&mut reader, query, &table.schema, sink).await {
            None if matches!(query, Query::Having { .. }) => {
                having::answer(&mut reader, query, &table.schema, sink).await
            }
            answer => answer,
        }
    });
    match asked.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => Some(Err(Error::new(Cause::Client, "what is stored here is there at once"))),
    }
}

/// Batches as who answers from them.
struct Stored<'a> {
    table: &'a TableSpec,
    stored: &'a [Batch],
}

#[async_trait]
impl Reader for Stored<'_> {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        answer(query, self.table, self.stored, sink)
    }
}

/// One stored datapoint.
#[derive(Clone, Copy)]
struct Row<'a> {
    device: u32,
    timestamp_ns: i64,
    batch: &'a Batch,
    row: usize,
}

impl<'a> Row<'a> {
    /// Those that are asked for, in the order asked for.
    fn asked(ask: &Ask<'_>, stored: &'a [Batch]) -> Vec<Self> {
        let mut rows: Vec<Self> = stored.iter().flat_map(Self::all_of).filter(|row| row.is_asked(ask)).collect();
        match ask.order {
            Order::Stretch => rows.sort_by_key(|row| (row.device, row.timestamp_ns)),
            Order::Oldest | Order::After => rows.sort_by_key(|row| row.timestamp_ns),
            Order::Newest | Order::Before => {
                rows.reverse();
                rows.sort_by_key(|row| Reverse(row.timestamp_ns));
            }
            Order::Least => {
                rows.sort_by_key(|row| row.timestamp_ns);
                rows.sort_by(|a, b| compare(a.value(ask.signal), b.value(ask.signal)));
            }
        }
        if ask.what == What::FirstOfEach {
            // The order within a device stays.
            rows.sort_by_key(|row| row.device);
            rows.dedup_by_key(|row| row.device);
            return rows;
        }
        rows.truncate(usize::try_from(ask.limit).unwrap_or(usize::MAX));
        rows
    }

    fn all_of(batch: &'a Batch) -> impl Iterator<Item = Self> {
        batch.run_rows().flat_map(move |of_run| {
            let of =
                move |row| Self { device: of_run.run.device, timestamp_ns: batch.timestamps_ns()[row], batch, row };
            of_run.rows.map(of)
        })
    }

    fn is_asked(&self, ask: &Ask<'_>) -> bool {
        let fulfils = || ask.predicate.is_none_or(|p| self.number(ask.signal).is_some_and(|value| p.holds(value)));
        ask.devices.contains(self.device) && ask.span.contains(self.timestamp_ns) && fulfils()
    }

    fn value(&self, signal: SignalId) -> Option<Value<'a>> {
        self.batch.value(usize::from(signal), self.row)
    }

    fn number(&self, signal: SignalId) -> Option<f64> {
        self.value(signal)?.as_f64()
    }
}

/// Integers are compared as such: not every one is a float.
fn compare(a: Option<Value<'_>>, b: Option<Value<'_>>) -> Ordering {
    match (a, b) {
        (Some(Value::I64(a)), Some(Value::I64(b))) => a.cmp(&b),
        (a, b) => {
            let number = |value: Option<Value<'_>>| value.and_then(|value| value.as_f64());
            number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal)
        }
    }
}

fn datapoints(rows: &[Row<'_>], ask: &Ask<'_>, table: &TableSpec, sink: &mut dyn Sink) -> Result<Reply, Error> {
    let mut answer = Answer::new(sink, types(&table.schema, ask.signals));
    for row in rows {
        answer.row(row.device, row.timestamp_ns, |columns| {
            columns.iter_mut().zip(ask.signals).try_for_each(|(column, &signal)| column.push(row.value(signal)))
        })?;
    }
    answer.finish(0, ComputedBy::Client)
}

fn greatest(rows: &[Row<'_>], ask: &Ask<'_>, sink: &mut dyn Sink) -> Result<Reply, Error> {
    let mut answer = Answer::new(sink, [ValueType::F64]);
    if !rows.is_empty() {
        answer.figures(ask.device(), [series(rows, ask.signal).figure(Aggregate::Max)])?;
    }
    answer.finish(0, ComputedBy::Client)
}

fn series(rows: &[Row<'_>], signal: SignalId) -> Series {
    let mut series = Series::default();
    rows.iter().filter_map(|row| row.number(signal)).for_each(|number| series.take(number));
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Chunk, Devices, Direction, Layout, Marker, Name, Predicate, Run, Schema, Signal, TimeRange};

    type Point = (u32, i64, i64);
    const BIG: i64 = 1 << 53;

    fn table() -> TableSpec {
        let signal = Signal { name: "a".into(), value_type: ValueType::I64, max_text_bytes: 0 };
        TableSpec {
            name: Name::new("t").unwrap(),
            layout: Layout::Wide,
            schema: Schema::new(vec![signal]).unwrap(),
            devices: 3,
            marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
        }
    }

    /// Two batches: a late one, and two datapoints of one time.
    fn stored() -> [Batch; 2] {
        let batches: [&[Point]; 2] = [&[(1, 5, BIG + 1), (0, 4, 3), (1, 7, BIG)], &[(1, 5, 9), (2, 5, 1)]];
        batches.map(|points| {
            let mut batch = Batch::new(&table().schema);
            for &(device, time, value) in points {
                batch.append(Run { device, first: 0, count: 1 }, |times, columns| {
                    times.push(time);
                    assert!(columns[0].push(Value::I64(value)));
                });
            }
            batch
        })
    }

    /// Device, time and the first column of each row.
    fn rows(query: &Query) -> Vec<(u32, i64, f64)> {
        let mut rows = Vec::new();
        let mut sink = |chunk: &Chunk| {
            let number = |row| chunk.columns[0].get(row).and_then(|value| value.as_f64()).unwrap();
            rows.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], number(row))));
            Ok(())
        };
        let reply = answer(query, &table(), &stored(), &mut sink).unwrap();
        assert_eq!((reply.rows, reply.computed_by), (rows.len() as u64, ComputedBy::Client));
        rows
    }

    #[test]
    fn datapoints_come_by_device_then_time_then_as_they_were_stored() {
        let (big, one) = (BIG as f64, Devices::Some(vec![1]));
        assert_eq!(rows(&Query::Scan), [(0, 4, 3.0), (1, 5, big), (1, 5, 9.0), (1, 7, big), (2, 5, 1.0)]);
        let range = TimeRange::half_open(5, 7);
        assert_eq!(rows(&Query::Range { devices: one, signals: vec![0], range }), [(1, 5, big), (1, 5, 9.0)]);
        assert_eq!(rows(&Query::Records { device: 1, from_ns: 5, limit: 2 }), [(1, 5, big), (1, 5, 9.0)]);
        let newest = |limit| rows(&Query::Newest { devices: Devices::All, limit });
        assert_eq!(newest(3), [(1, 7, big), (2, 5, 1.0), (1, 5, 9.0)]);
        assert_eq!(newest(0), []);
    }

    #[test]
    fn the_least_of_integers_that_no_float_tells_apart_is_found() {
        let least = |range| rows(&Query::Minimum { device: 1, signal: 0, range });
        let late = TimeRange::half_open(6, 9);
        assert_eq!((least(TimeRange::ALL), least(late)), (vec![(1, 5, 9.0)], vec![(1, 7, BIG as f64)]));
        let mut batches = stored();
        batches[1].clear();
        let mut times = Vec::new();
        let mut sink = |chunk: &Chunk| {
            times.extend_from_slice(&chunk.timestamps_ns);
            Ok(())
        };
        let query = Query::Minimum { device: 1, signal: 0, range: TimeRange::ALL };
        answer(&query, &table(), &batches, &mut sink).unwrap();
        assert_eq!(times, [7], "2^53 is less than 2^53 + 1");
    }

    #[test]
    fn figures_and_counts_are_worked_out_of_what_is_asked_for() {
        let range = TimeRange { from: std::ops::Bound::Unbounded, to: std::ops::Bound::Included(5) };
        let aggregates = vec![Aggregate::Last, Aggregate::Max];
        let figures = Query::Aggregates { devices: Devices::Some(vec![1, 2]), signals: vec![0], aggregates, range };
        assert_eq!(rows(&figures), [(1, 0, 9.0), (1, 0, BIG as f64), (2, 0, 1.0), (2, 0, 1.0)]);
        assert_eq!(rows(&Query::Count), [(0, 0, 5.0)]);
        let (width, aggregates) = (iotbench_core::BucketWidth::from_ns(2).unwrap(), vec![Aggregate::Sum]);
        let total = |newest| {
            let (devices, signals, aggregates) = (Devices::All, vec![0], aggregates.clone());
            rows(&Query::TotalBuckets { devices, signals, aggregates, range: TimeRange::ALL, width, newest })
        };
        assert_eq!(total(None), [(0, 4, BIG as f64 + 13.0), (0, 6, BIG as f64)]);
        assert_eq!(total(Some(1)), [(0, 6, BIG as f64)]);
        let top = |limit| {
            let (devices, aggregate, range) = (Devices::All, Aggregate::Count, TimeRange::ALL);
            rows(&Query::TopDevices { devices, signal: 0, aggregate, range, limit })
        };
        assert_eq!((top(2), top(0)), (vec![(1, 0, 3.0), (0, 0, 1.0)], vec![]));
        let greatest = |limit| rows(&Query::MaxOfFirst { device: 1, signal: 0, from_ns: 5, limit });
        assert_eq!((greatest(2), greatest(0)), (vec![(1, 0, BIG as f64)], vec![]));
        assert_eq!(rows(&Query::MaxOfFirst { device: 1, signal: 0, from_ns: 8, limit: 2 }), []);
        let direction = Direction::LastBefore(7);
        let below =
            |limit| rows(&Query::Nearest { device: 1, signal: 0, predicate: Predicate::Below(limit), direction });
        assert_eq!((below(10.0), below(9.0)), (vec![(1, 5, 9.0)], vec![]));
        assert!(
            answer(&Query::NewestVisible { device: 0, signal: 1 }, &table(), &[], &mut |_: &Chunk| Ok(())).is_err()
        );
    }
}
