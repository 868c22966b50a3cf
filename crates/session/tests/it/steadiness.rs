//! What a result says of its steadiness, and what repetitions say together.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes;
use iotbench_engine::{Outcome, Reason, SecondFigures, Verdict};
use iotbench_report::{Document, Repetitions, render, render_repetitions};
use iotbench_session::document_of;

/// Seconds with so many operations each, of so many nanoseconds.
fn with_seconds(seconds: u64, second: impl Fn(u64) -> (u64, u64)) -> Document {
    let mut outcome = outcomes::fixed(20_000, 0, 0);
    let figures = |(ok, ns): (u64, u64)| SecondFigures {
        ok,
        responses: ok,
        response_sum_ns: ok * ns,
        ..SecondFigures::default()
    };
    let measured = outcome.measured.as_mut().unwrap();
    measured.from_ns = 5_000_000_000;
    measured.seconds = (0..seconds).map(second).map(figures).collect();
    document_of(&outcome, &outcomes::provenance())
}

/// From 0 to 9, in no order.
fn ripple(second: u64) -> u64 {
    second * 7 % 10
}

fn text(document: &Document) -> String {
    render(document, None, 100).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_steady_load_is_called_so_with_the_width_of_its_means() {
    let document = with_seconds(200, |s| (1_000 + ripple(s), 2_000_000 + 1_000 * ripple(s)));
    let steady = document.steady.as_ref().unwrap();
    assert_eq!((steady.seconds, steady.is_steady, steady.warm_up_s), (200, Some(true), Some(0)));
    let rate = &steady.operations_per_s;
    assert_eq!((rate.state.as_deref(), rate.mean, rate.jumped_at_s), (Some("steady"), Some(1_004.5), None));
    let text = text(&document);
    assert!(text.contains("Steady: yes; 1,000 operations/s ± 0."), "{text}");
    assert!(text.contains("mean response 2.00 ms ± 0."), "{text}");
    let ours = |remark: &&String| remark.contains("steady") || remark.contains("warming up");
    assert_eq!(document.remarks.iter().find(ours), None);
}

#[test]
fn what_is_not_steady_is_a_remark_and_no_reason_against_the_result() {
    let drift = with_seconds(200, |s| (1_000 - s + ripple(s), 2_000_000));
    let jump = with_seconds(200, |s| (1_000 + ripple(s), if s < 150 { 2_000_000 } else { 4_000_000 + ripple(s) }));
    let warm_up = with_seconds(200, |s| (if s < 40 { 500 } else { 1_000 } + ripple(s), 2_000_000));
    for (document, part) in [
        (&drift, "the throughput was not steady: it fell by 22"),
        (&jump, "the mean response time was not steady: it rose by 100 % at 2.58 min of the run"),
        (&warm_up, "the throughput was still warming up for 40 s of the measured part: without them its mean is 1,000"),
    ] {
        let text = text(document);
        assert!(text.contains(part), "{part} is missing in {text}");
        assert_eq!(document.verdict.exit_code, 0);
    }
    let state = |document: &Document| document.steady.as_ref().unwrap().operations_per_s.state.clone().unwrap();
    assert_eq!([&drift, &jump, &warm_up].map(state), ["drifting", "steady", "steady"]);
    assert_eq!(jump.steady.unwrap().response_us.unwrap().jumped_at_s, Some(155.0), "from the run's start");
    assert!(text(&drift).contains("Steady: NO") && text(&warm_up).contains("yes, after 40 s of warm-up"));
}

#[test]
fn few_seconds_are_not_judged_and_searches_judge_themselves() {
    let document = with_seconds(10, |_| (1_000, 2_000_000));
    assert_eq!(document.steady.as_ref().unwrap().is_steady, None);
    assert!(text(&document).contains("not judged, with 10 whole seconds of 100"), "{}", text(&document));
    assert_eq!(document_of(&outcomes::ramp(), &outcomes::provenance()).steady, None);
    assert_eq!(document_of(&outcomes::disturbed(), &outcomes::provenance()).steady, None);
}

/// A run over ten seconds.
fn run(ok: u64) -> Outcome {
    outcomes::fixed(ok, 0, 0)
}

fn document(outcome: &Outcome) -> Document {
    document_of(outcome, &outcomes::provenance())
}

#[test]
fn repetitions_have_means_and_intervals_and_leave_out_what_is_not_valid() {
    let mut invalid = run(90_000);
    invalid.verdict = Verdict::of(vec![Reason::NothingMeasured]);
    let documents: Vec<_> = [10_000, 11_000, 12_000].map(run).iter().chain([&invalid]).map(document).collect();
    let repetitions = Repetitions::of(&documents, 42);
    let rate = repetitions.figures.iter().find(|figure| figure.figure == "operations_per_s").unwrap();
    assert_eq!((rate.runs, rate.mean), (3, 1_100.0));
    // t₀.₉₇₅ with two degrees of freedom is 4.302653; s = 100.
    let half_width = 4.302_653 * 100.0 / 3.0_f64.sqrt();
    let interval = rate.ci95.as_ref().unwrap();
    assert!((interval.high.unwrap() - 1_100.0 - half_width).abs() < 1e-3, "{interval:?}");
    assert!((interval.low.unwrap() - 1_100.0 + half_width).abs() < 1e-3, "{interval:?}");
    assert!((rate.cv_pct.unwrap() - 100.0 / 11.0).abs() < 1e-9);
    assert!(repetitions.left_out.len() == 1 && repetitions.left_out[0].contains("no operation succeeded"));
    let text = render_repetitions(&repetitions, 100);
    for part in ["1,100", "Student's t", "seed 42", "left out", "not for publication"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}

#[test]
fn what_cannot_be_negative_has_no_interval_below_zero() {
    // 100 and 1,000 a second: t₀.₉₇₅ with one degree of freedom is 12.7, and would reach from −5,168 to 6,268.
    let documents = [1_000, 10_000].map(|ok| document(&run(ok)));
    let repetitions = Repetitions::of(&documents, 42);
    let rate = repetitions.figures.iter().find(|figure| figure.figure == "operations_per_s").unwrap();
    let interval = rate.ci95.as_ref().unwrap();
    assert_eq!(interval.low, Some(0.0));
    assert!(interval.high.unwrap() > 6_000.0, "{interval:?}");
    assert!(repetitions.figures.iter().all(|figure| figure.ci95.as_ref().unwrap().low >= Some(0.0)));
}

#[test]
fn a_run_alone_has_no_interval_and_targets_are_apart() {
    let mut other = run(30_000);
    other.plan.backend = "memory".into();
    let repetitions = Repetitions::of(&[document(&run(10_000)), document(&other)], 1);
    let rates: Vec<_> = repetitions.figures.iter().filter(|f| f.figure == "operations_per_s").collect();
    assert_eq!(rates.iter().map(|f| (f.runs, f.mean)).collect::<Vec<_>>(), [(1, 1_000.0), (1, 3_000.0)]);
    assert!(rates.iter().all(|f| f.ci95.is_none() && f.cv_pct.is_none()), "{rates:?}");
    assert!(rates[1].target.starts_with("memory"));
}
