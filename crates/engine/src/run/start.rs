//! Before the first operation: connections, clocks, and all that watches the load.

use super::{
    Session,
    client_watch::ClientWatch,
    load::{Ending, Running, Sampling, StepBeginning},
    scenario_actions::ScenarioActions,
    telling::Telling,
    whose::ServersFound,
};
use crate::{
    ceiling::ceiling_per_s,
    clock::RunClock,
    control::Control,
    counters::{CounterSeries, CountersWatch},
    ledger::Reached,
    loading::{Desk, Loading},
    outcome::Phase,
    plan::{Load, Plan},
    ramp::Quantity,
    remote_sampling::RemoteSampling,
    slice::{SLICES, Slice},
    threads::{LoadRequest, LoadThreads, blocking_threads, kinds},
    totals::Totals,
    verdict::Reason,
    verify::{Frontier, Probe, ProbeParts, ReadTerms, Sought, Verifier, Witness},
    via::Account,
};
use iotbench_core::{Acknowledgement, AddedSignals, CLIENT_ROLE, Cause, Error, MACHINE_ROLE, SERVER_ROLE, SHARED_ROLE};
use iotbench_sampler::{Observation, OthersWatch, Reading, Sampler, SamplerError, Subject, Target, processors};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{SyncSender, sync_channel},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// From connected threads to the first operation.
const LEAD: Duration = Duration::from_millis(50);
/// The same where the load is made elsewhere: all have to hear of it, on a common second of the wall clock.
const LEAD_ELSEWHERE: Duration = Duration::from_millis(500);

