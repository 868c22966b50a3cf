//! Searches against servers whose capacity is known, in virtual time: schedule, counting, figures, verdict and search are the
//! program's own. The server and the clock are not: each operation is answered when a queue's rule says.

use super::{Counted, recorded::planned};
use crate::{
    outcome::StepFigures,
    plan::{Plan, StopPlan},
    profile::Arrival,
    ramp::{Afterwards, Bounds, Course, Decision, Purpose, Quantity, RampPlan, RampPolicy, Step},
    schedule::Schedule,
    search::SearchPlan,
    slice::Slice,
    totals::Totals,
    trial::Limit,
};
use iotbench_oracle_server::{
    ServiceTime,
    analytic::{mm1_arrivals_within_per_s, mm1_quantile_s},
};
use iotbench_recorder::{OperationKind, Outcome, Payload, Recorder, Requests, Timing};
use std::{sync::Arc, time::Duration};

const SECOND_NS: u64 = 1_000_000_000;
const CAPACITY_PER_S: f64 = 400.0;
const SERVICE: Duration = Duration::from_micros(2_500);
/// Each counts a million operations, one by one.
const SEARCHES: u64 = 20;
/// Of one load.
const TRIALS: u64 = 200;
const NO_LIMIT: StopPlan =
    StopPlan { mean_response_ns: None, quantile_response: None, errors: 0.0, timeouts: 0.0, max_loss: None };
const MEAN_1_S: StopPlan = StopPlan { mean_response_ns: Some(SECOND_NS), ..NO_LIMIT };

/// A server of one place, first come first served, and who arrives there.
#[derive(Clone, Copy)]
struct Queue {
    arrival: Arrival,
    service: ServiceTime,
    trial_s: u64,
}

/// What is meant by a search that has this limit.
struct Meant {
    plan: Plan,
    ramp: RampPlan,
}

impl Meant {
    fn new(search: SearchPlan, stop: &StopPlan, trial_s: u64) -> Self {
        let (quantity, course) = (Quantity::OperationsPerSecond, Course::Search(search));
        let ramp = RampPlan { quantity, step_ns: trial_s * SECOND_NS, course, afterwards: Afterwards::default() };
        Self { plan: Plan { stop: *stop, ..planned().plan }, ramp }
    }
}

impl Queue {
    const CONSTANT: Self = Self { arrival: Arrival::Constant, service: ServiceTime::Constant(SERVICE), trial_s: 60 };

    /// A trial's operations by the rule of Lindley: each begins when it arrives, or when the one before it ends. They are told
    /// to the recorder as a load loop tells them.
    fn trial(self, load: u32, seed: u64, meant: &Meant) -> StepFigures {
        let (end_ns, generation) = (self.trial_s * SECOND_NS, 1);
        let kinds: Arc<[_]> = [OperationKind { name: "g".into(), requests: Requests::One }].into();
        let (mut recorder, mut totals) = (Recorder::new(Arc::clone(&kinds)), Totals::new(kinds));
        let (mut free_ns, mut handed_over_ns) = (0_u64, SECOND_NS);
        for start in Schedule::new(self.arrival, load.into(), seed).take_while(|start| start.at_ns < end_ns) {
            if start.at_ns >= handed_over_ns {
                totals.add(Slice { generation, windows: recorder.take_windows(start.at_ns), ..Slice::default() });
                totals.take_seconds(start.at_ns / SECOND_NS);
                handed_over_ns += SECOND_NS;
            }
            free_ns = free_ns.max(start.at_ns) + self.service.of_request_ns(start.number ^ seed.rotate_left(40));
            recorder.offer(0, start.at_ns, 1);
            recorder.start(0, start.at_ns, start.at_ns, 1);
            let timing = Timing::new(start.at_ns, start.at_ns, free_ns).unwrap();
            recorder.complete(0, Outcome::Ok, &timing, &Payload::undivided(Outcome::Ok, 1, 1, 0));
        }
        totals.add(Slice { generation, windows: recorder.finish(), ..Slice::default() });
        let measured = totals.measured(generation, 0, end_ns).unwrap();
        let followed_ns = free_ns.saturating_sub(end_ns);
        let counted = Counted {
            step: Step { load, purpose: Purpose::Grow },
            due: totals.due(generation),
            followed_ns,
            waited_ns: followed_ns,
            user_times: [0, generation].map(|number| totals.user_time(number)),
            late: 0,
            is_visibility_missing: false,
            embedded: false,
            clients: Vec::new(),
        };
        counted.figures(&meant.ramp, &meant.plan, &measured)
    }

    /// A search of this number: each has other arrivals and service times in each trial, and begins elsewhere.
    fn search(self, plan: SearchPlan, number: u64, stop: &StopPlan) -> (Bounds, u64) {
        let first = plan.first + u32::try_from(number % 37).unwrap();
        let meant = Meant::new(SearchPlan { first, ..plan }, stop, self.trial_s);
        let mut policy = RampPolicy::new(&meant.ramp);
        let mut trials = 0;
        loop {
            trials += 1;
            let figures = self.trial(policy.step().load, number << 20 | trials << 8, &meant);
            if let Decision::Done(bounds) = policy.decide(figures.report()) {
                return (bounds, trials);
            }
        }
    }
}

/// What many searches found.
struct Answers {
    bounds: Vec<Bounds>,
    /// Trials of all searches.
    trials: u64,
}

