//! Tables of a dataset as users write them, in a profile or in a file of their own: what can be opened makes the same data each time,
//! at times that go with its period, and every datapoint is found again by its time.

#![no_main]

use iotbench_core::{Batch, Run};
use iotbench_fuzz::folder;
use iotbench_simulator::{Dataset, DatasetConfig, Encoder, Format};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use std::{fs, sync::Arc};

const SEED: u64 = 7;
const ORIGIN_NS: i64 = 1_700_000_000_000_000_000;
const DEVICES: u32 = 3;

fn check(dataset: &Arc<dyn Dataset>) {
    for device in [0, DEVICES - 1] {
        // Datasets without an end.
        for first in [0, 1_000_000].into_iter().filter(|_| dataset.datapoints(device).is_none()) {
            let mut batches = [0, 1].map(|_| Batch::new(dataset.schema()));
            for batch in &mut batches {
                dataset.fill(Run { device, first, count: 3 }, batch);
            }
            assert_eq!(batches[0], batches[1]);
            let times = batches[0].timestamps_ns();
            assert!(times.is_sorted_by(|a, b| a < b) && times.len() == 3, "{times:?}");
            for (index, &time) in (first..).zip(times) {
                assert_eq!(time, dataset.timestamp_ns(device, index));
                assert_eq!(time.rem_euclid(dataset.resolution_ns()), 0, "{time}");
                assert_eq!(dataset.index_at(device, time), index);
            }
            for format in Format::ALL {
                let mut text = Vec::new();
                Encoder::new(format, "readings", Arc::clone(dataset)).encode(&batches[0], &mut text);
                assert!(std::str::from_utf8(&text).is_ok());
            }
        }
        let mut runs = Vec::new();
        dataset.sending_order(device, 0, 100, &mut runs);
        assert!(runs.iter().map(|run| run.count).sum::<u32>() <= 100);
    }
}

fuzz_target!(|text: &str| {
    let mut tables: Vec<Map<String, Value>> = toml::from_str(text).into_iter().collect();
    let file = folder().join("signals.toml");
    fs::write(&file, text).unwrap();
    tables.extend(serde_json::json!({ "name": "custom", "file": "signals.toml" }).as_object().cloned());
    for table in tables {
        let Ok(config) = DatasetConfig::try_from(table) else { continue };
        match config.open(SEED, ORIGIN_NS, DEVICES, folder()) {
            Ok(dataset) => check(&dataset),
            Err(error) => drop((error.to_string(), error.suggestion().map(str::to_owned))),
        }
    }
});
