//! The steps of load of a ramp, as a pure state machine: reports of trials in, the next step or the answer out.

use crate::search::{CapacitySearch, Estimate, SearchPlan, Tallies, TrialReport};
use serde::{Deserialize, Serialize};

/// So often a step is run again that others of the machine disturbed.
pub const MAX_REPEATS: u32 = 2;

/// A ramp as meant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RampPlan {
    /// What changes from step to step.
    pub quantity: Quantity,
    /// How long a step counts.
    pub step_ns: u64,
    /// Which loads are run.
    pub course: Course,
    /// What is run when the greatest load is known.
    pub afterwards: Afterwards,
}

/// What is run when the greatest load that was sustained is known; `false` or a length of 0: not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Afterwards {
    /// Its writes once more, without its reads.
    pub writes_alone: bool,
    /// That load for so long.
    pub soak_ns: u64,
    /// One and a half times that load for so long, then the load itself once more.
    pub overload_ns: u64,
    /// How long there is no load between the two.
    pub rest_ns: u64,
}

impl Afterwards {
    /// An overload is so many halves of the greatest load that was sustained.
    const OVERLOAD_HALVES: u64 = 3;

    /// The steps that it means, with their lengths, of loads up to `most`; a step counts for `step_ns`.
    #[must_use]
    pub fn steps(self, sustained: u32, most: u32, step_ns: u64) -> Vec<(Step, u64)> {
        let over = (u64::from(sustained) * Self::OVERLOAD_HALVES).div_ceil(2).min(u64::from(most));
        let over = u32::try_from(over).unwrap_or(most);
        let mut steps = Vec::new();
        if self.writes_alone {
            steps.push((Step { load: sustained, purpose: Purpose::WritesAlone }, step_ns));
        }
        if self.soak_ns > 0 {
            steps.push((Step { load: sustained, purpose: Purpose::Soak }, self.soak_ns));
        }
        if self.overload_ns > 0 {
            steps.push((Step { load: over, purpose: Purpose::Overload }, self.overload_ns));
            steps.push((Step { load: sustained, purpose: Purpose::After }, step_ns));
        }
        steps
    }
}

/// What changes from step to step, in whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// The virtual users of a closed loop.
    Users,
    /// The rate of an open loop.
    OperationsPerSecond,
    /// The devices that report in each interval.
    Devices,
}

impl Quantity {
    /// For people, after a number.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Users => "virtual users",
            Self::OperationsPerSecond => "operations/s offered",
            Self::Devices => "devices",
        }
    }
}

/// Which loads a ramp runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Course {
    /// Those that find the greatest that is sustained.
    Search(SearchPlan),
    /// These, in this order, all of them: beyond the limit lies the rest of the curve.
    Steps(Vec<u32>),
}

impl RampPlan {
    /// The greatest load that may be run.
    #[must_use]
    pub fn most(&self) -> u32 {
        match &self.course {
            Course::Search(search) => search.most,
            Course::Steps(loads) => loads.iter().copied().max().unwrap_or(0),
        }
    }

    /// The most steps that it runs until its answer is known, whatever they find.
    #[must_use]
    pub fn most_steps(&self) -> u32 {
        match &self.course {
            Course::Search(search) => search.most_whatever_they_say(),
            Course::Steps(loads) => u32::try_from(loads.len()).unwrap_or(u32::MAX),
        }
    }

    /// The load of the first step.
    #[must_use]
    pub fn first(&self) -> u32 {
        match &self.course {
            Course::Search(search) => search.first.min(search.most),
            Course::Steps(loads) => loads.first().copied().unwrap_or(0),
        }
    }
}

/// Why a step is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The load grows until a step fails.
    Grow,
    /// Between a load that passed and one that failed.
    Bisect,
    /// A load whose failure is doubtful again.
    Retest,
    /// A little below the limit, as far as it is known.
    Below,
    /// A little above it.
    Above,
    /// A load that is known to be sustained: a failure of it is the machine's, or a change of the database.
    Sentinel,
    /// The profile lists it.
    Listed,
    /// The writes of the greatest sustained load, without its reads.
    WritesAlone,
    /// The greatest sustained load, for long.
    Soak,
    /// More than the greatest sustained load.
    Overload,
    /// The greatest sustained load after an overload and a rest.
    After,
}

impl Purpose {
    /// Whether a step that is run for it says where the limit lies.
    #[must_use]
    pub fn is_trial(self) -> bool {
        match self {
            Self::Grow | Self::Bisect | Self::Retest | Self::Listed => true,
            Self::Below | Self::Above | Self::Sentinel => true,
            Self::WritesAlone | Self::Soak | Self::Overload | Self::After => false,
        }
    }
}

