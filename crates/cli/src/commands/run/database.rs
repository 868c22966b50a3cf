//! The private server of a run's database: on this machine, or where an agent runs it.

use super::{agents::Way, managed, options::RunArguments};
use crate::{
    console,
    error::CliError,
    job::{Job, ServerPlace},
};
use iotbench_cluster::{Observers, RemoteServer};
use iotbench_engine::{Outcome, RemoteSamplers, StopSignal};
use iotbench_launcher::PrivateServer;
use std::{path::Path, sync::Arc};

/// A server that runs for a run or a sweep.
pub(super) enum DatabaseServer {
    /// On this machine.
    Here(Box<PrivateServer>),
    /// On an agent's.
    There(RemoteServer),
}

impl DatabaseServer {
    /// Starts the server that a job needs, if it needs one, with results in this folder.
    pub(super) fn start(
        job: &Job,
        arguments: &RunArguments,
        results: &Path,
        stop: &StopSignal,
    ) -> Result<Option<Self>, CliError> {
        let (Some(wanted), Some((Way { broker, key }, agent))) = (&job.server, arguments.agents.server_at()) else {
            return Ok(managed::start_server(job, arguments, results, stop)?.map(|server| Self::Here(Box::new(server))));
        };
        let name = job.backend.info().name;
        if !arguments.is_quiet() {
            console::say(&format!("starting {name} at the agent {agent} …"));
        }
        // The folder's name is the run's.
        let id = results.file_name().unwrap_or(results.as_os_str()).to_string_lossy();
        let memory_bytes = arguments.server_memory.0;
        let server = RemoteServer::start(broker, key, agent, &id, name, &wanted.of_backend, memory_bytes)?;
        Ok(Some(Self::There(server)))
    }

    pub(super) fn place(&self) -> ServerPlace {
        match self {
            Self::Here(server) => server.as_ref().into(),
            Self::There(server) => ServerPlace { endpoints: server.endpoints(), nodes: Vec::new() },
        }
    }

    /// The server, where it is on this machine.
    pub(super) fn here(&self) -> Option<&PrivateServer> {
        match self {
            Self::Here(server) => Some(server),
            Self::There(_) => None,
        }
    }

    /// If it has died, the verdict says so; of one elsewhere the run's operations tell.
    pub(super) fn note_death(&self, outcome: &mut Outcome) {
        self.here().into_iter().for_each(|server| managed::note_death(server, outcome));
    }

    /// Stops it and removes it, unless it is to be kept.
    pub(super) fn stop(self, job: &Job, arguments: &RunArguments) {
        match self {
            Self::Here(server) => managed::stop_server(job, arguments, *server),
            Self::There(server) => {
                if let Err(error) = server.stop() {
                    console::say(&format!("warning: the agent's server is not known to be stopped: {error}"));
                }
            }
        }
    }
}

/// Who samples on other machines: those that are asked for, and the agent that runs the server.
pub(super) fn remote_samplers(
    arguments: &RunArguments,
    server: Option<&DatabaseServer>,
) -> Option<Arc<dyn RemoteSamplers>> {
    let observers = arguments.agents.observers();
    match (server, arguments.agents.server_at()) {
        (Some(DatabaseServer::There(server)), Some((Way { broker, key }, _))) => {
            let given = observers.iter().flat_map(|observers| observers.wishes());
            let wishes = server.wishes().chain(given.cloned()).collect();
            Some(Arc::new(Observers::new(broker.clone(), key.clone(), wishes)))
        }
        _ => observers.map(|observers| observers as Arc<dyn RemoteSamplers>),
    }
}
