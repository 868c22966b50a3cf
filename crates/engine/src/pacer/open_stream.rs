//! What the pacer keeps of an open loop: its schedule, and what is due and has no room.

use super::{grant::Grant, returns::Returns};
use crate::{
    control::Control,
    intervals::WindowWatch,
    mix::OperationMix,
    schedule::{Start, Starts},
};
use async_channel::{Receiver, Sender};
use iotbench_recorder::Recorder;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// The operations of an open loop.
#[derive(Debug)]
pub struct OpenStream {
    /// Its operations.
    pub operations: OperationMix,
    /// What the recorder knows the first of them as; the others follow.
    pub first_kind: usize,
    /// Its starts.
    pub schedule: std::iter::Peekable<Starts>,
    /// Operations that are due and offered although their way is full: they are released when there is room.
    pub waiting: Waiting,
    /// The schedule as its present load began, which other loads are made from.
    pub pace: Starts,
    /// Its load, where a ramp changes it; `None`: it stays what it was.
    pub ramped: Option<u32>,
    /// The windows in which devices report, while they do.
    pub window: Option<WindowWatch>,
    /// To the loops that start them; any may take any.
    pub grants: Sender<Grant>,
    /// What is not taken at the end.
    pub leftover: Receiver<Grant>,
    /// Operations waiting or under way.
    pub outstanding: Arc<AtomicU32>,
    /// Above so many outstanding ones others are dropped.
    pub drop_above: Option<u32>,
    /// The later operations of sessions, where the starts are those of their first ones. Then sessions are outstanding, and there
    /// is room for a grant of each.
    pub returns: Option<Returns>,
}

/// Operations of a schedule that were offered when they became due and could not be released.
#[derive(Debug, Default)]
pub struct Waiting {
    count: u64,
    /// The schedule behind the last of them, while there are any.
    behind: Option<std::iter::Peekable<Starts>>,
}

impl OpenStream {
    /// Whether everything that was offered has been released and taken.
    pub(super) fn is_taken(&self) -> bool {
        self.grants.is_empty() && self.waiting.count == 0
    }

    /// When the next operation of a session that is here already is due.
    pub(super) fn next_return_ns(&mut self) -> Option<u64> {
        self.returns.as_mut()?.next().map(|start| start.at_ns)
    }

    /// The next start; `None` while a ramp pauses it.
    pub(super) fn next_start(&mut self) -> Option<Start> {
        if self.ramped == Some(0) { None } else { self.schedule.peek().copied() }
    }

    /// Takes another load. What is still due of the one before is abandoned: the queue of an overload may be longer than
    /// the step that made it, and would be the next step's.
    pub(super) fn follow_load(
        &mut self,
        (load, from_ns): (u32, u64),
        now_ns: u64,
        control: &Control,
        recorder: &mut Recorder,
    ) -> u64 {
        if self.ramped.is_none_or(|present| present == load) {
            return 0;
        }
        let abandoned = self.abandon(now_ns, control, recorder);
        let Some(&next) = self.schedule.peek() else { return abandoned };
        self.ramped = Some(load);
        self.window = None;
        if load > 0 {
            self.pace = self.pace.with_load(load, next.number, from_ns);
            self.schedule = self.pace.clone().peekable();
            self.window = self.pace.watch();
        }
        abandoned
    }

    pub(super) fn watch_window(&mut self, now_ns: u64, control: &Control) {
        let Some(window) = &mut self.window else { return };
        let ends_ns = window.ends_ns();
        // Seldom: at the end of a window.
        if now_ns < ends_ns {
            return;
        }
        let unreleased = self.schedule.clone().take_while(|s| s.at_ns < ends_ns).count();
        let waiting = u32::try_from(self.grants.len() + unreleased).unwrap_or(u32::MAX);
        let released = u32::try_from(self.grants.len()).unwrap_or(u32::MAX);
        let under_way = self.outstanding.load(Ordering::Relaxed).saturating_sub(released);
        if let Some(late) = window.late(now_ns, waiting, under_way) {
            control.add_late(late);
        }
    }

    /// Only the steps of a ramp ask for it: to look through a long backlog would delay another run's schedule.
    pub(super) fn unoffered(&self, end_ns: u64) -> u64 {
        if self.ramped.is_none_or(|load| load == 0) {
            return 0;
        }
        let due = self.schedule.clone().take_while(|start| start.at_ns < end_ns).count() as u64;
        due.saturating_sub(self.waiting.count)
    }

