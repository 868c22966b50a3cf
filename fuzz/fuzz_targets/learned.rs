//! A profile learned from a recording: parameters, then the file. What is learned is the same each time, can be read, and generates finite
//! numbers.

#![no_main]

use iotbench_core::{Batch, Run};
use iotbench_fuzz::{folder, parts};
use iotbench_simulator::{DatasetConfig, LearnOptions, learn};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use std::fs;

/// Datapoints that are looked at of each of two devices.
const MOST: u32 = 200;

fuzz_target!(|data: &[u8]| {
    let [Some(parameters), Some(file)] = parts(data) else { return };
    let Ok(parameters) = std::str::from_utf8(parameters) else { return };
    let Ok(mut parameters) = toml::from_str::<Map<String, Value>>(parameters) else { return };
    fs::write(folder().join("recording"), file).unwrap();
    parameters.insert("name".into(), "replay".into());
    parameters.insert("file".into(), "recording".into());
    let Ok(config) = DatasetConfig::try_from(parameters) else { return };
    for keep_values in [false, true] {
        let options = LearnOptions { name: "learned", keep_values, seed: 1 };
        let learned = || learn(&config, folder(), &options, &mut |_| {});
        let profile = match learned() {
            Ok(learned) => learned.profile,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return;
            }
        };
        if !keep_values {
            assert_eq!(learned().unwrap().profile, profile);
        }
        let profile: Map<String, Value> = toml::from_str(&profile).unwrap();
        let dataset: DatasetConfig = serde_json::from_value(profile["dataset"].clone()).unwrap();
        let dataset = dataset.open(1, 0, 2, folder()).unwrap();
        let mut batch = Batch::new(dataset.schema());
        (0..2).for_each(|device| dataset.fill(Run { device, first: 0, count: MOST }, &mut batch));
        for column in batch.columns().iter().filter(|column| column.value_type().is_number()) {
            assert!((0..column.len()).all(|row| column.get(row).unwrap().as_f64().unwrap().is_finite()));
        }
    }
});
