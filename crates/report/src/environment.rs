//! The machine that a run was made on, read from `/proc` and `/sys`. What cannot be read is `None`.

mod mounts;
mod steal;

pub use mounts::{Filesystem, filesystem_of};
pub use steal::StealMeter;

use serde::{Deserialize, Serialize};
use std::{fs, path::Path};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// The machine that a run was made on, as far as it decides results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The processor's name.
    pub cpu: Option<String>,
    /// Processors of the machine.
    pub cores: Option<u64>,
    /// Processors that this process may use.
    pub cores_usable: Option<u64>,
    /// NUMA nodes.
    pub numa_nodes: Option<u64>,
    /// Memory of the machine.
    pub memory_bytes: Option<u64>,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// The operating system's name and version.
    pub os: Option<String>,
    /// Where the results are written.
    pub filesystem: Option<Filesystem>,
    /// Where an embedded database or a private server has its files; null: elsewhere.
    pub database_filesystem: Option<Filesystem>,
    /// The scaling governor of the first processor.
    pub governor: Option<String>,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub thp: Option<String>,
    /// The kernel's source of time.
    pub clocksource: Option<String>,
    /// Time that a hypervisor gave to others while this machine wanted it, in percent of all processors' time during the
    /// run.
    pub steal_pct: Option<f64>,
}

impl Environment {
    /// Looks at this machine. `results` is the results folder, `database` the folder of a database on this machine; they
    /// or a folder above them should exist.
    #[must_use]
    pub fn collect(results: &Path, database: Option<&Path>) -> Self {
        let system = System::new_with_specifics(
            RefreshKind::nothing()
                .with_cpu(CpuRefreshKind::nothing())
                .with_memory(MemoryRefreshKind::nothing().with_ram()),
        )
        .ok();
        let cpus = system.as_ref().map(System::cpus).unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let filesystem = |path: &Path| filesystem_of(&mounts, &existing(path)?);
        Self {
            cpu: cpus.first().map(|cpu| cpu.brand().trim().to_owned()).filter(|brand| !brand.is_empty()),
            cores: (!cpus.is_empty()).then_some(cpus.len() as u64),
            cores_usable: std::thread::available_parallelism().ok().map(|n| n.get() as u64),
            numa_nodes: numa_nodes(),
            memory_bytes: system.as_ref().map(System::total_memory),
            kernel: System::kernel_version().ok(),
            os: System::long_os_version().ok(),
            filesystem: filesystem(results),
            database_filesystem: database.and_then(filesystem),
            governor: first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            thp: first_line("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|line| chosen(&line)),
            clocksource: first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
            steal_pct: None,
        }
    }
}

/// The nearest folder at or above `path` that exists, without symbolic links.
fn existing(path: &Path) -> Option<std::path::PathBuf> {
    std::path::absolute(path).ok()?.ancestors().find_map(|folder| folder.canonicalize().ok())
}

fn first_line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// The word in brackets of `always [madvise] never`.
fn chosen(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word.to_owned())
}

fn numa_nodes() -> Option<u64> {
    let entries = fs::read_dir("/sys/devices/system/node").ok()?;
    let is_node = |name: &str| name.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok());
    let count = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_node)).count();
    (count > 0).then_some(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_processors_memory_and_a_filesystem() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::collect(&folder.path().join("not/yet"), Some(folder.path()));
        assert!(environment.cores > Some(0) && environment.memory_bytes > Some(0), "{environment:?}");
        assert!(environment.filesystem.is_some(), "{environment:?}");
        assert_eq!(environment.filesystem, environment.database_filesystem);
    }

    #[test]
    fn the_chosen_word_is_the_one_in_brackets() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("always"), None);
    }
}
