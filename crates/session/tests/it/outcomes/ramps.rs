//! Outcomes of ramps.

use super::{POINTS_PER_OPERATION, fixed};
use iotbench_engine::{
    Afterwards, Bounds, Capacity, Course, Estimate, Limit, Load, Method, Outcome, Payload, ProbeTime, Purpose,
    Quantity, RampPlan, SearchPlan, Step, StepConditions, StepFigures, StepJudgement, StepResponse, StorageProbe,
    StorageProbing, Visibility,
};
use iotbench_recorder::LoadCounts;
use std::time::Duration;

/// A ramp of a mixed load whose writes were run alone too.
pub fn mixed() -> Outcome {
    let mut outcome = Outcome { writes_alone: fixed(25_000, 0, 0).measured, ..ramp() };
    let steps = &mut outcome.capacity.as_mut().unwrap().steps;
    let quoted = steps.iter().rfind(|step| step.step.load == 47).unwrap().clone();
    let step = Step { purpose: Purpose::WritesAlone, ..quoted.step };
    let response = StepResponse { mean_ns: Some(0.006 * 1e9), ..quoted.response };
    steps.push(StepFigures { step, operations_per_s: 40.1, response, ..quoted });
    outcome
}

/// A search that found its limit at 48.6 users.
pub fn ramp() -> Outcome {
    let steps = [
        (16, Purpose::Grow, 15.9, 0.006, None),
        (32, Purpose::Grow, 31.7, 0.011, None),
        (64, Purpose::Grow, 47.1, 1.31, Some("mean response at least 1.31 s > 1 s")),
        (48, Purpose::Bisect, 46.8, 0.912, None),
        (36, Purpose::Sentinel, 35.1, 0.024, None),
        (50, Purpose::Above, 46.9, 1.02, Some("mean response at least 1.02 s > 1 s")),
        (47, Purpose::Below, 46.7, 0.934, None),
        (50, Purpose::Above, 46.8, 1.04, Some("mean response at least 1.04 s > 1 s")),
        (49, Purpose::Below, 46.8, 0.976, None),
        (36, Purpose::Sentinel, 35.2, 0.022, None),
    ];
    let figures = |(place, (users, purpose, rate, mean_s, failure)): (u64, (u32, Purpose, f64, f64, Option<&str>))| {
        let (ok, pending) = (500, u64::from(failure.is_some()) * 3);
        StepFigures {
            step: Step { load: users, purpose },
            from_ns: place * 7_000_000_000,
            length_ns: 6_000_000_000,
            load: LoadCounts { offered: ok + pending, started: ok, ok, pending, ..LoadCounts::default() },
            operations_per_s: rate,
            values_per_s: rate * 750.0,
            response: StepResponse {
                mean_ns: failure.is_none().then_some(mean_s * 1e9),
                mean_at_least_ns: failure.is_some().then_some(mean_s * 1e9),
                mean_at_most_ns: None,
                p99_ns: (mean_s < 0.01).then_some(11_000_000),
                p99_at_least_ns: failure.is_some().then_some(1_600_000_000),
                p99_at_most_ns: None,
            },
            points_dropped: pending * POINTS_PER_OPERATION,
            visibility: None,
            backlog: None,
            littles_ratio: failure.is_none().then_some(rate * (mean_s + 1.0) / f64::from(users)),
            followed_ns: 120_000_000,
            conditions: StepConditions {
                storage_probes: if place == 0 {
                    vec![storage(204_000), storage(208_000)]
                } else {
                    vec![storage(206_000)]
                },
                storage_drifted: Some(false),
                storage_bytes: Some(20_480 + place * 52_000_000),
                ..StepConditions::default()
            },
            judgement: StepJudgement {
                passed: failure.is_none(),
                limit: failure.map(|_| Limit::Latency),
                margin: Some(((mean_s + 1.0) / 2.0).ln()),
                failure: failure.map(Into::into),
            },
        }
    };
    let capacity = Capacity {
        quantity: Quantity::Users,
        bounds: Bounds {
            lower: Some(47),
            upper: Some(50),
            sustained: Some(47),
            estimate: Some(Estimate {
                load: 48.6,
                low: 47.4,
                high: 49.9,
                method: Method::Crossing,
                spread: 0.012,
                trials: 4,
                settled: true,
                moved: None,
            }),
            client_limited: false,
        },
        criterion: "mean response above 1s, any error, any time-out".into(),
        steps: (0..).zip(steps).map(figures).collect(),
    };
    let mut outcome = fixed(12_345, 0, 0);
    outcome.plan.remarks.insert(0, "indicative: steps of 6s, below 60s".into());
    outcome.plan.stop.mean_response_ns = Some(1_000_000_000);
    let search =
        SearchPlan { first: 16, growth: 2.0, most: 16_384, resolution: 0.05, trials: 24, closed: true, seed: 1 };
    outcome.plan.ramp = Some(RampPlan {
        quantity: Quantity::Users,
        step_ns: 6_000_000_000,
        course: Course::Search(search),
        afterwards: Afterwards::default(),
    });
    let storage_probing = StorageProbing { not_probed: None, spent_ns: 454_000_000, elapsed_ns: 71_000_000_000 };
    outcome.machine.storage_probing = storage_probing;
    Outcome { capacity: Some(capacity), ..outcome }
}

