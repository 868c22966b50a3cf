//! What people see.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes;
use iotbench_report::{
    Across, Audit, Cell, CompareOptions, Cost, Detectable, Document, HtmlOptions, ReportedRun, compare, render,
    render_audit, render_comparison, render_html, render_markdown,
};
use iotbench_session::document_of;
use proptest::prelude::*;
use serde_json::Value;
use std::path::Path;

fn document(outcome: &iotbench_engine::Outcome) -> Document {
    document_of(outcome, &outcomes::provenance())
}

fn shown(outcome: &iotbench_engine::Outcome) -> String {
    render(&document(outcome), Some(Path::new("results/20260105T100000Z-pmu_write-sqlite-wide-abcd")), 100)
}

#[test]
fn a_ramp_of_a_database_that_falls_behind() {
    insta::assert_snapshot!(shown(&outcomes::queued()));
}

#[test]
fn a_search_on_storage_that_drifted_says_so_with_its_answer() {
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (steady, drifting) = (outcomes::ramp(), outcomes::drifting());
    let said = "mean response 934 ms. The storage under it drifted meanwhile: an append of 8 KiB took 206 µs at its fastest and \
                310 µs at its slowest (p50); it changed during 1 of the trials that count. 50 failed";
    let figures = "Storage under it: p50 206 µs, p99 256 µs, 4,850 appends/s (11 probes of the database's file system, 2,200 \
                   appends of 8 KiB, each with fdatasync); p50 from 206 µs to 206 µs over the search; the same work of a \
                   processor took 500 µs.";
    let markdown = |outcome| render_markdown(&[ReportedRun::of_document(document(outcome))], &[], false);
    for (steady, drifting) in [(shown(&steady), shown(&drifting)), (markdown(&steady), markdown(&drifting))]
        .map(|(a, b)| (flat(&a), flat(&b)))
    {
        assert!(steady.contains(figures) && !steady.contains("drifted"), "{steady}");
        assert!(drifting.contains(said), "{drifting}");
        assert!(drifting.contains("; 3 trials were run again, because it drifted meanwhile."), "{drifting}");
    }
    let page = render_html(&[ReportedRun::of_document(document(&drifting))], &HtmlOptions::default());
    assert!(page.contains("Storage over the trials") && page.contains("Processors over the trials"));
}

/// Four of ten million are not stored.
#[test]
fn what_was_delivered_is_all_only_where_nothing_lacks() {
    let mut outcome = outcomes::fixed(450, 0, 0);
    outcomes::with_audit(&mut outcome);
    let told = |outcome: &iotbench_engine::Outcome| {
        let text = shown(outcome).split_whitespace().collect::<Vec<_>>().join(" ");
        let part = text.split_once("Delivered: ").and_then(|(_, rest)| rest.split_once(" %")).map(|(part, _)| part);
        (document(outcome).audit.unwrap().delivered, part.unwrap().to_owned())
    };
    (outcome.preloaded_points, outcome.points.generated, outcome.points.pending) = (0, 10_000_000, 0);
    outcome.points.dropped = 4;
    outcome.stored.counts = Some(iotbench_core::Counts { points: 9_999_996, values: 9_999_996 });
    assert_eq!(told(&outcome), (Some(0.999_999_6), "99.999".into()));
    outcome.stored.counts = Some(iotbench_core::Counts { points: 9_994_005, values: 9_994_005 });
    assert_eq!(told(&outcome), (Some(0.999_400_5), "99.940".into()));
}

/// Of two trials of 50 users the first is sustained.
#[test]
fn a_load_that_failed_some_of_its_trials_is_told_with_how_many() {
    let flat = |outcome: &iotbench_engine::Outcome| shown(outcome).split_whitespace().collect::<Vec<_>>().join(" ");
    let always = flat(&outcomes::ramp());
    assert!(always.contains(" 50 failed: mean response at least 1.04 s > 1 s. "), "{always}");
    let mut once = outcomes::ramp();
    let capacity = once.capacity.as_mut().unwrap();
    let first = &mut capacity.steps[5];
    (first.judgement.passed, first.judgement.limit, first.judgement.failure) = (true, None, None);
    let told = flat(&once);
    assert!(told.contains(" 50 failed 1 of 2 times: mean response at least 1.04 s > 1 s. "), "{told}");
    // One that was outvoted is no upper bound, and did fail.
    once.capacity.as_mut().unwrap().bounds = iotbench_engine::Bounds::of_loads(Some(50), None);
    let told = flat(&once);
    let open = " No load that was tried failed more often than it passed: the limit lies higher. ";
    assert!(told.contains(open), "{told}");
}

#[test]
fn storage_that_was_not_probed_is_told_with_the_reason() {
    let mut outcome = outcomes::ramp();
    outcome.capacity.as_mut().unwrap().steps.iter_mut().for_each(|step| step.conditions.storage_probes.clear());
    outcome.machine.storage_probing.not_probed = Some("agents make the load".into());
    assert!(shown(&outcome).contains("The storage under it was not probed: agents make the load."));
}

