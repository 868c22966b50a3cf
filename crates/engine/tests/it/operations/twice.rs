//! Datapoints that are sent twice: both are stored where both are kept, and nothing else passes for it.

use crate::operations::{
    planned, planned_on,
    scripted::{Act, SUCCEED, Script, Scripted, fail},
};
use async_trait::async_trait;
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Acknowledged, Applied, Backend, BackendInfo, Batch, Cause, Counts, Database, Duplicates, Error, OpenRequest,
    Reader, Registry, Run, ServerFacts, SettingError, Writer,
};
use iotbench_engine::{
    AuditFindings, Event, FindingKind, Observer, Outcome, Reason, Replaced, RunOptions, StopSignal, VerifyMode, run,
};
use iotbench_simulator::Dataset;
use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

const LOAD: &str = r#"
name = "again"
summary = "test"
devices = 3
[dataset]
name = "pmu"
rate = 50.0
jitter = "0s"
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

/// What of it is another in some tests.
const CLOSED: &str = r#"{ model = "closed", users = 3 }"#;
const SEVEN: &str = r#"[{ kind = "write", datapoints = 7 }]"#;

const HALF_AT_ONCE: &str = r#"dataset.twice={ share = 0.5, after = "20ms" }"#;
const FIFTH_LATER: &str = r#"dataset.twice={ share = 0.2, after = "1s" }"#;
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

fn run_fully(backend: &'static dyn Backend, text: &str, set: &[&str]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let planned = planned(backend, folder.path(), text, set);
    let options = RunOptions { verify: VerifyMode::Full, ..RunOptions::default() };
    let outcome = run(planned, backend, options, &mut Silent, &StopSignal::default());
    let points = outcome.points;
    assert_eq!((outcome.load.check(), points.check()), (Ok(()), Ok(())), "{:?}", outcome.verdict);
    let summary = outcome.stored.ledger.as_ref().unwrap().summary().unwrap();
    assert_eq!((summary.points, summary.ended), ([points.acked, points.failed, points.unknown], true), "{points:?}");
    outcome
}

fn backend(name: &str) -> &'static dyn Backend {
    Registry::new(BACKENDS).find(name).unwrap()
}

fn findings(outcome: &Outcome) -> &AuditFindings {
    let audit = outcome.stored.audit.as_ref().unwrap();
    assert_eq!(audit.cut_short, None);
    &audit.findings
}

/// Everything sent was acknowledged, is stored and read back, second sends among it.
fn assert_all_there(outcome: &Outcome, case: &str) {
    let (points, preloaded) = (outcome.points, outcome.preloaded_points);
    assert!(points.sent_again > 0 && points.acked == points.sent, "{case}: {points:?}");
    let found = findings(outcome);
    let wrong = FindingKind::ALL.map(|kind| found.count(kind));
    assert_eq!((found.right(), wrong), (points.acked + preloaded, [0; 6]), "{case}: {:?}", outcome.verdict);
    assert_eq!(outcome.stored.counts.unwrap().points, points.acked + preloaded, "{case}");
    let is_of_data = |reason: &&Reason| {
        matches!(
            reason,
            Reason::Stored { .. } | Reason::StoredValues { .. } | Reason::Audit { .. } | Reason::NotReadBack(_)
        )
    };
    assert_eq!(outcome.verdict.reasons.iter().find(is_of_data), None, "{case}");
}

#[test]
fn second_sends_are_counted_stored_and_read_back() {
    let per_mille = |outcome: &Outcome| outcome.points.sent_again * 1_000 / outcome.points.sent;
    // Of one device each user sends every third seven, in which are two or three second sends, or one or two: the share is between these,
    // however unlike their turns are.
    let of_users = [("devices=3", 300..370, 100..170), ("devices=1", 280..430, 100..290)];
    for name in ["memory", "sqlite"] {
        for (devices, of_half, of_fifth) in of_users.clone() {
            // Users of one device may leave out a first send at the end whose second one was another's.
            let is_whole = |outcome: &Outcome| {
                let known = outcome.acked().len() + outcome.points.sent_again;
                known == outcome.points.acked || (devices == "devices=1" && known > outcome.points.acked)
            };
            let half = run_fully(backend(name), LOAD, &[devices, HALF_AT_ONCE]);
            assert_all_there(&half, name);
            assert!(of_half.contains(&per_mille(&half)) && is_whole(&half), "{name}: {:?}", half.points);
            let fifth = run_fully(backend(name), LOAD, &[devices, FIFTH_LATER]);
            assert_all_there(&fifth, name);
            assert!(of_fifth.contains(&per_mille(&fifth)) && is_whole(&fifth), "{name}: {:?}", fifth.points);
            for (twice, layout) in [(HALF_AT_ONCE, "layout=document"), (FIFTH_LATER, "layout=bulk")] {
                let set = [&[devices, twice, layout, "phases.preload=90"], &DIRTY[..]].concat();
                assert_all_there(&run_fully(backend(name), LOAD, &set), layout);
            }
        }
    }
}

