//! The search against servers whose capacity is known, in virtual time: schedule, queue, verdict and search are the real ones,
//! only the clock is not.

use super::{CapacitySearch, SearchPlan, TrialReport};
use crate::{
    margin::margin,
    plan::StopPlan,
    profile::Arrival,
    ramp::{Bounds, Decision},
    schedule::Schedule,
    trial::{Backlog, Failure, Limit, SecondOfQueue, Trial},
};
use iotbench_oracle_server::{
    ServiceTime,
    analytic::{mm1_arrivals_within_per_s, mm1_quantile_s},
};
use iotbench_recorder::{Bounded, LatencyHistogram, LoadCounts};
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;
const CAPACITY_PER_S: f64 = 400.0;
const SERVICE: Duration = Duration::from_micros(2_500);
const SEARCHES: u64 = 200;
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

/// What was counted of a trial.
struct Counted {
    load: LoadCounts,
    response: LatencyHistogram,
    mean_response_ns: f64,
    seconds: Vec<SecondOfQueue>,
}

impl Queue {
    const CONSTANT: Self = Self { arrival: Arrival::Constant, service: ServiceTime::Constant(SERVICE), trial_s: 60 };

    /// The requests of a trial by the rule of Lindley: each begins when it arrives, or when the one before it ends.
    fn run(self, rate: f64, seed: u64) -> Counted {
        let end_ns = self.trial_s * SECOND_NS;
        let mut seconds = vec![SecondOfQueue::default(); usize::try_from(self.trial_s).unwrap()];
        let (mut response, mut load) = (LatencyHistogram::new(), LoadCounts::default());
        let mut free_ns = 0_u64;
        for start in Schedule::new(self.arrival, rate, seed).take_while(|start| start.at_ns < end_ns) {
            load.offered += 1;
            seconds[usize::try_from(start.at_ns / SECOND_NS).unwrap()].offered += 1;
            free_ns = free_ns.max(start.at_ns) + self.service.of_request_ns(start.number ^ seed.rotate_left(40));
            if let Some(second) = seconds.get_mut(usize::try_from(free_ns / SECOND_NS).unwrap()) {
                second.ended += 1;
            }
            load.ok += 1;
            response.record(free_ns - start.at_ns);
        }
        load.started = load.ok;
        let mean_response_ns = response.sum_ns() as f64 / load.offered as f64;
        Counted { load, mean_response_ns, response, seconds }
    }

    fn failure(self, rate: f64, seed: u64, stop: &StopPlan) -> Option<Failure> {
        self.trial(rate, seed, stop).failure(stop)
    }

    fn report(self, rate: f64, seed: u64, stop: &StopPlan) -> TrialReport {
        let trial = self.trial(rate, seed, stop);
        let limit = trial.failure(stop).map(|failure| failure.limit);
        TrialReport { verdict: Limit::verdict(limit), margin: margin(&trial, limit, stop, None) }
    }

    fn trial(self, rate: f64, seed: u64, stop: &StopPlan) -> Trial {
        let Counted { load, response, mean_response_ns, seconds } = self.run(rate, seed);
        Trial {
            load,
            lost: [0, 0],
            mean_response_ns: Some(mean_response_ns),
            response: Bounded::from(&response),
            undelayed: Bounded::from(&response),
            embedded: false,
            backlog: Backlog::of(&seconds, stop.settling_s()),
            littles_ratio: None,
            late: 0,
            visibility: None,
            client: None,
            pacing: None,
        }
    }

    /// A search of this number: each has other arrivals and service times in each trial, and begins elsewhere.
    fn search(self, plan: SearchPlan, number: u64, stop: &StopPlan) -> (Bounds, u64) {
        let first = plan.first + u32::try_from(number % 37).unwrap();
        let mut search = CapacitySearch::new(SearchPlan { first, ..plan });
        let mut trials = 0;
        loop {
            trials += 1;
            let report = self.report(f64::from(search.step().load), number << 20 | trials << 8, stop);
            if let Decision::Done(bounds) = search.decide(report) {
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
    let queue = Queue::CONSTANT;
    let counted = queue.run(408.0, 0);
    assert!((counted.mean_response_ns / 0.6e9 - 1.0).abs() < 0.02, "(λ/C − 1) T/2: {}", counted.mean_response_ns);
    assert_eq!(queue.failure(408.0, 0, &MEAN_1_S).map(|f| f.limit), Some(Limit::Backlog));
    assert_eq!(queue.failure(392.0, 0, &MEAN_1_S), None, "98 % of it are sustained");
    let poisson = Queue { arrival: Arrival::Poisson, ..queue };
    let fails = |rate: f64| (0..SEARCHES).filter(|&seed| poisson.failure(rate, seed, &MEAN_1_S).is_some()).count();
    assert_eq!(fails(408.0), 200, "of 200 trials");
    assert!(fails(388.0) <= 10, "of 200 trials at 97 % of the capacity {}", fails(388.0));
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
