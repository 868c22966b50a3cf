//! A control group and those below it: v1, v2, or v1 controllers beside an empty v2 hierarchy ("hybrid").
//!
//! CPU is the kernel's own counter, exact however short-lived the processes are. Memory by kind and disk come from
//! the controllers where they are on; resident sets and network from the group's processes.

mod cpu_limit;
mod files;
mod hierarchy;
mod memory_limit;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use cpu_limit::CpuLimit;
pub use hierarchy::cgroup_of;
pub use memory_limit::memory_limit_bytes;

use self::files::{CpuUse, DiskUse};
use self::hierarchy::Hierarchies;
use crate::cpu_credit::thread_cpu_s;
use crate::disk::is_physical;
use crate::network::NetworkProbe;
use crate::probe_error::ProbeError;
use crate::process_files::{FileContent, ProcessStat, read, read_stat};
use crate::pss::PssLedger;
use crate::sample::{DiskCounters, MemoryKinds, Method, NetworkCounters, Sample, Source};
use crate::tree_account::ProcessId;

#[derive(Debug)]
pub(crate) struct Cgroup {
    version: Version,
    /// Where the CPU counter is; its processes are the group's.
    cpu: PathBuf,
    memory: Option<Controller>,
    disk: Option<Controller>,
    pss: PssLedger,
    network: NetworkProbe,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    V1,
    V2,
}

/// The file of a controller that is on for the group.
#[derive(Debug)]
struct Controller {
    version: Version,
    file: PathBuf,
}

impl Cgroup {
    pub fn new(path: &Path, cpu_share: f64) -> Result<Self, ProbeError> {
        let hierarchies = Hierarchies::of_this_process()?;
        let path = hierarchies.name(path);
        let present = |version, directory: Option<PathBuf>, name: &str| {
            let file = directory?.join(name);
            file.exists().then_some(Controller { version, file })
        };
        let v1 = |controller: &str, name| present(Version::V1, hierarchies.v1_directory(controller, &path), name);
        let v2 = |name| present(Version::V2, hierarchies.v2_directory(&path), name);
        let Some(cpu) = v1("cpuacct", "cpuacct.usage").or_else(|| v2("cpu.stat")) else {
            return Err(match hierarchies.has(&path) {
                true => ProbeError::NoCpuAccounting { path },
                false => ProbeError::NoSuchCgroup { path },
            });
        };
        Ok(Self {
            version: cpu.version,
            cpu: cpu.file.parent().map(Path::to_owned).unwrap_or_default(),
            memory: v1("memory", "memory.stat").or_else(|| v2("memory.stat")),
            disk: v1("blkio", "blkio.throttle.io_service_bytes_recursive").or_else(|| v2("io.stat")),
            pss: PssLedger::new(cpu_share),
            network: NetworkProbe::Undecided,
        })
    }

    pub fn set_cpu_share(&mut self, share: f64) {
        self.pss.set_share(share);
    }

    /// See [`NetworkProbe::be_exact`] and [`NetworkProbe::follow`].
    pub fn network(&mut self) -> &mut NetworkProbe {
        &mut self.network
    }

    pub fn method(&self) -> Method {
        let source = match self.version {
            Version::V1 => Source::CgroupV1,
            Version::V2 => Source::CgroupV2,
        };
        Method { source, network: self.network.method() }
    }

    pub fn sample(&mut self, at: Duration) -> Result<Sample, ProbeError> {
        let started_s = thread_cpu_s();
        let used = self.cpu_use()?;
        let processes = self.processes()?;
        let ids: Vec<ProcessId> = processes.iter().map(|stat| stat.row.id).collect();
        let memory = read_controller(self.memory.as_ref(), memory_kinds)?.flatten();
        let disk = read_controller(self.disk.as_ref(), disk_use)?.unwrap_or_default();
        let network = self.network.read(&ids, at);
        let pss = self.pss.refresh(&ids, at, thread_cpu_s() - started_s)?;
        Ok(Sample {
            at,
            cpu_s: used.total_s,
            user_s: used.user_s,
            system_s: used.system_s,
            processes: u32::try_from(processes.len()).unwrap_or(u32::MAX),
            rss_bytes: Some(processes.iter().map(|stat| stat.rss_bytes).sum()),
            pss_bytes: pss.map(|pss| pss.bytes),
            memory: memory.or(pss.and_then(|pss| pss.kinds)),
            disk: DiskCounters {
                read_bytes: disk.read_bytes,
                written_bytes: disk.written_bytes,
                ..DiskCounters::default()
            },
            others_cpu_s: None,
            steal_s: None,
            network: NetworkCounters {
                rx_bytes: network.map(|counted| counted.bytes.rx),
                tx_bytes: network.map(|counted| counted.bytes.tx),
                doubtful_bytes: network.map_or(0, |counted| counted.doubtful_bytes),
                missed: network.map_or(0, |counted| counted.missed),
            },
            energy_uj: None,
        })
    }

    fn cpu_use(&self) -> Result<CpuUse, ProbeError> {
        let parsed = match self.version {
            Version::V1 => {
                let (usage, stat) = (self.cpu.join("cpuacct.usage"), self.cpu.join("cpuacct.stat"));
                files::parse_cpuacct(&read_text(&usage)?, &read_text(&stat)?, procfs::ticks_per_second())
            }
            Version::V2 => files::parse_cpu_stat(&read_text(&self.cpu.join("cpu.stat"))?),
        };
        parsed.ok_or_else(|| ProbeError::malformed(&self.cpu, "the CPU counters are not as documented"))
    }

    /// The living processes of the group and of those below it.
    fn processes(&self) -> Result<Vec<ProcessStat>, ProbeError> {
        let mut pids = Vec::new();
        let mut open = vec![self.cpu.clone()];
        while let Some(directory) = open.pop() {
            match read(&directory.join("cgroup.procs")) {
                Ok(FileContent::Known(text)) => pids.extend(files::parse_pids(&String::from_utf8_lossy(&text))),
                // A group of threads (EOPNOTSUPP), one just removed, or not ours to read.
                Ok(FileContent::Ended | FileContent::Forbidden) | Err(_) => {}
            }
            let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
            open.extend(entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path()));
        }
        pids.sort_unstable();
        pids.dedup();
        let mut stats = Vec::with_capacity(pids.len());
        for pid in pids {
            stats.extend(read_stat(pid)?.filter(|stat| !stat.zombie));
        }
        Ok(stats)
    }
}

fn memory_kinds(version: Version, text: &str) -> Option<MemoryKinds> {
    match version {
        Version::V1 => files::parse_memory_stat_v1(text),
        Version::V2 => files::parse_memory_stat_v2(text),
    }
}

fn disk_use(version: Version, text: &str) -> DiskUse {
    match version {
        Version::V1 => files::parse_blkio(text, is_physical),
        Version::V2 => files::parse_io_stat(text, is_physical),
    }
}

fn read_controller<T>(
    controller: Option<&Controller>,
    parse: impl Fn(Version, &str) -> T,
) -> Result<Option<T>, ProbeError> {
    controller.map(|controller| Ok(parse(controller.version, &read_text(&controller.file)?))).transpose()
}

fn read_text(path: &Path) -> Result<String, ProbeError> {
    match read(path)? {
        FileContent::Known(text) => Ok(String::from_utf8_lossy(&text).into_owned()),
        FileContent::Ended => Err(ProbeError::Gone),
        FileContent::Forbidden => Err(ProbeError::Unreadable {
            path: path.to_owned(),
            source: std::io::Error::from(std::io::ErrorKind::PermissionDenied),
        }),
    }
}