    fn kind(&self, number: u64) -> usize {
        self.first_kind + self.operations.pick(0, number)
    }

    pub(crate) fn release(&mut self, now_ns: u64, control: &Control, recorder: &mut Recorder) -> bool {
        let devices = self.pace.devices();
        self.release_returns(now_ns, control, recorder);
        while let Some(Start { number, at_ns }) = self.next_start().filter(|s| s.at_ns <= now_ns) {
            let full = self.drop_above.is_some_and(|most| self.outstanding.load(Ordering::Relaxed) >= most);
            if !full && self.grants.is_full() {
                self.offer_waiting(now_ns, control, recorder);
                return false;
            }
            let kind = self.kind(number);
            if !self.offer_next(kind, at_ns, control, recorder) {
                return true;
            }
            self.schedule.next();
            if full {
                recorder.drop_operation(kind, at_ns, now_ns.max(at_ns));
                continue;
            }
            self.outstanding.fetch_add(1, Ordering::Relaxed);
            // Only the pacer sends, so there is still room; a closed channel means that the run is over.
            let _ = self.grants.try_send(Grant { intended_ns: at_ns, number, device: 0, devices });
        }
        true
    }

    /// Releases the later operations of sessions that are due.
    fn release_returns(&mut self, now_ns: u64, control: &Control, recorder: &mut Recorder) {
        while let Some(Start { number, at_ns }) = self.take_return(now_ns, control, recorder) {
            // Each session has room for one; a closed channel means that the run is over.
            let _ = self.grants.try_send(Grant { intended_ns: at_ns, number, device: 0, devices: u32::MAX });
        }
    }

    /// Counts as offered and takes the next of a session's later operations that is due by a time.
    fn take_return(&mut self, by_ns: u64, control: &Control, recorder: &mut Recorder) -> Option<Start> {
        let returns = self.returns.as_mut()?;
        let start = returns.next().filter(|start| start.at_ns <= by_ns && control.spend_operation(start.at_ns))?;
        returns.take();
        recorder.offer(self.kind(start.number), start.at_ns, 1);
        Some(start)
    }

    /// Counts the next operation as offered, unless it was when its way was full; false: the run has no more of them.
    fn offer_next(&mut self, kind: usize, at_ns: u64, control: &Control, recorder: &mut Recorder) -> bool {
        if let Some(rest) = self.waiting.count.checked_sub(1) {
            self.waiting.count = rest;
            control.note_released();
            return true;
        }
        let is_left = control.spend_operation(at_ns);
        if is_left {
            recorder.offer(kind, at_ns, 1);
        }
        is_left
    }

    /// Counts in its own second what is due and cannot be released: who looks at what was offered sees the whole queue.
    fn offer_waiting(&mut self, now_ns: u64, control: &Control, recorder: &mut Recorder) {
        let Waiting { mut count, behind } = std::mem::take(&mut self.waiting);
        let mut behind = behind.filter(|_| count > 0).unwrap_or_else(|| self.schedule.clone());
        while let Some(&Start { number, at_ns }) = behind.peek().filter(|start| start.at_ns <= now_ns) {
            if !control.spend_operation(at_ns) {
                break;
            }
            control.note_waiting();
            recorder.offer(self.kind(number), at_ns, 1);
            behind.next();
            count += 1;
        }
        self.waiting = Waiting { count, behind: Some(behind) };
    }

    pub(crate) fn close(mut self, stop_ns: u64, control: &Control, recorder: &mut Recorder) -> u64 {
        self.grants.close();
        self.abandon(stop_ns, control, recorder)
    }

