//! The one thread that keeps the schedule of open loops and of sensors.
//!
//! It sleeps to absolute times on the monotonic clock with a timer slack of 1 ns, wakes at the next due time but at most
//! every 100 µs, and then releases every operation that is due, each with its own intended time. Channels are bounded: when
//! one is full, the schedule waits in the pacer, and the intended times stay what they were.

use crate::{
    clock::RunClock,
    control::{Control, Generation},
    mix::OperationMix,
    schedule::{Schedule, Start},
    slice::Outstanding,
};
use async_channel::{Receiver, Sender, TrySendError};
use iotbench_recorder::{Recorder, Window};
use std::collections::VecDeque;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU32, AtomicU64, Ordering},
};
use std::{thread::Thread, time::Duration};
use tokio::sync::Notify;

/// The shortest time between two wake-ups.
const COALESCE_NS: u64 = 100_000;
/// The longest: how late a change of the end is noticed.
const LONGEST_SLEEP_NS: u64 = 20_000_000;

/// An operation of an open loop, or a datapoint of a sensor, that has become due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// When it was intended, in nanoseconds since the run's start.
    pub intended_ns: u64,
    /// The operation's number, or the datapoint's position in its device's order.
    pub number: u64,
    /// The sensor; 0 for operations.
    pub device: u32,
}

/// Something the pacer keeps the schedule of.
#[derive(Debug)]
pub enum Stream {
    /// An open loop.
    Open(OpenStream),
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
    pub schedule: std::iter::Peekable<Schedule>,
    /// The schedule that other rates are made from.
    pub pace: Schedule,
    /// Its rate, where a ramp changes it; `None`: it stays what it was.
    pub ramped: Option<u32>,
    /// The intended times of what was granted last, as much of it as may still wait.
    pub granted_ns: VecDeque<u64>,
    /// To the loops that start them; any may take any.
    pub grants: Sender<Grant>,
    /// What is not taken at the end.
    pub leftover: Receiver<Grant>,
    /// Operations waiting or under way.
    pub outstanding: Arc<AtomicU32>,
    /// Above so many outstanding ones others are dropped.
    pub drop_above: Option<u32>,
}

/// The datapoints of sensors.
#[derive(Debug)]
pub struct SensorStream {
    /// The instants at which every sensor offers a datapoint.
    pub schedule: std::iter::Peekable<Schedule>,
    /// The sensor that is next to offer at the present instant.
    pub next_sensor: usize,
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

/// Wakes a closed loop when the next of its users is to start.
#[derive(Debug)]
pub struct Alarm {
    due_ns: AtomicU64,
    rung: Notify,
    pacer: Arc<PacerSleep>,
}

/// No user waits.
const NO_TIME: u64 = u64::MAX;

impl Alarm {
    /// An alarm that the pacer with this sleep rings.
    pub fn new(pacer: Arc<PacerSleep>) -> Self {
        Self { due_ns: AtomicU64::new(NO_TIME), rung: Notify::new(), pacer }
    }

    /// Waits until a time since the run's start; `None`: for ever.
    pub async fn wait_until(&self, ns: Option<u64>) {
        let due_ns = ns.unwrap_or(NO_TIME);
        self.due_ns.store(due_ns, Ordering::SeqCst);
        self.pacer.wake_before(due_ns);
        self.rung.notified().await;
    }

    /// Rings when it is time, and says when it will be.
    fn ring(&self, now_ns: u64) -> u64 {
        let due_ns = self.due_ns.load(Ordering::SeqCst);
        if due_ns > now_ns {
            return due_ns;
        }
        // A time that is set meanwhile must not be lost: then the loop is awake, and waits anew.
        if self.due_ns.compare_exchange(due_ns, NO_TIME, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            self.rung.notify_one();
        }
        NO_TIME
    }
}

/// Until when the pacer sleeps.
#[derive(Debug, Default)]
pub struct PacerSleep {
    until_ns: AtomicU64,
    thread: OnceLock<Thread>,
}

impl PacerSleep {
    /// Wakes the pacer if it would sleep past this time.
    fn wake_before(&self, ns: u64) {
        if let Some(thread) = self.thread.get().filter(|_| ns < self.until_ns.load(Ordering::SeqCst)) {
            thread.unpark();
        }
    }

