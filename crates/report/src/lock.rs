//! A lock between the processes of this machine: it goes with the process that holds it, however that ends.

use crate::printable::printable;
use jiff::Timestamp;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// What a holder notes of himself is shorter.
const MAX_HOLDER_BYTES: u64 = 1 << 10;

/// A lock that this process holds until it is dropped.
///
/// It is the system's lock on a file (flock), so a process that is killed leaves the file and not the lock. The file says
/// who holds it, and is removed with the lock.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    // Closing it gives the lock back.
    _file: File,
}

/// Who holds a lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The number of its process.
    pub pid: u32,
    /// Since when, RFC 3339.
    pub since: String,
}

/// Why a lock was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("{what} is in use by {}: wait until it has ended, or end it", Shown(.holder.as_ref()))]
    Held {
        /// What is locked.
        what: String,
        /// Who holds it; `None`: it has not said so yet.
        holder: Option<Holder>,
    },
    /// The file cannot be made or locked.
    #[error("cannot lock {path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
}

struct Shown<'a>(Option<&'a Holder>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Holder { pid, since }) => write!(f, "another iotbench (process {pid}, since {})", printable(since)),
            None => f.write_str("another iotbench, which has just begun"),
        }
    }
}

impl Lock {
    /// Takes the lock of which `path` is the file, without waiting. `what` is locked by it, for people.
    ///
    /// # Errors
    /// Another process holds it, or the file cannot be made.
    pub fn take(path: &Path, what: &str) -> Result<Self, LockError> {
        let fail = |source| LockError::Io { path: printable(&path.to_string_lossy()), source };
        loop {
            let mut file = open(path).map_err(fail)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Held { what: printable(what), holder: holder(&file) });
                }
                Err(TryLockError::Error(source)) => return Err(fail(source)),
            }
            // Whoever held it may have removed the file in between: then a lock on it keeps nobody out.
            if is_at(&file, path).map_err(fail)? {
                note(&mut file).map_err(fail)?;
                return Ok(Self { path: path.into(), _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is still held. A file that stays harms nobody.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    let no_link = OFlags::NOFOLLOW.bits().cast_signed();
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).custom_flags(no_link).open(path)
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn note(file: &mut File) -> io::Result<()> {
    let since = Timestamp::try_from(SystemTime::now()).unwrap_or_default();
    // To the second: for people.
    let since = Timestamp::from_second(since.as_second()).unwrap_or_default().to_string();
    file.set_len(0)?;
    file.write_all(&serde_json::to_vec(&Holder { pid: std::process::id(), since })?)
}

fn holder(file: &File) -> Option<Holder> {
    let mut text = Vec::new();
    file.take(MAX_HOLDER_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        os::unix::fs::symlink,
        sync::{Barrier, Mutex},
    };

    #[test]
    fn the_second_is_told_who_the_first_is_until_it_has_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let first = Lock::take(&path, "the file").unwrap();
        let error = Lock::take(&path, "the file").unwrap_err();
        let LockError::Held { holder: Some(holder), .. } = &error else { panic!("{error}") };
        assert_eq!(holder.pid, std::process::id());
        let text = error.to_string();
        assert!(text.starts_with(&format!("the file is in use by another iotbench (process {}", holder.pid)), "{text}");
        assert!(holder.since.parse::<Timestamp>().is_ok(), "{holder:?}");
        drop(first);
        assert!(!path.exists(), "nothing is left");
        Lock::take(&path, "the file").unwrap();
    }

    #[test]
    fn a_file_that_was_left_is_no_lock_and_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.lock"), folder.path().join("other"));
        fs::write(&path, "half a ho").unwrap();
        drop(Lock::take(&path, "it").unwrap());
        fs::write(&other, "mine").unwrap();
        symlink(&other, &path).unwrap();
        assert!(matches!(Lock::take(&path, "it"), Err(LockError::Io { .. })));
        assert_eq!(fs::read_to_string(other).unwrap(), "mine");
    }

    /// Locks of the system belong to open files, so threads race as processes do; each holder removes the file.
    #[test]
    fn of_many_at_once_one_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let inside = Mutex::new(());
        let barrier = Barrier::new(4);
        let taken: usize = std::thread::scope(|scope| {
            let race = || {
                let mut taken = 0;
                for _ in 0..500 {
                    barrier.wait();
                    let Ok(_lock) = Lock::take(&path, "it") else { continue };
                    let _alone = inside.try_lock().expect("two have it");
                    taken += 1;
                }
                taken
            };
            let racers: Vec<_> = (0..4).map(|_| scope.spawn(race)).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).sum()
        });
        assert!(taken >= 500, "of each race at least one wins: {taken}");
    }
}
