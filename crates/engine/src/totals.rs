//! Adds up what the load threads hand over.

use crate::{
    ledger::AckedRanges,
    outcome::{Measured, SecondFigures},
    slice::{Outstanding, Slice},
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
    /// Which datapoints were acknowledged.
    pub acked: AckedRanges,
    /// How late operations were sent although a connection was free.
    pub pacing_error: LatencyHistogram,
    /// Measurements that were lost.
    pub samples_dropped: u64,
}

/// What was recorded of one generation.
#[derive(Debug)]
pub struct GenerationTotals {
    /// Operations that were intended in it.
    pub recording: Recording,
    /// What happened in it, second by second.
    pub seconds: BTreeMap<u64, WindowCounts>,
    /// What it left unanswered.
    pub outstanding: Outstanding,
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
            acked: AckedRanges::default(),
            pacing_error: LatencyHistogram::new(),
            samples_dropped: 0,
        }
    }

    /// Adds a slice of one thread.
    pub fn add(&mut self, slice: Slice) {
        for run in slice.acked {
            self.acked.add(run);
        }
        if let Some(error) = slice.pacing_error {
            self.pacing_error.merge(&error);
        }
        self.samples_dropped += slice.samples_dropped;
        self.pending += slice.pending;
        let kinds = &self.kinds;
        let generation = self.generations.entry(slice.generation).or_insert_with(|| GenerationTotals {
            recording: Recording::new(Arc::clone(kinds)),
            seconds: BTreeMap::new(),
            outstanding: Outstanding::default(),
        });
        if let Some(left) = slice.outstanding {
            generation.outstanding = generation.outstanding.plus(left);
        }
        for window in slice.windows {
            self.counts.merge(window.counts());
            self.censored += window.recording().load().censored;
            generation.seconds.entry(window.first_second()).or_default().merge(window.counts());
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

    /// The seconds before this one, in order, without gaps; each is given once.
    pub fn take_seconds(&mut self, before: u64) -> Vec<Window> {
        let mut seconds = Vec::new();
        while self.next_second < before {
            let second = self.next_second;
            let window = self.seconds.remove(&second);
            seconds.push(window.unwrap_or_else(|| Window::new(Arc::clone(&self.kinds), 0, second)));
            self.next_second += 1;
        }
        seconds
    }

    /// What was recorded of a generation.
    pub fn generation(&self, number: u32) -> Option<&GenerationTotals> {
        self.generations.get(&number)
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
            censored: self.censored,
        }
    }

    /// The figures of a generation that was measured from one time to another.
    pub fn measured(&self, generation: u32, from_ns: u64, to_ns: u64) -> Option<Measured> {
        let totals = self.generations.get(&generation)?;
        let (first, end) = (from_ns / WINDOW_NS, to_ns.div_ceil(WINDOW_NS));
        let mut counts = WindowCounts::default();
        for (_, second) in totals.seconds.range(first..end) {
            counts.merge(second);
        }
        let whole = first..to_ns / WINDOW_NS;
        let figures = whole.map(|s| {
            totals.seconds.get(&s).map_or(SecondFigures { ok: 0, points: 0, values: 0 }, |c| SecondFigures {
                ok: c.ok,
                points: c.points.acked,
                values: c.values_acked,
            })
        });
        Some(Measured { from_ns, to_ns, recording: totals.recording.clone(), counts, seconds: figures.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Run;
    use iotbench_recorder::{Outcome, Payload, Recorder, Requests, Timing};

    const S: u64 = WINDOW_NS;

    fn kinds() -> Arc<[OperationKind]> {
        [OperationKind { name: "write".into(), requests: Requests::One }].into()
    }

    /// Operations of one datapoint with two values, each due, sent and answered at these times.
    fn windows(phase_start_ns: u64, answered: &[(u64, u64)]) -> Vec<Window> {
        let mut recorder = Recorder::new(kinds());
        assert!(recorder.begin_phase(phase_start_ns).is_empty());
        for &(due_ns, replied_ns) in answered {
            let timing = Timing::new(due_ns, due_ns, replied_ns).unwrap();
            recorder.offer(0, due_ns, 1);
            recorder.start(0, due_ns, due_ns, 1);
            recorder.generate_points(due_ns, 1, 0);
            recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 2, 0));
        }
        recorder.finish()
    }

    fn slice(generation: u32, windows: Vec<Window>) -> Slice {
        Slice { generation, windows, ..Slice::default() }
    }

    #[test]
    fn seconds_come_in_order_without_gaps_and_once() {
        let mut totals = Totals::new(kinds());
        totals.add(slice(0, windows(0, &[(0, 1), (2 * S, 2 * S + 1)])));
        totals.add(slice(0, windows(0, &[(5, 6)])));
        let seconds = totals.take_seconds(3);
        let figures: Vec<_> = seconds.iter().map(|w| (w.first_second(), w.counts().ok)).collect();
        assert_eq!(figures, [(0, 2), (1, 0), (2, 1)]);
        assert!(totals.take_seconds(3).is_empty());
    }

    #[test]
    fn what_comes_too_late_is_told_with_the_next_second_and_measured_in_its_own() {
        let mut totals = Totals::new(kinds());
        totals.add(slice(1, windows(0, &[(0, 1)])));
        assert_eq!(totals.take_seconds(2).len(), 2);
        totals.add(slice(1, windows(0, &[(7, 8), (9, 10)])));
        let told = totals.take_seconds(3);
        assert_eq!(told.iter().map(|w| w.counts().ok).collect::<Vec<_>>(), [2], "nothing is lost");
        let measured = totals.measured(1, 0, 2 * S).unwrap();
        assert_eq!(measured.seconds.iter().map(|s| s.ok).collect::<Vec<_>>(), [3, 0]);
    }

    #[test]
    fn a_generation_has_its_own_figures_and_the_run_has_all() {
        let mut totals = Totals::new(kinds());
        totals.add(slice(0, windows(0, &[(0, 1), (10, 20)])));
        totals.add(slice(1, windows(S, &[(S, S + 1), (S + 5, 2 * S + 5), (2 * S, 2 * S + 1)])));
        let measured = totals.measured(1, S, 3 * S).unwrap();
        assert_eq!((measured.recording.load().ok, measured.counts.ok), (3, 3));
        let seconds: Vec<_> = measured.seconds.iter().map(|s| (s.ok, s.points, s.values)).collect();
        assert_eq!(seconds, [(1, 1, 2), (2, 2, 4)]);
        assert_eq!((totals.load().ok, totals.load().check(), totals.counts.points.check()), (5, Ok(()), Ok(())));
        assert!(totals.measured(7, 0, S).is_none());
        totals.forget(1);
        assert_eq!((totals.load().ok, totals.measured(1, S, 3 * S).is_none()), (5, true), "counts are never forgotten");
    }

    #[test]
    fn threads_add_up() {
        let mut totals = Totals::new(kinds());
        for _ in 0..3 {
            let mut pacing_error = Box::new(LatencyHistogram::new());
            pacing_error.record(7);
            totals.add(Slice {
                acked: vec![Run { device: 0, first: totals.acked.len(), count: 2 }],
                outstanding: Some(Outstanding { operations: 2, waited_ns: 10 }),
                pacing_error: Some(pacing_error),
                samples_dropped: 1,
                ..Slice::default()
            });
        }
        assert_eq!((totals.acked.len(), totals.pacing_error.count(), totals.samples_dropped), (6, 3, 3));
        let outstanding = totals.generation(0).unwrap().outstanding;
        assert_eq!(outstanding, Outstanding { operations: 6, waited_ns: 30 });
    }
}
