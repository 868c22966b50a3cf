//! The thread of a sampler: a tick is a reading of each subject, at each whole multiple of the interval; orders come between.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use crate::cpu_credit::thread_cpu_s;
use crate::probe::{Probe, Target};
use crate::probe_error::ProbeError;
use crate::sampler::{Observation, Reading, SamplerError, SamplerReport, Subject};
use crate::summary::{Accumulator, Summary};

/// Connections that end are taken so often where there are many.
const FOLLOW: Duration = Duration::from_millis(50);

/// What the thread is asked to do between two ticks.
#[derive(Debug)]
pub(crate) enum Order {
    BeginWindow(Duration),
    EndWindow(Duration),
    WrittenBack,
    Tell(SyncSender<Vec<Summary>>),
    Follow { role: String, node: u32, pid: i32 },
    Stop,
}

/// A subject with its probe and its running summary.
#[derive(Debug)]
pub(crate) struct Watched {
    role: Arc<str>,
    node: u32,
    probe: Probe,
    accumulator: Accumulator,
    gone_at: Option<Duration>,
}

pub(crate) fn root(subject: &Subject) -> Option<i32> {
    match subject.target {
        Target::ProcessTree { pid } => Some(pid),
        Target::Cgroup { .. } | Target::Host | Target::Remote(_) => None,
    }
}

/// A probe of the target without the trees of the other roots.
fn probe(target: &Target, roots: &[i32]) -> Result<Probe, ProbeError> {
    let others = roots.iter().filter(|&&pid| *target != Target::ProcessTree { pid });
    others.copied().try_fold(Probe::new(target)?, Probe::without)
}

impl Watched {
    pub(crate) fn new(subject: Subject, share: f64, roots: &[i32]) -> Result<Self, SamplerError> {
        let Subject { role, node, target } = subject;
        match probe(&target, roots) {
            Ok(probe) => Ok(Self {
                role: role.into(),
                node,
                probe: probe.with_cpu_share(share).beside(roots),
                accumulator: Accumulator::default(),
                gone_at: None,
            }),
            Err(source) => Err(SamplerError::Subject { role, node, source }),
        }
    }

    fn observe(&mut self, at: Duration) -> Observation {
        if self.gone_at.is_some() {
            return Observation::Gone;
        }
        match self.probe.sample(at) {
            Ok(sample) => Observation::Sampled(sample),
            Err(ProbeError::Gone) => {
                self.gone_at = Some(at);
                Observation::Gone
            }
            Err(error) => Observation::Unreadable(error.to_string()),
        }
    }

    fn follow(&mut self, pid: i32) {
        if self.probe.follow(pid).is_ok() {
            self.gone_at = None;
        }
    }

