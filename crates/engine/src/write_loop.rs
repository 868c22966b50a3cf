//! The loop that drives the writers of one group on one thread.
//!
//! It owns everything on an operation's way (source, connections, recorder), so that nothing there is locked. A request
//! that answers at once, as those of a blocking backend do, never leaves the loop.

use crate::{
    clock::RunClock,
    control::{Control, Generation, LaneWatch},
    lane::{Done, Lane, Work, applied_runs, operate, reopen},
    observer::OperationRecord,
    slice::{Outstanding, Slice},
};
use futures_util::stream::{FuturesUnordered, StreamExt};
use iotbench_core::{
    Acknowledged, Action, Applied, Batch, Cause, Database, Due, Error, Left, Next, Run, Source, Writer,
};
use iotbench_recorder::{LatencyHistogram, Outcome, Payload, Recorder, Timing, WINDOW_NS};
use std::{
    future::poll_fn,
    sync::{
        Arc,
        mpsc::{SyncSender, TrySendError},
    },
    task::Poll,
    time::Duration,
};
use tokio::sync::watch;

/// An operation that was sent.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    due: Due,
    sent_ns: u64,
    points: u64,
}

/// What a loop is made of.
pub struct WriteLoopParts {
    /// The run's clock.
    pub clock: RunClock,
    /// What the control thread says.
    pub control: Arc<Control>,
    /// Opens a writer in place of a discarded one.
    pub database: Arc<dyn Database>,
    /// Its operations.
    pub source: Box<dyn Source>,
    /// Its connections.
    pub writers: Vec<Box<dyn Writer>>,
    /// An empty batch.
    pub batch: Batch,
    /// Its group's place in the plan, which is its kind of operation in the recorder.
    pub group: u16,
    /// Its recorder.
    pub recorder: Recorder,
    /// To the control thread.
    pub slices: SyncSender<Slice>,
    /// After so long an operation has timed out.
    pub deadline: Duration,
    /// Whether every operation is told.
    pub trace: bool,
    /// Whether acknowledged datapoints are told.
    pub ledger: bool,
    /// Whether the pacer counts what is offered.
    pub pacer_offers: bool,
    /// Which watch it stands under, when its calls block.
    pub blocking_thread: Option<usize>,
}

/// The loop, see the module.
pub struct WriteLoop {
    parts: WriteLoopParts,
    changed: watch::Receiver<()>,
    values_per_point: u64,
    idle: Vec<Lane>,
    /// Since when there has been a free connection.
    idle_since_ns: Option<u64>,
    under_way: Vec<Option<UnderWay>>,
    work: FuturesUnordered<Work>,
    generation: Generation,
    /// Whether an operation of an earlier generation may be unanswered.
    settling: bool,
    second: u64,
    slice: Slice,
    pacing_error: Box<LatencyHistogram>,
    finished: bool,
}

/// Operations that are told of one second; beyond that they are counted as lost samples.
const MOST_TRACED: usize = 2_000_000;
/// After so many operations the thread's other loops get their turn.
const TURN: u32 = 256;

