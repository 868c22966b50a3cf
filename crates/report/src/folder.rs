//! The folder of one run.

mod appender;
mod manifest;
mod name;
mod replacing;
mod sessions;
mod suite;

pub use appender::Appender;
pub use manifest::{Manifest, ManifestError, ManifestFile, check_manifest};
pub use name::FolderName;
pub use replacing::Flush;
use replacing::replace;
pub(crate) use sessions::has_sessions;
pub use sessions::{open_sessions, read_sessions};
pub use suite::read_suite;

use crate::{
    document::{Document, DocumentError},
    lock::{Lock, LockError},
    sweep_table::SweepTable,
};
use iotbench_simulator::read_regular_text;
use serde::Serialize;
use std::{
    fs::{self, DirBuilder},
    io::{self, Write},
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

/// The document.
pub const RUN_FILE: &str = "run.json";
/// The profile as meant.
pub const PROFILE_FILE: &str = "profile.toml";
/// A row a second.
pub const SERIES_FILE: &str = "series.csv";
/// The distributions of each second.
pub const LATENCY_FILE: &str = "latency.hlog";
/// A line an operation, with a trace only.
pub const OPERATIONS_FILE: &str = "operations.jsonl";
/// What `run.json` needs of each second, for a run that is killed.
pub const JOURNAL_FILE: &str = "journal.jsonl";
/// The trials of a search, a line each.
pub const TRIALS_FILE: &str = "trials.jsonl";
/// What became of each datapoint.
pub const LEDGER_FILE: &str = "ledger.bin";
/// The table of a sweep, in the folder of its runs.
pub const SWEEP_FILE: &str = "sweep.json";
/// The runs of a suite and what became of each, in the folder of its runs.
pub const SUITE_DOCUMENT: &str = "suite.json";
/// The suite as written, beside it.
pub const SUITE_FILE: &str = "suite.toml";
/// Sittings and what became of each, in the folder of their runs.
pub const SESSIONS_DOCUMENT: &str = "sessions.json";
/// The same for people, beside it.
pub const SESSIONS_TEXT: &str = "sessions.txt";
/// The run as a page for people.
pub const REPORT_FILE: &str = "report.html";
/// Digests of the other files.
pub const MANIFEST_FILE: &str = "manifest.json";
/// The files of an embedded database.
pub const DATABASE_FOLDER: &str = "database";
/// Held as long as somebody writes to the folder.
const LOCK_FILE: &str = ".iotbench.lock";

/// Free space that a run must find: a long series and log fit.
pub const MIN_FREE_BYTES: u64 = 16 << 20;
/// Larger files are no documents of ours.
const MAX_DOCUMENT_BYTES: u64 = 256 << 20;

/// Why results cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// A part of the folder's name that is no plain word.
    #[error(
        "{0:?} cannot be part of a folder's name: use letters, digits, _ and -, at most 64 of them; rename the profile"
    )]
    Name(String),
    /// The folder cannot be made.
    #[error("cannot create {path}: {source}; choose another place with --out")]
    Create {
        /// The folder.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// Too little space.
    #[error(
        "{path} has {free_bytes} bytes free, and a run needs {MIN_FREE_BYTES}: make room, or choose another place with --out"
    )]
    Full {
        /// Where.
        path: String,
        /// What is free.
        free_bytes: u64,
    },
    /// Another process writes to the folder.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A file does not hold what it should.
    #[error("{path}: {source}")]
    Document {
        /// The file.
        path: String,
        /// Why.
        source: DocumentError,
    },
    /// Something that is to be kept cannot be expressed in its format: a fault of the program.
    #[error("cannot write {path}: {message}")]
    Format {
        /// The file.
        path: String,
        /// Why.
        message: String,
    },
}

impl FolderError {
    /// The program's exit code: 2 for a name and for what is not there, 31 for a folder that another process holds, else 30, local I/O.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Name(_) => 2,
            Self::Lock(LockError::Held { .. }) => 31,
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => 2,
            _ => 30,
        }
    }
}

/// The folder of one run, which nobody else writes to meanwhile. Nothing outside it is ever written.
#[derive(Debug)]
pub struct ResultsFolder {
    path: PathBuf,
    _lock: Lock,
}

impl ResultsFolder {
    /// Makes the folder `out/name`, for this user only. It must not exist; `out` is made where it does not.
    ///
    /// # Errors
    /// The folder cannot be made or is there already, or less than 16 MiB are free.
    pub fn create(out: &Path, name: &FolderName) -> Result<Self, FolderError> {
        let fail = |path: &Path| {
            let path = shown(path);
            move |source| FolderError::Create { path, source }
        };
        fs::create_dir_all(out).map_err(fail(out))?;
        let space = rustix::fs::statvfs(out).map_err(|e| fail(out)(e.into()))?;
        let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
        if free_bytes < MIN_FREE_BYTES {
            return Err(FolderError::Full { path: shown(out), free_bytes });
        }
        let path = out.join(name.as_str());
        DirBuilder::new().mode(0o700).create(&path).map_err(fail(&path))?;
        Self::hold(path)
    }

    /// The folder of a run that nobody writes to any more.
    ///
    /// # Errors
    /// Somebody does, or there is none.
    pub fn of_killed(path: &Path) -> Result<Self, FolderError> {
        Self::hold(path.to_owned())
    }

