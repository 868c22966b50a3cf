//! A read on a connection: its queries one after the other, and what came of them.

use super::{Asker, Draw, Kept, KeptAnswer};
use crate::{clock::RunClock, plan::Question};
use iotbench_core::{Applied, Cause, Chunk, ComputedBy, Error, Query, Reader, Reply, Sink};
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

/// When a request was sent and its last row came, in nanoseconds since the run's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTime {
    /// When it was sent.
    pub sent_ns: u64,
    /// When it ended.
    pub ended_ns: u64,
}

/// What an operation that reads was answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// Rows.
    pub rows: u64,
    /// Bytes over the wire, or decoded where there is none.
    pub bytes: u64,
    /// Requests that the client worked out from more rows than it answers with.
    pub by_client: u64,
    /// Requests.
    pub requests: u64,
}

/// A connection's present read.
#[derive(Debug, Default)]
pub struct Inquiry {
    /// When each request was sent and answered.
    pub requests: Vec<RequestTime>,
    /// The answers, where they are to be compared.
    pub kept: Option<Box<Kept>>,
}

/// A read that is about to be made.
pub struct Ask {
    /// Draws the queries.
    pub asker: Arc<Asker>,
    /// Of this question.
    pub question: Question,
    /// For this operation.
    pub draw: Draw,
    /// So many of them.
    pub requests: u32,
}

impl Inquiry {
    /// Asks all queries of an operation; after the first that fails no other.
    pub async fn ask(
        &mut self,
        reader: &mut dyn Reader,
        ask: Ask,
        clock: RunClock,
        deadline: Instant,
    ) -> Result<Answered, Error> {
        let mut answered = Answered::default();
        self.requests.clear();
        for request in 0..ask.requests {
            let query = ask.asker.query(&ask.question, Draw { request, ..ask.draw });
            let reply = self.request(reader, query, clock, deadline).await?;
            answered.rows += reply.rows;
            answered.bytes += reply.bytes;
            answered.by_client += u64::from(reply.computed_by == ComputedBy::Client);
            answered.requests += 1;
        }
        Ok(answered)
    }

    async fn request(
        &mut self,
        reader: &mut dyn Reader,
        query: Query,
        clock: RunClock,
        deadline: Instant,
    ) -> Result<Reply, Error> {
        let mut kept = self.kept.is_some().then(|| KeptAnswer::new(query.clone()));
        let sent_ns = clock.now_ns();
        let mut sink = KeepingSink { kept: kept.as_mut() };
        let answer = timeout_at(deadline, reader.query(&query, &mut sink)).await;
        self.requests.push(RequestTime { sent_ns, ended_ns: clock.now_ns() });
        if let (Some(all), Some(one)) = (&mut self.kept, kept) {
            all.answers.push(one);
        }
        answer.unwrap_or_else(|_| {
            // A reader changes nothing, so that nothing can have been applied.
            Err(Error::new(Cause::TimedOut, "no answer within the deadline").applied(Applied::Maybe))
        })
    }
}

/// Takes the rows of an answer, and keeps them where they are to be compared.
struct KeepingSink<'a> {
    kept: Option<&'a mut KeptAnswer>,
}

impl Sink for KeepingSink<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        match &mut self.kept {
            Some(kept) => kept.take(chunk),
            None => Ok(()),
        }
    }
}
