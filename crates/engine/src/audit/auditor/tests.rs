//! Audits of a database that is a list of rows, in time that passes only where its answers say so.

use super::super::windows::WINDOW;
use super::*;
use crate::{
    ledger::{Fates, Journal, MemoryLedger},
    plan::{PlanRequest, plan},
    profile_file::parse_profile,
};
use iotbench_backends::BACKENDS;
use iotbench_core::{Batch, Column, ComputedBy, Registry, Reply, Run, Sink, Target};
use std::path::Path;

/// What a database holds, and how it answers.
#[derive(Default)]
pub(in crate::audit) struct Stored {
    /// Device and time of each row, in order.
    pub(in crate::audit) rows: Vec<(u32, i64)>,
    /// Those whose answer ends with an error.
    unreadable: BTreeSet<(u32, i64)>,
    /// How long each answer takes.
    takes: Duration,
    /// What every answer ends with.
    fails: Option<Error>,
    /// Whether rows come in the wrong order.
    backwards: bool,
    asked: u32,
}

impl Stored {
    pub(in crate::audit) fn of(rows: Vec<(u32, i64)>) -> Self {
        Self { rows, ..Self::default() }
    }
}

/// A reader of it that knows what was sent.
pub(in crate::audit) struct Script<'a> {
    pub(in crate::audit) dataset: Arc<dyn Dataset>,
    pub(in crate::audit) stored: &'a mut Stored,
}

#[async_trait::async_trait]
impl Reader for Script<'_> {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let Query::Range { devices: Devices::Some(devices), range, .. } = query else { panic!("{query:?}") };
        self.stored.asked += 1;
        tokio::time::sleep(self.stored.takes).await;
        if let Some(error) = &self.stored.fails {
            return Err(error.clone());
        }
        let is_asked = |(device, ns): &&(u32, i64)| devices.contains(device) && range.contains(*ns);
        let mut rows: Vec<(u32, i64)> = self.stored.rows.iter().filter(is_asked).copied().collect();
        if self.stored.backwards {
            rows.reverse();
        }
        for row in &rows {
            if self.stored.unreadable.contains(row) {
                return Err(unreadable());
            }
            sink.push(&self.chunk(*row)).map_err(|error| error.action(Action::RetryMayHelp))?;
        }
        Ok(Reply { rows: rows.len() as u64, bytes: 0, computed_by: ComputedBy::Server })
    }
}

fn unreadable() -> Error {
    Error::new(Cause::Protocol, "a number of 9 bits").action(Action::RetryMayHelp)
}

impl Script<'_> {
    /// A row with the values of the datapoint before its time.
    fn chunk(&self, (device, ns): (u32, i64)) -> Chunk {
        let mut batch = Batch::new(self.dataset.schema());
        let first = self.dataset.index_at(device, ns.saturating_add(1)).saturating_sub(1);
        self.dataset.fill(Run { device, first, count: 1 }, &mut batch);
        let mut chunk = Chunk::new(batch.columns().iter().map(Column::value_type));
        chunk.devices.push(device);
        chunk.timestamps_ns.push(ns);
        for (place, column) in chunk.columns.iter_mut().enumerate() {
            column.push(batch.value(place, 0)).unwrap();
        }
        chunk
    }
}

/// A run of so many devices, with what its ledger says of them.
pub(in crate::audit) struct Written {
    pub(in crate::audit) planned: Planned,
    pub(in crate::audit) ledger: Ledger,
}

