//! A database that acknowledges at once and stores at its own pace: what it acknowledges is no measure of what it carries.

use crate::real_time::oracle::{Findings, OPEN, Request, experiment};
use iotbench_core::{
    Acknowledged, Acknowledgement, Backend, BackendInfo, Batch, Capabilities, Chunk, ComputedBy, Counts, Database,
    Error, OpenRequest, Promise, PromiseLevel, PromiseSource, Query, Reader, Reply, ServerFacts, SettingError, Sink,
    Value, ValueType, Writer,
};
use iotbench_engine::{Bounds, Event, Limit, Outcome, RampState, Reason, RunOptions, StopSignal, VerifyMode, run};
use iotbench_oracle_server::backend::OracleBackend;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Instant,
};

/// Stores so many datapoints a second, whatever it has acknowledged; of all that come, it loses one in `loses`.
struct Queue {
    stores_per_s: f64,
    loses: Option<u64>,
    info: BackendInfo,
}

impl Queue {
    fn new(stores_per_s: f64, loses: Option<u64>) -> &'static Self {
        let oracle = &OracleBackend.info().capabilities;
        let capabilities = Capabilities { acknowledgement: Acknowledgement::Queued, stores: true, ..*oracle };
        let info = BackendInfo::new("queue", "acknowledges at once and stores at its own pace", capabilities);
        Box::leak(Box::new(Self { stores_per_s, loses, info }))
    }
}

/// What one queue holds.
struct Level {
    acked: u64,
    to_store: f64,
    stored: f64,
    at: Instant,
}

#[derive(Clone)]
struct QueueDatabase {
    queue: &'static Queue,
    level: Arc<Mutex<Level>>,
}

impl QueueDatabase {
    /// The level now: it falls at its constant rate.
    fn level(&self) -> MutexGuard<'_, Level> {
        let mut level = self.level.lock().unwrap();
        let now = Instant::now();
        let most = self.queue.stores_per_s * now.duration_since(level.at).as_secs_f64();
        level.stored = (level.stored + most).min(level.to_store);
        level.at = now;
        level
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole datapoints")]
    fn stored(&self) -> u64 {
        self.level().stored as u64
    }
}

impl Backend for Queue {
    fn info(&self) -> &BackendInfo {
        &self.info
    }
    fn open(&self, _request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        // One of these lives as long as the tests.
        let queue = Self::new(self.stores_per_s, self.loses);
        let level = Level { acked: 0, to_store: 0.0, stored: 0.0, at: Instant::now() };
        Ok(Arc::new(QueueDatabase { queue, level: Arc::new(Mutex::new(level)) }))
    }
}

#[async_trait::async_trait]
impl Database for QueueDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        Ok(ServerFacts {
            product: "queue".into(),
            version: "1".into(),
            driver: "none".into(),
            method: "none".into(),
            settings: BTreeMap::new(),
            acknowledgement: Acknowledgement::Queued,
            promise: Promise { level: PromiseLevel::Buffered, nodes: 1, source: PromiseSource::ReadBack },
        })
    }
    async fn create(&self) -> Result<(), Error> {
        let mut level = self.level();
        (level.acked, level.to_store, level.stored) = (0, 0.0, 0.0);
        Ok(())
    }
    async fn count(&self) -> Result<Counts, Error> {
        let width = 5; // of `machine`
        Ok(Counts { points: self.stored(), values: self.stored() * width })
    }
    async fn drop_created(&self) -> Result<(), Error> {
        Ok(())
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(self.clone()))
    }
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait::async_trait]
impl Writer for QueueDatabase {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        let points = batch.len() as u64;
        let mut level = self.level();
        let lost = |acked: u64| self.queue.loses.map_or(0, |one_in| acked / one_in);
        let lost_now = lost(level.acked + points) - lost(level.acked);
        level.acked += points;
        level.to_store += f64::from(u32::try_from(points - lost_now).unwrap());
        Ok(Acknowledged { points, bytes: 0 })
    }
}

#[async_trait::async_trait]
impl Reader for QueueDatabase {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        if *query != Query::Count {
            return Ok(Reply { rows: 0, bytes: 0, computed_by: ComputedBy::Server });
        }
        let mut chunk = Chunk::new([ValueType::I64, ValueType::I64]);
        chunk.devices.push(0);
        chunk.timestamps_ns.push(0);
        let points = i64::try_from(self.stored()).unwrap();
        chunk.columns.iter_mut().try_for_each(|column| column.push(Some(Value::I64(points))))?;
        sink.push(&chunk)?;
        Ok(Reply { rows: 1, bytes: 0, computed_by: ComputedBy::Server })
    }
}

fn run_on(queue: &'static Queue, rest: &str, observer: impl FnMut(&Event<'_>) + Send) -> Outcome {
    let rate: &[&str] = if rest.contains("[ramp]") { &["rate=auto"] } else { &["rate=500"] };
    run_profile(queue, &format!("{OPEN}\n{rest}"), rate, observer)
}

fn run_profile(queue: &'static Queue, profile: &str, set: &[&str], observer: impl FnMut(&Event<'_>) + Send) -> Outcome {
    struct Observer<F>(F);
    impl<F: FnMut(&Event<'_>) + Send> iotbench_engine::Observer for Observer<F> {
        fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
            (self.0)(event);
            Ok(())
        }
    }
    let planned = Request::new(profile, set).plan(([127, 0, 0, 1], 1).into());
    // It counts, and cannot be read back.
    let options = RunOptions { verify: VerifyMode::None, ..RunOptions::default() };
    run(planned, queue, options, &mut Observer(observer), &StopSignal::default())
}