/// The next step of a ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// How much of the ramp's quantity.
    pub load: u32,
    /// Why.
    pub purpose: Purpose,
}

/// The answer of a ramp: the limit lies between `lower` and `upper`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// Of an estimate the lower end of its interval, else the greatest load that passed with no smaller one that failed;
    /// `None`: even the first failed.
    pub lower: Option<u32>,
    /// Of an estimate the upper end of its interval, else the least load that failed; `None`: the greatest that may be tried
    /// passed.
    pub upper: Option<u32>,
    /// The greatest load that was tried and sustained and is at most `lower`, or the sentinel where that is greater: what is
    /// quoted of a load is quoted of it.
    pub sustained: Option<u32>,
    /// What the trials near the limit say of it; `None`: there were too few, and the bounds are those of single loads.
    pub estimate: Option<Estimate>,
    /// Whether the client was the limit at `upper`: the database's lies there or higher.
    pub client_limited: bool,
}

impl Bounds {
    /// The greatest load that passed with no smaller one that failed, and the least that failed.
    #[must_use]
    pub fn of_loads(lower: Option<u32>, upper: Option<u32>) -> Self {
        Self { lower, upper, sustained: lower, estimate: None, client_limited: false }
    }
}

/// What comes after a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Another step.
    Next(Step),
    /// The answer.
    Done(Bounds),
}

impl Decision {
    /// The answer, if it is one.
    #[must_use]
    pub fn answer(self) -> Option<Bounds> {
        match self {
            Self::Next(_) => None,
            Self::Done(bounds) => Some(bounds),
        }
    }
}

/// A step that is none of this ramp.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {place} is of {} where the ramp has one of {}", .found.load, .expected.load)]
pub struct OtherStep {
    /// Its place, from 1.
    pub place: usize,
    /// What it was.
    pub found: Step,
    /// What the ramp runs there.
    pub expected: Step,
}

/// A ramp under way.
#[derive(Clone, Debug)]
pub struct RampPolicy(Policy);

#[derive(Clone, Debug)]
enum Policy {
    Search(CapacitySearch),
    Listed { loads: Vec<u32>, place: usize, tallies: Tallies },
}

impl RampPolicy {
    /// A ramp that has not begun.
    #[must_use]
    pub fn new(plan: &RampPlan) -> Self {
        Self(match &plan.course {
            Course::Search(search) => Policy::Search(CapacitySearch::new(*search)),
            Course::Steps(loads) => Policy::Listed { loads: loads.clone(), place: 0, tallies: Tallies::default() },
        })
    }

    /// A ramp after these steps of it with their reports, and its answer if they are all.
    ///
    /// # Errors
    /// A step that it would not have run.
    pub fn after(
        plan: &RampPlan,
        made: impl IntoIterator<Item = (Step, TrialReport)>,
    ) -> Result<(Self, Option<Bounds>), OtherStep> {
        let (mut policy, mut answer) = (Self::new(plan), None);
        for (place, (found, report)) in (1..).zip(made) {
            let expected = policy.step();
            if answer.is_some() || found != expected {
                return Err(OtherStep { place, found, expected });
            }
            answer = policy.decide(report).answer();
        }
        Ok((policy, answer))
    }

    /// The step to run now.
    #[must_use]
    pub fn step(&self) -> Step {
        match &self.0 {
            Policy::Search(search) => search.step(),
            Policy::Listed { loads, place, .. } => {
                Step { load: loads.get(*place).copied().unwrap_or(0), purpose: Purpose::Listed }
            }
        }
    }

    /// How many steps are left, the present one included: at least, as far as one may guess, and at most.
    #[must_use]
    pub fn left(&self) -> (u32, u32) {
        match &self.0 {
            Policy::Search(search) => search.left(),
            Policy::Listed { loads, place, .. } => {
                let left = u32::try_from(loads.len() - place).unwrap_or(u32::MAX);
                (left, left)
            }
        }
    }

    /// Between which loads the answer lies, as far as is known.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        match &self.0 {
            Policy::Search(search) => search.bounds(),
            Policy::Listed { tallies, .. } => tallies.bounds(),
        }
    }

    /// Takes the report of the present step.
    pub fn decide(&mut self, report: TrialReport) -> Decision {
        let load = self.step().load;
        match &mut self.0 {
            Policy::Search(search) => search.decide(report),
            Policy::Listed { loads, place, tallies } => {
                tallies.note(load, report.verdict);
                *place += 1;
                if *place < loads.len() { Decision::Next(self.step()) } else { Decision::Done(self.bounds()) }
            }
        }
    }
}

#[cfg(test)]
mod tests;
