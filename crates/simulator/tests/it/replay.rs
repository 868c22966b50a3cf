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
        ("time,a\n1,1\n2\n", "", "line: 3"),
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
