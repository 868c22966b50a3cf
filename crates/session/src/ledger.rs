//! The ledger as a file of the run's folder.

use iotbench_engine::{Ledger, LedgerStore, open_regular};
use iotbench_report::{Appender, FolderError, LEDGER_FILE, ResultsFolder, printable};
use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// The ledger of a run that goes on.
#[derive(Debug)]
struct GrowingLedger {
    path: PathBuf,
    file: Mutex<Appender>,
}

/// The ledger of a run that is over.
#[derive(Debug)]
struct WrittenLedger(PathBuf);

impl LedgerStore for GrowingLedger {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).append(bytes)
    }

    fn read(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        read(&self.path)
    }
}

impl LedgerStore for WrittenLedger {
    fn append(&self, _bytes: &[u8]) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "the run is over"))
    }

    fn read(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        read(&self.0)
    }
}

fn read(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(Box::new(BufReader::new(open_regular(path)?)))
}

/// Begins the file of the ledger of a run.
///
/// # Errors
/// It cannot be written.
pub fn begin_ledger(folder: &ResultsFolder) -> Result<Arc<dyn LedgerStore>, FolderError> {
    let file = Mutex::new(folder.appender(LEDGER_FILE)?);
    Ok(Arc::new(GrowingLedger { path: folder.path().join(LEDGER_FILE), file }))
}

/// Waits until the ledger is on the disk, where there is one.
pub(crate) fn sync(folder: &ResultsFolder) -> Result<(), FolderError> {
    let path = folder.path().join(LEDGER_FILE);
    match File::open(&path).and_then(|file| file.sync_all()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(FolderError::Write { path: shown(&path), source: error })
        }
        _ => Ok(()),
    }
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// The ledger in the folder of a run.
///
/// # Errors
/// There is none.
pub fn open_ledger(folder: &Path) -> Result<Ledger, FolderError> {
    let path = folder.join(LEDGER_FILE);
    open_regular(&path).map_err(|source| FolderError::Read { path: shown(&path), source })?;
    Ok(Ledger::new(Arc::new(WrittenLedger(path))))
}