impl Written {
    fn new(devices: u32, fates: &[(Fate, Run)]) -> Self {
        let text = "name = \"t\"\nsummary = \"t\"\n[dataset]\nname = \"pmu\"\n[[groups]]\nname = \"g\"\n\
                    load = { model = \"closed\", users = 1 }\noperations = [{ kind = \"write\", datapoints = 1 }]\n";
        let request = PlanRequest {
            profile: parse_profile("t.toml", text).unwrap(),
            profile_file: "t.toml".into(),
            base: Path::new("."),
            run_id: "t".into(),
            target: Target { folder: Some("nowhere".into()), ..Target::default() },
            now_ns: 0,
        };
        let mut planned = plan(request, Registry::new(BACKENDS).find("blackhole").unwrap()).unwrap();
        planned.plan.table.devices = devices;
        planned.dataset = planned.plan.profile.dataset.open(1, 0, devices, Path::new(".")).unwrap();
        let store = Arc::new(MemoryLedger::default());
        let mut journal = Journal::begin(store.clone(), &"head").unwrap();
        let mut noted = Fates::default();
        fates.iter().for_each(|&(fate, run)| noted.note(fate, [run]));
        journal.note(&mut noted).unwrap();
        journal.flush().unwrap();
        journal.end().unwrap();
        Self { planned, ledger: Ledger::new(store) }
    }

    /// All of these devices with the datapoints 0 to `points`, acknowledged.
    pub(in crate::audit) fn whole(devices: u32, points: u32) -> (Self, Stored) {
        let runs: Vec<_> = (0..devices).map(|device| (Fate::Acked, Run { device, first: 0, count: points })).collect();
        let written = Self::new(devices, &runs);
        let row = |device| (0..u64::from(points)).map(move |index| (device, index));
        let rows = (0..devices).flat_map(row).map(|(device, index)| (device, written.ns(device, index))).collect();
        (written, Stored { rows, ..Stored::default() })
    }

    fn ns(&self, device: u32, index: u64) -> i64 {
        self.planned.dataset.timestamp_ns(device, index)
    }

    fn audit(&self, scope: AuditScope, stored: &mut Stored, counted: Option<u64>) -> Result<Audit, Error> {
        self.audit_until(scope, stored, counted, &|| false)
    }

    fn audit_until(
        &self,
        scope: AuditScope,
        stored: &mut Stored,
        counted: Option<u64>,
        stops: &(dyn Fn() -> bool + Sync),
    ) -> Result<Audit, Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let info = Registry::new(BACKENDS).find("memory").unwrap().info();
        let request = AuditRequest::new(&self.planned, &self.ledger, info, scope);
        let patience = Duration::from_secs(3);
        let mut script = Script { dataset: Arc::clone(&self.planned.dataset), stored };
        runtime.block_on(async {
            let auditor = Auditor::new(AuditRequest { stops, patience, ..request })?;
            auditor.audit(&mut script, counted).await
        })
    }
}

