//! What sittings tell together, how it is kept, and how it orders databases.

#![expect(clippy::unwrap_used, reason = "a test that cannot get what it needs has failed")]

use crate::outcomes;
use iotbench_engine::{Outcome, Reason, Verdict};
use iotbench_report::{
    Document, FolderName, ReportedRun, ResultsFolder, SessionEnd, SessionsRecord, SessionsSummary, open_sessions,
    read_documents, read_sessions, render_html, render_over_sittings, render_sessions,
};
use iotbench_session::{SearchHead, document_of};
use jiff::Timestamp;
use std::{fs, path::Path};

/// A sitting that found this limit.
fn sitting(limit: f64) -> Document {
    let mut outcome = Outcome { verdict: Verdict::of(vec![]), ..outcomes::ramp() };
    let bounds = &mut outcome.capacity.as_mut().unwrap().bounds;
    bounds.estimate.as_mut().unwrap().load = limit;
    document_of(&outcome, &outcomes::provenance())
}

/// The record of so many sittings, of which these have ended, half an hour apart and four minutes long each.
fn record(sessions: usize, ended: &[Document]) -> SessionsRecord<SearchHead> {
    let began = Timestamp::from_second(1_767_607_200).unwrap();
    let order = vec![0; sessions];
    let mut record = SessionsRecord::new(Vec::new(), &["sqlite:wide".into()], &order, Some(7_200.0), 240.0, began);
    for ((place, entry), document) in (0_i64..).zip(&mut record.entries).zip(ended) {
        let time = |after_s: i64| Timestamp::from_second(1_767_607_200 + place * 1_800 + after_s).unwrap().to_string();
        entry.end = Some(SessionEnd {
            folder: format!("run-{place}"),
            interrupted: Vec::new(),
            began: time(0),
            ended: time(240),
            exit_code: document.verdict.exit_code,
        });
    }
    record.summary = SessionsSummary::of(&record, ended);
    record
}

#[test]
fn the_answer_is_the_geometric_mean_with_its_interval_and_the_time_that_it_took() {
    let ended = [sitting(2_304.0), sitting(3_072.0), sitting(4_096.0)];
    let record = record(5, &ended);
    assert_eq!((record.next(), record.held()), (Some(3), 3));
    // Each is 4/3 of the one before: ln(4/3) = 0.28768 apart, and t of two degrees of freedom is 2.91999, so that the ends
    // are 3,072 × exp(± 0.28768 × 2.91999 / √3).
    let expected =
        "sqlite:wide sustains 3,072 virtual users (90 % interval 1,891 to 4,989 over 3 sittings within 1.07 h).";
    assert_eq!(record.summary.answers, [expected]);
    let text = render_sessions(&record, &ended, 100);
    for words in
        ["SESSIONS", "3 of 5 sittings", "sqlite:wide sustains 3,072", "47 to 50", "2026-01-05 10:30:00", "run-2"]
    {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
}

#[test]
fn runs_of_a_suite_are_told_over_sittings_target_by_target() {
    let other = |limit| {
        let mut document = sitting(limit);
        document.target.layout = "bulk".into();
        document
    };
    let runs = [sitting(2_304.0), other(100.0), sitting(3_072.0), other(100.0), sitting(4_096.0)];
    let text = render_over_sittings(&runs, Some(3_840.0), 200);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "sqlite:wide sustains 3,072 virtual users (90 % interval 1,891 to 4,989 over 3 sittings within 1.07 h).",
        "sqlite:bulk sustains 100 virtual users (90 % interval 100 to 100 over 2 sittings within 1.07 h).",
        "Over sittings",
        "Means are geometric.",
    ] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
}

