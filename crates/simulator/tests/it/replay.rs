//! Recordings: round trips, pace, and errors with file, line and column.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_core::{Batch, Run, Value, ValueType};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, DatasetError, Encoder, Format};
use std::{path::Path, sync::Arc};

fn replay(csv: &str, more: &str, devices: u32) -> Result<Arc<dyn Dataset>, DatasetError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("r.csv"), csv).unwrap();
    let config: DatasetConfig = toml::from_str(&format!("name = \"replay\"\nfile = \"r.csv\"\n{more}")).unwrap();
    config.open(1, DEFAULT_ORIGIN_NS, devices, folder.path())
}

fn filled(dataset: &dyn Dataset, run: Run) -> Batch {
    let mut batch = Batch::new(dataset.schema());
    dataset.fill(run, &mut batch);
    batch
}

const TWO_DEVICES: &str = "time,device,a,b,c\n\
    1000,x,1,1.5,on\n1100,y,2,2,off\n1200,x,3,2.5,\"a, \"\"b\"\"\"\n1500,y,4,1e3,ü\n";

#[test]
fn a_recording_comes_back_device_by_device_from_the_origin_on() {
    let dataset = replay(TWO_DEVICES, "time_unit = \"ms\"", 2).unwrap();
    let types: Vec<ValueType> = dataset.schema().signals().iter().map(|s| s.value_type).collect();
    assert_eq!(types, [ValueType::I64, ValueType::F64, ValueType::Text]);
    assert_eq!(dataset.schema().signals()[2].max_text_bytes, 6);
    let x = filled(&*dataset, Run { device: 0, first: 0, count: 2 });
    assert_eq!(x.timestamps_ns(), [DEFAULT_ORIGIN_NS, DEFAULT_ORIGIN_NS + 200_000_000]);
    assert_eq!((x.value(0, 1), x.value(2, 1)), (Some(Value::I64(3)), Some(Value::Text("a, \"b\""))));
    assert_eq!(dataset.timestamp_ns(1, 0), DEFAULT_ORIGIN_NS + 100_000_000);
    assert_eq!((dataset.datapoints(0), dataset.datapoints(1), dataset.datapoints(2)), (Some(2), Some(2), Some(0)));
    assert_eq!((dataset.period_ns(), dataset.resolution_ns()), (200_000_000, 1_000_000));
    let mut name = String::new();
    dataset.device_name(1, &mut name);
    assert_eq!(name, "y");
}

#[test]
fn index_and_timestamp_convert_both_ways_and_the_end_is_the_end() {
    let dataset = replay(TWO_DEVICES, "time_unit = \"ms\"", 2).unwrap();
    for device in 0..2 {
        for index in 0..2 {
            let time = dataset.timestamp_ns(device, index);
            assert_eq!((dataset.index_at(device, time), dataset.index_at(device, time + 1)), (index, index + 1));
        }
    }
    assert_eq!(
        filled(&*dataset, Run { device: 0, first: 1, count: 9 }).runs(),
        [Run { device: 0, first: 1, count: 1 }]
    );
    assert!(filled(&*dataset, Run { device: 0, first: 7, count: 9 }).is_empty());
    let mut runs = Vec::new();
    dataset.sending_order(0, 1, 9, &mut runs);
    dataset.sending_order(0, 2, 9, &mut runs);
    assert_eq!(runs, [Run { device: 0, first: 1, count: 1 }]);
}

#[test]
fn speed_divides_the_times() {
    let dataset = replay(TWO_DEVICES, "time_unit = \"ms\"\nspeed = 2.5", 2).unwrap();
    assert_eq!(dataset.timestamp_ns(0, 1), DEFAULT_ORIGIN_NS + 80_000_000);
    assert_eq!(replay(TWO_DEVICES, "speed = 1000", 2).unwrap_err().key(), Some("speed"));
    assert_eq!(replay(TWO_DEVICES, "speed = 0", 2).unwrap_err().key(), Some("speed"));
}

