//! `iotbench score`: results folders in, criteria, losses, scores and ranks out.

use crate::end_to_end::program::{run, said};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::LazyLock,
};

/// A document of a real run, from which the others are made.
static TEMPLATE: LazyLock<Value> =
    LazyLock::new(|| run(&["-p", "machine_write", "-b", "sqlite:wide", "-d", "1s", "--warmup", "0s"]).document);

fn score(arguments: &[&str], runs: &[PathBuf]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    command.arg("score").args(runs).args(arguments);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("IOTBENCH_")) {
        command.env_remove(name);
    }
    command.output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", said(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Writes a results folder of this document.
fn folder(results: &Path, document: &Value) -> PathBuf {
    let folder = results.join(document["run_id"].as_str().unwrap());
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("run.json"), document.to_string()).unwrap();
    folder
}

/// A valid document of another run, in which nothing of a criterion is known.
fn document(profile: &str, target: &str, strategy: Option<&str>) -> Value {
    let (backend, layout) = target.split_once(':').unwrap();
    let mut document = TEMPLATE.clone();
    document["run_id"] = json!(format!("{profile}-{backend}-{layout}-{}", strategy.unwrap_or("none")));
    document["profile"] = json!(profile);
    document["verdict"] = json!({ "status": "valid", "reasons": [], "exit_code": 0 });
    document["target"]["backend"] = json!(backend);
    document["target"]["layout"] = json!(layout);
    document["target"]["strategy"] = json!(strategy);
    document["measured"] = json!({ "from_s": 0.0, "to_s": 10.0, "length_s": 10.0 });
    document["resources"] = json!([]);
    document["storage"] = json!({ "bytes_before": null, "bytes_after": null, "bytes_per_point": null });
    document
}

/// What a role used, from a resource of the real run.
fn resource(role: &str, cpu_pct: f64, rss_bytes: u64, io_bytes: u64, net_bytes: u64) -> Value {
    let mut resource = TEMPLATE["resources"][0].clone();
    resource["role"] = json!(role);
    resource["cpu_pct_mean"] = json!(cpu_pct);
    resource["rss_bytes_mean"] = json!(rss_bytes);
    (resource["disk_read_bytes"], resource["disk_written_bytes"]) =
        (json!(io_bytes / 4), json!(io_bytes - io_bytes / 4));
    (resource["net_rx_bytes"], resource["net_tx_bytes"]) = (json!(net_bytes / 5), json!(net_bytes - net_bytes / 5));
    resource["note"] = Value::Null;
    resource
}

/// The study's Tables IV and V as results folders.
fn study(results: &Path) -> Vec<PathBuf> {
    let tables = [
        ("machine_write", include_str!("../../../crates/scoring/tests/data/hof_write.csv")),
        ("machine_read", include_str!("../../../crates/scoring/tests/data/hof_read.csv")),
    ];
    let mut folders = Vec::new();
    for (profile, table) in tables {
        let mut lines = table.lines().filter(|line| !line.starts_with('#'));
        let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
        for line in lines.filter(|line| !line.starts_with("weight")) {
            let cells: BTreeMap<&str, &str> = heads.iter().copied().zip(line.split(',')).collect();
            folders.push(folder(results, &of_study(profile, &cells)));
        }
    }
    folders
}

fn of_study(profile: &str, cells: &BTreeMap<&str, &str>) -> Value {
    let (backend, word) = cells["implementation"].split_once('_').unwrap_or((cells["implementation"], ""));
    let layout = match (backend, word) {
        ("influxdb", _) => "wide",
        ("mariadb", "individual") => "narrow",
        (_, "individual") => "document",
        _ => "bulk",
    };
    let strategy = (profile == "machine_read").then_some(word);
    let mut document = document(profile, &format!("{backend}:{layout}"), strategy);
    let number = |key: &str| cells[key].parse::<f64>().unwrap();
    let bytes = |number: f64| format!("{number:.0}").parse::<u64>().unwrap();
    // Ten seconds of kilobytes and kilobits a second.
    let (io, net) = (bytes(number("io_server") * 1e4), bytes(number("net") * 1e4 / 8.0));
    document["resources"] = json!([
        resource("server", number("cpu_server"), bytes(number("mem_server") * 1024.0), io, 0),
        resource("client", number("cpu_client"), bytes(number("mem_client") * 1024.0), 0, net),
    ]);
    if profile == "machine_write" {
        document["storage"]["bytes_before"] = json!(5_000);
        document["storage"]["bytes_after"] = json!(5_000 + bytes(number("disk") * 1e6));
    }
    document
}

