//! The recorder of one engine thread.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::latency::Timing;
use crate::outcome::Outcome;
use crate::recording::{KindRecording, OperationKind};
use crate::window::{Payload, WINDOW_NS, Window, WindowCounts};

/// Windows held until they are taken; beyond that the two oldest become one.
const OPEN_WINDOWS: usize = 4;

/// Windows made at once: the current second, and the one before until it is taken.
const READY_WINDOWS: usize = 2;

/// The recorder of one engine thread: every event goes into the window of its second, and windows are taken, merged over
/// threads and added up by whoever collects them.
///
/// Each operation is recorded once, in its window. The totals of a phase or a run are the sum of its windows, so a
/// recorder needs no more memory after an hour than after a second. All instants are nanoseconds since the run's epoch.
///
/// **Which second.** Offered counts at the intended start, started at the send, the outcome at the last reply (or when the
/// operation was given up), dropped and pending at the instant given.
///
/// **Which phase.** An operation belongs to the phase in which it was intended to start, however late it ends. One that ends
/// in the next phase is counted in that second's [`WindowCounts`](crate::WindowCounts), where throughput is read, and its
/// latencies go to the [recording of what was late](Self::take_late), which is its own phase's. One that ends in a phase
/// after that is in no [`Recording`](crate::Recording): whoever begins phases follows each to its last answer first.
///
/// Every `kind` is an index into the kinds given to [`new`](Self::new); an index beyond them panics.
#[derive(Debug)]
pub struct Recorder {
    kinds: Arc<[OperationKind]>,
    phase: u32,
    phase_start_ns: u64,
    /// When the phase before began.
    previous_start_ns: u64,
    /// Operations of the phase before that ended in this one.
    late: Option<Window>,
    /// Windows of earlier seconds have been taken.
    first_open_second: u64,
    open: VecDeque<Window>,
    spare: Vec<Window>,
    /// Of each kind, the response time of its last success.
    last_response_ns: Vec<Option<u64>>,
}

impl Recorder {
    /// A recorder of operations of `kinds`. The first successes of a kind in a window allocate its histograms, which stay
    /// with the window when it is reused; the first failure of a kind does in each window.
    #[must_use]
    pub fn new(kinds: Arc<[OperationKind]>) -> Self {
        let spare = (0..READY_WINDOWS).map(|_| Window::new(Arc::clone(&kinds), 0, 0)).collect();
        let last_response_ns = vec![None; kinds.len()];
        Self {
            kinds,
            phase: 0,
            phase_start_ns: 0,
            previous_start_ns: 0,
            late: None,
            first_open_second: 0,
            open: VecDeque::with_capacity(OPEN_WINDOWS),
            spare,
            last_response_ns,
        }
    }

    /// `operations` operations were due at `intended_ns`. To be told when they are due, not when they are started.
    #[inline]
    pub fn offer(&mut self, kind: usize, intended_ns: u64, operations: u64) {
        let count = |counts: &mut WindowCounts| counts.offered += operations;
        self.note(kind, intended_ns, intended_ns, count, |recording| recording.load_mut().offered += operations);
    }

    /// An operation due at `intended_ns` was sent at `sent_ns` with `points` datapoints.
    #[inline]
    pub fn start(&mut self, kind: usize, intended_ns: u64, sent_ns: u64, points: u64) {
        let count = |counts: &mut WindowCounts| {
            counts.started += 1;
            counts.points.sent += points;
        };
        self.note(kind, intended_ns, sent_ns, count, |recording| recording.load_mut().started += 1);
    }

    /// Of the datapoints of an operation that was sent at `sent_ns` so many are sent a second time.
    pub fn send_again(&mut self, sent_ns: u64, points: u64) {
        self.window_at(sent_ns).counts.points.sent_again += points;
    }

    /// A started operation ended. One without an answer is given up at the timing's last instant: its response time is at least
    /// the time until then.
    #[inline]
    pub fn complete(&mut self, kind: usize, outcome: Outcome, timing: &Timing, payload: &Payload) {
        if !self.belongs(timing.intended_ns()) {
            let window = self.window_at(timing.replied_ns());
            window.counts.complete(outcome, window.part(timing.replied_ns()), payload);
            window.counts.carried += 1;
            if let Some(late) = self.late_recording(kind, timing.intended_ns()) {
                late.complete(outcome, timing, None);
            }
            return;
        }
        let previous_ns = match outcome {
            Outcome::Ok => self.last_response_ns[kind].replace(timing.response_ns()),
            Outcome::Fail | Outcome::Expired | Outcome::Unknown => None,
        };
        let window = self.window_at(timing.replied_ns());
        window.counts.complete(outcome, window.part(timing.replied_ns()), payload);
        window.recording.kind_mut(kind).complete(outcome, timing, previous_ns);
    }

