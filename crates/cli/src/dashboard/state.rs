//! What the dashboard shows: the figures of the progress line, with their last minutes.

use crate::console::printable_lines;
use iotbench_engine::{Event, Plan};
use iotbench_session::watch::{ProgressFigures, Watched};
use std::collections::VecDeque;

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
    pub(super) run: Watched,
    /// The last seconds of the load, each by its number.
    pub(super) seconds: VecDeque<(u64, ProgressFigures)>,
    /// What happened, the newest last.
    pub(super) lines: VecDeque<String>,
}

impl State {
    pub(super) fn new(plan: &Plan, among: &str) -> Self {
        Self {
            title: format!("{} on {}:{}", plan.profile.name, plan.backend, plan.table.layout),
            among: printable_lines(among),
            run: Watched::new(plan),
            seconds: VecDeque::new(),
            lines: VecDeque::new(),
        }
    }

    pub(super) fn event(&mut self, event: &Event<'_>) {
        if let Some(line) = self.run.event(event) {
            self.say(&line);
        }
        if let (Event::Second(_), Some(second)) = (event, &self.run.second) {
            self.seconds.push_back(second.clone());
            if self.seconds.len() > REMEMBERED {
                self.seconds.pop_front();
            }
        }
    }

    fn say(&mut self, line: &str) {
        self.lines.push_back(printable_lines(line.trim_start()));
        if self.lines.len() > LINES {
            self.lines.pop_front();
        }
    }
}
