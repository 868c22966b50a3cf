//! All that is known of the operations of an interval.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::bounded::Bounded;
use crate::by_outcome::ByOutcome;
use crate::conservation::LoadCounts;
use crate::error_tally::ErrorTally;
use crate::histogram::LatencyHistogram;
use crate::jitter::Jitter;
use crate::latency::{Latency, Timing};
use crate::outcome::Outcome;

/// How many requests an operation of a kind sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requests {
    /// Exactly one: the operation's figures are the request's, and are recorded once.
    One,
    /// Any number: requests have histograms of their own.
    Many,
    /// Any number with pauses between them: besides, the busy time of operations has a histogram.
    Paused,
}

/// A kind of operation, such as "write" or "read_single". Kinds are fixed when a recorder is made and are then told apart
/// by their index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationKind {
    /// Its name in the results.
    pub name: String,
    /// How many requests one operation sends.
    pub requests: Requests,
}

/// The operations of one kind.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KindRecording {
    load: LoadCounts,
    operations: ByOutcome,
    pub(crate) requests: Option<ByOutcome>,
    pub(crate) busy: Option<Box<LatencyHistogram>>,
    never_started: Option<Box<LatencyHistogram>>,
    jitter: Jitter,
}

impl KindRecording {
    fn new(requests: Requests) -> Self {
        let (requests, busy) = match requests {
            Requests::One => (None, None),
            Requests::Many => (Some(ByOutcome::default()), None),
            Requests::Paused => (Some(ByOutcome::default()), Some(Box::default())),
        };
        Self { requests, busy, ..Self::default() }
    }

    pub(crate) fn load_mut(&mut self) -> &mut LoadCounts {
        &mut self.load
    }

    /// An operation ended. `previous_ns` is the response time of the success before it, where there is one.
    #[inline]
    pub(crate) fn complete(&mut self, outcome: Outcome, timing: &Timing, previous_ns: Option<u64>) {
        self.operations.record(outcome, timing);
        match outcome {
            Outcome::Ok => self.load.ok += 1,
            Outcome::Fail | Outcome::Expired => self.load.fail += 1,
            Outcome::Unknown => {
                self.load.unknown += 1;
                self.load.censored += 1;
            }
        }
        if let Some(previous_ns) = previous_ns {
            self.jitter.record(previous_ns, timing.response_ns());
        }
    }

    /// A request ended. Kinds of one request have recorded it with the operation.
    #[inline]
    pub(crate) fn complete_request(&mut self, outcome: Outcome, timing: &Timing) {
        if let Some(requests) = &mut self.requests {
            requests.record(outcome, timing);
        }
    }

    /// An operation that succeeded was busy for so long. Only kinds with pauses keep it.
    pub(crate) fn record_busy(&mut self, busy_ns: u64) {
        if let Some(busy) = &mut self.busy {
            busy.record(busy_ns);
        }
    }

    /// An operation that has waited for `elapsed_ns` will never be started.
    pub(crate) fn never_start(&mut self, elapsed_ns: u64) {
        self.load.censored += 1;
        self.never_started.get_or_insert_default().record(elapsed_ns);
    }

    fn add(&mut self, other: &Self) {
        self.load.merge(&other.load);
        self.operations.merge(&other.operations);
        if let Some(others) = &other.requests {
            self.requests.get_or_insert_default().merge(others);
        }
        if let Some(others) = &other.busy {
            self.busy.get_or_insert_default().merge(others);
        }
        if let Some(others) = &other.never_started {
            self.never_started.get_or_insert_default().merge(others);
        }
        self.jitter.merge(&other.jitter);
    }

    fn clear(&mut self) {
        self.load = LoadCounts::default();
        self.operations.clear();
        if let Some(requests) = &mut self.requests {
            requests.clear();
        }
        if let Some(busy) = &mut self.busy {
            busy.clear();
        }
        self.never_started = None;
        self.jitter = Jitter::default();
    }

    /// Operations by their fate.
    #[must_use]
    pub fn load(&self) -> &LoadCounts {
        &self.load
    }

    /// Latency by operation: what a user waits for.
    #[must_use]
    pub fn by_operation(&self) -> &ByOutcome {
        &self.operations
    }

    /// Latency by request: what the target is asked.
    #[must_use]
    pub fn by_request(&self) -> &ByOutcome {
        self.requests.as_ref().unwrap_or(&self.operations)
    }

    /// For how long each successful operation kept the target busy: its service time without the pauses between its
    /// requests, and without what the client did meanwhile. `None` for kinds without pauses, and for kinds pooled.
    #[must_use]
    pub fn busy(&self) -> Option<&LatencyHistogram> {
        self.busy.as_deref()
    }

