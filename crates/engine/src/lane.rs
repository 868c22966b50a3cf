//! A connection and what it does: one operation, or being opened anew.

use crate::{clock::RunClock, plan::RequestKind, sequence::Call};
use iotbench_core::{Acknowledged, Applied, Batch, Cause, Database, Error, Run, RunRows, Writer};
use std::{future::Future, pin::Pin, sync::Arc, time::Duration};
use tokio::time::{error::Elapsed, timeout_at};

const FIRST_BACKOFF: Duration = Duration::from_millis(50);
const LONGEST_BACKOFF: Duration = Duration::from_secs(2);

/// A connection with the batch that it sends.
pub struct Lane {
    /// Its place among its loop's connections.
    pub number: usize,
    /// The connection.
    pub writer: Box<dyn Writer>,
    /// What it sends, or sent last. Boxed, because a lane is handed on several times an operation.
    pub batches: Box<Batches>,
}

/// The batches of a connection.
pub struct Batches {
    /// All datapoints of the operation.
    pub operation: Batch,
    /// Those of the present request, where an operation has several; else empty.
    pub request: Batch,
}

/// What a lane has done.
pub enum Done {
    /// An operation of one request ended.
    Operation { lane: Lane, ended_ns: u64, result: Result<Acknowledged, Error> },
    /// A call of another operation ended.
    Called { lane: Lane, sent_ns: u64, ended_ns: u64, result: Result<Acknowledged, Error> },
    /// An attempt to open a connection ended.
    Reopened { number: usize, batches: Box<Batches>, attempt: u32, result: Result<Box<dyn Writer>, Error> },
}

/// What a lane is doing.
pub type Work = Pin<Box<dyn Future<Output = Done> + Send>>;

/// Sends a lane's batch as an operation of one request; without an answer by the deadline it has timed out.
pub async fn operate(mut lane: Lane, kind: RequestKind, clock: RunClock, deadline: tokio::time::Instant) -> Done {
    let answer = match kind {
        RequestKind::Write => lane.writer.write(&lane.batches.operation),
    };
    let result = in_time(timeout_at(deadline, answer).await);
    Done::Operation { lane, ended_ns: clock.now_ns(), result }
}

/// Makes one call of an operation of several.
pub async fn call(
    mut lane: Lane,
    call: Call,
    kind: RequestKind,
    clock: RunClock,
    deadline: tokio::time::Instant,
) -> Done {
    let sent_ns = clock.now_ns();
    let nothing_sent = |()| Acknowledged::default();
    let result = match (call, kind) {
        (Call::Begin, _) => in_time(timeout_at(deadline, lane.writer.begin()).await).map(nothing_sent),
        (Call::Request, RequestKind::Write) => {
            in_time(timeout_at(deadline, lane.writer.write(&lane.batches.request)).await)
        }
        (Call::Commit, _) => in_time(timeout_at(deadline, lane.writer.commit()).await).map(nothing_sent),
    };
    Done::Called { lane, sent_ns, ended_ns: clock.now_ns(), result }
}

fn in_time<T>(answer: Result<Result<T, Error>, Elapsed>) -> Result<T, Error> {
    answer.unwrap_or_else(|_| Err(Error::new(Cause::TimedOut, "no answer within the deadline").applied(Applied::Maybe)))
}

/// Opens a connection in place of a discarded one; after a failed attempt not at once.
pub async fn reopen(
    database: Arc<dyn Database>,
    deadline: Duration,
    number: usize,
    batches: Box<Batches>,
    attempt: u32,
) -> Done {
    if attempt > 0 {
        tokio::time::sleep(backoff(attempt, number)).await;
    }
    let result = match tokio::time::timeout(deadline, database.writer()).await {
        Ok(result) => result,
        Err(_) => Err(Error::new(Cause::TimedOut, "no connection within the deadline")),
    };
    Done::Reopened { number, batches, attempt, result }
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
