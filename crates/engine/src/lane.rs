//! A connection and what it does: one operation, or being opened anew.

use crate::{
    caught::caught,
    clock::RunClock,
    connection::{Connection, Role},
    read::{Answered, Ask, Inquiry},
    sequence::Call,
};
use iotbench_core::{Acknowledged, Applied, Batch, Cause, Database, Error, Run, RunRows};
use std::{future::Future, pin::Pin, sync::Arc, time::Duration};
use tokio::time::{error::Elapsed, timeout_at};

const FIRST_BACKOFF: Duration = Duration::from_millis(50);
const LONGEST_BACKOFF: Duration = Duration::from_secs(2);

/// A connection with what it sends or asks.
pub struct Lane {
    /// Its place among its loop's connections.
    pub number: usize,
    /// The connection.
    pub connection: Connection,
    /// What it sends or asks, or did last. Boxed, because a lane is handed on several times an operation.
    pub exchange: Box<Exchange>,
}

/// What goes over a connection.
pub struct Exchange {
    /// All datapoints of an operation that writes.
    pub operation: Batch,
    /// Those of the present request, where an operation has several; else empty.
    pub request: Batch,
    /// An operation that reads.
    pub inquiry: Inquiry,
    /// How often the connection was opened since it last gave an answer.
    pub openings: u32,
}

/// What a lane has done.
pub enum Done {
    /// An operation of one request ended.
    Operation { lane: Lane, ended_ns: u64, result: Result<Acknowledged, Error> },
    /// A call of another operation ended.
    Called { lane: Lane, sent_ns: u64, ended_ns: u64, result: Result<Acknowledged, Error> },
    /// An operation that reads ended.
    Read { lane: Lane, ended_ns: u64, result: Result<Answered, Error> },
    /// An attempt to open a connection ended.
    Reopened { number: usize, exchange: Box<Exchange>, result: Result<Connection, Error> },
}

/// What a lane is doing.
pub type Work = Pin<Box<dyn Future<Output = Done> + Send>>;

/// Sends a lane's batch as an operation of one request; without an answer by the deadline it has timed out.
pub async fn write(mut lane: Lane, clock: RunClock, deadline: tokio::time::Instant) -> Done {
    let result = match lane.connection.writer() {
        Ok(writer) => in_time(timeout_at(deadline, caught(writer.write(&lane.exchange.operation))).await),
        Err(error) => Err(error),
    };
    Done::Operation { lane, ended_ns: clock.now_ns(), result }
}

/// Makes one call of an operation of several that writes.
pub async fn call(mut lane: Lane, call: Call, clock: RunClock, deadline: tokio::time::Instant) -> Done {
    let sent_ns = clock.now_ns();
    let nothing_sent = |()| Acknowledged::default();
    let result = match (lane.connection.writer(), call) {
        (Err(error), _) => Err(error),
        (Ok(writer), Call::Begin) => in_time(timeout_at(deadline, caught(writer.begin())).await).map(nothing_sent),
        (Ok(writer), Call::Request) => {
            in_time(timeout_at(deadline, caught(writer.write(&lane.exchange.request))).await)
        }
        (Ok(writer), Call::Commit) => in_time(timeout_at(deadline, caught(writer.commit())).await).map(nothing_sent),
    };
    Done::Called { lane, sent_ns, ended_ns: clock.now_ns(), result }
}

/// Asks all that an operation asks.
pub async fn read(mut lane: Lane, ask: Ask, clock: RunClock, deadline: tokio::time::Instant) -> Done {
    let Lane { connection, exchange, .. } = &mut lane;
    let result = match connection.reader() {
        Ok(reader) => exchange.inquiry.ask(reader, ask, clock, deadline).await,
        Err(error) => Err(error),
    };
    Done::Read { lane, ended_ns: clock.now_ns(), result }
}

fn in_time<T>(answer: Result<Result<T, Error>, Elapsed>) -> Result<T, Error> {
    answer.unwrap_or_else(|_| Err(Error::new(Cause::TimedOut, "no answer within the deadline").applied(Applied::Maybe)))
}

/// Opens a connection in place of a discarded one; not at once where that one was opened in vain.
pub async fn reopen(
    database: Arc<dyn Database>,
    role: Role,
    deadline: Duration,
    number: usize,
    mut exchange: Box<Exchange>,
) -> Done {
    if exchange.openings > 0 {
        tokio::time::sleep(backoff(exchange.openings, number)).await;
    }
    exchange.openings = exchange.openings.saturating_add(1);
    let result = match tokio::time::timeout(deadline, caught(Connection::open(&*database, role))).await {
        Ok(result) => result,
        Err(_) => Err(Error::new(Cause::TimedOut, "no connection within the deadline")),
    };
    Done::Reopened { number, exchange, result }
}

/// A random wait below an exponentially growing limit, so that clients do not come back all at once.
fn backoff(attempt: u32, lane: usize) -> Duration {
    let limit = FIRST_BACKOFF.saturating_mul(1 << attempt.min(16)).min(LONGEST_BACKOFF);
    let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
    Duration::from_nanos(crate::schedule::mix(lane as u64, u64::from(attempt)) % limit_ns.max(1))
}

/// The identity of some rows of a batch.
pub fn applied_runs<'a>(batch: &'a Batch, rows: &'a [u32]) -> impl Iterator<Item = Run> + 'a {
    batch.run_rows().flat_map(move |RunRows { run, rows: of_run }| {
        let first_row = of_run.start;
        let inside = rows.iter().map(|&row| row as usize).filter(move |row| of_run.contains(row));
        inside.map(move |row| Run { device: run.device, first: run.first + (row - first_row) as u64, count: 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Full jitter: from nothing up to a limit that doubles from 100 ms to 2 s (AWS Architecture Blog, *Exponential Backoff And
    /// Jitter*, 2015).
    #[test]
    fn waits_are_spread_below_a_limit_that_doubles_up_to_two_seconds() {
        for (attempt, limit_ms) in
            [(1, 100_u64), (2, 200), (3, 400), (4, 800), (5, 1600), (6, 2000), (7, 2000), (1000, 2000)]
        {
            let mut waits: Vec<_> = (0..1000).map(|lane| backoff(attempt, lane)).collect();
            waits.sort_unstable();
            assert!(waits[999] < Duration::from_millis(limit_ms), "attempt {attempt}: {:?}", waits[999]);
            for (quarter, wait) in [(1, waits[250]), (2, waits[500]), (3, waits[750])] {
                let expected_ms = limit_ms as f64 * f64::from(quarter) / 4.0;
                let off = wait.as_secs_f64() * 1e3 / expected_ms - 1.0;
                assert!(off.abs() < 0.2, "attempt {attempt}, quartile {quarter}: {wait:?}");
            }
        }
    }
}
