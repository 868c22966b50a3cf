//! Which runs are ranked, and by what.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_scoring::{Criterion, RankError, Run, ScoreFile, rank};

const FILE: &str = r#"
name = "test"
summary = "a test"
[write]
profile = "w"
weights = { server_cpu_pct = 1, client_cpu_pct = 1, difficulty = 2 }
grades = { "a:wide" = 1, "b:wide" = 2 }
[read]
profile = "r"
weights = { server_cpu_pct = 1, difficulty = 1 }
grades = { "a:wide" = 1, "b:wide:bulk" = 2, "b:wide" = 4 }
"#;

fn file() -> ScoreFile {
    ScoreFile::from_toml(FILE).unwrap()
}

fn run(profile: &str, target: &str, strategy: Option<&str>, cpu: f64) -> Run {
    Run {
        name: format!("{profile} {target} {strategy:?} {cpu}"),
        profile: profile.into(),
        target: target.into(),
        strategy: strategy.map(Into::into),
        promise: "OS crash".into(),
        refused: None,
        figures: [(Criterion::ServerCpuPct, cpu), (Criterion::ClientCpuPct, cpu)].into(),
    }
}

#[test]
fn an_invalid_run_another_profile_and_a_run_named_twice_are_left_out_with_the_reason() {
    let good = run("w", "a:wide", None, 1.0);
    let invalid = Run { refused: Some("invalid: the client was the limit".into()), ..run("w", "b:wide", None, 2.0) };
    let other = run("pmu_write", "a:wide", None, 3.0);
    let ranking = rank(&file(), &[good.clone(), invalid, other, good]).unwrap();
    assert_eq!(ranking.contenders.len(), 1);
    let reasons: Vec<&str> = ranking.left_out.iter().map(|run| run.reason.as_str()).collect();
    assert_eq!(reasons.len(), 3);
    assert!(reasons[0].contains("client was the limit") && reasons[1].contains("pmu_write"), "{reasons:?}");
    assert!(reasons[2].contains("twice"), "{reasons:?}");
}

#[test]
fn without_a_valid_run_there_is_no_ranking() {
    let invalid = Run { refused: Some("it was aborted".into()), ..run("w", "a:wide", None, 1.0) };
    let error = rank(&file(), &[invalid]).unwrap_err();
    assert!(matches!(&error, RankError::NoRuns(left_out) if left_out.len() == 1));
    assert!(error.to_string().contains("it was aborted"), "{error}");
    assert!(rank(&file(), &[]).unwrap_err().to_string().contains("there is none"));
}

#[test]
fn several_runs_of_a_contender_count_by_their_mean() {
    let ranking = rank(&file(), &[1.0, 2.0, 6.0].map(|cpu| run("w", "a:wide", None, cpu))).unwrap();
    let write = ranking.write.unwrap();
    assert_eq!(write.rows.len(), 1);
    assert_eq!(write.rows[0].losses[0], Some(3.0));
    assert_eq!(ranking.contenders[0].write_runs.len(), 3);
}

#[test]
fn a_criterion_that_one_run_lacks_leaves_the_ranking_for_all_and_is_shown() {
    let mut lacking = run("w", "a:wide", None, 1.0);
    lacking.figures.remove(&Criterion::ClientCpuPct);
    let runs = [lacking, run("w", "a:wide", None, 3.0), run("w", "b:wide", None, 4.0)];
    let write = rank(&file(), &runs).unwrap().write.unwrap();
    let client = &write.columns[1];
    assert_eq!(
        (client.criterion, client.max, client.lacking.as_slice()),
        (Criterion::ClientCpuPct, None, ["a:wide".to_owned()].as_slice())
    );
    assert_eq!(write.weights, 3.0);
    // a: 1 − (2/4 × 1 + 1/2 × 2) / 3; b: 1 − (1 + 2) / 3.
    let scores: Vec<f64> = write.rows.iter().map(|row| row.score_pct).collect();
    assert!((scores[0] - 50.0).abs() < 1e-9 && scores[1].abs() < 1e-9, "{scores:?}");
}

#[test]
fn when_nothing_can_be_compared_it_says_who_lacks_what() {
    let runs = [run("w", "c:wide", None, 1.0)].map(|run| Run { figures: [].into(), ..run });
    let error = rank(&file(), &runs).unwrap_err().to_string();
    assert!(error.contains("server_cpu_pct of c:wide") && error.contains("write"), "{error}");
}

#[test]
fn different_promises_are_ranked_together_only_where_the_file_says_so() {
    let buffered = Run { promise: "no crash".into(), ..run("w", "b:wide", None, 2.0) };
    let runs = [run("w", "a:wide", None, 1.0), buffered];
    let error = rank(&file(), &runs).unwrap_err().to_string();
    assert!(error.contains("b:wide (no crash)") && error.contains("--across-durability"), "{error}");
    let ranking = rank(&ScoreFile { across_durability: true, ..file() }, &runs).unwrap();
    let promises: Vec<_> = ranking.contenders.iter().map(|c| c.promises.join(", ")).collect();
    assert_eq!(promises, ["OS crash", "no crash"]);
}

#[test]
fn strategies_share_the_runs_that_write_and_have_grades_of_their_own() {
    let runs = [
        run("w", "b:wide", None, 2.0),
        run("r", "b:wide", Some("individual"), 1.0),
        run("r", "b:wide", Some("bulk"), 2.0),
        run("w", "a:wide", None, 4.0),
    ];
    let ranking = rank(&file(), &runs).unwrap();
    let names: Vec<&str> = ranking.contenders.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["b:wide:individual", "b:wide:bulk", "a:wide"]);
    let (write, read) = (ranking.write.unwrap(), ranking.read.unwrap());
    assert_eq!(write.rows.len(), 3);
    assert_eq!(write.rows[0].score_pct, write.rows[1].score_pct);
    let grades: Vec<_> = read.rows.iter().map(|row| row.losses[1]).collect();
    assert_eq!(grades, [Some(4.0), Some(2.0)]);
    // Who does not read has no total.
    let totals: Vec<&str> = ranking.total.iter().map(|t| t.contender.as_str()).collect();
    assert_eq!(totals, ["b:wide:individual", "b:wide:bulk"]);
}
