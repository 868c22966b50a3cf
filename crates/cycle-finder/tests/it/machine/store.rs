//! A database for tests: rows in the order of time, and what the queries of a search mean.

use iotbench_core::{Chunk, Direction, Query, TimeRange, Value, ValueType};
use iotbench_cycle_finder::{CycleSearch, Reason, Step};
use std::ops::Range;

#[derive(Clone, Debug)]
pub struct Row {
    pub time_ns: i64,
    pub values: Vec<Option<f64>>,
}

#[derive(Clone, Debug)]
pub struct Store(pub Vec<Row>);

/// A cycle, or why there is none.
pub type Answer = Result<Found, Reason>;

#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    pub start_ns: i64,
    pub end_ns: i64,
    pub points: u64,
    pub sums: Vec<f64>,
}

impl Store {
    fn rows(&self, range: TimeRange) -> Range<usize> {
        let from = self.0.iter().position(|row| range.contains(row.time_ns)).unwrap_or(self.0.len());
        let rows = self.0.get(from..).unwrap_or_default();
        from..from + rows.iter().take_while(|row| range.contains(row.time_ns)).count()
    }

    fn number(&self, row: usize, signal: u16) -> f64 {
        self.0[row].values[usize::from(signal)].unwrap_or(f64::NAN)
    }

    /// The rows that answer a query, and their channels.
    fn answer(&self, query: &Query) -> (Vec<usize>, Vec<u16>) {
        match query {
            Query::Range { signals, range, .. } => (self.rows(*range).collect(), signals.clone()),
            Query::Nearest { signal, predicate, direction, .. } => {
                let holds = |&row: &usize| predicate.holds(self.number(row, *signal));
                let found = match *direction {
                    Direction::FirstAfter(t) => (self.0.partition_point(|r| r.time_ns <= t)..self.0.len()).find(holds),
                    Direction::LastBefore(t) => (0..self.0.partition_point(|r| r.time_ns < t)).rfind(holds),
                };
                (found.into_iter().collect(), vec![*signal])
            }
            Query::Minimum { signal, range, .. } => {
                let less =
                    |least, row| if self.number(row, *signal) < self.number(least, *signal) { row } else { least };
                (self.rows(*range).reduce(less).into_iter().collect(), vec![*signal])
            }
            other => panic!("a search asks no {other:?}"),
        }
    }

    /// Carries a search out; the queries it put come with the answer. Chunks are small, so that there are many.
    pub fn search(&self, search: &mut CycleSearch) -> (Answer, Vec<Query>) {
        let mut queries = Vec::new();
        loop {
            match search.step() {
                Step::Ask(query) => {
                    queries.push(query.clone());
                    assert!(queries.len() < 32, "a search ends");
                    let (rows, signals) = self.answer(&query);
                    for rows in rows.chunks(100) {
                        search.take(&self.chunk(rows, &signals));
                    }
                    search.answered(query);
                }
                Step::Found(cycle) => {
                    let (start_ns, end_ns, points) = (cycle.start_ns, cycle.end_ns, cycle.points);
                    return (Ok(Found { start_ns, end_ns, points, sums: cycle.sums.to_vec() }), queries);
                }
                Step::NotFound(reason) => return (Err(reason), queries),
            }
        }
    }

    pub fn chunk(&self, rows: &[usize], signals: &[u16]) -> Chunk {
        let mut chunk = Chunk::new(signals.iter().map(|_| ValueType::F64));
        for &row in rows {
            let row = &self.0[row];
            chunk.devices.push(0);
            chunk.timestamps_ns.push(row.time_ns);
            for (column, &signal) in chunk.columns.iter_mut().zip(signals) {
                column.push(row.values[usize::from(signal)].map(Value::F64)).unwrap();
            }
        }
        chunk
    }
}
