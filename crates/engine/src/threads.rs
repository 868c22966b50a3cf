//! The load threads of a run: how many, what each drives, and how they start together.

mod assign;

use assign::{LoopPlan, assign};

use crate::{
    agents::AgentFigures,
    caught::caught,
    client::ClientLoad,
    clock::RunClock,
    connection::{Connection, Role},
    control::Control,
    hoard::Pulses,
    ledger::Reached,
    load_loop::{Accounting, GroupOperations, LoadLoop, LoadLoopParts, Reading, Tracking},
    loading::Loading,
    pacer::{self, Handover, Pace},
    plan::{GroupPlan, OperationPlan, Plan, Planned},
    read::History,
    slice::Slice,
    verify::{Frontier, Witness},
    via::{Account, WayPlan, WayThreads},
};
use iotbench_core::{Batch, Carrier, Cause, Database, Error, Way};
use iotbench_recorder::{OperationKind, Recorder, Requests};
use std::{
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::watch;

/// How long before the start the load threads sleep exactly.
const EXACT_STRETCH: Duration = Duration::from_millis(10);

/// What all threads share.
#[derive(Clone)]
struct Shared {
    control: Arc<Control>,
    database: Arc<dyn Database>,
    batch: Batch,
    kinds: Arc<[OperationKind]>,
    slices: SyncSender<Slice>,
    start: watch::Receiver<Option<RunClock>>,
    deadline: Duration,
    trace: bool,
    reached: Option<Arc<Reached>>,
    witness: Option<Witness>,
    frontier: Option<Arc<Frontier>>,
    pulses: Option<Pulses>,
}

/// The threads of a run, connected and waiting for the start.
pub struct LoadThreads {
    threads: Vec<JoinHandle<()>>,
    start: watch::Sender<Option<RunClock>>,
}

/// What the threads need to know beyond the plan.
pub struct LoadRequest<'a> {
    /// The plan and its data.
    pub planned: &'a Planned,
    /// The database, created.
    pub database: &'a Arc<dyn Database>,
    /// The state shared with the control thread.
    pub control: &'a Arc<Control>,
    /// To the control thread.
    pub slices: SyncSender<Slice>,
    /// Whether the backend's calls block.
    pub blocking: bool,
    /// Whether every operation is told.
    pub trace: bool,
    /// Told how far datapoints are sent, where a ledger is kept.
    pub reached: Option<Arc<Reached>>,
    /// Has answers compared, where something is read.
    pub witness: Option<Witness>,
    /// What carries what is written, and the account of it, where devices do not write themselves.
    pub via: Option<(Arc<dyn Carrier>, Arc<Account>)>,
    /// Where the threads say that they look up, where what a server sends is watched.
    pub pulses: Option<Pulses>,
}

/// What was in the database before the load.
pub fn history(planned: &Planned) -> History {
    let phases = &planned.plan.phases;
    let dataset = Arc::clone(&planned.dataset);
    History { dataset, devices: phases.preload_devices, positions: phases.preload }
}

/// The kinds of operations in a run's recorders: the operations of all groups in the plan's order.
pub fn kinds(plan: &Plan) -> Arc<[OperationKind]> {
    let kind = |operation: &OperationPlan| {
        let requests = match (operation.is_one_request(), operation.has_pauses()) {
            (true, _) => Requests::One,
            (false, false) => Requests::Many,
            (false, true) => Requests::Paused,
        };
        OperationKind { name: operation.name.clone(), requests }
    };
    plan.groups.iter().flat_map(GroupPlan::operations).map(kind).collect()
}

/// How many threads may block at once: those that a watch must stand over.
pub fn blocking_threads(plan: &Plan, blocking: bool) -> usize {
    if blocking { plan.groups.iter().map(|g| g.connections as usize).sum() } else { 0 }
}

