//! Golden fingerprints: the values of every dataset are the same on any machine and in any later version.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_core::{Batch, Run, Value};
use iotbench_simulator::{DATASETS, DatasetConfig};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The first 8 bytes of the SHA-256 of times and values of seed 42. A change means that results can no longer be
/// compared with older ones: it needs an entry in the change log.
const GOLDEN: &[(&str, &str)] = &[
    ("machine", "4910a4b3aab857dd"),
    ("pmu", "8ac9b74ba14e3b9a"),
    ("smart_meter", "7cdcd87d25e7af99"),
    ("weather", "25a92d364624d23d"),
    ("greenhouse", "3557a356533497f5"),
    ("compressor", "bde99e0ce185b9a0"),
    ("text", "5df8f228c36e8639"),
    ("tsbs_cpu", "65bf07ac9e9dc138"),
    ("tsbs_iot", "55437f86a5d363eb"),
    ("tpcx_iot", "96a2f18766f72356"),
    ("iot_benchmark", "d801d5354d6ccda7"),
    ("custom", "1dd33de5f7806b0c"),
    ("replay", "1e1a7e9dce178082"),
];

const ORIGIN_NS: i64 = 1_767_225_600_000_000_000;

fn config(name: &str) -> DatasetConfig {
    match name {
        "custom" => DatasetConfig::named(name).unwrap().with("file", "custom.toml"),
        "replay" => DatasetConfig::named(name).unwrap().with("file", "recording.csv"),
        _ => DatasetConfig::named(name).unwrap(),
    }
}

fn fingerprint(name: &str) -> String {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let dataset = config(name).open(42, ORIGIN_NS, 1, &data).unwrap();
    let mut batch = Batch::new(dataset.schema());
    for device in [0, 1, 49] {
        for first in [0, 999, (1 << 20) - 3, 1 << 32, 1 << 40] {
            dataset.fill(Run { device, first, count: 70 }, &mut batch);
        }
    }
    let mut hash = Sha256::new();
    for row in 0..batch.len() {
        hash.update(batch.timestamps_ns()[row].to_le_bytes());
        for column in batch.columns() {
            match column.get(row).unwrap() {
                Value::F32(v) => hash.update(v.to_bits().to_le_bytes()),
                Value::F64(v) => hash.update(v.to_bits().to_le_bytes()),
                Value::I64(v) => hash.update(v.to_le_bytes()),
                Value::U16(v) => hash.update(v.to_le_bytes()),
                Value::Text(v) => hash.update([v.as_bytes(), &[0]].concat()),
            }
        }
    }
    assert!(!batch.is_empty());
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn no_dataset_has_changed() {
    let now: Vec<(&str, String)> = DATASETS.iter().map(|d| (d.name, fingerprint(d.name))).collect();
    let golden: Vec<(&str, String)> = GOLDEN.iter().map(|&(name, hash)| (name, hash.into())).collect();
    assert_eq!(now, golden);
}
