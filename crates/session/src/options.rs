//! How runs are carried out, whatever they run.

use crate::{
    agents::{Agents, AgentsWanted, Reached, Way},
    event::{Event, SessionObserver},
    trials::TrialRecord,
};
use iotbench_broker::Via;
use iotbench_core::Recipe;
use iotbench_engine::VerifyMode;
use iotbench_launcher::{DEFAULT_MEMORY_BYTES, Launch};
use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

/// How runs are carried out, whatever they run.
#[derive(Clone)]
pub struct SessionOptions {
    /// Where results folders are made.
    pub results: PathBuf,
    /// The command that does the same, for the results; without secrets.
    pub command: Vec<String>,
    /// Whether certificates are not checked, and a broker elsewhere may be in clear text.
    pub insecure: bool,
    /// Leave what was written in the database, and the folder of a private server.
    pub keep: bool,
    /// Keep a line for each operation.
    pub trace: bool,
    /// What is compared with the truth.
    pub verify: VerifyMode,
    /// The memory budget of a private server's caches.
    pub server_memory_bytes: u64,
    /// The broker between devices and writers; `None`: devices write themselves.
    pub via: Option<Via>,
    /// Who makes the load, samples and serves besides this process.
    pub agents: AgentsWanted,
    /// The program `iotbench`, which looks after private servers; `None`: the one that IOTBENCH_BIN names, or that is beside this
    /// program or in PATH.
    pub program: Option<PathBuf>,
    /// Who is told what happens.
    pub observer: Arc<dyn SessionObserver>,
    /// The trials of a search that goes on.
    pub resumed: Option<Resumed>,
    /// The agents that are there: [`SessionOptions::made_by`].
    pub reached: Reached,
}

/// A search that another process began.
#[derive(Clone, Debug)]
pub struct Resumed {
    /// The name of its run.
    pub of: String,
    /// The trials that it made.
    pub trials: Vec<TrialRecord>,
}

impl SessionOptions {
    /// Results in this folder, and all else as usual.
    #[must_use]
    pub fn new(results: PathBuf) -> Self {
        Self {
            results,
            command: Vec::new(),
            insecure: false,
            keep: false,
            trace: false,
            verify: VerifyMode::Sample,
            server_memory_bytes: DEFAULT_MEMORY_BYTES,
            via: None,
            agents: AgentsWanted::default(),
            program: None,
            observer: Arc::new(()),
            resumed: None,
            reached: Reached::default(),
        }
    }

    /// The same with results elsewhere.
    #[must_use]
    pub fn results_in(&self, results: &Path) -> Self {
        Self { results: results.to_owned(), ..self.clone() }
    }

    /// The same for a run that goes on, if there is something of it.
    #[must_use]
    pub fn going_on(&self, resumed: Option<Resumed>) -> Self {
        Self { resumed, ..self.clone() }
    }

    /// The same with these agents, as far as they are wanted.
    #[must_use]
    pub fn made_by(&self, agents: Option<&Agents>) -> Self {
        Self { reached: Reached::of(&self.agents, agents), ..self.clone() }
    }

    /// A private server that looks after itself as these options say, with its log there.
    pub(crate) fn launch(&self, name: &str, recipe: &'static Recipe, log: PathBuf) -> Launch {
        let launch = Launch::new(name, recipe, log);
        match &self.program {
            Some(program) => launch.supervisor(program.clone()),
            None => launch,
        }
    }

    pub(crate) fn tell(&self, event: &Event<'_>) {
        self.observer.event(event);
    }

    pub(crate) fn warn(&self, message: impl fmt::Display) {
        self.tell(&Event::Warning(&message.to_string()));
    }

    /// The agent that is to start the server, and the way to it.
    pub(crate) fn server_at(&self) -> Option<(&Way, &str)> {
        self.reached.way().zip(self.agents.server_at.as_deref())
    }

    /// What a result has to say of the way to its agents.
    pub(crate) fn remark_of_agents(&self) -> Option<String> {
        let open = self.reached.way().filter(|_| self.agents.is_any())?.broker.in_clear_text()?;
        Some(format!(
            "the agents' broker at {open} is in clear text on another machine: what it carried could be read and changed"
        ))
    }
}
