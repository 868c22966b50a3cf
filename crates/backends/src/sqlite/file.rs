//! The database file: connections to it, and what it occupies.

use super::{
    config::{Config, JournalMode},
    error::classify,
};
use iotbench_core::{Action, Cause, Error};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// `iotb`: stands in the header of a file that we created, so that we may delete it when nothing is left in it.
const APPLICATION_ID: i32 = 0x696f_7462;
/// One a device when series are merged; statements beyond it are prepared anew.
const CACHED_STATEMENTS: usize = 64;

/// A database file and the settings of every connection to it. Nothing is opened before [`DatabaseFile::connect`].
#[derive(Clone, Debug)]
pub(crate) struct DatabaseFile {
    path: PathBuf,
    config: Config,
}

impl DatabaseFile {
    pub(crate) fn new(path: PathBuf, config: Config) -> Self {
        // A relative path that begins with "file:" would be taken for a URI.
        let path = if path.is_absolute() { path } else { Path::new(".").join(path) };
        Self { path, config }
    }

    /// A connection under our settings. The file is created if there is none, in the mode asked for (WAL unless said
    /// otherwise); the journal mode of one that was there is changed only where it is asked for.
    pub(crate) fn connect(&self) -> Result<Connection, Error> {
        let is_new = !self.exists()?;
        self.open(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE, is_new)
    }

    /// A connection that only reads, to a file that is there.
    pub(crate) fn connect_to_read(&self) -> Result<Connection, Error> {
        let connection = self.open(OpenFlags::SQLITE_OPEN_READ_WRITE, false)?;
        connection.pragma_update(None, "query_only", true).map_err(|e| classify(&e))?;
        Ok(connection)
    }

    fn open(&self, flags: OpenFlags, is_new: bool) -> Result<Connection, Error> {
        Connection::open_with_flags(&self.path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
            .and_then(|connection| {
                self.set_up(&connection, is_new)?;
                Ok(connection)
            })
            .map_err(|e| {
                let error = classify(&e);
                Error { message: format!("{}: {}", self.path.display(), error.message), ..error }
            })
    }

    fn set_up(&self, connection: &Connection, is_new: bool) -> rusqlite::Result<()> {
        connection.busy_timeout(Duration::from_millis(self.config.busy_timeout_ms.into()))?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        // A misspelt column must be an error, not a text.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
        if is_new {
            connection.pragma_update(None, "page_size", self.config.page_bytes)?;
            connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        }
        let journal_mode = self.config.journal_mode.or(is_new.then_some(JournalMode::Wal));
        if let Some(mode) = journal_mode {
            connection.pragma_update_and_check(None, "journal_mode", mode.to_string(), |_| Ok(()))?;
        }
        connection.pragma_update(None, "synchronous", self.config.synchronous.to_string())?;
        connection.pragma_update(None, "cache_size", -i64::from(self.config.cache_kib))
    }

    /// Whether the file is there.
    pub(crate) fn exists(&self) -> Result<bool, Error> {
        self.path.try_exists().map_err(|e| self.unreachable(&e))
    }

    /// The bytes of the file and of its journals; 0 where there is none.
    pub(crate) fn bytes(&self) -> Result<u64, Error> {
        self.all_paths().iter().try_fold(0, |sum, path| match fs::metadata(path) {
            Ok(metadata) => Ok(sum + metadata.len()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(sum),
            Err(e) => Err(self.unreachable(&e)),
        })
    }

    /// Gives the disk back what was dropped, if we created the file: it is rewritten without its free pages, and no journal
    /// keeps its size. Other connections may be open, but not within a transaction.
    pub(crate) fn shrink_if_ours(&self, connection: &Connection) -> Result<(), Error> {
        // A journal that persists keeps the greatest size that it ever had.
        let shrink = "PRAGMA journal_size_limit = 0; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)";
        let is_ours = "SELECT application_id = ?1 FROM pragma_application_id";
        let is_ours: bool =
            connection.query_row(is_ours, [APPLICATION_ID], |row| row.get(0)).map_err(|e| classify(&e))?;
        if is_ours { connection.execute_batch(shrink).map_err(|e| classify(&e)) } else { Ok(()) }
    }

    /// Deletes the file and its journals if we created it and nothing is left in it.
    pub(crate) fn delete_if_ours_and_empty(&self, connection: Connection) -> Result<(), Error> {
        let is_ours = "SELECT (SELECT application_id FROM pragma_application_id) = ?1
                          AND NOT EXISTS (SELECT * FROM sqlite_schema)";
        let is_ours: bool =
            connection.query_row(is_ours, [APPLICATION_ID], |row| row.get(0)).map_err(|e| classify(&e))?;
        connection.close().map_err(|(_, e)| classify(&e))?;
        if !is_ours {
            return Ok(());
        }
        for path in self.all_paths() {
            match fs::remove_file(path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(self.unreachable(&e)),
                _ => {}
            }
        }
        Ok(())
    }

    fn all_paths(&self) -> [PathBuf; 4] {
        ["", "-wal", "-shm", "-journal"].map(|suffix| {
            let mut path = OsString::from(&self.path);
            path.push(suffix);
            PathBuf::from(path)
        })
    }

    fn unreachable(&self, error: &io::Error) -> Error {
        Error::new(Cause::Connect, format!("{}: {error}", self.path.display())).action(Action::Stop)
    }
}