const CONTENDERS: [&str; 7] = [
    "mariadb:narrow:individual",
    "mariadb:bulk:bulk",
    "mongodb:document:individual",
    "mongodb:bulk:bulk",
    "influxdb:wide:individual",
    "influxdb:wide:bulk",
    "influxdb:wide:bulk1",
];

/// The ranks of a table in the order of [`CONTENDERS`].
fn ranks(table: &Value) -> Vec<u64> {
    let rank = |contender: &&str| {
        let row = table.as_array().unwrap().iter().find(|row| row["contender"] == *contender);
        row.unwrap_or_else(|| panic!("{contender} is not in {table:#}"))["rank"].as_u64().unwrap()
    };
    CONTENDERS.iter().map(rank).collect()
}

#[test]
fn the_studys_tables_give_the_studys_ranks() {
    let results = tempfile::tempdir().unwrap();
    let runs = study(results.path());
    for (variant, read) in [("as-written", [5, 3, 7, 6, 1, 4, 2]), ("erratum", [5, 2, 7, 6, 1, 4, 3])] {
        let output = score(&["--output-format", "json", "--formula", variant], &runs);
        let document: Value = serde_json::from_str(&text(&output)).unwrap();
        assert_eq!(document["schema"], "iotbench-score/1.1");
        let ranking = &document["ranking"];
        assert_eq!(ranks(&ranking["write"]["rows"]), [7, 1, 6, 2, 3, 3, 3]);
        assert_eq!(ranks(&ranking["read"]["rows"]), read);
        assert_eq!(ranks(&ranking["total"]), [7, 1, 6, 5, 2, 4, 3]);
    }
}

/// The numbers of the line that begins with a word, below a line that begins with another.
fn numbers(text: &str, below: &str, word: &str) -> Vec<f64> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(below));
    let line = lines.find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("no {word} below {below}: {text}"));
    line.split_whitespace().skip(1).filter_map(|cell| cell.parse().ok()).collect()
}

#[test]
fn a_reader_can_work_each_score_out_from_what_is_printed() {
    let results = tempfile::tempdir().unwrap();
    let runs = study(results.path());
    let text = text(&score(&[], &runs));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let ranking = text.split_once("Ranking").unwrap().1;
    for (letter, contender) in ('A'..).zip(CONTENDERS) {
        assert!(ranking.lines().any(|line| line.starts_with(&format!("{letter} {contender} "))), "{text}");
    }
    for half in ["Writing", "Reading"] {
        let own = text.split_once(half).unwrap().1;
        let (max, weights) = (numbers(own, "L ", "max L"), numbers(own, "L ", "weight"));
        let max = max.get(max.len() - weights.len()..).unwrap();
        for contender in ["A ", "B ", "C ", "D ", "E ", "F ", "G "] {
            // Losses over their greatest, the weighted sum, the score, the rank.
            let (losses, shares) = (numbers(own, "L ", contender), numbers(own, "L/max", contender));
            let expected = losses.iter().zip(max).zip(&shares);
            assert!(expected.clone().count() == weights.len(), "{contender}: {losses:?} {max:?} {shares:?}");
            assert!(expected.into_iter().all(|((l, m), share)| (l / m - share).abs() < 1e-3), "{contender}: {text}");
            let weighted: f64 = shares.iter().zip(&weights).map(|(share, weight)| share * weight).sum();
            let score_pct = (1.0 - weighted / weights.iter().sum::<f64>()) * 100.0;
            let [sum, printed, _rank] = shares.get(weights.len()..).unwrap() else { panic!("{contender}: {shares:?}") };
            assert!((weighted - sum).abs() < 1e-2 && (score_pct - printed).abs() < 0.06, "{contender}: {text}");
        }
    }
}

