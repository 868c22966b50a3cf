//! The private server of a run's database: on this machine, or where an agent runs it.

use crate::{
    agents::Way,
    error::SessionError,
    event::{Event, StartingAt},
    job::{Job, ServerPlace},
    options::SessionOptions,
    private_server,
};
use iotbench_cluster::{Observers, RemoteServer};
use iotbench_engine::{Outcome, RemoteSamplers, StopSignal};
use iotbench_launcher::PrivateServer;
use std::{path::Path, sync::Arc};

/// A server that runs for a run or a sweep.
pub(crate) enum DatabaseServer {
    /// On this machine.
    Here(Box<PrivateServer>),
    /// On an agent's.
    There(RemoteServer),
}

impl DatabaseServer {
    /// Starts the server that a job needs, if it needs one, with results in this folder.
    pub(crate) fn start(
        job: &Job<'_>,
        options: &SessionOptions,
        results: &Path,
        stop: &StopSignal,
    ) -> Result<Option<Self>, SessionError> {
        let (Some(wanted), Some((Way { broker, key }, agent))) = (&job.server, options.server_at()) else {
            return Ok(
                private_server::start_server(job, options, results, stop)?.map(|server| Self::Here(Box::new(server)))
            );
        };
        let name = job.backend.info().name;
        options.tell(&Event::Starting { server: name, at: StartingAt::Agent(agent) });
        // The folder's name is the run's.
        let id = results.file_name().unwrap_or(results.as_os_str()).to_string_lossy();
        let memory_bytes = options.server_memory_bytes;
        let server = RemoteServer::start(broker, key, agent, &id, name, &wanted.of_backend, memory_bytes)?;
        Ok(Some(Self::There(server)))
    }

    pub(crate) fn place(&self) -> ServerPlace {
        match self {
            Self::Here(server) => server.as_ref().into(),
            Self::There(server) => ServerPlace { endpoints: server.endpoints(), nodes: Vec::new() },
        }
    }

    /// The server, where it is on this machine.
    pub(crate) fn here(&self) -> Option<&PrivateServer> {
        match self {
            Self::Here(server) => Some(server),
            Self::There(_) => None,
        }
    }

    /// If it has died, the verdict says so; of one elsewhere the run's operations tell.
    pub(crate) fn note_death(&self, outcome: &mut Outcome) {
        self.here().into_iter().for_each(|server| private_server::note_death(server, outcome));
    }

    /// Stops it and removes it, unless it is to be kept.
    pub(crate) fn stop(self, job: &Job<'_>, options: &SessionOptions) {
        match self {
            Self::Here(server) => private_server::stop_server(job, options, *server),
            Self::There(server) => {
                if let Err(error) = server.stop() {
                    options.warn(format!("the agent's server is not known to be stopped: {error}"));
                }
            }
        }
    }
}

/// Who samples on other machines: those that are asked for, and the agent that runs the server.
pub(crate) fn remote_samplers(
    options: &SessionOptions,
    server: Option<&DatabaseServer>,
) -> Option<Arc<dyn RemoteSamplers>> {
    let observers = options.reached.observers();
    match (server, options.server_at()) {
        (Some(DatabaseServer::There(server)), Some((Way { broker, key }, _))) => {
            let given = observers.iter().flat_map(|observers| observers.wishes());
            let wishes = server.wishes().chain(given.cloned()).collect();
            Some(Arc::new(Observers::new(broker.clone(), key.clone(), wishes)))
        }
        _ => observers.map(|observers| observers as Arc<dyn RemoteSamplers>),
    }
}
