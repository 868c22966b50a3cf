//! A database that stores part of a batch: each datapoint is counted by its own fate.

use crate::real_time::oracle::{OPEN, Request};
use iotbench_core::{
    Acknowledged, Applied, Backend, BackendInfo, Batch, Capabilities, Cause, Counts, Database, Error, OpenRequest,
    ServerFacts, SettingError, Writer,
};
use iotbench_engine::{RunOptions, StopSignal, run};
use iotbench_oracle_server::backend::OracleBackend;
use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicU64, Ordering},
};

/// Stores the rows 0 and 2 of every fourth batch, and all of the others.
struct Partial;

#[derive(Clone, Default)]
struct Table(Arc<AtomicU64>);

static INFO: LazyLock<BackendInfo> = LazyLock::new(|| {
    let capabilities = Capabilities { stores: true, ..OracleBackend.info().capabilities };
    BackendInfo::new("partial", "stores part of some batches", capabilities)
});

impl Backend for Partial {
    fn info(&self) -> &BackendInfo {
        &INFO
    }
    fn open(&self, _request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        Ok(Arc::new(Table::default()))
    }
}

#[async_trait::async_trait]
impl Database for Table {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        Ok(ServerFacts {
            product: "partial".into(),
            version: "1".into(),
            driver: "none".into(),
            method: "none".into(),
            settings: std::collections::BTreeMap::new(),
            acknowledgement: iotbench_core::Acknowledgement::Applied,
            promise: iotbench_core::Promise {
                level: iotbench_core::PromiseLevel::Buffered,
                nodes: 1,
                source: iotbench_core::PromiseSource::ReadBack,
            },
        })
    }
    async fn create(&self) -> Result<(), Error> {
        Ok(())
    }
    // The machine has five signals.
    async fn count(&self) -> Result<Counts, Error> {
        let points = self.0.load(Ordering::Relaxed);
        Ok(Counts { points, values: points * 5 })
    }
    async fn drop_created(&self) -> Result<(), Error> {
        Ok(())
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait::async_trait]
impl Writer for Table {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        if batch.runs()[0].first / batch.len() as u64 % 4 == 3 {
            self.0.fetch_add(2, Ordering::Relaxed);
            return Err(Error::new(Cause::Data, "two rows stored").applied(Applied::Rows(vec![0, 2])));
        }
        self.0.fetch_add(batch.len() as u64, Ordering::Relaxed);
        Ok(Acknowledged { points: batch.len() as u64, bytes: 0 })
    }
}

#[test]
fn stored_rows_of_a_failed_batch_are_acknowledged_and_the_others_failed() {
    let set = ["operations=400", "rate=2000", "groups.0.operations.0.datapoints=5"];
    let planned = Request::new(OPEN, &set).plan(([127, 0, 0, 1], 1).into());
    let outcome = run(planned, &Partial, RunOptions::default(), &mut (), &StopSignal::default());
    assert_eq!((outcome.load.ok, outcome.load.fail, outcome.load.check()), (300, 100, Ok(())));
    let points = outcome.points;
    assert_eq!((points.sent, points.acked, points.failed, points.check()), (2000, 1500 + 200, 300, Ok(())));
    assert_eq!(outcome.stored.counts.unwrap().points, points.acked);
    assert_eq!(outcome.acked().len(), points.acked, "the ledger names exactly what is stored");
    assert_eq!(outcome.acked().iter().next(), Some((0, 0..16)), "three whole batches of 5, and row 0 of the fourth");
    assert_eq!(outcome.verdict.reasons, []);
}