    /// Sleeps until a time since the run's start, or until woken. Parking waits for an absolute time on the monotonic
    /// clock, as `clock_nanosleep` does, and can be ended.
    fn sleep_until(&self, clock: RunClock, ns: u64) {
        let wait_ns = ns.saturating_sub(clock.now_ns());
        if wait_ns > 0 {
            std::thread::park_timeout(Duration::from_nanos(wait_ns));
        }
    }
}

/// What the pacer keeps.
#[derive(Debug, Default)]
pub struct Pace {
    /// Schedules.
    pub streams: Vec<Stream>,
    /// Closed loops to wake.
    pub alarms: Vec<Arc<Alarm>>,
    /// Loops whose operations pause, to wake as long as they last.
    pub pauses: Vec<Arc<Alarm>>,
    /// Where it sleeps.
    pub sleep: Arc<PacerSleep>,
}

/// What the pacer tells the control thread.
#[derive(Debug, Default)]
pub struct Handover {
    /// The generation of its windows.
    pub generation: u32,
    /// What was offered and dropped.
    pub windows: Vec<Window>,
    /// At the end of a generation: what was due and not taken.
    pub waiting: Option<Outstanding>,
    /// At the end of the run: operations that were due and never taken.
    pub pending: u64,
}

impl Pace {
    /// An alarm for the pauses of one more loop.
    pub fn new_pauses(&mut self) -> Arc<Alarm> {
        let alarm = Arc::new(Alarm::new(Arc::clone(&self.sleep)));
        self.pauses.push(Arc::clone(&alarm));
        alarm
    }
}

/// Keeps the schedules until the run's end.
pub fn run(clock: RunClock, control: &Control, pace: Pace, mut recorder: Recorder, mut send: impl FnMut(Handover)) {
    // A failure means only that the kernel's usual slack of 50 µs stays: the pacing error shows it.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let Pace { mut streams, alarms, pauses, sleep } = pace;
    let _ = sleep.thread.set(std::thread::current());
    let mut generation = Generation { number: 0, start_ns: 0 };
    let mut settling = false;
    loop {
        let now_ns = clock.now_ns();
        let current = control.generation();
        if current != generation && now_ns >= current.start_ns {
            let windows = recorder.begin_phase(current.start_ns);
            let waiting = streams.iter().map(|s| s.waiting(now_ns)).fold(Outstanding::default(), Outstanding::plus);
            send(Handover { generation: generation.number, windows, waiting: Some(waiting), pending: 0 });
            generation = current;
            settling = true;
            control.inform(current.number);
        }
        let stop_ns = control.stops_at_ns();
        let mut blocked = false;
        for stream in &mut streams {
            blocked |= !stream.release(now_ns.min(stop_ns.saturating_sub(1)), control, &mut recorder);
        }
        streams.iter_mut().for_each(|s| s.follow_rate(control.rate(), now_ns));
        if settling && streams.iter().all(Stream::is_settled) {
            settling = false;
            control.settle(generation.number);
        }
        let spent = control.is_spent() && streams.iter().all(Stream::is_taken);
        let finished = now_ns >= stop_ns || spent || control.abandoned();
        if finished {
            break;
        }
        send(Handover { generation: generation.number, windows: recorder.take_windows(now_ns), ..Handover::default() });
        let schedule_ns = streams.iter_mut().filter_map(Stream::next_ns).min().unwrap_or(NO_TIME);
        let earliest_ns = now_ns + if blocked { 10 * COALESCE_NS } else { COALESCE_NS };
        let latest_ns = stop_ns.min(now_ns + LONGEST_SLEEP_NS);
        // Said before the alarms are looked at, so that one set afterwards finds it and wakes the pacer.
        sleep.until_ns.store(schedule_ns.max(earliest_ns).min(latest_ns), Ordering::SeqCst);
        let alarm_ns = alarms.iter().chain(&pauses).map(|a| a.ring(now_ns)).min().unwrap_or(NO_TIME);
        sleep.sleep_until(clock, schedule_ns.min(alarm_ns).max(earliest_ns).min(latest_ns));
    }
    let stop_ns = control.stops_at_ns().min(clock.now_ns());
    let pending = streams.into_iter().map(|s| s.close(stop_ns, control, &mut recorder)).sum();
    send(Handover { generation: generation.number, windows: recorder.finish(), waiting: None, pending });
    ring_to_the_end(clock, &sleep, &pauses);
}

/// What has started goes on after the schedules have ended, and so do its pauses.
fn ring_to_the_end(clock: RunClock, sleep: &PacerSleep, pauses: &[Arc<Alarm>]) {
    while pauses.iter().any(|alarm| Arc::strong_count(alarm) > 1) {
        let now_ns = clock.now_ns();
        let latest_ns = now_ns + LONGEST_SLEEP_NS;
        sleep.until_ns.store(latest_ns, Ordering::SeqCst);
        let alarm_ns = pauses.iter().map(|a| a.ring(now_ns)).min().unwrap_or(NO_TIME);
        sleep.sleep_until(clock, alarm_ns.max(now_ns + COALESCE_NS).min(latest_ns));
    }
}

impl Stream {
    /// Whether everything that was released has been taken.
    fn is_taken(&self) -> bool {
        match self {
            Self::Open(stream) => stream.grants.is_empty(),
            Self::Sensors(stream) => stream.sensors.iter().all(|s| s.grants.is_empty()),
        }
    }

    /// Whether nothing is left of an open loop whose rate a ramp has set to 0; what has no such rate never waits.
    fn is_settled(&self) -> bool {
        match self {
            Self::Open(stream) => {
                stream.ramped.is_none_or(|rate| rate == 0 && stream.outstanding.load(Ordering::Relaxed) == 0)
            }
            Self::Sensors(_) => true,
        }
    }

