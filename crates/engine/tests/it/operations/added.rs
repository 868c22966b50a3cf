//! Signals that are added under load: what was sent before lacks them, what comes after it has them, and nothing else passes for it.

use crate::operations::{planned, planned_on};
use async_trait::async_trait;
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Acknowledged, Backend, BackendInfo, Batch, Cause, Chunk, Counts, Database, Error, OpenRequest, Query, Reader,
    Registry, Reply, ReplyColumn, ServerFacts, SettingError, Sink, Value, Writer,
};
use iotbench_engine::{
    Event, FindingKind, Observer, Outcome, Reason, RunOptions, SchemaChange, StopSignal, VerifyMode, run,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

const LOAD: &str = r#"
name = "added"
summary = "test"
devices = 3
[dataset]
name = "pmu"
rate = 50.0
jitter = "5ms"
added_signals = { signals = 2, after = 70 }
[[groups]]
name = "writers"
load = { model = "closed", users = 3 }
operations = [{ kind = "write", datapoints = 7 }]
[phases]
warmup = "0s"
operations = 300
duration = "60s"
others_cpu = "100%"
"#;
const SEVEN: &str = r#"[{ kind = "write", datapoints = 7 }]"#;
const CLOSED: &str = r#"{ model = "closed", users = 3 }"#;
/// Signals of the dataset.
const ALL: u64 = 15;
const FIRST: u64 = 13;

const DIRTY: [&str; 3] = [
    r#"dataset.gaps={ share = 0.1, length = "100ms" }"#,
    r#"dataset.late={ share = 0.1, by = "300ms" }"#,
    "dataset.out_of_order={ share = 0.5, window = 8 }",
];

struct Silent;

impl Observer for Silent {
    fn event(&mut self, _event: &Event<'_>) -> Result<(), String> {
        Ok(())
    }
}

/// Also how many of the datapoints that were acknowledged, the history among them, are before the change.
fn run_fully(backend: &'static dyn Backend, text: &str, set: &[&str]) -> (Outcome, u64) {
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(backend, folder.path(), text, set);
    let dataset = Arc::clone(&planned.dataset);
    let options = RunOptions { verify: VerifyMode::Full, ..RunOptions::default() };
    let outcome = run(planned, backend, options, &mut Silent, &StopSignal::default());
    assert_eq!((outcome.load.check(), outcome.points.check()), (Ok(()), Ok(())), "{:?}", outcome.verdict);
    let is_before = |device, index| dataset.position_of(device, index) < dataset.added_from().unwrap();
    let acked = outcome.acked();
    let before = acked.iter().map(|(device, indices)| indices.filter(|&index| is_before(device, index)).count() as u64);
    let before = before.sum::<u64>() + outcome.preloaded_points;
    (outcome, before)
}

fn backend(name: &str) -> &'static dyn Backend {
    Registry::new(BACKENDS).find(name).unwrap()
}

fn wrong(outcome: &Outcome) -> [u64; 4] {
    let audit = outcome.stored.audit.as_ref().unwrap();
    assert_eq!(audit.cut_short, None);
    let kinds = [FindingKind::Lost, FindingKind::Duplicate, FindingKind::Corrupt, FindingKind::Alien];
    kinds.map(|kind| audit.findings.count(kind))
}

fn is_of_data(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::Stored { .. } | Reason::StoredValues { .. } | Reason::Audit { .. } | Reason::NotReadBack(_)
    )
}

/// Everything sent was acknowledged, and is stored with the signals that it had.
fn assert_all_there((outcome, before): &(Outcome, u64), case: &str) {
    let points = outcome.points;
    let stored = points.acked + outcome.preloaded_points;
    assert_eq!(points.acked, points.sent, "{case}: {points:?} {:?}", outcome.verdict);
    let right = outcome.stored.audit.as_ref().unwrap().findings.right();
    assert_eq!((right, wrong(outcome)), (stored, [0; 4]), "{case}: {:?}", outcome.verdict);
    let values = before * FIRST + (stored - before) * ALL;
    assert_eq!(outcome.stored.counts, Some(Counts { points: stored, values }), "{case}");
    assert_eq!(outcome.verdict.reasons.iter().find(|reason| is_of_data(reason)), None, "{case}");
}

