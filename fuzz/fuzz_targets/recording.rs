//! A recording that is replayed: parameters, then the CSV file. What is read, written as CSV and read again is the same.

#![no_main]

use iotbench_core::{Batch, Run};
use iotbench_fuzz::{folder, parts};
use iotbench_simulator::{Dataset, DatasetConfig, Encoder, Format};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use std::{fs, sync::Arc};

/// Datapoints that are looked at of each device.
const MOST: u32 = 1000;

fn open(mut parameters: Map<String, Value>, file: &str, csv: &[u8], devices: u32) -> Option<Arc<dyn Dataset>> {
    fs::write(folder().join(file), csv).unwrap();
    parameters.insert("name".into(), "replay".into());
    parameters.insert("file".into(), file.into());
    let config = DatasetConfig::try_from(parameters).ok()?;
    config.open(1, 0, devices, folder()).map_err(|error| error.to_string()).ok()
}

fn filled(dataset: &Arc<dyn Dataset>, devices: u32) -> Batch {
    let mut batch = Batch::new(dataset.schema());
    for device in 0..devices {
        let count = dataset.datapoints(device).unwrap().min(MOST.into()) as u32;
        dataset.fill(Run { device, first: 0, count }, &mut batch);
        for index in 0..u64::from(count) {
            assert_eq!(dataset.index_at(device, dataset.timestamp_ns(device, index)), index);
        }
    }
    batch
}

/// A recording begins with the earliest of all its devices, whether they are played or not.
fn since_first(batch: &Batch) -> Vec<i128> {
    let first = batch.timestamps_ns().iter().copied().min().unwrap_or_default();
    batch.timestamps_ns().iter().map(|&time| i128::from(time) - i128::from(first)).collect()
}

fuzz_target!(|data: &[u8]| {
    let [Some(parameters), Some(csv)] = parts(data) else { return };
    let Ok(parameters) = std::str::from_utf8(parameters) else { return };
    let Ok(parameters) = toml::from_str::<Map<String, Value>>(parameters) else { return };
    for devices in [1, 2] {
        let Some(dataset) = open(parameters.clone(), "recording.csv", csv, devices) else { continue };
        let batch = filled(&dataset, devices);
        if batch.is_empty() {
            continue;
        }
        let mut encoder = Encoder::new(Format::Csv, "readings", Arc::clone(&dataset));
        let mut text = Vec::new();
        encoder.header(&mut text);
        encoder.encode(&batch, &mut text);
        // They were inferred from those that are not played too.
        let types = dataset.schema().signals().iter();
        let types = types.map(|signal| (signal.name.clone(), serde_json::to_value(signal.value_type).unwrap()));
        let again = Map::from_iter([("types".to_owned(), types.collect::<Map<_, _>>().into())]);
        let again = open(again, "again.csv", &text, devices);
        let again =
            again.unwrap_or_else(|| panic!("what was written is not read:\n{}", String::from_utf8_lossy(&text)));
        let again = filled(&again, devices);
        assert_eq!(since_first(&again), since_first(&batch));
        assert_eq!(again.columns(), batch.columns());
    }
});
