//! What is learned from a recording: what was known of it is found again, and no value of it is kept.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_core::{Batch, Run};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, DatasetConfig, Encoder, Format, LearnOptions, Learned, learn as learn_of};
use std::{fs, path::Path};
use toml::{Table, Value};

const DEVICES: u32 = 20;

/// The first datapoints that each device sends, all devices in turns of so many.
fn recorded(dataset: &str, datapoints: u32, batch: u32, format: Format) -> Vec<u8> {
    let config: DatasetConfig = toml::from_str(&format!("name = \"custom\"\n{dataset}")).unwrap();
    let dataset = config.open(5, DEFAULT_ORIGIN_NS, DEVICES, Path::new(".")).unwrap();
    let (mut text, mut encoder) = (Vec::new(), Encoder::new(format, "m", dataset.clone()));
    encoder.header(&mut text);
    let mut rows = Batch::new(dataset.schema());
    for first in (0..datapoints).step_by(batch as usize) {
        for device in 0..DEVICES {
            let mut runs = Vec::new();
            dataset.sending_order(device, first.into(), batch, &mut runs);
            rows.clear();
            runs.iter().for_each(|&run| dataset.fill(run, &mut rows));
            encoder.encode(&rows, &mut text);
        }
    }
    text
}

fn learn(file: &[u8], keep_values: bool) -> Learned {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r"), file).unwrap();
    let config = DatasetConfig::named("replay").unwrap().with("file", "r");
    let mut parts = Vec::new();
    let options = LearnOptions { name: "learned", keep_values, seed: 1 };
    let learned = learn_of(&config, folder.path(), &options, &mut |part| parts.push(part)).unwrap();
    assert!(parts.is_sorted() && parts.iter().all(|part| (0.0..=1.0).contains(part)), "{parts:?}");
    learned
}

fn dataset(learned: &Learned) -> Table {
    let profile: Table = toml::from_str(&learned.profile).unwrap();
    profile["dataset"].as_table().unwrap().clone()
}

fn number(table: &Table, key: &str, within: &str) -> f64 {
    let inner = table.get(key).and_then(Value::as_table).unwrap_or_else(|| panic!("no {key}: {table:#?}"));
    let value = &inner[within];
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64)).unwrap()
}

fn signal<'a>(dataset: &'a Table, name: &str) -> &'a Table {
    let signals = dataset["signals"].as_array().unwrap();
    signals.iter().map(|s| s.as_table().unwrap()).find(|s| s["name"].as_str() == Some(name)).unwrap()
}

const KNOWN: &str = r#"
interval = "100ms"
jitter = "10ms"
resolution = "1us"
device_prefix = "gateway-north-"
gaps = { share = 0.05, length = "1s" }
signals = [
    { name = "normal", shape = "normal", mean = 20, deviation = 2, decimals = 2 },
    { name = "skewed", shape = "quantiles", quantiles = [0, 1, 2, 4, 8, 16, 1000], decimals = 1 },
    { name = "wave", shape = "sine", mean = 50, amplitude = 5, period = "37s", decimals = 3 },
    { name = "codes", shape = "state", cardinality = 5, type = "i64", hold = 8 },
    { name = "total", shape = "counter", start = 1000, increment = 4, type = "i64" },
    { name = "mode", shape = "state", states = ["idle", "run", "fault"], weights = [5, 20, 1], hold = 20 },
    { name = "message", shape = "text", bytes = 12, cardinality = 1000 },
]
"#;

#[test]
fn what_is_known_of_a_recording_is_found_again() {
    let learned = learn(&recorded(KNOWN, 4000, 50, Format::Influx), false);
    let profile: Table = toml::from_str(&learned.profile).unwrap();
    assert_eq!(profile["devices"].as_integer(), Some(DEVICES.into()), "{}", learned.profile);
    assert_eq!(profile["groups"][0]["operations"][0]["datapoints"].as_integer(), Some(50));
    let found = dataset(&learned);
    assert_eq!(found["interval"].as_str(), Some("100ms"), "{}", learned.profile);
    assert_eq!(found["resolution"].as_str(), Some("1us"));
    let jitter_us: f64 =
        found["jitter"].as_str().unwrap().strip_suffix("ms").map(|ms| ms.parse::<f64>().unwrap() * 1e3).unwrap_or(0.0);
    assert!((9_500.0..=10_500.0).contains(&jitter_us), "{}", found["jitter"]);
    assert!((number(&found, "gaps", "share") - 0.05).abs() < 0.005, "{:?}", found["gaps"]);
    assert_eq!(found["gaps"]["length"].as_str(), Some("1s"));
    let absent = ["late", "out_of_order", "clock_offset"];
    assert!(!absent.iter().any(|key| found.contains_key(*key)), "{}", learned.profile);

    for (name, distance) in &learned.likeness.signals {
        assert!(*distance <= 0.05, "{name}: {distance}\n{}", learned.profile);
    }
    assert!(learned.likeness.between_datapoints <= 0.05, "{}", learned.likeness.between_datapoints);
    assert!((1.0 / 1.1..=1.1).contains(&learned.likeness.compressed), "{}", learned.likeness.compressed);
    assert_eq!(learned.untold, Vec::<String>::new());

    assert_eq!(signal(&found, "normal")["decimals"].as_integer(), Some(2));
    assert_eq!(signal(&found, "codes")["hold"].as_integer(), Some(8));
    let total = signal(&found, "total");
    assert_eq!(total["shape"].as_str(), Some("counter"));
    assert!((total["increment"].as_float().unwrap() - 4.0).abs() < 0.02, "{total:?}");
    let message = signal(&found, "message");
    assert_eq!((message["cardinality"].as_integer(), message["lengths"].to_string().as_str()), (Some(1000), "[12]"));
    let mode = signal(&found, "mode");
    let lengths: Vec<usize> = mode["states"].as_array().unwrap().iter().map(|s| s.as_str().unwrap().len()).collect();
    assert_eq!((lengths, mode["hold"].as_integer()), (vec![5, 4, 3], Some(20)));
}

