//! Starting a private server.

use crate::{
    account::{Account, to_become},
    folder::{FolderError, ServerFolder, fresh_path},
    log::{self, open as open_log, says_port_is_taken},
    order::Marker,
    password::Password,
    plan::{PlanRequest, ServerPlan, plan},
    programs::{Missing, Programs, in_path},
    server::PrivateServer,
    setting::ServerSettings,
    starting::wait_until_ready,
    supervisor::{self, Supervisor},
    template::UnknownName,
    topology::{self, Topology},
};
use iotbench_core::Recipe;
use std::{
    collections::HashMap,
    io,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    time::Duration,
};

/// The memory budget of a server's caches.
pub const DEFAULT_MEMORY_BYTES: u64 = 512 << 20;
/// A heap in which writes wait holds so many times what its caches may.
const HEAP_OVER_CACHES: u64 = 3;
/// A process that was asked to stop is killed after so long.
const GRACE: Duration = Duration::from_secs(20);
/// How often other ports are tried.
const ATTEMPTS: u32 = 5;

/// What is to be started.
#[derive(Clone, Debug)]
pub struct Launch {
    pub(crate) backend: String,
    recipe: &'static Recipe,
    pub(crate) log: PathBuf,
    memory_bytes: u64,
    pub(crate) settings: ServerSettings,
    kept: Option<PathBuf>,
    wanted_ports: Vec<u16>,
    listen: Option<Ipv4Addr>,
    supervisor: Option<PathBuf>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A program of the recipe.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The supervisor.
    #[error(
        "the program iotbench, which looks after private servers, was not found: name it by IOTBENCH_BIN, or put it \
         beside this program or into PATH"
    )]
    NoSupervisor,
    /// What root needs to become another user.
    #[error("setpriv not found: a server does not run as root; apt-get install util-linux, or be another user")]
    NoSetpriv,
    /// Its folder.
    #[error("no folder for the server: {0}")]
    Folder(#[from] FolderError),
    /// The folder holds another number of nodes.
    #[error("{} holds a server of {nodes} nodes: leave server.nodes = {wanted} out", folder.display())]
    OtherNodes {
        /// The folder.
        folder: PathBuf,
        /// How many it holds.
        nodes: u32,
        /// How many were asked for.
        wanted: u32,
    },
    /// The folder holds other processes of the same backend.
    #[error("{} holds another kind of server: start it with the settings that it was started with", folder.display())]
    OtherKind {
        /// The folder.
        folder: PathBuf,
    },
    /// The system refuses something else.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why not.
        source: io::Error,
    },
    /// It ended, or was not even started.
    #[error("{backend} did not start: {how}{tail}\nits log: {}", log.display())]
    Died {
        /// The backend.
        backend: String,
        /// How it ended.
        how: String,
        /// The last lines of its log, each on a line of its own.
        tail: String,
        /// The whole log.
        log: PathBuf,
    },
    /// It ended, and its log complains of a setting of the user's.
    #[error("server.{key}: {backend} does not start with it: {said}\nits log: {}", log.display())]
    Refused {
        /// The backend.
        backend: String,
        /// The setting.
        key: String,
        /// What the log says.
        said: String,
        /// The whole log.
        log: PathBuf,
    },
    /// It runs and does not answer.
    #[error("{backend} did not answer within {within_s} s of its start{tail}\nits log: {}", log.display())]
    NotReady {
        /// The backend.
        backend: String,
        /// How long was waited.
        within_s: u64,
        /// The last lines of its log.
        tail: String,
        /// The whole log.
        log: PathBuf,
    },
    /// Other machines shall reach a server of several nodes.
    #[error("a server of {nodes} nodes is reached from its own machine alone: leave server.nodes out")]
    NotReachable {
        /// How many it has.
        nodes: u32,
    },
    /// The caller does not want it any more.
    #[error("the start was given up")]
    Cancelled,
    /// The recipe is wrong.
    #[error(transparent)]
    Recipe(#[from] UnknownName),
}

