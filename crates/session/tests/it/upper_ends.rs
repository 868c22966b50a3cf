//! Where one number stands for a range it is the upper end, and that is said.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes;
use iotbench_report::{
    Across, Cell, CompareOptions, Cost, Document, HtmlOptions, Interval, Repetitions, ReportedRun, Status, compare,
    find_metric, history, render_history, render_html, render_repetitions, render_tidy, scored_run, unequal,
};
use iotbench_session::document_of;

const REMARK: &str =
    "response_p99_us is the upper end of a range in 1 of 2 runs: the client's own delay is a part of it";

/// Two runs of the same, whose p99s are a figure of 3 ms and a range from 1 to 2 ms.
fn runs() -> [Document; 2] {
    let of = |id: &str| {
        let mut run = document_of(&outcomes::fixed(20_000, 0, 0), &outcomes::provenance());
        run.run_id = id.into();
        run.verdict.status = Status::Valid;
        run
    };
    let [mut figure, mut range] = ["a", "b"].map(of);
    figure.latency.as_mut().unwrap().by_operation.response.p99 = Some(3_000.0);
    let response = &mut range.latency.as_mut().unwrap().by_operation.response;
    response.p99 = None;
    response.ci95.remove("p99");
    response.ranges.insert("p99".into(), Interval { low: Some(1_000.0), high: Some(2_000.0) });
    [figure, range]
}

#[test]
fn a_comparison_and_a_history_say_which_figures_are_upper_ends() {
    let [base, new] = runs();
    let metrics = vec![find_metric("response_p99_us").unwrap()];
    let options = CompareOptions { threshold: 0.05, metrics, across: Across::default(), noise_floor: None };
    assert_eq!(options.metrics[0].of(&new), Some(2_000.0));
    let text = render_history(&history(runs().into(), &options.metrics), 200).replace('\u{a0}', " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(text.contains("2.00 ms to 3.00 ms") && words.join(" ").contains(REMARK), "{text}");
    let compared = compare(vec![Cell { base: vec![base], new: vec![new] }], &options).unwrap();
    assert!(compared[0].remarks.contains(&REMARK.into()), "{:?}", compared[0].remarks);
}

#[test]
fn repetitions_and_scores_do_too() {
    let found = Repetitions::of(&runs(), 1);
    let p99 = found.figures.iter().find(|figure| figure.figure == "response_p99_us").unwrap();
    assert_eq!((p99.runs, p99.mean), (2, 2_500.0));
    assert_eq!(found.remarks, [REMARK]);
    assert!(render_repetitions(&found, 200).contains("upper end of a range in 1 of 2"));
    let figures = scored_run(&runs()[1]).figures;
    assert!(figures.iter().any(|(criterion, figure)| criterion.name() == "response_p99_us" && *figure == 2_000.0));
    assert!(unequal(&runs()).contains(&REMARK.into()));
}

/// The one with the range is before the other, and how far, its range tells.
#[test]
fn a_ranking_marks_them() {
    let [figure, mut range] = runs();
    range.target.backend = "other".into();
    let both = [figure, range].map(ReportedRun::of_document);
    let page = render_html(&both, &HtmlOptions::default()).replace('\u{a0}', " ");
    assert!(page.contains("lowest 99th percentile") && page.contains("≤ 2.00 ms"), "{page}");
    assert!(page.contains("1.00 to 2.00"));
    let documents = both.map(|run| run.document);
    let costs = documents.each_ref().map(|run| Cost::of(run, None));
    let tidy = render_tidy(&documents, &costs).unwrap();
    assert!(tidy.contains("from 1000 to 2000 by the client's own delay"), "{tidy}");
}