    /// A request of an operation of many requests ended. `operation_intended_ns` is the intended start of its operation.
    /// Not needed for kinds of one request, where it changes nothing: their requests are their operations.
    #[inline]
    pub fn complete_request(&mut self, kind: usize, operation_intended_ns: u64, outcome: Outcome, timing: &Timing) {
        if let Some(recording) = self.recording_of(kind, operation_intended_ns, timing.replied_ns()) {
            recording.complete_request(outcome, timing);
        }
    }

    /// An operation of a kind with pauses succeeded at `replied_ns` after it had kept the target busy for `busy_ns`. For
    /// other kinds this changes nothing.
    pub fn record_busy(&mut self, kind: usize, operation_intended_ns: u64, replied_ns: u64, busy_ns: u64) {
        if let Some(recording) = self.recording_of(kind, operation_intended_ns, replied_ns) {
            recording.record_busy(busy_ns);
        }
    }

    /// An operation due at `intended_ns` will never be started, because at `now_ns` too many were under way: its response
    /// time is infinite.
    pub fn drop_operation(&mut self, kind: usize, intended_ns: u64, now_ns: u64) {
        let count = |counts: &mut WindowCounts| counts.dropped += 1;
        self.note(kind, intended_ns, now_ns, count, |recording| {
            recording.load_mut().dropped += 1;
            recording.never_start(now_ns.saturating_sub(intended_ns));
        });
    }

    /// An operation due at `intended_ns` was not started when its phase ended at `end_ns`, and never will be: its response
    /// time is infinite.
    pub fn leave_pending(&mut self, kind: usize, intended_ns: u64, end_ns: u64) {
        if let Some(recording) = self.recording_of(kind, intended_ns, end_ns) {
            recording.load_mut().pending += 1;
            recording.never_start(end_ns.saturating_sub(intended_ns));
        }
    }

    /// Sensors generated `generated` datapoints at `at_ns`, of which `dropped` found their queue full.
    #[inline]
    pub fn generate_points(&mut self, at_ns: u64, generated: u64, dropped: u64) {
        let points = &mut self.window_at(at_ns).counts.points;
        points.generated += generated;
        points.dropped += dropped;
    }

    /// `points` generated datapoints were not sent when the run ended at `end_ns`.
    pub fn leave_points_pending(&mut self, end_ns: u64, points: u64) {
        self.window_at(end_ns).counts.points.pending += points;
    }

    /// An error of `cause` happened at `at_ns`, whichever phase its operation belongs to; the first few messages of a cause
    /// are kept.
    pub fn error(&mut self, at_ns: u64, cause: &'static str, message: &str) {
        self.window_at(at_ns).recording.errors_mut().record(cause, message);
    }

    /// Takes the windows that ended by `before_ns`, the oldest first. Seconds without an event have no window. An event of
    /// a second whose window was taken is counted in the oldest window still open, and as late.
    pub fn take_windows(&mut self, before_ns: u64) -> Vec<Window> {
        self.first_open_second = self.first_open_second.max(before_ns / WINDOW_NS);
        let ended = self.open.iter().take_while(|window| window.last_second() < self.first_open_second).count();
        self.open.drain(..ended).collect()
    }

    /// Takes all windows and begins a phase: operations intended to start before `at_ns` belong to earlier phases. To be
    /// called at `at_ns` or soon after, before anything of the new phase is recorded.
    pub fn begin_phase(&mut self, at_ns: u64) -> Vec<Window> {
        self.first_open_second = self.first_open_second.max(at_ns / WINDOW_NS);
        self.phase += 1;
        self.previous_start_ns = self.phase_start_ns;
        self.phase_start_ns = at_ns;
        self.late = None;
        self.last_response_ns.fill(None);
        self.open.drain(..).collect()
    }

    /// Takes the latencies of operations of the phase before that have ended in this one since this was asked last, as a
    /// window of that phase without counts: their events are counted in the seconds in which they happened.
    #[must_use]
    pub fn take_late(&mut self) -> Option<Window> {
        self.late.take()
    }

