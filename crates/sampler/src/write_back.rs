//! Has a file system write what waits in memory for it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// What the files of a folder lie on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// A file system on storage devices of this machine, through its page cache.
    Device,
    /// Memory: nothing is ever written.
    Memory,
    /// Another machine, or something of which it is not known how its writes are counted.
    Other,
}

/// Magic numbers of statfs(2).
const MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6];
/// ext2 to ext4, XFS, Btrfs, F2FS, overlayfs, bcachefs, JFS.
const DEVICE: [u32; 7] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x794c_7630, 0xca45_1a4e, 0x3153_464a];

impl Medium {
    /// Of the file system that holds this folder.
    ///
    /// # Errors
    /// There is no such folder, or it cannot be looked at.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let magic = rustix::fs::statfs(folder)?.f_type;
        // Some architectures have it with a sign.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a magic number has 32 bits")]
        let magic = magic as u32;
        Ok(match magic {
            magic if MEMORY.contains(&magic) => Self::Memory,
            magic if DEVICE.contains(&magic) => Self::Device,
            _ => Self::Other,
        })
    }
}

/// Writing back under way, on a thread of its own: the kernel may take its time, and cannot be interrupted.
#[derive(Debug)]
pub struct WriteBack {
    done: Receiver<io::Result<Duration>>,
}

impl WriteBack {
    /// Begins to write what waits for the file system of this folder (syncfs(2)), whoever wrote it.
    ///
    /// # Errors
    /// The folder cannot be opened, or the system gave no thread.
    pub fn begin(folder: &Path) -> io::Result<Self> {
        let folder = File::open(folder)?;
        let (sender, done) = sync_channel(1);
        std::thread::Builder::new().name("write-back".to_owned()).spawn(move || {
            let began = Instant::now();
            let outcome = rustix::fs::syncfs(&folder).map(|()| began.elapsed());
            // Whoever no longer waits does not want to know.
            let _ = sender.send(outcome.map_err(io::Error::from));
        })?;
        Ok(Self { done })
    }

    /// Waits at most so long for the end: how long all took, or `None` while it goes on.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn wait(&self, at_most: Duration) -> Option<io::Result<Duration>> {
        match self.done.recv_timeout(at_most) {
            Ok(outcome) => Some(outcome),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(io::Error::other("the thread that writes back has ended"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_memory_has_no_disk_and_what_is_not_there_is_an_error() {
        assert_eq!(Medium::of(Path::new("/dev/shm")).unwrap(), Medium::Memory);
        assert_eq!(Medium::of(Path::new("/proc")).unwrap(), Medium::Other);
        assert!(Medium::of(Path::new("/nowhere")).is_err());
        assert!(WriteBack::begin(Path::new("/nowhere")).is_err());
    }
}
