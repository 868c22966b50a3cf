//! `iotbench compare`, `run --baseline` and `history`: real runs, and made ones whose truth is known.

use crate::end_to_end::program::{document, iotbench, run, said, undisturbed};
use crate::soundness::{assert_sound, is_disturbed};
use iotbench_oracle_server::{Discipline, Program, Protocol, Server, ServiceTime, Settings, http::Service};
use serde_json::{Value, json};
use std::{
    fs,
    path::Path,
    process::{Command, Output},
    sync::LazyLock,
    time::{Duration, Instant},
};

/// A document of a real run, from which the made ones are.
static TEMPLATE: LazyLock<Value> =
    LazyLock::new(|| run(&["-p", "machine_write", "-b", "blackhole", "-d", "1s", "--warmup", "0s"]).document);

fn call(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("IOTBENCH_")) {
        command.env_remove(name);
    }
    command.args(arguments).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Made runs in a folder, one a figure: so many operations a second, changed by `change`. The hour keeps the sides apart in
/// time.
fn made(folder: &Path, hour: u32, rates: &[f64], change: impl Fn(&mut Value)) -> String {
    for (place, rate) in rates.iter().enumerate() {
        let mut document = TEMPLATE.clone();
        document["run_id"] = json!(format!("run-{hour}-{place}"));
        document["started"] = json!(format!("2026-01-{:02}T{hour:02}:{place:02}:00Z", 5 + place / 60));
        document["verdict"] = json!({ "status": "valid", "reasons": [], "exit_code": 0 });
        document["throughput"]["operations_per_s"] = json!(rate);
        change(&mut document);
        let run = folder.join(document["run_id"].as_str().unwrap());
        fs::create_dir_all(&run).unwrap();
        fs::write(run.join("run.json"), document.to_string()).unwrap();
    }
    folder.display().to_string()
}

const RATES: [f64; 6] = [1000.0, 1004.0, 998.0, 1002.0, 996.0, 1001.0];

fn scaled(by: f64) -> [f64; 6] {
    RATES.map(|rate| rate * by)
}

const GATE: [&str; 3] = ["compare", "--metric", "operations_per_s"];

#[test]
fn a_regression_ends_with_13_and_says_so_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let base = made(&folder.path().join("base"), 1, &RATES, |_| {});
    let new = made(&folder.path().join("new"), 2, &scaled(0.9), |_| {});
    let text = call(&[&GATE[..], &[&base, "--", &new]].concat());
    assert_eq!(code(&text), 13, "{}", said(&text));
    assert!(out(&text).contains("REGRESSION of operations_per_s") && out(&text).contains("-10.00 %"), "{}", out(&text));
    // One side was made an hour after the other: what the machine did meanwhile is not known.
    assert!(out(&text).contains("or the machine's drift: the sides were not interleaved"), "{}", out(&text));
    assert!(out(&text).lines().all(|line| line.chars().count() <= 100), "{}", out(&text));
    let json = call(&[&GATE[..], &["--output-format", "json", &base, "--", &new]].concat());
    let metric = &document(&json)["comparisons"][0]["metrics"][0];
    assert_eq!((code(&json), &metric["verdict"], &metric["is_regression"]), (13, &json!("worse"), &json!(true)));
    assert!((metric["change_pct"].as_f64().unwrap() + 10.0).abs() < 1e-6, "{metric}");
    let markdown = call(&[&GATE[..], &["--format", "md", &base, "--", &new]].concat());
    assert_eq!(code(&markdown), 13);
    assert!(out(&markdown).starts_with("### iotbench: REGRESSION of operations\\_per\\_s"), "{}", out(&markdown));
    assert!(out(&markdown).contains("| **operations_per_s** | ") && out(&markdown).contains("| **worse** |"));
    // The other way round it is better, and no regression.
    let better = call(&[&GATE[..], &[&new, "--", &base]].concat());
    assert_eq!(code(&better), 0);
    assert!(out(&better).contains("better") && out(&better).contains("NO REGRESSION"), "{}", out(&better));
}

