//! Starting a private server.

use crate::{
    account::{Account, to_become},
    folder::{FolderError, ServerFolder, fresh_path},
    order::{Order, Report, VERSION},
    ports,
    process::ProcessId,
    programs::{Missing, Programs, in_path},
    ready::{Probe, listens},
    server::{PrivateServer, endpoint},
    setting::ServerSettings,
    supervisor::{self, Supervisor},
    template::{SETTINGS, UnknownName, Values},
};
use iotbench_core::{Ready, Recipe, StopBy};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// The memory budget of a server's caches.
pub const DEFAULT_MEMORY_BYTES: u64 = 512 << 20;
/// From its start until a server answers.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// Until an empty folder is filled: programs on a cold disk take their time.
const FILLED_WITHIN: Duration = Duration::from_secs(120);
/// From a look at the supervisor to the next look at the server.
const LOOK: Duration = Duration::from_millis(20);
/// A server that was asked to stop is killed after so long.
const GRACE: Duration = Duration::from_secs(20);
/// How often other ports are tried.
const ATTEMPTS: u32 = 5;
/// So much of the end of a log is shown.
const TAIL_LINES: usize = 30;
const TAIL_BYTES: u64 = 8192;

/// What is to be started.
#[derive(Clone, Debug)]
pub struct Launch {
    backend: String,
    recipe: &'static Recipe,
    log: PathBuf,
    memory_bytes: u64,
    settings: ServerSettings,
    kept: Option<PathBuf>,
    wanted_ports: Vec<u16>,
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
        Self {
            backend: backend.into(),
            recipe,
            log,
            memory_bytes: DEFAULT_MEMORY_BYTES,
            settings: ServerSettings::default(),
            kept: None,
            wanted_ports: Vec::new(),
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
    if let Some(kept) = &launch.kept {
        // Its supervisor looks again: this one is for a clear error.
        drop(ServerFolder::open(kept, &launch.backend, account.as_ref().map(|a| (a.uid, a.gid)))?);
    }
    let prefix = account.as_ref().map(become_user).transpose()?.unwrap_or_default();
    let place = Place { launch, programs, supervisor, account, prefix };
    let mut attempt = 1;
    loop {
        let wanted = if attempt == 1 { launch.wanted_ports.as_slice() } else { &[] };
        let log = open_log(&launch.log)?;
        let log_start = log.metadata().map(|m| m.len()).unwrap_or(0);
        match place.start_once(wanted, log, cancelled) {
            Err(StartError::Died { .. }) if attempt < ATTEMPTS && says_port_is_taken(&launch.log, log_start) => {
                attempt += 1;
            }
            ended => return ended,
        }
    }
}

/// All that is the same for each attempt.
struct Place<'a> {
    launch: &'a Launch,
    programs: Programs,
    supervisor: PathBuf,
    account: Option<Account>,
    /// What stands before a command so that it runs as the account.
    prefix: Vec<String>,
}