    /// Takes all windows that are left, at the end of the run.
    #[must_use]
    pub fn finish(self) -> Vec<Window> {
        self.open.into()
    }

    /// Gives a window back for reuse, which saves an allocation a second. Emptying it is best done by the collector, by
    /// [`Window::reuse`]: an empty window costs nothing here.
    pub fn recycle(&mut self, window: Window) {
        if self.spare.len() < OPEN_WINDOWS && *window.recording.kinds() == self.kinds {
            self.spare.push(window);
        }
    }

    fn belongs(&self, intended_ns: u64) -> bool {
        intended_ns >= self.phase_start_ns
    }

    /// Counts what happened at `at_ns` in its second, and records it with its operation.
    #[inline]
    fn note(
        &mut self,
        kind: usize,
        intended_ns: u64,
        at_ns: u64,
        count: impl FnOnce(&mut WindowCounts),
        record: impl FnOnce(&mut KindRecording),
    ) {
        let belongs = self.belongs(intended_ns);
        let window = self.window_at(at_ns);
        count(&mut window.counts);
        if belongs {
            record(window.recording.kind_mut(kind));
        } else if let Some(late) = self.late_recording(kind, intended_ns) {
            record(late);
        }
    }

    /// Where an operation is recorded of which something is known at `at_ns`.
    #[inline]
    fn recording_of(&mut self, kind: usize, intended_ns: u64, at_ns: u64) -> Option<&mut KindRecording> {
        if self.belongs(intended_ns) {
            return Some(self.window_at(at_ns).recording.kind_mut(kind));
        }
        self.late_recording(kind, intended_ns)
    }

    /// The same of an operation of an earlier phase; `None`: of one before the one before.
    #[cold]
    fn late_recording(&mut self, kind: usize, intended_ns: u64) -> Option<&mut KindRecording> {
        if intended_ns < self.previous_start_ns {
            return None;
        }
        let (kinds, phase, second) = (&self.kinds, self.phase - 1, self.previous_start_ns / WINDOW_NS);
        let late = self.late.get_or_insert_with(|| Window::new(Arc::clone(kinds), phase, second));
        Some(late.recording.kind_mut(kind))
    }

    #[inline]
    fn window_at(&mut self, at_ns: u64) -> &mut Window {
        let second = at_ns / WINDOW_NS;
        let index = match self.find(second) {
            Some(index) => index,
            None => self.open_window(second),
        };
        &mut self.open[index]
    }

    /// The open window of `second`: nearly always the last, else the one before.
    #[inline]
    fn find(&self, second: u64) -> Option<usize> {
        self.open.iter().rposition(|window| window.covers(second))
    }

    #[cold]
    fn open_window(&mut self, second: u64) -> usize {
        if second >= self.first_open_second {
            return self.insert_window(second);
        }
        let oldest = self.first_open_second;
        let index = match self.find(oldest) {
            Some(index) => index,
            None => self.insert_window(oldest),
        };
        self.open[index].counts.late += 1;
        index
    }

    fn insert_window(&mut self, second: u64) -> usize {
        if self.open.len() == OPEN_WINDOWS {
            self.unite_oldest();
            if let Some(index) = self.find(second) {
                return index;
            }
        }
        let index = self.open.iter().take_while(|window| window.last_second() < second).count();
        let window = match self.spare.pop() {
            Some(mut window) => {
                window.reuse(self.phase, second);
                window
            }
            None => Window::new(Arc::clone(&self.kinds), self.phase, second),
        };
        self.open.insert(index, window);
        index
    }

    fn unite_oldest(&mut self) {
        if let Some(oldest) = self.open.pop_front() {
            if let Some(next) = self.open.front_mut() {
                next.add(&oldest);
            }
            self.spare.push(oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Requests;

    fn kinds(name: &str) -> Arc<[OperationKind]> {
        [OperationKind { name: name.into(), requests: Requests::One }].into()
    }

    #[test]
    fn windows_come_back_as_far_as_they_are_needed_and_of_its_own_kinds() {
        let mut recorder = Recorder::new(kinds("write"));
        assert_eq!(recorder.spare.len(), READY_WINDOWS);
        recorder.recycle(Window::new(kinds("read"), 0, 0));
        assert_eq!(recorder.spare.len(), READY_WINDOWS, "of other kinds");
        (0..9).for_each(|second| recorder.recycle(Window::new(kinds("write"), 0, second)));
        assert_eq!(recorder.spare.len(), OPEN_WINDOWS);
    }
}
