//! Steps of load, and the search for the greatest one, as a pure state machine: verdicts in, the next step or the answer
//! out.

use serde::{Deserialize, Serialize};

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

/// A search as meant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// The load of the first step.
    pub first: u32,
    /// The factor from one step to the next, above 1.
    pub growth: f64,
    /// A greater load than this is not tried.
    pub most: u32,
    /// Bisection ends when (upper − lower) / upper is at most this.
    pub resolution: f64,
    /// Whether the best step is run once more.
    pub confirm: bool,
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
    /// The best load again.
    Confirm,
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

/// The next step of a ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// How much of the ramp's quantity.
    pub load: u32,
    /// Why.
    pub purpose: Purpose,
}

/// The answer of a ramp: the sustained load lies in `lower ..< upper`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// The greatest load that passed with no smaller one that failed; `None`: even the first failed.
    pub lower: Option<u32>,
    /// The least load that failed; `None`: the greatest that may be tried passed.
    pub upper: Option<u32>,
    /// Whether `lower` passed a second time.
    pub confirmed: bool,
}

/// What comes after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Another step.
    Next(Step),
    /// The answer.
    Done(Bounds),
}

/// A best step that fails its confirmation gives way to the next lower one; this often at most.
const MOST_CONFIRMATIONS: u32 = 3;

/// A ramp under way. A search grows by a factor until a step fails, then bisects, then runs the best step once more.
#[derive(Clone, Debug)]
pub struct RampPolicy {
    course: Course,
    current: Step,
    ended: usize,
    passed: Vec<u32>,
    failed: Option<u32>,
    confirmations: u32,
}

impl RampPolicy {
    /// A ramp that has not begun.
    #[must_use]
    pub fn new(plan: &RampPlan) -> Self {
        let purpose = match plan.course {
            Course::Search(_) => Purpose::Grow,
            Course::Steps(_) => Purpose::Listed,
        };
        let current = Step { load: plan.first(), purpose };
        Self { course: plan.course.clone(), current, ended: 0, passed: Vec::new(), failed: None, confirmations: 0 }
    }

    /// The step to run now.
    #[must_use]
    pub fn step(&self) -> Step {
        self.current
    }

    /// Takes the verdict on the present step.
    pub fn decide(&mut self, passed: bool) -> Decision {
        let Step { load, purpose } = self.current;
        self.ended += 1;
        if self.ended == 1 && purpose == Purpose::Grow && !passed {
            // A server that has just started may only have been cold: the whole search would be below its limit.
            return Decision::Next(self.current);
        }
        if purpose == Purpose::Confirm && passed {
            return Decision::Done(self.bounds(true));
        }
        if passed {
            self.passed.push(load);
        } else {
            self.failed = Some(self.failed.map_or(load, |f| f.min(load)));
        }
        match self.following() {
            Some(step) => {
                self.current = step;
                Decision::Next(step)
            }
            None => Decision::Done(self.bounds(false)),
        }
    }

    /// What passed and is less than all that failed.
    fn lower(&self) -> Option<u32> {
        self.passed.iter().copied().filter(|&passed| self.failed.is_none_or(|failed| passed < failed)).max()
    }

    fn bounds(&self, confirmed: bool) -> Bounds {
        Bounds { lower: self.lower(), upper: self.failed, confirmed }
    }

    fn following(&mut self) -> Option<Step> {
        match &self.course {
            Course::Steps(loads) => loads.get(self.ended).map(|&load| Step { load, purpose: Purpose::Listed }),
            &Course::Search(plan) => self.following_of_search(plan),
        }
    }

    fn following_of_search(&mut self, plan: SearchPlan) -> Option<Step> {
        let lower = self.lower();
        match (lower, self.failed) {
            (Some(lower), None) if lower < plan.most => Some(Step { load: plan.grown(lower), purpose: Purpose::Grow }),
            (lower, Some(upper)) if self.confirmations == 0 && !plan.near_enough(lower, upper) => {
                let middle = lower.unwrap_or(0) + (upper - lower.unwrap_or(0)) / 2;
                Some(Step { load: middle, purpose: Purpose::Bisect })
            }
            (Some(lower), _) if plan.confirm && self.confirmations < MOST_CONFIRMATIONS => {
                self.confirmations += 1;
                Some(Step { load: lower, purpose: Purpose::Confirm })
            }
            _ => None,
        }
    }
}

impl SearchPlan {
    fn near_enough(&self, lower: Option<u32>, upper: u32) -> bool {
        let width = upper - lower.unwrap_or(0);
        width <= 1 || f64::from(width) / f64::from(upper) <= self.resolution
    }

    fn grown(&self, load: u32) -> u32 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range of a load")]
        let grown = (f64::from(load) * self.growth).min(f64::from(self.most)).round() as u32;
        grown.max(load + 1).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAN: SearchPlan = SearchPlan { first: 1, growth: 2.0, most: 100_000, resolution: 0.05, confirm: true };

    /// Runs a search against a verdict and gives the bounds and the steps.
    fn search(plan: SearchPlan, verdict: impl FnMut(Step) -> bool) -> (Bounds, Vec<Step>) {
        ramp(Course::Search(plan), verdict)
    }

