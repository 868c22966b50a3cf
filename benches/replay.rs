//! What opening a recording costs, and opening it and filling batches with all of it, which is what a run on `blackhole` does with it.
//!
//! `cargo bench --bench replay`; elements are field values, so that `Melem/s` reads as million values per second.

#![expect(clippy::expect_used, reason = "a benchmark that cannot start may panic")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use iotbench_core::{Batch, Run};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, Encoder, Format};
use std::{fs, hint::black_box, path::Path, sync::Arc};

const DEVICES: u32 = 10;
const DATAPOINTS: u32 = 2_000;
const BATCH: u32 = 100;

/// A file of a generated dataset.
fn recorded(folder: &Path, name: &str, format: Format) -> Arc<dyn Dataset> {
    let config = DatasetConfig::named("pmu").expect("a built-in dataset");
    let dataset = config.open(1, DEFAULT_ORIGIN_NS, DEVICES, folder).expect("its defaults");
    let mut batch = Batch::new(dataset.schema());
    (0..DEVICES).for_each(|device| dataset.fill(Run { device, first: 0, count: DATAPOINTS }, &mut batch));
    let (mut text, mut encoder) = (Vec::new(), Encoder::new(format, "pmu", Arc::clone(&dataset)));
    encoder.header(&mut text);
    encoder.encode(&batch, &mut text);
    fs::write(folder.join(name), text).expect("a file in the folder for temporary ones");
    dataset
}

/// Every datapoint, a batch at a time, as writers take them.
fn fill_all(dataset: &dyn Dataset, batch: &mut Batch) {
    for first in (0..u64::from(DATAPOINTS)).step_by(BATCH as usize) {
        for device in 0..DEVICES {
            batch.clear();
            dataset.fill(Run { device, first, count: BATCH }, batch);
            black_box(&batch);
        }
    }
}

fn replay(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let mut group = criterion.benchmark_group("replay");
    for (name, format) in [("line_protocol", Format::Influx), ("csv", Format::Csv)] {
        let schema = recorded(folder.path(), name, format).schema().clone();
        group.throughput(Throughput::Elements(schema.width() as u64 * u64::from(DEVICES * DATAPOINTS)));
        let config = DatasetConfig::named("replay").expect("a built-in dataset").with("file", name);
        let open = || config.open(1, DEFAULT_ORIGIN_NS, DEVICES, folder.path()).expect("what was written");
        group.bench_function(BenchmarkId::new("open", name), |bencher| bencher.iter(|| black_box(open())));
        let mut batch = Batch::new(open().schema());
        group.bench_function(BenchmarkId::new("open_and_fill", name), |bencher| {
            bencher.iter(|| fill_all(&*open(), &mut batch));
        });
    }
    group.finish();
}

criterion_group!(benches, replay);
criterion_main!(benches);