#[test]
fn no_text_and_no_name_of_the_recording_is_kept_unless_that_is_asked_for() {
    let file = recorded(KNOWN, 500, 10, Format::Csv);
    let recorded = ["idle", "fault", "gateway"];
    let learned = learn(&file, false).profile;
    assert!(recorded.iter().all(|text| !learned.contains(text)), "{learned}");
    let kept = learn(&file, true).profile;
    assert!(recorded.iter().all(|text| kept.contains(text)), "{kept}");
}

#[test]
fn a_line_that_was_left_out_is_not_quoted_in_the_profile() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("r"), "m v=1 1\nm v=secret 2\nm v=3 3\n").unwrap();
    let config = DatasetConfig::named("replay").unwrap().with("file", "r").with("broken", "skip");
    let options = LearnOptions { name: "learned", keep_values: false, seed: 1 };
    let learned = learn_of(&config, folder.path(), &options, &mut |_| {}).unwrap();
    assert!(learned.remark.is_some_and(|remark| remark.contains("line 2, column v: \"secret\"")));
    assert!(!learned.profile.contains("secret") && learned.profile.contains("left out"), "{}", learned.profile);
}

#[test]
fn a_file_that_is_sorted_by_device_tells_nothing_of_batches() {
    let lines = |device: u32| (0..100).map(move |n| format!("m,d=d{device} v={n} {}\n", n * 1000));
    let operation = |learned: &Learned| {
        let profile: Table = toml::from_str(&learned.profile).unwrap();
        profile["groups"][0]["operations"][0]["datapoints"].as_integer()
    };
    let sorted: String = (0..3).flat_map(lines).collect();
    assert_eq!(operation(&learn(sorted.as_bytes(), false)), Some(1));
    let in_turns: String = [0, 1, 2, 0, 1, 2]
        .into_iter()
        .enumerate()
        .flat_map(|(turn, device)| lines(device).skip(turn / 3 * 50).take(50))
        .collect();
    assert_eq!(operation(&learn(in_turns.as_bytes(), false)), Some(50));
}

#[test]
fn lateness_is_told_from_disorder() {
    let signals = "interval = \"1s\"\nsignals = [{ name = \"a\", shape = \"uniform\" }]\n";
    let late = format!("{signals}late = {{ share = 0.02, by = \"30s\" }}");
    let found = dataset(&learn(&recorded(&late, 4000, 1, Format::Influx), false));
    assert!((number(&found, "late", "share") - 0.02).abs() < 0.003, "{found:#?}");
    assert!(["28s", "29s", "30s"].contains(&found["late"]["by"].as_str().unwrap()), "{:?}", found["late"]);
    let scrambled = format!("{signals}out_of_order = {{ share = 0.2, window = 8 }}");
    let found = dataset(&learn(&recorded(&scrambled, 4000, 1, Format::Influx), false));
    assert!((number(&found, "out_of_order", "share") - 0.2).abs() < 0.03, "{found:#?}");
    assert!((7.0..=8.0).contains(&number(&found, "out_of_order", "window")), "{found:#?}");
}

#[test]
fn what_is_not_alike_is_said() {
    // Each device has its own level, and one time comes twice.
    let mut lines: String =
        (0..5000).map(|n| format!("m,d=d{} v={},w={n}i {}\n", n % 5, n % 5 * 100, n / 5 * 1000)).collect();
    lines.push_str("m,d=d0 v=0,w=1i 999000\n");
    let learned = learn(lines.as_bytes(), false);
    let said = learned.untold.join("\n");
    for part in [
        "levels of their own, which the profile has not; their part of the variance: v 100 %",
        "have the time of the one before",
    ] {
        assert!(said.contains(part) && learned.profile.contains(part), "{said}");
    }
}

#[test]
fn the_profile_of_what_tsbs_writes_generates_the_same_signals() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let config = DatasetConfig::named("replay").unwrap().with("file", "tsbs_cpu.influx").with("device_tag", "hostname");
    let options = LearnOptions { name: "cpu", keep_values: false, seed: 1 };
    let learned = learn_of(&config, &data, &options, &mut |_| {}).unwrap();
    let table = dataset(&learned);
    assert_eq!(table["interval"].as_str(), Some("10s"));
    let config: DatasetConfig = toml::from_str(&toml::to_string(&table).unwrap()).unwrap();
    let generated = config.open(1, DEFAULT_ORIGIN_NS, 4, Path::new(".")).unwrap();
    let recorded = DatasetConfig::named("replay").unwrap().with("file", "tsbs_cpu.influx");
    let recorded = recorded.open(1, DEFAULT_ORIGIN_NS, 4, &data).unwrap();
    assert_eq!(generated.schema(), recorded.schema());
    let mut batch = Batch::new(generated.schema());
    generated.fill(Run { device: 3, first: 0, count: 100 }, &mut batch);
    assert_eq!(batch.len(), 100);
}
