//! Reading one process's files under `/proc`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use procfs::FromRead;
use procfs::process::{Io, Stat};

use crate::probe::ProbeError;
use crate::tree_account::{ProcessId, ProcessRow, Usage};

/// What `/proc/PID/stat` tells. The row's I/O counters are still 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessStat {
    pub row: ProcessRow,
    pub zombie: bool,
    pub rss_bytes: u64,
}

/// The answer of a file that may belong to a process that ended, or to somebody else.
#[derive(Debug)]
pub(crate) enum Answer<T> {
    Known(T),
    Ended,
    Forbidden,
}

/// The pids that `/proc` shows.
pub(crate) fn list_pids() -> Result<Vec<i32>, ProbeError> {
    let unreadable = |source| ProbeError::Unreadable { path: PathBuf::from("/proc"), source };
    let mut pids = Vec::new();
    for entry in std::fs::read_dir("/proc").map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        pids.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(pids)
}

/// Whether a process has this pid, be it a zombie.
pub(crate) fn exists(pid: i32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Reads `/proc/PID/stat`; `None` if the process ended or is hidden.
pub(crate) fn read_stat(pid: i32) -> Result<Option<ProcessStat>, ProbeError> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    let Answer::Known(text) = read(&path)? else { return Ok(None) };
    let stat = Stat::from_read(text.as_slice()).map_err(|error| ProbeError::malformed(&path, error))?;
    Ok(Some(process_stat(&stat)))
}

fn process_stat(stat: &Stat) -> ProcessStat {
    let inherited =
        Usage { user_ticks: unsigned(stat.cutime), system_ticks: unsigned(stat.cstime), ..Usage::default() };
    let own = Usage { user_ticks: stat.utime, system_ticks: stat.stime, ..Usage::default() };
    ProcessStat {
        row: ProcessRow {
            id: ProcessId { start_ticks: stat.starttime, pid: stat.pid },
            parent_pid: stat.ppid,
            held: own.plus(inherited),
            inherited,
        },
        zombie: matches!(stat.state, 'Z' | 'X' | 'x'),
        rss_bytes: stat.rss * procfs::page_size(),
    }
}

/// Reads the storage counters of `/proc/PID/io`. They include those of children that were waited for.
pub(crate) fn read_io(pid: i32) -> Result<Answer<Usage>, ProbeError> {
    let path = PathBuf::from(format!("/proc/{pid}/io"));
    let text = match read(&path)? {
        Answer::Known(text) => text,
        Answer::Ended => return Ok(Answer::Ended),
        Answer::Forbidden => return Ok(Answer::Forbidden),
    };
    let io = Io::from_read(text.as_slice()).map_err(|error| ProbeError::malformed(&path, error))?;
    Ok(Answer::Known(Usage {
        read_bytes: io.read_bytes,
        written_bytes: io.write_bytes,
        cancelled_bytes: io.cancelled_write_bytes,
        ..Usage::default()
    }))
}

/// Reads a whole file of a process.
pub(crate) fn read(path: &Path) -> Result<Answer<Vec<u8>>, ProbeError> {
    match std::fs::read(path) {
        Ok(text) => Ok(Answer::Known(text)),
        Err(error) if error.kind() == ErrorKind::NotFound || is_no_such_process(&error) => Ok(Answer::Ended),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(Answer::Forbidden),
        Err(source) => Err(ProbeError::Unreadable { path: path.to_owned(), source }),
    }
}

fn is_no_such_process(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

fn unsigned(ticks: i64) -> u64 {
    u64::try_from(ticks).unwrap_or(0)
}
