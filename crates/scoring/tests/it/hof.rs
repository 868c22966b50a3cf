//! The study's own tables: Arnst, Herpich, Plenk, Wöltche 2019, Tables III (ranking), IV (writing) and V (reading).
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_scoring::{Criterion, Formula, Ranking, Run, ScoreFile, Table, rank};
use std::collections::BTreeMap;

const TABLE_III: &str = include_str!("../data/hof_ranking.csv");
const TABLE_IV: &str = include_str!("../data/hof_write.csv");
const TABLE_V: &str = include_str!("../data/hof_read.csv");
const SCORE_FILE: &str = include_str!("../../../../configs/scores/hof.toml");

type Records = Vec<BTreeMap<String, String>>;

fn records(text: &str) -> Records {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    reader.deserialize().map(Result::unwrap).collect()
}

fn number(record: &BTreeMap<String, String>, key: &str) -> f64 {
    record[key].parse().unwrap_or_else(|e| panic!("{key} of {record:?}: {e}"))
}

/// The study's words for a database with its layout, and the strategy.
fn target(implementation: &str) -> (&'static str, Option<&'static str>) {
    match implementation {
        "mariadb_individual" => ("mariadb:narrow", Some("individual")),
        "mariadb_bulk" => ("mariadb:bulk", Some("bulk")),
        "mongodb_individual" => ("mongodb:document", Some("individual")),
        "mongodb_bulk" => ("mongodb:bulk", Some("bulk")),
        "influxdb_individual" => ("influxdb:wide", Some("individual")),
        "influxdb_bulk" => ("influxdb:wide", Some("bulk")),
        "influxdb_bulk1" => ("influxdb:wide", Some("bulk1")),
        "influxdb" => ("influxdb:wide", None),
        other => panic!("the study has no {other}"),
    }
}

const COLUMNS: [(Criterion, &str); 7] = [
    (Criterion::ServerCpuPct, "cpu_server"),
    (Criterion::ServerMemoryBytes, "mem_server"),
    (Criterion::ServerIoKbPerS, "io_server"),
    (Criterion::ClientCpuPct, "cpu_client"),
    (Criterion::ClientMemoryBytes, "mem_client"),
    (Criterion::NetworkKbitPerS, "net"),
    (Criterion::DiskGrowthBytes, "disk"),
];

fn runs_of(table: &str, profile: &str, reads: bool) -> Vec<Run> {
    let records = records(table);
    let run = |record: &BTreeMap<String, String>| {
        let (target, strategy) = target(&record["implementation"]);
        let figures = COLUMNS.iter().filter(|(_, key)| record.contains_key(*key));
        Run {
            name: format!("{profile} {}", record["implementation"]),
            profile: profile.into(),
            target: target.into(),
            strategy: strategy.filter(|_| reads).map(Into::into),
            promise: target.split(':').next().unwrap().into(),
            refused: None,
            figures: figures.map(|(criterion, key)| (*criterion, number(record, key))).collect(),
        }
    };
    records.iter().filter(|r| r["implementation"] != "weight").map(run).collect()
}

fn runs() -> Vec<Run> {
    [runs_of(TABLE_IV, "machine_write", false), runs_of(TABLE_V, "machine_read", true)].concat()
}

fn ranking(formula: Formula) -> Ranking {
    let file = ScoreFile { formula, ..ScoreFile::from_toml(SCORE_FILE).unwrap() };
    rank(&file, &runs()).unwrap()
}

/// The score and rank that Table III prints for a contender, by the word before `_score` and `_rank`.
fn printed(contender: &str, of: &str) -> (f64, usize) {
    let is = |record: &&BTreeMap<String, String>| {
        let (target, strategy) = target(&record["implementation"]);
        format!("{target}:{}", strategy.unwrap()) == contender
    };
    let records = records(TABLE_III);
    let record = records.iter().find(is).unwrap();
    (number(record, &format!("{of}_score")), record[&format!("{of}_rank")].parse().unwrap())
}

