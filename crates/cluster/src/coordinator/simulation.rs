//! Many agents in virtual time, over a network that loses, doubles and overtakes. The network and the agents' resending are
//! simulated; reports, sequences, roster, clocks, desk, totals and the run's control thread are those of every run.

use super::{Member, Members, lease_ns, note_loss, take};
use crate::{
    clock::{Clocks, Offset, RoundTrip},
    message::{PartNews, Report, encode},
    request::ROUND_TRIPS,
    roster::{AgentState, OnLoss, Roster},
};
use bytes::Bytes;
use fastrand::Rng;
use iotbench_core::Error;
use iotbench_engine::{
    AgentFigures, ClientLoad, Desk, Loaders, Loading, Outcome, PlanRequest, Planned, RunOptions, SentSlice, StopSignal,
    Told, parse_profile, plan, run,
};
use iotbench_oracle_server::{
    Discipline, Program, Server, ServiceTime, Settings,
    backend::{OracleBackend, target},
};
use iotbench_recorder::{OperationKind, Outcome as Answer, Payload, Recorder, Requests, Timing, WINDOW_NS, Window};
use rustix::time::{ClockId, clock_gettime};
use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write,
    path::Path,
    sync::{Arc, Mutex},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// A step of virtual time: so often agents hear of the coordinator.
const STEP_NS: u64 = 250_000_000;
/// What was not received after so long an agent repeats.
const REPEAT_NS: u64 = 1_000_000_000;
/// No message takes longer.
const LONGEST_WAY_NS: u64 = 1_500_000_000;

/// How much is simulated.
#[derive(Clone, Copy, Debug)]
struct Size {
    agents: usize,
    groups: usize,
    /// A group's operations in a second.
    operations: u64,
    /// Windows that an agent tells, one a second.
    windows: u64,
    /// Of 100 messages, those that are lost; as many come twice, and as many agents fall silent after their first window.
    bad_pct: u32,
}

/// An agent at its end of the network.
#[derive(Clone, Default)]
struct Agent {
    is_silent: bool,
    /// By number: the datapoints that its reports tell, and whether they have come.
    points: Vec<u64>,
    came: Vec<bool>,
    /// Not known to be received: number, message, and when it was sent.
    waiting: VecDeque<(u64, Bytes, u64)>,
}

/// What was done, and what it took.
#[derive(Clone, Debug, Default)]
struct Account {
    /// The datapoints of the reports that came, by agent.
    points: Vec<u64>,
    silent: Vec<bool>,
    reports: u64,
    bytes: u64,
    longest: usize,
    lost: u64,
    doubled: u64,
    overtaken: u64,
    /// Most reports of an agent that waited for one before them.
    most_ahead: usize,
    /// CPU time of encoding at the agents, and of taking at the coordinator.
    encoding: Duration,
    taking: Duration,
    /// Memory of the process before and at the end, and the messages that agents still kept then, in bytes.
    before: u64,
    after: u64,
    kept: u64,
}

struct Simulation {
    size: Size,
    rng: Rng,
    run: String,
    desk: Desk,
    kinds: Arc<[OperationKind]>,
    agents: Vec<Agent>,
    members: Vec<Member>,
    roster: Roster,
    /// Messages on their way, by when they come: whose, which, and what.
    on_the_way: BTreeMap<(u64, u64), (usize, u64, Bytes)>,
    sent: u64,
    account: Account,
}

impl Simulation {
    fn new(size: Size, planned: &Planned, desk: &Desk) -> Self {
        let mut rng = Rng::with_seed(9);
        let group = |number| OperationKind { name: format!("group {number}"), requests: Requests::One };
        let kinds = (0..size.groups).map(group).collect();
        let is_silent = |place: usize, rng: &mut Rng| place > 0 && rng.u32(..100) < size.bad_pct;
        let agents: Vec<Agent> =
            (0..size.agents).map(|place| Agent { is_silent: is_silent(place, &mut rng), ..Agent::default() }).collect();
        desk.set_parts(size.agents);
        let mut simulation = Self {
            size,
            rng,
            run: planned.plan.run_id.clone(),
            desk: desk.clone(),
            kinds,
            agents,
            members: Vec::new(),
            roster: Roster::new(size.agents, lease_ns(), OnLoss::Continue, 0),
            on_the_way: BTreeMap::new(),
            sent: 0,
            account: Account::default(),
        };
        simulation.window(0);
        simulation.account.before = memory("VmRSS");
        let member = |place: usize, rng: &mut Rng| {
            let device = u32::try_from(place).unwrap();
            Member::new(format!("agent-{place}"), clocks(rng), desk.part(&format!("agent-{place}"), device..device + 1))
        };
        simulation.members = (0..size.agents).map(|place| member(place, &mut simulation.rng)).collect();
        simulation
    }

