//! A load that is made in parts elsewhere, held against the same load made here: the parts are threads of this process, and
//! all that they hear and tell travels as JSON.

use crate::real_time::{
    capacity::{SEARCH, is_found, queue},
    oracle::{Findings, OPEN, Request, experiment, parallel},
};
use iotbench_core::{Cause, Error};
use iotbench_engine::{
    AgentFigures, ClientLoad, Clients, Desk, Loaders, Loading, Orders, Outcome, PartLoad, Planned, RunOptions, Status,
    StopSignal, Told, run,
};
use iotbench_oracle_server::backend::OracleBackend;
use std::{
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Has the load made in so many parts.
#[derive(Debug)]
struct Parts(u32);

/// The parts at work.
struct AtWork {
    starts: Vec<SyncSender<Instant>>,
    clients: Clients,
    threads: Vec<JoinHandle<AgentFigures>>,
}

impl Loaders for Parts {
    fn connect(&self, planned: &Planned, desk: Desk) -> Result<Box<dyn Loading>, Error> {
        let plans = planned.plan.parts(self.0).map_err(|e| Error::new(Cause::Client, e.to_string()))?;
        desk.set_parts(plans.len());
        let clients = desk.clients();
        let (mut starts, mut threads) = (Vec::new(), Vec::new());
        for plan in plans {
            let part = Planned { plan, ..planned.clone() };
            let load = PartLoad::connect(&part, &OracleBackend, desk.read_terms())?;
            let (start, started) = sync_channel(1);
            let desk = desk.clone();
            starts.push(start);
            threads.push(std::thread::spawn(move || work(load, &part, &desk, &started)));
        }
        Ok(Box::new(AtWork { starts, clients, threads }))
    }
}

fn work(mut load: PartLoad, part: &Planned, desk: &Desk, started: &Receiver<Instant>) -> AgentFigures {
    let mut part = desk.part("part", part.plan.devices.clone());
    let Ok(epoch) = started.recv() else { return part.into_figures() };
    load.start(epoch);
    loop {
        let orders = serde_json::to_string(&desk.orders()).unwrap();
        load.obey(serde_json::from_str::<Orders>(&orders).unwrap());
        for piece in load.tell(Duration::from_millis(20)).in_pieces() {
            let told: Told = serde_json::from_str(&serde_json::to_string(&piece).unwrap()).unwrap();
            let (is_finished, progress) = (told.is_finished, told.progress());
            part.take(told).unwrap();
            part.note(progress);
            if is_finished {
                load.join().unwrap();
                return part.into_figures();
            }
        }
    }
}

impl Loading for AtWork {
    fn start(&self, epoch: Instant) {
        self.starts.iter().for_each(|start| start.send(epoch).unwrap());
    }

    fn are_finished(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    fn clients(&self, generation: u32) -> Vec<(String, ClientLoad)> {
        self.clients.of(generation)
    }

    fn join(self: Box<Self>) -> Result<Vec<AgentFigures>, String> {
        self.threads.into_iter().map(|thread| thread.join().map_err(|_| "a part panicked".into())).collect()
    }
}

/// What was sent, whatever the order, and what was found out.
fn outcome(set: &[&str], parts: Option<u32>) -> (Vec<(u64, u64, u32)>, Outcome) {
    let server = parallel(2);
    let planned = Request::new(OPEN, set).plan(server.address());
    let loaders = parts.map(|parts| Arc::new(Parts(parts)) as Arc<dyn Loaders>);
    let options = RunOptions { loaders, ..RunOptions::default() };
    let outcome = run(planned, &OracleBackend, options, &mut (), &StopSignal::default());
    let ledger = server.ledger();
    let mut sent: Vec<_> = ledger.entries.iter().map(|e| (e.id, e.payload_hash, e.points)).collect();
    sent.sort_unstable();
    assert_eq!((outcome.load.check(), outcome.points.check()), (Ok(()), Ok(())), "{:?}", outcome.verdict);
    assert_ne!(outcome.verdict.status, Status::Failed, "{:?}", outcome.verdict);
    (sent, outcome)
}

/// Open loops and sensors, of which one process sends the same each time unless it could not run at the end.
#[test]
fn parts_send_what_one_process_would_and_have_one_result() {
    for load in ["model=open", "model=paced"] {
        experiment(|| {
            let set = [load, "rate=200", "devices=6", "warmup=1s", "phases.duration=1s"];
            let ((sent_here, here), (sent, merged)) = (outcome(&set, None), outcome(&set, Some(3)));
            let hiccup_ns = |outcome: &Outcome| outcome.client.pacing_error.max_ns().unwrap_or(0);
            let mut findings = Findings { hiccup_ns: hiccup_ns(&here).max(hiccup_ns(&merged)), ..Findings::default() };
            let counts = |outcome: &Outcome| (outcome.points, outcome.load.offered, outcome.load.ok);
            findings.expect(!sent.is_empty() && sent == sent_here, || format!("{}, {}", sent_here.len(), sent.len()));
            findings.expect(counts(&merged) == counts(&here), || format!("{:?}, {:?}", counts(&merged), counts(&here)));
            findings.expect(merged.acked() == here.acked(), || "the ledgers differ".into());
            let measured = merged.measured.as_ref().unwrap();
            let recorded = measured.recording.pooled().by_operation().ok().count();
            findings.expect(recorded == merged.load.ok, || format!("{recorded} of {}", merged.load.ok));
            let of_parts: u64 = merged.agents.iter().map(|part| part.response.count()).sum();
            findings.expect(of_parts == recorded, || format!("{of_parts} of {recorded} in the parts' own figures"));
            assert_eq!(
                (merged.agents.len(), merged.agents.iter().filter(|part| part.client.is_some()).count()),
                (3, 3)
            );
            assert_eq!(measured.seconds.len(), 1, "{load}");
            assert_eq!(merged.plan.start_utc_ns.map(|ns| ns % 1_000_000_000), Some(0), "a common second");
            findings
        });
    }
}

/// The policy is the coordinator's: the parts make each step together, and the search ends where it would with one process.
#[test]
fn parts_find_the_capacity_of_a_queue() {
    experiment(|| {
        let server = queue();
        let planned = Request::new(&format!("{OPEN}\n{SEARCH}"), &["rate=auto", "devices=6"]).plan(server.address());
        let options = RunOptions { loaders: Some(Arc::new(Parts(2))), ..RunOptions::default() };
        let outcome = run(planned, &OracleBackend, options, &mut (), &StopSignal::default());
        assert_eq!((outcome.load.check(), outcome.points.check()), (Ok(()), Ok(())), "{:?}", outcome.verdict);
        let mut findings = Findings::of(&outcome);
        let capacity = outcome.capacity.as_ref().unwrap();
        findings.expect(is_found(capacity.bounds), || format!("{:?}: {:#?}", capacity.bounds, capacity.steps));
        let of_parts: u64 = outcome.agents.iter().map(|part| part.points.acked).sum();
        assert_eq!((outcome.agents.len(), of_parts), (2, outcome.points.acked));
        findings
    });
}