impl Session<'_> {
    pub(super) fn start(&mut self) -> Result<Running, Reason> {
        let shared = self.outcome.target.embedded;
        // What this process can make says nothing of agents.
        let null = self.options.null.filter(|_| !shared && self.options.loaders.is_none());
        let ceiling_per_s = null.and_then(|null| ceiling_per_s(&self.planned, null, self.stop));
        let plan = &self.planned.plan;
        let blocking = self.backend.info().capabilities.blocking;
        let users = match &plan.ramp {
            Some(ramp) if ramp.quantity == Quantity::Users => ramp.first(),
            Some(_) => 0,
            None => closed_users(plan),
        };
        let budget_from_ns = if plan.ramp.is_some() { 0 } else { plan.phases.warmup_ns };
        let control =
            Arc::new(Control::new(users, plan.phases.operations, budget_from_ns, blocking_threads(plan, blocking)));
        let table = &plan.table;
        if table.schema.added() > 0 {
            control.gate().guard((self.backend.info().added_signals)(table.layout) == AddedSignals::Altered);
        }
        let verifier = self.verifier().map_err(target)?;
        let (sender, slices) = sync_channel(SLICES);
        let reached = self.journal.is_some().then(|| Arc::new(Reached::default()));
        let account = self.carrying_account();
        let witness = verifier.as_ref().map(Verifier::witness);
        let elsewhere = self.remote_sampling().map_err(target)?;
        let loading = self.connect(&control, sender, reached.clone(), witness, account.clone()).map_err(target)?;
        self.write_back_before();
        self.begin_probing();
        let plan = &self.planned.plan;
        let start_utc_ns = plan.start_utc_ns.or_else(|| self.options.loaders.as_ref().map(|_| common_start_utc_ns()));
        let clock = RunClock::starting_at(epoch(start_utc_ns));
        let readings = Arc::new(Mutex::new(Vec::new()));
        let limit = self.planned.plan.phases.others_cpu;
        let others = Arc::new(Mutex::new(OthersWatch::new(processors().unwrap_or(1), limit)));
        let servers = self.servers_by_address();
        self.outcome.machine.others.not_judged = self.others_not_judged(&servers);
        let named = servers.names.iter().map(|name| format!("the server's resources are those of {name}"));
        self.outcome.plan.remarks.extend(named);
        let seen = (Arc::clone(&readings), Arc::clone(&others));
        let sampler = self.sampler(clock, elsewhere.as_deref(), servers, seen).map_err(|e| not_sampled(&e))?;
        let client = ClientWatch::start(clock.epoch(), shared, ceiling_per_s, plan.connections())
            .map_err(|e| Reason::Internal(format!("cannot start a thread: {e}")))?;
        let totals = Totals::new(kinds(plan));
        let warm_up = plan.phases.warmup_ns > 0 && plan.ramp.is_none();
        let phase = if warm_up { Phase::WarmUp } else { Phase::Measure };
        let probe = self.probe(clock, verifier.as_ref().and_then(Verifier::frontier)).map_err(target)?;
        if self.options.loaders.is_some() && self.planned.plan.reads() && self.planned.plan.writes() {
            let remark = "freshness was not measured, nor are answers judged that are about devices of other agents: none knows what the others \
                 wrote";
            self.outcome.plan.remarks.push(remark.into());
        }
        let visible = self.visible_series(clock).map_err(target)?;
        let counters = self.counter_series(clock).map_err(target)?;
        let acting = self.acting(clock)?;
        loading.start(clock.epoch());
        if let Some(elsewhere) = &elsewhere {
            elsewhere.start(clock.epoch());
        }
        self.outcome.plan.start_utc_ns = start_utc_ns;
        Ok(Running {
            clock,
            control,
            totals,
            visible,
            counters,
            slices,
            reached,
            loading,
            acting,
            verifier,
            probe,
            client,
            sampling: Sampling { sampler, elsewhere, readings, others },
            telling: Telling::new(phase),
            account,
            altering: None,
            ending: Ending::default(),
            beginning: StepBeginning::default(),
        })
    }

    /// Has the load connected: by threads of this process, or elsewhere.
    fn connect(
        &self,
        control: &Arc<Control>,
        slices: SyncSender<Slice>,
        reached: Option<Arc<Reached>>,
        witness: Option<Witness>,
        account: Option<Arc<Account>>,
    ) -> Result<Box<dyn Loading>, Error> {
        let planned = &self.planned;
        if let Some(loaders) = &self.options.loaders {
            return loaders.connect(planned, Desk::new(&planned.plan, control, slices, reached, self.read_terms()));
        }
        let (blocking, trace) = (self.backend.info().capabilities.blocking, self.options.trace);
        let via = self.options.via.as_ref().map(|via| Arc::clone(&via.carrier)).zip(account);
        let pulses = self.hoard.as_ref().map(|watch| watch.pulses().clone());
        let request = LoadRequest {
            planned,
            database: &self.database,
            control,
            slices,
            blocking,
            trace,
            reached,
            witness,
            via,
            pulses,
        };
        Ok(Box::new(LoadThreads::connect(request)?))
    }

    /// How what is read is judged.
    fn read_terms(&self) -> ReadTerms {
        let facts = self.outcome.target.facts.as_ref();
        let acknowledged_is_visible =
            facts.is_none_or(|f| f.acknowledgement >= Acknowledgement::Applied && !f.may_lose_acknowledged());
        ReadTerms { mode: self.options.verify, acknowledged_is_visible }
    }

    /// Compares what is read here; `None`: nothing is.
    fn verifier(&self) -> Result<Option<Verifier>, Error> {
        if self.options.loaders.is_some() {
            return Ok(None);
        }
        Verifier::of(&self.planned, &self.backend.info().capabilities, self.read_terms())
    }

    /// Measures how long acknowledged datapoints take to be seen, where some write and others read.
    fn probe(&self, clock: RunClock, frontier: Option<Arc<Frontier>>) -> Result<Option<Probe>, Error> {
        let plan = &self.planned.plan;
        let start = |frontier| {
            Probe::start(ProbeParts {
                database: Arc::clone(&self.database),
                clock,
                sought: Sought {
                    dataset: Arc::clone(&self.planned.dataset),
                    frontier,
                    seed: plan.seed,
                    deadline: Duration::from_nanos(plan.phases.deadline_ns),
                },
            })
        };
        frontier.map(start).transpose()
    }

    /// Begins to read what the server counts of itself, where it counts something and the plan does not say otherwise.
    fn counter_series(&self, clock: RunClock) -> Result<Option<CounterSeries>, Error> {
        let sources = self.backend.info().counters;
        if sources.is_empty() || !self.planned.plan.phases.server_counters {
            return Ok(None);
        }
        let watch = CountersWatch::start(Arc::clone(&self.database), clock)?;
        Ok(Some(CounterSeries::of(watch, sources)))
    }

    /// Begins the scenario, if the plan has one.
    fn acting(&self, clock: RunClock) -> Result<Option<ScenarioActions>, Reason> {
        let actions = self.planned.plan.scenario.clone();
        if actions.is_empty() {
            return Ok(None);
        }
        let processes = self.options.processes.clone();
        let processes = processes.ok_or_else(|| Reason::Internal("nobody can act on the server's processes".into()))?;
        let acting = ScenarioActions::start(actions, processes, clock);
        acting.map(Some).map_err(|e| Reason::Internal(format!("cannot start a thread: {e}")))
    }

    fn remote_sampling(&self) -> Result<Option<Box<dyn RemoteSampling>>, Error> {
        let run = &self.planned.plan.run_id;
        self.options.remote_samplers.as_ref().map(|elsewhere| elsewhere.connect(run, self.servers())).transpose()
    }

    /// How many servers this process has started.
    fn servers(&self) -> u32 {
        let servers = self.planned.open.target.nodes.iter().filter(|node| node.role == SERVER_ROLE).count();
        u32::try_from(servers).unwrap_or(u32::MAX)
    }

    fn sampler(
        &self,
        clock: RunClock,
        elsewhere: Option<&dyn RemoteSampling>,
        servers: ServersFound,
        (readings, others): (Arc<Mutex<Vec<Reading>>>, Arc<Mutex<OthersWatch>>),
    ) -> Result<Sampler, SamplerError> {
        let role = if self.backend.info().capabilities.embedded { SHARED_ROLE } else { CLIENT_ROLE };
        let own = Subject { role: role.into(), node: 0, target: own_tree() };
        let of_broker = self.options.via.iter().flat_map(|via| &via.nodes);
        let nodes = self.planned.open.target.nodes.iter().chain(of_broker).filter_map(|n| {
            Some(Subject {
                role: n.role.clone(),
                node: n.node,
                target: Target::ProcessTree { pid: i32::try_from(n.pid?).ok()? },
            })
        });
        let told = elsewhere.map(RemoteSampling::subjects).unwrap_or_default();
        let elsewhere = told.into_iter().zip(self.servers()..);
        let elsewhere =
            elsewhere.map(|(told, node)| Subject { role: SERVER_ROLE.into(), node, target: Target::Remote(told) });
        let machine = Subject { role: MACHINE_ROLE.into(), node: 0, target: Target::Host };
        let found = servers.pids.into_iter().zip(0..).map(|(pid, node)| Subject {
            role: SERVER_ROLE.into(),
            node,
            target: Target::ProcessTree { pid },
        });
        let subjects: Vec<_> =
            std::iter::once(own).chain(nodes).chain(found).chain(elsewhere).chain([machine]).collect();
        // On a busy machine the first second may be told before the first tick, and says whose figures all seconds have.
        *readings.lock().unwrap_or_else(PoisonError::into_inner) =
            subjects.iter().map(Reading::before_first_tick).collect();
        Sampler::start(clock.epoch(), Duration::from_secs(1), subjects, move |tick| {
            let host = tick.iter().find(|reading| &*reading.role == MACHINE_ROLE);
            if let Some(Observation::Sampled(sample)) = host.map(|reading| &reading.observation) {
                others.lock().unwrap_or_else(PoisonError::into_inner).add(*sample);
            }
            tick.clone_into(&mut readings.lock().unwrap_or_else(PoisonError::into_inner));
        })
    }
}