impl Launch {
    /// A server of this backend in a folder of its own, removed at the end, that writes to `log`.
    #[must_use]
    pub fn new(backend: &str, recipe: &'static Recipe, log: PathBuf) -> Self {
        // The supervisor, which opens the logs of several processes, is at home elsewhere.
        let log = std::path::absolute(&log).unwrap_or(log);
        Self {
            backend: backend.into(),
            recipe,
            log,
            memory_bytes: DEFAULT_MEMORY_BYTES,
            settings: ServerSettings::default(),
            kept: None,
            wanted_ports: Vec::new(),
            listen: None,
            supervisor: None,
        }
    }

    /// The memory budget of its caches.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = bytes;
        self
    }

    /// The user's settings.
    #[must_use]
    pub fn settings(mut self, settings: ServerSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Starts on the folder that an earlier server left, which is then kept again.
    #[must_use]
    pub fn on_kept_folder(mut self, folder: PathBuf) -> Self {
        self.kept = Some(folder);
        self
    }

    /// The `iotbench` binary, where it is neither named by IOTBENCH_BIN nor beside this program nor in PATH.
    #[must_use]
    pub fn supervisor(mut self, program: PathBuf) -> Self {
        self.supervisor = Some(program);
        self
    }

    /// Has other machines reach it, at this address of this machine. For servers of one node.
    #[must_use]
    pub fn listening_at(mut self, address: Ipv4Addr) -> Self {
        self.listen = Some(address);
        self
    }

    /// Tries these ports first, in the order of the recipe's; others when the server cannot have them.
    #[must_use]
    pub fn wanted_ports(mut self, ports: &[u16]) -> Self {
        self.wanted_ports = ports.to_vec();
        self
    }
}

/// Starts a server and waits until it answers. `cancelled` is asked meanwhile. Whatever ends the start, nothing of it is
/// left but its log.
///
/// # Errors
/// Something is missing, the server ends or does not answer; the error says what to do, with the last lines of the log.
pub fn start(launch: &Launch, cancelled: &dyn Fn() -> bool) -> Result<PrivateServer, StartError> {
    let programs = Programs::find(launch.recipe)?;
    let supervisor = launch.supervisor.clone().or_else(supervisor::find).ok_or(StartError::NoSupervisor)?;
    let account = to_become(launch.recipe.user)
        .map_err(|source| StartError::Io { what: "no user to run the server as".into(), source })?;
    let kept = launch.kept.as_ref().map(|kept| what_is_kept(launch, kept, account.as_ref())).transpose()?;
    let prefix = standing_before(account.as_ref())?;
    let password = kept.as_ref().and_then(|kept| kept.password.clone());
    let password = password.map_or_else(Password::draw, Ok);
    let password = password.map_err(|source| StartError::Io { what: "no password for the server".into(), source })?;
    let place = LaunchContext { launch, programs, supervisor, account, prefix, kept, password };
    // Processes that know one another start again where they were.
    let fixed = place.kept.as_ref().filter(|kept| kept.nodes > 1 || launch.recipe.roles.len() > 1);
    let mut attempt = 1;
    loop {
        let wanted = match (fixed, attempt) {
            (Some(kept), _) => kept.ports.as_slice(),
            (None, 1) => launch.wanted_ports.as_slice(),
            (None, _) => &[],
        };
        let before = place.log_lengths();
        match place.start_once(wanted, cancelled) {
            Err(StartError::Died { log, .. })
                if fixed.is_none()
                    && attempt < ATTEMPTS
                    && says_port_is_taken(&log, before.get(&log).copied().unwrap_or(0)) =>
            {
                attempt += 1;
            }
            ended => return ended,
        }
    }
}

/// What a folder remembers of the server that left it. The supervisor looks again: this is for a clear error.
fn what_is_kept(launch: &Launch, kept: &Path, account: Option<&Account>) -> Result<Marker, StartError> {
    let (_, marker) = ServerFolder::open(kept, &launch.backend, account.map(|a| (a.uid, a.gid)))?;
    if !marker.is_of(launch.recipe) {
        return Err(StartError::OtherKind { folder: kept.into() });
    }
    match launch.settings.wanted_nodes() {
        Some(wanted) if wanted != marker.nodes => {
            Err(StartError::OtherNodes { folder: kept.into(), nodes: marker.nodes, wanted })
        }
        _ => Ok(marker),
    }
}