#[test]
fn times_are_read_in_every_unit() {
    for (time, unit) in [
        ("1767225601", "s"),
        ("1767225601000", "ms"),
        ("1767225601000000", "us"),
        ("1767225601000000000", "ns"),
        ("1767225601000000000", "auto"),
        ("2026-01-01T01:00:01+01:00", "auto"),
        ("2026-01-01T00:00:01.000Z", "rfc3339"),
    ] {
        let csv = format!("time,a\n{time},1\n");
        let dataset = replay(&csv, &format!("time_unit = \"{unit}\""), 1).unwrap();
        assert_eq!(dataset.timestamp_ns(0, 0), DEFAULT_ORIGIN_NS, "{time} {unit}");
    }
    let bad = replay("time,a\n2026-01-01,1\n", "", 1).unwrap_err().to_string();
    assert!(bad.contains("line 2, column time") && bad.contains("RFC 3339"), "{bad}");
}

#[test]
fn faults_are_named_with_file_line_and_column() {
    for (csv, more, expected) in [
        ("time,a\n1,1\n2,x\n", "types = { a = \"f64\" }", "line 3, column a"),
        ("time,a\n1,1\n2,NaN\n", "types = { a = \"f32\" }", "line 3, column a"),
        ("time,a\n1,1\n2,70000\n", "types = { a = \"u16\" }", "line 3, column a"),
        ("time,a\n1,1\n2,\n", "", "line 3, column a: is empty"),
        ("time,a\n1,1\n1,2\n", "", "line 3, column time"),
        ("time,a\n1,1\n2\n", "", "line 3: has 1 cells"),
        ("a,time\n1,1\n", "", "the first column must be named time"),
        ("time\n1\n", "", "at least one signal"),
        ("time,A b\n1,1\n", "", "\"A b\""),
        ("time,a\n", "", "no datapoint"),
        ("time,alpha\n1,1\n", "types = { alhpa = \"f64\" }", "did you mean alpha?"),
    ] {
        let error = replay(csv, more, 1).unwrap_err().to_string();
        assert!(error.contains("r.csv") && error.contains(expected), "{error}");
    }
    let missing = DatasetConfig::named("replay").unwrap();
    let open = |config: &DatasetConfig| config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new("/nonexistent")).unwrap_err();
    assert_eq!(open(&missing).key(), Some("file"));
    assert!(open(&missing.with("file", "r.csv")).to_string().contains("/nonexistent/r.csv"));
    assert!(replay(TWO_DEVICES, "", 3).unwrap_err().to_string().contains("2 devices, 3 are wanted"));
}

#[test]
fn what_is_generated_can_be_replayed() {
    for name in ["machine", "pmu", "compressor", "weather", "text"] {
        let original = DatasetConfig::named(name).unwrap().open(1, DEFAULT_ORIGIN_NS, 3, Path::new(".")).unwrap();
        let mut batch = Batch::new(original.schema());
        (0..3).for_each(|device| original.fill(Run { device, first: 0, count: 100 }, &mut batch));
        let (mut csv, mut encoder) = (Vec::new(), Encoder::new(Format::Csv, name, original.clone()));
        encoder.header(&mut csv);
        encoder.encode(&batch, &mut csv);
        let types: Vec<String> = original
            .schema()
            .signals()
            .iter()
            .map(|s| format!("{} = {}", s.name, serde_json::to_string(&s.value_type).unwrap()))
            .collect();
        let origin_ns = *batch.timestamps_ns().iter().min().unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("r.csv"), csv).unwrap();
        let config: DatasetConfig =
            toml::from_str(&format!("name = \"replay\"\nfile = \"r.csv\"\ntypes = {{ {} }}", types.join(", ")))
                .unwrap();
        let replayed = config.open(9, origin_ns, 3, folder.path()).unwrap();
        let mut again = Batch::new(replayed.schema());
        (0..3).for_each(|device| replayed.fill(Run { device, first: 0, count: 100 }, &mut again));
        assert_eq!(again, batch, "{name}");
    }
}

