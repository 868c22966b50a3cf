//! What is printed says what is not known: no figure is that of the survivors, no order one of single sittings.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes;
use iotbench_engine::{AuditFindings, Outcome};
use iotbench_report::{
    Across, Cell, CompareOptions, Document, HtmlOptions, ReportedRun, compare, find_metric, render, render_comparisons,
    render_html, render_markdown, scored_run,
};
use iotbench_session::document_of;

fn document(outcome: &Outcome, backend: &str) -> Document {
    let mut document = document_of(outcome, &outcomes::provenance());
    document.target.backend = backend.into();
    document
}

fn page(documents: impl IntoIterator<Item = Document>) -> String {
    let runs: Vec<_> = documents.into_iter().map(ReportedRun::of_document).collect();
    render_html(&runs, &HtmlOptions::default()).replace('\u{a0}', " ")
}

/// Of 5,051 operations 51 had no answer: the 99th percentile is not known, and neither is the mean.
#[test]
fn what_had_no_answer_is_in_no_score_comparison_ranking_or_plot_as_if_it_had_not_been() {
    let (lacking, whole) = (document(&outcomes::fixed(5_000, 0, 51), "sqlite"), outcomes::fixed(5_000, 0, 0));
    let response = &lacking.latency.as_ref().unwrap().by_operation.response;
    assert!(response.p99.is_none() && response.mean.is_none() && response.p50.is_some());
    assert!(render(&lacking, None, 100).contains("response p99 ≥"));
    for name in ["response_p99_us", "response_mean_us"] {
        assert_eq!(find_metric(name).unwrap().of(&lacking), None, "compared: {name}");
        assert!(scored_run(&lacking).figures.keys().all(|criterion| criterion.name() != name), "scored: {name}");
    }
    assert!(find_metric("response_p50_us").unwrap().of(&lacking).is_some());
    let page = page([lacking, document(&whole, "mariadb")]);
    assert!(page.contains("<td class=\"number\">≥ "), "the plot's table: {page}");
    let reason = "sqlite:wide (operations had no answer, or were never started: only a lower bound of the mean response is known)";
    assert!(page.contains(reason), "the ranking: {page}");
}

/// Of `factor` times as many users as the search of the fixture found.
fn capacity(factor: u32, backend: &str) -> Document {
    let mut outcome = outcomes::ramp();
    let capacity = outcome.capacity.as_mut().unwrap();
    for step in &mut capacity.steps {
        step.step.load *= factor;
    }
    for bound in [&mut capacity.bounds.lower, &mut capacity.bounds.upper, &mut capacity.bounds.sustained] {
        *bound = bound.map(|load| load * factor);
    }
    let estimate = capacity.bounds.estimate.as_mut().unwrap();
    for load in [&mut estimate.load, &mut estimate.low, &mut estimate.high] {
        *load *= f64::from(factor);
    }
    document(&outcome, backend)
}

#[test]
fn capacities_of_one_sitting_each_are_in_an_order_only_far_apart() {
    const UNKNOWN: &str = "One sitting each: order not established";
    let runs = |factor| [capacity(1, "sqlite"), capacity(factor, "mariadb")];
    let text = |factor| render_markdown(&runs(factor).map(ReportedRun::of_document), &[], false);
    assert!(page(runs(3)).contains(UNKNOWN), "{}", page(runs(3)));
    assert!(text(3).contains(UNKNOWN) && text(3).contains("| 1 to 2 | mariadb:wide"), "{}", text(3));
    assert!(!page(runs(4)).contains(UNKNOWN) && page(runs(4)).contains("mariadb:wide sustains the most"));
    assert!(!text(4).contains(UNKNOWN) && text(4).contains("| 1 | mariadb:wide"), "{}", text(4));
}

/// A step that is judged by the upper end of a range does not show its lower one alone.
#[test]
fn the_mean_of_a_step_that_holds_the_clients_own_delay_is_a_range() {
    let mut outcome = outcomes::ramp();
    let step = &mut outcome.capacity.as_mut().unwrap().steps[0];
    step.response.mean_ns = None;
    step.response.mean_at_least_ns = Some(1.4e6);
    step.response.mean_at_most_ns = Some(1.62e6);
    step.response.p99_ns = None;
    step.response.p99_at_least_ns = Some(3_100_000);
    step.response.p99_at_most_ns = Some(5_200_000);
    let document = document(&outcome, "sqlite");
    let json = serde_json::to_value(&document).unwrap();
    let written = &json["capacity"]["steps"][0];
    let range =
        ["mean_response_us", "mean_response_at_least_us", "mean_response_at_most_us"].map(|key| written[key].as_f64());
    assert_eq!(range, [None, Some(1_400.0), Some(1_620.0)]);
    assert_eq!(
        (written["p99_response_us"].as_f64(), written["p99_response_at_most_us"].as_f64()),
        (None, Some(5_200.0))
    );
    let text = render(&document, None, 120).replace('\u{a0}', " ");
    assert!(text.contains("1.40 ms to 1.62 ms") && !text.contains("≥ 1.40 ms"), "{text}");
    assert!(text.contains("3.10 ms to 5.20 ms"), "{text}");
    let page = page([document]);
    assert!(page.contains(">1.40 to 1.62<") || page.contains(">0.00140 to 0.00162<"), "{page}");
}

