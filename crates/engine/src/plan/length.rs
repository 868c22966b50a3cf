//! How long the load of a plan takes, if all goes as planned.

use super::{Load, Plan};
use crate::{
    ramp::{Course, Decision, Quantity, RampPlan},
    search::{CapacitySearch, SearchPlan, TrialReport, TrialVerdict},
};
use iotbench_recorder::WINDOW_NS;

/// So many limits between the least load and the most are tried out.
const LIMITS: u32 = 64;

impl Plan {
    /// The longest that its load takes, in nanoseconds: warm-up and measured part, or the steps of its ramp on a database that
    /// does not contradict itself, with what comes before each of them: rounds, users who join, and the next whole second.
    /// Filling, draining, settling and checking come on top.
    #[must_use]
    pub fn longest_load_ns(&self) -> u64 {
        match &self.ramp {
            Some(ramp) => {
                let before_ns = self.longest_rounds_ns() + self.joining_ns() + WINDOW_NS;
                let all_before_ns = ramp.most_trials().saturating_mul(before_ns);
                self.phases.warmup_ns.saturating_add(ramp.longest_ns()).saturating_add(all_before_ns)
            }
            None => self.phases.warmup_ns.saturating_add(self.phases.duration_ns),
        }
    }

    /// How long users who join for a step take to begin, all of them: what counts before that meets a load that is not whole. Not
    /// longer than a step.
    pub(crate) fn joining_ns(&self) -> u64 {
        match (&self.ramp, self.groups.first().map(|group| &group.load)) {
            (Some(ramp), Some(&Load::Closed { think_ns, .. })) if ramp.quantity == Quantity::Users => {
                think_ns.min(ramp.step_ns)
            }
            _ => 0,
        }
    }
}

impl RampPlan {
    fn most_trials(&self) -> u64 {
        match &self.course {
            Course::Search(search) => u64::from(search.most_trials()),
            Course::Steps(loads) => loads.len() as u64,
        }
    }

    fn longest_ns(&self) -> u64 {
        let afterwards = self.afterwards.steps(self.first(), self.most(), self.step_ns);
        let afterwards_ns =
            afterwards.iter().map(|(_, length_ns)| *length_ns).fold(self.afterwards.rest_ns, u64::saturating_add);
        self.most_trials().saturating_mul(self.step_ns).saturating_add(afterwards_ns)
    }
}

impl SearchPlan {
    /// The most trials that the search needs where every load up to some limit is sustained and none above, and each tells how
    /// far it was from it.
    fn most_trials(self) -> u32 {
        let ratio = f64::from(self.most.max(1)) / f64::from(self.first.max(1));
        let limit = |n: u32| f64::from(self.first) * ratio.powf(f64::from(n) / f64::from(LIMITS));
        (0..=LIMITS).map(|n| self.trials_at(limit(n))).chain([self.trials_at(0.0)]).max().unwrap_or(0)
    }

    fn trials_at(self, limit: f64) -> u32 {
        let mut search = CapacitySearch::new(self);
        let mut trials = 0;
        loop {
            trials += 1;
            let load = f64::from(search.step().load);
            let verdict = if load <= limit { TrialVerdict::Sustained } else { TrialVerdict::TooMuch };
            let report = TrialReport { verdict, margin: None };
            if let Decision::Done(_) = search.decide(report) {
                return trials;
            }
            if search.is_near() {
                return trials + self.most_near();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ramp::Afterwards;

    fn search(most: u32) -> SearchPlan {
        SearchPlan { first: 16, growth: 2.0, most, resolution: 0.5, trials: 14, closed: true, seed: 1 }
    }

    #[test]
    fn a_search_is_as_long_as_its_longest_way() {
        // 16, 32, 64; then 64 once more, for two of three trials.
        assert_eq!(search(64).trials_at(1e9), 4);
        // 16, 32 twice, 24, 20; then five blocks of three, of which the last is whole.
        assert_eq!(search(64).trials_at(19.0), 5 + 15);
        // 16 fails and is doubtful: again; then 8, 4, 2, 1.
        assert_eq!(search(64).trials_at(0.0), 6);
        assert_eq!(search(64).most_trials(), 21);
    }

    #[test]
    fn what_follows_the_answer_counts_too() {
        let afterwards = Afterwards { writes_alone: true, soak_ns: 5, overload_ns: 7, rest_ns: 100 };
        let course = Course::Steps(vec![1, 2, 3]);
        let ramp = RampPlan { quantity: Quantity::Users, step_ns: 1000, course, afterwards };
        // Three steps, the writes alone, the soak, the overload, the load after it, and the rest between.
        assert_eq!(ramp.longest_ns(), 3000 + 1000 + 5 + 7 + 1000 + 100);
    }
}
