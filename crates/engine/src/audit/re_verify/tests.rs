//! Audits of runs that are over, of a database that says of itself what it is told to.

use super::*;
use crate::{
    audit::{
        FindingKind,
        auditor::tests::{Script, Stored, Written},
    },
    ledger::{Fate, Fates, Journal, MemoryLedger},
    plan::ActionPlan,
};
use async_trait::async_trait;
use iotbench_backends::BACKENDS;
use iotbench_core::{
    Acknowledgement, BackendInfo, Capabilities, Database, Duplicates, OwnedObject, ProcessAction, Promise,
    PromiseSource, Query, Reader, Registry, Reply, Run, Schema, SettingError, Sink, Writer,
};
use iotbench_simulator::Dataset;
use std::sync::{Arc, Mutex};

/// What it says of itself, and what it is asked.
#[derive(Clone)]
struct Says {
    info: BackendInfo,
    facts: Result<ServerFacts, Error>,
    owned: Vec<OwnedObject>,
    counted: u64,
    rows: Vec<(u32, i64)>,
    dataset: Arc<dyn Dataset>,
    asked: Arc<Mutex<Vec<&'static str>>>,
    /// What it says of whether it has settled, one after the other; then that it has.
    settles: Arc<Mutex<Vec<Settled>>>,
}

impl Says {
    /// That it holds all of a run.
    fn all(written: &Written, stored: &Stored) -> Self {
        let table = &written.planned.plan.table;
        let capabilities = Registry::new(BACKENDS).find("memory").unwrap().info().capabilities.clone();
        let capabilities = Capabilities { embedded: false, ..capabilities };
        Self {
            info: BackendInfo::new("says", "says what it is told to", capabilities),
            facts: Ok(facts(Acknowledgement::Applied, PromiseLevel::Buffered)),
            owned: vec![OwnedObject { name: table.name.clone(), run_id: written.planned.plan.run_id.clone() }],
            counted: stored.rows.len() as u64,
            rows: stored.rows.clone(),
            dataset: Arc::clone(&written.planned.dataset),
            asked: Arc::default(),
            settles: Arc::default(),
        }
    }

    fn note(&self, what: &'static str) {
        self.asked.lock().unwrap().push(what);
    }
}

fn facts(acknowledgement: Acknowledgement, level: PromiseLevel) -> ServerFacts {
    ServerFacts {
        product: "t".into(),
        version: "1".into(),
        driver: "t".into(),
        method: "insert".into(),
        settings: std::collections::BTreeMap::new(),
        acknowledgement,
        promise: Promise { level, nodes: 1, source: PromiseSource::ReadBack },
    }
}

fn not_asked<T>() -> Result<T, Error> {
    Err(Error::new(Cause::Client, "an audit asks nothing of it"))
}

impl Backend for Says {
    fn info(&self) -> &BackendInfo {
        &self.info
    }
    fn open(&self, _: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
        Ok(Arc::new(self.clone()))
    }
}

#[async_trait]
impl Database for Says {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        self.note("ping");
        self.facts.clone()
    }
    async fn create(&self) -> Result<(), Error> {
        not_asked()
    }
    async fn settle(&self) -> Result<Settled, Error> {
        self.note("settle");
        let mut said = self.settles.lock().unwrap();
        Ok(if said.is_empty() { Settled::Yes } else { said.remove(0) })
    }
    async fn count(&self) -> Result<Counts, Error> {
        self.note("count");
        Ok(Counts { points: self.counted, values: 0 })
    }
    async fn drop_created(&self) -> Result<(), Error> {
        not_asked()
    }
    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        self.note("owned");
        Ok(self.owned.clone())
    }
    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        not_asked()
    }
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        let stored = Stored::of(self.rows.clone());
        Ok(Box::new(Holds { dataset: Arc::clone(&self.dataset), stored }))
    }
}

struct Holds {
    dataset: Arc<dyn Dataset>,
    stored: Stored,
}