    /// What is due and not taken.
    fn waiting(&self, now_ns: u64) -> Outstanding {
        match self {
            Self::Open(stream) => stream.waiting(now_ns),
            Self::Sensors(_) => Outstanding::default(),
        }
    }

    fn follow_rate(&mut self, rate: u32, now_ns: u64) {
        if let Self::Open(stream) = self {
            stream.follow_rate(rate, now_ns);
        }
    }

    fn next_ns(&mut self) -> Option<u64> {
        match self {
            Self::Open(stream) => stream.next_start().map(|s| s.at_ns),
            Self::Sensors(stream) => stream.schedule.peek().map(|s| s.at_ns),
        }
    }

    /// Releases what is due by `now_ns`; false when a channel is full.
    fn release(&mut self, now_ns: u64, control: &Control, recorder: &mut Recorder) -> bool {
        match self {
            Self::Open(stream) => stream.release(now_ns, control, recorder),
            Self::Sensors(stream) => stream.release(now_ns, recorder),
        }
    }

    /// Ends the stream; returns how many operations were due and never taken.
    fn close(self, stop_ns: u64, control: &Control, recorder: &mut Recorder) -> u64 {
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

    /// Takes another rate as soon as all that is due has been released.
    fn follow_rate(&mut self, rate: u32, now_ns: u64) {
        let Some(present) = self.ramped.filter(|&present| present != rate) else { return };
        let Some(&next) = self.schedule.peek() else { return };
        if present > 0 && next.at_ns <= now_ns {
            return;
        }
        self.ramped = Some(rate);
        if rate > 0 {
            self.schedule = self.pace.clone().with_rate(f64::from(rate), next.number, now_ns).peekable();
        }
    }

    fn waiting(&self, now_ns: u64) -> Outstanding {
        let granted = self.granted_ns.iter().rev().take(self.grants.len()).copied();
        let due = self.schedule.clone().map(|s| s.at_ns).take_while(|&at_ns| at_ns <= now_ns);
        let due = due.take(if self.ramped == Some(0) { 0 } else { usize::MAX });
        granted.chain(due).fold(Outstanding::default(), |sum, at_ns| {
            sum.plus(Outstanding { operations: 1, waited_ns: u128::from(now_ns.saturating_sub(at_ns)) })
        })
    }

    fn kind(&self, number: u64) -> usize {
        self.first_kind + self.operations.pick(0, number)
    }

    fn release(&mut self, now_ns: u64, control: &Control, recorder: &mut Recorder) -> bool {
        while let Some(Start { number, at_ns }) = self.next_start().filter(|s| s.at_ns <= now_ns) {
            let full = self.drop_above.is_some_and(|most| self.outstanding.load(Ordering::Relaxed) >= most);
            if !full && self.grants.is_full() {
                return false;
            }
            if !control.spend_operation(at_ns) {
                return true;
            }
            self.schedule.next();
            let kind = self.kind(number);
            recorder.offer(kind, at_ns, 1);
            if full {
                recorder.drop_operation(kind, at_ns, now_ns.max(at_ns));
                continue;
            }
            self.outstanding.fetch_add(1, Ordering::Relaxed);
            // Only the pacer sends, so there is still room; a closed channel means that the run is over.
            let _ = self.grants.try_send(Grant { intended_ns: at_ns, number, device: 0 });
            self.remember(at_ns);
        }
        true
    }

    /// Keeps as many intended times as grants may wait.
    fn remember(&mut self, at_ns: u64) {
        if self.grants.capacity().is_some_and(|most| self.granted_ns.len() >= most) {
            self.granted_ns.pop_front();
        }
        self.granted_ns.push_back(at_ns);
    }

    fn close(mut self, stop_ns: u64, control: &Control, recorder: &mut Recorder) -> u64 {
        let mut pending = 0;
        self.grants.close();
        while let Ok(grant) = self.leftover.try_recv() {
            recorder.leave_pending(self.kind(grant.number), grant.intended_ns, stop_ns);
            pending += 1;
        }
        while self.next_start().is_some_and(|s| s.at_ns < stop_ns && control.spend_operation(s.at_ns)) {
            let Some(start) = self.schedule.next() else { break };
            let kind = self.kind(start.number);
            recorder.offer(kind, start.at_ns, 1);
            recorder.leave_pending(kind, start.at_ns, stop_ns);
            pending += 1;
        }
        pending
    }
}

impl SensorStream {
    fn release(&mut self, now_ns: u64, recorder: &mut Recorder) -> bool {
        while let Some(&Start { number, at_ns }) = self.schedule.peek().filter(|s| s.at_ns <= now_ns) {
            while let Some(sensor) = self.sensors.get(self.next_sensor) {
                let device = u32::try_from(self.next_sensor).unwrap_or(u32::MAX);
                let grant = Grant { intended_ns: at_ns, number, device };
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