impl LoadThreads {
    /// Starts the threads and opens their connections.
    ///
    /// # Errors
    /// The first connection that could not be opened.
    pub fn connect(request: LoadRequest<'_>) -> Result<Self, Error> {
        let LoadRequest { planned, database, control, slices, blocking, trace, reached, witness, via, pulses } =
            request;
        let (start, started) = watch::channel(None);
        let shared = Shared {
            control: Arc::clone(control),
            database: Arc::clone(database),
            batch: Batch::new(planned.dataset.schema()),
            kinds: kinds(&planned.plan),
            slices,
            start: started,
            deadline: Duration::from_nanos(planned.plan.phases.deadline_ns),
            trace,
            reached,
            frontier: witness.as_ref().and_then(|witness| witness.frontier().cloned()),
            witness,
            pulses,
        };
        let account = via.as_ref().map(|(_, account)| account);
        let (mut loops, paced, ways) = assign(planned, control, blocking, account);
        control.set_loops(1 + loops.iter().map(Vec::len).sum::<usize>());
        let (ready, readiness) = sync_channel(loops.len() + 2 * ways.len() + 1);
        let mut threads = vec![spawn("pacer", {
            let shared = shared.clone();
            move || pace(&shared, paced)
        })?];
        let count = loops.len() + 2 * ways.len();
        if let Some((carrier, account)) = via {
            threads.extend(carry(&shared, planned, carrier, account, ways, &ready)?);
        }
        for (number, plans) in loops.drain(..).enumerate() {
            let (shared, ready) = (shared.clone(), ready.clone());
            let blocking_thread = blocking.then_some(number);
            threads.push(spawn("load", move || drive(&shared, plans, blocking_thread, &ready))?);
        }
        let this = Self { threads, start };
        match wait_for(&readiness, count) {
            Ok(()) => Ok(this),
            Err(error) => {
                drop(this.start);
                Err(error)
            }
        }
    }

    /// Starts the load.
    pub fn start(&self, clock: RunClock) {
        self.start.send_replace(Some(clock));
    }

    /// Whether all threads have ended.
    pub fn are_finished(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Waits for the threads.
    ///
    /// # Errors
    /// A thread panicked: a fault of the program.
    pub fn join(self) -> Result<(), String> {
        for thread in self.threads {
            thread.join().map_err(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
                format!("a load thread panicked: {}", text.unwrap_or("no message"))
            })?;
        }
        Ok(())
    }
}

impl Loading for LoadThreads {
    fn start(&self, epoch: Instant) {
        Self::start(self, RunClock::starting_at(epoch));
    }

    fn are_finished(&self) -> bool {
        Self::are_finished(self)
    }

    fn clients(&self, _generation: u32) -> Vec<(String, ClientLoad)> {
        Vec::new()
    }

    fn join(self: Box<Self>) -> Result<Vec<AgentFigures>, String> {
        Self::join(*self).map(|()| Vec::new())
    }
}

/// Starts the threads between devices and writers.
fn carry(
    shared: &Shared,
    planned: &Planned,
    carrier: Arc<dyn Carrier>,
    account: Arc<Account>,
    ways: Vec<WayPlan>,
    ready: &SyncSender<Result<(), Error>>,
) -> Result<Vec<JoinHandle<()>>, Error> {
    let threads = WayThreads {
        carrier,
        account,
        control: Arc::clone(&shared.control),
        start: shared.start.clone(),
        slices: shared.slices.clone(),
        kinds: Arc::clone(&shared.kinds),
        batch: shared.batch.clone(),
        devices: planned.plan.table.devices,
        patience: shared.deadline,
    };
    let mut handles = Vec::with_capacity(2 * ways.len());
    for plan in ways {
        let schema = planned.dataset.schema().clone();
        let way = Way { run: planned.plan.run_id.clone(), group: plan.group, schema };
        handles.extend(threads.spawn(plan, way, ready)?);
    }
    Ok(handles)
}

pub(crate) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let spawned = std::thread::Builder::new().name(format!("iotbench-{name}")).spawn(body);
    spawned.map_err(|e| Error::new(Cause::Client, format!("cannot start a thread: {e}")))
}

fn wait_for(readiness: &Receiver<Result<(), Error>>, count: usize) -> Result<(), Error> {
    for _ in 0..count {
        readiness.recv().map_err(|_| Error::new(Cause::Client, "a load thread ended before the start"))??;
    }
    Ok(())
}