/// The users of all closed loops.
fn closed_users(plan: &Plan) -> u32 {
    let users = |load: &Load| if let Load::Closed { users, .. } = load { *users } else { 0 };
    plan.groups.iter().map(|group| users(&group.load)).sum()
}

fn target(error: Error) -> Reason {
    Reason::Target { cause: error.cause, message: error.message }
}

/// Only a server can be gone before it is sampled: we are here.
fn not_sampled(error: &SamplerError) -> Reason {
    match error {
        SamplerError::Subject { .. } => Reason::Target { cause: Cause::Server, message: error.to_string() },
        SamplerError::ZeroInterval | SamplerError::Thread(_) => Reason::Internal(error.to_string()),
    }
}

fn own_tree() -> Target {
    Target::ProcessTree { pid: rustix::process::getpid().as_raw_nonzero().get() }
}

/// The first whole second of the wall clock that leaves enough time to tell everybody.
fn common_start_utc_ns() -> i64 {
    let soon = SystemTime::now() + LEAD_ELSEWHERE;
    let seconds = soon.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() + 1;
    i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000_000)
}

/// When the load starts: soon, or at a given time of the wall clock.
fn epoch(start_utc_ns: Option<i64>) -> Instant {
    let soon = Instant::now() + LEAD;
    let Some(start_ns) = start_utc_ns.and_then(|ns| u64::try_from(ns).ok()) else { return soon };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    match Duration::from_nanos(start_ns).checked_sub(now) {
        Some(wait) => soon.max(Instant::now() + wait),
        None => soon,
    }
}
