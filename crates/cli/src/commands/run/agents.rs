//! The agents that make a run's load: those at a broker, or some that are started for the run on this machine.

use super::options::RunArguments;
use crate::{
    console,
    error::CliError,
    job::{Job, Place},
    nats::NatsArguments,
};
use clap::{Args, ValueEnum};
use iotbench_cluster::{
    AgentSelector, Broker, ClusterError, Fleet, Observers, OnLoss, RECIPE, SigningKey, TOKEN, Wish,
};
use iotbench_engine::{Loaders, Span};
use iotbench_launcher::{Launch, PrivateLog, PrivateServer, ServerSettings, start};
use std::{
    fs::File,
    io::Read,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

/// How long agents at a broker have to say that they are there.
const PRESENT: Duration = Duration::from_secs(3);
/// And those that were just started.
const STARTED: Duration = Duration::from_secs(20);

/// Who makes the load.
#[derive(Clone, Debug, Args)]
pub(crate) struct AgentsArguments {
    /// Have agents make the load, each for a range of the devices: so many, or those of these names. With --nats those that
    /// `iotbench agent` started elsewhere; without it they are started on this machine, with a NATS server of their own, and
    /// end with the run. For loads that write (docs/agents.md)
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
    /// Set by the command: the agents that are there.
    #[arg(skip)]
    fleet: Option<Arc<Fleet>>,
    #[arg(skip)]
    observers: Option<Arc<Observers>>,
    #[arg(skip)]
    way: Option<Way>,
}

/// The way to agents: where they are, and what they trust.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) broker: Broker,
    pub(super) key: SigningKey,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnLossWord {
    /// It ends; what was measured is kept
    Stop,
    /// The other agents go on
    Continue,
}

/// The agents of a command. Dropped, those that it started end.
pub(crate) struct Agents {
    fleet: Option<Arc<Fleet>>,
    observers: Option<Arc<Observers>>,
    way: Option<Way>,
    /// Ended first: a server is nothing to wait for.
    _started: Option<Started>,
}

/// Agents of this machine alone, with their broker.
struct Started {
    agents: Vec<Child>,
    _server: PrivateServer,
}

impl AgentsArguments {
    /// Which agents are to make the load; `None`: this process makes it.
    pub(crate) fn wanted(&self) -> Option<&AgentSelector> {
        self.agents.as_ref()
    }

    /// The same where this process makes the load, and nobody else samples.
    pub(super) fn without(&self) -> Self {
        Self { agents: None, sample: Vec::new(), server_at: None, ..self.clone() }
    }

    /// The same where this process makes the load.
    pub(crate) fn without_load(&self) -> Self {
        Self { agents: None, ..self.clone() }
    }

    /// Which agents do what, as on the command line.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        let agents = self.agents.iter().map(|wanted| ("--agents", wanted.to_string()));
        let samples = self.sample.iter().map(|wish| ("--sample", wish.to_string()));
        let server_at = self.server_at.iter().map(|agent| ("--server-at", agent.clone()));
        agents.chain(samples).chain(server_at).flat_map(|(option, value)| [option.to_owned(), value])
    }

    /// Who samples on other machines.
    pub(super) fn observers(&self) -> Option<Arc<Observers>> {
        self.observers.clone()
    }

    /// The agent that is to start the server.
    pub(crate) fn server_at_name(&self) -> Option<&str> {
        self.server_at.as_deref()
    }

    /// The same with the way to it.
    pub(super) fn server_at(&self) -> Option<(&Way, &str)> {
        self.way.as_ref().zip(self.server_at.as_deref())
    }

    /// What a result has to say of the way to its agents.
    pub(super) fn remark(&self) -> Option<String> {
        let has_any = self.agents.is_some() || !self.sample.is_empty() || self.server_at.is_some();
        let open = self.way.as_ref().filter(|_| has_any)?.broker.in_clear_text()?;
        Some(format!(
            "the agents' broker at {open} is in clear text on another machine: what it carried could be read and changed"
        ))
    }

    /// The broker that is named, with the key for the agents there.
    fn way(&self, insecure: bool) -> Result<Option<Way>, CliError> {
        let Some(broker) = self.nats.broker(insecure)? else { return Ok(None) };
        let file = self.agent_key.as_deref().ok_or_else(|| {
            CliError::usage(
                "agents take signed orders only: give --agent-key FILE, which `iotbench agent-key FILE` makes, and start them with \
                 the public key that it prints (--trust KEY)",
            )
        })?;
        Ok(Some(Way { broker, key: SigningKey::read(file).map_err(ClusterError::from)? }))
    }

    /// Who makes the load; `None`: this process.
    pub(super) fn loaders(&self) -> Option<Arc<dyn Loaders>> {
        self.fleet.clone().map(|fleet| fleet as Arc<dyn Loaders>)
    }

    /// The same with these agents, if any are wanted.
    pub(super) fn with(&self, agents: Option<&Agents>) -> Self {
        let fleet = agents.filter(|_| self.agents.is_some()).and_then(|agents| agents.fleet.clone());
        let observers = agents.filter(|_| !self.sample.is_empty()).and_then(|agents| agents.observers.clone());
        let way = agents.and_then(|agents| agents.way.clone());
        Self { fleet, observers, way, ..self.clone() }
    }
}