    /// Of a window with these ends, as far as they are known; `now`: that of one that is open.
    fn summary(&self, from: Option<Duration>, to: Option<Duration>, now: Duration) -> Summary {
        let summary = self.accumulator.summary(Arc::clone(&self.role), self.node, self.probe.method(), self.gone_at);
        if self.probe.is_elsewhere() {
            let summary = Summary { elsewhere: true, ..summary };
            let covers = summary.covers(from.unwrap_or_default(), to.or(Some(now)));
            return if covers { summary } else { summary.without_differences() };
        }
        match from.zip(to) {
            Some((from, to)) if !summary.fits(from, to) => Summary { is_part: true, ..summary.without_differences() },
            _ => summary,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Window {
    Open,
    Closed,
}

/// The thread's state.
#[derive(Debug)]
pub(crate) struct Run {
    epoch: Instant,
    interval: Duration,
    watched: Vec<Watched>,
    readings: Vec<Reading>,
    window: Window,
    /// When the window began, and ended; none was begun yet.
    from: Option<Duration>,
    to: Option<Duration>,
    samples: u64,
    missed: u64,
}

impl Run {
    pub(crate) fn new(epoch: Instant, interval: Duration, watched: Vec<Watched>) -> Self {
        Self {
            epoch,
            interval,
            watched,
            readings: Vec::new(),
            window: Window::Open,
            from: None,
            to: None,
            samples: 0,
            missed: 0,
        }
    }

    pub(crate) fn until_stopped(
        mut self,
        orders: &Receiver<Order>,
        mut on_tick: impl FnMut(&[Reading]),
    ) -> SamplerReport {
        let started = Instant::now();
        let mut tick: Option<u128> = None;
        loop {
            self.read();
            self.samples += 1;
            on_tick(&self.readings);
            let now = Instant::now();
            let now_tick = self.ticks_until(now);
            let next = self.next_tick(now);
            self.missed += tick.map_or(0, |due| u64::try_from(now_tick.saturating_sub(due)).unwrap_or(u64::MAX));
            tick = Some(next);
            if !self.obey_until(self.instant_of(next), orders) {
                break;
            }
        }
        self.report(started)
    }

    /// Carries out orders until the next tick is due; false when told to stop.
    fn obey_until(&mut self, due: Instant, orders: &Receiver<Order>) -> bool {
        loop {
            let left = due.saturating_duration_since(Instant::now());
            let wait = if self.follow_connections() { left.min(FOLLOW) } else { left };
            match orders.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) if wait < left => {}
                Err(RecvTimeoutError::Timeout) => return true,
                Ok(Order::BeginWindow(at)) => {
                    for watched in &mut self.watched {
                        // A first sample that was taken when the window began is its beginning, however late this order is.
                        if self.from.is_some() || !watched.accumulator.has_just_begun(at) {
                            watched.accumulator = Accumulator::default();
                        }
                    }
                    self.window = Window::Open;
                    (self.from, self.to) = (Some(at), None);
                    self.read_exactly();
                }
                Ok(Order::EndWindow(at)) => {
                    self.read_exactly();
                    self.window = Window::Closed;
                    self.to = Some(at);
                }
                Ok(Order::WrittenBack) => {
                    self.read();
                    for (watched, reading) in self.watched.iter_mut().zip(&self.readings) {
                        if let Observation::Sampled(sample) = &reading.observation {
                            watched.accumulator.written_back(sample);
                        }
                    }
                }
                Ok(Order::Tell(tell)) => {
                    // Who does not wait for it any more does not want it.
                    let _ = tell.send(self.summaries());
                }
                Ok(Order::Follow { role, node, pid }) => {
                    let found = self.watched.iter_mut().find(|watched| *watched.role == *role && watched.node == node);
                    found.into_iter().for_each(|watched| watched.follow(pid));
                    let hosts = self.watched.iter_mut().filter(|watched| watched.probe.is_host());
                    hosts.for_each(|watched| watched.follow(pid));
                }
                Ok(Order::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    if self.window == Window::Open {
                        self.read_exactly();
                    }
                    return false;
                }
            }
        }
    }

    /// Whether any subject has connections that end so often that they are to be followed.
    fn follow_connections(&mut self) -> bool {
        // Each is followed, also after the first.
        let many = self.watched.iter_mut().filter_map(|watched| watched.probe.follow_connections().then_some(()));
        many.count() > 0
    }

    /// Reads at the beginning and at the end of a window.
    fn read_exactly(&mut self) {
        self.watched.iter_mut().for_each(|watched| watched.probe.be_exact());
        self.read();
    }

    /// Reads all subjects into `readings`, and into the summaries while the window is open.
    fn read(&mut self) {
        self.readings.clear();
        for watched in &mut self.watched {
            let observation = watched.observe(self.epoch.elapsed());
            if let (Observation::Sampled(sample), Window::Open) = (&observation, self.window) {
                watched.accumulator.add(sample);
            }
            self.readings.push(Reading { role: Arc::clone(&watched.role), node: watched.node, observation });
        }
    }

    /// Before the epoch it is that of the epoch itself.
    fn next_tick(&self, now: Instant) -> u128 {
        if now < self.epoch { 0 } else { self.ticks_until(now) + 1 }
    }

    fn ticks_until(&self, instant: Instant) -> u128 {
        instant.saturating_duration_since(self.epoch).as_nanos() / self.interval.as_nanos()
    }

    fn instant_of(&self, tick: u128) -> Instant {
        let since_epoch_ns = tick.saturating_mul(self.interval.as_nanos());
        self.epoch + Duration::from_nanos(u64::try_from(since_epoch_ns).unwrap_or(u64::MAX))
    }

    fn summaries(&self) -> Vec<Summary> {
        let now = self.epoch.elapsed();
        self.watched.iter().map(|watched| watched.summary(self.from, self.to, now)).collect()
    }

    fn report(self, started: Instant) -> SamplerReport {
        let own_cpu_s = thread_cpu_s();
        SamplerReport {
            subjects: self.summaries(),
            own_cpu_s,
            own_cpu_pct: own_cpu_s / started.elapsed().as_secs_f64() * 100.0,
            samples: self.samples,
            missed: self.missed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(interval: Duration) -> Run {
        Run::new(Instant::now(), interval, Vec::new())
    }

    #[test]
    fn ticks_are_multiples_of_the_interval_since_the_epoch() {
        let run = run(Duration::from_millis(250));
        let at = |ms| run.epoch + Duration::from_millis(ms);
        assert_eq!((run.ticks_until(at(0)), run.ticks_until(at(249)), run.ticks_until(at(250))), (0, 0, 1));
        assert_eq!(run.instant_of(5), at(1250));
        assert_eq!(run.ticks_until(run.epoch - Duration::from_secs(1)), 0);
        let next = |now| run.next_tick(now);
        assert_eq!(
            (next(run.epoch - Duration::from_nanos(1)), next(at(0)), next(at(249)), next(at(250))),
            (0, 1, 1, 2)
        );
    }
}
