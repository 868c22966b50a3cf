//! The loop that drives the connections of one group on one thread.
//!
//! It owns everything on an operation's way (source, connections, recorder), so that nothing there is locked. A request
//! that answers at once, as those of a blocking backend do, never leaves the loop.

mod account;
mod connections;
mod fate;
mod free_since;
mod handing_over;
mod held;
mod parts;
mod reading;
mod several_requests;

pub use parts::{Accounting, GroupOperations, LoadLoopParts, Tracking};
pub use reading::Reading;

use crate::{
    control::Generation,
    lane::{Done, Exchange, Lane, Work, write},
    read::Inquiry,
    sequence::Sequence,
    slice::Slice,
    source::Taken,
};
use fate::Sent;
use free_since::{FreeSince, SentLate};
use futures_util::{
    FutureExt,
    stream::{FuturesUnordered, StreamExt},
};
use iotbench_core::{Due, Next};
use iotbench_recorder::{LatencyHistogram, WINDOW_NS};
use several_requests::{Pause, next_pause_ends};
use std::{future::poll_fn, task::Poll};
use tokio::sync::watch;

/// An operation that was sent.
#[derive(Debug)]
struct UnderWay {
    due: Due,
    kind: usize,
    sent_ns: u64,
    /// How much later than it could have been it was sent, by the client's fault.
    own_delay_ns: u64,
    points: u64,
    /// How far it has come; `None`: it is one request.
    sequence: Option<Box<Sequence>>,
    /// How many values each of its datapoints has.
    values_per_point: u64,
}

/// The loop, see the module.
pub struct LoadLoop {
    parts: LoadLoopParts,
    changed: watch::Receiver<()>,
    idle: Vec<Lane>,
    /// Since when there has been a free connection.
    free_since: Option<FreeSince>,
    under_way: Vec<Option<UnderWay>>,
    sent: Sent,
    work: FuturesUnordered<Work>,
    /// What has ended and is not yet accounted for; empty but for a moment.
    ended: Vec<Done>,
    pauses: Vec<Pause>,
    /// Connections whose operations wait for the table to be altered.
    held: Vec<Lane>,
    generation: Generation,
    /// The number of the one before.
    previous: u32,
    /// Whether an operation of an earlier generation may be unanswered.
    settling: bool,
    second: u64,
    slice: Slice,
    pacing_error: Box<LatencyHistogram>,
    last_answer_ns: u64,
    finished: bool,
}

/// After so many operations the thread's other loops get their turn.
const TURN: u32 = 256;

impl LoadLoop {
    /// A loop that has not begun.
    pub fn new(mut parts: LoadLoopParts) -> Self {
        let connections = std::mem::take(&mut parts.connections);
        let under_way: Vec<_> = connections.iter().map(|_| None).collect();
        let sent = Sent::new(under_way.len());
        let lanes = connections.into_iter().enumerate();
        let exchange = || {
            let (operation, request) = (parts.batch.clone(), parts.batch.clone());
            Box::new(Exchange { operation, request, inquiry: Inquiry::default(), openings: 0 })
        };
        let idle = lanes.map(|(number, connection)| Lane { number, connection, exchange: exchange() }).collect();
        let this = Self {
            changed: parts.control.subscribe(),
            idle,
            free_since: Some(FreeSince::default()),
            under_way,
            sent,
            work: FuturesUnordered::new(),
            ended: Vec::new(),
            pauses: Vec::new(),
            held: Vec::new(),
            // A generation that has begun by now is followed like any other.
            generation: Generation { number: 0, start_ns: 0 },
            previous: 0,
            settling: false,
            second: 0,
            slice: Slice::default(),
            pacing_error: Box::new(LatencyHistogram::new()),
            last_answer_ns: 0,
            finished: false,
            parts,
        };
        this.set_interrupt();
        this
    }

    /// Runs until the source has finished and everything is answered, or given up.
    pub async fn run(mut self) {
        let mut turn = 0_u32;
        loop {
            self.let_go().await;
            self.resume().await;
            self.start_what_is_due(&mut turn).await;
            if self.parts.control.abandoned() {
                self.give_up();
                break;
            }
            let is_idle = self.under_way.iter().all(Option::is_none);
            if is_idle && self.is_cut_off() {
                // What waits would wait in vain.
                self.parts.control.leave_queue();
                break;
            }
            if is_idle && self.finished {
                break;
            }
            if turn < TURN {
                self.wait().await;
                turn += 1;
            } else {
                turn = 0;
                tokio::task::yield_now().await;
            }
        }
        self.close();
    }

    /// Whether every connection is being opened anew when the load has ended.
    fn is_cut_off(&self) -> bool {
        let now_ns = self.parts.clock.now_ns();
        let has_ended = || now_ns >= self.parts.control.stops_at_ns() || self.parts.source.has_ended(now_ns);
        self.idle.is_empty() && has_ended()
    }

    async fn start_what_is_due(&mut self, turn: &mut u32) {
        while !self.finished && *turn < TURN {
            let Some(mut lane) = self.idle.pop() else { return };
            let now_ns = self.parts.clock.now_ns();
            self.follow(now_ns);
            lane.exchange.operation.clear();
            match self.parts.source.take(now_ns, &mut lane.exchange.operation) {
                Next::Due(due) => {
                    *turn += 1;
                    self.start(lane, due).await;
                }
                next => {
                    self.finished = next == Next::Finished;
                    self.idle.push(lane);
                    return;
                }
            }
        }
    }

