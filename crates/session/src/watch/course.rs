//! Where a run is.

use super::search::Search;
use iotbench_engine::{Event, Phase, Plan, Step};
use iotbench_report::figure::count;
use std::time::{Duration, Instant};

/// All phases, in their order.
pub const PHASES: [Phase; 7] =
    [Phase::Create, Phase::Preload, Phase::WarmUp, Phase::Measure, Phase::Drain, Phase::Verify, Phase::Drop];

/// The phase and the step that a run is in, and how long they take.
#[derive(Clone, Debug)]
pub struct Course {
    phase: Phase,
    began: Instant,
    length: Option<Duration>,
    search: Option<Search>,
    step: Option<Step>,
    note: String,
}

impl Course {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            phase: Phase::Create,
            began: Instant::now(),
            length: None,
            search: plan.ramp.as_ref().map(Search::new),
            step: None,
            note: String::new(),
        }
    }

    /// The phase that it is in.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// How long the phase takes at most, where that is known.
    #[must_use]
    pub fn length(&self) -> Option<Duration> {
        self.length
    }

    /// How far the phase is, of one that counts datapoints; else empty.
    #[must_use]
    pub fn note(&self) -> &str {
        &self.note
    }

    /// The step of a ramp that was begun last.
    #[must_use]
    pub fn step(&self) -> Option<Step> {
        self.step
    }

    /// Follows the run. Of a step that has ended: what it found out.
    pub(super) fn event(&mut self, event: &Event<'_>) -> Option<String> {
        match event {
            Event::Phase { phase, length_ns } => {
                self.phase = *phase;
                self.began = Instant::now();
                self.length = length_ns.map(Duration::from_nanos);
                self.note.clear();
            }
            Event::DevicesMade { devices, total } => {
                self.note =
                    format!("{} of {} devices with their tags", count((*devices).into()), count((*total).into()));
            }
            Event::Preloaded { points, total } => {
                self.note = format!("{} of {} datapoints", count(*points), count(*total));
            }
            Event::Settling { points, awaited } => {
                self.note = format!("{} of {} datapoints stored", count(*points), count(*awaited));
            }
            Event::Step(step) => self.step = Some(*step),
            Event::StepEnded { figures, measured } => {
                let after = measured.map(|_| self.began.elapsed());
                return self.search.as_mut().map(|search| search.end_step(figures, after));
            }
            _ => {}
        }
        None
    }

    /// Phase, step, users if there are any, and time.
    pub(super) fn parts(&self, users: u32) -> Vec<String> {
        let mut parts = vec![self.phase.name().to_owned()];
        if let (Some(step), Some(search), Phase::Measure) = (self.step, &self.search, self.phase) {
            parts.push(search.place(step));
        }
        parts.extend((users > 0).then(|| format!("{} users", count(u64::from(users)))));
        parts.push(self.time());
        parts
    }

    /// Time left where it is known, else time gone.
    fn time(&self) -> String {
        let gone = self.began.elapsed();
        match (self.length, &self.search, self.phase) {
            (_, Some(search), Phase::Measure) => format!("{} gone, {}", clock(gone), search.time_left()),
            (Some(length), _, phase) => {
                let most = if matches!(phase, Phase::WarmUp | Phase::Measure) { "" } else { "at most " };
                format!("{most}{} left", clock(length.saturating_sub(gone)))
            }
            (None, _, _) => format!("{} gone", clock(gone)),
        }
    }
}

/// A time as `m:ss`.
#[must_use]
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_millis() >= 500);
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_minutes_and_seconds() {
        assert_eq!(clock(Duration::from_millis(125_600)), "2:06");
        assert_eq!(clock(Duration::ZERO), "0:00");
    }
}
