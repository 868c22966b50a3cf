//! The one thread that keeps the schedule of open loops and of sensors.
//!
//! It sleeps to absolute times on the monotonic clock with a timer slack of 1 ns, wakes at the next due time but at most
//! every 100 µs, and then releases every operation that is due, each with its own intended time. Channels are bounded: when
//! one is full, the schedule waits in the pacer, and the intended times stay what they were.

mod grant;
mod open_stream;
mod returns;
mod sensor_stream;
mod stream;

pub use grant::Grant;
pub use open_stream::{OpenStream, Waiting};
pub use returns::{GoOn, Returns, returns};
pub use sensor_stream::{Sensor, SensorStream};
pub use stream::Stream;

use crate::{
    clock::RunClock,
    control::{Control, Generation},
};
use iotbench_recorder::{Recorder, Window};
use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    thread::Thread,
    time::Duration,
};
use tokio::sync::Notify;

/// The shortest time between two wake-ups.
const COALESCE_NS: u64 = 100_000;
/// The longest: how late a change of the end is noticed.
const LONGEST_SLEEP_NS: u64 = 20_000_000;

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
    /// At the end of a generation: operations that were due in it and are not offered yet.
    pub unoffered: u64,
    /// What became after its end of the operations that were due in it.
    pub late: Option<Window>,
    /// Operations that were due and never taken, when a ramp's step or the run had ended.
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
    let (mut previous, mut settling) = (0, false);
    loop {
        let now_ns = clock.now_ns();
        // First, so that a window that ends with a step counts in that step.
        streams.iter_mut().for_each(|s| s.watch_window(now_ns, control));
        let current = control.generation();
        if current != generation && now_ns >= current.start_ns {
            let windows = recorder.begin_phase(current.start_ns);
            let unoffered = streams.iter().map(|s| s.unoffered(current.start_ns)).sum();
            send(Handover { generation: generation.number, windows, unoffered, ..Handover::default() });
            previous = generation.number;
            generation = current;
            settling = true;
            control.inform(current.number);
        }
        let stop_ns = control.stops_at_ns();
        let mut blocked = false;
        for stream in &mut streams {
            blocked |= !stream.release(now_ns.min(stop_ns.saturating_sub(1)), control, &mut recorder);
        }
        let abandoned: u64 =
            streams.iter_mut().map(|s| s.follow_load(control.load(), now_ns, control, &mut recorder)).sum();
        if let Some(late) = recorder.take_late() {
            send(Handover { generation: previous, late: Some(late), ..Handover::default() });
        }
        if settling && streams.iter().all(Stream::is_settled) {
            settling = false;
            control.settle(generation.number);
        }
        // There may be many sensors: they are looked through only when the end has come.
        let is_taken = || streams.iter().all(Stream::is_taken);
        let has_stopped = now_ns >= stop_ns;
        // What was due before the end still starts, as long as the drain lasts.
        let is_served = || control.leaves_queue() || (!blocked && is_taken());
        if control.abandoned() || (control.is_spent() && is_taken()) || (has_stopped && is_served()) {
            break;
        }
        let windows = recorder.take_windows(now_ns);
        send(Handover { generation: generation.number, windows, pending: abandoned, ..Handover::default() });
        let schedule_ns = streams.iter_mut().filter_map(Stream::next_ns).min().unwrap_or(NO_TIME);
        let earliest_ns = now_ns + if blocked { 10 * COALESCE_NS } else { COALESCE_NS };
        let latest_ns = if has_stopped { earliest_ns } else { stop_ns.min(now_ns + LONGEST_SLEEP_NS) };
        // Said before the alarms are looked at, so that one set afterwards finds it and wakes the pacer.
        sleep.until_ns.store(schedule_ns.max(earliest_ns).min(latest_ns), Ordering::SeqCst);
        let alarm_ns = alarms.iter().chain(&pauses).map(|a| a.ring(now_ns)).min().unwrap_or(NO_TIME);
        // As the alarms: a session that went on meanwhile has not woken the pacer.
        let return_ns = streams.iter_mut().filter_map(Stream::next_return_ns).min().unwrap_or(NO_TIME);
        sleep.sleep_until(clock, schedule_ns.min(alarm_ns).min(return_ns).max(earliest_ns).min(latest_ns));
    }
    let stop_ns = control.stops_at_ns().min(clock.now_ns());
    let pending = streams.into_iter().map(|s| s.close(stop_ns, control, &mut recorder)).sum();
    let late = recorder.take_late();
    send(Handover { generation: previous, late, ..Handover::default() });
    send(Handover { generation: generation.number, windows: recorder.finish(), pending, ..Handover::default() });
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
