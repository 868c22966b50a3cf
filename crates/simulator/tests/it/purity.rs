//! A datapoint depends on seed, origin, device and index alone.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use iotbench_core::{Batch, Run};
use iotbench_simulator::{DATASETS, DEFAULT_ORIGIN_NS, Dataset, DatasetConfig};
use proptest::prelude::*;
use std::{path::Path, sync::Arc};

fn datasets(seed: u64, origin_ns: i64) -> Vec<Arc<dyn Dataset>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let named = DATASETS.iter().filter(|d| d.name != "custom" && d.name != "replay").map(|d| d.name);
    let custom = DatasetConfig::named("custom").unwrap().with("file", "custom.toml");
    let configs = named.map(|name| DatasetConfig::named(name).unwrap()).chain([custom]);
    configs.map(|config| config.open(seed, origin_ns, 100, &data).unwrap()).collect()
}

fn filled(dataset: &dyn Dataset, runs: &[Run]) -> Batch {
    let mut batch = Batch::new(dataset.schema());
    runs.iter().for_each(|&run| dataset.fill(run, &mut batch));
    batch
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cut_and_any_order_give_the_same_values(
        seed: u64, device in 0_u32..100, first in 0_u64..1 << 40, count in 1_u32..400, cut in 0_u32..400
    ) {
        let cut = cut.min(count - 1);
        for dataset in datasets(seed, DEFAULT_ORIGIN_NS) {
            let whole = filled(&*dataset, &[Run { device, first, count }]);
            let later = Run { device, first: first + u64::from(cut), count: count - cut };
            let again = filled(&*dataset, &[later, Run { device, first, count }]);
            let rows = |batch: &Batch, from: usize| -> Vec<String> {
                let row = |r| format!("{} {:?}", batch.timestamps_ns()[r], batch.columns().iter().map(|c| c.get(r)).collect::<Vec<_>>());
                (from..batch.len()).map(row).collect()
            };
            let (expected, got) = (rows(&whole, 0), rows(&again, 0));
            let cut = cut as usize;
            prop_assert_eq!(&got[..expected.len() - cut], &expected[cut..]);
            prop_assert_eq!(&got[expected.len() - cut..], &expected[..]);
            let single = filled(&*dataset, &[Run { device, first: first + cut as u64, count: 1 }]);
            prop_assert_eq!(&rows(&single, 0)[0], &expected[cut]);
        }
    }

    #[test]
    fn timestamps_are_planned_and_convert_both_ways(
        seed: u64, origin_ns in -1_i64 << 60..1 << 60, device in 0_u32..100, index in 0_u64..1 << 20
    ) {
        for dataset in datasets(seed, origin_ns) {
            let time = dataset.timestamp_ns(device, index);
            prop_assert_eq!(dataset.index_at(device, time), index);
            prop_assert_eq!(dataset.index_at(device, time + 1), index + 1);
            prop_assert_eq!(dataset.index_at(device, dataset.timestamp_ns(device, 0) - 1), 0);
            prop_assert_eq!(time % dataset.resolution_ns(), 0);
            let batch = filled(&*dataset, &[Run { device, first: index, count: 1 }]);
            prop_assert_eq!(batch.timestamps_ns(), &[time][..]);
        }
    }

    #[test]
    fn the_origin_moves_times_and_not_values(seed: u64, device in 0_u32..100, first in 0_u64..1 << 30, hours in 1_i64..1000) {
        let moved_ns = hours * 3_600_000_000_000;
        let (here, there) = (datasets(seed, DEFAULT_ORIGIN_NS), datasets(seed, DEFAULT_ORIGIN_NS + moved_ns));
        for (here, there) in here.iter().zip(there).filter(|(d, _)| d.schema().find("rxinfo_received_ms").is_none()) {
            let run = Run { device, first, count: 20 };
            let (here, there) = (filled(&**here, &[run]), filled(&*there, &[run]));
            prop_assert_eq!(here.columns(), there.columns());
            prop_assert!(here.timestamps_ns().iter().zip(there.timestamps_ns()).all(|(a, b)| *a == i64::MAX || *b == i64::MAX || a + moved_ns == *b));
        }
    }
}

#[test]
fn devices_and_seeds_differ() {
    for ((a, b), info) in datasets(1, DEFAULT_ORIGIN_NS).iter().zip(datasets(2, DEFAULT_ORIGIN_NS)).zip(DATASETS) {
        let run = |device| Run { device, first: 1000, count: 50 };
        let of = |dataset: &dyn Dataset, device| filled(dataset, &[run(device)]).columns().to_vec();
        assert_ne!(of(&**a, 0), of(&**a, 1), "devices of {}", info.name);
        assert_ne!(of(&**a, 0), of(&*b, 0), "seeds of {}", info.name);
    }
}

#[test]
fn every_number_is_finite() {
    for dataset in datasets(3, DEFAULT_ORIGIN_NS) {
        let runs = [0, 1 << 20, 1 << 40].map(|first| Run { device: 3, first, count: 5000 });
        let batch = filled(&*dataset, &runs);
        for column in batch.columns().iter().filter(|c| c.value_type().is_number()) {
            assert!((0..column.len()).all(|row| column.get(row).unwrap().as_f64().unwrap().is_finite()));
        }
    }
}

#[test]
fn the_defaults_in_the_help_are_the_defaults() {
    for info in DATASETS.iter().filter(|d| d.name != "custom" && d.name != "replay") {
        let plain = DatasetConfig::named(info.name).unwrap();
        let explicit = info.parameters.iter().fold(plain.clone(), |config, parameter| {
            let value: serde_json::Value =
                serde_json::from_str(parameter.default).unwrap_or_else(|_| parameter.default.into());
            config.with(parameter.key, value)
        });
        let of = |config: DatasetConfig| {
            let dataset = config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).unwrap();
            filled(&*dataset, &[Run { device: 0, first: 77, count: 100 }])
        };
        assert_eq!(of(plain), of(explicit), "{}", info.name);
    }
}
