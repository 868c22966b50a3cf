//! A private server that runs.

use crate::{
    folder::{FolderError, ServerFolder},
    order::{Order, Report},
    process::{ProcessId, kill_tree},
    records::Record,
    supervisor::Supervisor,
    template::{UnknownName, Values},
};
use iotbench_core::{Endpoint, Node, Recipe};
use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};
use url::Url;

/// Killed processes that have not ended by then never will.
const KILL_WITHIN: Duration = Duration::from_secs(30);

/// An address as a server of this recipe will have, for planning: its ports are 1, 2, ….
///
/// # Errors
/// The recipe is wrong.
pub fn planned_endpoint(recipe: &Recipe) -> Result<Endpoint, UnknownName> {
    let mut values = Values::default();
    for (number, name) in (1..).zip(recipe.ports) {
        values.set(name, number);
    }
    endpoint(recipe, &values)
}

pub(crate) fn endpoint(recipe: &Recipe, values: &Values) -> Result<Endpoint, UnknownName> {
    let url = values.fill(recipe.url)?.parse::<Url>().map_err(|_| UnknownName::no_url(recipe.url))?;
    Ok(Endpoint::new(url))
}

/// How a server was left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left of it.
    Removed,
    /// Its folder is kept here.
    Kept(PathBuf),
}

/// A private server that runs. Dropping it stops it and removes its folder.
pub struct PrivateServer {
    order: Order,
    role: &'static str,
    endpoint: Endpoint,
    process: ProcessId,
    supervisor: Supervisor,
    /// Whether there is anything left to end.
    over: bool,
}

impl fmt::Debug for PrivateServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateServer").field("endpoint", &self.endpoint).field("process", &self.process).finish()
    }
}

impl PrivateServer {
    pub(crate) fn new(
        order: Order,
        role: &'static str,
        endpoint: Endpoint,
        process: ProcessId,
        supervisor: Supervisor,
    ) -> Self {
        Self { order, role, endpoint, process, supervisor, over: false }
    }

    /// Where it is reached.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The root of its processes.
    #[must_use]
    pub fn process(&self) -> ProcessId {
        self.process
    }

    /// What there is to sample of it.
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        vec![Node { role: self.role.into(), node: 0, pid: u32::try_from(self.process.pid).ok() }]
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.order.folder
    }

    /// Calls back, once and from another thread, when it ends without having been asked to.
    pub fn on_end(&self, call: impl FnOnce(&str) + Send + 'static) {
        self.supervisor.on_end(call);
    }

    /// How it ended, if nobody asked it to.
    #[must_use]
    pub fn ended(&self) -> Option<String> {
        self.supervisor.ended()
    }

    /// Its folder will stay.
    ///
    /// # Errors
    /// That cannot be noted in it.
    pub fn keep(&self) -> Result<(), FolderError> {
        ServerFolder::keep(self.folder()).map_err(|source| FolderError::Io { path: self.folder().into(), source })
    }

    /// Stops it and removes its folder, unless that is to stay.
    ///
    /// # Errors
    /// Something is left that should not be.
    pub fn stop(mut self) -> Result<Ended, FolderError> {
        self.end()
    }

    /// What is to be recorded of it, so that it is found again.
    #[must_use]
    pub fn record(&self, log: &Path) -> Option<Record> {
        let since_s = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        Some(Record {
            backend: self.order.backend.clone(),
            url: self.endpoint.expose().to_string(),
            server: self.process,
            supervisor: self.supervisor.id()?,
            folder: self.order.folder.clone(),
            owner: self.order.owner,
            log: log.into(),
            since_s,
        })
    }

    /// Leaves it running when this program ends.
    ///
    /// # Errors
    /// Its supervisor does not listen: then it ends with this program.
    pub fn detach(mut self) -> io::Result<()> {
        self.supervisor.detach()?;
        self.over = true;
        Ok(())
    }

    fn end(&mut self) -> Result<Ended, FolderError> {
        self.over = true;
        let folder = self.order.folder.clone();
        match self.supervisor.end() {
            Some(Report::Removed) => Ok(Ended::Removed),
            Some(Report::Kept) => Ok(Ended::Kept(folder)),
            Some(Report::NotRemoved(reason)) => Err(FolderError::NotOurs { path: folder, reason }),
            _ => end_without_supervisor(self.process, &folder, &self.order.backend, self.order.owner),
        }
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        if !self.over {
            // Whoever wants to know why it failed calls stop().
            let _ = self.end();
        }
    }
}

/// Ends what a supervisor that is gone has left.
pub(crate) fn end_without_supervisor(
    server: ProcessId,
    folder: &Path,
    backend: &str,
    owner: Option<(u32, u32)>,
) -> Result<Ended, FolderError> {
    let fail = |source| FolderError::Io { path: folder.into(), source };
    if !kill_tree(server, KILL_WITHIN).map_err(fail)? {
        return Err(fail(io::Error::other(format!("process {} cannot be killed", server.pid))));
    }
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ended::Removed),
        _ => {}
    }
    let removed = ServerFolder::open(folder, backend, owner)?.remove_unless_kept(owner)?;
    Ok(if removed { Ended::Removed } else { Ended::Kept(folder.into()) })
}
