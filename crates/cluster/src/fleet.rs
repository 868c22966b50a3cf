//! The agents that make the load of runs, as the engine has them made.

use crate::{
    AgentSelector, Broker, ClusterError, OnLoss, SigningKey,
    coordinator::{Coordinator, Members},
    discovery::find,
};
use iotbench_core::{Cause, Error};
use iotbench_engine::{AgentFigures, ClientLoad, Clients, Desk, Loaders, Loading, Planned};
use std::{
    sync::mpsc,
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::runtime::Runtime;

/// The agents that make the load of runs.
#[derive(Debug)]
pub struct Fleet {
    broker: Broker,
    /// What their orders are signed with.
    key: SigningKey,
    wanted: AgentSelector,
    on_loss: OnLoss,
    /// Above this uncertainty of an agent's clock no time is told that is the difference of two machines' clocks.
    clock_limit: Duration,
    /// How long agents have to say that they are there.
    within: Duration,
    /// Whether what runs create is to stay.
    keep: bool,
}

impl Fleet {
    /// Agents at this broker that trust this key, which have so long to say that they are there.
    #[must_use]
    pub fn new(broker: Broker, key: SigningKey, wanted: AgentSelector, within: Duration) -> Self {
        let clock_limit = Duration::from_millis(1);
        Self { broker, key, wanted, on_loss: OnLoss::Stop, clock_limit, within, keep: false }
    }

    /// What becomes of a run that loses an agent.
    #[must_use]
    pub fn on_loss(self, on_loss: OnLoss) -> Self {
        Self { on_loss, ..self }
    }

    /// Above this uncertainty of an agent's clock no time is told that is the difference of two machines' clocks.
    #[must_use]
    pub fn clock_limit(self, clock_limit: Duration) -> Self {
        Self { clock_limit, ..self }
    }

    /// No agent drops what a run created, should its coordinator be gone.
    #[must_use]
    pub fn keep(self, keep: bool) -> Self {
        Self { keep, ..self }
    }

    /// The names of the agents that are there for a run. Blocks.
    ///
    /// # Errors
    /// The broker is not reached, or not enough agents are free.
    pub fn find(&self) -> Result<Vec<String>, ClusterError> {
        runtime()?.block_on(async {
            let client = self.broker.connect("iotbench coordinator").await?;
            find(&client, &self.wanted, self.within, None).await
        })
    }

    fn gather(&self, runtime: &Runtime, planned: &Planned, desk: &Desk) -> Result<Coordinator, ClusterError> {
        runtime.block_on(async {
            let client = self.broker.connect("iotbench coordinator").await?;
            let names = find(&client, &self.wanted, self.within, Some(&planned.plan.run_id)).await?;
            Coordinator::gather(client, &self.key, names, planned, !self.keep, desk).await
        })
    }
}

pub(crate) fn runtime() -> Result<Runtime, ClusterError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| ClusterError::lost(format!("no runtime: {e}")))
}

impl Loaders for Fleet {
    fn connect(&self, planned: &Planned, desk: Desk) -> Result<Box<dyn Loading>, Error> {
        let failed = |e: ClusterError| Error::new(e.cause(), e.to_string());
        let runtime = runtime().map_err(failed)?;
        let mut coordinator = self.gather(&runtime, planned, &desk).map_err(failed)?;
        let (start, started) = mpsc::sync_channel(1);
        let clients = desk.clients();
        // Without one of them no load of a ramp is what it is called.
        let on_loss = if planned.plan.ramp.is_some() { OnLoss::Stop } else { self.on_loss };
        let limit = self.clock_limit;
        let thread = std::thread::Builder::new().name("agents".into()).spawn(move || {
            let conducted = runtime.block_on(async {
                if let Ok(epoch) = started.recv() {
                    coordinator.conduct(epoch, on_loss, &desk).await?;
                }
                coordinator.end().await
            });
            conducted.map_err(|e| e.to_string())?;
            Ok(coordinator.into_members().figures(limit))
        });
        let thread = thread.map_err(|e| Error::new(Cause::Client, format!("cannot start a thread: {e}")))?;
        Ok(Box::new(UnderWay { start, clients, thread }))
    }
}

/// The load under way.
struct UnderWay {
    start: mpsc::SyncSender<Instant>,
    clients: Clients,
    thread: JoinHandle<Result<Vec<AgentFigures>, String>>,
}

impl Loading for UnderWay {
    fn start(&self, epoch: Instant) {
        // A thread that has ended says why when it is joined.
        let _ = self.start.send(epoch);
    }

    fn are_finished(&self) -> bool {
        self.thread.is_finished()
    }

    fn clients(&self, generation: u32) -> Vec<(String, ClientLoad)> {
        self.clients.of(generation)
    }

    fn join(self: Box<Self>) -> Result<Vec<AgentFigures>, String> {
        drop(self.start);
        self.thread.join().map_err(|_| "the agents' thread panicked".to_owned())?
    }
}

impl Members {
    pub(crate) fn figures(self, limit: Duration) -> Vec<AgentFigures> {
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        self.0
            .into_iter()
            .map(|(member, lost)| {
                let mut figures = member.desk.into_figures();
                figures.clock.uncertainty_ns = member.clocks.uncertainty_ns();
                figures.clock.drift_ns = member.clocks.drift_ns();
                figures.clock.limit_ns = limit_ns;
                figures.lost = lost;
                figures
            })
            .collect()
    }
}
