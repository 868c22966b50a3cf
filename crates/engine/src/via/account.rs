//! What became of a way's messages, counted by all who have to do with them.

use iotbench_core::{CarrierFacts, Error};
use iotbench_recorder::LatencyHistogram;
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

/// What was carried in a run, and what became of it.
///
/// published = delivered + lost messages; received = delivered + duplicates + too late.
#[derive(Clone, Debug, Default)]
pub struct Carried {
    /// What carried it; `None`: nothing was begun.
    pub facts: Option<CarrierFacts>,
    /// Messages that devices handed over.
    pub published: u64,
    /// Datapoints of these.
    pub published_points: u64,
    /// Messages that the carrier acknowledged to its publisher; `None`: it acknowledges none.
    pub acknowledged: Option<u64>,
    /// Messages that a writer got, each counted once.
    pub delivered: u64,
    /// Datapoints of these.
    pub delivered_points: u64,
    /// Messages that came again, and were not written again.
    pub duplicates: u64,
    /// Delivered messages that came after a later one of their device.
    pub reordered: u64,
    /// Messages so far behind that they could be duplicates: not written.
    pub too_late: u64,
    /// Messages that were none of the run's.
    pub foreign: u64,
    /// Messages that devices could not hand over at once.
    pub held_back: u64,
    /// How long they waited together, in nanoseconds.
    pub held_back_ns: u64,
    /// Messages that could not be handed to a writer at once, because as many waited as may.
    pub backlogged: u64,
    /// How long they waited together, in nanoseconds.
    pub backlogged_ns: u64,
    /// Messages that the carrier says it has dropped in the run; `None`: it does not say.
    pub dropped_by_carrier: Option<u64>,
    /// Those of the messages whose operations were intended in the measured part.
    pub measured: Messages,
    /// Those of sensors, whose operations nobody has offered before they are delivered.
    pub of_sensors: Messages,
    /// Those of sensors that were intended in the measured part.
    pub of_sensors_measured: Messages,
    /// How long messages of the measured part took.
    pub stages: Stages,
}

/// Some of a run's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Those that devices handed over.
    pub published: u64,
    /// Those of them that a writer got.
    pub delivered: u64,
}

impl Messages {
    /// Those of them that no writer got.
    #[must_use]
    pub fn lost(self) -> u64 {
        self.published.saturating_sub(self.delivered)
    }
}

impl Carried {
    /// Messages that were handed over and never delivered.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.published.saturating_sub(self.delivered)
    }

    /// Datapoints of these.
    #[must_use]
    pub fn lost_points(&self) -> u64 {
        self.published_points.saturating_sub(self.delivered_points)
    }

    /// Messages that the carrier acknowledged and did not deliver: at least so many, because which ones it acknowledged is
    /// not kept.
    #[must_use]
    pub fn acknowledged_and_lost(&self) -> u64 {
        self.acknowledged.map_or(0, |acknowledged| acknowledged.saturating_sub(self.delivered))
    }
}

/// How long messages of the measured part took, stage by stage: publish, broker and queue are from the intended start to the
/// send to the database, without a gap.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    /// From the intended start of an operation until its device handed it over.
    pub publish: LatencyHistogram,
    /// From there until it was received.
    pub broker: LatencyHistogram,
    /// From there until a writer had a free connection for it.
    pub queue: LatencyHistogram,
    /// From the handing over until the carrier's acknowledgement to the device: beside the others, no stage.
    pub acknowledgement: LatencyHistogram,
}

impl Stages {
    /// Adds those of another part.
    pub fn merge(&mut self, other: &Self) {
        self.publish.merge(&other.publish);
        self.broker.merge(&other.broker);
        self.queue.merge(&other.queue);
        self.acknowledgement.merge(&other.acknowledgement);
    }
}

/// The account of a run's ways while it goes on.
#[derive(Debug)]
pub(crate) struct Account {
    /// The part whose latencies count.
    from_ns: u64,
    to_ns: u64,
    devices: AtomicU64,
    failed: AtomicBool,
    cut_short: AtomicBool,
    /// Why, if it has.
    failure: Mutex<Option<Error>>,
    published: AtomicU64,
    delivered: AtomicU64,
    carried: Mutex<Carried>,
}

impl Account {
    /// Of a run whose measured part is this, with so many groups that publish.
    pub(crate) fn new(from_ns: u64, to_ns: u64, groups: usize) -> Self {
        Self {
            from_ns,
            to_ns,
            devices: AtomicU64::new(groups as u64),
            failed: AtomicBool::new(false),
            cut_short: AtomicBool::new(false),
            failure: Mutex::default(),
            published: AtomicU64::new(0),
            delivered: AtomicU64::new(0),
            carried: Mutex::default(),
        }
    }

    /// Whether an operation is of the measured part.
    pub(crate) fn is_measured(&self, intended_ns: u64) -> bool {
        (self.from_ns..self.to_ns).contains(&intended_ns)
    }

    /// A message is about to be handed over.
    pub(crate) fn publishes(&self) {
        self.published.fetch_add(1, Ordering::Relaxed);
    }

    /// A message was handed to a writer.
    pub(crate) fn delivers(&self) {
        self.delivered.fetch_add(1, Ordering::Relaxed);
    }

    /// The devices of a group have published all that they will.
    pub(crate) fn end_devices(&self) {
        self.devices.fetch_sub(1, Ordering::Release);
    }

    /// Whether nothing more will be published.
    pub(crate) fn devices_have_ended(&self) -> bool {
        self.devices.load(Ordering::Acquire) == 0
    }

    /// The carrier is gone; the first reason stands.
    pub(crate) fn fail(&self, error: Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.failed.store(true, Ordering::Release);
    }

    /// Why the carrier is gone, if it is.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the carrier is gone.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// The run did not wait for what was still to come.
    pub(crate) fn cut_short(&self) {
        self.cut_short.store(true, Ordering::Relaxed);
    }

    /// Whether it did not.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.cut_short.load(Ordering::Relaxed)
    }

    /// Whether every message has come that was published, once nothing more will be.
    pub(crate) fn is_complete(&self) -> bool {
        self.delivered.load(Ordering::Relaxed) == self.published.load(Ordering::Relaxed)
    }

    /// Adds a part's figures: at the end of a thread or a source, never on an operation's way.
    pub(crate) fn add(&self, change: impl FnOnce(&mut Carried)) {
        change(&mut self.carried());
    }

    /// What was carried, when all have added their part.
    pub(crate) fn finish(&self) -> Carried {
        self.carried().clone()
    }

    fn carried(&self) -> MutexGuard<'_, Carried> {
        self.carried.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
