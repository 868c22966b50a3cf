//! Runs the engine against the oracle server and lays its account beside the server's ledger.

use iotbench_core::{Backend, Target};
use iotbench_engine::{
    Event, Observer, OperationRecord, Outcome, Overrides, Phase, PlanRequest, Planned, RunOptions, StepFigures,
    StopSignal, parse_profile, plan, run,
};
use iotbench_oracle_server::{
    Discipline, Entry, Fault, Ledger, Program, Server, ServiceTime, Settings,
    backend::{OracleBackend, target},
};
use iotbench_recorder::{LatencyHistogram, Level, Timing, WindowCounts};
use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

/// An open loop of one datapoint an operation.
pub const OPEN: &str = r#"
name = "open"
summary = "test"
[dataset]
name = "machine"
[[groups]]
name = "sensors"
connections = 200
load = { model = "open", rate = 400 }
operations = [{ kind = "write", datapoints = 1 }]
[phases]
others_cpu = "100%"
duration = "3s"
deadline = "20s"
"#;

/// A closed loop whose users send what their devices gathered.
pub const CLOSED: &str = r#"
name = "closed"
summary = "test"
[dataset]
name = "pmu"
[[groups]]
name = "pmus"
load = { model = "closed", users = 1, think_time = "20ms" }
operations = [{ kind = "write", datapoints = "since_last" }]
[phases]
others_cpu = "100%"
duration = "3s"
deadline = "20s"
"#;

pub fn serve(service: Duration, discipline: Discipline, faults: Vec<Fault>) -> Server {
    let program = Program { service: ServiceTime::Constant(service), discipline, faults };
    let settings = Settings { ledger_capacity: 1 << 20, ..Settings::new(program, Instant::now()) };
    Server::start(settings).unwrap()
}

pub fn parallel(service_ms: u64) -> Server {
    serve(Duration::from_millis(service_ms), Discipline::Parallel, vec![])
}

/// What a run is made from.
pub struct Request<'a> {
    pub profile: &'a str,
    /// As `--set` on the command line.
    pub set: &'a [&'a str],
    pub stop: StopSignal,
    /// Told when the load starts.
    pub at_start: Box<dyn FnMut(Instant) + Send + 'a>,
    /// Told every event besides.
    pub at_event: Box<dyn FnMut(&Event<'_>) + Send + 'a>,
}

impl<'a> Request<'a> {
    pub fn new(profile: &'a str, set: &'a [&'a str]) -> Self {
        let (at_start, at_event) = (Box::new(|_| ()), Box::new(|_: &Event<'_>| ()));
        Self { profile, set, stop: StopSignal::default(), at_start, at_event }
    }

    pub fn at_start(self, at_start: impl FnMut(Instant) + Send + 'a) -> Self {
        Self { at_start: Box::new(at_start), ..self }
    }

    pub fn at_event(self, at_event: impl FnMut(&Event<'_>) + Send + 'a) -> Self {
        Self { at_event: Box::new(at_event), ..self }
    }

    pub fn plan(&self, address: SocketAddr) -> Planned {
        self.plan_for(&OracleBackend, target(address))
    }

    fn plan_for(&self, backend: &dyn Backend, target: Target) -> Planned {
        let set = self.set.iter().map(ToString::to_string).collect();
        let profile = parse_profile("test.toml", self.profile).unwrap();
        let profile = profile.with(&Overrides { set, ..Overrides::default() }).unwrap();
        let request = PlanRequest {
            profile,
            profile_file: "test.toml".into(),
            base: Path::new("."),
            run_id: "test".into(),
            target,
            now_ns: 0,
        };
        plan(request, backend).unwrap()
    }

    pub fn run(self, address: SocketAddr) -> Account {
        self.run_on(&OracleBackend, target(address))
    }

    /// Runs with a trace. Whatever else a run is, its counts balance, and so do the three times of each operation.
    pub fn run_on(self, backend: &'static dyn Backend, target: Target) -> Account {
        let planned = self.plan_for(backend, target);
        let mut watch = Watch { at_start: self.at_start, at_event: self.at_event, seen: Seen::default() };
        let options = RunOptions { trace: true, ..RunOptions::default() };
        let began = Instant::now();
        let outcome = run(planned, backend, options, &mut watch, &self.stop);
        let account = Account { outcome, seen: watch.seen, took: began.elapsed() };
        let verdict = &account.outcome.verdict;
        assert_eq!(account.outcome.load.check(), Ok(()), "{verdict:?}");
        assert_eq!(account.outcome.points.check(), Ok(()), "{verdict:?}");
        for timing in account.seen.operations.iter().map(|o| o.timing) {
            assert!(timing.intended_ns() <= timing.sent_ns() && timing.sent_ns() <= timing.replied_ns(), "{timing:?}");
            assert_eq!(timing.response_ns(), timing.replied_ns() - timing.intended_ns(), "{timing:?}");
            assert_eq!(timing.lag_ns() + timing.service_ns(), timing.response_ns(), "{timing:?}");
        }
        account
    }
}

/// What the observer of a run saw.
#[derive(Default)]
pub struct Seen {
    pub epoch: Option<Instant>,
    pub operations: Vec<OperationRecord>,
    pub seconds: Vec<WindowCounts>,
    pub phases: Vec<Phase>,
    pub steps: Vec<StepFigures>,
}

struct Watch<'a> {
    at_start: Box<dyn FnMut(Instant) + Send + 'a>,
    at_event: Box<dyn FnMut(&Event<'_>) + Send + 'a>,
    seen: Seen,
}

impl Observer for Watch<'_> {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::Started { epoch } => {
                self.seen.epoch = Some(*epoch);
                (self.at_start)(*epoch);
            }
            Event::Operations(operations) => self.seen.operations.extend_from_slice(operations),
            Event::Second(second) => self.seen.seconds.push(*second.window.counts()),
            Event::Phase { phase, .. } => self.seen.phases.push(*phase),
            Event::StepEnded { figures, .. } => self.seen.steps.push((*figures).clone()),
            Event::DevicesMade { .. }
            | Event::Preloaded { .. }
            | Event::Settling { .. }
            | Event::Acting(_)
            | Event::Step(_)
            | Event::Checkpoint(_) => {}
        }
        (self.at_event)(event);
        Ok(())
    }
}