/// What a dataset of a file says, and the datapoints of its devices.
fn of_file(name: &str, bytes: &[u8], more: &str, devices: u32) -> Result<Arc<dyn Dataset>, DatasetError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    let config: DatasetConfig = toml::from_str(&format!("name = \"replay\"\nfile = {name:?}\n{more}")).unwrap();
    config.open(1, DEFAULT_ORIGIN_NS, devices, folder.path())
}

fn name(dataset: &dyn Dataset, device: u32) -> String {
    let mut name = String::new();
    dataset.device_name(device, &mut name);
    name
}

fn of_tsbs(file: &str, more: &str) -> Result<Arc<dyn Dataset>, DatasetError> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let config: DatasetConfig = toml::from_str(&format!("name = \"replay\"\nfile = {file:?}\n{more}")).unwrap();
    config.open(1, DEFAULT_ORIGIN_NS, 4, &data)
}

const LINES: &str = "# written by a gateway\n\
    m\\ n,site=a,rack=1 v=1i,w=1.5,x=t,y=\"on, \\\"a\\\"\",z=7u 1000\n\
    \n\
    m\\ n,rack=1,site=a v=2i,w=2,x=f,y=\"two\nlines\",z=8u 2000\r\n\
    m\\ n,site=b\\ c,rack=1 w=0.5,v=-3i,x=true,y=\"\",z=9u 1500\n";

