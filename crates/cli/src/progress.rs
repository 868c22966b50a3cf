//! What a user sees of a run while it goes on, always on standard error: lines that are written over on a terminal, else
//! a line at each phase and step and every ten seconds.

use crate::console;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use iotbench_engine::{Event, Observer, Plan};
use iotbench_session::watch::{Watched, clock};
use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

/// Plain lines come this far apart.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// An observer that shows.
pub(crate) struct Progress {
    view: View,
    run: Watched,
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
        Self { view, run: Watched::new(plan), said: Instant::now() }
    }

    fn begin_phase(&mut self) {
        self.said = Instant::now();
        let (name, length) = (self.run.course.phase().name(), self.run.course.length());
        match &self.view {
            View::Terminal(bar) => bar.set_message(name),
            View::Lines => {
                let length = length.map(|l| format!(", at most {}", clock(l))).unwrap_or_default();
                console::say(&format!("{name}{length}"));
            }
        }
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
    fn lines(&self) -> [Vec<String>; 3] {
        let load = &self.run.load;
        let troubles = [(load.failures(), "errors"), (load.counts.points.dropped, "datapoints lost")];
        let troubles = troubles.into_iter().filter(|(count, _)| *count > 0);
        let troubles = troubles.map(|(count, what)| format!("{count} {what}"));
        let figures = self.run.second.iter().flat_map(|(_, figures)| figures.parts());
        [self.run.place(), figures.collect(), troubles.chain(self.run.resources.parts()).collect()]
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
        if let Some(line) = self.run.event(event) {
            self.say(&line);
        }
        match event {
            Event::Phase { .. } => self.begin_phase(),
            Event::DevicesMade { .. } | Event::Preloaded { .. } | Event::Settling { .. } => {
                let course = &self.run.course;
                self.show(&[vec![course.phase().name().into(), course.note().into()]]);
            }
            Event::Second(_) => self.show(&self.lines()),
            _ => {}
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