#[test]
fn a_change_below_the_threshold_is_none_and_too_few_runs_are_undecided() {
    let folder = tempfile::tempdir().unwrap();
    let base = made(&folder.path().join("base"), 1, &RATES, |_| {});
    let new = made(&folder.path().join("new"), 2, &scaled(0.98), |_| {});
    let same = call(&[&GATE[..], &[&base, "--", &new]].concat());
    assert!(code(&same) == 0 && out(&same).contains("same"), "{}", out(&same));
    let strict = call(&[&GATE[..], &["--threshold", "1%", &base, "--", &new]].concat());
    assert_eq!(code(&strict), 13, "{}", out(&strict));
    let one = made(&folder.path().join("one"), 3, &[500.0], |_| {});
    let undecided = call(&[&GATE[..], &[&base, "--", &one]].concat());
    assert_eq!(code(&undecided), 0);
    assert!(out(&undecided).contains("undecided: a side has fewer than two runs; 4 more"), "{}", out(&undecided));
    let noisy = made(&folder.path().join("noisy"), 4, &[900.0, 1100.0, 950.0], |_| {});
    let json = call(&[&GATE[..], &["--output-format", "json", &base, "--", &noisy]].concat());
    let metric = &document(&json)["comparisons"][0]["metrics"][0];
    assert_eq!(metric["verdict"], "undecided", "{metric}");
    assert!(metric["more_runs"].as_u64() > Some(5), "{metric}");
}

#[test]
fn runs_that_took_turns_are_compared_in_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, by: f64, second: &'static str| {
        let drifting: Vec<f64> = (0..6).map(|n| 1000.0 * by * f64::from(n * n + 10) / 10.0).collect();
        let turn = move |run: &mut Value| {
            let started = run["started"].as_str().unwrap().replace(":00Z", second);
            run["started"] = json!(started);
            run["run_id"] = json!(format!("{}{second}", run["run_id"].as_str().unwrap()));
        };
        made(&folder.path().join(name), 1, &drifting, turn)
    };
    let (base, new) = (side("base", 1.0, ":01Z"), side("new", 0.95, ":31Z"));
    let json = call(&[&GATE[..], &["--output-format", "json", &base, "--", &new]].concat());
    let found = &document(&json)["comparisons"][0];
    assert_eq!((code(&json), &found["design"]), (13, &json!("paired")), "the drift is the same of both: {found:#}");
}

#[test]
fn unlike_things_are_refused_with_what_differs_and_the_way_round_it() {
    type Change = fn(&mut Value);
    let folder = tempfile::tempdir().unwrap();
    let base = made(&folder.path().join("base"), 1, &RATES, |_| {});
    let cases: [(Change, &[&str], &str); 5] = [
        (|run| run["seed"] = json!(77), &["seed (", "and 77)"], "--across-plans"),
        (|run| run["profile"] = json!("pmu_write"), &["profile (machine_write", "and pmu_write"], "--across-plans"),
        (
            |run| run["target"]["durability"]["promise"] = json!("os_crash"),
            &["a write survives (no crash and OS crash)"],
            "--across-durability",
        ),
        (|run| run["environment"]["cpu"] = json!("Other 1"), &["processor (", "Other 1)"], "--across-machines"),
        (
            |run| run["verdict"] = json!({ "status": "invalid", "reasons": ["broken pacing"], "exit_code": 11 }),
            &["run-2-0 (invalid: broken pacing)"],
            "--leave-out-invalid",
        ),
    ];
    for (place, (change, parts, option)) in cases.into_iter().enumerate() {
        let new = made(&folder.path().join(format!("new{place}")), 2, &RATES, change);
        let refused = call(&[&GATE[..], &[&base, "--", &new]].concat());
        assert_eq!((code(&refused), out(&refused).as_str()), (2, ""), "{option}");
        for part in parts.iter().chain([&option]) {
            assert!(said(&refused).contains(part), "{part} is missing: {}", said(&refused));
        }
        let told = call(&[&GATE[..], &[option, &base, "--", &new]].concat());
        // Without its invalid runs a side is empty, and that is no comparison either.
        assert_eq!(code(&told), if option == "--leave-out-invalid" { 2 } else { 0 }, "{option}: {}", said(&told));
    }
    // What is judged may differ, and is named; within a side it may not.
    let other = made(&folder.path().join("other"), 3, &RATES, |run| run["target"]["version"] = json!("9.9"));
    let judged = call(&[&GATE[..], &[&base, "--", &other]].concat());
    assert!(
        code(&judged) == 0 && out(&judged).contains("version is") && out(&judged).contains("9.9"),
        "{}",
        out(&judged)
    );
    let mixed = call(&[&GATE[..], &[&base, &other, "--", &base]].concat());
    assert_eq!(code(&mixed), 2, "{}", said(&mixed));
    assert_eq!(code(&call(&[&GATE[..], &[&base, "--", &base]].concat())), 2);
    assert_eq!(code(&call(&[&GATE[..], &[&base, "--", "nowhere"]].concat())), 2);
    assert_eq!(code(&call(&["compare", &base])), 2);
}

