//! Handing over to the control thread: what a second or a generation recorded, and what remains at the end.

use super::LoadLoop;
use crate::{
    ledger::Fate,
    slice::{Slice, UserTime},
};
use iotbench_core::{Applied, Cause, Left};
use iotbench_recorder::{Outcome, Payload, WINDOW_NS};
use std::sync::mpsc::TrySendError;

impl LoadLoop {
    /// Follows the clock and the control thread: hands over what a second or a generation recorded.
    pub(super) fn follow(&mut self, now_ns: u64) {
        let current = self.parts.control.generation();
        // One that is announced ahead is followed when its time has come.
        if current != self.generation && now_ns >= current.start_ns {
            self.hand_over_late();
            self.slice.unoffered = self.unoffered(current.start_ns);
            self.slice.user_time = self.end_user_time(now_ns, current.start_ns);
            let windows = self.parts.recorder.begin_phase(current.start_ns);
            self.slice.windows.extend(windows);
            let mut slice = std::mem::take(&mut self.slice);
            slice.generation = self.generation.number;
            slice.pacing_error = Some(std::mem::take(&mut self.pacing_error));
            // The control thread waits for this one. Without a receiver the run is over.
            let _ = self.parts.slices.send(slice);
            self.previous = self.generation.number;
            self.generation = current;
            self.settling = true;
            self.parts.control.inform(current.number);
        }
        if self.settling && self.is_settled(now_ns) {
            self.settling = false;
            self.hand_over_late();
            self.parts.control.settle(self.generation.number);
        }
        let second = now_ns / WINDOW_NS;
        if second > self.second {
            self.second = second;
            let windows = self.parts.recorder.take_windows(now_ns);
            self.slice.windows.extend(windows);
            self.hand_over();
            self.hand_over_late();
        }
    }

    /// What has ended of the generation before, which the control thread follows to its last answer.
    fn hand_over_late(&mut self) {
        let late = self.parts.recorder.take_late();
        let [user_time, present] = self.parts.source.take_user_times();
        self.slice.user_time = self.slice.user_time.plus(present);
        if late.is_some() || user_time != UserTime::default() {
            // Without a receiver the run is over.
            let _ = self.parts.slices.send(Slice { generation: self.previous, late, user_time, ..Slice::default() });
        }
    }

    /// What users did beside operations and thinking in the present generation, which ends at `end_ns`.
    fn end_user_time(&mut self, now_ns: u64, end_ns: u64) -> UserTime {
        let start_ns = self.generation.start_ns;
        let mut earlier = 0;
        self.each_unanswered(now_ns, |intended_ns| earlier += u64::from(intended_ns < start_ns));
        self.parts.source.begin_generation(end_ns, now_ns);
        let [ended, _] = self.parts.source.take_user_times();
        let elsewhere_ns = earlier * end_ns.saturating_sub(start_ns);
        self.slice.user_time.plus(ended).plus(UserTime { elsewhere_ns, ..UserTime::default() })
    }

    pub(super) fn hand_over(&mut self) {
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
        let mut settled = true;
        self.each_unanswered(now_ns, |intended_ns| settled &= intended_ns >= start_ns);
        settled
    }

    /// Operations of the present generation, which ends at `end_ns`, that are due and have not started.
    fn unoffered(&mut self, end_ns: u64) -> u64 {
        let (own, mut count) = (self.generation.start_ns..end_ns, 0);
        if self.parts.accounting.pacer_offers {
            return count;
        }
        self.parts.source.left(end_ns, &mut |left| {
            count += u64::from(matches!(left, Left::Operation { intended_ns } if own.contains(&intended_ns)));
        });
        count
    }

    /// Tells when each operation was due that is under way or was not started.
    fn each_unanswered(&mut self, now_ns: u64, mut tell: impl FnMut(u64)) {
        self.under_way.iter().flatten().for_each(|u| tell(u.due.intended_ns));
        self.parts.source.left(now_ns, &mut |left| {
            if let Left::Operation { intended_ns } = left {
                tell(intended_ns);
            }
        });
    }

    pub(super) fn give_up(&mut self) {
        let now_ns = self.parts.clock.now_ns();
        self.follow(now_ns);
        self.work.clear();
        self.pauses.clear();
        self.held.clear();
        for (lane, operation) in std::mem::take(&mut self.under_way).into_iter().enumerate() {
            let Some(operation) = operation else { continue };
            let (outcome, payload) = match &operation.sequence {
                None => {
                    self.note_rows(lane, Fate::Unknown, 0..usize::MAX);
                    (Outcome::Unknown, Payload::undivided(Outcome::Unknown, operation.points, 0, 0))
                }
                Some(sequence) => {
                    let rows = sequence.rows_by_fate(&Applied::Maybe);
                    self.note_rows(lane, Fate::Unknown, rows.unknown);
                    self.note_rows(lane, Fate::Failed, rows.failed);
                    sequence.failed(&Applied::Maybe, operation.values_per_point)
                }
            };
            self.parts.recorder.error(now_ns, Cause::TimedOut.name(), "no answer when the run ended");
            self.record(&operation, now_ns, outcome, &payload);
        }
    }

    pub(super) fn close(mut self) {
        let now_ns = self.parts.clock.now_ns();
        self.follow(now_ns);
        self.hand_over_late();
        self.parts.control.end_loop(self.last_answer_ns);
        let end_ns = now_ns.min(self.parts.control.stops_at_ns());
        let (first_kind, pacer_offers) = (self.parts.operations.first_kind, self.parts.accounting.pacer_offers);
        let (recorder, mut pending) = (&mut self.parts.recorder, 0);
        self.parts.source.left_with_place(end_ns, &mut |place, left| match left {
            Left::Operation { intended_ns } => {
                let kind = first_kind + place;
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