    /// Takes back what is due before a time and not taken; returns how many operations that are.
    fn abandon(&mut self, end_ns: u64, control: &Control, recorder: &mut Recorder) -> u64 {
        let mut pending = 0;
        while let Ok(grant) = self.leftover.try_recv() {
            self.outstanding.fetch_sub(1, Ordering::Relaxed);
            recorder.leave_pending(self.kind(grant.number), grant.intended_ns, end_ns);
            pending += 1;
        }
        while let Some(Start { number, at_ns }) =
            self.next_start().filter(|start| self.waiting.count > 0 || start.at_ns < end_ns)
        {
            let kind = self.kind(number);
            if !self.offer_next(kind, at_ns, control, recorder) {
                break;
            }
            self.schedule.next();
            recorder.leave_pending(kind, at_ns, end_ns);
            pending += 1;
        }
        while let Some(Start { number, at_ns }) = self.take_return(end_ns.saturating_sub(1), control, recorder) {
            recorder.leave_pending(self.kind(number), at_ns, end_ns);
            pending += 1;
        }
        pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pacer::stream::Stream,
        plan::{GroupPlan, Load, OperationPlan, Part, Payload},
        profile::Arrival,
        schedule::{OwnBlocks, Pattern, Schedule},
        shape::Shape,
    };
    use iotbench_recorder::{OperationKind, Requests};

    const ROOM: usize = 4;
    const MS: u64 = 1_000_000;

    /// An operation each millisecond, and room for four of them.
    fn stream() -> OpenStream {
        let load = Load::Open { arrival: Arrival::Constant, rate: 1_000.0, drop_above: None };
        let group = GroupPlan {
            name: "g".into(),
            operation: OperationPlan::write("write", Payload::Count(1)),
            others: vec![],
            load,
            shape: Shape::Constant,
            connections: 1,
            devices: None,
            part: Part::default(),
            draw: crate::profile::DrawConfig::default(),
            undivided: false,
        };
        let schedule = Schedule::new(Arrival::Constant, 1_000.0, 1);
        let starts = Starts::new(Pattern::Rate(schedule), OwnBlocks { blocks: 0..1, of: 1 });
        let (grants, leftover) = async_channel::bounded(ROOM);
        OpenStream {
            operations: OperationMix::new(&group, 1),
            first_kind: 0,
            schedule: starts.clone().peekable(),
            waiting: Waiting::default(),
            ramped: None,
            window: None,
            pace: starts,
            grants,
            leftover,
            outstanding: Arc::default(),
            drop_above: None,
            returns: None,
        }
    }

    fn recorder() -> Recorder {
        Recorder::new([OperationKind { name: "write".into(), requests: Requests::One }].into())
    }

    fn offered(recorder: &mut Recorder) -> Vec<u64> {
        let windows = recorder.take_windows(u64::MAX);
        windows.iter().map(|window| window.counts().offered).collect()
    }

    /// Judging an overload by what was offered needs the whole queue, and not only what the way through it holds.
    #[test]
    fn what_is_due_is_offered_in_its_second_whether_or_not_there_is_room() {
        let (control, mut stream, mut recorder) = (Control::new(0, None, 0, 0), stream(), recorder());
        for now_ns in (0..3_000).map(|ms| ms * MS) {
            let is_free = stream.release(now_ns, &control, &mut recorder);
            assert!(is_free || now_ns >= ROOM as u64 * MS, "{now_ns}");
            // The server takes one in ten.
            if now_ns % (10 * MS) == 0 {
                stream.leftover.try_recv().unwrap();
            }
        }
        assert_eq!(offered(&mut recorder), [1_000, 1_000, 1_000]);
        // What waits is released in its turn, and is not offered again.
        let mut numbers = Vec::new();
        while let Ok(grant) = stream.leftover.try_recv() {
            numbers.push(grant.number);
            stream.release(2_999 * MS, &control, &mut recorder);
        }
        assert_eq!(numbers, (300..3_000).collect::<Vec<_>>());
        assert_eq!(offered(&mut recorder).iter().sum::<u64>(), 0);
    }

    #[test]
    fn what_waits_at_the_end_is_pending_once() {
        let (control, mut stream, mut recorder) = (Control::new(0, None, 0, 0), stream(), recorder());
        stream.release(99 * MS, &control, &mut recorder);
        assert_eq!(stream.close(100 * MS, &control, &mut recorder), 100);
        let windows = recorder.finish();
        let load = windows[0].recording().load();
        assert_eq!((load.offered, load.pending), (100, 100));
    }

    #[test]
    fn a_run_of_so_many_operations_ends_when_the_last_of_them_is_released() {
        let (control, mut stream, mut recorder) = (Control::new(0, Some(10), 0, 0), stream(), recorder());
        stream.release(99 * MS, &control, &mut recorder);
        assert!(!control.is_spent() && !Stream::Open(Box::new(stream)).is_taken());
        assert_eq!(offered(&mut recorder), [10]);
    }
}
