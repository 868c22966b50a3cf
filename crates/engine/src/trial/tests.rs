//! Trials of which one thing is changed, and what they are failed by.

use super::*;

const STOP: StopPlan = StopPlan {
    mean_response_ns: Some(1_000_000_000),
    quantile_response: Some((0.999, 50_000_000)),
    errors: 0.0,
    timeouts: 0.01,
    max_loss: Some(0.001),
};

fn histogram(values_ns: impl IntoIterator<Item = u64>) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    values_ns.into_iter().for_each(|ns| histogram.record(ns));
    histogram
}

fn failure(change: impl FnOnce(&mut Trial)) -> Option<(Limit, String)> {
    let response = histogram([1_000_000; 1000]);
    let load = LoadCounts { offered: 1000, started: 1000, ok: 1000, ..LoadCounts::default() };
    let mut trial = Trial {
        load,
        lost: [0, 10_000],
        mean_response_ns: Some(1e6),
        response: Bounded::from(&response),
        undelayed: Bounded::from(&response),
        embedded: false,
        backlog: None,
        littles_ratio: None,
        late: 0,
        visibility: None,
        client: None,
        pacing: None,
    };
    change(&mut trial);
    trial.failure(&STOP).map(|failure| (failure.limit, failure.message))
}

#[test]
fn what_a_load_failed_by_is_named() {
    assert_eq!(failure(|_| ()), None);
    assert_eq!(failure(|t| t.load.unknown = 10), None, "1 % may");
    let named = |change: fn(&mut Trial)| failure(change).unwrap();
    assert_eq!(named(|t| t.mean_response_ns = None), (Limit::Errors, "no operation was answered".into()));
    assert_eq!(named(|t| t.load.unknown = 11), (Limit::Errors, "11 of 1000 operations timed out".into()));
    assert_eq!(named(|t| t.load.fail = 1), (Limit::Errors, "1 of 1000 operations failed".into()));
    assert_eq!(named(|t| t.load.dropped = 1), (Limit::Loss, "1 of 1000 operations were never started".into()));
    let slow = |t: &mut Trial| {
        (t.mean_response_ns, t.undelayed) = (Some(1.1e9), Bounded::from(&histogram([1_100_000_000])));
    };
    assert_eq!(named(slow), (Limit::Latency, "mean response 1.100 s > 1s".into()));
    assert_eq!(named(|t| t.late = 3).0, Limit::Latency);
    let lost = "11 of 10000 datapoints were lost because their devices could not send them in time";
    assert_eq!(named(|t| t.lost[0] = 11), (Limit::Loss, lost.into()));
    assert_eq!(failure(|t| t.lost[0] = 10), None, "a thousandth may");
    assert_eq!(named(|t| t.littles_ratio = Some(0.975)).0, Limit::Unsteady);
    assert_eq!(failure(|t| t.littles_ratio = Some(1.019)), None);
    let told = |(_, message): (Limit, String)| message.split_once(" / N is ").unwrap().1[..8].to_owned();
    assert_eq!(told(named(|t| t.littles_ratio = Some(1.020_04))), "1.02004,", "beyond its limit");
    assert_eq!(told(named(|t| t.littles_ratio = Some(0.979_96))), "0.97996,");
    let growing = |t: &mut Trial| {
        let seconds: Vec<_> = (0..10).map(|_| SecondOfQueue { offered: 100, ended: 90 }).collect();
        t.backlog = Backlog::of(&seconds, 1);
    };
    assert_eq!(failure(growing).unwrap().0, Limit::Backlog);
}

#[test]
fn a_quantile_is_held_to_its_limit() {
    let slow = histogram((0..1000).map(|n| if n < 2 { 60_000_000 } else { 1_000_000 }));
    let message = "p99.9 of the response 0.060 s > 50ms";
    let found = failure(|t| (t.response, t.undelayed) = (Bounded::from(&slow), Bounded::from(&slow)));
    assert_eq!(found, Some((Limit::Latency, message.into())));
}

/// 1.000 s is not above 1 s, and 0.000 s is no time.
#[test]
fn a_time_that_is_too_long_is_told_apart_from_its_limit() {
    let told = [
        (1_000_400_000, 1_000_000_000, "1.0004 s"),
        (1_011_999_999, 1_000_000_000, "1.011 s"),
        (312_000, 200_000, "0.000312 s"),
        (1_249_000, 1_000_000, "0.001249 s"),
        (51_999_000, 50_000_000, "0.0519 s"),
        (12_000_000_001, 12_000_000_000, "12.000000001 s"),
    ];
    for (ns, limit_ns, text) in told {
        assert_eq!(told_above(ns, limit_ns), text);
    }
    let slow = |t: &mut Trial| {
        (t.mean_response_ns, t.undelayed) = (Some(1.000_4e9), Bounded::from(&histogram([1_100_000_000])));
    };
    assert_eq!(failure(slow).map(|(_, why)| why).as_deref(), Some("mean response 1.0004 s > 1s"));
    let (stop, response) = (
        StopPlan { mean_response_ns: None, quantile_response: Some((0.99, 200_000)), ..STOP },
        Bounded::from(&histogram([300_000; 1_000])),
    );
    let mut found = None;
    failure(|t| {
        (t.response, t.undelayed) = (response.clone(), response.clone());
        found = t.failure(&stop);
    });
    assert_eq!(found.map(|f| f.message).as_deref(), Some("p99 of the response 0.0003 s > 200us"));
}

