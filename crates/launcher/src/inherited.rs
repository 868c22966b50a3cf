//! What a supervisor inherits from whoever started it: nothing but its pipes and its log. A file that stayed open would
//! keep the caller's lock, or the other end of its pipe, for as long as the server runs.

use std::{
    convert::Infallible,
    env, fs, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

/// How a supervisor is called that has begun anew: it does so once.
const ANEW: &str = "iotbench-supervisor";
/// The first descriptor after standard input, output and error.
const FIRST: i32 = 3;
/// Of the flags in `/proc/self/fdinfo`: not inherited.
const CLOSE_ON_EXEC: u32 = 0o2_000_000;
/// The program that runs, also when its file has been replaced.
const OWN_PROGRAM: &str = "/proc/self/exe";

/// Closes every inherited descriptor but the first three: the same process begins anew without them. To be called before
/// anything is read.
pub(crate) fn close() -> io::Result<()> {
    if env::args_os().next().is_some_and(|name| name == ANEW) || !is_any() {
        return Ok(());
    }
    close_fds::set_fds_cloexec_threadsafe(FIRST, &[]);
    let program = env::current_exe().unwrap_or_else(|_| PathBuf::from(OWN_PROGRAM));
    begin_anew(&program).or_else(|_| begin_anew(Path::new(OWN_PROGRAM))).map(|never| match never {})
}

fn begin_anew(program: &Path) -> io::Result<Infallible> {
    Err(Command::new(program).arg0(ANEW).args(env::args_os().skip(1)).exec())
}

/// Whether there is one, or nobody can tell.
fn is_any() -> bool {
    let Ok(open) = fs::read_dir("/proc/self/fd") else { return true };
    let numbers = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter(|number| *number >= FIRST).any(is_inherited)
}

fn is_inherited(number: i32) -> bool {
    // The folder that is being listed is gone by now, and was ours.
    let Ok(info) = fs::read_to_string(format!("/proc/self/fdinfo/{number}")) else { return false };
    let flags = info.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_none_or(|flags| flags & CLOSE_ON_EXEC == 0)
}