fn pace(shared: &Shared, paced: Pace) {
    let recorder = Recorder::new(Arc::clone(&shared.kinds));
    let Some(clock) = wait_for_start(shared) else { return };
    pacer::run(clock, &shared.control, paced, recorder, |handover| {
        let Handover { generation, windows, unoffered, late, pending } = handover;
        if !windows.is_empty() || late.is_some() || unoffered > 0 || pending > 0 {
            // Without a receiver the run is over.
            let _ = shared.slices.send(Slice { generation, windows, unoffered, late, pending, ..Slice::default() });
        }
    });
}

/// Blocks a thread outside any runtime until the start; `None`: there will be none.
fn wait_for_start(shared: &Shared) -> Option<RunClock> {
    let mut start = shared.start.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().build().ok()?;
    let clock = runtime.block_on(start.wait_for(Option::is_some)).ok().and_then(|clock| *clock)?;
    std::thread::sleep(clock.epoch().saturating_duration_since(Instant::now()));
    Some(clock)
}

fn drive(shared: &Shared, plans: Vec<LoopPlan>, blocking_thread: Option<usize>, ready: &SyncSender<Result<(), Error>>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            let _ = ready.send(Err(Error::new(Cause::Client, format!("cannot start a runtime: {e}"))));
            return;
        }
    };
    runtime.block_on(async {
        // It ends with the runtime.
        shared.pulses.iter().for_each(|pulses| drop(tokio::spawn(pulses.begin().go_on())));
        let mut opened = Vec::new();
        for plan in plans {
            match open(shared, plan.role, plan.connections).await {
                Ok(connections) => opened.push((plan, connections)),
                Err(error) => {
                    let _ = ready.send(Err(error));
                    return;
                }
            }
        }
        let _ = ready.send(Ok(()));
        let mut start = shared.start.clone();
        let Some(clock) = start.wait_for(Option::is_some).await.ok().and_then(|clock| *clock) else { return };
        // Built before the start, so that the first operations do not wait for it.
        let build = |(plan, connections): (LoopPlan, _)| {
            let LoopPlan { operations, group, first_kind, .. } = plan;
            let LoopPlan { pacer_offers, has_schedule, has_pacing_error, .. } = plan;
            let frontier = shared.frontier.clone().filter(|_| plan.role == Role::Writes);
            LoadLoop::new(LoadLoopParts {
                clock,
                control: Arc::clone(&shared.control),
                database: Arc::clone(&shared.database),
                source: (plan.source)(clock),
                operations: GroupOperations { mix: operations, group, first_kind },
                pauses: plan.pauses,
                role: plan.role,
                connections,
                blocking_thread,
                reading: plan.asker.zip(shared.witness.clone()).map(|(asker, witness)| Reading { asker, witness }),
                tracking: Tracking { frontier, reached: shared.reached.clone() },
                batch: shared.batch.clone(),
                deadline: shared.deadline,
                accounting: Accounting { trace: shared.trace, pacer_offers, has_schedule, has_pacing_error },
                recorder: Recorder::new(Arc::clone(&shared.kinds)),
                slices: shared.slices.clone(),
            })
        };
        let loops: Vec<LoadLoop> = opened.into_iter().map(build).collect();
        wait_for_epoch(clock).await;
        futures_util::future::join_all(loops.into_iter().map(LoadLoop::run)).await;
    });
}

/// Before the start nothing else is to do on a load thread, so that its last stretch can be slept exactly: the runtime's
/// timer knows whole milliseconds only.
async fn wait_for_epoch(clock: RunClock) {
    if let Some(nearly) = clock.epoch().checked_sub(EXACT_STRETCH) {
        tokio::time::sleep_until(nearly.into()).await;
    }
    std::thread::sleep(clock.epoch().saturating_duration_since(Instant::now()));
}

async fn open(shared: &Shared, role: Role, connections: u32) -> Result<Vec<Connection>, Error> {
    let mut opened = Vec::new();
    for _ in 0..connections {
        opened.push(caught(Connection::open(&*shared.database, role)).await?);
    }
    Ok(opened)
}
