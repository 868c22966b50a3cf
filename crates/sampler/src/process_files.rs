//! Reading one process's files under `/proc`.

use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use procfs::FromRead;
use procfs::process::{Io, Stat};

use crate::probe_error::ProbeError;
use crate::tree_account::{ProcessId, ProcessRow, Usage};

/// Longer than any of the records: the longest, `smaps_rollup`, has some 700 bytes.
const RECORD_BYTES: usize = 4096;

/// What `/proc/PID/stat` tells. The row's I/O counters are still 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProcessStat {
    pub row: ProcessRow,
    pub zombie: bool,
    pub rss_bytes: u64,
}

/// The answer of a file that may belong to a process that ended, or to somebody else.
#[derive(Debug)]
pub(crate) enum FileContent<T> {
    Known(T),
    Ended,
    Forbidden,
}

/// The pids that `/proc` shows.
pub(crate) fn list_pids() -> Result<HashSet<i32>, ProbeError> {
    let unreadable = |source| ProbeError::Unreadable { path: PathBuf::from("/proc"), source };
    let mut pids = HashSet::new();
    for entry in std::fs::read_dir("/proc").map_err(unreadable)? {
        let name = entry.map_err(unreadable)?.file_name();
        pids.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(pids)
}

/// Reads `/proc/PID/stat`; `None` if the process ended or is hidden.
pub(crate) fn read_stat(pid: i32) -> Result<Option<ProcessStat>, ProbeError> {
    let path = PathBuf::from(format!("/proc/{pid}/stat"));
    let FileContent::Known(text) = read_record(&path)? else { return Ok(None) };
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
pub(crate) fn read_io(pid: i32) -> Result<FileContent<Usage>, ProbeError> {
    let path = PathBuf::from(format!("/proc/{pid}/io"));
    let text = match read_record(&path)? {
        FileContent::Known(text) => text,
        FileContent::Ended => return Ok(FileContent::Ended),
        FileContent::Forbidden => return Ok(FileContent::Forbidden),
    };
    let io = Io::from_read(text.as_slice()).map_err(|error| ProbeError::malformed(&path, error))?;
    Ok(FileContent::Known(Usage {
        read_bytes: io.read_bytes,
        written_bytes: io.write_bytes,
        cancelled_bytes: io.cancelled_write_bytes,
        ..Usage::default()
    }))
}

/// Reads a file that the kernel gives in one piece (`stat`, `io`, `smaps_rollup`) with one system call: there are two or
/// three per process and sample.
pub(crate) fn read_record(path: &Path) -> Result<FileContent<Vec<u8>>, ProbeError> {
    let whole = File::open(path).and_then(|mut file| {
        let mut text = vec![0; RECORD_BYTES];
        let length = file.read(&mut text)?;
        text.truncate(length);
        Ok(text)
    });
    answer(path, whole)
}

/// Reads a file of any length.
pub(crate) fn read(path: &Path) -> Result<FileContent<Vec<u8>>, ProbeError> {
    answer(path, std::fs::read(path))
}

fn answer(path: &Path, outcome: std::io::Result<Vec<u8>>) -> Result<FileContent<Vec<u8>>, ProbeError> {
    match outcome {
        Ok(text) => Ok(FileContent::Known(text)),
        Err(error) if error.kind() == ErrorKind::NotFound || is_no_such_process(&error) => Ok(FileContent::Ended),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(FileContent::Forbidden),
        Err(source) => Err(ProbeError::Unreadable { path: path.to_owned(), source }),
    }
}

fn is_no_such_process(error: &std::io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

fn unsigned(ticks: i64) -> u64 {
    u64::try_from(ticks).unwrap_or(0)
}
