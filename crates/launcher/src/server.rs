//! A private server that runs.

use crate::{
    credentials::without_password,
    folder::{FolderError, ServerFolder},
    order::{Act, Order, Report},
    process::{ProcessId, kill_tree},
    records::Record,
    supervisor::{Acting, Supervisor},
};
use iotbench_core::{Endpoint, Node, ProcessAction};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    env, fmt, fs, io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant, SystemTime},
};

/// Killed processes that have not ended by then never will.
const KILL_WITHIN: Duration = Duration::from_secs(30);
/// A folder that is held for longer is another server's.
const RELEASED_WITHIN: Duration = Duration::from_secs(5);
/// How often it is looked whether something has ended.
const LOOK: Duration = Duration::from_millis(20);

/// How a server was left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left of it.
    Removed,
    /// Its folder is kept here.
    Kept(PathBuf),
}

/// One process of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerProcess {
    /// What it is for: its role's name.
    pub role: String,
    /// The node that it runs on, from 0.
    pub node: u32,
    /// The root of its own processes.
    pub id: ProcessId,
    /// Its log.
    pub log: PathBuf,
    /// Where others of the server reach it: its address and first port.
    pub address: Option<SocketAddr>,
}

/// A private server that runs. Dropping it stops it and removes its folder.
pub struct PrivateServer {
    order: Order,
    endpoints: Vec<Endpoint>,
    processes: Vec<ServerProcess>,
    acted_on: ActedOn,
    supervisor: Supervisor,
    /// Whether there is anything left to end.
    over: bool,
}

impl fmt::Debug for PrivateServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateServer").field("endpoints", &self.endpoints).field("processes", &self.processes).finish()
    }
}

impl PrivateServer {
    pub(crate) fn new(
        order: Order,
        endpoints: Vec<Endpoint>,
        processes: Vec<ServerProcess>,
        supervisor: Supervisor,
    ) -> Self {
        Self { order, endpoints, processes, acted_on: ActedOn::default(), supervisor, over: false }
    }

    /// Where it is reached: at each process that clients may talk to.
    #[must_use]
    pub fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }

    /// Its processes as they were started first, in that order.
    #[must_use]
    pub fn processes(&self) -> &[ServerProcess] {
        &self.processes
    }

    /// Whether all its processes live, but for those that were killed on purpose.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.present().iter().flatten().all(|id| id.is_alive())
    }

    /// Its processes as they are now, in the order of their first start; `None`: killed on purpose.
    fn present(&self) -> Vec<Option<ProcessId>> {
        let acted_on = lock(&self.acted_on);
        let id = |(place, process): (usize, &ServerProcess)| match acted_on.get(&place) {
            Some(&present) => present,
            None => Some(process.id),
        };
        self.processes.iter().enumerate().map(id).collect()
    }

    /// Who acts on its processes while it runs.
    #[must_use]
    pub fn actor(&self) -> ProcessActor {
        let places = self.processes.iter().map(|process| (process.role.clone(), process.node)).collect();
        ProcessActor { places, acting: self.supervisor.acting(), acted_on: Arc::clone(&self.acted_on) }
    }

    /// What there is to sample of it, as it is now.
    #[must_use]
    pub fn nodes(&self) -> Vec<Node> {
        let node = |(process, present): (&ServerProcess, Option<ProcessId>)| Node {
            role: process.role.clone(),
            node: process.node,
            pid: present.and_then(|id| u32::try_from(id.pid).ok()),
            address: process.address,
        };
        self.processes.iter().zip(self.present()).map(node).collect()
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.order.folder
    }

    /// Whether an earlier server left its folder.
    #[must_use]
    pub fn is_on_kept_folder(&self) -> bool {
        !self.order.fresh
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
        let asks_for_it = self.endpoints.iter().any(|endpoint| endpoint.expose().password().is_some());
        Some(Record {
            backend: self.order.marker.backend.clone(),
            urls: self.endpoints.iter().map(|endpoint| without_password(endpoint.expose())).collect(),
            password: self.order.marker.password.clone().filter(|_| asks_for_it),
            processes: self.processes.clone(),
            supervisor: self.supervisor.id()?,
            folder: self.order.folder.clone(),
            owner: self.order.owner,
            started_in: env::current_dir().unwrap_or_default(),
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
            _ => end_without_supervisor(
                self.present().into_iter().flatten(),
                &folder,
                &self.order.marker.backend,
                self.order.owner,
            ),
        }
    }
}

/// Processes by their places that are others since somebody acted on them; `None`: killed.
type ActedOn = Arc<Mutex<BTreeMap<usize, Option<ProcessId>>>>;

fn lock(acted_on: &ActedOn) -> MutexGuard<'_, BTreeMap<usize, Option<ProcessId>>> {
    acted_on.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills, stops, continues and restarts single processes of a server that runs, from any thread.
#[derive(Clone)]
pub struct ProcessActor {
    places: Vec<(String, u32)>,
    acting: Acting,
    acted_on: ActedOn,
}

impl fmt::Debug for ProcessActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessActor").field("places", &self.places).finish_non_exhaustive()
    }
}

impl ProcessActor {
    /// Acts on the process of a role on a node, counted from 0, and waits until that is done: a restarted one has been
    /// started then, and may not answer yet; it is another process, whose id is returned.
    ///
    /// # Errors
    /// There is no such process, the server has ended, or the system refuses: why, for people.
    pub fn act(&self, action: ProcessAction, role: &str, node: u32) -> Result<Option<u32>, String> {
        let place = self.places.iter().position(|(of, on)| of == role && *on == node);
        let process = place.ok_or_else(|| format!("there is no {role} on node {node}"))?;
        if action.kills() {
            // Noted first: its end is no surprise.
            lock(&self.acted_on).insert(process, None);
        }
        let id = self.acting.act(&Act { process, action })?;
        if !matches!(action, ProcessAction::Restart | ProcessAction::Crash) {
            return Ok(None);
        }
        lock(&self.acted_on).insert(process, Some(id));
        Ok(u32::try_from(id.pid).ok())
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
    processes: impl DoubleEndedIterator<Item = ProcessId>,
    folder: &Path,
    backend: &str,
    owner: Option<(u32, u32)>,
) -> Result<Ended, FolderError> {
    let fail = |source| FolderError::Io { path: folder.into(), source };
    // The last first, as in an orderly stop.
    for process in processes.rev() {
        if !kill_tree(process, KILL_WITHIN).map_err(fail)? {
            return Err(fail(io::Error::other(format!("process {} cannot be killed", process.pid))));
        }
    }
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ended::Removed),
        _ => {}
    }
    let removed = open_soon(folder, backend, owner)?.remove_unless_kept(owner)?;
    Ok(if removed { Ended::Removed } else { Ended::Kept(folder.into()) })
}

/// Opens the folder of a server whose processes have ended. A killed supervisor holds it until the last of its threads has gone.
fn open_soon(folder: &Path, backend: &str, owner: Option<(u32, u32)>) -> Result<ServerFolder, FolderError> {
    let began = Instant::now();
    loop {
        match ServerFolder::open(folder, backend, owner) {
            Err(FolderError::InUse { .. }) if began.elapsed() < RELEASED_WITHIN => thread::sleep(LOOK),
            opened => return opened.map(|(folder, _)| folder),
        }
    }
}
