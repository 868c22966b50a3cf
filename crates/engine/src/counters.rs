//! What the server counts of itself, read once a second beside the load.

mod account;
mod course;
mod watch;

pub use account::{CounterFigure, CounterStretch};
pub use watch::{CounterLook, CountersCost, CountersWatch};

use course::CounterCourse;
use iotbench_core::{Counter, CounterSource};

/// A look at the end of a stretch is asked for when its second has ended, at most so late.
const LATE_NS: u64 = 100_000_000;

/// What the counters came to, as the load goes on.
#[derive(Debug)]
pub struct CounterSeries {
    watch: CountersWatch,
    course: CounterCourse,
}

impl CounterSeries {
    /// Of a watch that reads these.
    pub fn of(watch: CountersWatch, sources: &[CounterSource]) -> Self {
        Self { watch, course: CounterCourse::of(sources.iter().map(|source| source.counter).collect()) }
    }

    /// Which are read, in the order in which they are told.
    pub fn counters(&self) -> &[Counter] {
        self.course.counters()
    }

    /// Takes the looks that have come.
    pub fn follow(&mut self) {
        self.watch.take().into_iter().for_each(|look| self.course.add(look));
    }

    /// A stretch begins whose growth is asked for later.
    pub fn begin(&mut self, from_ns: u64) {
        self.follow();
        self.course.begin(from_ns);
    }

    /// It ends here; the look at its end may still be under way.
    pub fn end(&mut self, to_ns: u64) {
        self.course.end(to_ns.saturating_add(LATE_NS));
        self.follow();
    }

    /// What is known of the stretch.
    pub fn stretch(&mut self) -> Option<CounterStretch> {
        self.follow();
        self.course.stretch()
    }

    /// What each grew by until the end of the seconds before this one, since this was asked last; `None`: no look tells.
    pub fn growth_until(&mut self, second: u64) -> Vec<Option<u64>> {
        self.follow();
        self.course.growth_until(second)
    }

    /// Ends the looks: what they cost, and what they came to in the stretch.
    pub fn finish(mut self) -> (CountersCost, Option<CounterStretch>) {
        let cost = self.watch.end();
        (cost, self.stretch())
    }
}