    fn conduct(mut self) -> (Vec<AgentFigures>, Account) {
        let mut now_ns = 0;
        while !self.roster.is_over() {
            for place in 0..self.agents.len() {
                self.hear(place);
                self.tell(place, now_ns);
                self.repeat(place, now_ns);
            }
            self.deliver(now_ns);
            while let Some(loss) = self.roster.look(now_ns) {
                note_loss(&loss, &self.desk);
            }
            now_ns += STEP_NS;
        }
        self.account.after = memory("VmRSS");
        self.account.kept = self.agents.iter().flat_map(|a| &a.waiting).map(|(_, bytes, _)| bytes.len() as u64).sum();
        self.account.silent = self.agents.iter().map(|agent| agent.is_silent).collect();
        let points =
            |agent: &Agent| agent.points.iter().zip(&agent.came).filter(|(_, came)| **came).map(|(n, _)| n).sum();
        self.account.points = self.agents.iter().map(points).collect();
        let why = |state: &AgentState| if let AgentState::Lost { why } = state { Some(why.clone()) } else { None };
        let lost: Vec<_> = self.roster.states().map(why).collect();
        let members = Members(self.members.into_iter().zip(lost).collect());
        (members.figures(Duration::from_millis(1)), self.account)
    }

    fn is_bad(&mut self) -> bool {
        self.rng.u32(..100) < self.size.bad_pct
    }

    /// What the coordinator repeats to an agent: up to which of its reports all have come.
    fn hear(&mut self, place: usize) {
        if !self.is_bad() {
            let received = self.members[place].reports.next();
            self.agents[place].waiting.retain(|(number, ..)| *number >= received);
        }
    }

    /// The windows of the seconds that have ended; each agent's seconds end for themselves.
    fn tell(&mut self, place: usize, now_ns: u64) {
        let next = self.agents[place].points.len() as u64;
        let own_ns = place as u64 % 4 * STEP_NS;
        let is_due = now_ns >= (next + 1) * WINDOW_NS + own_ns;
        let is_silent = self.agents[place].is_silent && next > 0;
        if next == self.size.windows || !is_due || is_silent {
            return;
        }
        let window = self.window(next);
        let points = window.counts().points.acked;
        let is_finished = next + 1 == self.size.windows;
        let told = Told { slices: vec![SentSlice::new(0, vec![window])], is_finished, ..Told::default() };
        let report = Report { run: self.run.clone(), news: PartNews::Told { number: next, told } };
        let (bytes, took) = timed(|| Bytes::from(encode(&report).unwrap()));
        self.account.encoding += took;
        self.account.reports += 1;
        self.account.bytes += bytes.len() as u64;
        self.account.longest = self.account.longest.max(bytes.len());
        let agent = &mut self.agents[place];
        agent.points.push(points);
        agent.came.push(false);
        agent.waiting.push_back((next, bytes.clone(), now_ns));
        self.send(place, next, &bytes, now_ns);
    }

    fn repeat(&mut self, place: usize, now_ns: u64) {
        let agent = &mut self.agents[place];
        if agent.is_silent {
            return;
        }
        let mut again = Vec::new();
        for (number, bytes, sent_ns) in agent.waiting.iter_mut().filter(|(.., sent_ns)| now_ns >= *sent_ns + REPEAT_NS)
        {
            *sent_ns = now_ns;
            again.push((*number, bytes.clone()));
        }
        again.iter().for_each(|(number, bytes)| self.send(place, *number, bytes, now_ns));
    }

    fn send(&mut self, place: usize, number: u64, bytes: &Bytes, now_ns: u64) {
        let (is_lost, is_doubled) = (self.is_bad(), self.is_bad());
        self.account.lost += u64::from(is_lost);
        self.account.doubled += u64::from(is_doubled);
        for _ in 0..u8::from(!is_lost) + u8::from(is_doubled) {
            // Where nothing is bad, messages do not overtake each other either.
            let way_ns = if self.size.bad_pct == 0 { 0 } else { self.rng.u64(..LONGEST_WAY_NS) };
            self.sent += 1;
            self.on_the_way.insert((now_ns + way_ns, self.sent), (place, number, bytes.clone()));
        }
    }