impl Place<'_> {
    fn start_once(&self, wanted: &[u16], log: File, cancelled: &dyn Fn() -> bool) -> Result<PrivateServer, StartError> {
        let Launch { recipe, backend, kept, .. } = self.launch;
        let folder = match kept {
            Some(kept) => kept.clone(),
            None => fresh_path(backend, self.account.as_ref())?,
        };
        let ports = ports::choose(recipe.ports.len(), wanted)
            .map_err(|source| StartError::Io { what: "no free port on 127.0.0.1".into(), source })?;
        let values = self.values(&folder, &ports)?;
        let order = self.order(&folder, &values)?;
        let probe = probe(&recipe.ready, &values, &ports, recipe)?;
        let endpoint = endpoint(recipe, &values)?;
        let supervisor = Supervisor::start(&self.supervisor, &order, log).map_err(|source| StartError::Io {
            what: format!("no supervisor ({})", self.supervisor.display()),
            source,
        })?;
        let process = self.wait_until_ready(&supervisor, &probe, ports.first().copied(), cancelled)?;
        Ok(PrivateServer::new(order, recipe.role, endpoint, process, supervisor))
    }

    fn values(&self, folder: &Path, ports: &[u16]) -> Result<Values, StartError> {
        let run = folder.to_str().ok_or_else(|| StartError::Io {
            what: folder.display().to_string(),
            source: io::Error::other("the path is not UTF-8"),
        })?;
        let mut values = self.programs.values();
        values.set("run", run);
        values.set("data", format!("{run}/data"));
        values.set("memory_bytes", self.launch.memory_bytes);
        for (name, port) in self.launch.recipe.ports.iter().zip(ports) {
            values.set(name, port);
        }
        Ok(values)
    }

    fn order(&self, folder: &Path, values: &Values) -> Result<Order, StartError> {
        let Launch { recipe, backend, settings, kept, .. } = self.launch;
        let settings = settings.filled(recipe)?;
        let none: &[String] = &[];
        // A recipe takes the user's settings as arguments or as variables.
        let as_arguments = recipe.start.contains(&SETTINGS);
        let (arguments, variables) = if as_arguments { (&*settings, none) } else { (none, &*settings) };
        let init = recipe.init.iter().map(|templates| values.fill_all(templates, &[]));
        let mut environment = vec![
            ("PATH".into(), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into()),
            ("LC_ALL".into(), "C".into()),
            ("HOME".into(), values.fill("{run}")?),
            // A server may clear temporary files away that another one has in a folder that they share.
            ("TMPDIR".into(), values.fill("{run}")?),
        ];
        for variable in values.fill_all(recipe.environment, variables)? {
            let (name, value) = variable.split_once('=').unwrap_or((&variable, ""));
            environment.push((name.into(), value.into()));
        }
        Ok(Order {
            version: VERSION.into(),
            backend: backend.clone(),
            folder: folder.into(),
            fresh: kept.is_none(),
            owner: self.account.as_ref().map(|account| (account.uid, account.gid)),
            prefix: self.prefix.clone(),
            environment,
            init: init.collect::<Result<_, _>>()?,
            start: values.fill_all(recipe.start, arguments)?,
            stop_signal: match recipe.stop {
                StopBy::Terminate => SIGTERM,
                StopBy::Interrupt => SIGINT,
            },
            grace_ms: u64::try_from(GRACE.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Waits until the server, and no stranger on its port, answers.
    fn wait_until_ready(
        &self,
        supervisor: &Supervisor,
        probe: &Probe,
        port: Option<u16>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<ProcessId, StartError> {
        let mut server: Option<ProcessId> = None;
        let mut since = Instant::now();
        loop {
            match supervisor.report(LOOK) {
                Ok(Some(Report::Started(process))) => {
                    server = Some(process);
                    since = Instant::now();
                }
                Ok(Some(Report::Failed(how) | Report::Exited(how))) => return Err(self.died(how)),
                Ok(Some(_)) | Err(()) => return Err(self.died("its supervisor ended".into())),
                Ok(None) => {}
            }
            if cancelled() {
                return Err(StartError::Cancelled);
            }
            let within = if server.is_some() { READY_WITHIN } else { FILLED_WITHIN };
            if since.elapsed() >= within {
                let Launch { backend, log, .. } = self.launch;
                let (backend, log, tail) = (backend.clone(), log.clone(), tail(log));
                return Err(StartError::NotReady { backend, within_s: within.as_secs(), tail, log });
            }
            if let Some(process) = server.filter(|&process| port.is_none_or(|port| listens(process, port)))
                && probe.succeeds()
            {
                return Ok(process);
            }
        }
    }

    fn died(&self, how: String) -> StartError {
        let Launch { backend, log, .. } = self.launch;
        StartError::Died { backend: backend.clone(), how, tail: tail(log), log: log.clone() }
    }
}

fn become_user(account: &Account) -> Result<Vec<String>, StartError> {
    let setpriv = in_path("setpriv").ok_or(StartError::NoSetpriv)?;
    let user = [format!("--reuid={}", account.uid), format!("--regid={}", account.gid)];
    let [reuid, regid] = user;
    Ok(vec![setpriv.display().to_string(), reuid, regid, "--clear-groups".into(), "--no-new-privs".into(), "--".into()])
}

fn probe(ready: &Ready, values: &Values, ports: &[u16], recipe: &Recipe) -> Result<Probe, UnknownName> {
    match ready {
        Ready::Command(templates) => Ok(Probe::Command(values.fill_all(templates, &[])?)),
        Ready::Http { port, path } => {
            let number = recipe.ports.iter().zip(ports).find(|(name, _)| *name == port).map(|(_, &number)| number);
            Ok(Probe::Http { port: number.unwrap_or_default(), path: (*path).into() })
        }
    }
}

/// Opens a log to append to. A link in its place is refused.
fn open_log(path: &Path) -> Result<File, StartError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    options.custom_flags(i32::try_from(rustix::fs::OFlags::NOFOLLOW.bits()).unwrap_or_default());
    options.open(path).map_err(|source| StartError::Io { what: format!("no log at {}", path.display()), source })
}

/// The last lines of a log, each after a line break and two blanks.
fn tail(log: &Path) -> String {
    let text = from_end(log, TAIL_BYTES).unwrap_or_default();
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(TAIL_LINES)..).unwrap_or_default();
    last.iter().map(|line| format!("\n  {line}")).collect()
}

fn from_end(log: &Path, bytes: u64) -> io::Result<String> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes)))?;
    let mut text = Vec::new();
    file.take(bytes).read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Whether what was written to the log since it had this length speaks of a port that another program has.
fn says_port_is_taken(log: &Path, since: u64) -> bool {
    let length = std::fs::metadata(log).map(|m| m.len()).unwrap_or(0);
    let text = from_end(log, length.saturating_sub(since).min(TAIL_BYTES * 16)).unwrap_or_default().to_lowercase();
    text.contains("address already in use")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_lines_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("server.log");
        let lines: String = (0..1000).map(|i| format!("line {i}\n")).collect();
        std::fs::write(&log, lines).unwrap();
        let tail = tail(&log);
        assert!(tail.starts_with("\n  line 970\n") && tail.ends_with("\n  line 999"), "{tail}");
        assert_eq!(super::tail(&folder.path().join("none")), "");
    }

    #[test]
    fn a_taken_port_is_told_from_an_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("server.log");
        std::fs::write(&log, "Bind on TCP/IP port: Address already in use\n").unwrap();
        assert!(says_port_is_taken(&log, 0));
        assert!(!says_port_is_taken(&log, 44));
    }

    #[test]
    fn a_link_in_the_logs_place_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("server.log");
        std::os::unix::fs::symlink(folder.path().join("theirs"), &link).unwrap();
        assert!(open_log(&link).is_err());
        assert!(!folder.path().join("theirs").exists());
    }
}
