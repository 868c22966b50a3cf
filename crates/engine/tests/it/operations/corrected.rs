//! Datapoints that are sent wrong and then right: what is stored is what the database says that it keeps, and nothing else passes
//! for it.

use crate::operations::{planned, planned_on};
use async_trait::async_trait;
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Acknowledged, Applied, Backend, BackendInfo, Batch, Cause, Chunk, Counts, Database, Duplicates, Error, OpenRequest,
    Query, Reader, Registry, Reply, ReplyColumn, Run, ServerFacts, SettingError, Sink, Writer,
};
use iotbench_engine::{
    AuditFindings, Event, FindingKind, Observer, Outcome, Reason, RunOptions, StopSignal, VerifyMode, run,
};
use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

const LOAD: &str = r#"
name = "corrected"
summary = "test"
devices = 3
[dataset]
name = "pmu"
rate = 50.0
jitter = "5ms"
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

const HALF_AT_ONCE: &str = r#"dataset.corrected={ share = 0.5, after = "20ms" }"#;
const FIFTH_LATER: &str = r#"dataset.corrected={ share = 0.2, after = "1s" }"#;
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
    assert_eq!((outcome.load.check(), outcome.points.check()), (Ok(()), Ok(())), "{:?}", outcome.verdict);
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

fn wrong(outcome: &Outcome) -> [u64; 4] {
    let kinds = [FindingKind::Lost, FindingKind::Duplicate, FindingKind::Corrupt, FindingKind::Alien];
    kinds.map(|kind| findings(outcome).count(kind))
}

fn is_of_data(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::Stored { .. } | Reason::StoredValues { .. } | Reason::Audit { .. } | Reason::NotReadBack(_)
    )
}

/// Everything sent was acknowledged, and what is to be stored of it is, as it was counted and read back.
fn assert_all_there(outcome: &Outcome, stored: u64, case: &str) {
    let points = outcome.points;
    assert!(points.sent_again > 0 && points.acked == points.sent, "{case}: {points:?}");
    assert_eq!((findings(outcome).right(), wrong(outcome)), (stored, [0; 4]), "{case}: {:?}", outcome.verdict);
    assert_eq!(outcome.stored.counts.unwrap().points, stored, "{case}");
    assert_eq!(outcome.verdict.reasons.iter().find(|reason| is_of_data(reason)), None, "{case}");
}

#[test]
fn where_both_are_kept_the_wrong_values_and_the_right_ones_are_stored() {
    for name in ["memory", "sqlite"] {
        for devices in ["devices=3", "devices=1"] {
            for corrected in [HALF_AT_ONCE, FIFTH_LATER] {
                let outcome = run_fully(backend(name), LOAD, &[devices, corrected]);
                assert_all_there(&outcome, outcome.points.acked, name);
            }
            for (corrected, layout) in [(HALF_AT_ONCE, "layout=document"), (FIFTH_LATER, "layout=bulk")] {
                let set = [&[devices, corrected, layout, "phases.preload=90"], &DIRTY[..]].concat();
                let outcome = run_fully(backend(name), LOAD, &set);
                assert_all_there(&outcome, outcome.points.acked + outcome.preloaded_points, layout);
            }
        }
    }
}

/// What the history holds is right from the start: what of it is corrected in the load is sent the same.
#[test]
fn a_history_is_corrected_already() {
    let set = ["phases.preload=1000", FIFTH_LATER, "groups.0.operations.0.datapoints=100"];
    let outcome = run_fully(backend("memory"), LOAD, &set);
    assert_all_there(&outcome, outcome.points.acked + outcome.preloaded_points, "history");
}

/// Which row of an operation is in which request, and which of them failed, moves none of the two sends.
#[test]
fn operations_of_several_requests_tell_both_sends_too() {
    for operation in [
        r#"[{ kind = "write", datapoints = 3, requests = 4 }]"#,
        r#"[{ kind = "write", datapoints = 3, requests = 4, transaction = true }]"#,
    ] {
        let text = LOAD.replace(SEVEN, operation);
        for name in ["memory", "sqlite"] {
            let outcome = run_fully(backend(name), &text, &[HALF_AT_ONCE]);
            assert_all_there(&outcome, outcome.points.acked, name);
        }
    }
}