#[test]
fn the_noise_floor_of_equal_runs_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let base = made(&folder.path().join("base"), 1, &RATES, |_| {});
    let json = call(&[&GATE[..], &["--output-format", "json", "--aa", &base]].concat());
    let noise = document(&json)["noise_floor"][0].clone();
    assert_eq!((code(&json), &noise["runs_a_side"], &noise["alarms_pct"]), (0, &json!(3), &json!(0.0)), "{noise}");
    assert!((0.1..1.0).contains(&noise["floor_pct"].as_f64().unwrap()), "{noise}");
    let again = call(&[&GATE[..], &["--output-format", "json", "--aa", &base]].concat());
    assert_eq!(document(&again), document(&json));
    let few = made(&folder.path().join("few"), 2, &RATES[..3], |_| {});
    assert_eq!(code(&call(&["compare", "--aa", &few])), 2);
}

#[test]
fn a_history_tells_since_when_and_what_else_changed() {
    let folder = tempfile::tempdir().unwrap();
    let rates: Vec<f64> = (0..24).map(|n| RATES[n % 6] * if n < 15 { 1.0 } else { 0.9 }).collect();
    let upgrade = |run: &mut Value| {
        let number: u32 = run["run_id"].as_str().unwrap().rsplit('-').next().unwrap().parse().unwrap();
        run["target"]["version"] = json!(if number < 15 { "1.0" } else { "2.0" });
    };
    let runs = made(folder.path(), 1, &rates, upgrade);
    let json = call(&["history", &runs, "--metric", "operations_per_s", "--output-format", "json"]);
    let series = &document(&json)["series"][0];
    let changes = series["metrics"][0]["changes"].as_array().unwrap();
    assert_eq!((changes.len(), &changes[0]["run"], &changes[0]["verdict"]), (1, &json!("run-1-15"), &json!("worse")));
    assert!((changes[0]["change_pct"].as_f64().unwrap() + 10.0).abs() < 0.5, "{changes:?}");
    let text = out(&call(&["history", &runs]));
    assert!(text.contains("version was 1.0 and is 2.0") && text.contains('█') && text.contains('^'), "{text}");
    let few = made(&folder.path().join("few"), 2, &RATES, |_| {});
    let told = call(&["history", &few]);
    assert!(code(&told) == 0 && out(&told).contains("4 more"), "{}", out(&told));
}

/// The load of the real runs.
const LOAD: [&str; 5] = ["run", "-p", "pmu_write", "--warmup", "0s"];

/// Each user waits for its answer, which is there at once, and then so long that a machine which stands still for some tenths
/// of a second makes no other figure of it.
#[test]
fn equal_runs_of_a_real_database_are_no_regression() {
    let results = tempfile::tempdir().unwrap();
    let load = ["--vus", "2", "--operations", "16", "--set", "think_time=200ms", "--output-format", "quiet"];
    let runs = [&LOAD[..], &load, &["-b", "blackhole", "--runs", "10"]].concat();
    let output = iotbench(results.path(), &runs).output().unwrap();
    let folders: Vec<String> = out(&output).lines().map(Into::into).collect();
    assert_eq!(folders.len(), 10, "{}", said(&output));
    make_valid(results.path(), is_disturbed);
    // Every other run to each side: they took turns.
    let side = |rest: usize| folders.iter().skip(rest).step_by(2).map(String::as_str);
    let gate = ["compare", "--metric", "operations_per_s", "--threshold", "50%", "--output-format", "json"];
    let arguments: Vec<&str> = gate.into_iter().chain(side(0)).chain(["--"]).chain(side(1)).collect();
    let compared = call(&arguments);
    let found = &document(&compared)["comparisons"][0];
    assert_eq!((code(&compared), &found["design"]), (0, &json!("paired")), "{found:#}");
    assert_eq!(found["metrics"][0]["verdict"], "same", "{found:#}");
}

/// A server that answers as InfluxDB 1.8 does where nothing is stored, each write after `delay`.
pub fn influxdb(delay: Duration) -> Server {
    let program = Program { service: ServiceTime::Constant(delay), discipline: Discipline::Parallel, faults: vec![] };
    let protocol = Protocol::Http(Service::like_influxdb());
    Server::start(Settings { protocol, ledger_capacity: 1 << 14, ..Settings::new(program, Instant::now()) }).unwrap()
}

