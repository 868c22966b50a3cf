//! What an agent samples, as a user names it, and which process or group of its machine that is.

use iotbench_sampler::Target;
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use std::{
    convert::Infallible,
    fmt,
    fs::OpenOptions,
    io::{self, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    str::FromStr,
};

/// Where control groups are.
const CGROUPS: &str = "/sys/fs/cgroup";
/// How deep below it a unit's group may lie.
const DEPTH: usize = 6;
/// So much of a file is read for the process number in its first line.
const PID_BYTES: u64 = 64;
/// The kernel keeps so many bytes of a process's name.
const NAME: usize = 15;

/// What is to be sampled on an agent's machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A process with its descendants.
    Pid(i32),
    /// The same, its number in a file.
    PidFile(PathBuf),
    /// A unit of systemd: its control group.
    Unit(String),
    /// The whole machine.
    Host,
    /// The process of this name, with its descendants; there must be one.
    Name(String),
}

impl FromStr for What {
    type Err = Infallible;

    /// `4711`, `/run/postgresql/15-main.pid`, `postgresql.service`, `host`, or `postgres`.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let is_unit = [".service", ".slice", ".scope"].iter().any(|end| text.ends_with(end));
        Ok(match text.parse::<i32>() {
            Ok(pid) if pid > 0 => Self::Pid(pid),
            _ if text.starts_with('/') => Self::PidFile(text.into()),
            _ if is_unit => Self::Unit(text.into()),
            _ if text == "host" => Self::Host,
            _ => Self::Name(text.into()),
        })
    }
}

/// A subject that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) target: Target,
    /// In words.
    pub(crate) what: String,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pid(pid) => pid.fmt(f),
            Self::PidFile(file) => file.display().fmt(f),
            Self::Unit(name) | Self::Name(name) => f.write_str(name),
            Self::Host => f.write_str("host"),
        }
    }
}

impl What {
    /// What it is on this machine now, or why it is nothing.
    pub(crate) fn find(&self) -> Result<Found, String> {
        match self {
            Self::Pid(pid) => of_pid(*pid, &processes()),
            Self::PidFile(file) => of_pid(pid_in(file)?, &processes()),
            Self::Unit(unit) => {
                let path = group_of(unit, Path::new(CGROUPS))?;
                Ok(Found { what: format!("unit {unit}"), target: Target::Cgroup { path } })
            }
            Self::Host => Ok(Found { what: "the whole machine".into(), target: Target::Host }),
            Self::Name(name) => of_pid(only_one(name, &processes())?, &processes()),
        }
    }
}

/// A process of this machine.
struct Process {
    pid: i32,
    parent: i32,
    name: String,
}

fn processes() -> Vec<Process> {
    let all = procfs::process::all_processes().into_iter().flatten().flatten();
    let stats = all.filter_map(|process| process.stat().ok());
    stats.map(|stat| Process { pid: stat.pid, parent: stat.ppid, name: stat.comm }).collect()
}

fn of_pid(pid: i32, processes: &[Process]) -> Result<Found, String> {
    let process = processes.iter().find(|process| process.pid == pid);
    let process = process.ok_or_else(|| format!("there is no process {pid}"))?;
    let what = format!("process {pid} ({})", process.name);
    Ok(Found { target: Target::ProcessTree { pid }, what })
}

/// Whoever asks names the file: it may be a pipe that nobody fills or a device that never ends.
fn pid_in(file: &Path) -> Result<i32, String> {
    let cannot = |e: io::Error| format!("cannot read {}: {e}", file.display());
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(file).map_err(cannot)?;
    if !opened.metadata().map_err(cannot)?.is_file() {
        return Err(format!("{} is no regular file", file.display()));
    }
    let mut text = Vec::new();
    opened.take(PID_BYTES).read_to_end(&mut text).map_err(cannot)?;
    // PostgreSQL writes more lines below the number.
    let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let number = std::str::from_utf8(first).ok().and_then(|first| first.trim().parse().ok());
    number.ok_or_else(|| format!("{}: its first line is no process number", file.display()))
}

