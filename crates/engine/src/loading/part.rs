//! A part of a run's load, for a control thread elsewhere.

use super::{Orders, Progress, Told};
use crate::{
    change::changed,
    client::ClientLoad,
    clock::RunClock,
    control::{Control, Generation},
    hoard::{HoardWatch, seen},
    ledger::Reached,
    plan::Planned,
    run::client_watch::ClientWatch,
    slice::{SLICES, Slice},
    threads::{LoadRequest, LoadThreads, blocking_threads},
    verify::{ReadTerms, Verifier},
};
use iotbench_core::{Backend, Cause, Database, Error};
use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, sync_channel},
    },
    time::{Duration, Instant},
};

/// A part of a run's load, made by threads of this process for a control thread elsewhere.
pub struct PartLoad {
    control: Arc<Control>,
    slices: Receiver<Slice>,
    reached: Arc<Reached>,
    threads: LoadThreads,
    database: Arc<dyn Database>,
    connections: u64,
    /// How long the database may take to drop what was created.
    patience: Duration,
    late_ns: u64,
    watch: Option<Watch>,
    /// How far it has been told that the threads have come.
    told: Progress,
    /// Compares what is read; `None`: nothing is, or its end is told.
    verifier: Option<Verifier>,
    /// What watches what the server sends.
    hoard: Option<HoardWatch>,
}

/// What watches the process that makes the part.
struct Watch {
    clock: RunClock,
    client: ClientWatch,
    /// The generation that is watched; `None`: the load is over.
    generation: Option<Generation>,
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
    pub fn connect(planned: &Planned, backend: &dyn Backend, terms: ReadTerms) -> Result<Self, Error> {
        let database: Arc<dyn Database> = backend
            .open(planned.open.clone())
            .map_err(|e| Error::new(Cause::Client, format!("the plan does not open: {e}")))?;
        let plan = &planned.plan;
        let blocking = backend.info().capabilities.blocking;
        let control = Arc::new(Control::new(0, None, 0, blocking_threads(plan, blocking)));
        let (sender, slices) = sync_channel(SLICES);
        let reached = Arc::new(Reached::default());
        let verifier = Verifier::of(planned, &backend.info().capabilities, terms)?;
        let hoard = HoardWatch::over(backend.info(), Duration::from_nanos(plan.phases.deadline_ns), None);
        let threads = LoadThreads::connect(LoadRequest {
            planned,
            database: &database,
            control: &control,
            slices: sender,
            blocking,
            trace: false,
            reached: Some(Arc::clone(&reached)),
            witness: verifier.as_ref().map(Verifier::witness),
            via: None,
            pulses: hoard.as_ref().map(|watch| watch.pulses().clone()),
        })?;
        let phases = &plan.phases;
        let patience = Duration::from_nanos(phases.settle_ns.max(phases.deadline_ns));
        let told = Progress::default();
        let connections = plan.connections();
        Ok(Self {
            control,
            slices,
            reached,
            threads,
            database,
            connections,
            patience,
            late_ns: 0,
            watch: None,
            told,
            verifier,
            hoard,
        })
    }

    /// Begins the load at this instant.
    pub fn start(&mut self, epoch: Instant) {
        let clock = RunClock::starting_at(epoch);
        self.threads.start(clock);
        self.late_ns = u64::try_from(epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // Without a thread for it nobody watches, and the result says so.
        let client = ClientWatch::start(epoch, false, None, self.connections).ok();
        self.watch = client.map(|mut client| {
            client.begin();
            Watch { clock, client, generation: Some(Generation { number: 0, start_ns: 0 }) }
        });
    }

    /// Does what the control thread wants.
    pub fn obey(&self, orders: Orders) {
        self.control.follow_generation(Generation { number: orders.generation, start_ns: orders.generation_start_ns });
        self.control.stop_at(orders.stop_at_ns);
        if orders.users != self.control.users() {
            self.control.set_users(orders.users);
        }
        if orders.reading != self.control.reading() {
            self.control.set_reading(orders.reading);
        }
        if orders.load != self.control.load() {
            let (load, from_ns) = orders.load;
            self.control.set_load(load, from_ns);
        }
        if orders.abandon {
            self.control.abandon();
        }
    }

    /// Waits for so long, and tells what was recorded meanwhile: one slice a generation, whatever the number of threads.
    pub fn tell(&mut self, within: Duration) -> Told {
        let mut by_generation: BTreeMap<u32, Slice> = BTreeMap::new();
        let until = Instant::now() + within;
        // Looked at first: what has come when all threads have ended, or have come to a generation, is all.
        let mut is_finished = self.threads.are_finished();
        let progress = self.progress();
        if let Some(found) = self.hoard.as_ref().and_then(HoardWatch::found) {
            self.control.fail(found.cause, &found.message);
            self.control.abandon();
        }
        let mut clients = self.follow(is_finished);
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
        let mut answers = None;
        if is_finished {
            clients.extend(self.follow(true));
            match self.verifier.take().map(Verifier::finish) {
                Some(Ok(found)) => answers = Some(found),
                Some(Err(fault)) => self.control.fail(Cause::Client, &fault),
                None => {}
            }
        }
        Told {
            slices: by_generation.into_values().flat_map(Slice::into_sent).collect(),
            reached: self.reached.get(),
            failure: self.control.failure(),
            late_ns: self.late_ns,
            informed: progress.informed,
            settled: progress.settled,
            late: u32::try_from(self.control.take_late()).unwrap_or(u32::MAX),
            clients,
            answers,
            is_finished,
        }
    }

    /// How far the threads have come since this was asked last.
    fn progress(&mut self) -> Progress {
        let number = self.control.generation().number;
        let news = |is_there: bool, told: &mut Option<u32>| {
            let new = Some(number).filter(|_| is_there && *told < Some(number));
            *told = new.or(*told);
            new
        };
        let informed = news(self.control.all_informed(number), &mut self.told.informed);
        let settled = news(self.control.all_settled(number), &mut self.told.settled);
        Progress { informed, settled }
    }

    /// Watches the process; what was measured over generations that have ended.
    fn follow(&mut self, is_finished: bool) -> Vec<(u32, ClientLoad)> {
        let Some(Watch { clock, client, generation: watched }) = &mut self.watch else { return Vec::new() };
        client.follow();
        let (now_ns, stop_ns) = (clock.now_ns(), self.control.stops_at_ns());
        let Some(before) = *watched else { return Vec::new() };
        let next = Some(self.control.generation()).filter(|next| next.number > before.number);
        let next = next.filter(|next| now_ns >= next.start_ns && next.start_ns < stop_ns);
        let is_over = is_finished || now_ns >= stop_ns;
        let to_ns = match next {
            Some(next) => next.start_ns,
            None if is_over => now_ns.min(stop_ns),
            None => return Vec::new(),
        };
        let load = client.load(before.start_ns, to_ns, client.cpu(), 0);
        client.begin();
        *watched = next;
        vec![(before.number, load)]
    }

    /// Drops what the run created, where nobody else is there to do it. Blocks.
    ///
    /// # Errors
    /// The database refuses, or does not answer.
    pub fn drop_created(&self) -> Result<(), Error> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Error::new(Cause::Client, format!("no runtime: {e}")))?;
        let dropping = changed(&*self.database, self.database.drop_created());
        let dropping = seen(self.hoard.as_ref(), dropping);
        let dropped = runtime.block_on(async { tokio::time::timeout(self.patience, dropping).await });
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