/// In one request both sends lie, or neither; the history is sent once, and a part of it again by the load.
#[test]
fn a_history_is_sent_once_and_its_second_sends_are_the_loads() {
    let outcome = run_fully(
        backend("memory"),
        LOAD,
        &["phases.preload=1000", FIFTH_LATER, "groups.0.operations.0.datapoints=100"],
    );
    assert_all_there(&outcome, "history");
    let of_history = outcome.acked().iter().flat_map(|(_, indices)| indices).filter(|&index| index < 1000).count();
    // Fifty datapoints of each device before the load are due again in it, of which a fifth are sent twice.
    assert_eq!((outcome.preloaded_points, of_history), (3000, 30));
}

#[test]
fn sensors_and_devices_that_gather_send_twice_too() {
    let kinds = [
        (r#"{ model = "paced", rate = 200, queue = "10000B", message = "100B" }"#, r#"[{ kind = "write" }]"#),
        (
            r#"{ model = "closed", users = 3, think_time = "100ms" }"#,
            r#"[{ kind = "write", datapoints = "since_last" }]"#,
        ),
    ];
    for (load, operations) in kinds {
        let text = LOAD.replace(CLOSED, load).replace(SEVEN, operations).replace("operations = 300\n", "");
        let outcome = run_fully(backend("memory"), &text, &[HALF_AT_ONCE, "phases.duration=2s"]);
        assert_all_there(&outcome, load);
    }
}

/// Requests fail, are stored in part and stay without an answer, first sends and second ones.
#[test]
fn counts_balance_whatever_becomes_of_the_first_or_the_second_send() {
    let write = |number: u64| match number % 10 {
        3 => fail(Cause::Server, Applied::No),
        5 => fail(Cause::Connect, Applied::Maybe),
        7 => fail(Cause::Data, Applied::Rows(vec![0, 2, 5])),
        8 => Act::Succeed(Duration::from_millis(1)),
        _ => SUCCEED,
    };
    let scripted = Scripted::new(Script { write, commit: |_| SUCCEED });
    let outcome = run_fully(scripted, LOAD, &["devices=1", HALF_AT_ONCE]);
    let (points, stored) = (outcome.points, outcome.stored.counts.unwrap().points);
    assert!(points.failed > 0 && points.unknown > 0 && points.sent_again > 0, "{points:?}");
    assert!((points.acked..=points.acked + points.unknown).contains(&stored), "{stored} stored, {points:?}");
    assert!(
        !outcome.verdict.reasons.iter().any(|reason| matches!(reason, Reason::Stored { .. })),
        "{:?}",
        outcome.verdict
    );
}

#[test]
fn what_cannot_be_judged_is_refused_and_its_key_named() {
    let refused = |backend: &str, set: &[&str]| planned_on(backend, LOAD, set).unwrap_err();
    let reads = LOAD.replace(SEVEN, r#"[{ kind = "read_device" }]"#);
    let reads = planned_on("memory", &reads, &[HALF_AT_ONCE, "phases.preload=10"]).unwrap_err();
    assert!(reads.contains("dataset.twice") && reads.contains("no operation of this workload writes"), "{reads}");
    let narrow = refused("sqlite", &[HALF_AT_ONCE, "layout=narrow"]);
    assert!(narrow.contains("dataset.twice") && narrow.contains("layout narrow"), "{narrow}");
    let ramp = "ramp.steps=[1, 2]";
    for name in ["influxdb", "influxdb2", "kairosdb"] {
        let search = planned_on(name, LOAD, &[HALF_AT_ONCE, ramp]).unwrap_err();
        assert!(search.contains("dataset.twice") && search.contains("give a fixed load"), "{name}: {search}");
        // No server is named here: that is all that is wrong with a fixed load.
        let fixed = planned_on(name, LOAD, &[HALF_AT_ONCE]).unwrap_err();
        assert!(fixed.contains("url") && !fixed.contains("twice"), "{name}: {fixed}");
    }
    for (set, key) in [
        (r#"dataset.twice={ share = 0.5, after = "1ms" }"#, "twice.after"),
        (r#"dataset.twice={ share = 0.6, after = "1s" }"#, "twice.share"),
        (r#"dataset.twice={ share = 0.1 }"#, "after"),
    ] {
        let error = refused("memory", &[set]);
        assert!(error.contains(key), "{set}: {error}");
    }
}

/// What a database does with what it is sent, whatever it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    /// It keeps the first.
    KeepsOne,
    /// It keeps both.
    KeepsBoth,
    /// It stores what is sent once a second time, in its first request.
    DoublesOthers,
    /// It keeps the first, and of ten requests one is refused, one is stored without an answer and one is lost without one.
    KeepsOneAndFails,
    /// As it, and once it has seen a hundred datapoints it loses one that it acknowledges.
    LosesOne,
}

struct Liar {
    info: BackendInfo,
    does: Does,
}

#[derive(Clone)]
struct Untrue {
    inner: Arc<dyn Database>,
    does: Does,
    requests: Arc<AtomicU64>,
    dataset: Arc<dyn Dataset>,
    seen: Arc<Mutex<HashSet<(u32, u64)>>>,
    lost: Arc<AtomicBool>,
}

struct UntrueWriter {
    inner: Box<dyn Writer>,
    of: Untrue,
}

impl Backend for Liar {
    fn info(&self) -> &BackendInfo {
        &self.info
    }
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let dataset = planned_on("memory", LOAD, &[HALF_AT_ONCE]).unwrap().dataset;
        let inner = backend("memory").open(request)?;
        Ok(Arc::new(Untrue {
            inner,
            does: self.does,
            requests: Arc::default(),
            dataset,
            seen: Arc::default(),
            lost: Arc::default(),
        }))
    }
}

#[async_trait]
impl Database for Untrue {
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
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(UntrueWriter { inner: self.inner.writer().await?, of: self.clone() }))
    }
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        self.inner.reader().await
    }
}