/// A probe of 200 appends with this median, in nanoseconds, beside work that takes 500 µs.
fn storage(median_ns: u64) -> StorageProbe {
    let piece = ProbeTime { took: Duration::from_micros(500), waited: Duration::ZERO };
    StorageProbe::new((1..=200).map(|place| median_ns + 500 * place - 50_000).collect()).beside(&[piece; 20])
}

/// The same search, on storage that was slower from its seventh trial on: that one was run again, and the eighth three times.
pub fn drifting() -> Outcome {
    let mut outcome = ramp();
    let steps = &mut outcome.capacity.as_mut().unwrap().steps;
    for step in &mut steps[6..] {
        step.conditions.storage_probes = vec![storage(310_000)];
    }
    (steps[6].conditions.drifted_before, steps[6].conditions.storage_probes) = (1, vec![storage(310_000); 2]);
    (steps[7].conditions.drifted_before, steps[7].conditions.storage_drifted) = (2, Some(true));
    outcome
}

/// Listed steps of up to twice the users of the peak, with a throughput of the Universal Scalability Law to within 1 %.
pub fn past_the_peak() -> Outcome {
    let mut outcome = ramp();
    let capacity = outcome.capacity.as_mut().unwrap();
    outcome.plan.groups.truncate(1);
    outcome.plan.groups[0].load = Load::Closed { users: 96, think_ns: 0 };
    outcome.plan.groups[0].operation.payload = Payload::Count(1);
    let first = capacity.steps[0].clone();
    let loads = [1, 8, 16, 24, 32, 48, 64, 96];
    let step = |(place, load): (u32, u32)| {
        let users = f64::from(load);
        let law = 20.0 * users / (1.0 + 0.05 * (users - 1.0) + 0.0005 * users * (users - 1.0));
        let off_by = if place.is_multiple_of(2) { 1.01 } else { 0.99 };
        let step = Step { load, purpose: Purpose::Listed };
        StepFigures { step, operations_per_s: law * off_by, ..first.clone() }
    };
    capacity.steps = (0..).zip(loads).map(step).collect();
    capacity.bounds = Bounds::of_loads(Some(96), None);
    outcome.plan.ramp.as_mut().unwrap().course = Course::Steps(loads.to_vec());
    outcome
}

/// A ramp on a database that acknowledges before it stores, and falls behind.
pub fn queued() -> Outcome {
    let mut outcome = ramp();
    let seen = |growth: f64| Visibility {
        acked_per_s: 48_200.0,
        visible_per_s: 48_200.0 * (1.0 - growth),
        lag_first_s: 0.4,
        lag_last_s: 0.4 + 6.0 * growth,
        lag_growth: growth,
        lag_growth_error: 0.004,
    };
    if let Some(measured) = &mut outcome.measured {
        measured.visibility = Some(seen(0.002));
    }
    for step in outcome.capacity.iter_mut().flat_map(|c| &mut c.steps) {
        step.visibility = Some(seen(if step.judgement.passed { 0.002 } else { 0.3 }));
    }
    outcome
}
