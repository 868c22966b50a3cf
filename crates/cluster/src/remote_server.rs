//! A server that an agent runs for this process, as long as this process wants it.

use crate::{
    Broker, ClusterError, SigningKey,
    fleet::runtime,
    message::{Answer, Request, Served},
    observers::Wish,
    peer::{Peer, unexpected},
    subject::What,
};
use iotbench_core::{Endpoint, Settings};
use std::{thread::JoinHandle, time::Duration};
use tokio::sync::oneshot;

/// How long a server may take to start: the slowest recipe, and its installation.
const STARTING: Duration = Duration::from_secs(300);
/// And to stop.
const STOPPING: Duration = Duration::from_secs(90);
/// How often it is said that it is wanted.
const KEEP: Duration = Duration::from_secs(1);

/// A private server on an agent's machine. Dropped, it is stopped and its folder removed.
#[derive(Debug)]
pub struct RemoteServer {
    agent: String,
    served: Served,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ClusterError>>>,
}

impl RemoteServer {
    /// Has an agent start a server of this backend for `id`, a name that nobody else uses. Blocks.
    ///
    /// # Errors
    /// The agent is not reached, serves another, does not offer it, or its server does not start.
    pub fn start(
        broker: &Broker,
        key: &SigningKey,
        agent: &str,
        id: &str,
        backend: &str,
        settings: &Settings,
        memory_bytes: u64,
    ) -> Result<Self, ClusterError> {
        let runtime = runtime()?;
        let (peer, served) = runtime.block_on(async {
            let client = broker.connect("iotbench server").await?;
            let peer = Peer::greet(&client, key, agent).await?;
            let serve =
                Request::Serve { id: id.into(), backend: backend.into(), settings: settings.clone(), memory_bytes };
            let answer = tokio::select! {
                answer = peer.ask(&serve, STARTING) => answer?,
                error = keep(&peer, id) => return Err(error),
            };
            match answer {
                Answer::Serving(served) => Ok((peer, served)),
                other => Err(unexpected(agent.into(), &other)),
            }
        })?;
        let (stop, stopped) = oneshot::channel();
        let id = id.to_owned();
        let thread = std::thread::Builder::new().name("server".into()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    error = keep(&peer, &id) => return Err(error),
                }
                peer.done(&Request::StopServer { id }, STOPPING).await
            })
        });
        let thread = thread.map_err(|e| ClusterError::lost(format!("cannot start a thread: {e}")))?;
        Ok(Self { agent: agent.into(), served, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it is reached.
    #[must_use]
    pub fn endpoints(&self) -> Vec<Endpoint> {
        self.served.endpoints.iter().cloned().map(Endpoint::new).collect()
    }

    /// Its processes, as wishes to sample them.
    pub fn wishes(&self) -> impl Iterator<Item = Wish> {
        self.served.pids.iter().map(|&pid| Wish { agent: self.agent.clone(), what: What::Pid(pid) })
    }

    /// Stops it and waits for its end.
    ///
    /// # Errors
    /// The agent was lost, or does not answer: it stops the server by itself, when it hears nothing for 5 s.
    pub fn stop(mut self) -> Result<(), ClusterError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), ClusterError> {
        drop(self.stop.take());
        let Some(thread) = self.thread.take() else { return Ok(()) };
        thread.join().unwrap_or_else(|_| Err(ClusterError::lost("a thread ended by a fault of iotbench")))
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        // Whoever wants to know calls `stop`.
        let _ = self.end();
    }
}

/// Says again and again that the server is wanted; ends with an error alone.
async fn keep(peer: &Peer, id: &str) -> ClusterError {
    loop {
        if let Err(error) = peer.tell(&Request::Keep { id: id.into() }).await {
            return error;
        }
        tokio::time::sleep(KEEP).await;
    }
}