/// The slow one takes twenty times as long for an operation, with the wait after it: whatever a machine does to runs of a
/// second, it does not do that to each of five and to none of the other five.
#[test]
fn a_real_slow_down_is_a_regression() {
    let results = tempfile::tempdir().unwrap();
    let (quick, slow) = (influxdb(Duration::ZERO), influxdb(Duration::from_millis(200)));
    let run = |server: &Server, side: &str| {
        let url = format!("http://{}", server.address());
        let target = ["-b", "influxdb", "--url", &url, "--verify", "none"];
        let load = ["--vus", "8", "-d", "1s", "--set", "think_time=10ms"];
        iotbench(&results.path().join(side), &[&LOAD[..], &target, &load].concat()).output().unwrap()
    };
    for _ in 0..5 {
        run(&quick, "base");
        run(&slow, "new");
    }
    let [base, new] = ["base", "new"].map(|side| {
        let folder = results.path().join(side);
        // At the end of each the server that keeps nothing is told to have lost it: here that is of no matter.
        make_valid(&folder, |_| true);
        folder.display().to_string()
    });
    let metrics = ["--metric", "operations_per_s,response_p50_us", "--output-format", "json"];
    let compared = call(&[&["compare"], &metrics[..], &[&base, "--", &new]].concat());
    let found = &document(&compared)["comparisons"][0];
    assert_eq!((code(&compared), &found["design"]), (13, &json!("paired")), "{found:#}");
    let verdicts: Vec<_> = found["metrics"].as_array().unwrap().iter().map(|metric| &metric["verdict"]).collect();
    assert_eq!(verdicts, ["worse", "worse"], "{found:#}");
}

/// Makes the runs in a folder valid that are invalid as they may be.
fn make_valid(folder: &Path, may_be: impl Fn(&Value) -> bool) {
    for run in folder.read_dir().unwrap() {
        change(&run.unwrap().path(), |document| {
            assert!(document["verdict"]["status"] == "valid" || may_be(document), "{:#}", document["verdict"]);
            document["verdict"] = json!({ "status": "valid", "reasons": [], "exit_code": 0 });
        });
    }
}

/// Changes the document of a run.
fn change(run: &Path, how: impl FnOnce(&mut Value)) {
    let file = run.join("run.json");
    let mut document: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    how(&mut document);
    fs::write(&file, document.to_string()).unwrap();
}

#[test]
fn a_run_is_held_against_its_baseline() {
    let results = tempfile::tempdir().unwrap();
    let (main, branch) = (results.path().join("main"), results.path().join("branch"));
    let load = ["--vus", "2", "--operations", "6", "--set", "think_time=200ms", "--output-format", "json"];
    let runs = [&LOAD[..], &load, &["-b", "blackhole", "--runs", "3"]].concat();
    let first = iotbench(&main, &runs).output().unwrap();
    assert_sound(&document(&first), code(&first), said(&first));
    make_valid(&main, is_disturbed);
    let baseline = main.display().to_string();
    let gate = ["--baseline", &baseline, "--metric", "operations_per_s", "--threshold", "50%"];
    let gated = [&runs[..], &gate].concat();
    let held = undisturbed(|| iotbench(&branch, &gated).output().unwrap());
    assert_eq!(code(&held), 0, "{}", said(&held));
    let verdict = document(&held)["comparisons"][0]["metrics"][0]["verdict"].clone();
    assert!(verdict == "same" || verdict == "undecided", "three runs a side: {verdict} {}", said(&held));
    // Runs that were ten times as fast make the next ones a regression.
    for run in main.read_dir().unwrap() {
        change(&run.unwrap().path(), |document| {
            let rate = document["throughput"]["operations_per_s"].as_f64().unwrap();
            document["throughput"]["operations_per_s"] = json!(rate * 10.0);
        });
    }
    let held = undisturbed(|| iotbench(&branch, &gated).output().unwrap());
    assert_eq!(code(&held), 13, "{}", said(&held));
    // What cannot be compared is told before or after the run, and never passed over.
    let missing = iotbench(results.path(), &[&runs[..], &["--baseline", "nowhere"]].concat()).output().unwrap();
    assert_eq!((code(&missing), missing.stdout.len()), (2, 0));
    let other = [&LOAD[..], &load, &["-b", "memory"], &gate].concat();
    let other = undisturbed(|| iotbench(&results.path().join("other"), &other).output().unwrap());
    assert!(code(&other) == 2 && said(&other).contains("no run of pmu_write on memory"), "{}", said(&other));
}
