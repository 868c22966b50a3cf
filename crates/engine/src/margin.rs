//! How far a trial was from its limit, which tells more than whether it passed.

use crate::{
    plan::StopPlan,
    trial::{Limit, Trial, quantile},
};

/// The users of a trial's only group, each of whom waits for its answer and then thinks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedLoop {
    /// N.
    pub users: u32,
    /// Z, in nanoseconds.
    pub think_ns: u64,
    /// X: operations acknowledged a second.
    pub operations_per_s: f64,
}

/// How far a trial was from its limit: 0 where the load is the greatest that keeps it, below 0 where it is less.
///
/// Of a closed loop with a limit L on the mean response R alone it is ln((R + Z) / (L + Z)), which by Little's law is
/// ln(N / (X (L + Z))): of a saturated server it grows as ln N does, and where R is not known yet, it is told by what the
/// throughput of this very trial could serve at the limit. Otherwise it is 2 (1 − √(L / S)) of the mean or the quantile S
/// over its limit, the greater of the two. Of a queue L / S itself falls with the load as a straight line (M/M/1:
/// S ∝ 1 / (μ − λ)) and what chance adds to S is symmetric in ln S: the root lies between the two, and near the limit all
/// three are the same.
///
/// `None`: the trial failed by something else than the response time, its queue grew, so that S tells how long the trial was, or
/// what the limit is on is not known.
#[must_use]
pub fn margin(trial: &Trial, failed_by: Option<Limit>, stop: &StopPlan, users: Option<ClosedLoop>) -> Option<f64> {
    if !matches!(failed_by, None | Some(Limit::Latency | Limit::Unsteady)) {
        return None;
    }
    let margin = match (users, stop.mean_response_ns, stop.quantile_response) {
        (Some(users), Some(limit_ns), None) => of_cycle(trial, users, limit_ns)?.ln(),
        _ => 2.0 * (1.0 - of_limits(trial, stop)?.powf(-0.5)),
    };
    margin.is_finite().then_some(margin)
}

/// (R + Z) / (L + Z), or by throughput where R is not known.
#[expect(clippy::cast_precision_loss, reason = "times are far below 2^53 ns")]
fn of_cycle(trial: &Trial, users: ClosedLoop, limit_ns: u64) -> Option<f64> {
    let (limit_ns, think_ns) = (limit_ns as f64, users.think_ns as f64);
    if let Some(mean_ns) = trial.mean_response_ns.filter(|_| trial.response.is_known()) {
        return Some((mean_ns + think_ns) / (limit_ns + think_ns));
    }
    (users.operations_per_s > 0.0)
        .then(|| f64::from(users.users) / (users.operations_per_s * (limit_ns + think_ns) / 1e9))
}

