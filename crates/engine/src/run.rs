//! Runs a plan: create, preload, warm up, measure, drain, verify, drop.

mod accounts;
mod altering;
mod audit;
mod carried;
pub(crate) mod client_watch;
mod climb;
mod create;
mod finish;
mod history;
mod journal;
mod load;
mod preload;
mod prepare;
mod room;
mod scenario_actions;
mod start;
mod state;
mod storage;
mod telling;
mod visible;
mod whose;
mod write_back;

pub use room::free_bytes;
pub use scenario_actions::ServerProcesses;
pub use storage::{ProbeFile, StorageProber, probe_storage};

use crate::{
    caught::caught,
    ceiling::NullBackend,
    hoard::{HoardWatch, seen},
    ledger::{Journal, LedgerStore},
    loading::Loaders,
    observer::{Event, Observer},
    outcome::{ClientFigures, MachineFigures, Outcome, Phase, ReadFigures, StepFigures, Stored, TargetFacts},
    plan::Planned,
    remote_sampling::RemoteSamplers,
    renewal::Renewal,
    stop::StopSignal,
    verdict::{Reason, Verdict},
    verify::VerifyMode,
    via::{Carried, Via},
};
use iotbench_core::{Backend, Database, Error};
use iotbench_recorder::{LoadCounts, PointCounts};
use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::runtime::Runtime;

/// How a run is carried out, beyond what its plan says.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Tell the observer every operation.
    pub trace: bool,
    /// Leave in the database what was created.
    pub keep: bool,
    /// Which answers are compared with the truth.
    pub verify: VerifyMode,
    /// Who acts on the server's processes; `None`: nobody can, and a plan with a scenario is refused.
    pub processes: Option<Arc<dyn ServerProcesses>>,
    /// Where the ledger is kept; `None`: in memory.
    pub ledger: Option<Arc<dyn LedgerStore>>,
    /// On what the client's ceiling is measured before the load, where the database is another process; `None`: it is not.
    pub null: Option<NullBackend>,
    /// Who makes the load; `None`: this process.
    pub loaders: Option<Arc<dyn Loaders>>,
    /// Who samples on other machines; `None`: nobody.
    pub remote_samplers: Option<Arc<dyn RemoteSamplers>>,
    /// The steps of a ramp that another process has made: it goes on after them.
    pub resumed: Vec<StepFigures>,
    /// Where the database has its files on this machine; `None`: not known, but of an embedded one in the target's folder.
    pub files: Option<PathBuf>,
    /// On what the storage under them is probed; `None`: on files of this machine.
    pub storage_prober: Option<Arc<dyn StorageProber>>,
    /// What carries datapoints from devices to writers; `None`: they write themselves.
    pub via: Option<Via>,
}

/// Runs a plan to its end and says what it found out. Blocks; call it on a thread of its own.
pub fn run(
    planned: Planned,
    backend: &dyn Backend,
    options: RunOptions,
    observer: &mut dyn Observer,
    stop: &StopSignal,
) -> Outcome {
    let mut outcome = begun(&planned, backend);
    let carrier = options.via.as_ref().map(|via| via.carrier.facts());
    outcome.carried = carrier.clone().map(|facts| Carried { facts: Some(facts), ..Carried::default() });
    let opened =
        backend.open(planned.open.clone()).map_err(|e| Reason::Internal(format!("the plan does not open: {e}")));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Reason::Internal(format!("no runtime: {e}")));
    let deadline = Duration::from_nanos(planned.plan.phases.deadline_ns);
    let reasons = match (opened, runtime) {
        (Ok(database), Ok(runtime)) => {
            let mut session = Session {
                planned,
                backend,
                options,
                observer,
                stop,
                database,
                runtime,
                outcome,
                created: false,
                journal: None,
                carrying: None,
                of_trials: None,
                probing: None,
                renewal: None,
                hoard: HoardWatch::over(backend.info(), deadline, carrier.as_ref()),
            };
            let reasons = session.phases();
            outcome = session.outcome;
            reasons
        }
        (Err(reason), _) | (_, Err(reason)) => vec![reason],
    };
    outcome.verdict = Verdict::of(reasons);
    outcome
}

/// A run under way, as its control thread sees it.
struct Session<'a> {
    planned: Planned,
    backend: &'a dyn Backend,
    options: RunOptions,
    observer: &'a mut dyn Observer,
    stop: &'a StopSignal,
    database: Arc<dyn Database>,
    runtime: Runtime,
    outcome: Outcome,
    created: bool,
    journal: Option<Journal>,
    carrying: Option<carried::Carrying>,
    /// What was wrong with the data of the first trial that had something wrong, when they were dropped.
    of_trials: Option<Reason>,
    /// Probes of the storage under the database; `None`: there are none.
    probing: Option<storage::Probing>,
    /// What says that the table is in use, once it may be; `None`: nobody else can reach it.
    renewal: Option<Renewal>,
    /// What watches what the server sends; `None`: its driver has limits.
    hoard: Option<HoardWatch>,
}

