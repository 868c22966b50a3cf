//! The folder of one private server: made for it, marked, and removed only if it is still that one.

use crate::{account::Account, order::Marker};
use rustix::{
    fs::{AtFlags, CWD, FlockOperation, Gid, Mode, OFlags, Uid, chown, fchown, flock, mkdirat, openat, unlinkat},
    io::Errno,
    process::geteuid,
};
use std::{
    fs::{self, DirBuilder, File, Metadata, OpenOptions},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, Write},
    os::fd::{AsFd, BorrowedFd},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// A file of ours in the folder, with a [`Marker`] in it.
const MARKER: &str = ".iotbench-server";
const LONGEST_MARKER: u64 = 4096;
/// Its presence says that the folder outlives its server.
const KEEP: &str = ".iotbench-keep";

/// Why a server's folder cannot be made, used or removed.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// What it is about.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is none of ours.
    #[error("{} is no folder of an iotbench server: {reason}", path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Another server has it.
    #[error("a server runs in {}: stop it first", path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The user that the server becomes cannot enter it.
    #[error(
        "user {user} cannot enter {}, where private servers have their folders: set TMPDIR to a folder that all can \
         enter, such as /tmp",
        path.display()
    )]
    NotTraversable {
        /// The folder that is closed.
        path: PathBuf,
        /// The user.
        user: String,
    },
}

/// A name that is free, below the system's folder for temporary files. Nothing is made yet.
pub(crate) fn fresh_path(backend: &str, account: Option<&Account>) -> Result<PathBuf, FolderError> {
    let parent = std::env::temp_dir();
    let parent = parent.canonicalize().map_err(|source| FolderError::Io { path: parent, source })?;
    if let Some(account) = account {
        let closed = parent.ancestors().find(|f| fs::metadata(f).is_ok_and(|m| !may_enter(&m, account)));
        if let Some(closed) = closed {
            return Err(FolderError::NotTraversable { path: closed.into(), user: account.name.clone() });
        }
    }
    // The standard library's hasher takes its keys from the system.
    let number = RandomState::new().build_hasher().finish();
    Ok(parent.join(format!("iotbench-{backend}-{number:016x}")))
}

fn may_enter(folder: &Metadata, account: &Account) -> bool {
    let bit = match () {
        () if folder.uid() == account.uid => 0o100,
        () if folder.gid() == account.gid => 0o010,
        () => 0o001,
    };
    folder.mode() & bit != 0
}

/// A server's folder that exists, as it was when it was made or taken over.
#[derive(Debug)]
pub(crate) struct ServerFolder {
    path: PathBuf,
    device: u64,
    inode: u64,
    /// The marker, locked: one server at a time.
    lock: Option<File>,
}

impl ServerFolder {
    /// Makes the folder, for its owner only. It must not exist.
    pub(crate) fn create(path: &Path, says: &Marker, owner: Option<(u32, u32)>) -> Result<Self, FolderError> {
        let fail = |source| FolderError::Io { path: path.into(), source };
        DirBuilder::new().mode(0o700).create(path).map_err(fail)?;
        let marked = || {
            let mut marker = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path.join(MARKER))?;
            marker.write_all(&serde_json::to_vec(says)?)?;
            flock(&marker, FlockOperation::NonBlockingLockExclusive)?;
            if let Some((uid, gid)) = owner {
                chown(path, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?;
            }
            Ok((marker, fs::symlink_metadata(path)?))
        };
        match marked() {
            Ok((marker, metadata)) => {
                Ok(Self { path: path.into(), device: metadata.dev(), inode: metadata.ino(), lock: Some(marker) })
            }
            Err(source) => {
                // It was made a moment ago, and nobody else may write in it.
                let _ = fs::remove_dir_all(path);
                Err(fail(source))
            }
        }
    }

    /// Takes over a folder that an earlier server of this backend left; gives what its marker says.
    pub(crate) fn open(path: &Path, backend: &str, owner: Option<(u32, u32)>) -> Result<(Self, Marker), FolderError> {
        let metadata = fs::symlink_metadata(path).map_err(|source| FolderError::Io { path: path.into(), source })?;
        let mut folder = Self { path: path.into(), device: metadata.dev(), inode: metadata.ino(), lock: None };
        let marked = folder.check(owner)?;
        if marked.backend != backend {
            let found = marked.backend.chars().take(40).collect::<String>();
            let reason = format!("its marker says {found:?}, not {backend:?}");
            return Err(FolderError::NotOurs { path: path.into(), reason });
        }
        let lock = File::open(path.join(MARKER)).and_then(|marker| {
            flock(&marker, FlockOperation::NonBlockingLockExclusive)?;
            Ok(marker)
        });
        folder.lock = Some(lock.map_err(|_| FolderError::InUse { path: path.into() })?);
        Ok((folder, marked))
    }

