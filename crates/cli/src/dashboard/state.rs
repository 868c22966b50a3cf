//! What the dashboard shows: the figures of the progress line, with their last minutes.

use crate::{
    console::printable_lines,
    progress::{Course, ProgressFigures, Resources, clock, grouped},
};
use iotbench_engine::{Event, Plan, Second};
use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

/// So many seconds are remembered.
pub(super) const REMEMBERED: usize = 180;
/// So many lines of what happened.
const LINES: usize = 20;

/// All that is drawn.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// What runs.
    pub(super) title: String,
    /// Where it is in its suite; empty: it is of none.
    pub(super) among: String,
    pub(super) course: Course,
    /// The last seconds of the load, each by its number.
    pub(super) seconds: VecDeque<(u64, ProgressFigures)>,
    pub(super) totals: Totals,
    /// Errors by cause.
    pub(super) errors: BTreeMap<String, u64>,
    pub(super) resources: Resources,
    /// What is said of the phase beside its time.
    pub(super) note: String,
    /// What happened, the newest last.
    pub(super) lines: VecDeque<String>,
}

/// Sums of the whole load.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) ok: u64,
    pub(super) fail: u64,
    pub(super) unknown: u64,
    pub(super) dropped: u64,
    pub(super) points: u64,
    pub(super) points_lost: u64,
}

impl State {
    pub(super) fn new(plan: &Plan, among: &str) -> Self {
        Self {
            title: format!("{} on {}:{}", plan.profile.name, plan.backend, plan.table.layout),
            among: printable_lines(among),
            course: Course::new(plan),
            seconds: VecDeque::new(),
            totals: Totals::default(),
            errors: BTreeMap::new(),
            resources: Resources::default(),
            note: String::new(),
            lines: VecDeque::new(),
        }
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        if let Some(line) = self.course.event(event) {
            self.say(&line);
        }
        match event {
            Event::Phase { .. } => self.note.clear(),
            Event::Preloaded { points, total } => {
                self.note = format!("{} of {} datapoints", grouped(*points), grouped(*total));
            }
            Event::Settling { points, awaited } => {
                self.note = format!("{} of {} datapoints stored", grouped(*points), grouped(*awaited));
            }
            Event::Acting(mark) => {
                self.say(&format!("{}: {} …", clock(Duration::from_nanos(mark.from_ns)), mark.action));
            }
            Event::Second(second) => self.second(second),
            Event::Step(_)
            | Event::StepEnded { .. }
            | Event::Started { .. }
            | Event::Operations(_)
            | Event::Checkpoint(_) => {}
        }
    }

    fn second(&mut self, second: &Second<'_>) {
        let counts = second.window.counts();
        self.totals = Totals {
            ok: self.totals.ok + counts.ok,
            fail: self.totals.fail + counts.fail,
            unknown: self.totals.unknown + counts.unknown,
            dropped: self.totals.dropped + counts.dropped,
            points: self.totals.points + counts.points.acked,
            points_lost: self.totals.points_lost + counts.points.dropped,
        };
        for (cause, errors) in second.window.recording().errors().iter() {
            *self.errors.entry(cause.into()).or_default() += errors.count;
        }
        self.resources.read(second.readings);
        self.seconds.push_back((second.window.last_second(), ProgressFigures::of(second)));
        if self.seconds.len() > REMEMBERED {
            self.seconds.pop_front();
        }
    }

    fn say(&mut self, line: &str) {
        self.lines.push_back(printable_lines(line.trim_start()));
        if self.lines.len() > LINES {
            self.lines.pop_front();
        }
    }

    /// The last second, if there was one.
    pub(super) fn latest(&self) -> Option<&ProgressFigures> {
        self.seconds.back().map(|(_, figures)| figures)
    }
}
