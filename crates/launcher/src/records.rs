//! Servers that outlive the program that started them, as files in a folder of the user's own.

use crate::{
    folder::{FolderError, ServerFolder},
    own_folder::{PRIVATE, is_ours, own_folder},
    password::Password,
    process::ProcessId,
    server::{Ended, ServerProcess, end_without_supervisor},
};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::{
    env,
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write},
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    time::Duration,
};

/// A supervisor that was asked to end has done so by then, for each process: it kills what does not stop.
const END_WITHIN: Duration = Duration::from_secs(60);
const RUNTIME_VARIABLE: &str = "XDG_RUNTIME_DIR";
/// Where everybody may make a folder.
const SHARED: &str = "/tmp";

/// The servers that a user keeps running: of each backend one for each folder that one was started from.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
}

/// A server that runs on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Its backend.
    pub backend: String,
    /// Where it is reached, without its password.
    pub urls: Vec<String>,
    /// The password of the users in them; `None`: it asks for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) password: Option<Password>,
    /// Its processes.
    pub processes: Vec<ServerProcess>,
    /// Who looks after it.
    pub supervisor: ProcessId,
    /// Its folder.
    pub folder: PathBuf,
    /// User and group that have the folder, if the server runs as another user.
    pub owner: Option<(u32, u32)>,
    /// The working folder of the program that started it; empty: not known.
    #[serde(default)]
    pub started_in: PathBuf,
    /// Its log.
    pub log: PathBuf,
    /// When it was started, in seconds since the Unix epoch.
    pub since_s: u64,
}

/// Why records cannot be kept, or a server not be stopped.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder is another user's, or open to others.
    #[error("{} is not a folder of yours alone: remove it, or set {RUNTIME_VARIABLE} to one that is", .0.display())]
    NotOurs(PathBuf),
    /// There is one already.
    #[error("{backend} runs already at {url}: `iotbench server stop {backend}` ends it")]
    Running {
        /// The backend.
        backend: String,
        /// Where.
        url: String,
    },
    /// The system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// What it is about.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A process that does not end.
    #[error("{backend} (process {pid}) does not end")]
    Stuck {
        /// The backend.
        backend: String,
        /// Its supervisor.
        pid: i32,
    },
    /// Its folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl Record {
    /// Whether all its processes live.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.processes.iter().all(|process| process.id.is_alive())
    }
}

impl Records {
    /// The records of this user: in XDG_RUNTIME_DIR, or in a folder of the user's own in /tmp.
    ///
    /// # Errors
    /// The folder cannot be made, or is not the user's alone.
    pub fn open() -> Result<Self, RecordError> {
        let runtime = env::var_os(RUNTIME_VARIABLE).map(PathBuf::from).filter(|f| f.is_absolute() && f.is_dir());
        let folder = match runtime {
            Some(runtime) => runtime.join("iotbench"),
            None => own_folder(Path::new(SHARED)).map_err(|source| RecordError::Io { path: SHARED.into(), source })?,
        };
        Self::in_folder(&folder)
    }

    /// Where the locks of databases lie that are the user's own.
    #[must_use]
    pub fn lock_of(&self, target: &str) -> PathBuf {
        self.folder.join(format!("{target}.lock"))
    }