    /// Makes the part of it that is one process's own, unless that is the whole.
    pub(crate) fn make_part(&self, part: &Path, owner: Option<(u32, u32)>) -> Result<(), FolderError> {
        if part == self.path {
            return Ok(());
        }
        let made = DirBuilder::new().mode(0o700).create(part).and_then(|()| match owner {
            Some((uid, gid)) => Ok(chown(part, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid)))?),
            None => Ok(()),
        });
        made.map_err(|source| FolderError::Io { path: part.into(), source })
    }

    /// Writes a file in it, in place of one that is there. The folder may be another user's: no symbolic link is followed.
    pub(crate) fn write(&self, path: &Path, text: &str, owner: Option<(u32, u32)>) -> Result<(), FolderError> {
        let written = || {
            let beneath = path.strip_prefix(&self.path).map_err(io::Error::other)?;
            let (parents, name) = beneath.parent().zip(beneath.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
            let give = |to: BorrowedFd<'_>| match owner {
                Some((uid, gid)) => fchown(to, Some(Uid::from_raw(uid)), Some(Gid::from_raw(gid))),
                None => Ok(()),
            };
            let folder_flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut folder = openat(CWD, &self.path, folder_flags, Mode::empty())?;
            for part in parents {
                let made = mkdirat(&folder, part, Mode::RWXU);
                folder = openat(&folder, part, folder_flags, Mode::empty())?;
                match made {
                    Ok(()) => give(folder.as_fd())?,
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            match unlinkat(&folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)?);
            give(file.as_fd())?;
            file.write_all(text.as_bytes())
        };
        written().map_err(|source| FolderError::Io { path: path.into(), source })
    }

    /// Says that the folder outlives its server.
    pub(crate) fn keep(path: &Path) -> io::Result<()> {
        match OpenOptions::new().write(true).create_new(true).mode(0o644).open(path.join(KEEP)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Says that it does not.
    pub(crate) fn keep_no_longer(path: &Path) -> io::Result<()> {
        match fs::remove_file(path.join(KEEP)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes the folder with all that is in it, unless it is to be kept; true: it is gone.
    pub(crate) fn remove_unless_kept(&self, owner: Option<(u32, u32)>) -> Result<bool, FolderError> {
        self.check(owner)?;
        if fs::symlink_metadata(self.path.join(KEEP)).is_ok() {
            return Ok(false);
        }
        // Works by directory handles and follows no symbolic link.
        fs::remove_dir_all(&self.path).map_err(|source| FolderError::Io { path: self.path.clone(), source })?;
        Ok(true)
    }

    /// Whether it still is the folder that it was, with our marker in it; gives what the marker says.
    fn check(&self, owner: Option<(u32, u32)>) -> Result<Marker, FolderError> {
        let fail = |source| FolderError::Io { path: self.path.clone(), source };
        let refuse = |reason: &str| FolderError::NotOurs { path: self.path.clone(), reason: reason.into() };
        let folder = fs::symlink_metadata(&self.path).map_err(fail)?;
        if !folder.is_dir() || (folder.dev(), folder.ino()) != (self.device, self.inode) {
            return Err(refuse("another one stands in its place"));
        }
        let us = geteuid().as_raw();
        if folder.uid() != us && Some(folder.uid()) != owner.map(|(uid, _)| uid) {
            return Err(refuse("it has another owner"));
        }
        let marker = self.path.join(MARKER);
        match fs::symlink_metadata(&marker) {
            Ok(found) if found.is_file() && found.uid() == us && found.len() <= LONGEST_MARKER => {}
            _ => return Err(refuse("our marker is not in it")),
        }
        let text = fs::read(&marker).map_err(fail)?;
        serde_json::from_slice(&text).map_err(|e| refuse(&format!("its marker cannot be read: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn marker(backend: &str) -> Marker {
        Marker { backend: backend.into(), nodes: 1, ports: vec![1], password: None }
    }

    fn made(parent: &Path) -> (PathBuf, ServerFolder) {
        let path = parent.join("server");
        let folder = ServerFolder::create(&path, &marker("exampled"), None).unwrap();
        (path, folder)
    }

    #[test]
    fn it_is_for_its_owner_only_and_never_taken_from_another() {
        let parent = tempfile::tempdir().unwrap();
        let (path, _) = made(parent.path());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        assert!(ServerFolder::create(&path, &marker("exampled"), None).is_err());
        let link = parent.path().join("link");
        symlink(parent.path(), &link).unwrap();
        assert!(ServerFolder::create(&link, &marker("exampled"), None).is_err());
    }

    #[test]
    fn removing_follows_no_link() {
        let parent = tempfile::tempdir().unwrap();
        let theirs = parent.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("file"), "precious").unwrap();
        let (path, folder) = made(parent.path());
        symlink(&theirs, path.join("folder")).unwrap();
        symlink(theirs.join("file"), path.join("file")).unwrap();
        assert!(folder.remove_unless_kept(None).unwrap());
        assert!(!path.exists());
        assert_eq!(fs::read_to_string(theirs.join("file")).unwrap(), "precious");
    }

    #[test]
    fn what_stands_in_its_place_is_left_alone() {
        let parent = tempfile::tempdir().unwrap();
        let (path, folder) = made(parent.path());
        fs::rename(&path, parent.path().join("moved")).unwrap();
        fs::create_dir(&path).unwrap();
        fs::write(path.join(MARKER), "exampled").unwrap();
        assert!(matches!(folder.remove_unless_kept(None), Err(FolderError::NotOurs { .. })));
        fs::remove_dir_all(&path).unwrap();
        symlink(parent.path().join("moved"), &path).unwrap();
        assert!(matches!(folder.remove_unless_kept(None), Err(FolderError::NotOurs { .. })));
        assert!(parent.path().join("moved").join(MARKER).exists());
    }

    #[test]
    fn without_its_marker_it_is_none_of_ours() {
        let parent = tempfile::tempdir().unwrap();
        let (path, folder) = made(parent.path());
        fs::remove_file(path.join(MARKER)).unwrap();
        assert!(matches!(folder.remove_unless_kept(None), Err(FolderError::NotOurs { .. })));
        assert!(matches!(ServerFolder::open(&path, "exampled", None), Err(FolderError::NotOurs { .. })));
        symlink("/etc/hostname", path.join(MARKER)).unwrap();
        assert!(matches!(ServerFolder::open(&path, "exampled", None), Err(FolderError::NotOurs { .. })));
    }

    #[test]
    fn a_kept_folder_serves_its_own_database_again() {
        let parent = tempfile::tempdir().unwrap();
        let (path, folder) = made(parent.path());
        ServerFolder::keep(&path).unwrap();
        assert!(!folder.remove_unless_kept(None).unwrap());
        assert!(matches!(ServerFolder::open(&path, "other", None), Err(FolderError::NotOurs { .. })));
        assert!(matches!(ServerFolder::open(&path, "exampled", None), Err(FolderError::InUse { .. })));
        drop(folder);
        let (again, says) = ServerFolder::open(&path, "exampled", None).unwrap();
        assert_eq!(says, marker("exampled"));
        ServerFolder::keep_no_longer(&path).unwrap();
        assert!(again.remove_unless_kept(None).unwrap());
    }

    #[test]
    fn a_file_is_written_beneath_it_and_through_no_link() {
        let parent = tempfile::tempdir().unwrap();
        let (path, folder) = made(parent.path());
        let file = path.join("conf/server.conf");
        folder.write(&file, "old and longer", None).unwrap();
        folder.write(&file, "new", None).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);

        let theirs = parent.path().join("theirs");
        fs::write(&theirs, "precious").unwrap();
        symlink(&theirs, path.join("link")).unwrap();
        folder.write(&path.join("link"), "ours", None).unwrap();
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "precious");
        symlink(parent.path(), path.join("out")).unwrap();
        assert!(folder.write(&path.join("out/theirs"), "ours", None).is_err());
        assert!(folder.write(&theirs, "ours", None).is_err(), "it is not beneath the folder");
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "precious");
    }

    #[test]
    fn a_closed_folder_is_not_entered() {
        let parent = tempfile::tempdir().unwrap();
        let (path, _) = made(parent.path());
        let closed = fs::metadata(path).unwrap();
        let stranger = Account { name: "x".into(), uid: closed.uid() + 1, gid: closed.gid() + 1 };
        assert!(!may_enter(&closed, &stranger));
        assert!(may_enter(&fs::metadata("/").unwrap(), &stranger));
    }
}