/// The client's account of a run.
pub struct Account {
    pub outcome: Outcome,
    pub seen: Seen,
    pub took: Duration,
}

impl Account {
    /// The latencies of the measured part, all groups together.
    pub fn measured(&self) -> iotbench_recorder::KindRecording {
        self.outcome.measured.as_ref().unwrap().recording.pooled()
    }

    /// Time 0 of the run on the ledger's clock.
    pub fn epoch_ns(&self, server: &Server) -> u64 {
        server.since_epoch_ns(self.seen.epoch.unwrap())
    }

    /// Every operation contains its request, as the server saw it: sent before it arrived, and answered when the answer was
    /// there. This holds however busy the machine is. Both are in the order of the schedule.
    pub fn assert_contains(&self, server: &Server, entries: &[&Entry]) {
        let epoch_ns = self.epoch_ns(server);
        let mut timings: Vec<_> = self.seen.operations.iter().map(|o| o.timing).collect();
        timings.sort_unstable_by_key(Timing::intended_ns);
        assert_eq!(timings.len(), entries.len(), "each operation is traced, and sent once");
        for (timing, entry) in timings.iter().zip(entries) {
            assert!(epoch_ns + timing.sent_ns() <= entry.arrival_ns, "{timing:?} {entry:?}");
            let answered = entry.reply_ns().is_some_and(|reply_ns| reply_ns <= epoch_ns + timing.replied_ns());
            assert!(answered, "{timing:?} {entry:?}");
        }
    }

    /// From each operation's sending to its arrival.
    pub fn ways_ns(&self, grid: &Grid) -> Vec<u64> {
        let mut sent_ns: Vec<_> = self.seen.operations.iter().map(|o| o.timing).collect();
        sent_ns.sort_unstable_by_key(Timing::intended_ns);
        let mut arrived: Vec<_> = grid.ledger.entries.iter().map(|e| (e.id, e.arrival_ns)).collect();
        arrived.sort_unstable();
        let way = |(sent, arrived): (&Timing, &(u64, u64))| {
            arrived.1.checked_sub(grid.epoch_ns + sent.sent_ns()).expect("nothing arrives before it is sent")
        };
        sent_ns.iter().zip(&arrived).map(way).collect()
    }

    /// How late the machine woke its sleepers at times, up to p99: what a formula, or a ledger that begins at arrival,
    /// cannot know.
    pub fn disturbance_ns(&self) -> u64 {
        self.outcome.client.pacing_error.value_at(Level::P99).unwrap_or(0)
    }
}

/// A ledger of a constant schedule with one device and one datapoint an operation, whose ids are the operations' numbers.
pub struct Grid {
    pub ledger: Ledger,
    pub epoch_ns: u64,
    pub rate: u64,
}

