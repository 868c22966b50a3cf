//! User-defined signals: errors that name the key, shapes that are what they are called.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_core::{Batch, Run, Value, ValueType};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, DatasetError};
use std::{collections::HashSet, path::Path, sync::Arc};

fn open(text: &str) -> Result<Arc<dyn Dataset>, DatasetError> {
    let config: DatasetConfig = toml::from_str(&format!("name = \"custom\"\n{text}")).unwrap();
    config.open(1, DEFAULT_ORIGIN_NS, 10, Path::new("."))
}

/// The numbers of a dataset with one signal.
fn numbers(signal: &str, first: u64, count: u32) -> Vec<f64> {
    let dataset = open(&format!("signals = [{{ name = \"x\", {signal} }}]")).unwrap();
    let mut batch = Batch::new(dataset.schema());
    dataset.fill(Run { device: 4, first, count }, &mut batch);
    (0..batch.len()).map(|row| batch.value(0, row).unwrap().as_f64().unwrap()).collect()
}

fn texts(signal: &str, count: u32) -> Vec<String> {
    let dataset = open(&format!("signals = [{{ name = \"x\", {signal} }}]")).unwrap();
    let max_bytes = dataset.schema().signals()[0].max_text_bytes as usize;
    let mut batch = Batch::new(dataset.schema());
    dataset.fill(Run { device: 4, first: 0, count }, &mut batch);
    let text = |row| match batch.value(0, row) {
        Some(Value::Text(text)) if text.len() <= max_bytes => text.to_owned(),
        other => panic!("{other:?}"),
    };
    (0..batch.len()).map(text).collect()
}

#[test]
fn errors_name_the_key_and_what_was_meant() {
    let x = "signals = [{ name = \"x\", shape = \"sine\" }]";
    for (text, key, suggestion) in [
        ("intervall = \"1s\"", "intervall", Some("interval")),
        ("interval = 5", "interval", None),
        ("interval = \"soon\"", "interval", None),
        ("interval = \"-1s\"", "interval", None),
        ("", "signals", None),
        ("signals = [{ name = \"x\" }]", "signals[0].shape", None),
        ("signals = [{ shape = \"sine\" }]", "signals[0].name", None),
        ("signals = [{ name = \"x\", shape = \"sin\" }]", "signals[0].shape", Some("sine")),
        ("signals = [{ name = \"x\", shape = \"sine\", amplitud = 1 }]", "signals[0].amplitud", Some("amplitude")),
        ("signals = [{ name = \"x\", shape = \"sine\", typ = \"f32\" }]", "signals[0].typ", Some("type")),
        ("signals = [{ name = \"x\", shape = \"sine\", type = \"text\" }]", "signals[0].type", None),
        ("signals = [{ name = \"x\", shape = \"sine\", mean = nan }]", "signals[0].mean", None),
        ("signals = [{ name = \"x\", shape = \"sine\", mean = 1e200 }]", "signals[0].mean", None),
        ("signals = [{ name = \"x\", shape = \"sine\", period = \"0s\" }]", "signals[0].period", None),
        ("signals = [{ name = \"x\", shape = \"sine\", decimals = 10 }]", "signals[0].decimals", None),
        ("signals = [{ name = \"x\", shape = \"counter\", increment = -1 }]", "signals[0].increment", None),
        ("signals = [{ name = \"x\", shape = \"random_walk\", min = 0 }]", "signals[0].max", None),
        ("signals = [{ name = \"x\", shape = \"state\" }]", "signals[0].states", None),
        (
            "signals = [{ name = \"x\", shape = \"state\", states = [\"a\"], weights = [1, 2] }]",
            "signals[0].weights",
            None,
        ),
        ("signals = [{ name = \"x\", shape = \"text\", bytes = 0 }]", "signals[0].bytes", None),
        ("signals = [{ name = \"Bad name\", shape = \"sine\" }]", "signals", None),
        (&format!("{x}\ngaps = {{ share = 2, length = \"9s\" }}"), "gaps.share", None),
        (&format!("{x}\ngaps = {{ share = 0.1, length = \"1ms\" }}"), "gaps.length", None),
        (&format!("{x}\nlate = {{ share = 0.1 }}"), "late", None),
        (&format!("{x}\nout_of_order = {{ share = 0.1, window = 65 }}"), "out_of_order.window", None),
        (&format!("{x}\njitter = \"2s\""), "jitter", None),
        (&format!("{x}\nresolution = \"3ms\""), "resolution", None),
        ("file = \"missing.toml\"", "file", None),
    ] {
        let error = open(text).unwrap_err();
        assert_eq!((error.key(), error.suggestion()), (Some(key), suggestion), "{text}: {error}");
    }
}

