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

/// A table of three devices, 40 times each, whose times are in microseconds.
fn parquet(file: &Path) {
    use parquet::{
        basic::{LogicalType, Repetition, TimeUnit, Type as Physical},
        data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type},
        file::{properties::WriterProperties, writer::SerializedFileWriter},
        schema::types::Type,
    };
    let column = |name: &str, physical, logical| {
        let column = Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED);
        std::sync::Arc::new(column.with_logical_type(logical).build().unwrap())
    };
    let columns = vec![
        column("pump", Physical::BYTE_ARRAY, Some(LogicalType::String)),
        column("ts", Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MICROS))),
        column("Flow", Physical::DOUBLE, None),
    ];
    let schema = Type::group_type_builder("readings").with_fields(columns).build().unwrap();
    let properties = std::sync::Arc::new(WriterProperties::default());
    let mut table = SerializedFileWriter::new(fs::File::create(file).unwrap(), schema.into(), properties).unwrap();
    let mut group = table.next_row_group().unwrap();
    let names: Vec<ByteArray> = (0..120).map(|n| ByteArray::from(format!("p{}", n % 3).as_str())).collect();
    let times: Vec<i64> = (0..120).map(|n| 1_700_000_000_000_000 + n / 3 * 10_000).collect();
    let flows: Vec<f64> = (0..120).map(|n| f64::from(n) / 8.0).collect();
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<ByteArrayType>().write_batch(&names, None, None).unwrap();
    next.close().unwrap();
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<Int64Type>().write_batch(&times, None, None).unwrap();
    next.close().unwrap();
    let mut next = group.next_column().unwrap().unwrap();
    next.typed::<DoubleType>().write_batch(&flows, None, None).unwrap();
    next.close().unwrap();
    group.close().unwrap();
    table.close().unwrap();
}

#[test]
fn parquet_is_loaded_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pumps.parquet");
    parquet(&file);
    let run = replayed("pumps", 3, &format!("file = {file:?}\ndevice_tag = \"pump\""));
    assert_all_is_there(&run, 120);
    let sum: f64 = of_the_database(&run, "SELECT sum(flow) FROM iotbench_pumps");
    assert_eq!(sum, f64::from(119 * 120 / 2) / 8.0);
    let step: i64 = of_the_database(&run, "SELECT (max(ts) - min(ts)) / 39 FROM iotbench_pumps");
    assert_eq!(step, 10_000_000, "nanoseconds");
    let mut cut = fs::read(&file).unwrap();
    cut.truncate(cut.len() / 2);
    fs::write(&file, cut).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_iotbench"));
    let refused = command.arg("learn").arg(&file).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("pumps.parquet: line 1: "), "{}", said(&refused));
}