/// Each operation is acknowledged within microseconds: by its response times every rate is sustained. Two in three of the
/// second step's datapoints are still queued at its end; the third step does not begin before they are stored.
#[test]
fn a_rate_is_sustained_only_if_what_is_acknowledged_becomes_visible_as_fast() {
    experiment(|| {
        let ramp = "[ramp]\nsteps = [200, 900, 250]\nstep = \"5s\"\n[stop]\nmean_response = \"500ms\"\n";
        let outcome = run_on(Queue::new(300.0, None), ramp, |_| ());
        assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked);
        let mut findings = Findings::of(&outcome);
        findings.expect(nothing_is_missing(&outcome), || format!("{:?}", outcome.verdict.reasons));
        let capacity = outcome.capacity.as_ref().unwrap();
        let passed: Vec<_> = capacity.steps.iter().map(|s| (s.step.load, s.judgement.passed)).collect();
        let as_meant = passed == [(200, true), (900, false), (250, true)];
        findings.expect(as_meant, || format!("{:#?}", capacity.steps));
        let bounds = Bounds::of_loads(Some(250), Some(900));
        findings.expect(capacity.bounds == bounds, || format!("{:?}", capacity.bounds));
        let [_, overloaded, after] = &capacity.steps[..] else { return findings };
        let seen = overloaded.visibility.unwrap();
        findings.expect((seen.visible_per_s / 300.0 - 1.0).abs() < 0.15, || format!("{seen:?}"));
        findings.expect(seen.lag_last_s > seen.lag_first_s, || format!("{seen:?}"));
        let is_told = overloaded.judgement.failure.as_ref().is_some_and(|why| why.starts_with("visible at "));
        findings.expect(is_told, || format!("{overloaded:?}"));
        let left_s = after.visibility.unwrap().lag_first_s;
        findings.expect(left_s < 0.5, || format!("the queue of the step before: {left_s} s: {after:?}"));
        findings
    });
}

/// What is visible is counted from each emptying on; before it all that was queued is waited for.
#[test]
fn in_a_database_that_was_emptied_only_what_came_since_is_to_become_visible() {
    experiment(|| {
        let ramp = "[ramp]\nsteps = [200, 250, 200]\nstep = \"4s\"\n[stop]\nmean_response = \"500ms\"\n";
        let mut planned = Request::new(&format!("{OPEN}\n{ramp}"), &["rate=auto"]).plan(([127, 0, 0, 1], 1).into());
        planned.plan.state = RampState::Fresh;
        let options = RunOptions { verify: VerifyMode::None, ..RunOptions::default() };
        let outcome = run(planned, Queue::new(300.0, None), options, &mut (), &StopSignal::default());
        assert_eq!((outcome.stored.emptied.times, outcome.stored.counts.unwrap().points), (2, outcome.points.acked));
        let mut findings = Findings::of(&outcome);
        findings.expect(nothing_is_missing(&outcome), || format!("{:?}", outcome.verdict.reasons));
        for step in &outcome.capacity.as_ref().unwrap().steps {
            // What the steps before had acknowledged would be a lag of 4 s and more.
            let lag_s = step.visibility.map(|seen| seen.lag_first_s);
            findings.expect(step.judgement.passed && lag_s.is_some_and(|s| s < 0.5), || format!("{step:#?}"));
        }
        findings
    });
}

/// Nothing is acknowledged that could become visible, and counting would stand in the way of what is asked.
#[test]
fn a_load_that_only_reads_is_not_asked_what_becomes_visible() {
    let profile = r#"
name = "reads"
summary = "test"
[dataset]
name = "machine"
[[groups]]
name = "readers"
load = { model = "closed", users = 1, think_time = "20ms" }
operations = [{ kind = "read_newest", records = 1 }]
[phases]
others_cpu = "100%"
preload = "100"
[ramp]
steps = [2, 4]
step = "1s"
[stop]
mean_response = "300ms"
"#;
    let outcome = run_profile(Queue::new(1e6, None), profile, &[], |_| ());
    let steps = outcome.capacity.unwrap().steps;
    assert_eq!(steps.len(), 2, "{steps:#?}");
    assert!(steps.iter().all(|step| step.judgement.limit != Some(Limit::Visibility)), "{steps:#?}");
}

/// What is queued at the end of the load is waited for, and its number told meanwhile.
#[test]
fn a_run_ends_when_all_that_was_acknowledged_is_stored() {
    let mut settling = Vec::new();
    let outcome = run_on(Queue::new(400.0, None), "", |event| {
        if let Event::Settling { points, awaited } = event {
            settling.push((*points, *awaited));
        }
    });
    let (stored, acked) = (outcome.stored.counts.unwrap().points, outcome.points.acked);
    assert!(acked > 1200 && stored == acked, "{stored} of {acked}");
    assert!(settling.iter().all(|&(points, awaited)| points < awaited && awaited == acked), "{settling:?}");
    assert!(!settling.is_empty() && settling.is_sorted());
    assert!(nothing_is_missing(&outcome), "{:?}", outcome.verdict.reasons);
}

/// A busy machine may spoil the pacing; what is stored it must not.
fn nothing_is_missing(outcome: &Outcome) -> bool {
    outcome.verdict.reasons.iter().all(|r| matches!(r, Reason::ClientLimited(_)))
}

/// Nothing more comes: after a while that is the answer.
#[test]
fn what_never_becomes_visible_is_lost() {
    let outcome = run_on(Queue::new(1e9, Some(10)), "", |_| ());
    let (stored, acked) = (outcome.stored.counts.unwrap().points, outcome.points.acked);
    // A machine that stands still at the end leaves some unsent.
    assert!(acked > 1000 && stored == acked - acked / 10, "{stored} of {acked}");
}