    pub(crate) fn in_folder(folder: &Path) -> Result<Self, RecordError> {
        let fail = |source| RecordError::Io { path: folder.into(), source };
        match DirBuilder::new().mode(PRIVATE).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(fail(error)),
            _ => {}
        }
        if !is_ours(folder).map_err(fail)? {
            return Err(RecordError::NotOurs(folder.into()));
        }
        Ok(Self { folder: folder.into() })
    }

    /// Where a server of this backend that is started from this folder writes its log. That of an earlier one is removed.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn fresh_log(&self, backend: &str, started_in: &Path) -> Result<PathBuf, RecordError> {
        let path = self.file(backend, started_in, "log");
        remove_file(&path)?;
        Ok(path)
    }

    /// Every server, by backend and the folder that it was started from.
    ///
    /// # Errors
    /// The folder cannot be read. A file in it that is no record is passed over.
    pub fn list(&self) -> Result<Vec<Record>, RecordError> {
        let entries = fs::read_dir(&self.folder).map_err(|source| self.fail(source))?;
        let paths = entries.flatten().map(|entry| entry.path());
        let texts = paths.filter(|p| p.extension().is_some_and(|e| e == "json")).map(fs::read);
        let mut records: Vec<Record> = texts.flatten().filter_map(|text| serde_json::from_slice(&text).ok()).collect();
        records.sort_by(|a, b| (&a.backend, &a.started_in).cmp(&(&b.backend, &b.started_in)));
        Ok(records)
    }

    /// The servers of this backend, alive or not.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn of(&self, backend: &str) -> Result<Vec<Record>, RecordError> {
        Ok(self.list()?.into_iter().filter(|record| record.backend == backend).collect())
    }

    /// Notes a server.
    ///
    /// # Errors
    /// There is one of this backend that was started from the same folder, or the file cannot be written.
    pub fn add(&self, record: &Record) -> Result<(), RecordError> {
        let path = self.path(record);
        let fail = |source| RecordError::Io { path: path.clone(), source };
        let text = serde_json::to_vec(record).map_err(|e| fail(e.into()))?;
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Ok(mut file) => file.write_all(&text).map_err(fail),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(RecordError::Running {
                backend: record.backend.clone(),
                url: "the address that `iotbench server list` shows".into(),
            }),
            Err(error) => Err(fail(error)),
        }
    }

    /// Ends a server and forgets it. Its folder stays if `keep` says so, or if it says nothing and the folder was kept
    /// before.
    ///
    /// # Errors
    /// It does not end, or its folder cannot be removed.
    pub fn stop(&self, record: &Record, keep: Option<bool>) -> Result<Ended, RecordError> {
        let Record { backend, folder, .. } = record;
        let fail = |source| RecordError::Io { path: folder.clone(), source };
        match keep {
            Some(true) => ServerFolder::keep(folder).map_err(fail)?,
            Some(false) => ServerFolder::keep_no_longer(folder).map_err(fail)?,
            None => {}
        }
        let asked = record.supervisor.signal(Signal::TERM).map_err(fail)?;
        let processes = u32::try_from(record.processes.len()).unwrap_or(u32::MAX);
        if asked && !record.supervisor.wait_for_end(END_WITHIN.saturating_mul(processes.max(1))) {
            return Err(RecordError::Stuck { backend: backend.clone(), pid: record.supervisor.pid });
        }
        // Does nothing where the supervisor has done its work.
        let ended = end_without_supervisor(record.processes.iter().map(|p| p.id), folder, backend, record.owner)?;
        self.forget(record)?;
        Ok(ended)
    }

    fn forget(&self, record: &Record) -> Result<(), RecordError> {
        for log in record.processes.iter().map(|process| &process.log).filter(|log| log.starts_with(&self.folder)) {
            remove_file(log)?;
        }
        let log = Some(&record.log).filter(|log| log.starts_with(&self.folder));
        log.map_or(Ok(()), |log| remove_file(log))?;
        remove_file(&self.path(record))
    }

    fn path(&self, record: &Record) -> PathBuf {
        self.file(&record.backend, &record.started_in, "json")
    }

    /// The file of a server: each folder has names of its own.
    fn file(&self, backend: &str, started_in: &Path, extension: &str) -> PathBuf {
        let place = match started_in.as_os_str().is_empty() {
            true => String::new(),
            false => format!("-{:016x}", fnv_1a(started_in.as_os_str().as_bytes())),
        };
        self.folder.join(format!("{backend}{place}.{extension}"))
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn fail(&self, source: io::Error) -> RecordError {
        RecordError::Io { path: self.folder.clone(), source }
    }
}

/// The hash of Fowler, Noll and Vo, which stays the same from one version of this program to the next.
fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Removes a file, if there is one.
pub(crate) fn remove_file(path: &Path) -> Result<(), RecordError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(RecordError::Io { path: path.into(), source }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{os::unix::fs::PermissionsExt, process::Command};

    fn record(server: ProcessId, folder: PathBuf) -> Record {
        Record {
            backend: "exampled".into(),
            urls: vec!["http://127.0.0.1:1/".into()],
            password: None,
            processes: vec![ServerProcess {
                role: "server".into(),
                node: 0,
                id: server,
                log: "exampled.log".into(),
                address: None,
            }],
            supervisor: server,
            folder,
            owner: None,
            started_in: "/here".into(),
            log: "exampled.log".into(),
            since_s: 1,
        }
    }

    #[test]
    fn a_folder_open_to_others_or_another_users_is_refused() {
        let parent = tempfile::tempdir().unwrap();
        let open = parent.path().join("open");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(Records::in_folder(&open), Err(RecordError::NotOurs(_))));
        let link = parent.path().join("link");
        std::os::unix::fs::symlink("/", &link).unwrap();
        assert!(matches!(Records::in_folder(&link), Err(RecordError::NotOurs(_))));
        assert!(Records::in_folder(&parent.path().join("new")).is_ok());
    }

    #[test]
    fn each_folder_has_a_server_of_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let records = Records::in_folder(&parent.path().join("records")).unwrap();
        let gone = ProcessId { pid: i32::MAX, start_ticks: 1 };
        let here = record(gone, parent.path().join("gone"));
        let there = Record { started_in: "/there".into(), ..here.clone() };
        // As an earlier version wrote it.
        let unknown = Record { started_in: PathBuf::new(), ..here.clone() };
        for one in [&here, &there, &unknown] {
            records.add(one).unwrap();
        }
        assert!(matches!(records.add(&there), Err(RecordError::Running { .. })));
        assert_eq!(records.of("exampled").unwrap(), [unknown.clone(), here.clone(), there.clone()]);
        records.stop(&here, None).unwrap();
        assert_eq!(records.of("exampled").unwrap(), [unknown, there]);
    }

    #[test]
    fn a_reused_pid_is_not_stopped() {
        let parent = tempfile::tempdir().unwrap();
        let records = Records::in_folder(&parent.path().join("records")).unwrap();
        let mut stranger = Command::new("sleep").arg("600").spawn().unwrap();
        let id = ProcessId::of(i32::try_from(stranger.id()).unwrap()).unwrap();
        let before = ProcessId { start_ticks: id.start_ticks - 1, ..id };
        let record = record(before, parent.path().join("gone"));
        records.add(&record).unwrap();
        assert!(matches!(records.add(&record), Err(RecordError::Running { .. })));
        assert_eq!(records.of("exampled").unwrap().as_slice(), std::slice::from_ref(&record));
        assert!(!record.is_alive());
        assert_eq!(records.stop(&record, None).unwrap(), Ended::Removed);
        assert!(id.is_alive() && records.list().unwrap().is_empty());
        stranger.kill().unwrap();
        stranger.wait().unwrap();
    }
}