#[test]
fn line_protocol_has_devices_by_their_tags_and_signals_of_their_types() {
    let dataset = of_file("r", LINES.as_bytes(), "", 2).unwrap();
    let types: Vec<_> = dataset.schema().signals().iter().map(|s| (s.name.as_str(), s.value_type)).collect();
    let expected = [
        ("v", ValueType::I64),
        ("w", ValueType::F64),
        ("x", ValueType::I64),
        ("y", ValueType::Text),
        ("z", ValueType::I64),
    ];
    assert_eq!(types, expected);
    assert_eq!((name(&*dataset, 0), name(&*dataset, 1)), ("rack=1,site=a".into(), "rack=1,site=b c".into()));
    let first = filled(&*dataset, Run { device: 0, first: 0, count: 2 });
    assert_eq!(first.timestamps_ns(), [DEFAULT_ORIGIN_NS, DEFAULT_ORIGIN_NS + 1000]);
    let row = |batch: &Batch, row| (0..5).map(|s| format!("{:?}", batch.value(s, row).unwrap())).collect::<Vec<_>>();
    assert_eq!(row(&first, 0), ["I64(1)", "F64(1.5)", "I64(1)", r#"Text("on, \"a\"")"#, "I64(7)"]);
    assert_eq!(row(&first, 1), ["I64(2)", "F64(2.0)", "I64(0)", r#"Text("two\nlines")"#, "I64(8)"]);
    let second = filled(&*dataset, Run { device: 1, first: 0, count: 1 });
    assert_eq!(row(&second, 0), ["I64(-3)", "F64(0.5)", "I64(1)", r#"Text("")"#, "I64(9)"]);
    let remark = dataset.remark().unwrap();
    assert!(remark.starts_with("tags were left out: site (tag site: \"b c\" is no value"), "{remark}");
    let by_tag =
        of_file("r", LINES.as_bytes(), "device_tag = \"site\"\ntime_unit = \"us\"\nsignals = [\"w\"]", 2).unwrap();
    assert_eq!((name(&*by_tag, 1), by_tag.schema().width()), ("b c".into(), 1));
    assert_eq!(by_tag.timestamp_ns(0, 1), DEFAULT_ORIGIN_NS + 1_000_000);
}

#[test]
fn a_compressed_file_is_read_as_it_was() {
    use std::io::Write;
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zipped.write_all(LINES.as_bytes()).unwrap();
    let zipped = zipped.finish().unwrap();
    let (plain, read) = (of_file("r", LINES.as_bytes(), "", 2).unwrap(), of_file("r.gz", &zipped, "", 2).unwrap());
    let run = Run { device: 0, first: 0, count: 2 };
    assert_eq!(filled(&*read, run), filled(&*plain, run));
    let cut = of_file("r.gz", &zipped[..zipped.len() - 20], "", 2).unwrap_err().to_string();
    assert!(cut.contains("r.gz: line "), "{cut}");
}

#[test]
fn lines_that_are_broken_are_named_with_their_number() {
    for (lines, more, expected) in [
        ("m v=1 1\nm v=1\n", "", "line 2, column time: is missing"),
        ("m v=1 1\nm,a v=1 2\n", "", "line 2: has the tag \"a\" without ="),
        ("m v=1 1\nn v=1 2\n", "", "measurement = \"m\""),
        ("m v=1,w=2 1\nm v=1 2\n", "", "line 2, column w: is empty"),
        ("m v=1 1\nm v=\"x\" 2\n", "", "line 2, column v: \"x\" is not of the type f64"),
        ("m v=\"x\" 1\nm v=1i 2\n", "", "line 2, column v: 1 is not of the type text"),
        ("m v=1 1\nm v=1 1\n", "", "line 2, column time: is that of a datapoint"),
        ("m v=1.5 1\n", "types = { v = \"u16\" }", "line 1, column v: 1.5 is not of the type u16"),
        ("m v=1 1\n", "signals = [\"w\"]", "there is no signal \"w\""),
        ("m,host=a v=1 1\n", "device_tag = \"rack\"", "line 1: has no tag rack"),
        ("m v=1 soon\n", "", "line 1, column time: \"soon\""),
        ("m v=1 9223372036854775807\n", "time_unit = \"ms\"", "outside 1677 to 2262"),
        ("m\nm v=1 1\n", "format = \"line_protocol\"", "line 1: has no fields"),
        ("# nothing\n", "format = \"line_protocol\"", "holds no datapoint"),
        ("tags,host string\nm,v\n\ntags,host=a\nm,1,2\nm,2,3\n", "", "line 6: has no line of tags before it"),
        ("tags,host string\nm,v\n\ntags,host=a\nm,1,2,3\n", "", "line 5: has more values"),
        ("tags,host string\nm,v,w\n\ntags,host=a\nm,1,2\n", "", "line 5: has 1 values fewer"),
        ("tags,host string\nm,v\n\ntags,host=a\nn,1,2\n", "", "line 5: is of \"n\""),
        ("tags,host string\nm,v\nn,v\n\n", "", "there are m, n: choose one"),
        ("tags,host string\nm,v\n\n", "measurement = \"n\"", "there is no measurement \"n\", but m"),
        ("time,device,a,a\n", "", "two columns that would be called a"),
        ("time,a\n1,\"x\n", "", "no datapoint"),
    ] {
        let error = of_file("r", lines.as_bytes(), more, 1).map(|_| lines.to_owned()).map_err(|e| e.to_string());
        match error {
            Err(error) => assert!(error.contains("/r: ") && error.contains(expected), "{lines}: {error}"),
            Ok(_) => assert_eq!(lines, "time,a\n1,\"x\n", "is taken"),
        }
    }
    let long = format!("m v=\"{}\" 1\n", "x".repeat(1 << 20));
    let error = of_file("r", long.as_bytes(), "", 1).unwrap_err().to_string();
    assert!(error.contains("line 1: a line has more than 1048576 bytes"), "{error}");
    let endless = format!("time,a\n1,\"{}", "x\n".repeat(3 << 20));
    let error = of_file("r", endless.as_bytes(), "", 1).unwrap_err().to_string();
    assert!(error.contains("a line has more than 1048576 bytes"), "{error}");
}

#[test]
fn broken_lines_are_skipped_counted_and_told_where_that_is_asked_for() {
    let lines = "m v=1,w=1 1\nm v=2\nm v=3,w=3,rare=1 3\nm v=x,w=3 4\nm v=5,w=5 1\nm v=6 6\nm v=7,w=7 7\n";
    let dataset = of_file("r", lines.as_bytes(), "broken = \"skip\"", 1).unwrap();
    let rows = filled(&*dataset, Run { device: 0, first: 0, count: 9 });
    assert_eq!((rows.len(), dataset.datapoints(0), dataset.schema().width()), (3, Some(3), 2));
    let remark = dataset.remark().unwrap();
    let expected =
        ["4 broken lines were skipped, the first: ", "line 2, column time: is missing", "were left out: rare"];
    assert!(expected.iter().all(|part| remark.contains(part)), "{remark}");
    let none = of_file("r", b"m v=x 1\n", "broken = \"skip\"", 1).unwrap_err().to_string();
    assert!(none.contains("holds no datapoint; broken lines that were skipped: 1"), "{none}");
}

#[test]
fn what_came_late_is_held_by_its_time_and_sent_in_its_place() {
    let lines = "m v=10i 10\nm v=30i 30\nm v=20i 20\nm v=40i 40\nm v=50i 50\nm v=15i 15\n";
    let dataset = of_file("r", lines.as_bytes(), "", 1).unwrap();
    let all = filled(&*dataset, Run { device: 0, first: 0, count: 6 });
    let values: Vec<_> = (0..6).map(|row| all.value(0, row).unwrap()).collect();
    assert_eq!(values, [10, 15, 20, 30, 40, 50].map(Value::I64));
    assert!(all.timestamps_ns().is_sorted_by(|a, b| a < b));
    for cut in 0..=6 {
        let mut runs = Vec::new();
        dataset.sending_order(0, 0, cut, &mut runs);
        dataset.sending_order(0, cut.into(), 6, &mut runs);
        let sent: Vec<u64> = runs.iter().flat_map(Run::indices).collect();
        assert_eq!(sent, [0, 3, 2, 4, 5, 1], "{cut}");
    }
}

#[test]
fn more_than_may_be_held_is_refused_with_what_to_do() {
    let lines: String = (0..200_000).map(|n| format!("m v=1 {n}\n")).collect();
    let error = of_file("r", lines.as_bytes(), "memory_mib = 3", 1).unwrap_err().to_string();
    assert!(error.contains("at most 3145728 are allowed: give a larger memory_mib"), "{error}");
    assert!(of_file("r", lines.as_bytes(), "memory_mib = 4", 1).is_ok());
    let devices: String = (0..20_000).map(|n| format!("m,d=a{n} v=1 {n}\n")).collect();
    let error = of_file("r", devices.as_bytes(), "memory_mib = 1", 1).unwrap_err().to_string();
    assert!(error.contains("memory_mib"), "{error}");
}

#[test]
fn what_tsbs_writes_is_read_in_both_forms() {
    let cpu = of_tsbs("tsbs_cpu.influx", "device_tag = \"hostname\"").unwrap();
    assert_eq!((cpu.schema().width(), cpu.schema().uniform_type()), (10, Some(ValueType::I64)));
    let names: Vec<String> = (0..4).map(|device| name(&*cpu, device)).collect();
    assert_eq!(names, ["host_0", "host_1", "host_2", "host_3"]);
    assert_eq!((0..5).map(|d| cpu.datapoints(d).unwrap()).collect::<Vec<_>>(), [12, 12, 12, 12, 0]);
    assert_eq!((cpu.period_ns(), cpu.resolution_ns()), (10_000_000_000, 1_000_000_000));
    let first = filled(&*cpu, Run { device: 0, first: 0, count: 1 });
    assert_eq!((first.value(0, 0), first.value(9, 0)), (Some(Value::I64(58)), Some(Value::I64(38))));

    let several = of_tsbs("tsbs_iot.timescaledb", "").unwrap_err().to_string();
    assert!(several.contains("there are diagnostics, readings: choose one"), "{several}");
    let missing = of_tsbs("tsbs_iot.timescaledb", "measurement = \"diagnostics\"\ndevice_tag = \"name\"").unwrap_err();
    assert!(missing.to_string().contains("line 12, column current_load: is empty"), "{missing}");
    let iot = "measurement = \"readings\"\ndevice_tag = \"name\"\nbroken = \"skip\"";
    let iot = of_tsbs("tsbs_iot.timescaledb", iot).unwrap();
    assert_eq!(iot.schema().width(), 7);
    let first = filled(&*iot, Run { device: 0, first: 0, count: 1 });
    assert_eq!((name(&*iot, 0), first.value(0, 0)), ("truck_1".into(), Some(Value::F64(72.45258))));
    assert!(iot.remark().unwrap().contains("broken"), "{:?}", iot.remark());
}

/// The tags of each device of a recording, and what is remarked of it.
fn tags_of(file: &str, text: &str, more: &str, devices: u32) -> Result<(Vec<String>, String), DatasetError> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(file), text).unwrap();
    let config: DatasetConfig = toml::from_str(&format!("name = \"replay\"\nfile = \"{file}\"\n{more}")).unwrap();
    let dataset = config.open(1, DEFAULT_ORIGIN_NS, devices, folder.path())?;
    let schema = config.schema(&*dataset, 1)?;
    let of = |device| schema.tags().of(device).map(|(tag, value)| format!("{}={value}", tag.name)).collect::<Vec<_>>();
    let of_each = (0..devices).map(|device| of(device).join(",")).collect();
    Ok((of_each, dataset.remark().unwrap_or_default().to_owned()))
}

const BY_HOST: &str = "device_tag = \"host\"";

#[test]
fn the_tags_of_a_recording_are_those_of_its_devices() {
    let lines =
        "cpu,host=a,region=eu,rack=7 x=1 1\ncpu,host=b,region=us,rack=7 x=1 1\ncpu,host=a,region=eu,rack=7 x=2 2\n";
    let (tags, remark) = tags_of("r.lp", lines, BY_HOST, 2).unwrap();
    assert_eq!((tags, remark.as_str()), (vec!["rack=7,region=eu".into(), "rack=7,region=us".into()], ""));
    let (all, _) = tags_of("r.lp", lines, "", 2).unwrap();
    assert_eq!(all, ["host=a,rack=7,region=eu", "host=b,rack=7,region=us"], "all name a device");
    let (none, _) = tags_of("r.lp", lines, "device_tag = \"host\"\nrecorded_tags = \"leave_out\"", 2).unwrap();
    assert_eq!(none, ["", ""]);
    let (one, _) = tags_of("r.lp", "cpu,host=a x=1 1\n", "", 1).unwrap();
    assert_eq!(one, [""], "it is the device's name");
    let tsbs =
        "tags,host string,region string\ncpu,x\n\ntags,host=a,region=eu\ncpu,1,5\ntags,host=b,region=us\ncpu,1,6\n";
    assert_eq!(tags_of("r.tsbs", tsbs, BY_HOST, 2).unwrap().0, ["region=eu", "region=us"]);
    let csv = "time,device,tag:site,tag:rack,x\n1,a,east,7,1\n2,b,west,8,2\n3,a,east,7,3\n";
    let (tags, remark) = tags_of("r.csv", csv, "", 2).unwrap();
    assert_eq!((tags, remark.as_str()), (vec!["rack=7,site=east".into(), "rack=8,site=west".into()], ""));
}

#[test]
fn a_tag_that_changes_or_is_missing_is_left_out_and_told_or_refused() {
    let lines = "cpu,host=a,os=u16,region=eu x=1 1\ncpu,host=b,region=us x=1 1\ncpu,host=a,os=u16,region=us x=2 2\n";
    let (tags, remark) = tags_of("r.lp", lines, BY_HOST, 2).unwrap();
    assert_eq!(tags, ["", ""]);
    let told = "tags were left out: os (device b has none), region (of device a it is \"eu\", and \"us\" in line 3)";
    assert_eq!(remark, told);
    let strict = "device_tag = \"host\"\nrecorded_tags = \"strict\"";
    let error = tags_of("r.lp", lines, strict, 2).unwrap_err();
    let told = error.to_string();
    assert!(told.contains("r.lp: tag region: of device a it is \"eu\", and \"us\" in line 3"), "{told}");
    let (tags, remark) = tags_of("r.lp", "cpu,host=a,os=a\\ b,x=y,time=n x=1 1\n", BY_HOST, 1).unwrap();
    assert_eq!(tags, ["time_=n"], "{remark}");
    assert!(
        remark.contains("os (")
            && remark.contains("is no value")
            && remark.contains("x (")
            && remark.contains("used twice"),
        "{remark}"
    );
    for csv in ["time,device,x,tag:a\n1,a,1,b\n", "time,tag:a,x\n1,b,1\n", "time,device,tag:a,tag:a,x\n1,a,b,b,1\n"] {
        let told = tags_of("r.csv", csv, "", 1).unwrap_err().to_string();
        assert!(told.contains("must stand once, behind device and before the signals"), "{told}");
    }
    assert!(tags_of("r.csv", "time,device,x\n1,a,1\n", "recorded_tags = \"kep\"", 1).is_err());
}

#[test]
fn what_is_generated_with_tags_is_replayed_with_them() {
    let config: DatasetConfig = toml::from_str(
        "name = \"pmu\"\ntags = [{ name = \"site\", values = [\"east\", \"west\"] }, { name = \"rack\", count = 9, prefix = \"r\" }, \
         { name = \"load\", type = \"number\", count = 9, from = 0.5, step = 0.25 }, { name = \"leased\", type = \"truth\" }]",
    )
    .unwrap();
    let dataset = config.open(1, DEFAULT_ORIGIN_NS, 3, Path::new(".")).unwrap();
    let tags = config.schema(&*dataset, 1).unwrap().tags().clone();
    let batch = {
        let mut batch = Batch::new(dataset.schema());
        (0..3).for_each(|device| dataset.fill(Run { device, first: 0, count: 2 }, &mut batch));
        batch
    };
    let of = |device| {
        let mut of_device: Vec<_> = tags.of(device).map(|(tag, value)| format!("{}={value}", tag.name)).collect();
        of_device.sort();
        of_device.join(",")
    };
    for (format, file, more) in [(Format::Csv, "r.csv", ""), (Format::Influx, "r.lp", "device_tag = \"device\"")] {
        let mut encoder = Encoder::new(format, "pmu", dataset.clone()).with_tags(tags.clone());
        let mut text = Vec::new();
        encoder.header(&mut text);
        encoder.encode(&batch, &mut text);
        let (replayed, remark) = tags_of(file, std::str::from_utf8(&text).unwrap(), more, 3).unwrap();
        assert_eq!((replayed, remark.as_str()), ((0..3).map(of).collect(), ""), "{file}");
    }
    let mut json = Vec::new();
    Encoder::new(Format::Json, "pmu", dataset.clone()).with_tags(tags.clone()).encode(&batch, &mut json);
    let first: serde_json::Value = serde_json::from_slice(json.split(|&b| b == b'\n').next().unwrap()).unwrap();
    let values: Vec<_> = tags.of(0).map(|(_, value)| value.to_string()).collect();
    assert_eq!(
        (&first["tags"]["site"], &first["tags"]["rack"]),
        (&values[0].clone().into(), &values[1].clone().into())
    );
    let typed = ["load", "leased"].map(|name| first["tags"][name].to_string());
    assert_eq!(typed, [values[2].clone(), values[3].clone()], "as numbers and truths");
}
