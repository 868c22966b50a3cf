//! What generating data costs: filling batches, and filling and encoding to line protocol.
//!
//! `cargo bench --bench generate`; elements are values, so that `Melem/s` reads as million values per second.

#![expect(clippy::expect_used, reason = "a benchmark that cannot start may panic")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use iotbench_core::{Batch, Run};
use iotbench_simulator::{DEFAULT_ORIGIN_NS, Dataset, DatasetConfig, Encoder, Format};
use std::{hint::black_box, path::Path, sync::Arc};

const DATAPOINTS: u32 = 1000;

fn open(name: &str) -> Arc<dyn Dataset> {
    let config = DatasetConfig::named(name).expect("a built-in dataset");
    config.open(1, DEFAULT_ORIGIN_NS, 1, Path::new(".")).expect("its defaults")
}

fn generate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("generate");
    for name in ["machine", "pmu", "tsbs_cpu", "tsbs_iot", "tpcx_iot"] {
        let dataset = open(name);
        group.throughput(Throughput::Elements(dataset.schema().width() as u64 * u64::from(DATAPOINTS)));
        let mut batch = Batch::new(dataset.schema());
        let mut first = 0;
        let mut refill = |batch: &mut Batch| {
            batch.clear();
            dataset.fill(Run { device: 0, first, count: DATAPOINTS }, batch);
            first += u64::from(DATAPOINTS);
        };
        group.bench_function(BenchmarkId::new("fill", name), |bencher| {
            bencher.iter(|| {
                refill(&mut batch);
                black_box(&batch);
            });
        });
        let mut encoder = Encoder::new(Format::Influx, name, dataset.clone());
        let mut text = Vec::new();
        group.bench_function(BenchmarkId::new("fill_and_influx", name), |bencher| {
            bencher.iter(|| {
                refill(&mut batch);
                text.clear();
                encoder.encode(&batch, &mut text);
                black_box(&text);
            });
        });
    }
    group.finish();
}

criterion_group!(benches, generate);
criterion_main!(benches);
