//! Figures over the points whose value meets a condition, or over whether it does, where the client works them out of the points.

use crate::{
    answer::NOTHING_BY_CLIENT,
    ask::{Ask, What},
    fold::Fold,
    total::{PARTS, Total, known},
};
use iotbench_core::{
    Aggregate, Cause, Chunk, Error, Predicate, Query, Reader, Reply, ReplyColumn, Schema, SignalId, Sink, Tags, Value,
    ValueType,
};

/// Answers [`Query::Where`] by asking for the points: `None` where something else is asked.
///
/// # Errors
/// The reader's own; the sink's; Client for what no figures are of, and for a tag that is none of the table's.
pub async fn answer(
    reader: &mut dyn Reader,
    query: &Query,
    schema: &Schema,
    sink: &mut dyn Sink,
) -> Option<Result<Reply, Error>> {
    let Query::Where { of, .. } = query else { return None };
    let Some(ask) = Ask::of(of, &[]).filter(Ask::wants_something) else { return Some(Ok(NOTHING_BY_CLIENT)) };
    Some(match Points::of(query, &ask) {
        Ok(points) => figures(reader, &ask, points, schema.tags(), sink).await,
        Err(error) => Err(error),
    })
}

async fn figures(
    reader: &mut dyn Reader,
    ask: &Ask<'_>,
    points: Points,
    tags: &Tags,
    sink: &mut dyn Sink,
) -> Result<Reply, Error> {
    let (aggregates, width, mut total) = match ask.what {
        What::TotalBuckets(aggregates, width) => (aggregates, Some(width), Total::new(ask.signals.len(), None)),
        What::ByTag(tag, aggregates, width) => {
            known(tags, tag)?;
            (aggregates, width, Total::by_tag(ask.signals.len(), tags, tag))
        }
        _ => {
            let mut fold = Fold::new(ask, sink);
            let reply = reader.query(&points.query, &mut points.taken(&mut fold)).await?;
            return fold.finish(reply);
        }
    };
    let of_each = Ask { what: width.map_or(What::Figures(&PARTS), |width| What::Buckets(&PARTS, width)), ..*ask };
    let mut fold = Fold::new(&of_each, &mut total);
    let reply = reader.query(&points.query, &mut points.taken(&mut fold)).await?;
    let Reply { bytes, .. } = fold.finish(reply)?;
    total.finish(aggregates, bytes, sink)
}

/// The points that figures are worked out of.
struct Points {
    query: Query,
    /// The columns of their answer that figures are of.
    places: Vec<usize>,
    /// What each value counts as 1 for.
    indicator: Option<Predicate>,
}

impl Points {
    fn of(query: &Query, ask: &Ask<'_>) -> Result<Self, Error> {
        refuse(query)?;
        let Query::Where { of, signal, predicate, indicator } = query else { return Err(no_figures()) };
        let range = match &**of {
            Query::Aggregates { range, .. }
            | Query::Buckets { range, .. }
            | Query::TotalBuckets { range, .. }
            | Query::TagFigures { range, .. } => *range,
            _ => return Err(no_figures()),
        };
        let (devices, is_alone) = (of.devices(), ask.signals == [*signal]);
        if *indicator {
            let query = Query::Range { devices, signals: vec![*signal], range };
            return Ok(Self { query, places: vec![0], indicator: Some(*predicate) });
        }
        let (signal, predicate, all_signals) = (*signal, *predicate, !is_alone);
        let query = Query::Filter { devices, signal, predicate, range, all_signals };
        let places = if is_alone { vec![0] } else { ask.signals.iter().map(|&signal| signal.into()).collect() };
        Ok(Self { query, places, indicator: None })
    }

    fn taken<'a>(&'a self, sink: &'a mut dyn Sink) -> Taken<'a> {
        Taken { points: self, sink }
    }
}

/// Hands on the columns that figures are of, or whether each value meets the condition.
struct Taken<'a> {
    points: &'a Points,
    sink: &'a mut dyn Sink,
}

impl Sink for Taken<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        let column = |&place: &usize| {
            let column = chunk.columns.get(place).ok_or_else(|| Error::new(Cause::Protocol, "a column is missing"))?;
            self.points.indicator.map_or_else(|| Ok(column.clone()), |predicate| indicated(column, predicate))
        };
        let columns = self.points.places.iter().map(column).collect::<Result<_, _>>()?;
        let (devices, timestamps_ns) = (chunk.devices.clone(), chunk.timestamps_ns.clone());
        self.sink.push(&Chunk { devices, timestamps_ns, columns })
    }
}