impl Answers {
    fn of(queue: Queue, plan: SearchPlan, stop: &StopPlan) -> Self {
        let searches: Vec<_> = (0..SEARCHES).map(|number| queue.search(plan, number, stop)).collect();
        let trials = searches.iter().map(|(_, trials)| trials).sum();
        Self { bounds: searches.into_iter().map(|(bounds, _)| bounds).collect(), trials }
    }

    /// The figures that `docs/method/capacity.md` quotes.
    fn tell(&self, what: &str) {
        let middles = self.middles();
        let (least, most) = middles.iter().fold((f64::MAX, 0.0_f64), |(a, b), &v| (a.min(v), b.max(v)));
        let trials = self.trials as f64 / SEARCHES as f64;
        println!("{what}: {least:.1} to {most:.1}, mean {:.1}, {trials:.1} trials", self.mean());
    }

    fn middles(&self) -> Vec<f64> {
        self.bounds.iter().map(|bounds| bounds.estimate.expect("near the limit").load).collect()
    }

    fn mean(&self) -> f64 {
        let middles = self.middles();
        middles.iter().sum::<f64>() / middles.len() as f64
    }

    /// The share of the intervals that a load lies in.
    fn holding(&self, truth: f64) -> f64 {
        let holds = |bounds: &&Bounds| {
            bounds.lower.is_some_and(|lower| f64::from(lower) <= truth)
                && bounds.upper.is_some_and(|upper| truth <= f64::from(upper))
        };
        self.bounds.iter().filter(holds).count() as f64 / SEARCHES as f64
    }

    fn assert_within(&self, least: f64, most: f64) {
        let middles = self.middles();
        assert!(middles.iter().all(|middle| (least..=most).contains(middle)), "{middles:?}");
    }
}

const PLAN: SearchPlan =
    SearchPlan { first: 30, growth: 2.0, most: 100_000, resolution: 0.02, trials: 24, closed: false, seed: 1 };

#[test]
fn a_queue_of_400_a_second_has_a_capacity_of_400() {
    let answers = Answers::of(Queue::CONSTANT, PLAN, &MEAN_1_S);
    answers.tell("constant arrivals");
    answers.assert_within(392.0, 1.02 * CAPACITY_PER_S);
}

/// A minute of 400 Poisson arrivals a second has 0.65 % more or less of them, so that the answer has an error of chance.
#[test]
fn with_poisson_arrivals_its_capacity_is_the_same_but_for_chance() {
    let answers = Answers::of(Queue { arrival: Arrival::Poisson, ..Queue::CONSTANT }, PLAN, &MEAN_1_S);
    answers.tell("Poisson arrivals");
    answers.assert_within(380.0, 1.02 * CAPACITY_PER_S);
    let bias = answers.mean() / CAPACITY_PER_S - 1.0;
    assert!(bias.abs() <= 0.015, "{bias}");
}

/// 102 % of the capacity for a minute: the limit on the mean is not reached, and the queue grows all the while.
#[test]
fn an_overload_of_two_percent_is_not_sustained_although_its_mean_stays_below_the_limit() {
    let (queue, meant) = (Queue::CONSTANT, Meant::new(PLAN, &MEAN_1_S, 60));
    let overload = queue.trial(408, 0, &meant);
    let mean_ns = overload.response.mean_ns.unwrap();
    assert!((mean_ns / 0.6e9 - 1.0).abs() < 0.02, "(λ/C − 1) T/2: {mean_ns}");
    assert_eq!((overload.judgement.passed, overload.judgement.limit), (false, Some(Limit::Backlog)));
    let sustained = queue.trial(392, 0, &meant);
    assert_eq!((sustained.judgement.passed, sustained.judgement.failure), (true, None), "98 % of it are sustained");
    let poisson = Queue { arrival: Arrival::Poisson, ..queue };
    let fails = |load: u32| (0..TRIALS).filter(|&seed| !poisson.trial(load, seed, &meant).judgement.passed).count();
    assert_eq!(fails(408), 200, "of 200 trials");
    assert!(fails(388) <= 10, "of 200 trials at 97 % of the capacity {}", fails(388));
}

/// M/M/1: the p99 of the response is ln 100 / (400 − λ), which is 100 ms at 353.9 a second.
#[test]
fn exponential_service_has_the_capacity_that_the_formula_says() {
    let expected = mm1_arrivals_within_per_s(CAPACITY_PER_S, 0.99, 0.1).unwrap();
    let p99_s = mm1_quantile_s(expected, CAPACITY_PER_S, 0.99).unwrap();
    assert!((expected - 353.9).abs() < 0.1 && (p99_s - 0.1).abs() < 1e-9);
    let stop = StopPlan { quantile_response: Some((0.99, SECOND_NS / 10)), ..NO_LIMIT };
    let service = ServiceTime::Exponential { mean: SERVICE, seed: 1 };
    let queue = Queue { arrival: Arrival::Poisson, service, trial_s: 60 };
    let answers = Answers::of(queue, PLAN, &stop);
    answers.tell("M/M/1");
    let bias = answers.mean() / expected - 1.0;
    assert!(bias.abs() <= 0.01, "{bias}");
    answers.assert_within(0.94 * expected, 1.06 * expected);
    // A minute's p99 is skewed: half of the trials sustain 1 % more than the formula says, and the search tells what lies
    // between the two.
    let holding = answers.holding(expected);
    println!("M/M/1: {:.1} % of the intervals hold {expected:.1}", 100.0 * holding);
    assert!(holding >= 0.85, "{holding}");
}