    async fn start(&mut self, lane: Lane, due: Due) {
        let Taken { place, draw, again } = self.parts.source.taken();
        let kind = self.parts.operations.first_kind + place;
        let (number, points) = (lane.number, lane.exchange.operation.len());
        let sent_ns = self.parts.clock.now_ns();
        let own_delay_ns = self.record_start(kind, due, sent_ns, points as u64);
        if again > 0 {
            self.parts.recorder.send_again(sent_ns, again);
        }
        let operation = self.parts.operations.mix.at(place);
        let is_read = operation.question().is_some();
        let sequence = (!is_read).then(|| Sequence::new(operation, points, sent_ns)).flatten().map(Box::new);
        let values_per_point = lane.exchange.operation.columns().len() as u64;
        if let Some(slot) = self.under_way.get_mut(number) {
            let points = points as u64;
            *slot = Some(UnderWay { due, kind, sent_ns, own_delay_ns, points, sequence, values_per_point });
        }
        if is_read {
            let deadline = (self.parts.clock.instant(sent_ns) + self.parts.deadline).into();
            if let Some(work) = self.read(lane, place, draw, deadline) {
                self.drive(work, sent_ns).await;
            }
            return;
        }
        self.note_sent(&lane, sent_ns);
        if lane.exchange.operation.lacking() > 0 || self.parts.control.gate().lets_pass(sent_ns) {
            self.send(lane, sent_ns).await;
        } else {
            self.held.push(lane);
        }
    }

    /// Sends an operation that writes, or the first request of it.
    async fn send(&mut self, lane: Lane, sent_ns: u64) {
        let sequence = self.under_way.get(lane.number).and_then(|slot| slot.as_ref()?.sequence.as_ref());
        let first = sequence.map(|sequence| sequence.first());
        let work = match first {
            None => {
                let deadline = (self.parts.clock.instant(sent_ns) + self.parts.deadline).into();
                Some(Box::pin(write(lane, self.parts.clock, deadline)) as Work)
            }
            Some(call) => self.call(lane, call),
        };
        if let Some(work) = work {
            self.drive(work, sent_ns).await;
        }
    }

    /// Returns the client's own delay.
    fn record_start(&mut self, kind: usize, due: Due, sent_ns: u64, points: u64) -> u64 {
        let recorder = &mut self.parts.recorder;
        if !self.parts.accounting.pacer_offers {
            recorder.offer(kind, due.intended_ns, 1);
        }
        recorder.start(kind, due.intended_ns, sent_ns, points);
        if due.generated > 0 {
            recorder.generate_points(sent_ns, due.generated, due.lost);
        }
        let SentLate { pacing_error_ns, own_delay_ns } = self.free_since.unwrap_or_default().send(&due, sent_ns);
        if self.parts.accounting.has_pacing_error {
            self.pacing_error.record(pacing_error_ns);
        }
        if self.idle.is_empty() {
            self.free_since = None;
        }
        own_delay_ns
    }

    /// Polls what a connection is to do, and what follows on it, until it has to wait. A call that blocks does so in its
    /// first poll, under the watch: too late when the operation that was sent at `since_ns` is.
    async fn drive(&mut self, mut work: Work, since_ns: u64) {
        loop {
            if let Some(watch) = self.watch() {
                watch.begin(since_ns);
            }
            let first_poll = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await;
            if let Some(watch) = self.watch() {
                watch.end();
            }
            match first_poll {
                Poll::Ready(done) => match self.done(done) {
                    Some(next) => work = next,
                    None => return,
                },
                Poll::Pending => return self.work.push(work),
            }
        }
    }

    async fn wait(&mut self) {
        let may_take = !self.finished && !self.idle.is_empty();
        let wakes_at = self.parts.clock.instant(self.held_until_ns().min((self.second + 1) * WINDOW_NS));
        let mut ended = None;
        tokio::select! {
            biased;
            Some(done) = self.work.next() => ended = Some(done),
            () = self.parts.source.ready(), if may_take => {}
            () = next_pause_ends(self.parts.pauses.as_deref(), &self.pauses) => {}
            _ = self.changed.changed() => {}
            () = tokio::time::sleep_until(wakes_at.into()) => {}
        }
        // Answers that have come together all get their time before anything follows on one of them.
        while let Some(done) = ended {
            self.ended.push(done);
            ended = self.work.next().now_or_never().flatten();
        }
        let mut all = std::mem::take(&mut self.ended);
        for done in all.drain(..) {
            self.go_on_after(done).await;
        }
        self.ended = all;
        self.follow(self.parts.clock.now_ns());
    }

    async fn go_on_after(&mut self, done: Done) {
        let since_ns = match &done {
            Done::Called { lane, .. } => self.sent_ns(lane.number),
            Done::Operation { .. } | Done::Read { .. } | Done::Reopened { .. } => 0,
        };
        if let Some(next) = self.done(done) {
            self.drive(next, since_ns).await;
        }
    }

    /// Takes in what a connection has done; what follows on it at once, if anything does.
    fn done(&mut self, done: Done) -> Option<Work> {
        match done {
            Done::Operation { lane, ended_ns, result } => self.complete(lane, ended_ns, result),
            Done::Read { lane, ended_ns, result } => self.answered(lane, ended_ns, result),
            Done::Called { lane, sent_ns, ended_ns, result } => return self.called(lane, sent_ns, ended_ns, result),
            Done::Reopened { number, exchange, result } => self.reopened(number, exchange, result),
        }
        None
    }
}