#[async_trait]
impl Reader for Holds {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        let mut script = Script { dataset: Arc::clone(&self.dataset), stored: &mut self.stored };
        script.query(query, sink).await
    }
}

fn audited(written: &Written, says: &Says) -> Result<ReVerified, ReVerifyError> {
    re_verify(&written.planned, &written.ledger, says, AuditScope::Full, &|| false)
}

#[test]
fn what_a_run_left_is_counted_and_read_back() {
    let (written, stored) = Written::whole(3, 5);
    let says = Says::all(&written, &stored);
    let again = audited(&written, &says).unwrap();
    assert_eq!((again.counted, again.expected.clone(), again.may_lose), (15, 15..=15, false));
    assert_eq!((again.audit.rows, again.is_clean()), (15, true));
    assert_eq!(*says.asked.lock().unwrap(), ["ping", "owned", "count"]);
    assert!(again.audit.shows_duplicates);
    let mut overwrites = says.clone();
    overwrites.info.capabilities.duplicates = Duplicates::Overwrite;
    assert!(!audited(&written, &overwrites).unwrap().audit.shows_duplicates);
    let more = audited(&written, &Says { counted: 18, ..says.clone() }).unwrap();
    assert!(!more.is_clean(), "3 are of no device of this run: {:?}", more.audit.findings);
}

/// Of a run that was killed nobody has waited for what it had acknowledged.
#[test]
fn what_a_killed_run_left_is_counted_once_the_database_has_settled() {
    use Settled::{CannotTell, NotYet, Yes};
    let (written, stored) = Written::whole(3, 5);
    let store = Arc::new(MemoryLedger::default());
    // It has no end.
    drop(Journal::begin(store.clone(), &"head").unwrap());
    let written = Written { ledger: Ledger::new(store), ..written };
    let [applied, queued] = [Acknowledgement::Applied, Acknowledgement::Queued];
    for (acknowledgement, settles, asked) in [
        (applied, vec![NotYet, NotYet, Yes], vec!["settle", "settle", "settle", "count"]),
        (applied, vec![NotYet, CannotTell], vec!["settle", "settle", "count"]),
        // Its count tells that all is there.
        (queued, vec![NotYet, CannotTell], vec!["settle", "settle", "count", "count"]),
    ] {
        let facts = Ok(facts(acknowledgement, PromiseLevel::Buffered));
        let says = Says { facts, settles: Arc::new(Mutex::new(settles)), ..Says::all(&written, &stored) };
        audited(&written, &says).unwrap();
        assert_eq!(*says.asked.lock().unwrap(), [vec!["ping", "owned"], asked].concat());
    }
}

/// What is acknowledged by a queue may be missing: a datapoint, and values of one.
#[test]
fn of_a_database_that_may_lose_what_is_missing_is_no_fault() {
    let (written, mut stored) = Written::whole(3, 5);
    stored.rows.pop();
    let missing = Says::all(&written, &stored);
    assert!(!audited(&written, &missing).unwrap().is_clean());
    let queued = Ok(facts(Acknowledgement::Queued, PromiseLevel::Buffered));
    let again = audited(&written, &Says { facts: queued, ..missing }).unwrap();
    assert_eq!((again.may_lose, again.is_clean(), again.delivered()), (true, true, Some(14.0 / 15.0)));
}

/// Ten datapoints were acknowledged and dropped on purpose, and all are there.
#[test]
fn what_was_dropped_comes_late_of_a_database_that_queues_and_of_no_other() {
    let (written, stored) = Written::whole(2, 5);
    let store = Arc::new(MemoryLedger::default());
    let mut journal = Journal::begin(store.clone(), &"head").unwrap();
    let mut fates = Fates::default();
    fates.note(Fate::Acked, (0..2).map(|device| Run { device, first: 0, count: 5 }));
    journal.note(&mut fates).unwrap();
    journal.dropping().unwrap();
    journal.dropped().unwrap();
    journal.end().unwrap();
    let written = Written { ledger: Ledger::new(store), ..written };
    let says = Says::all(&written, &stored);
    let found = |acknowledgement| {
        let facts = Ok(facts(acknowledgement, PromiseLevel::Buffered));
        let findings = audited(&written, &Says { facts, ..says.clone() }).unwrap().audit.findings;
        [FindingKind::Alien, FindingKind::UnknownPresent].map(|kind| findings.count(kind))
    };
    assert_eq!([Acknowledgement::Applied, Acknowledgement::Queued].map(found), [[10, 0], [0, 10]]);
}