#[test]
fn what_was_sent_before_lacks_them_and_what_came_after_has_them() {
    for name in ["memory", "sqlite"] {
        for layout in ["wide", "narrow", "document", "bulk"] {
            for dirty in [&[][..], &DIRTY] {
                let layout_set = format!("layout={layout}");
                let set = [&[&*layout_set, "phases.preload=14"], dirty].concat();
                is_changed(name, layout, &run_fully(backend(name), LOAD, &set));
            }
        }
        let open = LOAD.replace(CLOSED, r#"{ model = "open", rate = 300 }"#).replace("60s", "1s");
        is_changed(name, "wide", &run_fully(backend(name), &open, &["layout=wide"]));
    }
}

/// All is there, some of it from before the change and some from after it.
fn is_changed(name: &str, layout: &str, ran: &(Outcome, u64)) {
    assert_all_there(ran, &format!("{name} {layout}"));
    let (outcome, before) = ran;
    assert!(*before > 70 && *before < outcome.points.acked, "{name} {layout}: {before} before");
    let SchemaChange { from_ns, altered_ns } = outcome.stored.schema_change.unwrap();
    assert_eq!(altered_ns.is_some(), layout == "wide", "{layout}");
    assert!(altered_ns.is_none_or(|altered_ns| altered_ns >= from_ns));
}

#[test]
fn operations_of_several_requests_come_from_one_side_of_the_change() {
    for (operation, devices) in [
        (r#"[{ kind = "write", datapoints = 7, requests = 2 }]"#, "devices=3"),
        (r#"[{ kind = "write", datapoints = 7, requests = 5, transaction = true }]"#, "devices=1"),
        (
            r#"[{ kind = "write", datapoints = 7, requests = 2, pause = "1ms" }, { kind = "write", name = "less", datapoints = 5 }]"#,
            "devices=2",
        ),
    ] {
        for name in ["memory", "sqlite"] {
            let ran = run_fully(backend(name), &LOAD.replace(SEVEN, operation), &[devices]);
            assert_all_there(&ran, operation);
            assert!(ran.0.stored.schema_change.unwrap().altered_ns.is_some());
        }
    }
}

#[test]
fn a_load_that_does_not_come_so_far_says_so() {
    let ran = run_fully(backend("sqlite"), LOAD, &["dataset.added_signals.after=70000"]);
    assert_all_there(&ran, "not reached");
    let (outcome, before) = ran;
    assert_eq!(before, outcome.points.acked);
    assert_eq!(outcome.stored.schema_change, None);
    assert!(outcome.plan.remarks.iter().any(|remark| remark.contains("dataset.added_signals.after")));
}

/// Who names no signals asks for those that the table has from the beginning.
#[test]
fn what_is_read_of_the_signals_that_were_there_is_judged_beside_the_change() {
    for read in [
        r#"{ kind = "read_signal", share = 0.5, window = "300ms" }"#,
        r#"{ kind = "figures", share = 0.5, window = "300ms", aggregates = ["mean", "count", "last"] }"#,
        r#"{ kind = "top_devices", share = 0.5, window = "300ms", devices = "all" }"#,
        r#"{ kind = "mean_device", share = 0.5 }"#,
        r#"{ kind = "read_latest", share = 0.5 }"#,
    ] {
        let text = LOAD.replace(SEVEN, &format!("[{{ kind = \"write\", datapoints = 7, share = 0.5 }}, {read}]"));
        for (name, layout) in [
            ("memory", "layout=wide"),
            ("sqlite", "layout=wide"),
            ("sqlite", "layout=narrow"),
            ("sqlite", "layout=document"),
        ] {
            // As many that write as that read, whichever is quicker.
            let load = r#"groups.0.load={ model = "closed", users = 4, think_time = "2ms" }"#;
            let set = ["phases.preload=35", load, "phases.operations=600", layout];
            let ran = run_fully(backend(name), &text, &set);
            let answers = ran.0.reading.answers.as_ref().unwrap();
            assert_eq!((answers.wrong, answers.not_judged), (0, 0), "{name} {layout} {read}: {:?}", answers.examples);
            assert!(answers.right > 20, "{name} {layout} {read}: {answers:?}");
            assert_all_there(&ran, read);
            assert!(ran.0.stored.schema_change.is_some(), "{name} {layout} {read}");
        }
    }
}

#[test]
fn what_cannot_be_judged_is_refused_and_its_key_named() {
    let refused = |backend: &str, set: &[&str]| planned_on(backend, LOAD, set).unwrap_err();
    for (read, why) in [
        (r#"{ kind = "read_device" }"#, "reads whole records"),
        (r#"{ kind = "filter_records", above = 0.0 }"#, "reads whole records"),
        (r#"{ kind = "read_signal", signals = ["digital"] }"#, "signals that are added"),
    ] {
        let reads = LOAD.replace(SEVEN, &format!("[{{ kind = \"write\", datapoints = 7 }}, {read}]"));
        let refused = planned_on("memory", &reads, &["phases.preload=10"]).unwrap_err();
        assert!(refused.contains("dataset.added_signals") && refused.contains(why), "{read}: {refused}");
    }
    let only_reads = LOAD.replace(SEVEN, r#"[{ kind = "read_signal" }]"#);
    let only_reads = planned_on("memory", &only_reads, &["phases.preload=10"]).unwrap_err();
    assert!(only_reads.contains("no operation of this workload writes"), "{only_reads}");
    let search = refused("memory", &["ramp.steps=[1, 2]"]);
    assert!(search.contains("dataset.added_signals") && search.contains("give a fixed load"), "{search}");
    let uneven = refused("memory", &["dataset.added_signals.after=75"]);
    assert!(uneven.contains("dataset.added_signals.after") && uneven.contains("give 70 or 77"), "{uneven}");
    let uneven = refused("memory", &["dataset.added_signals.after=75", "phases.preload=72"]);
    assert!(uneven.contains("give 72 or 79"), "{uneven}");
    let history = refused("memory", &["phases.preload=71"]);
    assert!(history.contains("dataset.added_signals.after") && history.contains("lies in the history"), "{history}");
    for (load, operations) in [
        (r#"{ model = "paced", rate = 200, queue = "10000B", message = "100B" }"#, r#"[{ kind = "write" }]"#),
        (
            r#"{ model = "closed", users = 3, think_time = "100ms" }"#,
            r#"[{ kind = "write", datapoints = "since_last" }]"#,
        ),
    ] {
        let text = LOAD.replace(CLOSED, load).replace(SEVEN, operations).replace("operations = 300\n", "");
        let gathers = planned_on("memory", &text, &[]).unwrap_err();
        assert!(gathers.contains("dataset.added_signals") && gathers.contains("gathered"), "{gathers}");
    }
    for key in
        [r#"dataset.twice={ share = 0.5, after = "20ms" }"#, r#"dataset.corrected={ share = 0.5, after = "20ms" }"#]
    {
        let both = refused("memory", &[key]);
        assert!(both.contains("added_signals") && both.contains("twice or corrected"), "{both}");
    }
    for (signals, says) in [("0", "from 1 to 14"), ("15", "from 1 to 14")] {
        let all = refused("memory", &[&format!("dataset.added_signals.signals={signals}")]);
        assert!(all.contains("added_signals.signals") && all.contains(says), "{all}");
    }
    let not = refused("clickhouse", &["layout=wide"]);
    assert!(not.starts_with("n/a: clickhouse takes no signals in layout wide that are added later:"), "{not}");
}

/// What a database does otherwise than it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// Nothing, but that the change takes so long.
    TakesMs(u64),
    RefusesTheChange,
    /// Where a value is missing it answers with a number.
    AnswersWithZero,
    /// It forgets one value that was added.
    ForgetsOne,
}

struct Odd {
    info: BackendInfo,
    does: Does,
    changes: Arc<AtomicU64>,
}

#[derive(Clone)]
struct OddDatabase {
    inner: Arc<dyn Database>,
    does: Does,
    changes: Arc<AtomicU64>,
}

struct OddReader {
    inner: Box<dyn Reader>,
    does: Does,
}

impl Backend for Odd {
    fn info(&self) -> &BackendInfo {
        &self.info
    }
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let (inner, does, changes) = (backend("memory").open(request)?, self.does, Arc::clone(&self.changes));
        Ok(Arc::new(OddDatabase { inner, does, changes }))
    }
}

#[async_trait]
impl Database for OddDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        self.inner.ping().await
    }
    async fn create(&self) -> Result<(), Error> {
        self.inner.create().await
    }
    async fn count(&self) -> Result<Counts, Error> {
        self.inner.count().await
    }
    async fn drop_created(&self) -> Result<(), Error> {
        self.inner.drop_created().await
    }
    async fn add_signals(&self) -> Result<(), Error> {
        self.changes.fetch_add(1, Ordering::Relaxed);
        match self.does {
            Does::RefusesTheChange => return Err(Error::new(Cause::Server, "no more columns")),
            Does::TakesMs(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            _ => {}
        }
        self.inner.add_signals().await
    }
    async fn has_added_signals(&self) -> Result<bool, Error> {
        self.inner.has_added_signals().await
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(OddWriter(self.inner.writer().await?)))
    }
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(OddReader { inner: self.inner.reader().await?, does: self.does }))
    }
}

/// A writer that answers after a while, so that several are under way at once.
struct OddWriter(Box<dyn Writer>);

#[async_trait]
impl Writer for OddWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        tokio::task::yield_now().await;
        self.0.write(batch).await
    }
}

#[async_trait]
impl Reader for OddReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let (does, mut has_forgotten) = (self.does, false);
        let mut change = |chunk: &Chunk| {
            let mut changed = Chunk::new(chunk.columns.iter().map(ReplyColumn::value_type));
            changed.devices.clone_from(&chunk.devices);
            changed.timestamps_ns.clone_from(&chunk.timestamps_ns);
            for (to, from) in changed.columns.iter_mut().zip(&chunk.columns) {
                for row in 0..from.len() {
                    let value = match (does, from.get(row)) {
                        (Does::AnswersWithZero, None) => Some(Value::F32(0.0)),
                        (_, value) => value,
                    };
                    to.push(value)?;
                }
            }
            if let (Does::ForgetsOne, false, Some(last)) = (does, has_forgotten, changed.columns.last_mut()) {
                let kept = last.clone();
                let forgotten = (0..kept.len()).rev().find(|&row| kept.get(row).is_some());
                has_forgotten = forgotten.is_some();
                *last = ReplyColumn::new(kept.value_type());
                for row in 0..kept.len() {
                    last.push(kept.get(row).filter(|_| Some(row) != forgotten))?;
                }
            }
            sink.push(&changed)
        };
        self.inner.query(query, &mut change).await
    }
}