#[test]
fn an_invalid_run_is_left_out_with_the_reason() {
    let results = tempfile::tempdir().unwrap();
    let mut runs = study(results.path());
    let mut invalid = document("machine_write", "postgres:wide", None);
    invalid["verdict"] = json!({ "status": "invalid", "reasons": ["the client was the limit"], "exit_code": 11 });
    runs.push(folder(results.path(), &invalid));
    let text = text(&score(&[], &runs));
    assert!(text.contains("left out: machine_write-postgres-wide-none (invalid: the client was the limit)"), "{text}");
    assert_eq!(text.matches("postgres").count(), 1, "{text}");
    let output = score(&[], &runs[runs.len() - 1..]);
    assert_eq!(output.status.code(), Some(11));
    assert!(said(&output).contains("the client was the limit"), "{}", said(&output));
}

#[test]
fn what_an_embedded_database_does_not_tell_counts_for_nobody() {
    let results = tempfile::tempdir().unwrap();
    let mut runs = study(results.path());
    let mut embedded = document("machine_write", "sqlite:wide", None);
    embedded["resources"] = json!([resource("client+database", 9.0, 1 << 25, 1 << 20, 0)]);
    runs.push(folder(results.path(), &embedded));
    let text = text(&score(&[], &runs));
    for criterion in ["client CPU", "client RSS", "disk growth", "grade"] {
        assert!(text.contains(&format!("{criterion} counts for nobody: sqlite:wide lack it")), "{text}");
    }
    assert!(text.contains("Writing: machine_write, Σ weight = 8"), "{text}");
    assert!(text.contains("Reading: machine_read, Σ weight = 13"), "{text}");
}

/// A score file that ranks one promise only.
fn strict(folder: &Path) -> String {
    let file = folder.join("mine.toml");
    let content = "name = \"mine\"\nsummary = \"CPU\"\n[write]\nprofile = \"machine_write\"\n[write.weights]\nserver_cpu_pct = 1\n";
    fs::write(&file, content).unwrap();
    file.display().to_string()
}

#[test]
fn different_promises_are_ranked_together_only_on_demand_and_printed_beside_the_rank() {
    let results = tempfile::tempdir().unwrap();
    let mut runs = Vec::new();
    for (target, promise) in [("mariadb:bulk", "os_crash"), ("influxdb:wide", "buffered")] {
        let mut document = document("machine_write", target, None);
        document["resources"] = json!([resource("server", 7.0, 1 << 25, 0, 0)]);
        document["target"]["durability"]["promise"] = json!(promise);
        runs.push(folder(results.path(), &document));
    }
    let file = strict(results.path());
    let refused = score(&["--file", &file], &runs);
    assert_eq!((refused.status.code(), refused.stdout.as_slice()), (Some(2), [].as_slice()));
    for part in ["mariadb:bulk (OS crash)", "influxdb:wide (no crash)", "--across-durability"] {
        assert!(said(&refused).contains(part), "{}", said(&refused));
    }
    let text = text(&score(&["--file", &file, "--across-durability"], &runs));
    let ranking = text.split_once("Ranking").unwrap().1;
    for (target, promise) in [("mariadb:bulk", "OS crash"), ("influxdb:wide", "no crash")] {
        let line = ranking.lines().find(|line| line.contains(target)).unwrap();
        assert!(line.ends_with(promise), "{text}");
    }
}

