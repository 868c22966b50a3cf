//! A run as whoever watches it sees it: where it is, what it has done so far, its last second, and what its processes use.

mod course;
mod figures;
mod resources;
mod search;

pub use course::{Course, PHASES, clock};
pub use figures::{LoadSoFar, ProgressFigures, duration};
pub use resources::Resources;

use iotbench_engine::{Event, Plan};
use std::time::Duration;

/// What is known of a run while it goes on.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Where it is.
    pub course: Course,
    /// What its load came to so far.
    pub load: LoadSoFar,
    /// Its last second with the number of that; `None`: there was none yet.
    pub second: Option<(u64, ProgressFigures)>,
    /// What its processes use.
    pub resources: Resources,
}

impl Watched {
    /// A run of this plan, before it begins.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { course: Course::new(plan), load: LoadSoFar::default(), second: None, resources: Resources::default() }
    }

    /// Follows the run. Gives what is worth a line of its own: what a step found out, what is done to the server.
    pub fn event(&mut self, event: &Event<'_>) -> Option<String> {
        match event {
            Event::Second(second) => {
                self.load.add(second.window);
                self.resources.read(second.readings);
                self.second = Some((second.window.last_second(), ProgressFigures::of(second)));
                None
            }
            Event::Acting(mark) => Some(format!("{}: {} …", clock(Duration::from_nanos(mark.from_ns)), mark.action)),
            event => self.course.event(event),
        }
    }

    /// Virtual users, as far as is known.
    pub(crate) fn users(&self) -> u32 {
        self.second.as_ref().map_or(0, |(_, figures)| figures.users)
    }

    /// Where the run is: phase, step, users if there are any, and time.
    #[must_use]
    pub fn place(&self) -> Vec<String> {
        self.course.parts(self.users())
    }
}
