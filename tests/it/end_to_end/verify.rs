//! What a run left is read back later, and whatever was done to it is named exactly.

use crate::end_to_end::program::{document, iotbench, only_folder, run, said};
use crate::soundness::assert_sound;
use rusqlite::Connection;
use serde_json::Value;
use std::{
    fs,
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

/// Each of three devices has 200 datapoints, and the load writes 600 more.
const PROFILE: &str = r#"
name = "kept"
summary = "writes that are left"
devices = 3
[dataset]
name = "pmu"
rate = 50
[[groups]]
name = "writers"
load = { model = "closed", users = 3 }
operations = [{ kind = "write", datapoints = 10 }]
[phases]
preload = 200
operations = 60
warmup = "0s"
duration = "1m"
"#;
const PRELOADED: i64 = 200;
/// The time of the first datapoint, and between two.
const FIRST_NS: i64 = iotbench::simulator::DEFAULT_ORIGIN_NS;
const PERIOD_NS: i64 = 20_000_000;

/// A run that left its file.
struct Kept {
    folder: TempDir,
}

impl Kept {
    fn new(layout: &str) -> Self {
        Self::preloaded(layout, PRELOADED)
    }

    fn preloaded(layout: &str, points: i64) -> Self {
        Self::of(PROFILE, layout, points)
    }

    fn of(profile: &str, layout: &str, points: i64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let profile = profile.replace("preload = 200", &format!("preload = {points}"));
        fs::write(folder.path().join("kept.toml"), profile).unwrap();
        let profile = folder.path().join("kept.toml");
        let backend = format!("sqlite:{layout}");
        let run = ["run", "-p", profile.to_str().unwrap(), "-b", &backend, "--keep", "--output-format", "json"];
        let output = iotbench(&folder.path().join("results"), &run).output().unwrap();
        let document = document(&output);
        assert_sound(&document, output.status.code().unwrap(), said(&output));
        let audit = &document["audit"];
        let stored = 3 * points + 600;
        assert_eq!((&audit["scope"], &audit["right"]), (&"sample".into(), &stored.into()), "{audit:#}");
        assert!(audit["detectable"].is_null(), "all was looked at: {audit:#}");
        Self { folder }
    }

    fn run_folder(&self) -> PathBuf {
        only_folder(&self.folder.path().join("results"))
    }

    fn database(&self) -> Connection {
        Connection::open(self.run_folder().join("database/iotbench.sqlite")).unwrap()
    }

    fn change(&self, statement: &str, rows: usize) {
        assert_eq!(self.database().execute(statement, []).unwrap(), rows, "{statement}");
    }

    fn verify(&self, more: &[&str]) -> (i32, Value) {
        let output = verify(&self.run_folder(), &[&["--json"], more].concat());
        (output.status.code().unwrap(), document(&output))
    }
}

fn verify(folder: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    command.env_remove("IOTBENCH_URL").arg("verify").arg(folder).args(more).output().unwrap()
}

fn counts(found: &Value) -> [Option<u64>; 4] {
    ["lost", "duplicate", "corrupt", "alien"].map(|kind| found["audit"][kind].as_u64())
}

fn time(ns: i64) -> String {
    jiff::Timestamp::from_nanosecond(ns.into()).unwrap().to_string()
}

#[test]
fn a_sample_tells_what_it_would_have_found() {
    let run = run(&["-p", "pmu_write", "--vus", "200", "-d", "1s", "--warmup", "0"]);
    // 32 draws, of which some are of the same device.
    let devices = i32::try_from(run.count("audit.devices")).unwrap();
    assert!((20..=32).contains(&devices) && run.count("audit.of_devices") == 200, "{devices}");
    let part = |name: &str| run.figure("audit.detectable")[name].as_f64().unwrap();
    // A wrong device is missed by each of them.
    let missed = |bad: f64| (1.0 - bad).powi(devices);
    assert!((missed(part("part_of_devices")) - 0.05).abs() < 0.001, "{}", part("part_of_devices"));
    let points = part("part_of_points") * run.count("audit.right") as f64;
    assert!((points - 3.0).abs() < 0.02, "the rule of three: {points}");
}

#[test]
fn an_untouched_run_verifies_clean_in_every_layout() {
    for layout in ["wide", "narrow", "document", "bulk"] {
        let kept = Kept::new(layout);
        for more in [&[][..], &["--full"]] {
            let (code, found) = kept.verify(more);
            assert_eq!((code, &found["clean"]), (0, &true.into()), "{layout} {found:#}");
            assert_eq!(counts(&found), [Some(0); 4], "{layout}");
            assert_eq!((&found["counted"], &found["audit"]["right"]), (&1200.into(), &1200.into()), "{layout}");
        }
        let text = verify(&kept.run_folder(), &["--full"]);
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(text.starts_with("CLEAN\nCounted: 1200 datapoints are stored, 1200 should be."), "{text}");
    }
}

/// The tags of three devices, whose table lies beside the datapoints.
#[test]
fn what_was_done_to_the_tags_of_devices_is_named() {
    let tagged = PROFILE.replace(
        "rate = 50\n",
        "rate = 50\ntags = [{ name = \"site\", values = [\"east\", \"west\"] }, { name = \"rack\", count = 9 }]\n",
    );
    let kept = Kept::of(&tagged, "wide", PRELOADED);
    let found_after = |change: Option<&str>| {
        change.into_iter().for_each(|change| kept.change(change, 1));
        let (code, found) = kept.verify(&["--full"]);
        assert_eq!(counts(&found), [Some(0); 4], "the datapoints are as they were: {found:#}");
        let tags = found["audit"]["tags"].clone();
        let counts = ["right", "wrong", "missing", "alien"].map(|kind| tags[kind].as_u64().unwrap());
        assert_eq!((code == 0, &found["clean"]), (counts[1..] == [0; 3], &(counts[1..] == [0; 3]).into()), "{found:#}");
        (counts, tags["examples"].clone())
    };
    assert_eq!(found_after(None), ([3, 0, 0, 0], Value::Array(Vec::new())));
    let (counts, examples) = found_after(Some("UPDATE iotbench_kept_devices SET site = 'north' WHERE device = 1"));
    assert_eq!((counts, &examples[0]["kind"], &examples[0]["device"]), ([2, 1, 0, 0], &"wrong".into(), &1.into()));
    assert!(examples[0]["detail"].as_str().unwrap().starts_with("site is \"north\" instead of \""), "{examples}");
    let (counts, _) = found_after(Some("DELETE FROM iotbench_kept_devices WHERE device = 2"));
    assert_eq!(counts, [1, 1, 1, 0]);
    let (counts, examples) = found_after(Some("INSERT INTO iotbench_kept_devices VALUES (7, 'east', '1')"));
    assert_eq!((counts, &examples[2]["device"]), ([1, 1, 1, 1], &7.into()));
    let text = String::from_utf8(verify(&kept.run_folder(), &["--full"]).stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "FOUND",
        "1 right, 1 wrong, 1 without a row, 1 too many or of no device.",
        "- wrong: device 1: site is \"north\"",
        "- missing: device 2",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_was_done_by_hand_is_named_and_nothing_else() {
    let kept = Kept::new("wide");
    let at = |index: i64| FIRST_NS + index * PERIOD_NS;
    let columns: Vec<String> = {
        let database = kept.database();
        let mut statement = database.prepare("SELECT name FROM pragma_table_info('iotbench_kept')").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let others = |columns: &[String], left_out: &str| {
        columns.iter().filter(|column| *column != left_out).cloned().collect::<Vec<_>>().join(", ")
    };
    let (all, but_time) = (columns.join(", "), others(&columns, "ts"));
    let row = |device: u32, index: i64| format!("device = {device} AND ts = {}", at(index));
    // Three in a row and one by itself are deleted, one is doubled twice, one altered, one emptied, one added.
    kept.change(&format!("DELETE FROM iotbench_kept WHERE device = 0 AND ts BETWEEN {} AND {}", at(4), at(6)), 3);
    kept.change(&format!("DELETE FROM iotbench_kept WHERE {}", row(2, 40)), 1);
    let double = format!("INSERT INTO iotbench_kept ({all}) SELECT {all} FROM iotbench_kept WHERE {}", row(1, 30));
    kept.change(&double, 1);
    kept.change(&format!("{double} LIMIT 1"), 1);
    kept.change(&format!("UPDATE iotbench_kept SET analog_01 = analog_01 + 1 WHERE {}", row(1, 7)), 1);
    let add = format!(
        "INSERT INTO iotbench_kept (ts, {but_time}) SELECT ts + 1, {but_time} FROM iotbench_kept WHERE {}",
        row(2, 3)
    );
    kept.change(&add, 1);
    let (code, found) = kept.verify(&["--full"]);
    assert_eq!(code, 12, "{found:#}");
    assert_eq!(counts(&found), [Some(4), Some(2), Some(1), Some(1)], "{found:#}");
    assert_eq!(found["audit"]["right"], 1200 - 4 - 1);
    let named = |kind: &str, device: u32, from: i64, to: i64, points: u64| {
        let examples = found["audit"]["examples"].as_array().unwrap();
        let is_it = |e: &&Value| {
            e["kind"] == kind
                && e["device"] == device
                && e["from"] == time(from)
                && e["to"] == time(to)
                && e["points"] == points
        };
        let example = examples.iter().find(is_it);
        example.unwrap_or_else(|| panic!("{kind} of {device} is not in {examples:#?}")).clone()
    };
    named("lost", 0, at(4), at(6), 3);
    named("lost", 2, at(40), at(40), 1);
    named("duplicate", 1, at(30), at(30), 2);
    let corrupt = named("corrupt", 1, at(7), at(7), 1);
    assert!(corrupt["detail"].as_str().unwrap().starts_with("analog_01 is "), "{corrupt}");
    named("alien", 2, at(3) + 1, at(3) + 1, 1);
    assert_eq!(found["audit"]["examples"].as_array().unwrap().len(), 5);
    let text = String::from_utf8(verify(&kept.run_folder(), &[]).stdout).unwrap();
    assert!(text.starts_with("FOUND\n") && text.contains("- lost: device 0,"), "{text}");
}

#[test]
fn a_value_of_another_type_is_corrupt_and_the_others_are_read() {
    let kept = Kept::new("wide");
    for (device, index) in [(0, 3), (0, 4), (2, 399)] {
        let at = FIRST_NS + index * PERIOD_NS;
        kept.change(&format!("UPDATE iotbench_kept SET analog_01 = 'twelve' WHERE device = {device} AND ts = {at}"), 1);
    }
    // Where nothing was sent, beside a datapoint that is right.
    let beside = "CREATE TABLE beside AS SELECT * FROM iotbench_kept WHERE device = 1 ORDER BY ts DESC LIMIT 1;
                  UPDATE beside SET ts = ts + 1, analog_01 = 'twelve';
                  INSERT INTO iotbench_kept SELECT * FROM beside;
                  DROP TABLE beside;";
    kept.database().execute_batch(beside).unwrap();
    for more in [&[][..], &["--full"]] {
        let (code, found) = kept.verify(more);
        assert_eq!((code, counts(&found)), (12, [Some(0), Some(0), Some(3), Some(1)]), "{found:#}");
        assert_eq!((&found["audit"]["right"], &found["audit"]["cut_short"]), (&1197.into(), &Value::Null), "{found:#}");
        let examples = found["audit"]["examples"].as_array().unwrap();
        assert!(examples.iter().all(|e| e["detail"].as_str().unwrap().contains("cell holds")), "{examples:#?}");
        let corrupt = examples.iter().filter(|e| e["kind"] == "corrupt");
        assert_eq!(corrupt.filter_map(|e| e["points"].as_u64()).sum::<u64>(), 3, "{examples:#?}");
        let alien = examples.iter().find(|e| e["kind"] == "alien").unwrap();
        assert!(alien["detail"].as_str().unwrap().starts_with("of device 1, where nothing was sent"), "{alien}");
    }
}

/// An answer comes in pieces of 1,024 rows, and the second piece has the value.
#[test]
fn what_an_answer_held_before_a_value_of_another_type_counts_once() {
    let kept = Kept::preloaded("wide", 1_500);
    let at = FIRST_NS + 1_499 * PERIOD_NS;
    kept.change(&format!("UPDATE iotbench_kept SET analog_01 = 'twelve' WHERE device = 0 AND ts = {at}"), 1);
    let (code, found) = kept.verify(&["--full"]);
    assert_eq!((code, counts(&found)), (12, [Some(0), Some(0), Some(1), Some(0)]), "{found:#}");
    assert_eq!(found["audit"]["right"], 3 * 1_500 + 600 - 1, "{found:#}");
}

#[test]
fn rows_of_a_device_that_never_was_are_found_by_everything() {
    let kept = Kept::new("wide");
    kept.change(
        &format!("UPDATE iotbench_kept SET device = 17 WHERE device = 1 AND ts < {}", FIRST_NS + 45 * PERIOD_NS),
        45,
    );
    let (code, found) = kept.verify(&["--full"]);
    assert_eq!((code, counts(&found)), (12, [Some(45), Some(0), Some(0), Some(45)]), "{found:#}");
}

/// A database may lie elsewhere than its run left it; then its user says where.
#[test]
fn a_file_that_was_moved_is_verified_where_it_is() {
    let kept = Kept::new("wide");
    let moved = kept.folder.path().join("elsewhere.sqlite");
    fs::rename(kept.run_folder().join("database/iotbench.sqlite"), &moved).unwrap();
    let gone = verify(&kept.run_folder(), &["--full"]);
    assert!(gone.status.code() == Some(2) && said(&gone).contains("is not there"), "{}", said(&gone));
    let url = format!("sqlite:{}", moved.display());
    let (code, found) = kept.verify(&["--full", "--url", &url]);
    assert_eq!((code, counts(&found), &found["audit"]["right"]), (0, [Some(0); 4], &1200.into()), "{found:#}");
    let database = Connection::open(&moved).unwrap();
    let lost = database.execute("DELETE FROM iotbench_kept WHERE device = 2 AND rowid % 2 = 0", []).unwrap();
    let (code, found) = kept.verify(&["--full", "--url", &url]);
    assert_eq!((code, counts(&found)[0]), (12, Some(lost as u64)), "{found:#}");
    let nowhere = format!("sqlite:{}", kept.folder.path().join("never.sqlite").display());
    let nothing = verify(&kept.run_folder(), &["--url", &nowhere]);
    assert_eq!(nothing.status.code(), Some(2), "{}", said(&nothing));
    assert!(!kept.folder.path().join("never.sqlite").exists(), "looking makes no file");
}

/// A file that the user named for the run is found again without being named once more.
#[test]
fn a_file_of_the_users_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("mine.db").display());
    let results = folder.path().join("results");
    let run = ["run", "-p", "pmu_write", "--vus", "2", "-d", "1s", "--warmup", "0", "--keep", "--url", &url];
    let output = iotbench(&results, &[&run[..], &["--output-format", "json"]].concat()).output().unwrap();
    assert_sound(&document(&output), output.status.code().unwrap(), said(&output));
    let output = verify(&only_folder(&results), &["--full", "--json"]);
    let found = document(&output);
    assert_eq!((output.status.code(), counts(&found)), (Some(0), [Some(0); 4]), "{found:#}");
    assert!(found["audit"]["right"].as_u64() > Some(0), "{found:#}");
}

#[test]
fn a_folder_that_is_none_or_was_changed_is_a_wrong_argument() {
    let kept = Kept::new("wide");
    let folder = kept.run_folder();
    let nothing = verify(kept.folder.path(), &[]);
    assert_eq!(nothing.status.code(), Some(2), "{}", said(&nothing));
    let ledger = folder.join("ledger.bin");
    let mut file = fs::File::options().read(true).write(true).open(&ledger).unwrap();
    let middle = file.metadata().unwrap().len() / 2;
    let mut byte = [0];
    file.seek(SeekFrom::Start(middle)).unwrap();
    file.read_exact(&mut byte).unwrap();
    file.seek(SeekFrom::Start(middle)).unwrap();
    file.write_all(&[byte[0] ^ 1]).unwrap();
    let damaged = verify(&folder, &[]);
    assert_eq!(damaged.status.code(), Some(2), "{}", said(&damaged));
    assert!(said(&damaged).contains("the ledger is damaged"), "{}", said(&damaged));
    fs::write(&ledger, "something else").unwrap();
    assert!(said(&verify(&folder, &[])).contains("no ledger of iotbench"));
}

#[test]
fn a_run_that_dropped_what_it_wrote_says_so() {
    let run = run(&["-p", "pmu_write", "--vus", "2", "-d", "1s", "--warmup", "0"]);
    run.assert_sound();
    let gone = verify(&run.folder, &[]);
    assert_eq!(gone.status.code(), Some(2), "{}", said(&gone));
    assert!(said(&gone).contains("--keep"), "{}", said(&gone));
}

/// What a killed program had acknowledged a second before is in its ledger, and whatever else it may have sent is known. SQLite
/// lives and dies with the program: what it has acknowledged is with the operating system, whether or not it waits for the
/// disk (`synchronous`).
#[test]
fn of_a_run_that_was_killed_nothing_is_lost_that_it_had_noted() {
    std::thread::scope(|scope| {
        for (synchronous, promise) in [("FULL", "os_crash"), ("OFF", "process_crash")] {
            scope.spawn(move || killed_under_load(synchronous, promise));
        }
    });
}

fn killed_under_load(synchronous: &str, promise: &str) {
    let out = tempfile::tempdir().unwrap();
    let load = ["run", "-p", "pmu_write", "--vus", "4", "-d", "1h", "--warmup", "0", "--output-format", "quiet"];
    let setting = format!("backend.sqlite.synchronous={synchronous}");
    let mut run =
        iotbench(out.path(), &[&load[..], &["--set", &setting, "--set", "think_time=100ms"]].concat()).spawn().unwrap();
    // A second is written with what was acknowledged in it.
    let seconds = || {
        let folder = out.path().read_dir().ok()?.next()?.ok()?.path();
        Some(fs::read_to_string(folder.join("series.csv")).ok()?.lines().count())
    };
    while seconds() < Some(5) {
        assert!(run.try_wait().unwrap().is_none(), "it goes on");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let folder = only_folder(out.path());
    let left: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    assert_eq!(left["target"]["durability"]["promise"], promise, "{:#}", left["target"]);
    let output = verify(&folder, &["--full", "--json"]);
    let found = document(&output);
    assert_eq!(output.status.code(), Some(0), "{synchronous} {found:#}");
    assert_eq!((&found["audit"]["ended"], &found["expected_at_most"]), (&false.into(), &Value::Null), "{found:#}");
    assert_eq!(counts(&found), [Some(0); 4], "{synchronous} {found:#}");
    assert!(found["audit"]["right"].as_u64() > Some(0), "{found:#}");
    let stored = found["audit"]["right"].as_u64().unwrap() + found["audit"]["unknown_stored"].as_u64().unwrap();
    assert_eq!(found["counted"], stored, "every stored datapoint is one that was acknowledged or reserved");
    // What it had acknowledged is known to have been stored.
    let database = Connection::open(folder.join("database/iotbench.sqlite")).unwrap();
    let first = "DELETE FROM iotbench_pmu_write WHERE rowid = (SELECT min(rowid) FROM iotbench_pmu_write)";
    assert_eq!(database.execute(first, []).unwrap(), 1);
    let output = verify(&folder, &["--full", "--json"]);
    assert_eq!((output.status.code(), counts(&document(&output))[0]), (Some(12), Some(1)));
}