    fn hold(path: PathBuf) -> Result<Self, FolderError> {
        let lock = Lock::take(&path.join(LOCK_FILE), &shown(&path))?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder in it for the files of an embedded database, made now if it is not there.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn database_dir(&self) -> Result<PathBuf, FolderError> {
        let path = self.path.join(DATABASE_FOLDER);
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(FolderError::Create { path: shown(&path), source: error })
            }
            _ => Ok(path),
        }
    }

    /// Writes the profile as meant.
    ///
    /// # Errors
    /// It cannot be written, or not be expressed.
    pub fn write_profile(&self, profile: &impl Serialize) -> Result<(), FolderError> {
        let text = toml::to_string(profile)
            .map_err(|e| FolderError::Format { path: self.shown(PROFILE_FILE), message: e.to_string() })?;
        self.replace(PROFILE_FILE, Flush::Later, |file| file.write_all(text.as_bytes()))
    }

    /// Writes the first document, so that the folder says from its first moment what it is of.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(&self, document: &Document) -> Result<(), FolderError> {
        self.write_document(document, Flush::Later)
    }

    /// Writes the last document of a run that could not begin.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn give_up(&self, document: &Document) -> Result<(), FolderError> {
        self.write_document(document, Flush::Now)?;
        self.write_manifest()
    }

    /// Writes the document in the place of the one before.
    ///
    /// # Errors
    /// It cannot be written: the one before stays.
    pub fn write_document(&self, document: &Document, flush: Flush) -> Result<(), FolderError> {
        let text = document
            .to_json()
            .map_err(|e| FolderError::Format { path: self.shown(RUN_FILE), message: e.to_string() })?;
        self.replace(RUN_FILE, flush, |file| file.write_all(text.as_bytes()))
    }

    /// Writes the digests of the other files.
    ///
    /// # Errors
    /// One of them cannot be read, or it cannot be written.
    pub fn write_manifest(&self) -> Result<(), FolderError> {
        let manifest = Manifest::of(&self.path)?;
        self.replace(MANIFEST_FILE, Flush::Now, |file| {
            serde_json::to_writer_pretty(&mut *file, &manifest)?;
            file.write_all(b"\n")
        })
    }

    /// Writes the table of a sweep, whose folder this is, as `sweep.json`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_sweep(&self, sweep: &SweepTable) -> Result<(), FolderError> {
        self.replace(SWEEP_FILE, Flush::Now, |file| {
            serde_json::to_writer_pretty(&mut *file, sweep)?;
            file.write_all(b"\n")
        })
    }

    /// Makes a file that grows by whole records.
    ///
    /// # Errors
    /// It is there already, or cannot be made.
    pub fn appender(&self, name: &str) -> Result<Appender, FolderError> {
        let path = self.path.join(name);
        Appender::create(&path).map_err(|source| FolderError::Write { path: shown(&path), source })
    }

    /// Cuts a file that grew by whole lines after the last of them; how many bytes that took.
    pub(crate) fn cut_torn_line(&self, name: &str) -> Result<u64, FolderError> {
        let path = self.path.join(name);
        appender::cut_torn_line(&path).map_err(|source| FolderError::Write { path: shown(&path), source })
    }

    /// Removes what was written half of a file that was to replace another.
    pub(crate) fn remove_partial(&self, name: &str) {
        replacing::remove_partial(&self.path, name);
    }

    fn shown(&self, name: &str) -> String {
        shown(&self.path.join(name))
    }

    /// Writes a file under another name, which then replaces `name`: readers see the old or the new content, never a part,
    /// and the old one stays when the disk is full.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn replace(
        &self,
        name: &str,
        flush: Flush,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), FolderError> {
        replace(&self.path, name, flush, write).map_err(|source| FolderError::Write { path: self.shown(name), source })
    }
}

/// Writes a file that others see as it was or as it is, never a part, whatever happens meanwhile.
///
/// # Errors
/// It cannot be written.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), FolderError> {
    let fail = |source| FolderError::Write { path: shown(path), source };
    let (Some(name), folder) = (path.file_name(), path.parent().unwrap_or(Path::new(""))) else {
        return Err(fail(io::ErrorKind::IsADirectory.into()));
    };
    replace(folder, &name.to_string_lossy(), Flush::Later, |file| file.write_all(content)).map_err(fail)
}

/// Reads the document of a run: `path` is its folder, or the file itself.
///
/// # Errors
/// There is none, or it is none of this version.
pub fn read_document(path: &Path) -> Result<Document, FolderError> {
    let file = if path.is_dir() { path.join(RUN_FILE) } else { path.to_owned() };
    let read = read_regular_text(&file, MAX_DOCUMENT_BYTES);
    let text = read.map_err(|source| FolderError::Read { path: shown(&file), source })?;
    Document::from_json(&text).map_err(|source| FolderError::Document { path: shown(&file), source })
}

/// Reads the document of a run, as [`read_document`], or those of all runs of a sweep or of sittings: `path` is their folder.
///
/// # Errors
/// There is none, or one that is none of this version.
pub fn read_documents(path: &Path) -> Result<Vec<Document>, FolderError> {
    run_folders(path)?.iter().map(|run| read_document(run)).collect()
}

/// Where the documents are: `path` itself, or of a sweep's folder the folders in it; of sittings those of the runs that came to
/// their end.
pub(crate) fn run_folders(path: &Path) -> Result<Vec<PathBuf>, FolderError> {
    if !path.is_dir() || path.join(RUN_FILE).exists() {
        return Ok(vec![path.to_owned()]);
    }
    if has_sessions(path) {
        return sessions::folders_of_sittings(path);
    }
    let failed = |source| FolderError::Read { path: shown(path), source };
    let mut runs = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let folder = entry.map_err(failed)?.path();
        if folder.join(RUN_FILE).exists() {
            runs.push(folder);
        }
    }
    // Without any, the error names the file that there should be.
    Ok(if runs.is_empty() { vec![path.to_owned()] } else { runs })
}

pub(crate) fn shown(path: &Path) -> String {
    crate::printable::printable(&path.to_string_lossy())
}
