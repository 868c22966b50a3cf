//! A read on a connection: its queries one after the other, and what came of them.

use super::{Asker, Draw, FoundCycle, Kept, KeptAnswer, KeptCycle};
use crate::{
    caught::caught,
    clock::RunClock,
    plan::{OwnStatement, Question},
    slice::ReadCounts,
};
use iotbench_core::{Applied, Cause, Chunk, ComputedBy, Error, Query, Reader, Reply, Sink};
use iotbench_cycle_finder::{CycleSearch, SearchSpec, Step};
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
    /// Bytes over the wire, or decoded where there is none; of statements that write, those that were sent.
    pub bytes: u64,
    /// Its requests, and by whom they were answered.
    pub counts: ReadCounts,
}

/// A connection's present read.
#[derive(Debug, Default)]
pub struct Inquiry {
    /// When each request was sent and answered.
    pub requests: Vec<RequestTime>,
    /// The answers, where they are to be compared.
    pub kept: Option<Box<Kept>>,
    /// The search for a machine cycle, where that is asked.
    search: Option<CycleSearch>,
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
        self.requests.clear();
        if let Question::Cycle { strategy, signals, abscissa, amplitude } = &ask.question {
            let spec = || SearchSpec {
                strategy: *strategy,
                signals: signals.clone(),
                abscissa: *abscissa,
                amplitude: *amplitude,
            };
            let (device, t_ns) = ask.asker.moment(ask.draw);
            let mut search = match self.search.take() {
                Some(mut search) => {
                    search.restart(device, t_ns);
                    search
                }
                None => CycleSearch::new(spec(), device, t_ns)
                    .map_err(|error| Error::new(Cause::Client, error.to_string()))?,
            };
            let found = self.search(reader, &mut search, clock, deadline).await;
            if let Some(kept) = &mut self.kept {
                kept.cycle = Some(KeptCycle { spec: spec(), device, t_ns, found: FoundCycle::of(&mut search) });
            }
            self.search = Some(search);
            return found;
        }
        let mut answered = Answered::default();
        for request in 0..ask.requests {
            let Some(query) = ask.asker.query(&ask.question, Draw { request, ..ask.draw }) else { break };
            let asked = match &ask.question {
                Question::Statement(own) => Asked::Own(own, &query),
                _ => Asked::Query(&query),
            };
            self.request(reader, asked, None, clock, deadline, &mut answered).await?;
        }
        Ok(answered)
    }

    /// Asks what a search for a machine cycle asks, until it has ended.
    async fn search(
        &mut self,
        reader: &mut dyn Reader,
        search: &mut CycleSearch,
        clock: RunClock,
        deadline: Instant,
    ) -> Result<Answered, Error> {
        let mut answered = Answered::default();
        loop {
            let query = match search.step() {
                Step::Ask(query) => query,
                Step::Found(_) => {
                    answered.counts.cycles = 1;
                    return Ok(answered);
                }
                Step::NotFound(_) => {
                    answered.counts.no_cycles = 1;
                    return Ok(answered);
                }
            };
            self.request(reader, Asked::Query(&query), Some(search), clock, deadline, &mut answered).await?;
            search.answered(query);
        }
    }

    async fn request(
        &mut self,
        reader: &mut dyn Reader,
        asked: Asked<'_>,
        search: Option<&mut CycleSearch>,
        clock: RunClock,
        deadline: Instant,
        answered: &mut Answered,
    ) -> Result<(), Error> {
        let mut kept = self.kept.as_deref().and_then(|all| asked.begin(all));
        let sent_ns = clock.now_ns();
        let mut sink = KeepingSink { kept: kept.as_mut(), search, clock, first_row_ns: None };
        let answer = timeout_at(deadline, caught(asked.ask(reader, &mut sink))).await;
        let first_row_ns = sink.first_row_ns;
        self.requests.push(RequestTime { sent_ns, ended_ns: clock.now_ns() });
        if let (Some(one), true, Ok(Ok(reply))) = (&mut kept, asked.writes(), &answer) {
            one.answered_rows = reply.rows;
        }
        if let (Some(all), Some(mut one)) = (&mut self.kept, kept) {
            all.writes.end(&mut one.overlap);
            all.answers.push(one);
        }
        let reply = answer.unwrap_or_else(|_| {
            Err(Error::new(Cause::TimedOut, "no answer within the deadline").applied(Applied::Maybe))
        })?;
        answered.add(reply, asked.writes(), first_row_ns.map(|ns| ns - sent_ns));
        Ok(())
    }
}

/// What one request asks.
#[derive(Clone, Copy)]
enum Asked<'a> {
    /// A query.
    Query(&'a Query),
    /// What the user wrote, and what it is held against.
    Own(&'a OwnStatement, &'a Query),
}

impl Asked<'_> {
    async fn ask(self, reader: &mut dyn Reader, sink: &mut dyn Sink) -> Result<Reply, Error> {
        match self {
            Self::Query(query) => reader.query(query, sink).await,
            Self::Own(own, drawn) => match own.call(drawn) {
                Some(call) => reader.statement(&call, sink).await,
                None => Err(Error::new(Cause::Client, "nothing was drawn for the statement")),
            },
        }
    }

    /// Whether it changes what is stored.
    fn writes(self) -> bool {
        matches!(self, Self::Own(own, _) if own.statement.writes())
    }

    /// The answer to come, where it is to be compared.
    fn begin(self, all: &Kept) -> Option<KeptAnswer> {
        let kept = |query: &Query| KeptAnswer::new(query.clone(), all.writes.begin(&query.devices()));
        match self {
            Self::Query(query) => Some(kept(query)),
            Self::Own(own, _) if !own.expected.is_any() => None,
            Self::Own(own, query) => {
                let statement = Some(own.statement.to_string().into());
                Some(KeptAnswer { expected: Some(own.expected), statement, ..kept(query) })
            }
        }
    }
}

impl Answered {
    /// `writes`: its rows were changed, and not read.
    fn add(&mut self, reply: Reply, writes: bool, first_row_after_ns: Option<u64>) {
        let (read, changed) = if writes { (0, reply.rows) } else { (reply.rows, 0) };
        self.rows += read;
        self.bytes += reply.bytes;
        self.counts.merge(ReadCounts {
            requests: 1,
            by_client: u64::from(reply.computed_by == ComputedBy::Client),
            with_rows: u64::from(first_row_after_ns.is_some()),
            first_rows_ns: first_row_after_ns.unwrap_or(0),
            changes: u64::from(writes),
            rows_changed: changed,
            ..ReadCounts::default()
        });
    }
}

/// Takes the rows of an answer, and keeps them where they are to be compared.
struct KeepingSink<'a> {
    kept: Option<&'a mut KeptAnswer>,
    search: Option<&'a mut CycleSearch>,
    clock: RunClock,
    first_row_ns: Option<u64>,
}

impl Sink for KeepingSink<'_> {
    fn push(&mut self, chunk: &Chunk) -> Result<(), Error> {
        self.first_row_ns.get_or_insert_with(|| self.clock.now_ns());
        if let Some(search) = &mut self.search {
            search.take(chunk);
        }
        match &mut self.kept {
            Some(kept) => kept.take(chunk),
            None => Ok(()),
        }
    }
}
