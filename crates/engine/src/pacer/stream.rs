//! What the pacer keeps the schedule of: open loops and sensors.

use crate::{
    control::Control,
    intervals::WindowWatch,
    mix::OperationMix,
    schedule::{Schedule, Start, Starts},
};
use async_channel::{Receiver, Sender, TrySendError};
use iotbench_recorder::Recorder;
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

/// An operation of an open loop, or a datapoint of a sensor, that has become due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// When it was intended, in nanoseconds since the run's start.
    pub intended_ns: u64,
    /// The operation's number, or the datapoint's position in its device's order.
    pub number: u64,
    /// The sensor; 0 for operations.
    pub device: u32,
    /// An operation is not about devices from this one on: they do not report in this step.
    pub devices: u32,
}

/// Something the pacer keeps the schedule of.
#[derive(Debug)]
pub enum Stream {
    /// An open loop.
    Open(Box<OpenStream>),
    /// Sensors that all have the same pace.
    Sensors(SensorStream),
}

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
}

/// Operations of a schedule that were offered when they became due and could not be released.
#[derive(Debug, Default)]
pub struct Waiting {
    count: u64,
    /// The schedule behind the last of them, while there are any.
    behind: Option<std::iter::Peekable<Starts>>,
}

/// The datapoints of sensors.
#[derive(Debug)]
pub struct SensorStream {
    /// The instants at which every sensor offers a datapoint.
    pub schedule: std::iter::Peekable<Schedule>,
    /// The sensor that is next to offer at the present instant.
    pub next_sensor: usize,
    /// The device of the first of them; the others follow.
    pub first_device: u32,
    /// Every sensor.
    pub sensors: Vec<Sensor>,
    /// What a queue holds.
    pub queue: u32,
}

/// A sensor's queue: how full it is, and the way to its writer.
#[derive(Clone, Debug)]
pub struct Sensor {
    /// Datapoints offered and not taken.
    pub queued: Arc<AtomicU32>,
    /// To its writer.
    pub grants: Sender<Grant>,
}

impl Stream {
    /// Whether everything that was released has been taken.
    pub(super) fn is_taken(&self) -> bool {
        match self {
            Self::Open(stream) => stream.grants.is_empty() && stream.waiting.count == 0,
            Self::Sensors(stream) => stream.sensors.iter().all(|s| s.grants.is_empty()),
        }
    }

    /// Whether nothing is left of an open loop whose load a ramp has set to 0; what has no such load never waits.
    pub(super) fn is_settled(&self) -> bool {
        match self {
            Self::Open(stream) => {
                stream.ramped.is_none_or(|load| load == 0 && stream.outstanding.load(Ordering::Relaxed) == 0)
            }
            Self::Sensors(_) => true,
        }
    }

    /// Operations that were due before a time and are not offered yet.
    pub(super) fn unoffered(&self, end_ns: u64) -> u64 {
        match self {
            Self::Open(stream) => stream.unoffered(end_ns),
            Self::Sensors(_) => 0,
        }
    }

    /// Takes the load of the present step; returns how many operations of the step before will never be taken.
    pub(super) fn follow_load(
        &mut self,
        load: (u32, u64),
        now_ns: u64,
        control: &Control,
        recorder: &mut Recorder,
    ) -> u64 {
        match self {
            Self::Open(stream) => stream.follow_load(load, now_ns, control, recorder),
            Self::Sensors(_) => 0,
        }
    }

    /// Counts what is late when a window ends.
    pub(super) fn watch_window(&mut self, now_ns: u64, control: &Control) {
        if let Self::Open(stream) = self {
            stream.watch_window(now_ns, control);
        }
    }

    pub(super) fn next_ns(&mut self) -> Option<u64> {
        match self {
            Self::Open(stream) => {
                let window_ns = stream.window.as_ref().map(WindowWatch::ends_ns);
                stream.next_start().map(|s| s.at_ns).into_iter().chain(window_ns).min()
            }
            Self::Sensors(stream) => stream.schedule.peek().map(|s| s.at_ns),
        }
    }

    /// Releases what is due by `now_ns`; false when a channel is full.
    pub fn release(&mut self, now_ns: u64, control: &Control, recorder: &mut Recorder) -> bool {
        match self {
            Self::Open(stream) => stream.release(now_ns, control, recorder),
            Self::Sensors(stream) => stream.release(now_ns, recorder),
        }
    }

    /// Ends the stream; returns how many operations were due and never taken.
    pub(super) fn close(self, stop_ns: u64, control: &Control, recorder: &mut Recorder) -> u64 {
        match self {
            Self::Open(stream) => stream.close(stop_ns, control, recorder),
            Self::Sensors(stream) => {
                // What sensors queued is still written; the writers tell what remains of it.
                stream.sensors.iter().for_each(|s| {
                    s.grants.close();
                });
                0
            }
        }
    }
}

impl OpenStream {
    /// The next start; `None` while a ramp pauses it.
    fn next_start(&mut self) -> Option<Start> {
        if self.ramped == Some(0) { None } else { self.schedule.peek().copied() }
    }

    /// Takes another load. What is still due of the one before is abandoned: the queue of an overload may be longer than
    /// the step that made it, and would be the next step's.
    fn follow_load(
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

    fn watch_window(&mut self, now_ns: u64, control: &Control) {
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
    fn unoffered(&self, end_ns: u64) -> u64 {
        if self.ramped.is_none_or(|load| load == 0) {
            return 0;
        }
        let due = self.schedule.clone().take_while(|start| start.at_ns < end_ns).count() as u64;
        due.saturating_sub(self.waiting.count)
    }

    fn kind(&self, number: u64) -> usize {
        self.first_kind + self.operations.pick(0, number)
    }

    fn release(&mut self, now_ns: u64, control: &Control, recorder: &mut Recorder) -> bool {
        let devices = self.pace.devices();
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

    fn close(mut self, stop_ns: u64, control: &Control, recorder: &mut Recorder) -> u64 {
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
        pending
    }
}

impl SensorStream {
    fn release(&mut self, now_ns: u64, recorder: &mut Recorder) -> bool {
        while let Some(&Start { number, at_ns }) = self.schedule.peek().filter(|s| s.at_ns <= now_ns) {
            while let Some(sensor) = self.sensors.get(self.next_sensor) {
                let device = u32::try_from(self.next_sensor).map_or(u32::MAX, |place| self.first_device + place);
                let grant = Grant { intended_ns: at_ns, number, device, devices: u32::MAX };
                if sensor.queued.load(Ordering::Relaxed) >= self.queue {
                    recorder.generate_points(at_ns, 1, 1);
                } else {
                    sensor.queued.fetch_add(1, Ordering::Relaxed);
                    match sensor.grants.try_send(grant) {
                        Ok(()) => recorder.generate_points(at_ns, 1, 0),
                        Err(TrySendError::Closed(_)) => return true,
                        Err(TrySendError::Full(_)) => {
                            sensor.queued.fetch_sub(1, Ordering::Relaxed);
                            return false;
                        }
                    }
                }
                self.next_sensor += 1;
            }
            self.next_sensor = 0;
            self.schedule.next();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        plan::{GroupPlan, Load, OperationPlan, Part, Payload},
        profile::Arrival,
        schedule::{OwnBlocks, Pattern},
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
            connections: 1,
            devices: None,
            part: Part::default(),
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
