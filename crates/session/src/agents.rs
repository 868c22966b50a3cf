//! The agents that make a run's load, sample or serve: which are wanted, and which are there.

use crate::local_agents::LocalAgents;
use iotbench_cluster::{AgentSelector, Broker, Fleet, Observers, OnLoss, SigningKey, Wish};
use iotbench_engine::Loaders;
use std::{path::PathBuf, sync::Arc, time::Duration};

/// Who makes the load, samples and serves besides this process.
#[derive(Clone, Debug)]
pub struct AgentsWanted {
    /// The agents that make the load, each for a range of the devices; `None`: this process makes it.
    pub load: Option<AgentSelector>,
    /// What agents beside the database sample.
    pub sample: Vec<Wish>,
    /// The agent that starts the private server on its machine.
    pub server_at: Option<String>,
    /// What becomes of a run that loses an agent.
    pub on_loss: OnLoss,
    /// Where an agent's clock is not known better than this, no time is told that two machines' clocks would have to tell.
    pub clock_limit: Duration,
    /// The program `iotbench`, of which agents on this machine are made.
    pub program: Option<PathBuf>,
}

impl Default for AgentsWanted {
    fn default() -> Self {
        Self {
            load: None,
            sample: Vec::new(),
            server_at: None,
            on_loss: OnLoss::Stop,
            clock_limit: Duration::from_millis(1),
            program: None,
        }
    }
}

impl AgentsWanted {
    /// Whether there is anything to do for them.
    #[must_use]
    pub fn is_any(&self) -> bool {
        self.load.is_some() || !self.sample.is_empty() || self.server_at.is_some()
    }

    /// The same where this process makes the load.
    #[must_use]
    pub fn without_load(&self) -> Self {
        Self { load: None, ..self.clone() }
    }

    /// Which agents do what, as on the command line.
    pub fn words(&self) -> impl Iterator<Item = String> {
        let agents = self.load.iter().map(|wanted| ("--agents", wanted.to_string()));
        let samples = self.sample.iter().map(|wish| ("--sample", wish.to_string()));
        let server_at = self.server_at.iter().map(|agent| ("--server-at", agent.clone()));
        agents.chain(samples).chain(server_at).flat_map(|(option, value)| [option.to_owned(), value])
    }
}

/// The way to agents: where they are, and what they trust.
#[derive(Clone, Debug)]
pub struct Way {
    /// Where they are.
    pub broker: Broker,
    /// What their orders are signed with.
    pub key: SigningKey,
}

/// The agents of a session. Dropped, those that it started end.
pub struct Agents {
    pub(crate) fleet: Option<Arc<Fleet>>,
    pub(crate) observers: Option<Arc<Observers>>,
    pub(crate) way: Option<Way>,
    /// Ended first: a server is nothing to wait for.
    pub(crate) _started: Option<LocalAgents>,
}

/// The agents that are there, as far as they are wanted.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    fleet: Option<Arc<Fleet>>,
    observers: Option<Arc<Observers>>,
    way: Option<Way>,
}

impl Reached {
    pub(crate) fn of(wanted: &AgentsWanted, agents: Option<&Agents>) -> Self {
        let fleet = agents.filter(|_| wanted.load.is_some()).and_then(|agents| agents.fleet.clone());
        let observers = agents.filter(|_| !wanted.sample.is_empty()).and_then(|agents| agents.observers.clone());
        Self { fleet, observers, way: agents.and_then(|agents| agents.way.clone()) }
    }

    /// Who makes the load; `None`: this process.
    pub(crate) fn loaders(&self) -> Option<Arc<dyn Loaders>> {
        self.fleet.clone().map(|fleet| fleet as Arc<dyn Loaders>)
    }

    /// Who samples on other machines.
    pub(crate) fn observers(&self) -> Option<Arc<Observers>> {
        self.observers.clone()
    }

    /// The way to the agents that were found.
    pub(crate) fn way(&self) -> Option<&Way> {
        self.way.as_ref()
    }
}
