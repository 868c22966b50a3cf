//! Adds up what the load threads hand over.

use crate::{
    client::ClientLoad,
    outcome::{Measured, SecondFigures},
    slice::{ReadCounts, Slice, UserTime},
};
use iotbench_recorder::{LatencyHistogram, LoadCounts, OperationKind, Recording, WINDOW_NS, Window, WindowCounts};
use std::{collections::BTreeMap, sync::Arc};

/// Everything that a run recorded so far.
#[derive(Debug)]
pub struct Totals {
    kinds: Arc<[OperationKind]>,
    generations: BTreeMap<u32, GenerationTotals>,
    /// Seconds that may still get more.
    seconds: BTreeMap<u64, Window>,
    next_second: u64,
    /// Everything that happened in the run.
    pub counts: WindowCounts,
    /// Operations that were never started.
    pub pending: u64,
    /// Operations whose response time is only known to be at least something.
    pub censored: u64,
    /// How late operations were sent after they were due and a connection was free.
    pub pacing_error: LatencyHistogram,
    /// Measurements that were lost.
    pub samples_dropped: u64,
    /// Requests that were answered.
    pub reads: ReadCounts,
}

/// What was recorded of one generation.
#[derive(Debug)]
pub struct GenerationTotals {
    /// Operations that were intended in it.
    pub recording: Recording,
    /// What happened in its latest seconds.
    recent: BTreeMap<u64, LatestSecond>,
    /// What happened in the seconds before those.
    earlier: WindowCounts,
    /// What was done in each of the seconds before those, from `first_second` on.
    figures: Vec<SecondFigures>,
    first_second: u64,
    /// Operations that were due in it and were not recorded as offered when it ended.
    unoffered: u64,
    /// Of these, those that have been offered since.
    offered_late: u64,
    /// What the users of a closed loop did beside their operations and thinking.
    pub user_time: UserTime,
    /// How late operations were sent in it, after they were due and a connection was free.
    pacing_error: LatencyHistogram,
}

/// Operations that were due in a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// All.
    pub all: u64,
    /// Those that were not recorded as offered when it ended, because all that may wait on their way were waiting.
    pub unoffered: u64,
    /// Those of which nothing more is known yet than that they were due.
    pub unanswered: u64,
}

/// A second that may still be cut off.
#[derive(Clone, Copy, Debug, Default)]
struct LatestSecond {
    counts: WindowCounts,
    figures: SecondFigures,
}

/// Seconds whose counts are kept apart: what ends a generation is cut off within the latest ones. All seconds of a long run
/// would be memory that grows with it.
const RECENT: usize = 300;

impl GenerationTotals {
    fn new(kinds: &Arc<[OperationKind]>) -> Self {
        Self {
            recording: Recording::new(Arc::clone(kinds)),
            recent: BTreeMap::new(),
            earlier: WindowCounts::default(),
            figures: Vec::new(),
            first_second: 0,
            unoffered: 0,
            offered_late: 0,
            user_time: UserTime::default(),
            pacing_error: LatencyHistogram::new(),
        }
    }

    fn add_second(&mut self, second: u64, window: &Window) {
        let (counts, window) = (window.counts(), SecondFigures::of(window));
        if second < self.first_second + self.figures.len() as u64 {
            // A thread is so late that its second has been put away.
            if let Some(figures) = self.put_away(second).and_then(|place| self.figures.get_mut(place)) {
                figures.add(&window);
            }
            self.earlier.merge(counts);
            return;
        }
        let latest = self.recent.entry(second).or_default();
        latest.counts.merge(counts);
        latest.figures.add(&window);
        while self.recent.len() > RECENT {
            let Some((second, latest)) = self.recent.pop_first() else { break };
            if self.figures.is_empty() {
                self.first_second = second;
            }
            let place = self.put_away(second).unwrap_or_default();
            self.figures.resize(place + 1, SecondFigures::default());
            if let Some(figures) = self.figures.get_mut(place) {
                figures.add(&latest.figures);
            }
            self.earlier.merge(&latest.counts);
        }
    }

    /// Where the figures of a second are once it is put away.
    fn put_away(&self, second: u64) -> Option<usize> {
        second.checked_sub(self.first_second).and_then(|place| usize::try_from(place).ok())
    }

    /// What happened in all seconds before this one.
    fn counts_before(&self, end: u64) -> WindowCounts {
        let mut counts = self.earlier;
        self.recent.range(..end).for_each(|(_, second)| counts.merge(&second.counts));
        counts
    }

    fn figures(&self, second: u64) -> SecondFigures {
        let put_away = self.put_away(second).and_then(|place| self.figures.get(place));
        put_away.copied().or_else(|| Some(self.recent.get(&second)?.figures)).unwrap_or_default()
    }
}

impl SecondFigures {
    /// The figures of a window of one second.
    fn of(window: &Window) -> Self {
        let (counts, recording) = (window.counts(), window.recording());
        let kinds = 0..recording.kinds().len();
        let responses = || kinds.clone().map(|kind| recording.kind(kind).by_operation().ok().response());
        let sum_ns: u128 = responses().map(LatencyHistogram::sum_ns).sum();
        Self {
            offered: counts.offered,
            dropped: counts.dropped,
            ok: counts.ok,
            ok_parts: counts.ok_parts,
            errors: counts.fail + counts.unknown,
            points: counts.points.acked,
            values: counts.values_acked,
            responses: responses().map(LatencyHistogram::count).sum(),
            response_sum_ns: u64::try_from(sum_ns).unwrap_or(u64::MAX),
        }
    }

