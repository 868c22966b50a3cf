//! What each agent did of a load that was made elsewhere.

use crate::{client::ClientLoad, slice::Slice, verify::Answers};
use iotbench_recorder::{Bounded, LoadCounts, PointCounts};
use std::ops::Range;

/// One agent's part of a run.
#[derive(Clone, Debug, Default)]
pub struct AgentFigures {
    /// Its name.
    pub name: String,
    /// The devices whose load it made.
    pub devices: Range<u32>,
    /// Its operations of the measured part; with a ramp, of the whole.
    pub load: LoadCounts,
    /// Its datapoints of the whole run.
    pub points: PointCounts,
    /// The response times of its operations of the measured part that did not fail; none of a ramp.
    pub response: Bounded,
    /// What it measured of itself; `None`: it was lost before, or each trial of a ramp was judged by itself.
    pub client: Option<ClientLoad>,
    /// What was found of what it read; `None`: it read nothing, or was lost before its end.
    pub answers: Option<Answers>,
    /// How its clock was held against the coordinator's.
    pub clock: AgentClock,
    /// Why it was lost; `None`: it told all that it did.
    pub lost: Option<String>,
}

/// An agent's clock beside the coordinator's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentClock {
    /// How far the agent's time may be from what it is taken for, in nanoseconds.
    pub uncertainty_ns: u64,
    /// By how much the clocks drifted apart during the run, at the least, in nanoseconds.
    pub drift_ns: u64,
    /// Above this uncertainty, in nanoseconds, no time is told that is the difference of two machines' clocks.
    pub limit_ns: u64,
    /// How long after the common start, by its own clock, it was told to begin, in nanoseconds; 0: in time.
    pub late_ns: u64,
}

impl AgentClock {
    /// How far from the common start the agent may have begun, in nanoseconds; `None`: the clocks do not tell.
    #[must_use]
    pub fn start_skew_ns(&self) -> Option<u64> {
        (self.uncertainty_ns <= self.limit_ns).then(|| self.late_ns.saturating_add(self.uncertainty_ns))
    }
}

impl AgentFigures {
    /// Adds what was recorded of it; `measured` is the generation that is the result, `None` with a ramp.
    pub(crate) fn add(&mut self, slice: &Slice, measured: Option<u32>) {
        for window in &slice.windows {
            self.points.merge(&window.counts().points);
            if measured.is_none_or(|measured| slice.generation == measured) {
                self.load.merge(&window.recording().load());
            }
            if measured == Some(slice.generation) {
                self.response.merge(&window.recording().pooled().response());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_is_told_only_where_the_clocks_tell_it() {
        let clock = AgentClock { uncertainty_ns: 300, drift_ns: 0, limit_ns: 300, late_ns: 50 };
        assert_eq!(clock.start_skew_ns(), Some(350));
        assert_eq!(AgentClock { uncertainty_ns: 301, ..clock }.start_skew_ns(), None);
    }
}
