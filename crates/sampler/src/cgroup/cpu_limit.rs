//! What limits the CPU of this process by its cgroups: quotas, and how long they have held it back.
//!
//! Sources: Linux `Documentation/scheduler/sched-bwc.rst`, `Documentation/admin-guide/cgroup-v2.rst`.

use std::path::{Path, PathBuf};

use procfs::{FromRead, ProcessCGroups};

use super::Version;
use super::hierarchy::Hierarchies;

/// The groups that this process is in, from its own up to the root of the hierarchy that it sees: a quota of any of them
/// holds it back.
#[derive(Debug, Clone, Default)]
pub struct CpuLimit {
    groups: Vec<Group>,
}

/// A group whose controller holds this process.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub version: Version,
    directory: PathBuf,
}

impl CpuLimit {
    /// The limit of this process; without cgroups there is none.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self { groups: groups("cpu").unwrap_or_default() }
    }

    /// How many cores' time the tightest quota allows; `None`: there is none.
    #[must_use]
    pub fn cores(&self) -> Option<f64> {
        self.groups.iter().filter_map(Group::quota_cores).reduce(f64::min)
    }

    /// For how long, over all processors, quotas have held these groups back since they were made.
    #[must_use]
    pub fn throttled_s(&self) -> f64 {
        self.groups.iter().filter_map(Group::throttled_s).sum()
    }
}

impl Group {
    pub fn text(&self, file: &str) -> Option<String> {
        std::fs::read_to_string(self.directory.join(file)).ok()
    }

    fn quota_cores(&self) -> Option<f64> {
        match self.version {
            Version::V1 => quota_v1(&self.text("cpu.cfs_quota_us")?, &self.text("cpu.cfs_period_us")?),
            Version::V2 => quota_v2(&self.text("cpu.max")?),
        }
    }

    fn throttled_s(&self) -> Option<f64> {
        throttled_s(&self.text("cpu.stat")?)
    }
}

/// The groups of this controller that this process is in.
pub(super) fn groups(controller: &str) -> Option<Vec<Group>> {
    let text = std::fs::read("/proc/self/cgroup").ok()?;
    let ProcessCGroups(own) = ProcessCGroups::from_read(text.as_slice()).ok()?;
    let hierarchies = Hierarchies::of_this_process().ok()?;
    let v1 = own.iter().find(|group| group.controllers.iter().any(|name| name == controller));
    let (version, own) = match v1 {
        Some(group) => (Version::V1, group),
        None => (Version::V2, own.iter().find(|group| group.hierarchy == 0)?),
    };
    let directory = |name: &Path| match version {
        Version::V1 => hierarchies.v1_directory(controller, name),
        Version::V2 => hierarchies.v2_directory(name),
    };
    let directories = distinct(Path::new(&own.pathname).ancestors().filter_map(directory));
    Some(directories.into_iter().map(|directory| Group { version, directory }).collect())
}

/// Each directory once: a container that sees a hierarchy from its own group downwards finds that group under two names.
fn distinct(directories: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut distinct = Vec::new();
    for directory in directories {
        if !distinct.contains(&directory) {
            distinct.push(directory);
        }
    }
    distinct
}

/// v1: a quota of −1 is none.
fn quota_v1(quota_us: &str, period_us: &str) -> Option<f64> {
    cores(quota_us.trim().parse().ok()?, period_us.trim().parse().ok()?)
}

/// v2: `max 100000`, or a quota in place of `max`.
fn quota_v2(max: &str) -> Option<f64> {
    let (quota_us, period_us) = max.trim().split_once(' ')?;
    cores(quota_us.parse().ok()?, period_us.parse().ok()?)
}

fn cores(quota_us: f64, period_us: f64) -> Option<f64> {
    (quota_us > 0.0 && period_us > 0.0).then(|| quota_us / period_us)
}

/// v1 has `throttled_time` in nanoseconds, v2 `throttled_usec`.
fn throttled_s(stat: &str) -> Option<f64> {
    let field = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
    field("throttled_time ").map(|ns| ns / 1e9).or_else(|| field("throttled_usec ").map(|us| us / 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_of_both_versions() {
        assert_eq!(quota_v1("20000\n", "100000\n"), Some(0.2));
        assert_eq!(quota_v1("-1\n", "100000\n"), None);
        assert_eq!(quota_v2("150000 100000\n"), Some(1.5));
        assert_eq!(quota_v2("max 100000\n"), None);
    }

    /// What holds a group back must not count twice.
    #[test]
    fn a_group_with_two_names_is_one() {
        let found = ["/cg/cpu", "/cg/cpu/docker", "/cg/cpu"].map(PathBuf::from).into_iter();
        assert_eq!(distinct(found), ["/cg/cpu", "/cg/cpu/docker"].map(PathBuf::from));
    }

    #[test]
    fn throttled_time_of_both_versions() {
        let v1 = "nr_periods 20\nnr_throttled 11\nthrottled_time 1500000000\n";
        let v2 = "usage_usec 9\nnr_periods 20\nnr_throttled 11\nthrottled_usec 250000\nnr_bursts 0\n";
        assert_eq!((throttled_s(v1), throttled_s(v2), throttled_s("usage_usec 9\n")), (Some(1.5), Some(0.25), None));
    }
}
