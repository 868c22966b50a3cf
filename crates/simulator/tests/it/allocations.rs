//! Filling and encoding in warm buffers allocate nothing.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_core::Batch;
use iotbench_simulator::{DATASETS, DEFAULT_ORIGIN_NS, DatasetConfig, Encoder, Format, Sends};
use std::path::Path;

fn config(name: &str) -> DatasetConfig {
    let config = DatasetConfig::named(name).unwrap();
    match name {
        "custom" => config.with("file", "custom.toml"),
        "replay" => config.with("file", "recording.csv"),
        _ => config,
    }
}

/// As a load does.
#[test]
fn second_sends_allocate_nothing_either() {
    let config = DatasetConfig::named("pmu").unwrap();
    let config = config.with("twice", serde_json::json!({ "share": 0.5, "after": "1s" }));
    let dataset = config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).unwrap();
    let (twice, mut batch, mut runs) = (dataset.twice().unwrap(), Batch::new(dataset.schema()), Vec::new());
    let mut round = |first: u64| {
        batch.clear();
        runs.clear();
        let mut tell = |sends: Sends| dataset.sending_order(0, sends.first, sends.count, &mut runs);
        twice.tell(0, first, 1000, &mut tell);
        runs.iter().for_each(|&run| dataset.fill(run, &mut batch));
    };
    (0..20).for_each(|n| round(n * 1000));
    let allocations = allocation_counter::measure(|| (0..20).for_each(|n| round(n * 1000)));
    assert_eq!(allocations.count_total, 0);
}

#[test]
fn nothing_is_allocated_once_warm() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for info in DATASETS {
        let dataset = config(info.name).open(1, DEFAULT_ORIGIN_NS, 2, &data).unwrap();
        let mut encoders = Format::ALL.map(|format| Encoder::new(format, info.name, dataset.clone()));
        let mut batch = Batch::new(dataset.schema());
        let mut text = Vec::new();
        let mut runs = Vec::new();
        let mut round = |first: u64, count: u32| {
            batch.clear();
            runs.clear();
            dataset.sending_order(0, first, count, &mut runs);
            dataset.sending_order(1, first, count, &mut runs);
            runs.iter().for_each(|&run| dataset.fill(run, &mut batch));
            for encoder in &mut encoders {
                text.clear();
                encoder.encode(&batch, &mut text);
            }
        };
        round(0, 2000);
        round(1_000_000_000, 2000);
        let allocations = allocation_counter::measure(|| (0..20).for_each(|n| round(n * 1000, 1000)));
        assert_eq!(allocations.count_total, 0, "{}", info.name);
    }
}