/// Finds or starts the agents that a command wants, once what they are to do is known to be possible. `keep`: what runs
/// create is to stay. `insecure`: their broker may be in clear text.
pub(crate) fn gather(
    given: &AgentsArguments,
    keep: bool,
    insecure: bool,
    is_quiet: bool,
) -> Result<Option<Agents>, CliError> {
    if given.agents.is_none() && given.sample.is_empty() && given.server_at.is_none() {
        return Ok(None);
    }
    let say = |text: &str| {
        if !is_quiet {
            console::say(text);
        }
    };
    let way = given.way(insecure)?;
    let observers = match (&way, given.sample.as_slice()) {
        (_, []) => None,
        (None, _) => return Err(CliError::usage("--sample needs agents at a NATS server: name it with --nats URL")),
        (Some(Way { broker, key }), wishes) => {
            let observers = Observers::new(broker.clone(), key.clone(), wishes.to_vec());
            observers.check()?.iter().for_each(|found| say(found));
            Some(Arc::new(observers))
        }
    };
    let Some(wanted) = &given.agents else {
        return Ok(Some(Agents { fleet: None, observers, way, _started: None }));
    };
    let (way, started) = match way {
        Some(way) => (way, None),
        None => {
            say(&format!("starting {} agents on this machine …", wanted.count()));
            let (way, started) = Started::start(wanted)?;
            (way, Some(started))
        }
    };
    let on_loss = match given.on_agent_loss {
        OnLossWord::Stop => OnLoss::Stop,
        OnLossWord::Continue => OnLoss::Continue,
    };
    let within = if started.is_some() { STARTED } else { PRESENT };
    let fleet = Fleet::new(way.broker.clone(), way.key.clone(), wanted.clone(), within);
    let limit = Duration::from_nanos(given.clock_limit.as_ns());
    let fleet = Arc::new(fleet.on_loss(on_loss).clock_limit(limit).keep(keep));
    let agents = Agents { fleet: Some(Arc::clone(&fleet)), observers, way: Some(way), _started: started };
    say(&format!("agents: {}", fleet.find()?.join(", ")));
    Ok(Some(agents))
}

/// Refuses what an agent's server cannot be, before anything is planned.
pub(super) fn check_server_at(arguments: &RunArguments) -> Result<(), CliError> {
    let Some(agent) = arguments.agents.server_at_name() else { return Ok(()) };
    let refused = |why: &str| Err(CliError::usage(format!("--server-at {agent}: {why}")));
    if arguments.agents.nats.broker(arguments.insecure)?.is_none() {
        return refused("needs agents at a NATS server: name it with --nats URL");
    }
    if !arguments.endpoints()?.is_empty() {
        return refused("the agent starts a server, and --url names another one: leave one out");
    }
    if arguments.keep {
        return refused("the agent removes its server at the end: leave --keep out");
    }
    Ok(())
}

