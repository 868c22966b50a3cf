//! How far the search for the greatest load is.

use super::{course::clock, figures::duration};
use iotbench_engine::{Decision, Purpose, Quantity, RampPlan, RampPolicy, Step, StepFigures, TrialReport};
use iotbench_report::figure::count;
use std::time::Duration;

/// Follows the search with a policy of its own.
#[derive(Clone, Debug)]
pub(super) struct Search {
    policy: RampPolicy,
    quantity: Quantity,
    step: Duration,
    ended: u32,
    done: bool,
    /// How many steps were run here, not by an earlier process, and when the last of them ended.
    timed: (u32, Duration),
}

impl Search {
    pub(super) fn new(plan: &RampPlan) -> Self {
        let (policy, step) = (RampPolicy::new(plan), Duration::from_nanos(plan.step_ns));
        Self { policy, quantity: plan.quantity, step, ended: 0, done: false, timed: (0, Duration::ZERO) }
    }

    fn decide(&mut self, report: TrialReport) {
        self.ended += 1;
        if !self.done {
            self.done = matches!(self.policy.decide(report), Decision::Done(_));
        }
    }

    /// Which step is running, and what for.
    pub(super) fn place(&self, step: Step) -> String {
        let purpose = match step.purpose {
            Purpose::Grow => "growing",
            Purpose::Bisect => "narrowing",
            Purpose::Below => "just below the limit",
            Purpose::Above => "just above the limit",
            Purpose::Sentinel => "sentinel",
            Purpose::Retest => "testing again",
            Purpose::Listed => "listed",
            Purpose::WritesAlone => "writes alone",
            Purpose::Soak => "soaking",
            Purpose::Overload => "overloading",
            Purpose::After => "after the overload",
        };
        format!("step {} ({purpose}){}", self.ended + 1, self.interval())
    }

    /// `, between 384 and 400`, once both bounds are known.
    fn interval(&self) -> String {
        let bounds = self.policy.bounds();
        let between = bounds
            .lower
            .zip(bounds.upper)
            .map(|(lower, upper)| format!(", between {} and {}", count(u64::from(lower)), count(u64::from(upper))));
        between.unwrap_or_default()
    }

    /// What a step found out of its load. `after`: so long after the search began here; none: it was run by an earlier process.
    pub(super) fn end_step(&mut self, figures: &StepFigures, after: Option<Duration>) -> String {
        self.decide(figures.report());
        if let Some(after) = after {
            self.timed = (self.timed.0 + 1, after);
        }
        self.step_line(figures)
    }

    /// The time of the steps that are left, if they take as long as those before them, with all that lies between two of them.
    pub(super) fn time_left(&self) -> String {
        let (least, most) = if self.done { (0, 0) } else { self.policy.left() };
        let step = self.timed.1.checked_div(self.timed.0).map_or(self.step, |step| step.max(self.step));
        match least == most {
            true => format!("about {} left", clock(step * least)),
            false => format!("{} to {} left", clock(step * least), clock(step * most)),
        }
    }

    /// What a step found out.
    fn step_line(&self, figures: &StepFigures) -> String {
        let mean = mean_response(figures).map_or("no answer".into(), |mean| format!("mean response {mean}"));
        let p99 = (figures.response.p99_ns, figures.response.p99_at_least_ns, figures.response.p99_at_most_ns);
        let p99 = bounded(p99).map(|p99| format!(", p99 {p99}")).unwrap_or_default();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rates are positive and below 2^64"
        )]
        let (operations, values) = (figures.operations_per_s.round() as u64, figures.values_per_s.round() as u64);
        let verdict = match &figures.judgement.failure {
            Some(why) => format!("failed: {why}"),
            None if figures.judgement.passed => "passed".into(),
            None => "failed".into(),
        };
        let lost = if figures.points_dropped > 0 {
            format!(", {} datapoints lost", figures.points_dropped)
        } else {
            String::new()
        };
        let visible = figures.visibility.map(|seen| {
            let part = 100.0 * seen.visible_per_s / seen.acked_per_s;
            format!(", {part:.1} % visible, lag {:.1} s to {:.1} s", seen.lag_first_s, seen.lag_last_s)
        });
        let visible = visible.unwrap_or_default();
        format!(
            "{:>7} {}: {} ops/s, {} values/s, {mean}{p99}{visible}{lost}: {verdict}",
            count(u64::from(figures.step.load)),
            match self.quantity {
                Quantity::Users => "users",
                Quantity::OperationsPerSecond => "ops/s offered",
                Quantity::Devices => "devices",
            },
            count(operations),
            count(values),
        )
    }
}

/// The mean response of a step, a range or a lower bound; `None`: there was no answer.
fn mean_response(figures: &StepFigures) -> Option<String> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a mean response time is positive and far below 2^64 ns"
    )]
    let whole = |ns: Option<f64>| ns.map(|ns| ns as u64);
    let mean = [figures.response.mean_ns, figures.response.mean_at_least_ns, figures.response.mean_at_most_ns];
    let [known, at_least, at_most] = mean.map(whole);
    bounded((known, at_least, at_most))
}

/// What is known, a range, or a lower bound; `None`: there is none.
fn bounded(of: (Option<u64>, Option<u64>, Option<u64>)) -> Option<String> {
    match of {
        (Some(ns), ..) => Some(duration(ns)),
        (None, Some(least), Some(most)) => Some(format!("{} to {}", duration(least), duration(most))),
        (None, Some(least), None) => Some(format!("at least {}", duration(least))),
        (None, None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_engine::{Afterwards, Course, SearchPlan, TrialVerdict};

    fn plan() -> RampPlan {
        let search =
            SearchPlan { first: 16, growth: 2.0, most: 16_384, resolution: 0.05, trials: 24, closed: true, seed: 1 };
        RampPlan {
            quantity: Quantity::Users,
            step_ns: 6_000_000_000,
            course: Course::Search(search),
            afterwards: Afterwards::default(),
        }
    }

    fn report(is_sustained: bool) -> TrialReport {
        let verdict = if is_sustained { TrialVerdict::Sustained } else { TrialVerdict::TooMuch };
        TrialReport { verdict, margin: None }
    }

    #[test]
    fn the_time_left_is_bounded_and_falls_to_nothing() {
        let mut search = Search::new(&plan());
        let mut before = u32::MAX;
        while !search.done {
            let (least, most) = search.policy.left();
            assert!(0 < least && least <= most, "{search:?}");
            // Growing may go on, and then as much as had been thought is left again.
            assert!(most < before || search.policy.step().purpose == Purpose::Grow, "{most} after {before}");
            before = most;
            search.decide(report(search.policy.step().load <= 700));
        }
        assert_eq!(search.time_left(), "about 0:00 left");
    }

    #[test]
    fn listed_steps_are_counted_down() {
        let mut search = Search::new(&RampPlan { course: Course::Steps(vec![1, 2, 3]), ..plan() });
        assert_eq!(search.time_left(), "about 0:18 left");
        search.decide(report(false));
        assert_eq!(search.time_left(), "about 0:12 left");
    }

    #[test]
    fn the_time_left_goes_by_what_steps_take_with_all_that_lies_between_them() {
        let mut search = Search::new(&RampPlan { course: Course::Steps(vec![1, 2, 3, 4]), ..plan() });
        search.decide(report(true));
        assert_eq!(search.time_left(), "about 0:18 left", "none was run here");
        // Two steps of 6 s within 18 s.
        search.decide(report(true));
        search.timed = (2, Duration::from_secs(18));
        assert_eq!(search.time_left(), "about 0:18 left", "two of 9 s");
    }
}