#[expect(clippy::cast_precision_loss, reason = "times are far below 2^53 ns")]
fn of_limits(trial: &Trial, stop: &StopPlan) -> Option<f64> {
    if trial.backlog.is_some_and(|backlog| backlog.failure().is_some()) {
        return None;
    }
    let mean = match stop.mean_response_ns {
        Some(limit_ns) => Some(trial.mean_response_ns.filter(|_| trial.response.is_known())? / limit_ns as f64),
        None => None,
    };
    let quantile = match quantile(&trial.response, stop) {
        Some((_, limit_ns, found)) => Some(found.at_most_ns.filter(|_| found.is_known())? as f64 / limit_ns as f64),
        None if stop.quantile_response.is_some() => return None,
        None => None,
    };
    [mean, quantile].into_iter().flatten().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Backlog, SecondOfQueue};
    use iotbench_recorder::{Bounded, LatencyHistogram, LoadCounts};

    const STOP: StopPlan = StopPlan {
        mean_response_ns: Some(1_000_000_000),
        quantile_response: None,
        errors: 0.0,
        timeouts: 0.0,
        max_loss: None,
    };
    const USERS: ClosedLoop = ClosedLoop { users: 300, think_ns: 1_000_000_000, operations_per_s: 160.0 };

    fn histogram(count: u64, ns: u64) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        histogram.record_many(ns, count);
        histogram
    }

    fn trial(ok: &LatencyHistogram, unanswered: Option<&LatencyHistogram>) -> Trial {
        let response = Bounded::new(ok, unanswered, None);
        Trial {
            load: LoadCounts { offered: 1000, started: 1000, ok: 1000, ..LoadCounts::default() },
            lost: [0, 0],
            mean_response_ns: response.at_least().mean_ns(),
            undelayed: response.clone(),
            response,
            embedded: false,
            backlog: None,
            littles_ratio: None,
            late: 0,
            visibility: None,
            client: None,
            pacing: None,
        }
    }

    fn near(found: Option<f64>, expected: f64) -> bool {
        found.is_some_and(|found| (found - expected).abs() < 0.002)
    }

    #[test]
    fn of_users_it_is_that_of_their_cycle() {
        let answered = trial(&histogram(1000, 900_000_000), None);
        assert!(near(margin(&answered, None, &STOP, Some(USERS)), (1.9_f64 / 2.0).ln()));
        let waiting = trial(&histogram(900, 900_000_000), Some(&histogram(100, 5_000_000_000)));
        let by_throughput = margin(&waiting, Some(Limit::Latency), &STOP, Some(USERS));
        assert!(near(by_throughput, (300.0_f64 / 320.0).ln()), "{by_throughput:?}");
        assert_eq!(margin(&answered, Some(Limit::Errors), &STOP, Some(USERS)), None);
        let nothing = ClosedLoop { operations_per_s: 0.0, ..USERS };
        assert_eq!(margin(&waiting, Some(Limit::Latency), &STOP, Some(nothing)), None);
    }

    #[test]
    fn of_an_open_loop_it_is_that_of_what_is_nearest_to_its_limit() {
        let stop = StopPlan { quantile_response: Some((0.99, 2_000_000_000)), ..STOP };
        let answered = trial(&histogram(1000, 1_100_000_000), None);
        assert!(near(margin(&answered, Some(Limit::Latency), &stop, None), 2.0 - 2.0 / 1.1_f64.sqrt()), "the mean");
        let quantile_alone = StopPlan { mean_response_ns: None, ..stop };
        assert!(near(margin(&answered, None, &quantile_alone, None), 2.0 - 2.0 / 0.55_f64.sqrt()));
        let waiting = trial(&histogram(900, 900_000_000), Some(&histogram(100, 3_000_000_000)));
        assert_eq!(margin(&waiting, Some(Limit::Latency), &quantile_alone, None), None, "at least");
        assert_eq!(margin(&waiting, Some(Limit::Latency), &STOP, None), None);
        let seconds: Vec<_> = (0..20).map(|_| SecondOfQueue { offered: 100, ended: 80 }).collect();
        let growing = Trial { backlog: Backlog::of(&seconds, 1), ..answered };
        assert_eq!(
            margin(&growing, Some(Limit::Latency), &stop, None),
            None,
            "a longer trial would have a longer response"
        );
    }

    #[test]
    fn of_an_open_loop_with_a_limit_on_the_mean_it_is_that_of_the_mean() {
        let slow = trial(&histogram(1000, 4_000_000_000), None);
        assert!(near(margin(&slow, Some(Limit::Latency), &STOP, None), 2.0 * (1.0 - 0.5)));
        assert!(near(margin(&slow, Some(Limit::Unsteady), &STOP, None), 1.0), "it has a response all the same");
        let nothing = StopPlan { mean_response_ns: None, ..STOP };
        assert_eq!(margin(&slow, None, &nothing, None), None, "there is no limit");
        let unknown = Trial { response: Bounded::default(), ..slow };
        let both = StopPlan { quantile_response: Some((0.99, 1_000_000)), ..STOP };
        assert_eq!(margin(&unknown, None, &both, None), None, "of a quantile of nothing");
        // Users with a limit on a quantile too are judged as an open loop is.
        let answered = trial(&histogram(1000, 4_000_000_000), None);
        let quantile = StopPlan { quantile_response: Some((0.99, 1_000_000_000)), ..STOP };
        assert!(near(margin(&answered, Some(Limit::Latency), &quantile, Some(USERS)), 1.0));
    }
}