/// Also how often the change was asked for.
fn odd(does: Does, set: &[&str]) -> ((Outcome, u64), u64) {
    let info = backend("memory").info().clone();
    let changes = Arc::new(AtomicU64::new(0));
    let odd: &'static Odd = Box::leak(Box::new(Odd { info, does, changes: Arc::clone(&changes) }));
    (run_fully(odd, LOAD, set), changes.load(Ordering::Relaxed))
}

/// The database that they write to refuses what it has no column for.
#[test]
fn writers_wait_for_the_change_which_is_made_once() {
    let (ran, changes) = odd(Does::TakesMs(200), &[]);
    assert_eq!((changes, ran.1), (1, 3 * 70), "each user waits, as soon as its device has sent what lies before");
    assert_all_there(&ran, "slow");
    let SchemaChange { from_ns, altered_ns } = ran.0.stored.schema_change.unwrap();
    assert!(altered_ns.unwrap() - from_ns >= 200_000_000, "{:?}", ran.0.stored.schema_change);
}

/// They were never sent: nothing of them is in doubt.
#[test]
fn operations_that_wait_too_long_for_the_change_have_failed() {
    let ((outcome, _), _) = odd(Does::TakesMs(1_500), &["phases.deadline=300ms"]);
    let points = outcome.points;
    assert!(points.failed >= 3 * 7 && points.unknown == 0 && points.acked > 3 * 70, "{points:?}");
    assert_eq!(wrong(&outcome), [0; 4], "{:?}", outcome.verdict);
    assert!(!outcome.verdict.reasons.iter().any(is_of_data), "{:?}", outcome.verdict);
}