#[test]
fn what_cannot_be_judged_is_refused_and_its_key_named() {
    let refused = |backend: &str, set: &[&str]| planned_on(backend, LOAD, set).unwrap_err();
    let narrow = refused("sqlite", &[HALF_AT_ONCE, "layout=narrow"]);
    assert!(narrow.contains("dataset.corrected") && narrow.contains("layout narrow"), "{narrow}");
    let search = refused("influxdb", &[HALF_AT_ONCE, "ramp.steps=[1, 2]"]);
    assert!(search.contains("dataset.corrected") && search.contains("give a fixed load"), "{search}");
    let both = refused("memory", &[HALF_AT_ONCE, r#"dataset.twice={ share = 0.5, after = "20ms" }"#]);
    assert!(both.contains("corrected") && both.contains("twice"), "{both}");
    let share = refused("memory", &[r#"dataset.corrected={ share = 0.6, after = "1s" }"#]);
    assert!(share.contains("corrected.share"), "{share}");
}

/// Which of two datapoints of the same device and time a database gives back, whatever it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeps {
    First,
    Last,
    Both,
    /// As `Last`, but for one of them.
    LastButOne,
    /// As `Last`, and of ten requests one is refused, one is stored without an answer, one is lost without one and one is stored in part.
    LastAndFails,
    /// As `LastAndFails`, and where both were acknowledged it keeps the first of one of them.
    FailsAndLies,
}

struct Keeper {
    info: BackendInfo,
    keeps: Keeps,
}

#[derive(Clone)]
struct Kept {
    inner: Arc<dyn Database>,
    keeps: Keeps,
    requests: Arc<AtomicU64>,
    /// What was acknowledged and what was stored, by device and index.
    acked: Arc<Mutex<HashSet<(u32, u64)>>>,
    stored: Arc<Mutex<HashSet<(u32, u64)>>>,
    /// Device and time of datapoints of which both sends were acknowledged.
    both_acked: Arc<Mutex<HashSet<(u32, i64)>>>,
}

struct KeptWriter {
    inner: Box<dyn Writer>,
    of: Kept,
}

struct KeptReader {
    inner: Box<dyn Reader>,
    of: Kept,
}

impl Backend for Keeper {
    fn info(&self) -> &BackendInfo {
        &self.info
    }
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        let (inner, keeps) = (backend("memory").open(request)?, self.keeps);
        let (requests, acked, stored, both_acked) = Default::default();
        Ok(Arc::new(Kept { inner, keeps, requests, acked, stored, both_acked }))
    }
}

#[async_trait]
impl Database for Kept {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        self.inner.ping().await
    }
    async fn create(&self) -> Result<(), Error> {
        self.inner.create().await
    }
    async fn count(&self) -> Result<Counts, Error> {
        let Counts { points, values } = self.inner.count().await?;
        let one_each = self.stored.lock().unwrap().len() as u64;
        Ok(match self.keeps {
            Keeps::Both => Counts { points, values },
            _ => Counts { points: one_each, values: values / points.max(1) * one_each },
        })
    }
    async fn drop_created(&self) -> Result<(), Error> {
        self.inner.drop_created().await
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(KeptWriter { inner: self.inner.writer().await?, of: self.clone() }))
    }
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(KeptReader { inner: self.inner.reader().await?, of: self.clone() }))
    }
}

#[async_trait]
impl Writer for KeptWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        let fails = matches!(self.of.keeps, Keeps::LastAndFails | Keeps::FailsAndLies);
        let request = if fails { self.of.requests.fetch_add(1, Ordering::Relaxed) % 10 } else { 0 };
        let error = |applied| Err(Error::new(Cause::Server, "as the test says").applied(applied));
        match request {
            3 => return error(Applied::No),
            7 => return error(Applied::Maybe),
            _ => {}
        }
        let rows: Vec<u32> =
            (0..u32::try_from(batch.len()).unwrap()).filter(|row| request != 8 || row % 3 != 1).collect();
        let batch = &part(batch, &rows);
        let written = if batch.is_empty() { Acknowledged::default() } else { self.inner.write(batch).await? };
        let identities = batch.runs().iter().flat_map(|run| run.indices().map(|index| (run.device, index)));
        for ((device, index), &ns) in identities.zip(batch.timestamps_ns()) {
            self.of.stored.lock().unwrap().insert((device, index));
            // The second of them in another request, after the first one's answer.
            if request != 5 && !self.of.acked.lock().unwrap().insert((device, index)) {
                self.of.both_acked.lock().unwrap().insert((device, ns));
            }
        }
        match request {
            5 => error(Applied::Maybe),
            // In any order.
            8 => error(Applied::Rows(rows.into_iter().rev().collect())),
            _ => Ok(written),
        }
    }
}

/// Some rows of a batch.
fn part(batch: &Batch, rows: &[u32]) -> Batch {
    let mut part = batch.clone();
    part.clear();
    let identities: Vec<(u32, u64)> =
        batch.runs().iter().flat_map(|run| run.indices().map(|index| (run.device, index))).collect();
    for row in rows.iter().map(|&row| row as usize) {
        let (device, first) = identities[row];
        part.append(Run { device, first, count: 1 }, |timestamps_ns, columns| {
            timestamps_ns.push(batch.timestamps_ns()[row]);
            for (place, column) in columns.iter_mut().enumerate() {
                assert!(column.push(batch.value(place, row).unwrap()));
            }
        });
    }
    part
}