    fn ramp(course: Course, mut verdict: impl FnMut(Step) -> bool) -> (Bounds, Vec<Step>) {
        let plan =
            RampPlan { quantity: Quantity::Users, step_ns: 1_000_000_000, course, afterwards: Afterwards::default() };
        let mut policy = RampPolicy::new(&plan);
        let mut steps = vec![policy.step()];
        loop {
            let passed = verdict(policy.step());
            match policy.decide(passed) {
                Decision::Next(step) => steps.push(step),
                Decision::Done(bounds) => return (bounds, steps),
            }
            assert!(steps.len() < 100, "the search does not end");
        }
    }

    #[test]
    fn users_double_then_bisect_then_the_best_is_confirmed() {
        let (bounds, steps) = search(PLAN, |s| s.load <= 100);
        let loads: Vec<_> = steps.iter().map(|s| s.load).collect();
        assert_eq!(loads, [1, 2, 4, 8, 16, 32, 64, 128, 96, 112, 104, 100, 100]);
        assert_eq!(steps.last().map(|s| s.purpose), Some(Purpose::Confirm));
        assert_eq!(bounds, Bounds { lower: Some(100), upper: Some(104), confirmed: true });
    }

    #[test]
    fn a_failing_first_step_is_bisected_down_to_nothing() {
        let (bounds, _) = search(SearchPlan { first: 16, ..PLAN }, |_| false);
        assert_eq!(bounds, Bounds { lower: None, upper: Some(1), confirmed: false });
        let (bounds, _) = search(SearchPlan { first: 16, ..PLAN }, |s| s.load <= 3);
        assert_eq!(bounds.lower, Some(3));
    }

    #[test]
    fn the_limit_of_users_has_no_upper_bound() {
        let (bounds, steps) = search(SearchPlan { most: 50, ..PLAN }, |_| true);
        assert_eq!(bounds, Bounds { lower: Some(50), upper: None, confirmed: true });
        assert_eq!(steps.iter().map(|s| s.load).max(), Some(50));
    }

    #[test]
    fn a_best_step_that_fails_again_gives_way_to_a_lower_one() {
        let (bounds, _) = search(PLAN, |s| s.load <= if s.purpose == Purpose::Confirm { 90 } else { 100 });
        assert_eq!(bounds, Bounds { lower: Some(64), upper: Some(96), confirmed: true });
    }

    #[test]
    fn listed_steps_are_all_run_and_bound_the_limit() {
        let (bounds, steps) = ramp(Course::Steps(vec![10, 20, 40, 30]), |s| s.load <= 25);
        assert_eq!(steps.iter().map(|s| s.load).collect::<Vec<_>>(), [10, 20, 40, 30]);
        assert!(steps.iter().all(|s| s.purpose == Purpose::Listed));
        assert_eq!(bounds, Bounds { lower: Some(20), upper: Some(30), confirmed: false });
    }

    #[test]
    fn a_load_that_passes_above_one_that_failed_is_no_lower_bound() {
        let (bounds, _) = ramp(Course::Steps(vec![10, 20, 40]), |s| s.load != 20);
        assert_eq!(bounds, Bounds { lower: Some(10), upper: Some(20), confirmed: false });
        let (bounds, _) = ramp(Course::Steps(vec![10]), |_| false);
        assert_eq!(bounds, Bounds { lower: None, upper: Some(10), confirmed: false });
    }

    #[test]
    fn a_first_step_that_fails_is_run_once_more() {
        let mut tries = 0;
        let cold = |s: Step| {
            tries += 1;
            tries > 1 && s.load <= 10
        };
        let (bounds, steps) = search(SearchPlan { first: 8, ..PLAN }, cold);
        assert_eq!(bounds, Bounds { lower: Some(10), upper: Some(11), confirmed: true });
        assert_eq!(steps.iter().take(3).map(|s| s.load).collect::<Vec<_>>(), [8, 8, 16]);
        let (_, steps) = search(SearchPlan { first: 8, ..PLAN }, |s| s.load <= 5);
        assert_eq!(steps.iter().take(3).map(|s| s.load).collect::<Vec<_>>(), [8, 8, 4], "once");
    }

    #[test]
    fn afterwards_come_the_writes_alone_soak_overload_and_the_load_itself() {
        let afterwards = Afterwards { writes_alone: true, soak_ns: 60, overload_ns: 30, rest_ns: 5 };
        let steps = |sustained, most| {
            let steps = afterwards.steps(sustained, most, 10).into_iter();
            steps.map(|(step, ns)| (step.load, step.purpose, ns)).collect::<Vec<_>>()
        };
        let (alone, soak) = (Purpose::WritesAlone, Purpose::Soak);
        let (overload, after) = (Purpose::Overload, Purpose::After);
        assert_eq!(steps(31, 100), [(31, alone, 10), (31, soak, 60), (47, overload, 30), (31, after, 10)]);
        assert_eq!(steps(90, 100)[2], (100, overload, 30), "more than may be tried is not");
        assert!(Afterwards::default().steps(31, 100, 10).is_empty());
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_bounds(truth in 1_u32..50_000, first in 1_u32..5_000) {
            let (bounds, _) = search(SearchPlan { first, ..PLAN }, |s| s.load <= truth);
            let (lower, upper) = (bounds.lower.unwrap(), bounds.upper.unwrap());
            prop_assert!(lower <= truth && truth < upper);
            prop_assert!(upper - lower <= 1 || f64::from(upper - lower) / f64::from(upper) <= 0.05);
        }
    }
}