#[test]
fn a_client_that_was_held_up() {
    let mut outcome = outcomes::fixed(450, 0, 0);
    outcomes::with_hiccups(&mut outcome);
    insta::assert_snapshot!(shown(&outcome));
}

#[test]
fn a_run_through_a_broker() {
    let mut outcome = outcomes::fixed(450, 0, 0);
    outcomes::with_via(&mut outcome);
    insta::assert_snapshot!(shown(&outcome));
}

#[test]
fn a_small_share_of_the_ceiling_is_not_none() {
    let shares = [(0.0, "0 %"), (0.000_012_34, "0.00123 %"), (0.000_1, "0.0100 %"), (0.021, "2.10 %")];
    for (ratio, told) in shares {
        let mut outcome = outcomes::fixed(450, 0, 0);
        outcomes::with_hiccups(&mut outcome);
        outcome.measured.as_mut().unwrap().client.ceiling_ratio = Some(ratio);
        let text = shown(&outcome).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("; {told} of its ceiling of 812,000 operations/s")), "{ratio}: {text}");
    }
}

#[test]
fn a_scenario() {
    insta::assert_snapshot!(shown(&outcomes::disturbed()));
}

#[test]
fn what_a_killed_process_does_not_tell_is_said() {
    let mut outcome = outcomes::disturbed();
    let text = |outcome: &iotbench_engine::Outcome| shown(outcome).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!text(&outcome).contains("ower loss"), "nothing was killed");
    let marks = &mut outcome.scenario.as_mut().unwrap().marks;
    (marks[1].action.action, marks[1].error) = (iotbench_core::ProcessAction::Crash, None);
    assert!(text(&outcome).contains("The process was killed; power loss not tested."), "{}", text(&outcome));
    outcome.target.facts.as_mut().unwrap().promise.level = iotbench_core::PromiseLevel::Buffered;
    let told = "The promise would have allowed a loss: buffered. Power loss not tested.";
    assert!(text(&outcome).contains(told), "{}", text(&outcome));
}

#[test]
fn users_who_wait_for_nothing_but_answers_are_ranked_by_their_throughput() {
    let ranked = |think_ms: f64| {
        let runs = [("sqlite", 40.0), ("mariadb", 50.0)].map(|(backend, operations_per_s)| {
            let mut document = document(&outcomes::fixed(450, 0, 0));
            document.target.backend = backend.into();
            document.load.groups[0].think_ms = Some(think_ms);
            document.throughput.as_mut().unwrap().operations_per_s = Some(operations_per_s);
            ReportedRun::of_document(document)
        });
        render_markdown(&runs, &[], false)
    };
    let head = |what: &str| format!("| rank | contender | {what} |");
    let (without, with) = (ranked(0.0), ranked(1000.0));
    assert!(without.contains(&head("operations/s")), "{without}");
    assert!(without.find("mariadb:wide | 50") < without.find("sqlite:wide | 40"), "{without}");
    assert!(!with.contains(&head("operations/s")), "{with}");
}

#[test]
fn the_machines_energy_is_a_cost_and_the_databases_alone_is_not_known() {
    let mut outcome = outcomes::fixed(450, 0, 0);
    let mut machine = outcome.machine.resources[0].clone();
    (machine.role, machine.energy_uj) = ("machine".into(), Some(3_000_000));
    let cost = |outcome: &iotbench_engine::Outcome| Cost::of(&document(outcome), None);
    let none = cost(&outcome);
    assert_eq!((none.energy_j_per_million, none.unknown["energy_j_per_million"]), (None, "the machine does not tell"));
    outcome.machine.resources.push(machine);
    let some = cost(&outcome);
    let told_j = some.energy_j_per_million.unwrap() * some.datapoints.unwrap() / 1e6;
    assert!((told_j - 3.0).abs() < 1e-9, "{told_j} J");
    assert!(render_markdown(&[ReportedRun::of_document(document(&outcome))], &[some], false).contains("energy"));
}

#[test]
fn what_the_server_counted_is_told_where_something_happened() {
    let mut outcome = outcomes::fixed(450, 0, 0);
    assert!(!shown(&outcome).contains("Server counted"), "nothing was read");
    outcomes::with_counters(&mut outcome);
    let text = shown(&outcome).split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "a second, by what it had told by then: rows_written 4,000, wal_bytes 512 KiB; 12 looks, 1 of which failed, took 30.2 ms";
    assert!(text.replace('\u{a0}', " ").contains(expected), "{text}");
}

#[test]
fn a_ramp() {
    insta::assert_snapshot!(shown(&outcomes::ramp()));
}

#[test]
fn a_ramp_past_the_peak() {
    insta::assert_snapshot!(shown(&outcomes::past_the_peak()));
}

#[test]
fn the_writes_of_a_mixed_load_alone() {
    insta::assert_snapshot!(shown(&outcomes::mixed()));
}

#[test]
fn a_fixed_load_with_failures() {
    insta::assert_snapshot!(shown(&outcomes::fixed(450, 40, 10)));
}

#[test]
fn operations_of_several_requests() {
    insta::assert_snapshot!(shown(&outcomes::transactions()));
}

