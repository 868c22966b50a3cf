//! A server that a scenario has started again takes its time to be back.

use crate::real_time::oracle::{OPEN, Request};
use iotbench_core::{
    Acknowledged, Acknowledgement, Backend, BackendInfo, Batch, Capabilities, Cause, Counts, Database, Error,
    OpenRequest, ProcessAction, Promise, PromiseLevel, PromiseSource, ServerFacts, SettingError, Writer,
};
use iotbench_engine::{ActionPlan, Outcome, Reason, RunOptions, ServerProcesses, StopSignal, run};
use iotbench_oracle_server::backend::OracleBackend;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Answers after the load when it was asked so often in vain.
struct Returning {
    info: BackendInfo,
    after: u64,
}

#[derive(Clone)]
struct Table {
    stored: Arc<AtomicU64>,
    refusals_left: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Done;

impl ServerProcesses for Done {
    fn act(&self, _action: ProcessAction, _role: &str, _node: u32) -> Result<Option<u32>, String> {
        Ok(None)
    }
}

impl Backend for Returning {
    fn info(&self) -> &BackendInfo {
        &self.info
    }
    fn open(&self, _request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        Ok(Arc::new(Table { stored: Arc::default(), refusals_left: Arc::new(AtomicU64::new(self.after)) }))
    }
}

impl Table {
    /// Whether it can be reached. It is before there is anything in it.
    fn answer(&self) -> Result<(), Error> {
        if self.stored.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        let less = |left: u64| left.checked_sub(1);
        let refused = self.refusals_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        refused.map_or(Ok(()), |_| Err(Error::new(Cause::Connect, "connection refused")))
    }
}

#[async_trait::async_trait]
impl Database for Table {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        self.answer()?;
        Ok(ServerFacts {
            product: "returning".into(),
            version: "1".into(),
            driver: "none".into(),
            method: "none".into(),
            settings: std::collections::BTreeMap::new(),
            acknowledgement: Acknowledgement::Applied,
            promise: Promise { level: PromiseLevel::OsCrash, nodes: 1, source: PromiseSource::ReadBack },
        })
    }
    async fn create(&self) -> Result<(), Error> {
        Ok(())
    }
    // The machine has five signals.
    async fn count(&self) -> Result<Counts, Error> {
        self.answer()?;
        let points = self.stored.load(Ordering::Relaxed);
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
        self.stored.fetch_add(batch.len() as u64, Ordering::Relaxed);
        Ok(Acknowledged { points: batch.len() as u64, bytes: 0 })
    }
}

fn run_with(action: ProcessAction, refusals: u64) -> Outcome {
    let capabilities = Capabilities { stores: true, ..OracleBackend.info().capabilities.clone() };
    let info = BackendInfo::new("returning", "is back after a while", capabilities);
    let mut planned = Request::new(OPEN, &["operations=400", "rate=2000"]).plan(([127, 0, 0, 1], 1).into());
    planned.plan.scenario = vec![ActionPlan { at_ns: 0, action, role: "server".into(), node: 0 }];
    let options = RunOptions { processes: Some(Arc::new(Done)), ..RunOptions::default() };
    run(planned, &Returning { info, after: refusals }, options, &mut (), &StopSignal::default())
}

#[test]
fn a_server_that_was_started_again_is_waited_for() {
    for action in [ProcessAction::Restart, ProcessAction::Crash] {
        let outcome = run_with(action, 3);
        assert_eq!(outcome.verdict.reasons, []);
        assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked);
    }
}

#[test]
fn a_server_that_stays_killed_is_not_waited_for() {
    let outcome = run_with(ProcessAction::Kill, 1);
    let reasons = &outcome.verdict.reasons;
    assert!(matches!(&reasons[..], [Reason::Target { cause: Cause::Connect, .. }]), "{reasons:?}");
    assert_eq!(outcome.stored.counts, None);
}