    fn add(&mut self, other: &Self) {
        self.offered += other.offered;
        self.dropped += other.dropped;
        self.ok += other.ok;
        self.ok_parts |= other.ok_parts;
        self.errors += other.errors;
        self.points += other.points;
        self.values += other.values;
        self.responses += other.responses;
        self.response_sum_ns = self.response_sum_ns.saturating_add(other.response_sum_ns);
    }
}

impl Totals {
    /// Nothing yet.
    pub fn new(kinds: Arc<[OperationKind]>) -> Self {
        Self {
            kinds,
            generations: BTreeMap::new(),
            seconds: BTreeMap::new(),
            next_second: 0,
            counts: WindowCounts::default(),
            pending: 0,
            censored: 0,
            pacing_error: LatencyHistogram::new(),
            samples_dropped: 0,
            reads: ReadCounts::default(),
        }
    }

    /// Adds a slice of one thread.
    pub fn add(&mut self, slice: Slice) {
        self.samples_dropped += slice.samples_dropped;
        self.reads.merge(slice.reads);
        self.pending += slice.pending;
        let kinds = &self.kinds;
        let generation = self.generations.entry(slice.generation).or_insert_with(|| GenerationTotals::new(kinds));
        if let Some(error) = slice.pacing_error {
            self.pacing_error.merge(&error);
            generation.pacing_error.merge(&error);
        }
        generation.unoffered += slice.unoffered;
        generation.user_time = generation.user_time.plus(slice.user_time);
        if let Some(late) = slice.late {
            generation.offered_late += late.recording().load().offered;
            self.censored += late.recording().load().censored;
            // All recorders of a run have the same kinds.
            let merged = generation.recording.merge(late.recording());
            debug_assert!(merged.is_ok(), "recorders of one run have different kinds");
        }
        for window in slice.windows {
            self.counts.merge(window.counts());
            self.censored += window.recording().load().censored;
            generation.add_second(window.first_second(), &window);
            // All recorders of a run have the same kinds.
            let merged = generation.recording.merge(window.recording());
            debug_assert!(merged.is_ok(), "recorders of one run have different kinds");
            let second = window.first_second().max(self.next_second);
            match self.seconds.entry(second) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(window);
                }
                std::collections::btree_map::Entry::Occupied(mut place) => {
                    let merged = place.get_mut().merge(&window);
                    debug_assert!(merged.is_ok(), "recorders of one run have different kinds");
                }
            }
        }
    }

    /// The seconds before this one, in order, without gaps; each is given once. Seconds that a thread has not kept apart are one
    /// window, of all threads.
    pub fn take_seconds(&mut self, before: u64) -> Vec<Window> {
        let mut seconds = Vec::new();
        while self.next_second < before {
            let mut window = self.take_second(self.next_second);
            while window.last_second() > self.next_second && self.next_second + 1 < before {
                self.next_second += 1;
                let merged = window.merge(&self.take_second(self.next_second));
                debug_assert!(merged.is_ok(), "recorders of one run have different kinds");
            }
            if window.last_second() > self.next_second {
                // Its end is still to come, and with it what others did until then.
                self.next_second = window.first_second();
                self.seconds.insert(self.next_second, window);
                break;
            }
            self.next_second += 1;
            seconds.push(window);
        }
        seconds
    }

    /// What is kept of a second.
    fn take_second(&mut self, second: u64) -> Window {
        let window = self.seconds.remove(&second);
        let mut window = window.unwrap_or_else(|| Window::new(Arc::clone(&self.kinds), 0, second));
        // What comes too late is told with the present second, and covers nothing that was told before.
        window.cover_from(second);
        window
    }

    /// The operations that were due in a generation, once all have told what they did in it.
    pub fn due(&self, generation: u32) -> Due {
        let Some(totals) = self.generations.get(&generation) else { return Due::default() };
        let load = totals.recording.load();
        let unoffered = totals.unoffered;
        let all = (load.offered + unoffered).saturating_sub(totals.offered_late);
        let ended = load.ok + load.fail + load.unknown + load.dropped + load.pending;
        Due { all, unoffered, unanswered: all.saturating_sub(ended) }
    }

    /// What the users of a closed loop did in a generation beside their operations and thinking.
    pub fn user_time(&self, generation: u32) -> UserTime {
        self.generations.get(&generation).map(|g| g.user_time).unwrap_or_default()
    }

    /// Forgets the latencies of a generation that no figure needs any more.
    pub fn forget(&mut self, number: u32) {
        self.generations.remove(&number);
    }

    /// Operations of the whole run by their fate.
    pub fn load(&self) -> LoadCounts {
        LoadCounts {
            offered: self.counts.offered,
            started: self.counts.started,
            ok: self.counts.ok,
            fail: self.counts.fail,
            unknown: self.counts.unknown,
            dropped: self.counts.dropped,
            pending: self.pending,
            undelivered: 0,
            censored: self.censored,
        }
    }

    /// The figures of a generation that was measured from one time to another.
    pub fn measured(&self, generation: u32, from_ns: u64, to_ns: u64) -> Option<Measured> {
        let totals = self.generations.get(&generation)?;
        let (first, end) = (from_ns / WINDOW_NS, to_ns.div_ceil(WINDOW_NS));
        let counts = totals.counts_before(end);
        let figures = (first..to_ns / WINDOW_NS).map(|second| totals.figures(second));
        Some(Measured {
            from_ns,
            to_ns,
            recording: totals.recording.clone(),
            counts,
            seconds: figures.collect(),
            pacing_error: totals.pacing_error.clone(),
            visibility: None,
            client: ClientLoad::default(),
            resources: Vec::new(),
            counters: None,
        })
    }
}

#[cfg(test)]
mod tests;
