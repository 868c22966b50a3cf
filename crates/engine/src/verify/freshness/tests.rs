//! Probes of a database that makes acknowledged datapoints visible from time to time, in virtual time.

use super::*;
use crate::read::History;
use async_trait::async_trait;
use iotbench_core::{ComputedBy, Reply, Run, Sink, ValueType};
use iotbench_recorder::Level;
use iotbench_simulator::DatasetConfig;
use std::path::Path;
use tokio::time::Instant;

const MS: u64 = 1_000_000;
const RUNS: u64 = 200;
const RUN_S: u64 = 30;
/// From one acknowledgement to the next: in step with nothing else here.
const WRITE_MS: u64 = 23;

/// What was acknowledged becomes visible every `every_ns`, first at `first_ns`; nothing, where that is never.
struct Flushing {
    epoch: Instant,
    dataset: Arc<dyn Dataset>,
    every_ns: u64,
    first_ns: u64,
}

#[async_trait]
impl Reader for Flushing {
    async fn query(&mut self, _: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let since_ns = ns(self.epoch.elapsed()).checked_sub(self.first_ns);
        let flushed_ns = since_ns.map(|ns| self.first_ns + ns / self.every_ns * self.every_ns);
        let mut chunk = Chunk::new([ValueType::I64]);
        if let Some(flushed_ns) = flushed_ns {
            chunk.timestamps_ns.push(self.dataset.timestamp_ns(0, flushed_ns / (WRITE_MS * MS)));
        }
        sink.push(&chunk)?;
        Ok(Reply { rows: 1, bytes: 8, computed_by: ComputedBy::Server })
    }
}

/// What the probes of a run say whose datapoints become visible so.
fn run(seed: u64, deadline: Duration, every_ns: u64, first_ns: u64) -> Freshness {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let config: DatasetConfig = serde_json::from_value(serde_json::json!({ "name": "pmu" })).unwrap();
        let dataset = config.open(1, 0, 1, Path::new(".")).unwrap();
        let history = History { dataset: Arc::clone(&dataset), devices: 1, positions: 0 };
        let frontier = Arc::new(Frontier::new(&history, 1, 0..1).unwrap());
        let sought = Sought { dataset: Arc::clone(&dataset), frontier: Arc::clone(&frontier), seed, deadline };
        let (epoch, stop) = (Instant::now(), AtomicBool::new(false));
        let mut reader = Flushing { epoch, dataset, every_ns, first_ns };
        let writes = async {
            for index in 0..RUN_S * 1_000 / WRITE_MS {
                tokio::time::sleep_until(epoch + Duration::from_millis(index * WRITE_MS)).await;
                frontier.acknowledged(Run { device: 0, first: index, count: 1 }, index * WRITE_MS * MS);
            }
            stop.store(true, Ordering::Relaxed);
        };
        let probes = Probes::new(&sought, || ns(epoch.elapsed()));
        let (freshness, ()) = tokio::join!(probes.run(&mut reader, &stop), writes);
        freshness.unwrap()
    })
}

/// A datapoint that is acknowledged at any time between two flushes is seen half their distance later in the mean.
#[test]
fn lags_are_those_of_any_time_whatever_the_database_does_in_step_with() {
    for every_ms in [200, 1_000, 1_050, 7_000] {
        let (every_ns, mut lag) = (every_ms * MS, LatencyHistogram::new());
        for seed in 0..RUNS {
            let freshness = run(seed, Duration::from_secs(60), every_ns, mix(seed, 7) % every_ns);
            assert_eq!(freshness.unseen.count(), 0, "each is followed until it is seen");
            lag.merge(&freshness.lag);
        }
        let mean = lag.mean_ns().unwrap() / (every_ns as f64 / 2.0);
        let p99 = lag.value_at(Level::P99).unwrap() as f64 / (0.99 * every_ns as f64);
        println!("visible each {every_ms} ms: {} probes, mean {mean:.3} and p99 {p99:.3} of the truth", lag.count());
        assert!((mean - 1.0).abs() <= 0.05, "{every_ms} ms: mean {mean} of the truth");
        assert!((p99 - 1.0).abs() <= 0.05, "{every_ms} ms: p99 {p99} of the truth");
        assert!(lag.count().abs_diff(RUNS * RUN_S) <= 400, "{} probes", lag.count());
    }
}

/// What no read sees is at least as old as the deadline.
#[test]
fn what_is_not_seen_in_time_is_a_lower_bound() {
    let freshness = run(1, Duration::from_secs(2), 1_000 * MS, 1_000_000 * MS);
    assert!(freshness.unseen.count() > 15, "{}", freshness.unseen.count());
    assert!(freshness.unseen.min_ns() >= Some(2_000 * MS) && freshness.lag.is_empty());
}