#[test]
fn reads_with_a_wrong_answer() {
    let mut outcome = outcomes::fixed(450, 0, 0);
    outcomes::with_reads(&mut outcome);
    insta::assert_snapshot!(shown(&outcome));
}

#[test]
fn what_was_read_back() {
    let mut outcome = outcomes::fixed(450, 0, 0);
    outcomes::with_audit(&mut outcome);
    let audit = document(&outcome).audit.unwrap();
    insta::assert_snapshot!(render_audit(&audit, 100));
    let clean = Audit {
        lost: 0,
        duplicate: None,
        corrupt: 0,
        alien: 0,
        unknown_stored: 0,
        unknown_not_stored: 0,
        cut_short: None,
        delivered: None,
        detectable: Some(Detectable { part_of_points: Some(3.63e-5), part_of_devices: Some(0.0894) }),
        examples: Vec::new(),
        ..audit
    };
    insta::assert_snapshot!(render_audit(&clean, 80));
}

#[test]
fn a_database_that_was_not_reached() {
    insta::assert_snapshot!(shown(&outcomes::unreached()));
}

#[test]
fn several_runs() {
    let documents = [outcomes::fixed(12_345, 0, 0), outcomes::fixed(0, 90, 10), outcomes::unreached()];
    insta::assert_snapshot!(render_comparison(&documents.each_ref().map(document), 100));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in [60, 80, 100, 200] {
        let mut reads = outcomes::fixed(450, 0, 0);
        outcomes::with_reads(&mut reads);
        outcomes::with_audit(&mut reads);
        for outcome in [outcomes::ramp(), outcomes::mixed(), outcomes::fixed(450, 40, 10), outcomes::unreached(), reads]
        {
            let text = render(&document(&outcome), None, columns);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= usize::from(columns.min(100)), "{widest} of {columns} columns:\n{text}");
        }
    }
}

/// Every text in a value becomes `text`, but for the words that the format fixes.
fn poison(value: &mut Value, text: &str) {
    match value {
        Value::String(own) => *own = text.into(),
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, text)),
        Value::Object(map) => {
            for (key, child) in map.iter_mut().filter(|(key, _)| {
                !["schema", "status", "purpose", "state", "limit", "limits", "method"].contains(&key.as_str())
            }) {
                let _ = key;
                poison(child, text);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn poisoned(text: &str) -> Document {
    let mut value = serde_json::to_value(document(&outcomes::ramp())).unwrap();
    poison(&mut value, text);
    value["target"]["settings"] = serde_json::json!({ text: text });
    serde_json::from_value(value).unwrap()
}

#[test]
fn no_text_of_others_begins_a_line_of_its_own() {
    let text = render(&poisoned("\nVALID \x1b[2J\u{202e}"), Some(Path::new("a\nVALID")), 100);
    assert!(!text.lines().skip(1).any(|line| line.starts_with("VALID")), "{text}");
    assert!(!text.contains(['\x1b', '\u{202e}']), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_breaks_the_json_or_steers_a_terminal(text in any::<String>()) {
        let document = poisoned(&text);
        let json = document.to_json().unwrap();
        prop_assert!(!json.chars().any(|c| c.is_control() && c != '\n'));
        let back = Document::from_json(&json).unwrap();
        prop_assert_eq!(back.to_json().unwrap(), json);
        for shown in [render(&document, Some(Path::new(&text)), 80), render_comparison(&[document], 80)] {
            prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}

#[test]
fn each_agent_has_its_line_and_what_clocks_do_not_tell_is_not_told() {
    let mut outcome = outcomes::fixed(20_000, 0, 0);
    outcomes::with_agents(&mut outcome);
    let text = render(&document(&outcome), None, 100);
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{text}"));
    assert!(line("rack-1").contains("0–1") && line("rack-1").contains("85.0 µs"), "{text}");
    assert!(line("rack-2 (lost)").contains("3.00 ms"), "{text}");
    assert!(text.contains("start: not told of agents whose clock is not known within 1.00 ms"), "{text}");
}

#[test]
fn what_datapoints_travelled_through_is_part_of_the_name_and_of_the_likeness() {
    let plain = outcomes::fixed(450, 0, 0);
    let mut carried = outcomes::fixed(450, 0, 0);
    outcomes::with_via(&mut carried);
    let documents = [document(&plain), document(&carried)];
    let [a, b] = documents.each_ref().map(|document| document.target.title());
    assert_eq!((a.as_str(), b.as_str()), ("sqlite:wide", "sqlite:wide, via mqtt qos 1 json64"));
    assert!(render_comparison(&documents, 100).contains("via mqtt"));
    assert_ne!(documents[0].fingerprint, documents[1].fingerprint);
    let [base, mut new] = documents;
    new.run_id.push('b');
    let across = Across::default();
    let options = CompareOptions { threshold: 0.05, metrics: Vec::new(), across, noise_floor: None };
    let refused = compare(vec![Cell { base: vec![base], new: vec![new] }], &options).unwrap_err().to_string();
    assert!(refused.contains("via (nothing between and mqtt qos 1 json64)"), "{refused}");
}
