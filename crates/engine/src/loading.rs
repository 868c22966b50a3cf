//! Who makes the load of a run: threads of this process, or processes elsewhere, each a part of it.
//!
//! All else of a run stays where it was: phases, generations, totals, ledger and verdict are the control thread's, which
//! tells whoever makes the load what it would tell its own threads ([`Orders`]), and takes from them what it would take from
//! these ([`SentSlice`]).

use crate::{
    agents::AgentFigures,
    client::ClientLoad,
    clock::RunClock,
    control::{Control, Generation},
    ledger::Reached,
    plan::{Plan, Planned},
    run::client_watch::ClientWatch,
    slice::{NotOurSlice, SLICES, SentSlice, Slice},
    threads::{LoadRequest, LoadThreads, blocking_threads, kinds},
};
use iotbench_core::{Backend, Cause, Database, Error};
use iotbench_recorder::OperationKind;
use iotbench_sampler::CpuShares;
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fmt,
    ops::Range,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

/// A load that is connected and waits for its start.
pub trait Loading: Send {
    /// Begins it at this instant.
    fn start(&self, epoch: Instant);

    /// Whether nothing more of it is to come.
    fn are_finished(&self) -> bool;

    /// Waits for its end; what each agent did, where there are any.
    ///
    /// # Errors
    /// It ended by a fault of the program.
    fn join(self: Box<Self>) -> Result<Vec<AgentFigures>, String>;
}

/// Has the load of a run made elsewhere.
pub trait Loaders: Send + Sync + fmt::Debug {
    /// Has every part of the load open its connections.
    ///
    /// # Errors
    /// A part cannot.
    fn connect(&self, planned: &Planned, desk: Desk) -> Result<Box<dyn Loading>, Error>;
}

/// What the control thread tells those who make the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Orders {
    /// The present generation, from 0.
    generation: u32,
    /// When it begins, in nanoseconds since the run's start.
    generation_start_ns: u64,
    /// No operation starts from then on.
    stop_at_ns: u64,
    /// Operations under way are given up.
    abandon: bool,
}

impl Orders {
    /// Nobody wants the load any more.
    #[must_use]
    pub fn give_up() -> Self {
        Self { generation: 0, generation_start_ns: 0, stop_at_ns: 0, abandon: true }
    }
}

/// What a part of the load tells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// What was recorded, one element a message.
    pub slices: Vec<SentSlice>,
    /// The end of what may have been sent: see the ledger's reservation.
    pub reached: u64,
    /// An error that ends the run.
    pub failure: Option<(Cause, String)>,
    /// How long after its start it was told to begin, in nanoseconds.
    pub late_ns: u64,
    /// At its end: what was measured of the process that made it, over the measured part.
    pub client: Option<ClientLoad>,
    /// Whether it has ended, and this is all.
    pub is_finished: bool,
}

impl Told {
    /// Whether it says more than how far it has come.
    #[must_use]
    pub fn is_news(&self) -> bool {
        !self.slices.is_empty() || self.failure.is_some()
    }

    /// The same in pieces of at most one slice: a message has a greatest length.
    #[must_use]
    pub fn in_pieces(mut self) -> Vec<Self> {
        let slices = std::mem::take(&mut self.slices);
        let (reached, late_ns) = (self.reached, self.late_ns);
        let piece = |slice| Self { slices: vec![slice], reached, late_ns, ..Self::default() };
        let mut pieces: Vec<Self> = slices.into_iter().map(piece).collect();
        if self.failure.is_some() || self.is_finished || pieces.is_empty() {
            pieces.push(self);
        }
        pieces
    }
}

/// Where those who make the load elsewhere get their orders, and put down what they are told.
#[derive(Clone, Debug)]
pub struct Desk {
    control: Arc<Control>,
    slices: SyncSender<Slice>,
    reached: Option<Arc<Reached>>,
    kinds: Arc<[OperationKind]>,
    /// The generation that is the result.
    measured: u32,
}

impl Desk {
    pub(crate) fn new(
        plan: &Plan,
        control: &Arc<Control>,
        slices: SyncSender<Slice>,
        reached: Option<Arc<Reached>>,
    ) -> Self {
        Self {
            control: Arc::clone(control),
            slices,
            reached,
            kinds: kinds(plan),
            measured: u32::from(plan.phases.warmup_ns > 0),
        }
    }

    /// What the control thread wants now.
    #[must_use]
    pub fn orders(&self) -> Orders {
        let Generation { number, start_ns } = self.control.generation();
        Orders {
            generation: number,
            generation_start_ns: start_ns,
            stop_at_ns: self.control.stops_at_ns(),
            abandon: self.control.abandoned(),
        }
    }

    /// Where the part for these devices puts down what it tells.
    #[must_use]
    pub fn part(&self, devices: Range<u32>) -> PartDesk {
        PartDesk { desk: self.clone(), figures: AgentFigures { devices, ..AgentFigures::default() } }
    }

    /// Ends the load: nobody makes it any more as it was planned. What was recorded stays.
    pub fn stop(&self) {
        self.control.stop_at(0);
    }
}

/// Where one part of a load puts down what it tells.
#[derive(Debug)]
pub struct PartDesk {
    desk: Desk,
    figures: AgentFigures,
}

impl PartDesk {
    /// Takes what the part tells; waits when the control thread is behind.
    ///
    /// # Errors
    /// It cannot be what that part recorded. Nothing of the message is counted then.
    pub fn take(&mut self, told: Told) -> Result<(), NotOurSlice> {
        let Self { desk, figures } = self;
        let received = told.slices.into_iter().map(|slice| slice.received(&desk.kinds, &figures.devices));
        let slices = received.collect::<Result<Vec<_>, _>>()?;
        if let Some(reached) = &desk.reached {
            reached.reach(told.reached);
        }
        for slice in slices {
            figures.add(&slice, desk.measured);
            // Without a receiver the run is over.
            let _ = desk.slices.send(slice);
        }
        figures.clock.late_ns = told.late_ns;
        figures.client = told.client.or(figures.client.take());
        if let Some((cause, message)) = told.failure {
            desk.control.fail(cause, &message);
        }
        Ok(())
    }