/// Scores and ranks of a table by contender.
fn places(table: &Table) -> Vec<(&str, f64, usize)> {
    assert_eq!(table.rows.len(), 7);
    table.rows.iter().map(|row| (row.contender.as_str(), row.score_pct, row.rank)).collect()
}

#[test]
fn weights_and_grades_are_the_studys() {
    let file = ScoreFile::from_toml(SCORE_FILE).unwrap();
    for (half, table) in [(file.write.unwrap(), TABLE_IV), (file.read.unwrap(), TABLE_V)] {
        let records = records(table);
        let columns = COLUMNS.iter().chain(&[(Criterion::Difficulty, "difficulty")]);
        let weights: BTreeMap<Criterion, f64> = columns
            .filter(|(_, key)| records[0].contains_key(*key))
            .map(|(criterion, key)| (*criterion, number(&records[0], key)))
            .collect();
        assert_eq!(half.weights, weights);
        for record in records.iter().skip(1) {
            let (target, strategy) = target(&record["implementation"]);
            let own = strategy.map(|strategy| format!("{target}:{strategy}"));
            let grade = own.and_then(|own| half.grades.0.get(&own)).or_else(|| half.grades.0.get(target)).unwrap();
            assert_eq!(*grade, number(record, "difficulty"), "{target} {strategy:?}");
        }
    }
}

#[test]
fn write_ranks_are_as_printed_and_scores_within_rounding() {
    for formula in [Formula::AsWritten, Formula::Erratum] {
        for (contender, score, rank) in places(&ranking(formula).write.unwrap()) {
            let (printed_score, printed_rank) = printed(contender, "write");
            assert_eq!(rank, printed_rank, "{contender}");
            assert!((score - printed_score).abs() <= 2.5, "{contender}: {score} against {printed_score}");
        }
    }
}

#[test]
fn read_scores_are_as_printed_in_the_erratums_variant() {
    for (contender, score, rank) in places(&ranking(Formula::Erratum).read.unwrap()) {
        let (printed_score, printed_rank) = printed(contender, "read");
        assert_eq!(rank, printed_rank, "{contender}");
        assert!((score - printed_score).abs() <= 0.6, "{contender}: {score} against {printed_score}");
    }
}

#[test]
fn read_scores_of_the_formula_as_written_swap_ranks_2_and_3() {
    let read = ranking(Formula::AsWritten).read.unwrap();
    let expected = [64.8, 75.0, 45.3, 55.7, 88.0, 74.0, 75.6];
    for ((contender, score, rank), expected) in places(&read).into_iter().zip(expected) {
        assert!((score - expected).abs() <= 0.05, "{contender}: {score} against {expected}");
        let as_printed = match printed(contender, "read").1 {
            2 => 3,
            3 => 2,
            other => other,
        };
        assert_eq!(rank, as_printed, "{contender}");
    }
}

#[test]
fn total_ranks_are_as_printed_but_for_the_last_two() {
    for (formula, last) in [(Formula::AsWritten, [39.2, 40.8]), (Formula::Erratum, [42.3, 43.1])] {
        let total = ranking(formula).total;
        assert_eq!(total.len(), 7);
        for of in &total {
            let as_printed = match printed(&of.contender, "total").1 {
                6 => 7,
                7 => 6,
                other => other,
            };
            assert_eq!(of.rank, as_printed, "{of:?}");
        }
        for (contender, expected) in ["mariadb:narrow:individual", "mongodb:document:individual"].iter().zip(last) {
            let got = total.iter().find(|t| t.contender == *contender).unwrap().total_pct;
            assert!((got - expected).abs() <= 0.05, "{contender}: {got} against {expected}");
        }
    }
}

#[test]
fn each_contender_has_its_promise_and_its_runs() {
    let ranking = ranking(Formula::AsWritten);
    let bulk1 = ranking.contenders.iter().find(|c| c.name == "influxdb:wide:bulk1").unwrap();
    assert_eq!(bulk1.promises, ["influxdb"]);
    assert_eq!(bulk1.write_runs, ["machine_write influxdb"]);
    assert_eq!(bulk1.read_runs, ["machine_read influxdb_bulk1"]);
    assert!(ranking.left_out.is_empty());
}