    fn deliver(&mut self, now_ns: u64) {
        while let Some(first) = self.on_the_way.first_entry().filter(|first| first.key().0 <= now_ns) {
            let (place, number, bytes) = first.remove();
            self.account.overtaken += u64::from(number > self.members[place].reports.next());
            let Self { members, roster, run, desk, .. } = self;
            let ((), took) = timed(|| take(members, roster, run, place, &bytes, desk));
            self.account.taking += took;
            self.account.most_ahead = self.account.most_ahead.max(self.members[place].progress.len());
            self.agents[place].came[usize::try_from(number).unwrap()] = true;
        }
    }

    /// A second of an agent: response times about 300 µs, with a long tail.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "response times of a few ms")]
    fn window(&mut self, second: u64) -> Window {
        let mut recorder = Recorder::new(Arc::clone(&self.kinds));
        let (from_ns, operations) = (second * WINDOW_NS, self.size.operations);
        for group in 0..self.kinds.len() {
            for number in 0..operations {
                let due_ns = from_ns + number * (WINDOW_NS / 2) / operations;
                let (lag_ns, tail) = (self.rng.u64(5_000..60_000), self.rng.f64());
                let service_ns = 200_000 + (100_000.0 * -(1.0 - tail).ln()) as u64;
                let timing = Timing::new(due_ns, due_ns + lag_ns, due_ns + lag_ns + service_ns).unwrap();
                recorder.generate_points(due_ns, 1, 0);
                recorder.offer(group, due_ns, 1);
                recorder.start(group, due_ns, timing.sent_ns(), 1);
                recorder.complete(group, Answer::Ok, &timing, &Payload::undivided(Answer::Ok, 1, 5, 100));
            }
        }
        recorder.take_windows((second + 1) * WINDOW_NS).pop().unwrap()
    }
}

/// Clocks of which the true offset is known: what is told of it holds.
fn clocks(rng: &mut Rng) -> Clocks {
    let offset_ns = rng.i64(-1_000_000_000_000..1_000_000_000_000);
    let trip = |n: usize| {
        let (sent_ns, there_ns, back_ns) = (n as i64 * 1_000_000, rng.i64(..2_000_000), rng.i64(..2_000_000));
        let (there_ns, back_ns) = (there_ns.abs() % 2_000_000, back_ns.abs() % 2_000_000);
        let came_ns = sent_ns + there_ns + offset_ns;
        RoundTrip { sent_ns, came_ns, answered_ns: came_ns, back_ns: sent_ns + there_ns + back_ns }
    };
    let clocks = Clocks::new(Offset::of(&(0..ROUND_TRIPS).map(trip).collect::<Vec<_>>()).unwrap());
    assert!(clocks.agents_ns(0).abs_diff(offset_ns) <= clocks.uncertainty_ns());
    clocks
}

fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

/// The CPU time of this thread that it takes.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = cpu();
    (work(), cpu() - before)
}

/// A line of the process's status, in bytes.
fn memory(line: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kib = status.lines().find_map(|l| l.strip_prefix(line)?.strip_prefix(':')?.split_whitespace().next());
    kib.unwrap().parse::<u64>().unwrap() * 1024
}

/// The load of a run, made by the simulation.
#[derive(Debug)]
struct Simulated {
    size: Size,
    account: Arc<Mutex<Account>>,
}

struct UnderWay(JoinHandle<Vec<AgentFigures>>);

impl Loaders for Simulated {
    fn connect(&self, planned: &Planned, desk: Desk) -> Result<Box<dyn Loading>, Error> {
        let (size, planned, account) = (self.size, planned.clone(), Arc::clone(&self.account));
        Ok(Box::new(UnderWay(std::thread::spawn(move || {
            let (figures, found) = Simulation::new(size, &planned, &desk).conduct();
            *account.lock().unwrap() = found;
            figures
        }))))
    }
}

impl Loading for UnderWay {
    fn start(&self, _: Instant) {}

    fn are_finished(&self) -> bool {
        self.0.is_finished()
    }

    fn clients(&self, _: u32) -> Vec<(String, ClientLoad)> {
        Vec::new()
    }

    fn join(self: Box<Self>) -> Result<Vec<AgentFigures>, String> {
        self.0.join().map_err(|_| "the simulation panicked".into())
    }
}