/// All that is the same for each attempt.
struct LaunchContext<'a> {
    launch: &'a Launch,
    programs: Programs,
    supervisor: PathBuf,
    account: Option<Account>,
    /// What stands before a command so that it runs as the account and ends with its supervisor.
    prefix: Vec<String>,
    /// What the folder remembers that an earlier server left.
    kept: Option<Marker>,
    /// Which it has, on a folder that was kept the one that it had.
    password: Password,
}

impl LaunchContext<'_> {
    fn nodes(&self) -> u32 {
        let Launch { recipe, settings, .. } = self.launch;
        self.kept.as_ref().map_or(settings.nodes(recipe), |kept| kept.nodes)
    }

    /// How long each log is already.
    fn log_lengths(&self) -> HashMap<PathBuf, u64> {
        let Launch { recipe, log, .. } = self.launch;
        let members = Topology { recipe, nodes: self.nodes(), ports: Vec::new(), listen: None }.members();
        let logs = members.iter().map(|member| log::of_member(log, &member.name())).chain([log.clone()]);
        logs.map(|log| {
            let length = log::length(&log);
            (log, length)
        })
        .collect()
    }

    fn start_once(&self, wanted: &[u16], cancelled: &dyn Fn() -> bool) -> Result<PrivateServer, StartError> {
        let Launch { recipe, backend, log, .. } = self.launch;
        let folder = match &self.launch.kept {
            Some(kept) => kept.clone(),
            None => fresh_path(backend, self.account.as_ref())?,
        };
        let listen = self.launch.listen;
        if listen.is_some() && self.nodes() > 1 {
            return Err(StartError::NotReachable { nodes: self.nodes() });
        }
        let topology = topology::choose(recipe, self.nodes(), wanted, listen).map_err(|source| StartError::Io {
            what: format!("no free port on {}", listen.unwrap_or(Ipv4Addr::LOCALHOST)),
            source,
        })?;
        let plan = self.plan(&folder, &topology)?;
        let supervisor = open_log(log).and_then(|log| Supervisor::start(&self.supervisor, &plan.order, log));
        let mut supervisor = supervisor.map_err(|source| StartError::Io {
            what: format!("no supervisor ({}) with the log {}", self.supervisor.display(), log.display()),
            source,
        })?;
        let processes = wait_until_ready(&mut supervisor, &plan, self.launch, cancelled)?;
        Ok(PrivateServer::new(plan.order, plan.endpoints, processes, supervisor))
    }

    fn plan(&self, folder: &Path, topology: &Topology) -> Result<ServerPlan, StartError> {
        let Launch { backend, settings, log, memory_bytes, .. } = self.launch;
        let mut programs = self.programs.values();
        programs.set("memory_bytes", memory_bytes);
        programs.set("heap_bytes", memory_bytes.saturating_mul(HEAP_OVER_CACHES));
        let request = PlanRequest {
            backend,
            topology,
            settings,
            programs: &programs,
            password: &self.password,
            folder,
            log,
            fresh: self.launch.kept.is_none(),
            owner: self.account.as_ref().map(|account| (account.uid, account.gid)),
            prefix: &self.prefix,
            grace: GRACE,
        };
        plan(&request)
    }
}

/// Whether the caller is root, who installs packages without sudo.
#[must_use]
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether no private server can be started because the caller is root and has no `setpriv`, which would make it another user.
#[must_use]
pub fn lacks_setpriv() -> bool {
    is_root() && in_path("setpriv").is_none()
}

/// What stands before a command so that it ends with its supervisor, by the kernel's hand should that be killed, and runs as the
/// account. Without `setpriv` whoever kills the supervisor and its caller leaves the server.
fn standing_before(account: Option<&Account>) -> Result<Vec<String>, StartError> {
    let Some(setpriv) = in_path("setpriv") else {
        return if account.is_some() { Err(StartError::NoSetpriv) } else { Ok(Vec::new()) };
    };
    let mut words = vec![setpriv.display().to_string(), "--pdeathsig=KILL".into()];
    if let Some(Account { uid, gid, .. }) = account {
        words.extend([format!("--reuid={uid}"), format!("--regid={gid}")]);
        words.extend(["--clear-groups".into(), "--no-new-privs".into()]);
    }
    words.push("--".into());
    Ok(words)
}