/// The lines of the table over sittings of these runs, and what stands beneath it.
fn over(runs: &[Document]) -> Vec<String> {
    let text = render_over_sittings(runs, None, 200);
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_table_over_sittings_has_the_mean_its_interval_and_the_ends_of_each_figure() {
    let lines = over(&[sitting(3_072.0), sitting(4_096.0), sitting(2_304.0)]);
    let row = " 3 3,072 1,891 4,989 2,304 4,096";
    assert!(lines.iter().any(|line| line.ends_with(row)), "{lines:?}");
    let mut open = outcomes::ramp();
    open.verdict = Verdict::of(vec![]);
    open.capacity.as_mut().unwrap().bounds.client_limited = true;
    let open = document_of(&open, &outcomes::provenance());
    let lines = over(&[sitting(48.6), open]);
    assert!(lines.iter().any(|line| line.ends_with(" 2 ≥ 49 49 – 49 49")), "the client was the limit: {lines:?}");
}

#[test]
fn what_a_reader_of_sittings_has_to_know_stands_beneath_their_table() {
    let mut moved = outcomes::ramp();
    moved.verdict = Verdict::of(vec![]);
    let estimate = moved.capacity.as_mut().unwrap().bounds.estimate.as_mut().unwrap();
    estimate.moved = Some(iotbench_engine::Move { at_trial: 5, before: Some(60.0), after: Some(48.0) });
    let moved = document_of(&moved, &outcomes::provenance());
    let mut none = outcomes::ramp();
    none.capacity.as_mut().unwrap().bounds = iotbench_engine::Bounds::of_loads(None, Some(16));
    none.verdict = Verdict::of(vec![Reason::NoSustainedLoad]);
    let mut none = document_of(&none, &outcomes::provenance());
    none.target.layout = "bulk".into();
    let lines = over(&[sitting(48.0), moved, none]);
    let said = "remark: sqlite:wide: in 1 of 2 sittings the limit moved while it was searched for";
    assert!(lines.iter().any(|line| line == said), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("left out: ")), "{lines:?}");
    let answer = lines.iter().find(|line| line.starts_with("sqlite:wide sustains ")).unwrap();
    assert!(answer.contains("over 2 sittings"), "what fails on another target is not this one's: {answer}");
}

#[test]
fn one_sitting_claims_no_spread() {
    let ended = [sitting(2_304.0)];
    let record = record(5, &ended);
    let expected = "sqlite:wide sustains 2,304 virtual users (one sitting, the spread between sittings is not known).";
    assert_eq!(record.summary.answers, [expected]);
    let capacity = &record.summary.figures[0];
    assert_eq!((capacity.low, capacity.high, capacity.least), (None, None, 2_304.0));
}

#[test]
fn what_fails_is_not_left_to_the_luckier_sittings() {
    let mut none = outcomes::ramp();
    none.capacity.as_mut().unwrap().bounds = iotbench_engine::Bounds::of_loads(None, Some(16));
    none.verdict = Verdict::of(vec![Reason::NoSustainedLoad]);
    let none = document_of(&none, &outcomes::provenance());
    let record = record(3, &[sitting(2_304.0), sitting(3_072.0), none]);
    assert!(record.summary.figures.iter().all(|figure| figure.figure != "capacity"), "{:?}", record.summary.figures);
    assert!(record.summary.answers[0].contains("acknowledged"), "{:?}", record.summary.answers);
    assert!(record.summary.remarks[0].contains("1 of 3 sittings sustained not even the least load"));
    assert_eq!(record.summary.left_out.len(), 1);
}

#[test]
fn a_capacity_that_was_not_reached_has_no_upper_end() {
    let mut open = outcomes::ramp();
    open.capacity.as_mut().unwrap().bounds = iotbench_engine::Bounds::of_loads(Some(4_096), None);
    open.verdict = Verdict::of(vec![]);
    let open = document_of(&open, &outcomes::provenance());
    let record = record(2, &[sitting(4_096.0), open]);
    let answer = &record.summary.answers[0];
    assert!(
        answer.contains("sustains at least 4,096") && answer.contains("interval from 4,096 on, over 2"),
        "{answer}"
    );
}