impl Session<'_> {
    /// All phases in order. Whatever happens, what was created is dropped and what is known is told.
    fn phases(&mut self) -> Vec<Reason> {
        let mut reasons = Vec::new();
        let loaded = self.prepare().and_then(|goes_on| if goes_on { self.load(&mut reasons) } else { Ok(()) });
        reasons.extend(self.hoarding().or(loaded.err()));
        reasons.extend(self.of_trials.take());
        let reachable = self.stop.death().is_none();
        let answers = !reasons.iter().any(|r| matches!(r, Reason::Target { .. }));
        if self.created && reachable && answers {
            let stored = self.verify(&mut reasons);
            reasons.extend(self.audit(stored).err());
        }
        if self.created && reachable && !self.options.keep {
            reasons.extend(self.drop_created(answers).err());
        }
        reasons.extend(self.let_go(self.created && reachable && answers && self.options.keep).err());
        reasons.extend(self.hoarding().filter(|hoarding| !reasons.contains(hoarding)));
        if let Some(how) = self.stop.death() {
            reasons.push(Reason::ServerDied(how.into()));
        }
        if let Some(signal) = self.stop.requested() {
            reasons.push(Reason::Signal(signal));
        }
        reasons
    }

    /// Says that the table is in use from here on, as soon as it is made.
    fn keep_lease(&mut self) -> Result<(), Reason> {
        if !self.backend.info().capabilities.embedded {
            let renewal = Renewal::start(Arc::clone(&self.database));
            self.renewal = Some(renewal.map_err(|e| Reason::Target { cause: e.cause, message: e.message })?);
        }
        Ok(())
    }

    /// Says it no longer. `stays`: of a table that may be another run's from here on.
    fn let_go(&mut self, stays: bool) -> Result<(), Reason> {
        let renewal = self.renewal.take();
        let lost = renewal.as_ref().and_then(Renewal::lost).cloned();
        renewal.into_iter().for_each(Renewal::end);
        let database = Arc::clone(&self.database);
        if stays && lost.is_none() { self.control_plane(self.deadline(), database.release()) } else { Ok(()) }
    }

    /// What is said when another run has taken the table, which may be where this one stood still for long.
    fn lost(&self) -> Option<Reason> {
        let Error { cause, message, .. } = self.renewal.as_ref()?.lost()?.clone();
        Some(Reason::Target { cause, message })
    }

    /// What is said of a server whose connection was ended for what it sent.
    fn hoarding(&self) -> Option<Reason> {
        let Error { cause, message, .. } = self.hoard.as_ref()?.found()?.clone();
        Some(Reason::Target { cause, message })
    }

    fn begin_phase(&mut self, phase: Phase, length_ns: Option<u64>) -> Result<(), Reason> {
        self.outcome.phase = phase;
        self.tell(&Event::Phase { phase, length_ns })
    }

    fn tell(&mut self, event: &Event<'_>) -> Result<(), Reason> {
        self.observer.event(event).map_err(Reason::LocalIo)
    }

    fn checkpoint(&mut self) -> Result<(), Reason> {
        self.observer.event(&Event::Checkpoint(&self.outcome)).map_err(Reason::LocalIo)
    }

    /// Runs one call of the control plane, within a time.
    fn control_plane<T>(&self, within: Duration, call: impl Future<Output = Result<T, Error>>) -> Result<T, Reason> {
        let watched = seen(self.hoard.as_ref(), caught(call));
        let result = self.runtime.block_on(async { tokio::time::timeout(within, watched).await });
        match result {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(self.failed(error)),
            Err(_) => Err(Reason::Target {
                cause: iotbench_core::Cause::TimedOut,
                message: format!("no answer within {} s", within.as_secs_f64()),
            }),
        }
    }

    fn deadline(&self) -> Duration {
        Duration::from_nanos(self.planned.plan.phases.deadline_ns)
    }

    /// How long a call may take that is about all that is stored, such as dropping it.
    fn patience(&self) -> Duration {
        Duration::from_nanos(self.planned.plan.phases.settle_ns).max(self.deadline())
    }
}

/// What is known of a run before it has begun.
#[must_use]
pub fn begun(planned: &Planned, backend: &dyn Backend) -> Outcome {
    let capabilities = &backend.info().capabilities;
    let target = &planned.open.target;
    let mut endpoints: Vec<String> = target.endpoints.iter().map(ToString::to_string).collect();
    if capabilities.embedded && endpoints.is_empty() {
        endpoints.extend(target.folder.iter().map(|f| f.display().to_string()));
    }
    Outcome {
        plan: planned.plan.clone(),
        started: SystemTime::now(),
        verdict: Verdict::running(),
        phase: Phase::Create,
        target: TargetFacts {
            facts: None,
            acknowledgement: capabilities.acknowledgement,
            embedded: capabilities.embedded,
            endpoints,
        },
        load: LoadCounts::default(),
        points: PointCounts::default(),
        preloaded_points: 0,
        empty_transaction_ns: None,
        stored: Stored::default(),
        reading: ReadFigures::default(),
        scenario: None,
        carried: None,
        measured: None,
        capacity: None,
        writes_alone: None,
        machine: MachineFigures::default(),
        client: ClientFigures::default(),
        agents: Vec::new(),
    }
}
