//! A valid run that others disturbed is told as one in every form, before its figures are.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes;
use iotbench_report::{
    Document, HtmlOptions, ReportedRun, Status, render, render_comparison, render_html, render_markdown, render_sweep,
};
use iotbench_session::document_of;

const WHY: &str = "disturbed: other programs had 61.0 % of the machine's processors";

fn quiet() -> Document {
    document_of(&outcomes::fixed(450, 0, 0), &outcomes::provenance())
}

fn swept(value: u64) -> Document {
    let mut outcome = outcomes::fixed(450, 0, 0);
    outcome.plan.sweep = Some(outcomes::swept(value));
    document_of(&outcome, &outcomes::provenance())
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

/// PostgreSQL has a process for each connection, and all of them have its buffers.
#[test]
fn memory_that_processes_share_is_said_to_be_counted_for_each() {
    let with = |processes, rss, pss| {
        let mut document = quiet();
        let database = &mut document.resources[0];
        (database.processes_max, database.rss_bytes_mean, database.pss_bytes_mean) = (Some(processes), rss, pss);
        render(&document, None, 100).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let told = "what its 9 processes share is in RSS once for each, and in PSS once";
    assert!(with(9, Some(900 << 20), Some(150 << 20)).contains(told));
    for text in [with(1, Some(900 << 20), Some(150 << 20)), with(9, Some(101), Some(100)), with(9, Some(900), None)] {
        assert!(!text.contains("processes share"), "{text}");
    }
}

/// A run whose server was restarted, and one with another load, tell nothing of how far runs of the first lie apart.
#[test]
fn runs_with_other_loads_or_with_actions_are_other_contenders() {
    let of = |sha: &str, users, acted: bool| {
        let mut document = quiet();
        document.profile_sha256 = Some(sha.into());
        document.load.groups[0].users = Some(users);
        if acted {
            document.scenario = document_of(&outcomes::disturbed(), &outcomes::provenance()).scenario;
        }
        ReportedRun::of_document(document)
    };
    let alike = render_markdown(&[of("a", 5, false), of("a", 5, false), of("a", 5, false)], &[], false);
    assert!(!alike.contains("| rank |"), "one contender: {alike}");
    let runs = [of("a", 5, false), of("a", 5, false), of("b", 5, true), of("c", 50, false), of("d", 50, false)];
    let text = render_markdown(&runs, &[], false);
    let target = "sqlite:wide";
    let of = |name: &str, runs: u32| {
        let row = text.lines().find(|line| line.contains(&format!("| {target}, {name} |")));
        assert!(row.is_some_and(|row| row.contains(&format!("| {runs} |"))), "{name}: {text}");
    };
    of("5 users", 2);
    of("5 users, restart, kill", 1);
    of("50 users, settings 3 of 4", 1);
    of("50 users, settings 4 of 4", 1);
}

#[test]
fn what_is_counted_with_the_warm_up_is_said_to_be() {
    let told = "operations: of the measured part; datapoints: of the whole load, its warm-up with it";
    assert!(!render(&quiet(), None, 100).contains(told), "its measured part begins with the load");
    let mut warm = quiet();
    warm.measured.as_mut().unwrap().from_s = Some(2.0);
    assert!(render(&warm, None, 100).contains(told));
}