#[async_trait]
impl Writer for UntrueWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        let mut stored = Batch::new(self.of.dataset.schema());
        let fails = matches!(self.of.does, Does::KeepsOneAndFails | Does::LosesOne);
        let request = if fails { self.of.requests.fetch_add(1, Ordering::Relaxed) % 10 } else { 0 };
        let error = |applied| Err(Error::new(Cause::Server, "as the test says").applied(applied));
        match request {
            3 => return error(Applied::No),
            7 => return error(Applied::Maybe),
            _ => {}
        }
        let is_first = self.of.seen.lock().unwrap().is_empty();
        for (device, index) in batch.runs().iter().flat_map(|run| run.indices().map(|index| (run.device, index))) {
            let (is_new, seen) = {
                let mut seen = self.of.seen.lock().unwrap();
                (seen.insert((device, index)), seen.len())
            };
            let is_once = !self.of.dataset.twice().unwrap().is_of(device, index);
            let times = match self.of.does {
                Does::LosesOne if is_new && is_once && request != 5 => {
                    u32::from(seen <= 100 || self.of.lost.swap(true, Ordering::Relaxed))
                }
                Does::KeepsOne | Does::KeepsOneAndFails | Does::LosesOne => u32::from(is_new),
                Does::KeepsBoth => 1,
                Does::DoublesOthers => 1 + u32::from(is_first && is_once),
            };
            (0..times).for_each(|_| self.of.dataset.fill(Run { device, first: index, count: 1 }, &mut stored));
        }
        let acknowledged = if stored.is_empty() { None } else { Some(self.inner.write(&stored).await?) };
        match request {
            5 => error(Applied::Maybe),
            _ => Ok(Acknowledged { points: batch.len() as u64, ..acknowledged.unwrap_or_default() }),
        }
    }
}

