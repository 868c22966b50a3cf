//! How long the rounds are that bring a database into the state that it keeps under a load. Pure.

use super::Plan;
use crate::{profile::RampState, units::Span};
use iotbench_statistics::ROUNDS_JUDGED;
use std::time::Duration;

/// More rounds are not run, steady or not: as many as the SNIA's specification has.
pub(crate) const MAX_ROUNDS: u32 = 25;
const WINDOW_NS: u64 = iotbench_recorder::WINDOW_NS;

/// The rounds before a step of a ramp counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The most of them.
    pub most: u32,
    /// How long each is, in nanoseconds.
    pub round_ns: u64,
}

impl Plan {
    /// The rounds before each step of its ramp, if it is preconditioned: those that are judged together are at least as long as
    /// a step, in whole seconds.
    #[must_use]
    pub fn rounds(&self) -> Option<Rounds> {
        let ramp = self.ramp.as_ref().filter(|_| self.state == RampState::Preconditioned)?;
        let seconds = ramp.step_ns.div_ceil(ROUNDS_JUDGED as u64).div_ceil(WINDOW_NS).max(1);
        Some(Rounds { most: MAX_ROUNDS, round_ns: seconds * WINDOW_NS })
    }

    /// The longest that they take before a step; 0: there are none.
    pub(crate) fn longest_rounds_ns(&self) -> u64 {
        self.rounds().map_or(0, |rounds| u64::from(rounds.most).saturating_mul(rounds.round_ns))
    }
}

impl Rounds {
    /// How long one of them is.
    #[must_use]
    pub fn length(self) -> Span {
        Span(Duration::from_nanos(self.round_ns))
    }
}