/// 1 for each value that meets the condition, 0 for each other; nothing for what is no number.
fn indicated(column: &ReplyColumn, predicate: Predicate) -> Result<ReplyColumn, Error> {
    let mut indicated = ReplyColumn::new(ValueType::F64);
    for row in 0..column.len() {
        let number = column.get(row).and_then(|value| value.as_f64());
        indicated.push(number.map(|number| Value::F64(f64::from(u8::from(predicate.holds(number))))))?;
    }
    Ok(indicated)
}

/// The figures over points that a condition on rows finds, of [`Query::Where`]: their signals, and which they are. `None` where something
/// else is asked; where each value is a row, of another signal than the one that is compared; and which part of the values meets it.
#[must_use]
pub fn on_rows(query: &Query, each_value_is_a_row: bool) -> Option<(&[SignalId], &[Aggregate])> {
    let Query::Where { of, signal, indicator: false, .. } = query else { return None };
    let (signals, aggregates) = match &**of {
        Query::Aggregates { signals, aggregates, .. }
        | Query::Buckets { signals, aggregates, .. }
        | Query::TotalBuckets { signals, aggregates, newest: None, .. }
        | Query::TagFigures { signals, aggregates, .. } => (signals, aggregates),
        _ => return None,
    };
    (!each_value_is_a_row || signals[..] == [*signal]).then_some((signals, aggregates))
}

/// What cannot be the figures that a condition on points is for.
///
/// # Errors
/// Client for a query without figures, for the newest buckets, and for the part of other signals that meets it.
pub fn refuse(query: &Query) -> Result<(), Error> {
    let Query::Where { of, signal, indicator, .. } = query else { return Ok(()) };
    let signals: &[SignalId] = match &**of {
        Query::Aggregates { signals, .. } | Query::Buckets { signals, .. } | Query::TagFigures { signals, .. } => {
            signals
        }
        Query::TotalBuckets { signals, newest: None, .. } => signals,
        _ => return Err(no_figures()),
    };
    if *indicator && signals != [*signal] {
        return Err(Error::new(
            Cause::Client,
            "which part of the values meets a condition is asked of that signal alone",
        ));
    }
    Ok(())
}

fn no_figures() -> Error {
    Error::new(
        Cause::Client,
        "a condition on points is for figures of devices, of a tag's values, or of all their buckets",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Devices, TimeRange};

    fn figures_of(signals: &[SignalId], indicator: bool) -> Query {
        let (devices, aggregates, range) = (Devices::All, vec![Aggregate::Mean], TimeRange::half_open(3, 9));
        let of = Query::Aggregates { devices, signals: signals.to_vec(), aggregates, range };
        Query::Where { of: Box::new(of), signal: 1, predicate: Predicate::Above(0.5), indicator }
    }

    #[test]
    fn whole_records_are_read_where_other_signals_are_asked_for() {
        let points = |signals: &[SignalId], indicator| {
            let query = figures_of(signals, indicator);
            let Query::Where { of, .. } = &query else { unreachable!() };
            let points = Points::of(&query, &Ask::of(of, &[]).unwrap()).unwrap();
            (points.query, points.places)
        };
        let filter = |all_signals| {
            let (signal, predicate, range) = (1, Predicate::Above(0.5), TimeRange::half_open(3, 9));
            Query::Filter { devices: Devices::All, signal, predicate, range, all_signals }
        };
        assert_eq!(points(&[1], false), (filter(false), vec![0]));
        assert_eq!(points(&[0, 2], false), (filter(true), vec![0, 2]));
        let range = TimeRange::half_open(3, 9);
        assert_eq!(points(&[1], true), (Query::Range { devices: Devices::All, signals: vec![1], range }, vec![0]));
        assert_eq!(refuse(&figures_of(&[0], true)).unwrap_err().cause, Cause::Client);
        let on_rows =
            |signals: &[SignalId], indicator, narrow| on_rows(&figures_of(signals, indicator), narrow).is_some();
        assert!(on_rows(&[0, 1], false, false) && on_rows(&[1], false, true));
        assert!(!on_rows(&[0, 1], false, true) && !on_rows(&[0], false, true) && !on_rows(&[1], true, false));
        let of = Box::new(Query::Count);
        let wrong = Query::Where { of, signal: 1, predicate: Predicate::Above(0.5), indicator: false };
        assert_eq!(refuse(&wrong).unwrap_err().cause, Cause::Client);
    }

    #[test]
    fn a_value_counts_as_one_where_it_meets_the_condition() {
        let mut column = ReplyColumn::new(ValueType::I64);
        for value in [Some(0), Some(2), None, Some(1)] {
            column.push(value.map(Value::I64)).unwrap();
        }
        let indicated = indicated(&column, Predicate::Above(1.0)).unwrap();
        let numbers: Vec<_> = (0..4).map(|row| indicated.get(row).and_then(|value| value.as_f64())).collect();
        assert_eq!(numbers, [Some(0.0), Some(1.0), None, Some(0.0)]);
    }
}
