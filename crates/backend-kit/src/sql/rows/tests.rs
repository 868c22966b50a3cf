//! Rows that a database might give, and what comes of them.

use super::*;
use iotbench_core::{Cause, Chunk, Marker, Name, Schema, Signal};
use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

/// Answers whatever is asked with these rows.
struct Says(Vec<Vec<Cell<'static>>>);

impl AskRows for Says {
    async fn ask(
        &mut self,
        _sql: &str,
        mut take: impl FnMut(&[Cell<'_>]) -> Result<(), Error> + Send,
    ) -> Result<u64, Error> {
        self.0.iter().try_for_each(|row| take(row))?;
        Ok(7)
    }

    fn device(cell: &Cell<'_>) -> Option<u32> {
        if let Cell::Integer(number) = cell { u32::try_from(*number).ok() } else { None }
    }

    fn improper(message: &dyn Display) -> Error {
        Error::new(Cause::Protocol, message)
    }
}

fn table(layout: Layout) -> TableSpec {
    let signal = |name: &str| Signal { name: name.into(), value_type: ValueType::I64, max_text_bytes: 0 };
    TableSpec {
        name: Name::new("t").unwrap(),
        layout,
        schema: Schema::new(vec![signal("a"), signal("b")]).unwrap(),
        devices: 3,
        marker: Marker { run_id: "r".into(), fingerprint: "f".into() },
    }
}

fn whole(numbers: &[i64]) -> Vec<Cell<'static>> {
    numbers.iter().map(|&number| Cell::Integer(number)).collect()
}

/// A row of layout narrow.
fn of_signal(time: i64, device: i64, signal: &'static str, value: i64) -> Vec<Cell<'static>> {
    vec![Cell::Integer(time), Cell::Integer(device), Cell::Text(signal.into()), Cell::Integer(value)]
}

fn done<T>(future: impl Future<Output = T>) -> T {
    let Poll::Ready(done) = pin!(future).poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
    done
}

/// The answer as device, time and values, and the bytes.
type Answered = (Vec<(u32, i64, Vec<Option<f64>>)>, u64);

fn answered(
    layout: Layout,
    rows: &[Vec<Cell<'static>>],
    ask: impl AsyncFnOnce(&mut SqlRows<'_, Says>, &mut dyn Sink) -> Result<Reply, Error>,
) -> Result<Answered, Cause> {
    let (mut says, table, mut seen) = (Says(rows.to_vec()), table(layout), Vec::new());
    let mut sink = |chunk: &Chunk| {
        let values = |row| chunk.columns.iter().map(|c| c.get(row).and_then(|v| v.as_f64())).collect();
        seen.extend((0..chunk.len()).map(|row| (chunk.devices[row], chunk.timestamps_ns[row], values(row))));
        Ok(())
    };
    let reply = done(ask(&mut SqlRows { client: &mut says, table: &table }, &mut sink)).map_err(|e| e.cause)?;
    Ok((seen, reply.bytes))
}

#[test]
fn datapoints_are_rows_or_several_of_them_and_no_more_than_asked_for() {
    let two = async |rows: &mut SqlRows<'_, Says>, sink: &mut dyn Sink| {
        rows.points("", (&[0, 1], Order::Stretch, 2), sink).await
    };
    let expected = Ok((vec![(0, 1, vec![Some(10.0), Some(20.0)]), (0, 2, vec![Some(11.0), Some(21.0)])], 7));
    let wide = [whole(&[1, 0, 10, 20]), whole(&[2, 0, 11, 21]), whole(&[3, 0, 12, 22])];
    assert_eq!(answered(Layout::Wide, &wide, two), expected);
    let narrow = [(1, "a", 10), (1, "b", 20), (2, "a", 11), (2, "b", 21), (3, "a", 12)];
    let narrow = narrow.map(|(time, signal, value)| of_signal(time, 0, signal, value));
    assert_eq!(answered(Layout::Narrow, &narrow, two), expected);
    for wrong in [whole(&[1]), vec![Cell::Null, Cell::Integer(0)], whole(&[1, -1, 10, 20])] {
        assert_eq!(answered(Layout::Wide, &[wrong], two), Err(Cause::Protocol));
    }
}

#[test]
fn of_each_device_the_first_is_taken() {
    let rows = [whole(&[9, 0, 1, 2]), whole(&[9, 0, 3, 4]), whole(&[8, 2, 5, 6])];
    let found = answered(Layout::Wide, &rows, async |rows, sink| rows.first_of_each("", &[0, 1], sink).await);
    assert_eq!(found, Ok((vec![(0, 9, vec![Some(1.0), Some(2.0)]), (2, 8, vec![Some(5.0), Some(6.0)])], 7)));
}

#[test]
fn figures_of_no_rows_are_none() {
    let both = [Aggregate::Min, Aggregate::Max];
    let row = |device: i64, count: i64, figures: [i64; 4]| {
        let of = [Cell::Integer(device), Cell::Integer(0), Cell::Text("".into()), Cell::Integer(count)];
        of.into_iter().chain(whole(&figures)).collect::<Vec<_>>()
    };
    let rows = [row(1, 2, [10, 11, 20, 21]), row(2, 0, [0; 4])];
    let asked =
        async |rows: &mut SqlRows<'_, Says>, sink: &mut dyn Sink| rows.figures("", (&[0, 1], &both), None, sink).await;
    let expected = vec![(1, 0, vec![Some(10.0), Some(20.0)]), (1, 0, vec![Some(11.0), Some(21.0)])];
    assert_eq!(answered(Layout::Wide, &rows, asked), Ok((expected, 7)));
    let too_many = [[&row(1, 2, [1; 4])[..], &whole(&[5])].concat()];
    assert_eq!(answered(Layout::Wide, &too_many, asked), Err(Cause::Protocol));
}

#[test]
fn what_is_null_is_nothing_and_a_count_is_not_below_nothing() {
    let figure = |row: Vec<Cell<'static>>| {
        answered(Layout::Wide, &[row], async |rows, sink| rows.figure("", 1, sink).await).map(|(rows, _)| rows)
    };
    assert_eq!(figure(vec![Cell::Null]), Ok(vec![]));
    assert_eq!(figure(whole(&[5])), Ok(vec![(1, 0, vec![Some(5.0)])]));
    let count = |row: Vec<Cell<'static>>| {
        answered(Layout::Wide, &[row], async |rows, sink| rows.count("", sink).await).map(|(rows, _)| rows)
    };
    assert_eq!(count(vec![Cell::Null, Cell::Null]), Ok(vec![(0, 0, vec![Some(0.0), Some(0.0)])]));
    assert_eq!(count(whole(&[3, -6])), Err(Cause::Protocol));
}
