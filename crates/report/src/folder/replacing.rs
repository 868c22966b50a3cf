//! Files that others see as they were or as they are, never a part.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{FileTypeExt, PermissionsExt},
    path::Path,
};
use tempfile::Builder;

/// How the name of a half written file ends.
const PARTIAL: &str = ".partial";

/// When a replaced file has to be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Whenever the system likes: nothing disturbs a database on the same disk.
    Later,
    /// Before it takes its name.
    Now,
}

/// Writes a new file, which then takes the place of `name`: the old one stays when the disk is full. The new one's own name is drawn,
/// and is made by this call or not at all, so that nothing planted there is followed or overwritten; a link in the place of `name` is
/// replaced and not followed. A device or a pipe is written to: it cannot be replaced without harm.
pub(super) fn replace(
    folder: &Path,
    name: &str,
    flush: Flush,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let target = folder.join(name);
    if is_device(&target) {
        return write_all(&OpenOptions::new().write(true).open(target)?, Flush::Later, write);
    }
    let mut builder = Builder::new();
    // As far as the user's mask lets.
    builder.permissions(Permissions::from_mode(0o666)).suffix(PARTIAL);
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let partial = builder.prefix(&before(name)).tempfile_in(folder)?;
    write_all(partial.as_file(), flush, write)?;
    partial.persist(target).map(drop).map_err(|failed| failed.error)
}

/// Removes what was written half of a file that was to replace `name`.
pub(super) fn remove_partial(folder: &Path, name: &str) {
    let is_partial = |found: &OsStr| {
        let found = found.as_encoded_bytes();
        found.starts_with(before(name).as_bytes()) && found.ends_with(PARTIAL.as_bytes())
    };
    // What cannot be removed harms nobody; its name says what it is.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| is_partial(&entry.file_name())) {
        let _ = fs::remove_file(entry.path());
    }
}

fn before(name: &str) -> String {
    format!(".{name}.")
}

fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| {
        let kind = found.file_type();
        kind.is_char_device() || kind.is_block_device() || kind.is_fifo()
    })
}

fn write_all(file: &File, flush: Flush, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = io::BufWriter::new(file);
    write(&mut buffer)?;
    let file = buffer.into_inner().map_err(io::IntoInnerError::into_error)?;
    if flush == Flush::Now { file.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn replaced(folder: &Path, name: &str, text: &str) {
        replace(folder, name, Flush::Now, |file| file.write_all(text.as_bytes())).unwrap();
    }

    #[test]
    fn what_is_planted_is_neither_followed_nor_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let precious = folder.join("precious");
        fs::write(&precious, "precious").unwrap();
        for planted in ["run.json", ".run.json.partial"] {
            symlink(&precious, folder.join(planted)).unwrap();
        }
        replaced(folder, "run.json", "new");
        assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
        assert!(fs::symlink_metadata(folder.join("run.json")).unwrap().is_file());
        assert_eq!(fs::read_to_string(folder.join("run.json")).unwrap(), "new");
    }

    #[test]
    fn a_device_or_a_pipe_is_written_to_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read_to_string(pipe).unwrap()
        });
        replaced(folder.path(), "pipe", "through");
        assert_eq!(reader.join().unwrap(), "through");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        assert!(is_device(Path::new("/dev/null")) && !is_device(folder.path()));
    }

    #[test]
    fn what_fails_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        replaced(folder.path(), "run.json", "old");
        let full = |file: &mut dyn Write| file.write_all(b"half").and(Err(io::ErrorKind::StorageFull.into()));
        assert!(replace(folder.path(), "run.json", Flush::Now, full).is_err());
        assert_eq!(fs::read_to_string(folder.path().join("run.json")).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_kill_left_half_written_is_removed_and_nothing_of_another_file() {
        let folder = tempfile::tempdir().unwrap();
        for name in [".run.json.aB3dE6.partial", ".run.json.partial", ".sweep.json.aB3dE6.partial", "run.json"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_partial(folder.path(), "run.json");
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".sweep.json.aB3dE6.partial", "run.json"]);
    }
}
