//! The search for the greatest load as a pure state machine: verdicts in, the next step or the answer out.

use serde::{Deserialize, Serialize};

/// The search as meant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RampPlan {
    /// Users of the first step.
    pub first: u32,
    /// The factor from one step to the next, above 1.
    pub growth: f64,
    /// More users than this are not tried.
    pub most: u32,
    /// How long a step counts.
    pub step_ns: u64,
    /// Bisection ends when (upper − lower) / upper is at most this.
    pub resolution: f64,
    /// Whether the best step is run once more.
    pub confirm: bool,
}

/// Why a step is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Users grow until a step fails.
    Grow,
    /// Between a load that passed and one that failed.
    Bisect,
    /// The best load again.
    Confirm,
}

/// The next step of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// How many users.
    pub users: u32,
    /// Why.
    pub purpose: Purpose,
}

/// The answer of a search: the sustained load lies in `lower ..< upper`.
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

/// The search: users grow by a factor until a step fails, then bisection, then the best step once more.
#[derive(Clone, Debug)]
pub struct RampPolicy {
    plan: RampPlan,
    current: Step,
    passed: Vec<u32>,
    failed: Option<u32>,
    confirmations: u32,
}

impl RampPolicy {
    /// A search that has not begun.
    #[must_use]
    pub fn new(plan: RampPlan) -> Self {
        let current = Step { users: plan.first.min(plan.most), purpose: Purpose::Grow };
        Self { plan, current, passed: Vec::new(), failed: None, confirmations: 0 }
    }

    /// The step to run now.
    #[must_use]
    pub fn step(&self) -> Step {
        self.current
    }

    /// Takes the verdict on the present step.
    pub fn decide(&mut self, passed: bool) -> Decision {
        let Step { users, purpose } = self.current;
        if purpose == Purpose::Confirm && passed {
            return Decision::Done(self.bounds(true));
        }
        if passed {
            self.passed.push(users);
        } else {
            self.passed.retain(|&p| p < users);
            self.failed = Some(self.failed.map_or(users, |f| f.min(users)));
        }
        match self.following() {
            Some(step) => {
                self.current = step;
                Decision::Next(step)
            }
            None => Decision::Done(self.bounds(false)),
        }
    }

    fn lower(&self) -> Option<u32> {
        self.passed.iter().copied().max()
    }

    fn bounds(&self, confirmed: bool) -> Bounds {
        Bounds { lower: self.lower(), upper: self.failed, confirmed }
    }

    fn following(&mut self) -> Option<Step> {
        let lower = self.lower();
        match (lower, self.failed) {
            (Some(lower), None) if lower < self.plan.most => {
                Some(Step { users: self.grown(lower), purpose: Purpose::Grow })
            }
            (lower, Some(upper)) if self.confirmations == 0 && !self.near_enough(lower, upper) => {
                let middle = lower.unwrap_or(0) + (upper - lower.unwrap_or(0)) / 2;
                Some(Step { users: middle, purpose: Purpose::Bisect })
            }
            (Some(lower), _) if self.plan.confirm && self.confirmations < MOST_CONFIRMATIONS => {
                self.confirmations += 1;
                Some(Step { users: lower, purpose: Purpose::Confirm })
            }
            _ => None,
        }
    }

    fn near_enough(&self, lower: Option<u32>, upper: u32) -> bool {
        let width = upper - lower.unwrap_or(0);
        width <= 1 || f64::from(width) / f64::from(upper) <= self.plan.resolution
    }

    fn grown(&self, users: u32) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to the range of u32 users"
        )]
        let grown = (f64::from(users) * self.plan.growth).min(f64::from(self.plan.most)).round() as u32;
        grown.max(users + 1).min(self.plan.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAN: RampPlan =
        RampPlan { first: 1, growth: 2.0, most: 100_000, step_ns: 1_000_000_000, resolution: 0.05, confirm: true };

    /// Runs a search against a verdict and gives the bounds and the steps.
    fn search(plan: RampPlan, mut verdict: impl FnMut(Step) -> bool) -> (Bounds, Vec<Step>) {
        let mut policy = RampPolicy::new(plan);
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
        let (bounds, steps) = search(PLAN, |s| s.users <= 100);
        let users: Vec<_> = steps.iter().map(|s| s.users).collect();
        assert_eq!(users, [1, 2, 4, 8, 16, 32, 64, 128, 96, 112, 104, 100, 100]);
        assert_eq!(steps.last().map(|s| s.purpose), Some(Purpose::Confirm));
        assert_eq!(bounds, Bounds { lower: Some(100), upper: Some(104), confirmed: true });
    }

    #[test]
    fn a_failing_first_step_is_bisected_down_to_nothing() {
        let (bounds, _) = search(RampPlan { first: 16, ..PLAN }, |_| false);
        assert_eq!(bounds, Bounds { lower: None, upper: Some(1), confirmed: false });
        let (bounds, _) = search(RampPlan { first: 16, ..PLAN }, |s| s.users <= 3);
        assert_eq!(bounds.lower, Some(3));
    }

    #[test]
    fn the_limit_of_users_has_no_upper_bound() {
        let (bounds, steps) = search(RampPlan { most: 50, ..PLAN }, |_| true);
        assert_eq!(bounds, Bounds { lower: Some(50), upper: None, confirmed: true });
        assert_eq!(steps.iter().map(|s| s.users).max(), Some(50));
    }

    #[test]
    fn a_best_step_that_fails_again_gives_way_to_a_lower_one() {
        let (bounds, _) = search(PLAN, |s| s.users <= if s.purpose == Purpose::Confirm { 90 } else { 100 });
        assert_eq!(bounds, Bounds { lower: Some(64), upper: Some(96), confirmed: true });
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_bounds(truth in 1_u32..50_000, first in 1_u32..5_000) {
            let (bounds, _) = search(RampPlan { first, ..PLAN }, |s| s.users <= truth);
            let (lower, upper) = (bounds.lower.unwrap(), bounds.upper.unwrap());
            prop_assert!(lower <= truth && truth < upper);
            prop_assert!(upper - lower <= 1 || f64::from(upper - lower) / f64::from(upper) <= 0.05);
        }
    }
}
