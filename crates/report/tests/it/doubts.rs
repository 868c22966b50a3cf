//! A valid run that others disturbed is told as one in every form, before its figures are.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes;
use iotbench_report::{
    Document, HtmlOptions, ReportedRun, Status, render, render_comparison, render_html, render_markdown, render_sweep,
};

const WHY: &str = "disturbed: other programs had 61.0 % of the machine's processors";

fn quiet() -> Document {
    Document::from_outcome(&outcomes::fixed(450, 0, 0), &outcomes::provenance())
}

fn swept(value: u64) -> Document {
    let mut outcome = outcomes::fixed(450, 0, 0);
    outcome.plan.sweep = Some(outcomes::swept(value));
    Document::from_outcome(&outcome, &outcomes::provenance())
}

fn disturbed(mut document: Document) -> Document {
    document.others.as_mut().unwrap().disturbed = Some(WHY.into());
    document.verdict.status = Status::Valid;
    document
}

#[test]
fn a_valid_run_that_others_disturbed_is_no_run_against_which_nothing_is_known() {
    let markdown = |document: Document| render_markdown(&[ReportedRun::of_document(document)], &[], false);
    assert!(render(&quiet(), None, 100).starts_with("VALID  ") && markdown(quiet()).starts_with("**VALID** "));
    let text = render(&disturbed(quiet()), None, 100);
    assert!(text.starts_with("VALID, DISTURBED  ") && text.contains(&format!("\n- {WHY}\n")), "{text}");
    let markdown = markdown(disturbed(quiet()));
    assert!(markdown.starts_with("**VALID, DISTURBED** ") && markdown.contains(" (disturbed) | "), "{markdown}");
    let sweep = render_sweep(&[swept(2), disturbed(swept(4))], 100);
    assert!(sweep.starts_with("VALID, DISTURBED  ") && sweep.contains(&format!("- 4: {WHY}")), "{sweep}");
    let table = render_comparison(&[quiet(), disturbed(quiet())], 100);
    assert_eq!(table.lines().filter(|line| line.contains(" (disturbed) ")).count(), 2, "{table}");
}

#[test]
fn a_page_says_so_of_one_run_and_of_several() {
    let page = |documents: &[Document]| {
        let runs: Vec<_> = documents.iter().cloned().map(ReportedRun::of_document).collect();
        render_html(&runs, &HtmlOptions::default())
    };
    let unknown = "nothing is known against";
    assert!(page(&[quiet()]).to_lowercase().contains(unknown) && page(&[quiet(), quiet()]).contains(unknown));
    let one = page(&[disturbed(quiet())]);
    assert!(one.contains("<span class=\"badge disturbed\">valid, disturbed</span>") && one.contains("may be too low"));
    let both = page(&[quiet(), disturbed(quiet())]);
    assert!(both.contains("All 2 runs can be believed; others disturbed some of them.") && both.contains(WHY));
    assert!(!both.contains(unknown));
}

#[test]
fn what_is_counted_with_the_warm_up_is_said_to_be() {
    let told = "operations: of the measured part; datapoints: of the whole load, its warm-up with it";
    assert!(!render(&quiet(), None, 100).contains(told), "its measured part begins with the load");
    let mut warm = quiet();
    warm.measured.as_mut().unwrap().from_s = Some(2.0);
    assert!(render(&warm, None, 100).contains(told));
}