#[test]
fn a_real_run_is_scored() {
    let results = tempfile::tempdir().unwrap();
    let mut document = TEMPLATE.clone();
    document["verdict"] = json!({ "status": "valid", "reasons": [], "exit_code": 0 });
    let text = text(&score(&["--file", &strict(results.path())], &[folder(results.path(), &document)]));
    assert!(text.contains("sqlite:wide") && text.contains("a contender alone"), "{text}");
}

#[test]
fn what_is_wrong_with_a_score_file_is_named_with_its_line() {
    let results = tempfile::tempdir().unwrap();
    let runs = [folder(results.path(), &document("machine_write", "a:wide", None))];
    let good = fs::read_to_string(strict(results.path())).unwrap();
    let file = results.path().join("bad.toml");
    for (from, to, line, hint) in [
        ("server_cpu_pct", "server_cpu_pc", 6, "did you mean `server_cpu_pct`?"),
        ("summary", "sumary", 2, "did you mean `summary`?"),
        ("server_cpu_pct = 1", "server_cpu_pct = -1", 6, "write.weights.server_cpu_pct"),
        ("[write]", "[write", 3, ""),
    ] {
        fs::write(&file, good.replacen(from, to, 1)).unwrap();
        let output = score(&["--file", file.to_str().unwrap()], &runs);
        assert_eq!(output.status.code(), Some(2), "{to}");
        let said = said(&output);
        assert!(said.contains(&format!("bad.toml:{line}:")) && said.contains(hint), "{to}: {said}");
    }
}

#[test]
fn what_is_no_run_of_the_score_is_refused() {
    let results = tempfile::tempdir().unwrap();
    let other = folder(results.path(), &document("pmu_write", "sqlite:wide", None));
    let output = score(&[], &[other]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("machine_write and machine_read, and this is pmu_write"), "{}", said(&output));
    assert_eq!(score(&[], &[results.path().join("nowhere")]).status.code(), Some(2));
    assert_eq!(score(&["--file", "nothere.toml"], &[]).status.code(), Some(2));
}

/// Losses of CPU and memory: 10 and 40 against 20 and 30, so that A is ahead where CPU weighs more than half of memory.
#[test]
fn other_weights_reorder_and_the_sentence_says_what_it_takes() {
    let results = tempfile::tempdir().unwrap();
    let mut runs = Vec::new();
    for (target, cpu, memory) in [("mariadb:bulk", 10.0, 40_000_000), ("influxdb:wide", 20.0, 30_000_000)] {
        let mut document = document("machine_write", target, None);
        document["resources"] = json!([resource("server", cpu, memory, 0, 0)]);
        runs.push(folder(results.path(), &document));
    }
    let weighted = |cpu: f64| {
        let file = results.path().join("weights.toml");
        let weights = format!("[write.weights]\nserver_cpu_pct = {cpu:?}\nserver_memory_bytes = 1.0\n");
        let head = "name = \"mine\"\nsummary = \"x\"\n[write]\nprofile = \"machine_write\"\n";
        fs::write(&file, format!("{head}{weights}")).unwrap();
        let file = file.display().to_string();
        let json = score(&["--file", &file, "--output-format", "json"], &runs);
        let json: Value = serde_json::from_str(&text(&json)).unwrap();
        let words = text(&score(&["--file", &file], &runs));
        (json, words.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let (json, words) = weighted(3.0);
    let ranks = |json: &Value| [0, 1].map(|place| json["ranking"]["write"]["rows"][place]["rank"].as_u64().unwrap());
    assert_eq!(ranks(&json), [1, 2]);
    let sentence = "A mariadb:bulk is dethroned by B influxdb:wide when server_cpu_pct goes from 3 to 0.5 (-83 %)";
    assert!(words.contains(sentence), "{words}");
    for part in ["max L is that of these 2: A, B.", "single runs do not tell whether A and B differ", "Pareto front"] {
        assert!(words.contains(part), "{part} is missing: {words}");
    }
    assert_eq!(ranks(&weighted(0.49).0), [2, 1]);
    assert_eq!(json["robustness"]["write"]["weights"][0]["first"][0]["by"], "influxdb:wide", "{json:#}");
}