/// Sittings in a folder, each with its document.
fn folder_of(out: &Path, name: &str, ended: &[Document], of: usize) -> ResultsFolder {
    let name = FolderName::new(outcomes::started(), name, "sqlite", "sessions").unwrap();
    let folder = ResultsFolder::create(out, &name).unwrap();
    let mut record = record(of, ended);
    for (document, entry) in ended.iter().zip(&mut record.entries) {
        let end = entry.end.as_mut().unwrap();
        end.folder = format!("{}-{}", name.as_str(), end.folder);
        let run = folder.path().join(&end.folder);
        fs::create_dir(&run).unwrap();
        fs::write(run.join("run.json"), Document { run_id: end.folder.clone(), ..document.clone() }.to_json().unwrap())
            .unwrap();
    }
    folder.write_sessions(&record, &render_sessions(&record, ended, 100)).unwrap();
    folder
}

#[test]
fn what_is_kept_is_read_again_and_interrupted_runs_are_no_sittings() {
    let out = tempfile::tempdir().unwrap();
    let folder = folder_of(out.path(), "pmu_write", &[sitting(2_304.0), sitting(3_072.0)], 3);
    let interrupted = folder.path().join("interrupted");
    fs::create_dir(&interrupted).unwrap();
    fs::write(interrupted.join("run.json"), sitting(1.0).to_json().unwrap()).unwrap();
    assert_eq!(read_documents(folder.path()).unwrap().len(), 2);
    let held = open_sessions::<SearchHead>(folder.path()).map(|_| ()).unwrap_err();
    assert_eq!(held.exit_code(), 31, "{held}");
    let path = folder.path().to_owned();
    drop(folder);
    let (_held, record) = open_sessions::<SearchHead>(&path).unwrap();
    assert_eq!((record.next(), record.summary.figures[0].sittings), (Some(2), 2));
    let file = path.join("sessions.json");
    let text = fs::read_to_string(&file).unwrap();
    for (from, to, words) in [
        ("iotbench-sessions/1.0", "iotbench-sessions/2.0", "iotbench-sessions/2.0"),
        ("\"folder\": \"", "\"folder\": \"../../", "is no folder in it"),
        ("\"entries\"", "\"entires\"", "no record of sittings"),
    ] {
        assert!(text.contains(from));
        fs::write(&file, text.replace(from, to)).unwrap();
        let error = read_sessions::<SearchHead>(&path).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn databases_are_ordered_by_the_interval_over_their_sittings() {
    let out = tempfile::tempdir().unwrap();
    let near = |limits: [f64; 3], backend: &str| {
        limits.map(|limit| {
            let mut document = sitting(limit);
            document.target.backend = backend.into();
            document
        })
    };
    let slow = folder_of(out.path(), "slow", &near([1_000.0, 1_010.0, 990.0], "sqlite"), 3);
    let fast = folder_of(out.path(), "fast", &near([1_500.0, 1_510.0, 1_490.0], "memory"), 3);
    let read = |folder: &ResultsFolder| ReportedRun::read(folder.path()).unwrap();
    let page = render_html(&[read(&slow), read(&fast)].concat(), &iotbench_report::HtmlOptions::default());
    assert!(page.contains("90 % confidence interval over sittings"), "the interval is over sittings");
    assert!(page.contains("memory:wide sustains the most: ") && !page.contains("order not established"));
    // The same figures of runs that are no sittings tell no order.
    let alone = |folder: &ResultsFolder| {
        read(folder).into_iter().map(|run| ReportedRun::of_document(run.document)).collect::<Vec<_>>()
    };
    let page = render_html(&[alone(&slow), alone(&fast)].concat(), &iotbench_report::HtmlOptions::default());
    assert!(page.contains("One sitting each: order not established"));
    let page = render_html(&[read(&slow), alone(&fast)].concat(), &iotbench_report::HtmlOptions::default());
    assert!(page.contains("Not all have several sittings: order not established"));
}