fn of_memory(says: Duplicates, does: Does) -> Outcome {
    let mut info = backend("memory").info().clone();
    info.capabilities.duplicates = says;
    let liar: &'static Liar = Box::leak(Box::new(Liar { info, does }));
    run_fully(liar, LOAD, &[HALF_AT_ONCE, "phases.preload=20"])
}

fn is_of(outcome: &Outcome, what: fn(&Reason) -> bool) -> bool {
    outcome.verdict.reasons.iter().any(what)
}

fn is_of_counts(reason: &Reason) -> bool {
    matches!(reason, Reason::Stored { .. })
}

fn is_of_audit(reason: &Reason) -> bool {
    matches!(reason, Reason::Audit { .. })
}

#[test]
fn a_database_that_keeps_one_of_two_or_doubles_others_is_found_out() {
    for does in [Does::KeepsOne, Does::DoublesOthers] {
        let outcome = of_memory(Duplicates::Keep, does);
        let found = findings(&outcome);
        let [lost, duplicate] = [FindingKind::Lost, FindingKind::Duplicate].map(|kind| found.count(kind));
        let stored = outcome.stored.counts.unwrap().points;
        let sent = outcome.preloaded_points + outcome.points.acked;
        match does {
            Does::DoublesOthers => assert!((1..=60).contains(&duplicate) && lost == 0, "{duplicate} {lost}"),
            _ => {
                assert_eq!((lost, duplicate), (outcome.points.sent_again, 0));
                assert_eq!(stored, sent - outcome.points.sent_again);
            }
        }
        assert!(is_of(&outcome, is_of_counts) && is_of(&outcome, is_of_audit), "{does:?}: {:?}", outcome.verdict);
    }
}

#[test]
fn where_one_of_two_is_kept_each_datapoint_has_to_be_there_once() {
    for says in [Duplicates::Overwrite, Duplicates::Reject] {
        let outcome = of_memory(says, Does::KeepsOne);
        let (points, once) =
            (outcome.points, outcome.preloaded_points + outcome.points.acked - outcome.points.sent_again);
        assert!(points.sent_again > 0 && points.acked == points.sent, "{points:?}");
        assert_eq!(outcome.stored.replaced, Replaced { acked: points.sent_again, sent: points.sent_again });
        assert_eq!((outcome.stored.counts.unwrap().points, findings(&outcome).right()), (once, once));
        assert!(!is_of(&outcome, is_of_counts) && !is_of(&outcome, is_of_audit), "{:?}", outcome.verdict);

        let both = of_memory(says, Does::KeepsBoth);
        assert_eq!(findings(&both).count(FindingKind::Duplicate), both.points.sent_again);
        assert!(is_of(&both, is_of_counts) && is_of(&both, is_of_audit), "{:?}", both.verdict);
    }
}

/// Whatever becomes of the first send or the second, so many are expected as were stored, and one that lacks is missed.
#[test]
fn where_one_of_two_is_kept_failures_do_not_blur_the_count() {
    let outcome = of_memory(Duplicates::Overwrite, Does::KeepsOneAndFails);
    let (points, replaced) = (outcome.points, outcome.stored.replaced);
    assert!(points.failed > 0 && points.unknown > 0 && replaced.acked > 0, "{points:?}");
    assert!(replaced.acked < points.sent_again && replaced.sent > replaced.acked, "{replaced:?} {points:?}");
    let found = findings(&outcome);
    let in_doubt = [FindingKind::UnknownPresent, FindingKind::UnknownAbsent].map(|kind| found.count(kind));
    let sends = outcome.preloaded_points + points.acked;
    assert_eq!(found.right(), sends - replaced.acked);
    assert_eq!(in_doubt.iter().sum::<u64>() + found.right(), sends + points.unknown - replaced.sent);
    assert_eq!(outcome.stored.counts.unwrap().points, found.right() + in_doubt[0]);
    assert!(!is_of(&outcome, is_of_counts) && !is_of(&outcome, is_of_audit), "{:?}", outcome.verdict);

    let loses = of_memory(Duplicates::Overwrite, Does::LosesOne);
    assert_eq!(findings(&loses).count(FindingKind::Lost), 1);
    assert!(is_of(&loses, is_of_audit), "{:?}", loses.verdict);
}