#[async_trait]
impl Reader for KeptReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut all: Option<Chunk> = None;
        let mut gather = |chunk: &Chunk| match &mut all {
            Some(all) => all.append(chunk),
            None => {
                all = Some(chunk.clone());
                Ok(())
            }
        };
        let reply = self.inner.query(query, &mut gather).await?;
        let Some(all) = all else { return Ok(reply) };
        let mut kept = Chunk::new(all.columns.iter().map(ReplyColumn::value_type));
        let of = |row: usize| (all.devices[row], all.timestamps_ns[row]);
        let (mut row, mut has_lied) = (0, false);
        while row < all.len() {
            let end = (row..all.len()).find(|&other| of(other) != of(row)).unwrap_or(all.len());
            let is_known = end - row > 1 && self.of.both_acked.lock().unwrap().contains(&of(row));
            let lies = match self.of.keeps {
                Keeps::LastButOne => end - row > 1,
                Keeps::FailsAndLies => is_known,
                _ => false,
            };
            let rows = match self.of.keeps {
                Keeps::Both => row..end,
                Keeps::First => row..row + 1,
                _ if lies && !has_lied => {
                    has_lied = true;
                    row..row + 1
                }
                _ => end - 1..end,
            };
            for row in rows {
                kept.devices.push(all.devices[row]);
                kept.timestamps_ns.push(all.timestamps_ns[row]);
                for (to, from) in kept.columns.iter_mut().zip(&all.columns) {
                    to.push(from.get(row))?;
                }
            }
            row = end;
        }
        sink.push(&kept)?;
        Ok(reply)
    }
}

fn kept(says: Duplicates, keeps: Keeps, set: &[&str]) -> Outcome {
    let mut info = backend("memory").info().clone();
    info.capabilities.duplicates = says;
    let keeper: &'static Keeper = Box::leak(Box::new(Keeper { info, keeps }));
    run_fully(keeper, LOAD, &[&[HALF_AT_ONCE, "phases.preload=20"], set].concat())
}

fn is_found_out(outcome: &Outcome) -> bool {
    outcome.verdict.reasons.iter().any(|reason| matches!(reason, Reason::Audit { .. }))
}

#[test]
fn where_one_is_kept_it_is_the_one_that_the_database_says() {
    for (says, keeps) in [(Duplicates::Overwrite, Keeps::Last), (Duplicates::Reject, Keeps::First)] {
        for set in [&[][..], &["devices=1"], &["groups.0.operations.0.datapoints=1"]] {
            let outcome = kept(says, keeps, set);
            let points = outcome.points;
            let stored = outcome.preloaded_points + points.acked - outcome.stored.replaced.acked;
            assert_all_there(&outcome, stored, &format!("{says:?} {set:?}"));
        }
    }
}

/// Every correction that came in a request of its own is missing, or there where it is not to be.
#[test]
fn a_database_that_keeps_the_other_one_is_found_out() {
    let one_each = "groups.0.operations.0.datapoints=1";
    for (says, keeps) in [(Duplicates::Overwrite, Keeps::First), (Duplicates::Reject, Keeps::Last)] {
        let outcome = kept(says, keeps, &[one_each]);
        let [lost, duplicate, corrupt, alien] = wrong(&outcome);
        // Of the history nothing is corrected.
        let corrected = outcome.points.sent_again;
        assert!(corrupt > corrected / 2 && corrupt <= corrected, "{corrupt} of {corrected}");
        assert_eq!((lost, duplicate, alien), (0, 0, 0));
        assert!(is_found_out(&outcome), "{:?}", outcome.verdict);
        let detail = findings(&outcome).stretches().next().unwrap().detail.clone();
        assert!(detail.contains("was sent as") && detail.contains("corrected to"), "{detail}");
    }
    let both = kept(Duplicates::Overwrite, Keeps::Both, &[one_each]);
    let [_, duplicate, corrupt, alien] = wrong(&both);
    assert!(is_found_out(&both) && corrupt == 0, "{:?}", both.verdict);
    assert_eq!(duplicate + alien, both.points.sent_again);
    for keeps in [Keeps::First, Keeps::Last] {
        let one = kept(Duplicates::Keep, keeps, &[]);
        assert_eq!(wrong(&one), [one.points.sent_again, 0, 0, 0], "{keeps:?}");
        assert!(is_found_out(&one), "{:?}", one.verdict);
    }
    let one = kept(Duplicates::Overwrite, Keeps::LastButOne, &[one_each, "phases.preload=0"]);
    // Each device is read by itself or with others: one lie an answer.
    assert!((1..=3).contains(&wrong(&one)[2]) && is_found_out(&one), "{:?}", one.verdict);
}

#[test]
fn failures_between_the_two_sends_blur_nothing_that_is_known() {
    let one_each = "groups.0.operations.0.datapoints=1";
    let three_requests = "groups.0.operations.0.requests=3";
    for set in [&[one_each][..], &[], &["devices=1"], &[three_requests], &[three_requests, "devices=1"]] {
        let outcome = kept(Duplicates::Overwrite, Keeps::LastAndFails, set);
        assert!(outcome.points.failed > 0 && outcome.points.unknown > 0, "{:?}", outcome.points);
        assert_eq!(wrong(&outcome), [0; 4], "{set:?}: {:?}", outcome.verdict);
        assert!(!outcome.verdict.reasons.iter().any(is_of_data), "{set:?}: {:?}", outcome.verdict);
    }
    let lies = kept(Duplicates::Overwrite, Keeps::FailsAndLies, &[one_each, "phases.preload=0"]);
    assert!(wrong(&lies)[2] >= 1 && is_found_out(&lies), "{:?}", lies.verdict);
}
