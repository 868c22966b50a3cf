//! The search for the greatest load that is sustained, as a pure state machine: verdicts of trials in, the next trial or the
//! interval out.
//!
//! The terms are those of MLRsearch (IETF BMWG, draft-ietf-bmwg-mlrsearch): the *relevant lower bound* is the greatest load
//! that was sustained with no smaller one that failed, the *relevant upper bound* the least load that failed. Of several
//! trials of a load the majority counts: the exceed ratio is one half.

mod tallies;
#[cfg(test)]
mod virtual_time;

pub use tallies::Tallies;

use crate::ramp::{Bounds, Decision, Purpose, Step};
use serde::{Deserialize, Serialize};

/// A search as meant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchPlan {
    /// The load of the first trial.
    pub first: u32,
    /// The factor from one trial to the next while the load grows, above 1.
    pub growth: f64,
    /// A greater load than this is not tried.
    pub most: u32,
    /// Bisection ends when (upper − lower) / upper is at most this.
    pub resolution: f64,
    /// Of so many trials the majority decides a bound. An odd number; 1: no bound is tested again.
    pub repeats: u32,
}

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialVerdict {
    /// The load was sustained.
    Sustained,
    /// It was too much for the database.
    TooMuch,
    /// It was too much for the client: of the database it only says that its limit is not known.
    TooMuchForClient,
}

/// A search ends after so many trials, whatever it knows by then. Far more than any search needs whose trials agree.
pub(crate) const MOST_TRIALS: u32 = 100;

/// A search under way. It grows by a factor until a trial fails, then bisects, then runs both bounds again until the majority
/// of their trials is certain. What contradicts itself, a load that failed below one that was sustained, is run again at
/// once. A bound that does not hold gives way, and the search goes on from what is left.
#[derive(Clone, Debug)]
pub struct CapacitySearch {
    plan: SearchPlan,
    current: Step,
    tallies: Tallies,
    trials: u32,
}

impl CapacitySearch {
    /// A search that has not begun.
    #[must_use]
    pub fn new(plan: SearchPlan) -> Self {
        let current = Step { load: plan.first.min(plan.most), purpose: Purpose::Grow };
        Self { plan, current, tallies: Tallies::default(), trials: 0 }
    }

    /// The trial to run now.
    #[must_use]
    pub fn step(&self) -> Step {
        self.current
    }

    /// Takes the verdict on the present trial.
    pub fn decide(&mut self, verdict: TrialVerdict) -> Decision {
        self.trials += 1;
        self.tallies.note(self.current.load, verdict);
        match self.following() {
            Some(step) => {
                self.current = step;
                Decision::Next(step)
            }
            None => Decision::Done(self.bounds()),
        }
    }