/// 990 of a thousand are answered within 1 ms; the limit of p99.9 is 50 ms.
#[test]
fn what_has_no_answer_may_fail_a_quantile_and_never_passes_it() {
    let waiting = |wait_ns: u64| {
        failure(|t| {
            let unended = histogram([wait_ns; 10]);
            t.response = Bounded::new(&histogram([1_000_000; 990]), Some(&unended), None);
            t.undelayed = t.response.clone();
        })
    };
    let least = "p99.9 of the response at least 0.051 s > 50ms";
    assert_eq!(waiting(51_100_000), Some((Limit::Latency, least.into())));
    let unknown = "whether p99.9 of the response is within 50ms is not known: 10 of 1000 operations had no answer";
    assert_eq!(waiting(49_000_000), Some((Limit::Latency, unknown.into())));
    let pending = "10 of 1000 operations had no answer within twice the deadline";
    assert_eq!(failure(|t| t.load.pending = 10), Some((Limit::Errors, pending.into())));
}

/// Each alone would pass: too few time out, and too few are slow.
#[test]
fn slow_answers_and_missing_ones_add_up() {
    let stop = StopPlan {
        quantile_response: Some((0.99, 50_000_000)),
        mean_response_ns: None,
        errors: 0.0,
        timeouts: 0.01,
        max_loss: None,
    };
    let known = histogram((0..994).map(|n| if n < 6 { 60_000_000 } else { 1_000_000 }));
    let unended = histogram([10_000_000_000; 6]);
    let mut found = None;
    failure(|t| {
        t.load.unknown = 6;
        t.response = Bounded::new(&known, Some(&unended), None);
        t.undelayed = t.response.clone();
        found = t.failure(&stop);
    });
    assert_eq!(found.map(|f| f.message).as_deref(), Some("p99 of the response 0.060 s > 50ms"));
}

#[test]
fn a_client_that_was_late_is_to_blame_for_what_failed_and_for_nothing_else() {
    let pacing_error = histogram([5_000_000; 2000]);
    let response = histogram([10_000_000; 2000]);
    let broken = BrokenPacing::of(&pacing_error, &response).unwrap();
    assert_eq!(broken, BrokenPacing { p99_us: 5000, limit_us: 2000 });
    assert_eq!(BrokenPacing::of(&pacing_error, &histogram([200_000_000; 2000])), None, "5 % of the response may");
    assert_eq!(failure(|t| t.pacing = Some(broken)), None);
    let (limit, message) = failure(|t| (t.load.fail, t.pacing) = (1, Some(broken))).unwrap();
    assert_eq!(limit, Limit::Client);
    assert!(message.starts_with("1 of 1000 operations failed; but the client"), "{message}");
}

/// p99.9 may be 50 ms, and 5 of a thousand are late.
#[test]
fn a_limit_that_only_the_clients_own_delay_breaks_is_the_clients() {
    let of = |late_ns: u64| Bounded::from(&histogram((0..1000).map(|n| if n < 5 { late_ns } else { 1_000_000 })));
    let found = |without_ns, with_ns| failure(|t| (t.undelayed, t.response) = (of(without_ns), of(with_ns)));
    assert_eq!(found(40_000_000, 49_000_000), None, "the upper end meets it");
    let (limit, message) = found(40_000_000, 60_000_000).unwrap();
    assert_eq!(limit, Limit::Client, "{message}");
    assert_eq!(found(55_000_000, 60_000_000).unwrap().0, Limit::Latency, "the lower end fails it");
    let mean = failure(|t| t.mean_response_ns = Some(1.1e9)).unwrap();
    assert_eq!(mean.0, Limit::Client, "{}", mean.1);
    let in_one_process = failure(|t| {
        (t.undelayed, t.response, t.embedded) = (of(40_000_000), of(60_000_000), true);
    });
    assert_eq!(in_one_process.unwrap().0, Limit::Latency);
}

