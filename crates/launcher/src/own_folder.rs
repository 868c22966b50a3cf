//! Folders of the user's own in one that everybody may write to, such as /tmp: whoever was there before is passed over.

use rustix::process::geteuid;
use std::{
    fs::{self, DirBuilder, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};
use tempfile::{Builder, TempDir};

/// Nobody but the user enters it.
pub(crate) const PRIVATE: u32 = 0o700;
const LOG: &str = "server.log";

/// Whether it is a folder, and no link to one, that nobody but this user enters.
pub(crate) fn is_ours(folder: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(folder)?;
    Ok(found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o077 == 0)
}

/// The user's folder in `shared`, the same each time: it has the user's number as its name and, where another user has made
/// one of that name, a drawn one behind it, which nobody can make beforehand.
pub(crate) fn own_folder(shared: &Path) -> io::Result<PathBuf> {
    let name = format!("iotbench-{}", geteuid().as_raw());
    let plain = shared.join(&name);
    let of_drawn_name = format!("{name}-");
    if is_ours(&plain).unwrap_or(false) {
        return Ok(plain);
    }
    if let Some(earlier) = first_of_ours(shared, &of_drawn_name)? {
        return Ok(earlier);
    }
    match DirBuilder::new().mode(PRIVATE).create(&plain) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made.map(|()| plain),
    }
    let drawn = private().prefix(&of_drawn_name).tempdir_in(shared)?.keep();
    // Two that draw at the same time agree on one.
    Ok(first_of_ours(shared, &of_drawn_name)?.unwrap_or(drawn))
}

fn private<'a, 'b>() -> Builder<'a, 'b> {
    let mut builder = Builder::new();
    builder.permissions(Permissions::from_mode(PRIVATE));
    builder
}

fn first_of_ours(shared: &Path, prefix: &str) -> io::Result<Option<PathBuf>> {
    let entries = fs::read_dir(shared)?.flatten();
    let named = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()));
    Ok(named.map(|entry| entry.path()).filter(|path| is_ours(path).unwrap_or(false)).min())
}

/// Where the log of a server goes that nobody else looks at: a folder of a drawn name that nobody but the user enters. Dropped,
/// it is removed with all logs in it.
#[derive(Debug)]
pub struct PrivateLog(TempDir);

impl PrivateLog {
    /// In the system's folder for temporary files.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> io::Result<Self> {
        private().prefix("iotbench-log-").tempdir().map(Self)
    }

    /// The log. Those of several processes of a server lie beside it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.path().join(LOG)
    }

    /// Leaves it for the user to read.
    pub fn keep(self) {
        let _ = self.0.keep();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn shared() -> (TempDir, PathBuf) {
        let shared = tempfile::tempdir().unwrap();
        let plain = shared.path().join(format!("iotbench-{}", geteuid().as_raw()));
        (shared, plain)
    }

    #[test]
    fn a_folder_is_made_once_and_found_again() {
        let (shared, plain) = shared();
        assert_eq!(own_folder(shared.path()).unwrap(), plain);
        assert_eq!(fs::metadata(&plain).unwrap().permissions().mode() & 0o777, PRIVATE);
        assert_eq!(own_folder(shared.path()).unwrap(), plain);
    }

    #[test]
    fn what_others_have_made_in_its_place_is_passed_over_and_the_next_call_finds_the_same() {
        let planted: [fn(&Path); 3] = [
            |plain| {
                fs::create_dir(plain).unwrap();
                fs::set_permissions(plain, Permissions::from_mode(0o755)).unwrap();
            },
            |plain| symlink("/", plain).unwrap(),
            |plain| fs::write(plain, "").unwrap(),
        ];
        for plant in planted {
            let (shared, plain) = shared();
            plant(&plain);
            let fresh = own_folder(shared.path()).unwrap();
            assert_ne!(fresh, plain);
            assert!(is_ours(&fresh).unwrap());
            assert_eq!(own_folder(shared.path()).unwrap(), fresh);
            // Nor is it left when the other's has gone: the user's servers are noted in it.
            fs::remove_dir_all(&plain).or_else(|_| fs::remove_file(&plain)).unwrap();
            assert_eq!(own_folder(shared.path()).unwrap(), fresh);
        }
    }

    #[test]
    fn a_private_log_lies_where_nobody_else_enters_and_goes_with_its_folder() {
        let (one, other) = (PrivateLog::new().unwrap(), PrivateLog::new().unwrap());
        assert_ne!(one.path(), other.path());
        let folder = one.path().parent().unwrap().to_owned();
        assert!(is_ours(&folder).unwrap());
        fs::write(one.path(), "ready").unwrap();
        drop(one);
        assert!(!folder.exists());
        let log = other.path();
        other.keep();
        fs::remove_dir(log.parent().unwrap()).unwrap();
    }
}