impl Grid {
    pub fn of(server: &Server, account: &Account, rate: u64) -> Self {
        let ledger = server.ledger();
        assert_eq!(ledger.overflow, 0);
        Self { ledger, epoch_ns: account.epoch_ns(server), rate }
    }

    /// The requests in the order of their operations.
    pub fn in_order(&self) -> Vec<&Entry> {
        let mut entries: Vec<_> = self.ledger.entries.iter().collect();
        entries.sort_unstable_by_key(|e| e.id);
        entries
    }

    /// When the operation of this number should have been sent, on the ledger's clock.
    pub fn intended_ns(&self, id: u64) -> u64 {
        self.epoch_ns + id * 1_000_000_000 / self.rate
    }

    pub fn responses_ns(&self) -> Vec<u64> {
        let responses = self.ledger.response_ns(|id| self.intended_ns(id));
        responses.map(|ns| u64::try_from(ns).expect("no answer comes before its intended start")).collect()
    }

    /// What one request took, on average, while those that a stall held up were worked off.
    pub fn worked_off_s(&self, stall_at: Duration, stall: Duration) -> f64 {
        let ns = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap();
        let from_ns = self.epoch_ns + ns(stall_at);
        let until_ns = from_ns + ns(stall);
        let held_up = self.ledger.entries.iter().filter(|e| (from_ns..until_ns).contains(&self.intended_ns(e.id)));
        let last_ns = held_up.map(|e| e.reply_ns().expect("each was answered")).max().expect("the stall met some");
        let worked_off = self.ledger.entries.iter().filter_map(Entry::reply_ns);
        let worked_off = worked_off.filter(|reply_ns| (until_ns..=last_ns).contains(reply_ns)).count();
        (last_ns - until_ns) as f64 / 1e9 / worked_off as f64
    }

    /// How late each operation arrived.
    pub fn lateness_ns(&self) -> Vec<u64> {
        let late = |e: &Entry| e.arrival_ns.checked_sub(self.intended_ns(e.id)).expect("nothing is sent too early");
        self.ledger.entries.iter().map(late).collect()
    }
}

/// The value of rank ⌈n·q⌉ of a sample, q in thousandths.
pub fn quantile_ns(sample_ns: &mut [u64], per_mille: u64) -> u64 {
    sample_ns.sort_unstable();
    let rank = (sample_ns.len() as u64 * per_mille).div_ceil(1000).max(1);
    sample_ns[usize::try_from(rank - 1).unwrap()]
}

pub fn level(per_mille: u32) -> Level {
    Level::from_parts_per_million(per_mille * 1000).unwrap()
}

pub fn value_ns(histogram: &LatencyHistogram, per_mille: u32) -> u64 {
    histogram.value_at(level(per_mille)).unwrap()
}

/// What did not hold in a run that a hiccup may have spoilt.
#[derive(Default)]
pub struct Findings {
    pub wrong: Vec<String>,
    pub hiccup_ns: u64,
}

impl Findings {
    /// None yet, of a run that saw its largest hiccup as its largest pacing error.
    pub fn of(outcome: &Outcome) -> Self {
        Self { wrong: Vec::new(), hiccup_ns: outcome.client.pacing_error.max_ns().unwrap_or(0) }
    }

    pub fn expect(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.wrong.push(message());
        }
    }

    /// `actual` lies within 2 % or 0.2 ms of `expected`, whichever is more, and beyond p99 within the largest hiccup.
    pub fn expect_near(&mut self, what: &str, actual_ns: u64, expected_ns: u64, slack_ns: u64) {
        let tolerance_ns = (expected_ns / 50).max(200_000).max(slack_ns);
        self.expect(actual_ns.abs_diff(expected_ns) <= tolerance_ns, || {
            format!("{what}: {actual_ns} ns, expected {expected_ns} ± {tolerance_ns}")
        });
    }
}

/// An idle machine wakes a sleeper within this; a run that saw more has met a hiccup.
const HICCUP_NS: u64 = 1_000_000;

/// Runs a real-time experiment; one that a hiccup has spoilt is repeated, at most five times in all.
pub fn experiment(mut attempt: impl FnMut() -> Findings) {
    let mut spoilt = Vec::new();
    for left in (0..5).rev() {
        let Findings { wrong, hiccup_ns } = attempt();
        if wrong.is_empty() {
            return;
        }
        let again = left > 0 && hiccup_ns > HICCUP_NS;
        spoilt.push((hiccup_ns, wrong));
        assert!(again, "each attempt's largest hiccup in ns, and what was wrong: {spoilt:#?}");
    }
}