/// Nothing of an embedded database is made by asking for it: its file is looked for first.
#[test]
fn an_embedded_database_is_looked_for_before_it_is_opened() {
    let (written, stored) = Written::whole(3, 5);
    let mut says = Says::all(&written, &stored);
    says.info.capabilities.embedded = true;
    assert!(audited(&written, &says).unwrap().is_clean());
    assert_eq!(*says.asked.lock().unwrap(), ["owned", "ping", "count"]);
    let gone = Says { owned: Vec::new(), asked: Arc::default(), ..says.clone() };
    assert!(matches!(audited(&written, &gone), Err(ReVerifyError::Gone(_))));
    assert_eq!(*gone.asked.lock().unwrap(), ["owned"]);
    let broken = |cause| Err(Error::new(cause, "no file"));
    let gone = audited(&written, &Says { facts: broken(Cause::Connect), ..says.clone() }).unwrap_err();
    let told =
        "the database of run t is not there: a run drops what it wrote unless it is started with --keep (no file)";
    assert_eq!((matches!(gone, ReVerifyError::Gone(_)), gone.to_string()), (true, told.to_owned()));
    let refused = audited(&written, &Says { facts: broken(Cause::Server), ..says.clone() });
    assert!(matches!(refused, Err(ReVerifyError::Target(error)) if error.cause == Cause::Server));
    says.info.capabilities.embedded = false;
    let away = audited(&written, &Says { facts: broken(Cause::Connect), ..says });
    assert!(
        matches!(away, Err(ReVerifyError::Target(error)) if error.cause == Cause::Connect),
        "a server may come back"
    );
}

/// The only group of the profile that these tests have writes.
#[test]
fn a_table_is_that_of_the_run_that_left_it_unless_the_run_only_read() {
    let (written, stored) = Written::whole(3, 5);
    let says = Says::all(&written, &stored);
    let of_run = |name: &str, run_id: &str| {
        let name = iotbench_core::Name::new(name).unwrap();
        let other = OwnedObject { name: iotbench_core::Name::new("of_others").unwrap(), run_id: "t".into() };
        vec![other, OwnedObject { name, run_id: run_id.into() }]
    };
    let name = written.planned.plan.table.name.to_string();
    let there = |planned: &Planned, run_id: &str| is_there(planned, of_run(&name, run_id));
    assert!(there(&written.planned, "t").is_ok() && there(&written.planned, "t-unfinished").is_ok());
    let others = there(&written.planned, "u").unwrap_err();
    assert_eq!(others.to_string(), format!("{name} is now that of run u, and no longer of t"));
    assert!(matches!(there(&written.planned, "u-unfinished"), Err(ReVerifyError::Others(_))));
    assert!(matches!(is_there(&written.planned, of_run("another", "t")), Err(ReVerifyError::Gone(_))));
    let others = Says { owned: of_run(&name, "u"), ..says };
    assert!(matches!(audited(&written, &others), Err(ReVerifyError::Others(_))));
    let mut reading = written.planned.clone();
    reading.plan.groups[0].operation.kind = reads();
    assert!(there(&reading, "u").is_ok(), "a history is handed on from run to run");
    let mut both = written.planned.clone();
    both.plan.groups[0].others.push(reading.plan.groups[0].operation.clone());
    assert!(matches!(there(&both, "u"), Err(ReVerifyError::Others(_))));
}

fn reads() -> crate::plan::RequestKind {
    crate::plan::RequestKind::Read(crate::plan::Question::Device)
}

