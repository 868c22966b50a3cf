//! Samples many subjects on one thread, on absolute ticks of the caller's clock.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::probe::{DEFAULT_CPU_SHARE, Target};
use crate::probe_error::ProbeError;
use crate::sample::Sample;
use crate::sampling_thread::{Order, Run, Watched, root};
use crate::summary::Summary;

/// Orders waiting for the thread. More than one is rare.
const ORDERS: usize = 8;

/// Something to sample, under the caller's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// What it is to the caller, for example `server` or `client`.
    pub role: String,
    /// Which of several of that role.
    pub node: u32,
    /// What to measure.
    pub target: Target,
}

/// What one tick saw of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The subject's role.
    pub role: Arc<str>,
    /// The subject's node.
    pub node: u32,
    /// What was seen.
    pub observation: Observation,
}

impl Reading {
    /// Of a subject that no tick has seen yet.
    #[must_use]
    pub fn before_first_tick(subject: &Subject) -> Self {
        let observation = Observation::Unreadable("not looked at yet".into());
        Self { role: subject.role.as_str().into(), node: subject.node, observation }
    }
}

/// A subject at one instant.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is one a second and subject, and most are samples")]
pub enum Observation {
    /// It could be read.
    Sampled(Sample),
    /// It ended: all its processes, or its cgroup.
    Gone,
    /// The system refused, for this reason; the next tick tries again.
    Unreadable(String),
}

/// What [`Sampler::stop`] returns.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplerReport {
    /// One summary per subject, in the order given.
    pub subjects: Vec<Summary>,
    /// CPU time of the sampling thread, the caller's callback included.
    pub own_cpu_s: f64,
    /// The same in percent of one core since the start.
    pub own_cpu_pct: f64,
    /// Ticks taken.
    pub samples: u64,
    /// Ticks skipped because the one before took too long.
    pub missed: u64,
}

/// Why sampling could not start.
#[derive(Debug, thiserror::Error)]
pub enum SamplerError {
    /// The interval is zero.
    #[error("the sampling interval is zero: give it a length, such as one second")]
    ZeroInterval,
    /// A subject cannot be measured.
    #[error("cannot sample {role} {node}: {source}")]
    Subject {
        /// Its role.
        role: String,
        /// Its node.
        node: u32,
        /// Why.
        source: ProbeError,
    },
    /// The system gave no thread.
    #[error("cannot start the sampling thread: {0}")]
    Thread(std::io::Error),
}

/// A running sampler. Dropping it stops the thread and discards the report.
#[derive(Debug)]
pub struct Sampler {
    orders: SyncSender<Order>,
    thread: Option<JoinHandle<SamplerReport>>,
}

impl Sampler {
    /// Starts sampling: once at once, then at each whole multiple of `interval` since `epoch`. `on_tick` is called on
    /// the sampling thread with the readings of each tick, in the order of `subjects`; it should not block. A process tree
    /// below another one counts for itself only: a server that the client has started is not in the client's figures, nor is a
    /// process between the two, which starts the server, waits for it, and is charged with all it has used when it ends.
    ///
    /// # Errors
    /// A subject that does not exist now. One that ends later is reported as gone and disturbs no other.
    pub fn start(
        epoch: Instant,
        interval: Duration,
        subjects: Vec<Subject>,
        on_tick: impl FnMut(&[Reading]) + Send + 'static,
    ) -> Result<Self, SamplerError> {
        if interval.is_zero() {
            return Err(SamplerError::ZeroInterval);
        }
        let count = u32::try_from(subjects.len().max(1)).unwrap_or(u32::MAX);
        let share = DEFAULT_CPU_SHARE / f64::from(count);
        let roots: Vec<i32> = subjects.iter().filter_map(root).collect();
        let watched = subjects.into_iter().map(|subject| Watched::new(subject, share, &roots));
        let watched = watched.collect::<Result<_, _>>()?;
        let (orders, received) = sync_channel(ORDERS);
        let run = Run::new(epoch, interval, watched);
        let thread = std::thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || run.until_stopped(&received, on_tick))
            .map_err(SamplerError::Thread)?;
        Ok(Self { orders, thread: Some(thread) })
    }

    /// Restarts the summaries with a sample taken now, for example at the end of a warm-up. Returns at once. `at`: when the window
    /// began, since the epoch; where the sample comes much later ([`Summary::is_part`]), what was used is not told.
    pub fn begin_window(&self, at: Duration) {
        self.order(Order::BeginWindow(at));
    }

    /// Closes the summaries with a sample taken now. Ticks go on. Returns at once. `at`: when the window ended, since the epoch.
    pub fn end_window(&self, at: Duration) {
        self.order(Order::EndWindow(at));
    }

    /// The summaries of the window as it is, in the order of the subjects; none if the thread has ended.
    #[must_use]
    pub fn window(&self) -> Vec<Summary> {
        let (tell, told) = sync_channel(1);
        self.order(Order::Tell(tell));
        told.recv().unwrap_or_default()
    }

    /// What the window left to be written has been written ([`WriteBack`](crate::WriteBack)), as far as it was waited for:
    /// the devices' counters are read once more. Returns at once.
    pub fn written_back(&self) {
        self.order(Order::WrittenBack);
    }

    /// From now on a subject is this process with its descendants: it was started in the place of the one before, whose use
    /// stays in the figures. Returns at once. Subjects that are no process trees, and processes that have ended again, change
    /// nothing.
    pub fn follow(&self, role: &str, node: u32, pid: i32) {
        self.order(Order::Follow { role: role.to_owned(), node, pid });
    }

    /// Takes a last sample if the window is open, ends the thread and returns the summaries: of the last window, or
    /// of the whole time if none was begun.
    ///
    /// # Panics
    /// If the callback panicked, with its message.
    pub fn stop(mut self) -> SamplerReport {
        self.order(Order::Stop);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(report)) => report,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => unreachable!("only stop and drop take the thread, and both end the sampler"),
        }
    }

    fn order(&self, order: Order) {
        // The thread is only gone if the callback panicked; stop() tells.
        let _ = self.orders.send(order);
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.order(Order::Stop);
            let _ = thread.join();
        }
    }
}