/// A run of so many agents; its control thread is this one. The CPU time of that, besides.
fn simulate(size: Size) -> (Outcome, Account, Duration) {
    let mut profile = "name = \"scale\"\nsummary = \"test\"\n[dataset]\nname = \"machine\"\n".to_owned();
    for group in 0..size.groups {
        let load = "load = { model = \"open\", rate = 1 }\noperations = [{ kind = \"write\", datapoints = 1 }]";
        let devices = if size.groups > 1 { "devices = 1\n" } else { "" };
        write!(profile, "[[groups]]\nname = \"group-{group}\"\nconnections = 1\n{devices}{load}\n").unwrap();
    }
    profile.push_str("[phases]\nduration = \"1h\"\n");
    let service =
        Program { service: ServiceTime::Constant(Duration::ZERO), discipline: Discipline::Parallel, faults: vec![] };
    let server = Server::start(Settings::new(service, Instant::now())).unwrap();
    let request = PlanRequest {
        profile: parse_profile("scale.toml", &profile).unwrap(),
        profile_file: "scale.toml".into(),
        base: Path::new("."),
        run_id: "scale".into(),
        target: target(server.address()),
        now_ns: 0,
    };
    let planned = plan(request, &OracleBackend).unwrap();
    let account = Arc::new(Mutex::new(Account::default()));
    let loaders: Arc<dyn Loaders> = Arc::new(Simulated { size, account: Arc::clone(&account) });
    let options = RunOptions { loaders: Some(loaders), ..RunOptions::default() };
    let (outcome, took) = timed(|| run(planned, &OracleBackend, options, &mut (), &StopSignal::default()));
    let account = account.lock().unwrap().clone();
    (outcome, account, took)
}

/// Whatever the network does, each report counts once, and exactly those agents are lost that fell silent.
#[test]
fn what_a_thousand_agents_recorded_is_merged_once() {
    let size = Size { agents: 1_000, groups: 1, operations: 5, windows: 3, bad_pct: 5 };
    let (outcome, account, _) = simulate(size);
    assert!(account.lost > 50 && account.doubled > 50 && account.overtaken > 50, "{account:?}");
    let silent = account.silent.iter().filter(|silent| **silent).count();
    assert!(silent > 10 && outcome.agents.len() == 1_000, "{silent}");
    for ((agent, points), silent) in outcome.agents.iter().zip(&account.points).zip(&account.silent) {
        assert_eq!(
            (agent.points.acked, agent.load.ok, agent.response.count()),
            (*points, *points, *points),
            "{agent:?}"
        );
        assert_eq!(agent.lost.is_some(), *silent, "{}: {:?}", agent.name, agent.lost);
        assert!(*silent || *points == size.operations * size.windows, "{}: {points}", agent.name);
    }
    assert_eq!(outcome.points.acked, account.points.iter().sum::<u64>(), "{:?}", outcome.verdict);
    assert_eq!(outcome.points.check(), Ok(()));
    assert!(account.most_ahead as u64 <= size.windows, "what waits is what was told: {}", account.most_ahead);
}

/// The figures of `docs/scale.md`, one row a process: agents, groups, operations a second and group, windows.
#[test]
#[ignore = "prints figures: IOTBENCH_SCALE='1000 1 100 5' cargo test --release … -- --ignored --nocapture"]
fn figures() {
    let row = std::env::var("IOTBENCH_SCALE").unwrap_or_else(|_| "10 1 100 5".into());
    let numbers: Vec<u64> = row.split(' ').map(|number| number.parse().unwrap()).collect();
    let [agents, groups, operations, windows] = numbers[..] else { panic!("four numbers: {row:?}") };
    let (agents, groups) = (usize::try_from(agents).unwrap(), usize::try_from(groups).unwrap());
    let (outcome, account, control) = simulate(Size { agents, groups, operations, windows, bad_pct: 0 });
    assert_eq!(outcome.points.acked, account.points.iter().sum::<u64>(), "{:?}", outcome.verdict);
    let each = |time: Duration| time.as_secs_f64() * 1e6 / account.reports as f64;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "agents {agents}, groups {groups}, operations {operations}: a report {:.1} KiB, longest {:.1} KiB; µs a report: \
         encode {:.0}, take {:.0}, add up {:.0}; MiB: at the end {:.0} more, peak {:.0} more, messages kept {:.0}",
        account.bytes as f64 / account.reports as f64 / 1024.0,
        account.longest as f64 / 1024.0,
        each(account.encoding),
        each(account.taking),
        each(control),
        mib(account.after.saturating_sub(account.before)),
        mib(memory("VmHWM").saturating_sub(account.before)),
        mib(account.kept),
    );
}
