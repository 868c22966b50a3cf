//! What a user sees of a run while it goes on, always on standard error: lines that are written over on a terminal, else
//! a line at each phase and step and every ten seconds.

mod figures;
mod resources;
mod search;

use crate::console;
use figures::{Figures, grouped};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use iotbench_engine::{Event, Observer, Phase, Plan, Step, StepFigures};
use resources::Resources;
use search::Search;
use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

/// Plain lines come this far apart.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// An observer that shows.
pub(crate) struct Progress {
    view: View,
    phase: Phase,
    began: Instant,
    length: Option<Duration>,
    search: Option<Search>,
    step: Option<Step>,
    resources: Resources,
    failures: u64,
    points_lost: u64,
    /// When the last plain line was said.
    said: Instant,
}

enum View {
    Terminal(ProgressBar),
    Lines,
}

impl Progress {
    /// Progress of a run of this plan. The terminal's line is used if there is one and no continuous integration.
    pub(crate) fn new(plan: &Plan) -> Self {
        let view = if has_terminal() { View::Terminal(bar()) } else { View::Lines };
        Self {
            view,
            phase: Phase::Create,
            began: Instant::now(),
            length: None,
            search: plan.ramp.as_ref().map(Search::new),
            step: None,
            resources: Resources::default(),
            failures: 0,
            points_lost: 0,
            said: Instant::now(),
        }
    }

    fn begin_phase(&mut self, phase: Phase, length_ns: Option<u64>) {
        self.phase = phase;
        self.began = Instant::now();
        self.length = length_ns.map(Duration::from_nanos);
        self.said = self.began;
        let length = self.length.map(|l| format!(", at most {}", clock(l))).unwrap_or_default();
        match &self.view {
            View::Terminal(bar) => bar.set_message(phase.name()),
            View::Lines => console::say(&format!("{}{length}", phase.name())),
        }
    }

    fn end_step(&mut self, figures: &StepFigures) {
        let Some(search) = &mut self.search else { return };
        let line = search.end_step(figures);
        self.say(&line);
    }

    fn second(&mut self, second: &iotbench_engine::Second<'_>) {
        self.resources.read(second.readings);
        let figures = Figures::of(second);
        self.failures += figures.failures;
        self.points_lost += figures.points_lost;
        self.show(&self.lines(&figures));
    }

    /// Shows lines that the next ones replace.
    fn show(&mut self, lines: &[Vec<String>]) {
        let lines = lines.iter().filter(|parts| !parts.is_empty()).map(|parts| parts.join(" · ")).collect::<Vec<_>>();
        match &self.view {
            View::Terminal(bar) => {
                bar.set_message(lines.join("\n  "));
                bar.tick();
            }
            View::Lines if self.said.elapsed() >= BETWEEN_LINES => {
                self.said = Instant::now();
                console::say(&lines.join(" · "));
            }
            View::Lines => {}
        }
    }

    /// Where the run is, how the database does, and what it costs: each fits a terminal of 80 columns.
    fn lines(&self, figures: &Figures) -> [Vec<String>; 3] {
        let mut place = vec![self.phase.name().to_owned()];
        if let (Some(step), Some(search), Phase::Measure) = (self.step, &self.search, self.phase) {
            place.push(search.place(step));
        }
        place.extend(figures.users());
        place.push(self.time());
        let mut troubles = Vec::new();
        if self.failures > 0 {
            troubles.push(format!("{} errors", self.failures));
        }
        if self.points_lost > 0 {
            troubles.push(format!("{} datapoints lost", self.points_lost));
        }
        [place, figures.parts(), troubles.into_iter().chain(self.resources.parts()).collect()]
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

    /// A line that stays.
    fn say(&self, line: &str) {
        match &self.view {
            View::Terminal(bar) => bar.println(line),
            View::Lines => console::say(line),
        }
    }
}

impl Observer for Progress {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::Phase { phase, length_ns } => self.begin_phase(*phase, *length_ns),
            Event::Preloaded { points, total } => {
                let (points, total) = (grouped(*points), grouped(*total));
                self.show(&[vec![self.phase.name().into(), format!("{points} of {total} datapoints")]]);
            }
            Event::Settling { points, awaited } => {
                let (points, awaited) = (grouped(*points), grouped(*awaited));
                self.show(&[vec![self.phase.name().into(), format!("{points} of {awaited} datapoints stored")]]);
            }
            Event::Acting(mark) => {
                self.say(&format!("{}: {} …", clock(Duration::from_nanos(mark.from_ns)), mark.action));
            }
            Event::Step(step) => self.step = Some(*step),
            Event::StepEnded { figures, .. } => self.end_step(figures),
            Event::Second(second) => self.second(second),
            Event::Started { .. } | Event::Operations(_) | Event::Checkpoint(_) => {}
        }
        Ok(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let View::Terminal(bar) = &self.view {
            bar.finish_and_clear();
        }
    }
}

/// Whether a line can be written over. `NO_COLOR` needs no look: no colour is used.
fn has_terminal() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    std::io::stderr().is_terminal() && !set("CI") && !dumb
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
    match ProgressStyle::with_template("{spinner} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// A time as `m:ss`.
fn clock(time: Duration) -> String {
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