    /// What it told.
    #[must_use]
    pub fn into_figures(self) -> AgentFigures {
        self.figures
    }
}

/// A part of a run's load, made by threads of this process for a control thread elsewhere.
pub struct PartLoad {
    control: Arc<Control>,
    slices: Receiver<Slice>,
    reached: Arc<Reached>,
    threads: LoadThreads,
    database: Arc<dyn Database>,
    /// How long the database may take to drop what was created.
    patience: Duration,
    /// From when to when is measured, in nanoseconds since the start.
    measured: Range<u64>,
    late_ns: u64,
    watch: Option<Watch>,
}

/// What watches the process that makes the part.
struct Watch {
    clock: RunClock,
    client: ClientWatch,
    is_measuring: bool,
    cpu: Option<CpuShares>,
}

impl fmt::Debug for PartLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartLoad").field("control", &self.control).finish_non_exhaustive()
    }
}

impl PartLoad {
    /// Opens the connections of a part of a run.
    ///
    /// # Errors
    /// The first connection that could not be opened.
    pub fn connect(planned: &Planned, backend: &dyn Backend) -> Result<Self, Error> {
        let database: Arc<dyn Database> = backend
            .open(planned.open.clone())
            .map_err(|e| Error::new(Cause::Client, format!("the plan does not open: {e}")))?;
        let plan = &planned.plan;
        let blocking = backend.capabilities().blocking;
        let control = Arc::new(Control::new(0, None, 0, blocking_threads(plan, blocking)));
        let (sender, slices) = sync_channel(SLICES);
        let reached = Arc::new(Reached::default());
        let threads = LoadThreads::connect(LoadRequest {
            planned,
            database: &database,
            control: &control,
            slices: sender,
            blocking,
            trace: false,
            reached: Some(Arc::clone(&reached)),
            witness: None,
            via: None,
        })?;
        let phases = &plan.phases;
        let patience = Duration::from_nanos(phases.settle_ns.max(phases.deadline_ns));
        let measured = phases.warmup_ns..phases.warmup_ns.saturating_add(phases.duration_ns);
        Ok(Self { control, slices, reached, threads, database, patience, measured, late_ns: 0, watch: None })
    }

    /// Begins the load at this instant.
    pub fn start(&mut self, epoch: Instant) {
        let clock = RunClock::starting_at(epoch);
        self.threads.start(clock);
        self.late_ns = u64::try_from(epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // Without a thread for it nobody watches, and the result says so.
        let client = ClientWatch::start(epoch, false, None).ok();
        self.watch = client.map(|client| Watch { clock, client, is_measuring: false, cpu: None });
    }

    /// Does what the control thread wants.
    pub fn obey(&self, orders: Orders) {
        self.control.follow_generation(Generation { number: orders.generation, start_ns: orders.generation_start_ns });
        self.control.stop_at(orders.stop_at_ns);
        if orders.abandon {
            self.control.abandon();
        }
    }

    /// Waits for so long, and tells what was recorded meanwhile: one slice a generation, whatever the number of threads.
    pub fn tell(&mut self, within: Duration) -> Told {
        let mut by_generation: BTreeMap<u32, Slice> = BTreeMap::new();
        let until = Instant::now() + within;
        // Looked at first: what has come when all threads have ended is all.
        let mut is_finished = self.threads.are_finished();
        self.follow();
        loop {
            match self.slices.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(slice) => {
                    let generation = slice.generation;
                    let empty = || Slice { generation, ..Slice::default() };
                    by_generation.entry(generation).or_insert_with(empty).add(slice);
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    is_finished = true;
                    break;
                }
            }
        }
        Told {
            slices: by_generation.into_values().flat_map(Slice::into_sent).collect(),
            reached: self.reached.get(),
            failure: self.control.failure(),
            late_ns: self.late_ns,
            client: if is_finished { self.client() } else { None },
            is_finished,
        }
    }

    fn follow(&mut self) {
        let Some(Watch { clock, client, is_measuring, cpu }) = &mut self.watch else { return };
        client.follow();
        let now_ns = clock.now_ns();
        if !*is_measuring && now_ns >= self.measured.start {
            client.begin();
            *is_measuring = true;
        }
        if *is_measuring && cpu.is_none() && now_ns >= self.measured.end.min(self.control.stops_at_ns()) {
            *cpu = client.cpu();
        }
    }

    fn client(&self) -> Option<ClientLoad> {
        let Watch { client, cpu, .. } = self.watch.as_ref()?;
        let to_ns = self.measured.end.min(self.control.stops_at_ns()).max(self.measured.start);
        Some(client.load(self.measured.start, to_ns, cpu.or_else(|| client.cpu()), 0))
    }

    /// Drops what the run created, where nobody else is there to do it. Blocks.
    ///
    /// # Errors
    /// The database refuses, or does not answer.
    pub fn drop_created(&self) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Error::new(Cause::Client, format!("no runtime: {e}")))?;
        let dropped =
            runtime.block_on(async { tokio::time::timeout(self.patience, self.database.drop_created()).await });
        dropped.map_err(|_| Error::new(Cause::TimedOut, "no answer in time"))?
    }

    /// Waits for the threads.
    ///
    /// # Errors
    /// A thread panicked: a fault of the program.
    pub fn join(self) -> Result<(), String> {
        drop(self.slices);
        self.threads.join()
    }
}