#[test]
fn what_meets_its_limit_to_the_nanosecond_is_sustained() {
    let mean = |ns: u64| {
        failure(|t| {
            (t.mean_response_ns, t.undelayed) = (Some(ns as f64), Bounded::from(&histogram([ns])));
        })
    };
    assert_eq!((mean(1_000_000_000), mean(1_000_000_001).map(|found| found.0)), (None, Some(Limit::Latency)));
    let p999 = |ns: u64| {
        failure(|t| {
            t.response = Bounded::from(&histogram([ns; 1000]));
            t.undelayed = t.response.clone();
        })
    };
    assert_eq!((p999(50_000_000), p999(50_000_001).map(|found| found.0)), (None, Some(Limit::Latency)));
    let of_client = |ns: u64| {
        failure(|t| {
            (t.mean_response_ns, t.undelayed) = (Some(1.1e9), Bounded::from(&histogram([ns])));
        })
    };
    assert_eq!(of_client(1_000_000_000).map(|found| found.0), Some(Limit::Client), "without its delay it is met");
    assert_eq!(of_client(1_000_000_001).map(|found| found.0), Some(Limit::Latency));
    let tail_of_client = |ns: u64| {
        failure(|t| {
            t.response = Bounded::from(&histogram([60_000_000; 1000]));
            t.undelayed = Bounded::from(&histogram([ns; 1000]));
        })
    };
    assert_eq!(tail_of_client(50_000_000).map(|found| found.0), Some(Limit::Client));
    assert_eq!(
        failure(|t| t.littles_ratio = Some(1.0 + 2.0 * LITTLES_TOLERANCE)).map(|found| found.0),
        Some(Limit::Unsteady)
    );
}

/// Of a hundred operations one has no answer, and p99 is that of the ninety-nine: it meets its limit whatever becomes of it.
#[test]
fn what_has_no_answer_cannot_spoil_a_quantile_below_it() {
    let stop = StopPlan { quantile_response: Some((0.99, 1_000_000)), timeouts: 1.0, ..STOP };
    let mut found = None;
    failure(|t| {
        t.response = Bounded::new(&histogram([1_000_000; 99]), Some(&histogram([1_000_000])), None);
        t.undelayed = t.response.clone();
        found = Some(t.failure(&stop));
    });
    assert_eq!(found, Some(None));
}

#[test]
fn a_requests_window_and_what_became_visible_are_told_with_figures() {
    let told = |change: fn(&mut Trial)| failure(change).unwrap();
    assert_eq!(told(|t| t.late = 3).1, "3 of 1000 requests were not stored when their window ended");
    let falls_behind = |t: &mut Trial| {
        let backlogs: Vec<_> = (0..11).map(|s| (f64::from(s), 100.0 * f64::from(s))).collect();
        t.visibility = Visibility::of(&backlogs, 1000.0);
    };
    assert_eq!(failure(falls_behind).map(|found| found.0), Some(Limit::Visibility));
}

#[test]
fn who_is_to_blame_is_named_with_the_verdict() {
    let blamed = failure(|t| (t.load.fail, t.client) = (1, Some("it slept".into()))).unwrap();
    assert_eq!(blamed, (Limit::Client, "1 of 1000 operations failed; but the client was the limit: it slept".into()));
    let pacing = Some(BrokenPacing { p99_us: 5000, limit_us: 2000 });
    let slow = Bounded::from(&histogram([60_000_000; 1000]));
    let of =
        |late| failure(|t| (t.response, t.undelayed, t.pacing, t.late) = (slow.clone(), slow.clone(), pacing, late));
    assert_eq!(of(0).map(|found| found.0), Some(Limit::Latency), "the response tells it without the delay");
    let (limit, message) = of(1).unwrap();
    assert_eq!(limit, Limit::Client);
    assert!(
        message.ends_with("1 % of the operations were sent more than 5000 µs after their time, and 2000 µs may be"),
        "{message}"
    );
}

#[test]
fn a_pacing_error_may_be_2_ms_and_a_twentieth_of_the_median() {
    let of = |p99_ns: u64, p50_ns: u64| BrokenPacing::of(&histogram([p99_ns; 1000]), &histogram([p50_ns; 1000]));
    assert_eq!(of(2_000_000, 1_000_000), None);
    assert_eq!(of(2_000_001, 1_000_000), Some(BrokenPacing { p99_us: 2000, limit_us: 2000 }));
    assert_eq!(of(5_000_000, 100_000_000), None);
    assert_eq!(of(5_001_000, 100_000_000), Some(BrokenPacing { p99_us: 5001, limit_us: 5000 }));
}

#[test]
fn every_limit_has_its_name_and_its_verdict() {
    use Limit::{Backlog, Client, Errors, Latency, Loss, Unsteady, Visibility};
    let all = [Latency, Backlog, Errors, Loss, Visibility, Unsteady, Client];
    let names = ["latency", "backlog", "errors", "loss", "visibility", "unsteady", "client"];
    assert_eq!(all.map(Limit::name), names);
    for limit in all {
        let is_clients = Limit::verdict(Some(limit)) == TrialVerdict::TooMuchForClient;
        assert_eq!(is_clients, limit == Client, "{limit:?}");
    }
    assert_eq!(Limit::verdict(None), TrialVerdict::Sustained);
}