impl WriteLoop {
    /// A loop that has not begun.
    pub fn new(mut parts: WriteLoopParts) -> Self {
        let writers = std::mem::take(&mut parts.writers);
        let under_way = writers.iter().map(|_| None).collect();
        let lanes = writers.into_iter().enumerate();
        let idle = lanes.map(|(number, writer)| Lane { number, writer, batch: parts.batch.clone() }).collect();
        let this = Self {
            changed: parts.control.subscribe(),
            values_per_point: parts.batch.columns().len() as u64,
            idle,
            idle_since_ns: Some(0),
            under_way,
            work: FuturesUnordered::new(),
            // A generation that has begun by now is followed like any other.
            generation: Generation { number: 0, start_ns: 0 },
            settling: false,
            second: 0,
            slice: Slice::default(),
            pacing_error: Box::new(LatencyHistogram::new()),
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
            self.start_what_is_due(&mut turn).await;
            if self.parts.control.abandoned() {
                self.give_up();
                break;
            }
            if self.finished && self.under_way.iter().all(Option::is_none) {
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

    async fn start_what_is_due(&mut self, turn: &mut u32) {
        while !self.finished && *turn < TURN {
            let Some(mut lane) = self.idle.pop() else { return };
            let now_ns = self.parts.clock.now_ns();
            self.follow(now_ns);
            lane.batch.clear();
            match self.parts.source.take(now_ns, &mut lane.batch) {
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
        let kind = usize::from(self.parts.group);
        let (number, points) = (lane.number, lane.batch.len() as u64);
        let sent_ns = self.parts.clock.now_ns();
        let recorder = &mut self.parts.recorder;
        if !self.parts.pacer_offers {
            recorder.offer(kind, due.intended_ns, 1);
        }
        recorder.start(kind, due.intended_ns, sent_ns, points);
        if due.generated > 0 {
            recorder.generate_points(sent_ns, due.generated, due.lost);
        }
        if self.idle_since_ns.is_some_and(|since| since.max(due.free_since_ns) <= due.intended_ns) {
            self.pacing_error.record(sent_ns.saturating_sub(due.intended_ns));
        }
        if self.idle.is_empty() {
            self.idle_since_ns = None;
        }
        if let Some(slot) = self.under_way.get_mut(number) {
            *slot = Some(UnderWay { due, sent_ns, points });
        }
        let deadline = self.parts.clock.instant(sent_ns) + self.parts.deadline;
        let mut operation: Work = Box::pin(operate(lane, self.parts.clock, deadline.into()));
        if let Some(watch) = self.watch() {
            watch.begin(sent_ns);
        }
        let first_poll = poll_fn(|cx| Poll::Ready(operation.as_mut().poll(cx))).await;
        if let Some(watch) = self.watch() {
            watch.end();
        }
        match first_poll {
            Poll::Ready(done) => self.done(done),
            Poll::Pending => self.work.push(operation),
        }
    }

    async fn wait(&mut self) {
        let may_take = !self.finished && !self.idle.is_empty();
        let next_second = self.parts.clock.instant((self.second + 1) * WINDOW_NS);
        tokio::select! {
            biased;
            Some(done) = self.work.next() => self.done(done),
            () = self.parts.source.ready(), if may_take => {}
            _ = self.changed.changed() => {}
            () = tokio::time::sleep_until(next_second.into()) => {}
        }
        self.follow(self.parts.clock.now_ns());
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Operation { lane, ended_ns, result } => self.complete(lane, ended_ns, result),
            Done::Reopened { number, batch, attempt, result } => self.reopened(number, batch, attempt, result),
        }
    }

    fn complete(&mut self, lane: Lane, ended_ns: u64, result: Result<Acknowledged, Error>) {
        self.follow(self.parts.clock.now_ns());
        let Some(operation) = self.under_way.get_mut(lane.number).and_then(Option::take) else { return };
        self.parts.source.complete(operation.due, ended_ns);
        let (outcome, payload, action) = match result {
            Ok(acknowledged) => {
                self.note_acked(lane.batch.runs());
                let values = operation.points * self.values_per_point;
                (Outcome::Ok, Payload::undivided(Outcome::Ok, operation.points, values, acknowledged.bytes), None)
            }
            Err(error) => {
                self.parts.recorder.error(ended_ns, error.cause.name(), &error.message);
                if error.action == Action::Stop {
                    self.parts.control.fail(error.cause, &error.message);
                }
                let (outcome, payload) = self.failed(&lane.batch, &error);
                (outcome, payload, Some(error.action))
            }
        };
        self.record(operation, ended_ns, outcome, &payload);
        if action == Some(Action::DiscardWriter) {
            self.reopen(lane.number, lane.batch, 0);
        } else {
            self.free(lane);
        }
    }

    fn failed(&mut self, batch: &Batch, error: &Error) -> (Outcome, Payload) {
        let points = batch.len() as u64;
        match &error.applied {
            Applied::No => (Outcome::Fail, Payload::undivided(Outcome::Fail, points, 0, 0)),
            Applied::Maybe => (Outcome::Unknown, Payload::undivided(Outcome::Unknown, points, 0, 0)),
            Applied::Rows(rows) => {
                let runs: Vec<Run> = applied_runs(batch, rows).collect();
                self.note_acked(&runs);
                let points_acked = rows.len() as u64;
                let values_acked = points_acked * self.values_per_point;
                let points_failed = points - points_acked.min(points);
                (Outcome::Fail, Payload { points_acked, points_failed, values_acked, ..Payload::default() })
            }
        }
    }

    fn record(&mut self, operation: UnderWay, ended_ns: u64, outcome: Outcome, payload: &Payload) {
        let Some(timing) = Timing::new(operation.due.intended_ns, operation.sent_ns, ended_ns) else {
            self.slice.samples_dropped += 1;
            return;
        };
        self.parts.recorder.complete(usize::from(self.parts.group), outcome, &timing, payload);
        if self.parts.trace {
            if self.slice.operations.len() >= MOST_TRACED {
                self.slice.samples_dropped += 1;
                return;
            }
            let outcome = match outcome {
                Outcome::Ok => "ok",
                Outcome::Fail => "fail",
                Outcome::Unknown => "unknown",
            };
            let points = u32::try_from(operation.points).unwrap_or(u32::MAX);
            let user = operation.due.user;
            self.slice.operations.push(OperationRecord { group: self.parts.group, user, timing, outcome, points });
        }
    }

    fn note_acked(&mut self, runs: &[Run]) {
        if !self.parts.ledger {
            return;
        }
        for &run in runs {
            match self.slice.acked.last_mut() {
                Some(last)
                    if last.device == run.device && last.indices().end == run.first && last.count < u32::MAX / 2 =>
                {
                    last.count += run.count;
                }
                _ => self.slice.acked.push(run),
            }
        }
    }

    fn free(&mut self, lane: Lane) {
        if self.idle.is_empty() {
            self.idle_since_ns = Some(self.parts.clock.now_ns());
        }
        self.idle.push(lane);
    }

    fn reopen(&mut self, number: usize, batch: Batch, attempt: u32) {
        let (database, deadline) = (Arc::clone(&self.parts.database), self.parts.deadline);
        self.work.push(Box::pin(reopen(database, deadline, number, batch, attempt)));
    }

    fn reopened(&mut self, number: usize, batch: Batch, attempt: u32, result: Result<Box<dyn Writer>, Error>) {
        match result {
            Ok(writer) => {
                self.free(Lane { number, writer, batch });
                self.set_interrupt();
            }
            Err(error) => {
                self.parts.recorder.error(self.parts.clock.now_ns(), error.cause.name(), &error.message);
                if error.action == Action::Stop {
                    self.parts.control.fail(error.cause, &error.message);
                } else {
                    self.reopen(number, batch, attempt + 1);
                }
            }
        }
    }

    fn watch(&self) -> Option<&LaneWatch> {
        self.parts.control.lane_watch(self.parts.blocking_thread?)
    }

    fn set_interrupt(&self) {
        if let (Some(watch), [lane]) = (self.watch(), self.idle.as_slice()) {
            watch.set_interrupt(lane.writer.interrupt());
        }
    }

    /// Follows the clock and the control thread: hands over what a second or a generation recorded.
    fn follow(&mut self, now_ns: u64) {
        let current = self.parts.control.generation();
        // One that is announced ahead is followed when its time has come.
        if current != self.generation && now_ns >= current.start_ns {
            self.slice.outstanding = Some(self.outstanding(now_ns));
            let windows = self.parts.recorder.begin_phase(current.start_ns);
            self.slice.windows.extend(windows);
            let mut slice = std::mem::take(&mut self.slice);
            slice.generation = self.generation.number;
            // The control thread waits for this one. Without a receiver the run is over.
            let _ = self.parts.slices.send(slice);
            self.generation = current;
            self.settling = true;
            self.parts.control.inform(current.number);
        }
        if self.settling && self.is_settled(now_ns) {
            self.settling = false;
            self.parts.control.settle(self.generation.number);
        }
        let second = now_ns / WINDOW_NS;
        if second > self.second {
            self.second = second;
            let windows = self.parts.recorder.take_windows(now_ns);
            self.slice.windows.extend(windows);
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let mut slice = std::mem::take(&mut self.slice);
        slice.generation = self.generation.number;
        // When the control thread is behind, the slice is kept and grows. When it has gone, nobody will miss the slice.
        if let Err(TrySendError::Full(mut kept)) = self.parts.slices.try_send(slice) {
            kept.unite_windows();
            self.slice = kept;
        }
    }

    fn is_settled(&mut self, now_ns: u64) -> bool {
        let start_ns = self.generation.start_ns;
        let mut settled = self.under_way.iter().flatten().all(|u| u.due.intended_ns >= start_ns);
        self.parts.source.left(now_ns, &mut |left| {
            settled &= !matches!(left, Left::Operation { intended_ns } if intended_ns < start_ns);
        });
        settled
    }

    fn outstanding(&mut self, now_ns: u64) -> Outstanding {
        let start_ns = self.generation.start_ns;
        let mut sum = Outstanding::default();
        let mut add = |intended_ns: u64| {
            if intended_ns >= start_ns {
                sum.operations += 1;
                sum.waited_ns += u128::from(now_ns.saturating_sub(intended_ns));
            }
        };
        self.under_way.iter().flatten().for_each(|u| add(u.due.intended_ns));
        self.parts.source.left(now_ns, &mut |left| {
            if let Left::Operation { intended_ns } = left {
                add(intended_ns);
            }
        });
        sum
    }

    fn give_up(&mut self) {
        let now_ns = self.parts.clock.now_ns();
        self.follow(now_ns);
        self.work.clear();
        for operation in std::mem::take(&mut self.under_way).into_iter().flatten() {
            let payload = Payload::undivided(Outcome::Unknown, operation.points, 0, 0);
            self.parts.recorder.error(now_ns, Cause::TimedOut.name(), "no answer when the run ended");
            self.record(operation, now_ns, Outcome::Unknown, &payload);
        }
    }

    fn close(mut self) {
        let now_ns = self.parts.clock.now_ns();
        self.follow(now_ns);
        let end_ns = now_ns.min(self.parts.control.stops_at_ns());
        let (kind, pacer_offers) = (usize::from(self.parts.group), self.parts.pacer_offers);
        let (recorder, mut pending) = (&mut self.parts.recorder, 0);
        self.parts.source.left(end_ns, &mut |left| match left {
            Left::Operation { intended_ns } => {
                if !pacer_offers {
                    recorder.offer(kind, intended_ns, 1);
                }
                recorder.leave_pending(kind, intended_ns, end_ns);
                pending += 1;
            }
            Left::Points(points) => recorder.leave_points_pending(end_ns, points),
        });
        self.slice.windows.extend(self.parts.recorder.finish());
        self.slice.pending = pending;
        self.slice.pacing_error = Some(self.pacing_error);
        self.slice.generation = self.generation.number;
        // The last slice may wait: nothing is measured any more. Without a receiver nobody will miss it.
        let _ = self.parts.slices.send(self.slice);
    }
}