#[test]
fn a_kill_may_lose_what_no_crash_survives_and_nothing_else() {
    let (mut written, _) = Written::whole(1, 1);
    let loses = |planned: &Planned, acknowledgement, level| may_lose(planned, &facts(acknowledgement, level));
    let [applied, queued] = [Acknowledgement::Applied, Acknowledgement::Queued];
    assert!(!loses(&written.planned, applied, PromiseLevel::Buffered));
    assert!(loses(&written.planned, queued, PromiseLevel::Buffered));
    let mut act = |action| {
        let plan = &mut written.planned.plan;
        plan.scenario.push(ActionPlan { at_ns: 0, action, role: "server".into(), node: 0 });
        let planned = &written.planned;
        [PromiseLevel::Buffered, PromiseLevel::ProcessCrash].map(|level| loses(planned, applied, level))
    };
    assert_eq!(act(ProcessAction::Restart), [false, false]);
    assert_eq!(act(ProcessAction::Kill), [true, false]);
}

/// 100 acknowledged, 5 refused, 7 unknown, and a history of 10 datapoints of each of 4 devices.
#[test]
fn what_should_be_there_is_the_history_what_was_acknowledged_and_perhaps_what_is_unknown() {
    let (mut written, _) = Written::whole(1, 1);
    written.planned.plan.phases.preload = 10;
    let of = |history, ended| {
        expected(&written.planned, LedgerSummary { points: [100, 5, 7], history, reserved: 0, ended }, None)
    };
    assert_eq!(of(Some((4, 10)), true), 140..=147);
    assert_eq!(of(None, true), 100..=107);
    assert_eq!(of(Some((4, 10)), false), 140..=u64::MAX, "what a killed run had sent is not known");
    written.planned.plan.phases.preload = u64::MAX / 2;
    let summary = LedgerSummary { points: [1, 0, 7], history: Some((4, 10)), reserved: 0, ended: true };
    assert_eq!(expected(&written.planned, summary, None), u64::MAX..=u64::MAX, "a plan that others wrote may say so");
}

#[test]
fn who_does_not_answer_in_time_is_not_waited_for() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let after = |ms| async move {
        tokio::time::sleep(Duration::from_millis(ms)).await;
        Ok(ms)
    };
    let answered = |ms| runtime.block_on(in_time(Duration::from_millis(2_500), after(ms)));
    assert_eq!(answered(2_499).unwrap(), 2_499);
    let ReVerifyError::Target(error) = answered(2_501).unwrap_err() else { panic!("no error of the database") };
    assert_eq!((error.cause, error.message.as_str()), (Cause::TimedOut, "no answer within 2.5 s"));
}

#[test]
fn a_ledger_whose_data_are_others_by_now_is_refused() {
    let (written, _) = Written::whole(2, 1);
    let head = |plan| LedgerHead { plan, base: ".".into(), endpoints: Vec::new(), kept: true };
    let mut plan = written.planned.plan.clone();
    let planned = head(plan.clone()).planned(Target::default()).unwrap();
    assert_eq!((planned.plan.run_id.as_str(), planned.open.table == plan.table), ("t", true));
    let mut tagged = plan.clone();
    tagged.profile.dataset = tagged.profile.dataset.with("tags", serde_json::json!([{ "name": "site", "count": 3 }]));
    let error = head(tagged.clone()).planned(Target::default()).unwrap_err();
    assert!(matches!(&error, ReVerifyError::Data(_)), "the devices had no tags then: {error}");
    tagged.table.schema = tagged.profile.dataset.schema(&*written.planned.dataset, tagged.seed).unwrap();
    assert!(!tagged.table.schema.tags().is_empty() && head(tagged).planned(Target::default()).is_ok());
    let mut signals = plan.table.schema.signals().to_vec();
    signals[0].name.push_str("_of_old");
    plan.table.schema = Schema::new(signals).unwrap();
    let error = head(plan).planned(Target::default()).unwrap_err();
    assert!(matches!(&error, ReVerifyError::Data(why) if why.starts_with("its signals are others")), "{error}");
}
