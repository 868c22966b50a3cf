//! An hour of overload. Run by `scripts/long`.

use crate::real_time::{
    limits::rss,
    oracle::{OPEN, Request},
};
use iotbench_core::{
    Acknowledged, Acknowledgement, Backend, BackendInfo, Batch, Counts, Database, Error, OpenRequest, Promise,
    PromiseLevel, PromiseSource, ServerFacts, SettingError, Writer,
};
use iotbench_engine::{Event, Observer, RunOptions, StopSignal, run};
use iotbench_oracle_server::backend::OracleBackend;
use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
    time::Duration,
};

const SERVICE: Duration = Duration::from_millis(10);
/// With 10 ms each, five connections carry at most 500 a second.
const CONNECTIONS: u64 = 5;
const OFFERED_PER_S: u64 = 1000;

/// Takes its time, and keeps nothing that would grow.
#[derive(Clone)]
struct Slow;

static INFO: LazyLock<BackendInfo> =
    LazyLock::new(|| BackendInfo::new("slow", "takes 10 ms a request", OracleBackend.info().capabilities.clone()));

impl Backend for Slow {
    fn info(&self) -> &BackendInfo {
        &INFO
    }
    fn open(&self, _request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait::async_trait]
impl Database for Slow {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        Ok(ServerFacts {
            product: "slow".into(),
            version: "1".into(),
            driver: "none".into(),
            method: "none".into(),
            settings: BTreeMap::new(),
            acknowledgement: Acknowledgement::None,
            promise: Promise { level: PromiseLevel::Buffered, nodes: 1, source: PromiseSource::ReadBack },
        })
    }
    async fn create(&self) -> Result<(), Error> {
        Ok(())
    }
    async fn count(&self) -> Result<Counts, Error> {
        Ok(Counts::default())
    }
    async fn drop_created(&self) -> Result<(), Error> {
        Ok(())
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait::async_trait]
impl Writer for Slow {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        tokio::time::sleep(SERVICE).await;
        Ok(Acknowledged { points: batch.len() as u64, bytes: 0 })
    }
}

/// Notes the memory of each second, and is late once.
struct Memory {
    rss_kib: Vec<u64>,
}

/// In the first minutes the observer takes so long once that every buffer before it is filled: what a busy machine would
/// fill at any later time, and the allocator then keeps, is there before the minutes that count.
const LATE_AT_SECOND: usize = 60;
const LATE_FOR: Duration = Duration::from_secs(40);

impl Observer for Memory {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        if matches!(event, Event::Second(_)) {
            self.rss_kib.push(rss());
            if self.rss_kib.len() == LATE_AT_SECOND {
                std::thread::sleep(LATE_FOR);
            }
        }
        Ok(())
    }
}

/// At least twice what the database carries, for an hour or for `IOTBENCH_LONG_SECONDS`: at most 256 MiB, and at most 1 MiB
/// more an hour.
#[test]
#[ignore = "takes an hour"]
fn an_hour_of_overload_takes_no_more_memory_than_its_first_minutes() {
    let seconds: u64 = std::env::var("IOTBENCH_LONG_SECONDS").map_or(3600, |text| text.parse().unwrap());
    let set = [
        &format!("rate={OFFERED_PER_S}"),
        &format!("connections={CONNECTIONS}"),
        &format!("duration={seconds}s"),
        "drain=100ms",
    ];
    let planned = Request::new(OPEN, &set).plan(([127, 0, 0, 1], 1).into());
    let mut memory = Memory { rss_kib: Vec::with_capacity(usize::try_from(seconds).unwrap() + 60) };
    let outcome = run(planned, &Slow, RunOptions::default(), &mut memory, &StopSignal::default());
    assert_eq!((outcome.load.check(), outcome.load.offered), (Ok(()), OFFERED_PER_S * seconds));
    assert!(outcome.load.pending * 2 >= outcome.load.offered, "{} pending: no overload", outcome.load.pending);
    // The first five minutes fill what is kept of seconds; the least of each minute leaves out what comes and goes.
    let minutes: Vec<u64> = memory.rss_kib.chunks_exact(60).skip(5).map(|m| m.iter().copied().min().unwrap()).collect();
    let (peak_kib, slope_kib) = (memory.rss_kib.iter().copied().max().unwrap(), slope_an_hour(&minutes));
    let pending = outcome.load.pending;
    println!("{seconds} s, {pending} pending at the end: peak {peak_kib} KiB, {slope_kib:.0} KiB more an hour");
    assert!(peak_kib <= 256 << 10, "peak {peak_kib} KiB");
    assert!(slope_kib <= 1024.0, "{slope_kib} KiB more an hour: {minutes:?}");
}

/// The slope of the least-squares line through values a minute apart, an hour.
fn slope_an_hour(values: &[u64]) -> f64 {
    let n = values.len() as f64;
    let (mean_t, mean_v) = ((n - 1.0) / 2.0, values.iter().sum::<u64>() as f64 / n);
    let each = values.iter().enumerate().map(|(t, &v)| (t as f64 - mean_t, v as f64 - mean_v));
    let (above, below) = each.fold((0.0, 0.0), |(a, b), (t, v)| (a + t * v, b + t * t));
    60.0 * above / below
}
