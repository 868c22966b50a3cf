//! Where cgroup hierarchies are mounted, and which directory a group has in each.

use std::path::{Path, PathBuf};

use procfs::process::{MountInfo, Process};
use procfs::{FromRead, ProcessCGroups};

use crate::probe_error::ProbeError;
use crate::process_files::{FileContent, read};

/// The cgroup mounts of this process's namespace.
#[derive(Debug)]
pub(super) struct Hierarchies(Vec<MountInfo>);

impl Hierarchies {
    pub fn of_this_process() -> Result<Self, ProbeError> {
        let path = Path::new("/proc/self/mountinfo");
        let mounts =
            Process::myself().and_then(|me| me.mountinfo()).map_err(|error| ProbeError::malformed(path, error))?;
        Ok(Self::among(mounts))
    }

    fn among(mounts: impl IntoIterator<Item = MountInfo>) -> Self {
        Self(mounts.into_iter().filter(|mount| matches!(mount.fs_type.as_str(), "cgroup" | "cgroup2")).collect())
    }

    /// The group as `/proc/PID/cgroup` names it, also if given as a directory of one hierarchy.
    pub fn name(&self, path: &Path) -> PathBuf {
        let inside = self.0.iter().find_map(|mount| path.strip_prefix(&mount.mount_point).ok());
        Path::new("/").join(inside.unwrap_or(path))
    }

    /// The group's directory in the hierarchy of a v1 controller.
    pub fn v1_directory(&self, controller: &str, name: &Path) -> Option<PathBuf> {
        let has_controller =
            |mount: &&MountInfo| mount.fs_type == "cgroup" && mount.super_options.contains_key(controller);
        self.0.iter().find(has_controller).map(|mount| directory(mount, name))
    }

    /// The group's directory in the unified hierarchy.
    pub fn v2_directory(&self, name: &Path) -> Option<PathBuf> {
        self.0.iter().find(|mount| mount.fs_type == "cgroup2").map(|mount| directory(mount, name))
    }

    /// Whether any hierarchy has the group.
    pub fn has(&self, name: &Path) -> bool {
        self.0.iter().any(|mount| directory(mount, name).is_dir())
    }
}

/// A container may see a hierarchy from its own group downwards only: `root` is then that group.
fn directory(mount: &MountInfo, name: &Path) -> PathBuf {
    let below_root = name.strip_prefix(&mount.root).or_else(|_| name.strip_prefix("/")).unwrap_or(name);
    mount.mount_point.join(below_root)
}

/// The cgroup whose CPU counter covers a process: that of the v1 cpuacct controller, else of the unified hierarchy.
/// `None` if the process shares it with the caller, in which case only a process tree tells the two apart.
///
/// # Errors
/// The process does not exist or the system refuses.
pub fn cgroup_of(pid: i32) -> Result<Option<PathBuf>, ProbeError> {
    let theirs = cpu_group(&pid.to_string())?.ok_or(ProbeError::NoSuchProcess { pid })?;
    let ours = cpu_group("self")?;
    Ok(theirs.filter(|group| ours.flatten().as_ref() != Some(group)))
}

/// `None` if there is no such process, `Some(None)` if it is in no group with a CPU counter.
fn cpu_group(whose: &str) -> Result<Option<Option<PathBuf>>, ProbeError> {
    let path = PathBuf::from(format!("/proc/{whose}/cgroup"));
    let FileContent::Known(text) = read(&path)? else { return Ok(None) };
    let groups = ProcessCGroups::from_read(text.as_slice()).map_err(|error| ProbeError::malformed(&path, error))?;
    Ok(Some(cpu_group_among(&groups)))
}

fn cpu_group_among(ProcessCGroups(groups): &ProcessCGroups) -> Option<PathBuf> {
    let v1 = groups.iter().find(|group| group.controllers.iter().any(|name| name == "cpuacct"));
    v1.or_else(|| groups.iter().find(|group| group.hierarchy == 0)).map(|group| PathBuf::from(&group.pathname))
}

#[cfg(test)]
mod tests {
    use procfs::process::MountInfos;

    use super::*;

    const HYBRID: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const UNIFIED: &str = "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
    const CONTAINER: &str = "35 24 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";

    fn hierarchies(text: &str) -> Hierarchies {
        Hierarchies::among(MountInfos::from_read(text.as_bytes()).unwrap())
    }

    #[test]
    fn hybrid_finds_each_controller() {
        let found = hierarchies(HYBRID);
        let name = found.name(Path::new("/sys/fs/cgroup/memory/db"));
        assert_eq!(name, Path::new("/db"));
        assert_eq!(found.v1_directory("cpuacct", &name), Some(PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/db")));
        assert_eq!(found.v1_directory("blkio", &name), None);
        assert_eq!(found.v2_directory(&name), Some(PathBuf::from("/sys/fs/cgroup/unified/db")));
    }

    #[test]
    fn unified_only() {
        let found = hierarchies(UNIFIED);
        let name = found.name(Path::new("/system.slice/db.service"));
        assert_eq!(found.v1_directory("cpuacct", &name), None);
        assert_eq!(found.v2_directory(&name), Some(PathBuf::from("/sys/fs/cgroup/system.slice/db.service")));
    }

    #[test]
    fn none_mounted() {
        let found = hierarchies("22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n");
        assert_eq!(found.v2_directory(Path::new("/db")), None);
        assert!(!found.has(Path::new("/db")));
    }

    #[test]
    fn a_container_sees_its_group_as_root() {
        let found = hierarchies(CONTAINER);
        let inner = found.v1_directory("memory", Path::new("/docker/abc/db"));
        assert_eq!(inner, Some(PathBuf::from("/sys/fs/cgroup/memory/db")));
    }

    #[test]
    fn the_group_with_the_cpu_counter_is_chosen() {
        let group = |text: &str| cpu_group_among(&ProcessCGroups::from_read(text.as_bytes()).unwrap());
        assert_eq!(group("4:memory:/m\n2:cpu,cpuacct:/c\n0::/u\n"), Some(PathBuf::from("/c")));
        assert_eq!(group("0::/u\n"), Some(PathBuf::from("/u")));
        assert_eq!(group("1:name=systemd:/s\n"), None);
    }
}