fn counts(audit: &Audit) -> Vec<(Kind, u64)> {
    let counts = Kind::ALL.map(|kind| (kind, audit.findings.count(kind)));
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

#[test]
fn all_devices_are_read_and_what_is_counted_beyond_them_is_elsewhere() {
    let (written, mut stored) = Written::whole(100, 7);
    let audit = written.audit(AuditScope::Full, &mut stored, Some(700)).unwrap();
    assert_eq!((audit.rows, audit.findings.right(), audit.devices, audit.of_devices), (700, 700, 100, 100));
    assert_eq!((counts(&audit), audit.cut_short.clone(), audit.ended), (vec![], None, true));
    assert_eq!(stored.asked, 2, "64 devices are asked for at once");
    let more = written.audit(AuditScope::Full, &mut stored, Some(703)).unwrap();
    assert_eq!(counts(&more), [(Kind::Alien, 3)]);
    assert_eq!(counts(&written.audit(AuditScope::Full, &mut stored, Some(690)).unwrap()), []);
    assert_eq!(counts(&written.audit(AuditScope::Sample, &mut stored, Some(703)).unwrap()), []);
    stored.rows.remove(350);
    stored.rows.remove(10);
    assert_eq!(counts(&written.audit(AuditScope::Full, &mut stored, None).unwrap()), [(Kind::Lost, 2)]);
}

/// The ranges of more devices than are held at once: the first and the last of each window are read.
#[test]
fn devices_of_all_windows_are_read() {
    let devices = [0, WINDOW - 1, WINDOW, 2 * WINDOW - 1, 2 * WINDOW, 2 * WINDOW + 5];
    let runs: Vec<_> = devices.iter().map(|&device| (Fate::Acked, Run { device, first: 0, count: 2 })).collect();
    let written = Written::new(2 * WINDOW + 6, &runs);
    let rows = devices.iter().flat_map(|&device| [0, 1].map(|index| (device, written.ns(device, index)))).collect();
    let audit = written.audit(AuditScope::Full, &mut Stored { rows, ..Stored::default() }, Some(12)).unwrap();
    assert_eq!((audit.rows, audit.findings.right(), audit.devices), (12, 12, 2 * WINDOW + 6));
    assert_eq!(counts(&audit), []);
}

#[test]
fn what_cannot_be_read_is_found_down_to_the_datapoint_and_the_others_are_read() {
    let (written, mut stored) = Written::whole(10, 50);
    let bad = [(3, 7), (3, 8), (9, 49)].map(|(device, index)| (device, written.ns(device, index)));
    stored.unreadable = bad.into();
    let audit = written.audit(AuditScope::Full, &mut stored, Some(500)).unwrap();
    assert_eq!((audit.rows, audit.findings.right(), audit.cut_short.clone()), (500, 497, None));
    assert_eq!(counts(&audit), [(Kind::Corrupt, 3)]);
    let stretches: Vec<_> = audit.findings.stretches().collect();
    assert!(stretches.iter().all(|stretch| stretch.detail.contains("a number of 9 bits")), "{stretches:?}");
    let places: Vec<_> = stretches.iter().map(|stretch| (stretch.device, stretch.from_ns, stretch.to_ns)).collect();
    assert!(places.contains(&(Some(9), bad[2].1, bad[2].1)), "{places:?}");
}

#[test]
fn what_cannot_be_read_where_nothing_should_be_is_alien() {
    let runs =
        [(Fate::Acked, Run { device: 0, first: 0, count: 4 }), (Fate::Failed, Run { device: 0, first: 4, count: 1 })];
    let written = Written::new(1, &runs);
    let mut rows: Vec<(u32, i64)> = (0..5).map(|index| (0, written.ns(0, index))).collect();
    let refused = rows[4];
    let between = (0, written.ns(0, 1) + 5);
    rows.insert(2, between);
    let mut stored = Stored { rows, unreadable: [refused, between].into(), ..Stored::default() };
    let audit = written.audit(AuditScope::Full, &mut stored, None).unwrap();
    assert_eq!((audit.rows, audit.findings.right()), (6, 4));
    assert_eq!(counts(&audit), [(Kind::Alien, 2)]);
    let told = audit.findings.stretches().map(|stretch| stretch.detail.clone()).collect::<Vec<_>>().join("; ");
    assert!(told.contains("of device 0, where nothing was sent: a number of 9 bits"), "{told}");
}

#[test]
fn an_audit_ends_after_a_thousand_datapoints_that_cannot_be_read() {
    for (count, is_cut) in [(MAX_UNREADABLE, false), (MAX_UNREADABLE + 1, true)] {
        let (written, mut stored) = Written::whole(1, u32::try_from(count).unwrap());
        stored.unreadable = stored.rows.iter().copied().collect();
        let audit = written.audit(AuditScope::Full, &mut stored, None).unwrap();
        assert_eq!(audit.cut_short.is_some_and(|why| why.starts_with("more than 1000 datapoints")), is_cut);
        assert_eq!((audit.findings.count(Kind::Corrupt), audit.rows), (count, count));
    }
}

#[test]
fn what_is_no_fault_of_a_row_ends_the_audit() {
    let (written, mut stored) = Written::whole(2, 5);
    let error = |change: &dyn Fn(&mut Stored)| {
        let mut changed = Stored { rows: stored.rows.clone(), ..Stored::default() };
        change(&mut changed);
        let error = written.audit(AuditScope::Full, &mut changed, None).unwrap_err();
        (error.cause, changed.asked)
    };
    assert_eq!(error(&|stored| stored.fails = Some(unreadable().action(Action::DiscardWriter))), (Cause::Protocol, 1));
    assert_eq!(error(&|stored| stored.fails = Some(Error::new(Cause::Server, "no"))), (Cause::Server, 1));
    assert_eq!(error(&|stored| stored.backwards = true), (Cause::Protocol, 1), "the auditor's own refusal");
    assert_eq!(error(&|stored| stored.takes = Duration::from_millis(3_001)), (Cause::TimedOut, 1));
    stored.takes = Duration::from_millis(2_999);
    assert!(written.audit(AuditScope::Full, &mut stored, None).is_ok());
}

#[test]
fn a_sample_looks_at_the_first_the_last_and_others_until_its_time_is_over() {
    let (written, mut stored) = Written::whole(200, 3);
    let audit = written.audit(AuditScope::Sample, &mut stored, None).unwrap();
    assert_eq!((audit.cut_short, audit.of_devices), (None, 200));
    assert!(audit.devices <= SAMPLE_DEVICES && audit.devices > SAMPLE_DEVICES / 2, "{}", audit.devices);
    assert_eq!(audit.rows, 3 * u64::from(audit.devices));
    let devices = drawn(written.planned.plan.seed, 200);
    assert_eq!((devices.len(), devices.first(), devices.last()), (audit.devices as usize, Some(&0), Some(&199)));
    assert_ne!(devices, drawn(written.planned.plan.seed + 1, 200));
    assert_eq!(drawn(1, SAMPLE_DEVICES), (0..SAMPLE_DEVICES).collect());
    assert!(drawn(1, SAMPLE_DEVICES + 1).contains(&SAMPLE_DEVICES));
    // Each answer takes a second: the eleventh is not asked for.
    stored.takes = Duration::from_secs(1);
    let cut = written.audit(AuditScope::Sample, &mut stored, None).unwrap();
    assert_eq!((cut.devices, cut.cut_short.as_deref()), (10, Some("the sample ended after 10 s")));
    // All of it takes as long as it takes.
    let (written, mut stored) = Written::whole(20 * 64, 1);
    stored.takes = Duration::from_secs(1);
    let whole = written.audit(AuditScope::Full, &mut stored, None).unwrap();
    assert_eq!((whole.devices, whole.cut_short, stored.asked), (20 * 64, None, 20));
}

/// A ledger that others wrote may name more datapoints than there is time for, in more stretches than memory holds.
#[test]
fn what_a_ledger_claims_takes_neither_time_nor_memory() {
    let claimed = |claim: &dyn Fn(&mut Journal)| {
        let (Written { planned, .. }, _) = Written::whole(2, 1);
        let store = Arc::new(MemoryLedger::default());
        let mut journal = Journal::begin(store.clone(), &"head").unwrap();
        claim(&mut journal);
        Written { planned, ledger: Ledger::new(store) }.audit(AuditScope::Sample, &mut Stored::default(), Some(0))
    };
    let reserved = claimed(&|journal| journal.follow(1 << 62).unwrap()).unwrap();
    assert_eq!((reserved.devices, reserved.cut_short), (2, None));
    assert!(reserved.findings.count(Kind::UnknownAbsent) <= 80_000, "a sample of it: {:?}", reserved.findings);
    let history = claimed(&|journal| journal.history(2, u64::MAX).unwrap()).unwrap_err();
    assert!(history.message.contains("too many pieces"), "{history}");
}

#[test]
fn who_does_not_wait_for_the_end_has_what_was_seen() {
    let (written, mut stored) = Written::whole(5 * 64, 2);
    let looks = std::sync::atomic::AtomicU32::new(0);
    let stops = || looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 2;
    let audit = written.audit_until(AuditScope::Full, &mut stored, Some(9_999), &stops).unwrap();
    assert_eq!((audit.devices, audit.rows, audit.cut_short.as_deref()), (128, 256, Some("it was interrupted")));
    assert_eq!(counts(&audit), [], "what was not looked at is not elsewhere");
}