/// Refuses what agents cannot do, before anything is started.
pub(crate) fn check(jobs: &[Job], arguments: &RunArguments) -> Result<(), CliError> {
    if let Some(agent) = &arguments.agents.server_at
        && jobs.iter().any(|job| !job.profile.scenario.is_empty())
    {
        return Err(CliError::usage(format!(
            "--server-at {agent}: a scenario acts on processes of this machine: leave one out"
        )));
    }
    let Some(wanted) = &arguments.agents.agents else { return Ok(()) };
    if arguments.trace {
        return Err(CliError::usage(
            "--trace keeps every operation of this process, and agents make the load: leave one out",
        ));
    }
    if arguments.via()?.is_some() {
        return Err(CliError::usage(
            "--via puts a broker between the devices and writers of one process, and agents are several: leave one out",
        ));
    }
    let parts = u32::try_from(wanted.count()).unwrap_or(u32::MAX);
    for job in jobs {
        if job.backend.info().capabilities.embedded {
            let name = job.backend.info().name;
            return Err(CliError::usage(format!(
                "{name} lives in one process, and agents are several: leave --agents out, or name another backend"
            )));
        }
        for planned in job.plans("check", &Place::nowhere()) {
            planned?.plan.parts(parts).map_err(CliError::usage)?;
        }
    }
    Ok(())
}

impl Started {
    fn start(wanted: &AgentSelector) -> Result<(Way, Self), CliError> {
        let token = token()?;
        let log = PrivateLog::new().map_err(|e| CliError::internal(format!("no folder for the broker's log: {e}")))?;
        let settings = ServerSettings::new([(TOKEN.to_owned(), token.clone())], &RECIPE).map_err(CliError::internal)?;
        let server = start(&Launch::new("nats", &RECIPE, log.path()).settings(settings), &|| false);
        let server = match server {
            Ok(server) => server,
            Err(error) => {
                // The error names it.
                log.keep();
                return Err(error.into());
            }
        };
        // Nobody reads it from here on, and a killed run leaves no file.
        drop(log);
        let address = server.endpoints().first().map(|endpoint| endpoint.expose().clone());
        let mut address = address.ok_or_else(|| CliError::internal("the NATS server has no address"))?;
        // The environment is not seen by other users, and neither is a token in it.
        address.set_username(&token).map_err(|()| CliError::internal("the NATS server's address takes no token"))?;
        // Nobody else ever has it: it ends with this process.
        let key = SigningKey::drawn();
        let mut started = Self { agents: Vec::new(), _server: server };
        for name in names(wanted) {
            started.agents.push(agent(&name, address.as_str(), &key.public())?);
        }
        Ok((Way { broker: Broker::new(address.as_str(), None, None)?, key }, started))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            // The end of its input is its end.
            drop(agent.stdin.take());
        }
        for agent in &mut self.agents {
            let _ = agent.wait();
        }
    }
}

fn names(wanted: &AgentSelector) -> Vec<String> {
    match wanted {
        AgentSelector::Count(count) => (1..=*count).map(|number| format!("local-{number}")).collect(),
        AgentSelector::Names(names) => names.clone(),
    }
}

/// An agent process. Ctrl-C in the terminal is for the run, which ends its agents.
fn agent(name: &str, address: &str, trusted: &str) -> Result<Child, CliError> {
    let program = std::env::current_exe().map_err(CliError::local_io)?;
    let mut command = Command::new(program);
    command.args(["agent", "--of-a-run", "--name", name, "--trust", trusted]);
    command.env("IOTBENCH_NATS", address).process_group(0);
    // Those of an agent that somebody runs on this machine are not for it.
    for option in
        ["NATS_CREDENTIALS", "NATS_CA", "NAME", "OFFER", "LISTEN", "ALLOW_DIR", "ALLOW_TARGET", "AGENT_KEY", "INSECURE"]
    {
        command.env_remove(format!("IOTBENCH_{option}"));
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().map_err(CliError::local_io)
}

/// 128 random bits.
fn token() -> Result<String, CliError> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes)).map_err(CliError::local_io)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