    /// How long the operations that were never started had waited when that was decided; `None` when there are none.
    #[must_use]
    pub fn never_started(&self) -> Option<&LatencyHistogram> {
        self.never_started.as_deref()
    }

    /// Mean absolute difference of the response times of successive successes.
    #[must_use]
    pub fn jitter(&self) -> &Jitter {
        &self.jitter
    }

    /// The response times of the successes, of the operations that had no answer when they were given up, and of those that were
    /// never started. What failed at once is not among them.
    #[must_use]
    pub fn response(&self) -> Bounded {
        let unanswered = self.operations.unknown().map(Latency::response);
        Bounded::new(self.operations.ok().response(), unanswered, self.never_started())
    }

    /// The same without the client's own delay.
    #[must_use]
    pub fn undelayed(&self) -> Bounded {
        let unanswered = self.operations.unknown().map(Latency::undelayed);
        Bounded::new(self.operations.ok().undelayed(), unanswered, self.never_started())
    }
}

/// All that is known of the operations of an interval: a window, a phase, a run; of one thread, or merged.
///
/// Merging adds counts and histograms, so it is associative and commutative, and the merge equals the pooled sample. (Of
/// the samples of error messages the first are kept, which depends on the order.)
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    pub(crate) kinds: Arc<[OperationKind]>,
    pub(crate) by_kind: Vec<KindRecording>,
    pub(crate) errors: ErrorTally,
}

/// Two recordings count different things.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot merge recordings of different operations: [{ours}] and [{theirs}]; use the same profile for both")]
pub struct KindsDiffer {
    ours: String,
    theirs: String,
}

impl Recording {
    /// An empty recording of operations of `kinds`. The first operation of a kind allocates 8 KiB, the 257th 1,216 KiB, twice
    /// that where it has many requests, and a quarter of it more where it has pauses.
    #[must_use]
    pub fn new(kinds: Arc<[OperationKind]>) -> Self {
        let by_kind = kinds.iter().map(|kind| KindRecording::new(kind.requests)).collect();
        Self { kinds, by_kind, errors: ErrorTally::default() }
    }

    /// Adds all that `other` holds.
    ///
    /// # Errors
    /// [`KindsDiffer`] when `other` was made for other kinds of operations; nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), KindsDiffer> {
        if self.kinds != other.kinds {
            return Err(KindsDiffer { ours: names(&self.kinds), theirs: names(&other.kinds) });
        }
        self.add(other);
        Ok(())
    }

    /// Adds `other`, which must have the same kinds.
    pub(crate) fn add(&mut self, other: &Self) {
        for (own, others) in self.by_kind.iter_mut().zip(&other.by_kind) {
            own.add(others);
        }
        self.errors.merge(&other.errors);
    }

    /// Forgets all and keeps the memory of the successes.
    pub fn clear(&mut self) {
        self.by_kind.iter_mut().for_each(KindRecording::clear);
        self.errors.clear();
    }

    /// The kinds of operations, in the order of their indexes.
    #[must_use]
    pub fn kinds(&self) -> &Arc<[OperationKind]> {
        &self.kinds
    }

    /// The operations of the kind of index `kind`.
    ///
    /// # Panics
    /// When there is no such kind.
    #[must_use]
    pub fn kind(&self, kind: usize) -> &KindRecording {
        &self.by_kind[kind]
    }

    pub(crate) fn kind_mut(&mut self, kind: usize) -> &mut KindRecording {
        &mut self.by_kind[kind]
    }

    /// The operations of all kinds as if they were one.
    #[must_use]
    pub fn pooled(&self) -> KindRecording {
        let mut pooled = KindRecording::new(Requests::Many);
        for kind in &self.by_kind {
            pooled.load.merge(&kind.load);
            pooled.operations.merge(&kind.operations);
            pooled.requests.get_or_insert_default().merge(kind.by_request());
            if let Some(never_started) = &kind.never_started {
                pooled.never_started.get_or_insert_default().merge(never_started);
            }
            pooled.jitter.merge(&kind.jitter);
        }
        pooled
    }

    /// Operations of all kinds by their fate.
    #[must_use]
    pub fn load(&self) -> LoadCounts {
        let mut load = LoadCounts::default();
        for kind in &self.by_kind {
            load.merge(&kind.load);
        }
        load
    }

    /// Errors by cause.
    #[must_use]
    pub fn errors(&self) -> &ErrorTally {
        &self.errors
    }

    pub(crate) fn errors_mut(&mut self) -> &mut ErrorTally {
        &mut self.errors
    }
}

fn names(kinds: &[OperationKind]) -> String {
    let names: Vec<_> = kinds.iter().map(|kind| format!("{} ({:?})", kind.name, kind.requests)).collect();
    names.join(", ")
}