    /// The interval as far as it is known.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let bounds = self.tallies.bounds();
        let ends = [bounds.lower, bounds.upper];
        let is_confirmed = bounds.lower.is_some() && ends.into_iter().flatten().all(|load| self.is_decided(load));
        Bounds { confirmed: is_confirmed && self.plan.repeats > 1, ..bounds }
    }

    /// Whether the present trial's load was sustained by most of its trials so far, if there are any.
    #[must_use]
    pub fn leaning(&self) -> Option<bool> {
        self.tallies.of(self.current.load).is_sustained()
    }

    fn following(&self) -> Option<Step> {
        if self.trials >= MOST_TRIALS {
            return None;
        }
        if self.leaning().is_none() {
            // As many for as against it.
            return Some(self.current);
        }
        let load = self.current.load;
        if self.tallies.of(load).is_clients() && !self.is_decided(load) {
            // It has said nothing of the database yet.
            return Some(Step { load, purpose: Purpose::Retest });
        }
        let Bounds { lower, upper, .. } = self.tallies.bounds();
        if let Some(load) = upper.filter(|&load| !self.is_decided(load) && self.is_doubtful(load)) {
            return Some(Step { load, purpose: Purpose::Retest });
        }
        match (lower, upper) {
            (Some(lower), None) if lower < self.plan.most => {
                return Some(Step { load: self.plan.grown(lower), purpose: Purpose::Grow });
            }
            (lower, Some(upper)) if !self.plan.near_enough(lower, upper) => {
                let lower = lower.unwrap_or(0);
                return Some(Step { load: lower + (upper - lower) / 2, purpose: Purpose::Bisect });
            }
            _ => {}
        }
        let undecided = [upper, lower].into_iter().flatten().find(|&load| !self.is_decided(load));
        undecided.map(|load| Step { load, purpose: Purpose::Confirm })
    }

    /// Whether a failure may be none: a greater load was sustained, or it was the very first trial, of a server that may only
    /// have been cold.
    fn is_doubtful(&self, failed: u32) -> bool {
        self.tallies.is_sustained_above(failed) || self.tallies.is_only(failed)
    }

    /// Whether no further trial of this load can change what the majority says.
    fn is_decided(&self, load: u32) -> bool {
        self.tallies.of(load).is_decided(self.plan.repeats)
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
    use TrialVerdict::{Sustained, TooMuch, TooMuchForClient};
    use proptest::prelude::*;

    const PLAN: SearchPlan = SearchPlan { first: 1, growth: 2.0, most: 100_000, resolution: 0.05, repeats: 3 };

    fn up_to(limit: u32) -> impl FnMut(Step, u32) -> TrialVerdict {
        move |step, _| if step.load <= limit { Sustained } else { TooMuch }
    }

    /// Runs a search against verdicts, which are told how often the load was run before; gives the bounds and the trials.
    fn search(plan: SearchPlan, mut verdict: impl FnMut(Step, u32) -> TrialVerdict) -> (Bounds, Vec<Step>) {
        let mut search = CapacitySearch::new(plan);
        let mut steps: Vec<Step> = Vec::new();
        loop {
            let step = search.step();
            let before = steps.iter().filter(|s| s.load == step.load).count();
            steps.push(step);
            if let Decision::Done(bounds) = search.decide(verdict(step, u32::try_from(before).unwrap())) {
                return (bounds, steps);
            }
        }
    }

    fn loads(steps: &[Step]) -> Vec<u32> {
        steps.iter().map(|s| s.load).collect()
    }

    fn bounds(lower: u32, upper: u32) -> Bounds {
        Bounds { lower: Some(lower), upper: Some(upper), confirmed: true, client_limited: false }
    }

    #[test]
    fn loads_double_then_bisect_then_both_bounds_are_run_again() {
        let (found, steps) = search(PLAN, up_to(100));
        assert_eq!(loads(&steps), [1, 2, 4, 8, 16, 32, 64, 128, 96, 112, 104, 100, 104, 100]);
        assert!(steps[12..].iter().all(|s| s.purpose == Purpose::Confirm));
        assert_eq!(found, bounds(100, 104));
        let (found, steps) = search(SearchPlan { repeats: 1, ..PLAN }, up_to(100));
        assert_eq!((steps.len(), found), (12, Bounds { confirmed: false, ..bounds(100, 104) }), "none is run again");
    }

    #[test]
    fn a_failing_first_trial_is_run_again_then_the_load_falls_to_nothing() {
        let (found, steps) = search(SearchPlan { first: 16, ..PLAN }, up_to(0));
        assert_eq!(found, Bounds { lower: None, upper: Some(1), confirmed: false, client_limited: false });
        assert_eq!(loads(&steps), [16, 16, 8, 4, 2, 1, 1], "the least load has its majority too");
        assert_eq!(search(SearchPlan { first: 16, ..PLAN }, up_to(3)).0.lower, Some(3));
    }

    #[test]
    fn a_server_that_is_cold_fails_once() {
        let cold = |step: Step, before| if step.load == 8 && before == 0 { TooMuch } else { up_to(10)(step, before) };
        let (found, steps) = search(SearchPlan { first: 8, ..PLAN }, cold);
        assert_eq!(found, bounds(10, 11));
        assert_eq!(loads(&steps)[..4], [8, 8, 8, 16]);
    }

    #[test]
    fn the_greatest_load_that_may_be_tried_has_no_upper_bound() {
        let (found, steps) = search(SearchPlan { most: 50, ..PLAN }, up_to(1000));
        assert_eq!(found, Bounds { lower: Some(50), upper: None, confirmed: true, client_limited: false });
        assert_eq!(loads(&steps)[4..], [16, 32, 50, 50]);
    }

    /// By chance 64 fails once, while the truth is 100.
    #[test]
    fn a_failure_below_a_load_that_was_sustained_is_run_again() {
        let chance =
            |step: Step, before| if (step.load, before) == (64, 0) { TooMuch } else { up_to(100)(step, before) };
        let (found, steps) = search(PLAN, chance);
        assert_eq!(found.lower, Some(100), "{steps:?}");
    }

    /// Between 60 and 80 the server does not carry what it carries above: the answer lies below all of that.
    #[test]
    fn a_load_that_is_sustained_above_one_that_failed_is_no_lower_bound() {
        let hole = |step: Step, _| if (60..80).contains(&step.load) || step.load > 200 { TooMuch } else { Sustained };
        let (found, steps) = search(SearchPlan { first: 50, growth: 1.5, ..PLAN }, hole);
        assert_eq!(loads(&steps)[..2], [50, 75]);
        assert!(found.upper.is_some_and(|upper| upper <= 63) && found.lower == Some(59), "{found:?} {steps:?}");
    }

    /// 100 is sustained when it is bisected and not when it is run again.
    #[test]
    fn a_lower_bound_that_does_not_hold_gives_way_and_the_search_goes_on() {
        let (found, _) = search(PLAN, |step, before| match (step.load, before) {
            (100, 0) => Sustained,
            _ => up_to(98)(step, before),
        });
        assert_eq!(found, bounds(96, 100), "4 % are near enough");
    }

    #[test]
    fn an_upper_bound_that_does_not_hold_gives_way_and_the_search_goes_on() {
        let (found, _) = search(PLAN, |step, before| match (step.load, before) {
            (104, 0) => TooMuch,
            _ => up_to(106)(step, before),
        });
        assert_eq!((found.confirmed, found.lower), (true, Some(104)), "{found:?}");
    }

    #[test]
    fn a_bound_that_is_the_clients_says_so() {
        let client = |step: Step, _| if step.load <= 100 { Sustained } else { TooMuchForClient };
        assert_eq!(search(PLAN, client).0, Bounds { client_limited: true, ..bounds(100, 104) });
        let never = |_: Step, _: u32| TooMuchForClient;
        let nothing = Bounds { lower: None, upper: Some(1), confirmed: false, client_limited: true };
        assert_eq!(search(PLAN, never).0, nothing);
    }

    /// A client that is held up makes each load once in vain.
    #[test]
    fn what_only_the_client_failed_is_run_again_and_is_no_vote() {
        let (found, steps) =
            search(PLAN, |step, before| if before < 1 { TooMuchForClient } else { up_to(100)(step, before) });
        assert_eq!(found, bounds(100, 104), "{steps:?}");
        // A client that is the limit now and then does not make a search endless.
        let mut calls = 0;
        let (found, steps) = search(PLAN, |step, before| {
            calls += 1;
            if calls % 2 == 0 { TooMuchForClient } else { up_to(100)(step, before) }
        });
        assert!(found.lower.is_some_and(|lower| (90..=100).contains(&lower)), "{found:?} after {steps:?}");
        assert!(steps.len() < 60, "{} trials", steps.len());
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_bounds(truth in 1_u32..50_000, first in 1_u32..5_000, half in 0_u32..3) {
            let (found, _) = search(SearchPlan { first, repeats: 2 * half + 1, ..PLAN }, up_to(truth));
            let (lower, upper) = (found.lower.unwrap(), found.upper.unwrap());
            prop_assert!(lower <= truth && truth < upper);
            prop_assert!(upper - lower <= 1 || f64::from(upper - lower) / f64::from(upper) <= 0.05);
        }

        /// Whatever the verdicts are, no load is run more often than its majority needs, and the search ends.
        #[test]
        fn verdicts_without_sense_end(verdicts in prop::collection::vec(any::<bool>(), 200), first in 1_u32..5_000) {
            let mut told = verdicts.into_iter().cycle();
            let (found, steps) = search(SearchPlan { first, ..PLAN }, |_, _| {
                if told.next() == Some(true) { Sustained } else { TooMuch }
            });
            prop_assert!(steps.len() <= 100, "{}", steps.len());
            prop_assert!(steps.iter().all(|s| steps.iter().filter(|o| o.load == s.load).count() <= 3));
            prop_assert!(found.lower.zip(found.upper).is_none_or(|(lower, upper)| lower < upper));
        }
    }
}
