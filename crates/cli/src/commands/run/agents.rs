//! The options of agents: who makes the load, samples and serves.

use crate::nats::NatsArguments;
use clap::{Args, ValueEnum};
use iotbench_cluster::{AgentSelector, ClusterError, OnLoss, SigningKey, Wish};
use iotbench_engine::Span;
use iotbench_session::{AgentsWanted, SessionError, Way};
use std::{path::PathBuf, time::Duration};

/// Who makes the load.
#[derive(Clone, Debug, Args)]
pub(crate) struct AgentsArguments {
    /// Have agents make the load, each for a range of the devices: so many, or those of these names. With --nats those that
    /// `iotbench agent` started elsewhere; without it they are started on this machine, with a NATS server of their own, and
    /// end with the run. Details: docs/agents.md
    #[arg(long, env = "IOTBENCH_AGENTS", value_name = "N|NAME,NAME")]
    agents: Option<AgentSelector>,
    /// Have an agent beside the database sample what runs there: a process by its number, a file with it, a unit of systemd, a name
    /// that one process has, or the whole host. To be repeated for each; needs --nats (docs/agents.md)
    #[arg(long, env = "IOTBENCH_SAMPLE", value_delimiter = ',', value_name = "AGENT:WHAT")]
    sample: Vec<Wish>,
    /// Have an agent start the private server on its machine, sample it, and remove it at the end: one that offers it
    /// (`iotbench agent --offer serve --listen ADDRESS`); needs --nats (docs/agents.md)
    #[arg(long, env = "IOTBENCH_SERVER_AT", value_name = "AGENT")]
    server_at: Option<String>,
    #[command(flatten)]
    nats: NatsArguments,
    /// The file of the key with which agents at a NATS server are told what to do: they trust its public half
    /// (`iotbench agent-key FILE`, docs/agents.md)
    #[arg(long, env = "IOTBENCH_AGENT_KEY", value_name = "FILE")]
    agent_key: Option<PathBuf>,
    /// What becomes of a run that loses an agent. What the agent sent and did not report is unknown, and the run is not valid
    #[arg(long, env = "IOTBENCH_ON_AGENT_LOSS", value_enum, default_value_t = OnLossWord::Stop, value_name = "WHAT")]
    on_agent_loss: OnLossWord,
    /// Where an agent's clock is not known better than this, no time is told that two machines' clocks would have to tell
    #[arg(long, env = "IOTBENCH_CLOCK_LIMIT", default_value = "1ms", value_name = "TIME")]
    clock_limit: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnLossWord {
    /// It ends; what was measured is kept
    Stop,
    /// The other agents go on
    Continue,
}

impl AgentsArguments {
    /// The same where this process makes the load, and nobody else samples.
    pub(super) fn without(&self) -> Self {
        Self { agents: None, sample: Vec::new(), server_at: None, ..self.clone() }
    }

    /// Which agents are to do what.
    pub(crate) fn wanted(&self) -> AgentsWanted {
        AgentsWanted {
            load: self.agents.clone(),
            sample: self.sample.clone(),
            server_at: self.server_at.clone(),
            on_loss: match self.on_agent_loss {
                OnLossWord::Stop => OnLoss::Stop,
                OnLossWord::Continue => OnLoss::Continue,
            },
            clock_limit: Duration::from_nanos(self.clock_limit.as_ns()),
            program: std::env::current_exe().ok(),
        }
    }

    /// The broker that is named, with the key for the agents there; `None`: none is named, or nothing is wanted of any.
    pub(crate) fn way(&self, insecure: bool) -> Result<Option<Way>, SessionError> {
        if !self.wanted().is_any() {
            return Ok(None);
        }
        let Some(broker) = self.nats.broker(insecure)? else { return Ok(None) };
        let file = self.agent_key.as_deref().ok_or_else(|| {
            SessionError::usage(
                "agents take signed orders only: give --agent-key FILE, which `iotbench agent-key FILE` makes, and start them with \
                 the public key that it prints (--trust KEY)",
            )
        })?;
        Ok(Some(Way { broker, key: SigningKey::read(file).map_err(ClusterError::from)? }))
    }

    /// Refuses what an agent's server cannot be, before anything is planned. `has_address`: the user says where the database is.
    pub(super) fn check_server_at(
        &self,
        insecure: bool,
        keep: bool,
        has_address: impl FnOnce() -> Result<bool, SessionError>,
    ) -> Result<(), SessionError> {
        let Some(agent) = &self.server_at else { return Ok(()) };
        let refused = |why: &str| Err(SessionError::usage(format!("--server-at {agent}: {why}")));
        if self.nats.broker(insecure)?.is_none() {
            return refused("needs agents at a NATS server: name it with --nats URL");
        }
        if has_address()? {
            return refused("the agent starts a server, and --url names another one: leave one out");
        }
        if keep {
            return refused("the agent removes its server at the end: leave --keep out");
        }
        Ok(())
    }
}