#[test]
fn a_change_that_is_refused_ends_the_run() {
    let ((outcome, _), changes) = odd(Does::RefusesTheChange, &["phases.drain=200ms"]);
    assert_eq!(changes, 1);
    let is_told =
        |reason: &Reason| matches!(reason, Reason::Target { message, .. } if message.contains("no more columns"));
    assert!(outcome.verdict.reasons.iter().any(is_told), "{:?}", outcome.verdict);
    assert_eq!((outcome.points.acked, outcome.stored.schema_change.unwrap().altered_ns), (3 * 70, None));
}

#[test]
fn a_value_where_none_was_and_none_where_one_was_are_found() {
    let ((outcome, before), _) = odd(Does::AnswersWithZero, &[]);
    assert_eq!(wrong(&outcome), [0, 0, before, 0], "{:?}", outcome.verdict);
    let detail = outcome.stored.audit.as_ref().unwrap().findings.stretches().next().unwrap().detail.clone();
    assert!(detail.contains("is 0 and was sent as nothing"), "{detail}");
    let ((outcome, _), _) = odd(Does::ForgetsOne, &[]);
    let [lost, duplicate, corrupt, alien] = wrong(&outcome);
    // Each device is read by itself or with others: one value an answer.
    assert!((1..=3).contains(&corrupt) && [lost, duplicate, alien] == [0; 3], "{:?}", outcome.verdict);
    assert!(outcome.verdict.reasons.iter().any(|reason| matches!(reason, Reason::Audit { .. })));
}
