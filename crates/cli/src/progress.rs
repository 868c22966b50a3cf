//! What a user sees of a run while it goes on, always on standard error: lines that are written over on a terminal, else
//! a line at each phase and step and every ten seconds.

mod course;
mod figures;
mod resources;
mod search;

pub(crate) use course::{Course, clock};
pub(crate) use figures::{ProgressFigures, duration, grouped};
pub(crate) use resources::{Resources, Usage};

use crate::console;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use iotbench_engine::{Event, Observer, Phase, Plan};
use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

/// Plain lines come this far apart.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// An observer that shows.
pub(crate) struct Progress {
    view: View,
    course: Course,
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
            course: Course::new(plan),
            resources: Resources::default(),
            failures: 0,
            points_lost: 0,
            said: Instant::now(),
        }
    }

    fn begin_phase(&mut self, phase: Phase) {
        self.said = Instant::now();
        let length = self.course.length().map(|l| format!(", at most {}", clock(l))).unwrap_or_default();
        match &self.view {
            View::Terminal(bar) => bar.set_message(phase.name()),
            View::Lines => console::say(&format!("{}{length}", phase.name())),
        }
    }

    fn second(&mut self, second: &iotbench_engine::Second<'_>) {
        self.resources.read(second.readings);
        let figures = ProgressFigures::of(second);
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
    fn lines(&self, figures: &ProgressFigures) -> [Vec<String>; 3] {
        let mut troubles = Vec::new();
        if self.failures > 0 {
            troubles.push(format!("{} errors", self.failures));
        }
        if self.points_lost > 0 {
            troubles.push(format!("{} datapoints lost", self.points_lost));
        }
        let costs = troubles.into_iter().chain(self.resources.parts()).collect();
        [self.course.parts(figures.users), figures.parts(), costs]
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
        if let Some(line) = self.course.event(event) {
            self.say(&line);
        }
        match event {
            Event::Phase { phase, .. } => self.begin_phase(*phase),
            Event::Preloaded { points, total } => {
                let (points, total) = (grouped(*points), grouped(*total));
                self.show(&[vec![self.course.phase().name().into(), format!("{points} of {total} datapoints")]]);
            }
            Event::Settling { points, awaited } => {
                let (points, awaited) = (grouped(*points), grouped(*awaited));
                let stored = format!("{points} of {awaited} datapoints stored");
                self.show(&[vec![self.course.phase().name().into(), stored]]);
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
