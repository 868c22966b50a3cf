//! Recordings of others: what is in the file is sent, acknowledged, stored and found again.

use crate::end_to_end::program::{Run, run, said};
use std::{fs, path::Path, process::Command};

fn data(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/simulator/tests/data").join(file).display().to_string()
}

/// A run that sends a whole recording, and keeps the database.
fn replayed(name: &str, devices: u32, dataset: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("mine.toml");
    let text = format!(
        r#"
        name = "{name}"
        summary = "sends a recording"
        devices = {devices}
        [dataset]
        name = "replay"
        {dataset}
        [[groups]]
        name = "senders"
        load = {{ model = "closed", users = {devices} }}
        operations = [{{ kind = "write", datapoints = 5 }}]
        [phases]
        warmup = "0s"
        duration = "2s"
        "#
    );
    fs::write(&profile, text).unwrap();
    let run = run(&["-p", profile.to_str().unwrap(), "-b", "sqlite", "--keep"]);
    run.assert_sound();
    run
}

/// Every datapoint of the file is acknowledged, counted in the database, and read back as it was sent.
#[track_caller]
fn assert_all_is_there(run: &Run, datapoints: u64) {
    let counts = ["points.acked", "points.stored", "audit.right"].map(|count| run.count(count));
    assert_eq!(counts, [datapoints; 3], "{:#}", run.document);
    let wrong = ["lost", "duplicate", "corrupt", "alien"].map(|kind| run.count(&format!("audit.{kind}")));
    assert_eq!(wrong, [0; 4], "{:#}", run.figure("audit"));
}

fn of_the_database<T: rusqlite::types::FromSql>(run: &Run, query: &str) -> T {
    let database = rusqlite::Connection::open(run.folder.join("database/iotbench.sqlite")).unwrap();
    database.query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn line_protocol_of_tsbs_is_loaded_whole() {
    let file = data("tsbs_cpu.influx");
    let run = replayed("cpu", 4, &format!("file = {file:?}\ndevice_tag = \"hostname\""));
    assert_all_is_there(&run, 48);
    let sum: i64 = of_the_database(&run, "SELECT sum(usage_user) FROM iotbench_cpu");
    let text = fs::read_to_string(&file).unwrap();
    let of_file = text.lines().map(|line| line.split("usage_user=").nth(1).unwrap().split('i').next().unwrap());
    assert_eq!(sum, of_file.map(|value| value.parse::<i64>().unwrap()).sum::<i64>());
}

/// Two of the 48 readings lack a value, nine come late.
#[test]
fn the_other_form_of_tsbs_is_loaded_with_late_datapoints_and_without_broken_lines() {
    let more = "measurement = \"readings\"\ndevice_tag = \"name\"\nbroken = \"skip\"";
    let run = replayed("iot", 4, &format!("file = {:?}\n{more}", data("tsbs_iot.timescaledb")));
    assert_all_is_there(&run, 46);
    let remarks = run.figure("remarks").to_string();
    assert!(remarks.contains("2 broken lines were skipped") && remarks.contains("line 34"), "{remarks}");
}

#[test]
fn what_is_generated_as_line_protocol_is_loaded_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pmu.lp");
    let arguments = ["generate", "--dataset", "pmu", "--devices", "3", "--for", "2s", "--format", "influx", "--out"];
    let made = Command::new(env!("CARGO_BIN_EXE_iotbench")).args(arguments).arg(&file).output().unwrap();
    assert!(made.status.success(), "{}", said(&made));
    assert_all_is_there(&replayed("pmu", 3, &format!("file = {file:?}")), 300);
}

#[test]
fn a_broken_line_is_told_with_the_file_and_its_number_before_anything_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("mine.lp"), "m,device=a v=1 1\nm,device=a v= 2\n").unwrap();
    let profile = "name = \"mine\"\nsummary = \"a recording\"\n[dataset]\nname = \"replay\"\nfile = \"mine.lp\"\n[[groups]]\nname = \"a\"\n\
                   load = { model = \"closed\" }\noperations = [{ kind = \"write\" }]\n";
    fs::write(at("mine.toml"), profile).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    let checked = command.arg("check").arg(at("mine.toml")).output().unwrap();
    assert_eq!(checked.status.code(), Some(2), "{}", said(&checked));
    assert!(said(&checked).contains("mine.lp: line 2, column v: "), "{}", said(&checked));
}

#[test]
fn a_learned_profile_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("cpu.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    command.args(["learn", &data("tsbs_cpu.influx"), "--set", "device_tag=hostname", "-o"]).arg(&profile);
    let learned = command.output().unwrap();
    assert!(learned.status.success(), "{}", said(&learned));
    let short = ["-d", "2s", "--warmup", "0", "--rate", "50"];
    let run = run(&[&["-p", profile.to_str().unwrap(), "-b", "sqlite"], &short[..]].concat());
    run.assert_sound();
    assert!(run.count("points.acked") >= 90, "{}", run.figure("points"));
    assert_eq!(run.count("points.acked"), run.count("points.stored"));
}