#[test]
fn an_unknown_dataset_gets_a_suggestion() {
    let error = DatasetConfig::named("weathr").unwrap_err();
    assert_eq!(error.suggestion(), Some("weather"));
    assert!(error.to_string().contains("machine, pmu"), "{error}");
    assert!(toml::from_str::<DatasetConfig>("interval = \"1s\"").is_err(), "a name is needed");
}

#[test]
fn what_was_written_survives_serialisation() {
    let text = "name = \"weather\"\ninterval = \"5m\"\n";
    let config: DatasetConfig = toml::from_str(text).unwrap();
    assert_eq!(toml::from_str::<DatasetConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
}

#[test]
fn waves_stay_in_their_range_and_repeat() {
    let sine = numbers("shape = \"sine\", mean = 10, amplitude = 2, period = \"50s\"", 0, 500);
    assert!(sine.iter().all(|v| (8.0..=12.0).contains(v)));
    assert!((0..450).all(|i| (sine[i] - sine[i + 50]).abs() < 1e-6));
    let square = numbers("shape = \"square\", low = 1, high = 5, duty = 0.25, period = \"40s\"", 0, 4000);
    assert_eq!(square.iter().filter(|&&v| v == 5.0).count(), 1000);
    assert!(square.iter().all(|&v| v == 1.0 || v == 5.0));
    let sawtooth = numbers("shape = \"sawtooth\", low = -1, high = 1, period = \"20s\"", 0, 400);
    assert_eq!(sawtooth.windows(2).filter(|w| w[1] < w[0]).count(), 20);
}

#[test]
fn random_shapes_have_their_moments_and_bounds() {
    let n = 20_000.0;
    let uniform = numbers("shape = \"uniform\", min = 2, max = 4", 0, 20_000);
    assert!(uniform.iter().all(|v| (2.0..=4.0).contains(v)) && (uniform.iter().sum::<f64>() / n - 3.0).abs() < 0.02);
    let normal = numbers("shape = \"normal\", mean = 50, deviation = 10", 0, 20_000);
    let variance = normal.iter().map(|v| (v - 50.0).powi(2)).sum::<f64>() / n;
    assert!((variance.sqrt() - 10.0).abs() < 0.3, "{variance}");
    let walk = numbers("shape = \"random_walk\", start = 5, step = 1, min = 0, max = 10", 1 << 40, 20_000);
    assert!(walk.iter().all(|v| (0.0..=10.0).contains(v)));
    assert!(walk.windows(2).all(|w| (w[1] - w[0]).abs() < 4.3));
}

#[test]
fn counters_never_fall_and_grow_as_asked() {
    for first in [0, 1 << 40] {
        let counter = numbers("shape = \"counter\", start = 100, increment = 3, type = \"i64\"", first, 20_000);
        assert!(counter.is_sorted());
        assert!(((counter[19_999] - counter[0]) / 20_000.0 - 3.0).abs() < 0.1);
    }
}

#[test]
fn whole_types_take_the_nearest_number_they_can_hold() {
    assert_eq!(numbers("shape = \"constant\", value = -7, type = \"u16\"", 0, 1), [0.0]);
    assert_eq!(numbers("shape = \"constant\", value = 1e9, type = \"u16\"", 0, 1), [65535.0]);
    assert_eq!(numbers("shape = \"constant\", value = 2.6, type = \"i64\"", 0, 1), [3.0]);
    assert_eq!(numbers("shape = \"constant\", value = 1e100, type = \"f32\"", 0, 1), [f64::from(f32::MAX)]);
    assert_eq!(numbers("shape = \"constant\", value = 2.34567, decimals = 2", 0, 1), [2.35]);
}

#[test]
fn states_are_held_and_weighted() {
    let states = texts("shape = \"state\", states = [\"idle\", \"run\"], weights = [1, 3], hold = 5", 20_000);
    assert!(states.chunks(5).all(|held| held.iter().all(|s| *s == held[0])));
    let running = states.iter().filter(|s| *s == "run").count();
    assert!((14_000..16_000).contains(&running), "{running}");
    assert_eq!(
        numbers("shape = \"state\", cardinality = 3, type = \"i64\"", 0, 100).iter().copied().fold(0.0, f64::max),
        2.0
    );
}

#[test]
fn cardinality_is_the_number_of_distinct_texts() {
    let distinct = |texts: Vec<String>| texts.into_iter().collect::<HashSet<_>>().len();
    assert_eq!(distinct(texts("shape = \"text\", cardinality = 100, bytes = 9", 20_000)), 100);
    assert_eq!(distinct(texts("shape = \"text\", bytes = 16", 20_000)), 20_000);
    assert_eq!(distinct(texts("shape = \"state\", cardinality = 1000, hold = 1", 50_000)), 1000);
    let skewed = texts("shape = \"text\", cardinality = 100, skew = 1", 50_000);
    let mut counts: Vec<usize> =
        skewed.iter().collect::<HashSet<_>>().iter().map(|t| skewed.iter().filter(|s| s == t).count()).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    assert!((8_800..10_500).contains(&counts[0]), "{} of 50,000, 9,639 expected", counts[0]);
}

#[test]
fn gaps_and_late_datapoints_show_in_the_sending_order() {
    let dataset = open(
        "signals = [{ name = \"x\", shape = \"constant\" }]\ngaps = { share = 0.2, length = \"10s\" }\nlate = { share = 0.1, by = \"30s\" }",
    )
    .unwrap();
    let mut runs = Vec::new();
    dataset.sending_order(3, 0, 8000, &mut runs);
    let sent: Vec<u64> = runs.iter().flat_map(Run::indices).collect();
    assert_eq!((sent.len(), sent.iter().collect::<HashSet<_>>().len()), (8000, 8000));
    assert!((9_990..10_100).contains(sent.iter().max().unwrap()), "a fifth is missing");
    assert_eq!(dataset.positions_before(3, 10_000), 8000);
    let late = sent.windows(2).filter(|w| w[1] < w[0]).count();
    assert!((700..=800).contains(&late), "{late}");
}

#[test]
fn clocks_of_devices_are_off_by_up_to_the_offset() {
    let dataset = open("signals = [{ name = \"x\", shape = \"constant\", type = \"f32\" }]\nclock_offset = \"3s\"\nresolution = \"1ms\"").unwrap();
    let off: Vec<i64> = (0..1000).map(|device| dataset.timestamp_ns(device, 0) - DEFAULT_ORIGIN_NS).collect();
    assert!(off.iter().all(|ns| ns.abs() <= 3_000_000_000 && ns % 1_000_000 == 0));
    assert!(off.iter().any(|&ns| ns > 2_500_000_000) && off.iter().any(|&ns| ns < -2_500_000_000));
    assert_eq!(dataset.schema().uniform_type(), Some(ValueType::F32));
}

#[test]
fn copies_of_a_signal_are_signals_with_values_of_their_own() {
    let of = |copies: &str| {
        let text = format!(
            "signals = [{{ name = \"a\", shape = \"uniform\"{copies} }}, {{ name = \"b\", shape = \"sine\" }}]"
        );
        open(&text).unwrap()
    };
    let (one, many) = (of(""), of(", copies = 10"));
    let names = |dataset: &dyn Dataset| -> Vec<String> {
        dataset.schema().signals().iter().map(|signal| signal.name.clone()).collect()
    };
    assert_eq!(names(&*one), ["a", "b"]);
    assert_eq!((names(&*many).len(), &names(&*many)[9], &names(&*many)[10]), (11, &"a9".to_owned(), &"b".to_owned()));
    let mut batch = Batch::new(many.schema());
    many.fill(Run { device: 0, first: 0, count: 20 }, &mut batch);
    let columns = &batch.columns()[..10];
    let is_own =
        |(place, column): (usize, &iotbench_core::Column)| columns[..place].iter().all(|other| other != column);
    assert!(columns.iter().enumerate().all(is_own));
    for (copies, part) in [("0", "signals[0].copies: must be from 1 to 10000"), ("10001", "copies"), ("-1", "copies")] {
        let text = format!("signals = [{{ name = \"a\", shape = \"sine\", copies = {copies} }}]");
        let error = open(&text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}