/// The process of a name that is no child of another of that name: a server's processes often share one.
fn only_one(name: &str, processes: &[Process]) -> Result<i32, String> {
    let short = name.get(..NAME).unwrap_or(name);
    let named: Vec<_> = processes.iter().filter(|process| process.name == short).collect();
    let is_child = |process: &Process| named.iter().any(|other| other.pid == process.parent);
    let roots: Vec<i32> = named.iter().filter(|process| !is_child(process)).map(|process| process.pid).collect();
    match roots.as_slice() {
        [] => Err(format!("there is no process of the name {name}")),
        [pid] => Ok(*pid),
        several => {
            let pids = several.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
            Err(format!("{} processes have the name {name}: {pids}; give the number of one", several.len()))
        }
    }
}

/// The directory of a unit's control group.
fn group_of(unit: &str, root: &Path) -> Result<PathBuf, String> {
    let mut found = Vec::new();
    let mut level = vec![root.to_owned()];
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        for folder in &level {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            next.extend(entries.filter(|entry| entry.file_type().is_ok_and(|t| t.is_dir())).map(|entry| entry.path()));
        }
        found.extend(next.iter().filter(|path| path.file_name().is_some_and(|name| name == unit)).cloned());
        level = next;
    }
    match found.as_slice() {
        [] => Err(format!("there is no control group of a unit {unit} below {}", root.display())),
        [path] => Ok(path.clone()),
        several => Err(format!("{} control groups have the name {unit}", several.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_is_told_by_its_form() {
        let what = |text: &str| text.parse::<What>().unwrap();
        assert_eq!(what("4711"), What::Pid(4711));
        assert_eq!(what("/run/pg.pid"), What::PidFile("/run/pg.pid".into()));
        assert_eq!(what("postgresql@15-main.service"), What::Unit("postgresql@15-main.service".into()));
        assert_eq!((what("host"), what("postgres")), (What::Host, What::Name("postgres".into())));
        for text in ["4711", "/run/pg.pid", "x.slice", "host", "postgres"] {
            assert_eq!(what(text).to_string(), text);
        }
    }

    #[test]
    fn a_name_must_match_once() {
        let process = |pid, parent, name: &str| Process { pid, parent, name: name.into() };
        let mut processes = vec![
            process(1, 0, "init"),
            process(10, 1, "postgres"),
            process(11, 10, "postgres"),
            process(12, 10, "postgres"),
            process(20, 1, "clickhouse-serv"),
        ];
        assert_eq!(only_one("postgres", &processes), Ok(10));
        assert_eq!(only_one("clickhouse-server", &processes), Ok(20));
        assert!(only_one("mongod", &processes).unwrap_err().contains("no process of the name mongod"));
        processes.push(process(30, 1, "postgres"));
        let error = only_one("postgres", &processes).unwrap_err();
        assert!(error.contains("2 processes have the name postgres: 10, 30"), "{error}");
    }

    #[test]
    fn a_unit_is_found_wherever_its_group_lies() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("system.slice/system-postgresql.slice/postgresql@15-main.service");
        std::fs::create_dir_all(&deep).unwrap();
        assert_eq!(group_of("postgresql@15-main.service", root.path()), Ok(deep));
        assert!(group_of("other.service", root.path()).unwrap_err().contains("other.service"));
        for slice in ["a.slice/x.service", "b.slice/x.service"] {
            std::fs::create_dir_all(root.path().join(slice)).unwrap();
        }
        assert!(group_of("x.service", root.path()).unwrap_err().contains("2 control groups"));
    }

    #[test]
    fn what_is_not_there_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("server.pid");
        assert!(What::PidFile(file.clone()).find().unwrap_err().contains("server.pid"));
        std::fs::write(&file, "not a number\n").unwrap();
        assert!(What::PidFile(file.clone()).find().unwrap_err().contains("no process number"));
        std::fs::write(&file, format!("{}\n/var/lib/data\n", std::process::id())).unwrap();
        let pid = i32::try_from(std::process::id()).unwrap();
        assert_eq!(What::PidFile(file).find().unwrap().target, Target::ProcessTree { pid });
        assert!(What::Pid(i32::MAX).find().is_err());
    }

    #[test]
    fn what_is_no_regular_file_or_never_ends_holds_no_process_number() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        for file in [pipe, "/dev/zero".into(), folder.path().to_owned()] {
            assert!(What::PidFile(file).find().unwrap_err().contains("no regular file"));
        }
        let file = folder.path().join("endless.pid");
        std::fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
        assert!(What::PidFile(file).find().unwrap_err().contains("no process number"));
    }
}