/// What devices could not send is in no other figure of the first lines.
#[test]
fn the_headline_says_what_was_lost() {
    const LOST: &str = "It lost 7 datapoints that came too late to be sent.";
    let said = |outcome: &Outcome| {
        let text = render(&document(outcome, "sqlite"), None, 100);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut fixed = outcomes::fixed(1_000, 0, 0);
    assert!(!said(&fixed).contains("It lost"));
    (fixed.points.dropped, fixed.points.generated) = (7, fixed.points.generated + 7);
    assert!(said(&fixed).contains(LOST), "{}", said(&fixed));
    let mut ramp = outcomes::ramp();
    let steps = &mut ramp.capacity.as_mut().unwrap().steps;
    steps.iter_mut().for_each(|step| step.points_dropped = if step.step.load == 47 { 7 } else { 900 });
    assert!(said(&ramp).contains(LOST), "of the load that is quoted: {}", said(&ramp));
}

/// By the rule of three 950 datapoints that are right would have shown a loss of 0.32 % with 95 %.
#[test]
fn a_sample_that_finds_nothing_says_what_it_would_have_found() {
    let mut findings = AuditFindings::default();
    (0..950).for_each(|_| findings.note_right());
    let mut outcome = outcomes::fixed(1_000, 0, 0);
    outcomes::with_audit(&mut outcome);
    let document = |outcome: &Outcome| document(outcome, "sqlite").audit.unwrap().detectable;
    assert_eq!(document(&outcome), None, "it found something");
    let audit = outcome.stored.audit.as_mut().unwrap();
    (audit.findings, audit.tags) = (findings, None);
    let part = document(&outcome).unwrap().part_of_points.unwrap();
    assert!((part - 3.0 / 950.0).abs() < 0.000_02, "{part}");
}

/// Ten runs of each side, the sides one after the other or by turns.
#[test]
fn a_regression_of_sides_that_did_not_take_turns_may_be_the_machines_drift() {
    let side = |rate: f64, minute: fn(u32) -> u32| {
        let run = |number: u32| {
            let mut run = document(&outcomes::fixed(1_000, 0, 0), "sqlite");
            let minute = minute(number);
            run.started = format!("2026-01-05T{:02}:{:02}:00Z", minute / 60, minute % 60);
            run.run_id = format!("run-{minute}");
            run.throughput.as_mut().unwrap().operations_per_s = Some(rate + f64::from(number % 3));
            run
        };
        (0..10).map(run).collect::<Vec<_>>()
    };
    let metrics = vec![find_metric("operations_per_s").unwrap()];
    let options = CompareOptions { threshold: 0.03, metrics, across: Across::default(), noise_floor: None };
    let said = |cell: Cell| {
        let compared = compare(vec![cell], &options).unwrap();
        assert!(compared[0].is_regression);
        render_comparisons(&compared, 100).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    const DRIFT: &str = "REGRESSION of operations_per_s, or the machine's drift: the sides were not interleaved";
    const TURNS: &str = "unknown, and may be all of a difference; make both sides by turns";
    let apart = said(Cell { base: side(1_000.0, |n| n), new: side(900.0, |n| 60 + n) });
    assert!(apart.contains(DRIFT) && apart.contains(TURNS), "{apart}");
    let by_turns = said(Cell { base: side(1_000.0, |n| 2 * n), new: side(900.0, |n| 2 * n + 1) });
    assert!(!by_turns.contains("drift"), "{by_turns}");
}

/// Two looks at the machine lie a second apart.
#[test]
fn why_others_were_not_judged_is_the_shortness_of_what_was_measured() {
    for (seconds, why) in [(1, "it measured for too short"), (10, "not all processes of the machine are to be seen")] {
        let mut outcome = outcomes::fixed(100, 0, 0);
        let measured = outcome.measured.as_mut().unwrap();
        measured.to_ns = measured.from_ns + seconds * 1_000_000_000;
        let remarks = document(&outcome, "sqlite").remarks.join("\n");
        assert!(remarks.contains(&format!("was not judged: {why}")), "{remarks}");
    }
}
