//! A cgroup of our own, where we may make one, and the host.
#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use iotbench_sampler::{Probe, ProbeError, Source, Target, cgroup_of};
use procfs::process::Process;

/// A shell that works when told so, as often as told.
const SCRIPT: &str = "while read go; do sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; echo done; done";

/// The directories where a group of our own could be made: v1 cpuacct or the unified hierarchy.
fn cpu_hierarchy() -> Option<PathBuf> {
    let mounts = Process::myself().unwrap().mountinfo().unwrap();
    let v1 = mounts.iter().find(|mount| mount.fs_type == "cgroup" && mount.super_options.contains_key("cpuacct"));
    let v2 = mounts.iter().find(|mount| mount.fs_type == "cgroup2");
    v1.or(v2).map(|mount| mount.mount_point.clone())
}

/// A group that is removed at the end.
struct Group(PathBuf);

impl Group {
    fn make() -> Option<Self> {
        let directory = cpu_hierarchy()?.join(format!("sampler-test-{}", std::process::id()));
        std::fs::create_dir(&directory).ok()?;
        Some(Self(directory))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn work(shell: &mut Child, answers: &mut impl BufRead) {
    shell.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    answers.read_line(&mut String::new()).unwrap();
}

#[test]
fn a_group_agrees_with_its_process_tree() {
    let Some(group) = Group::make() else {
        eprintln!("SKIPPED: no cgroup hierarchy with a CPU counter, or no right to make a group");
        return;
    };
    let mut shell =
        Command::new("sh").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let pid = i32::try_from(shell.id()).unwrap();
    let mut answers = BufReader::new(shell.stdout.take().unwrap());
    std::fs::write(group.0.join("cgroup.procs"), pid.to_string()).unwrap();
    let name = cgroup_of(pid).unwrap().unwrap();
    assert_eq!(name.file_name(), group.0.file_name());

    let epoch = Instant::now();
    let mut by_group = Probe::new(&Target::Cgroup { path: name }).unwrap();
    let mut by_directory = Probe::new(&Target::Cgroup { path: group.0.clone() }).unwrap();
    let mut by_tree = Probe::new(&Target::ProcessTree { pid }).unwrap();
    let (group_before, tree_before) =
        (by_group.sample(epoch.elapsed()).unwrap(), by_tree.sample(epoch.elapsed()).unwrap());
    (0..3).for_each(|_| work(&mut shell, &mut answers));
    let (group_after, tree_after) =
        (by_group.sample(epoch.elapsed()).unwrap(), by_tree.sample(epoch.elapsed()).unwrap());
    let (group_s, tree_s) = (group_after.cpu_s - group_before.cpu_s, tree_after.cpu_s - tree_before.cpu_s);
    println!("{}: group {group_s:.3} s, tree {tree_s:.3} s", by_group.method());
    assert!(tree_s > 0.0);
    // Eight ticks of rounding: user and system time of four processes.
    assert!((group_s - tree_s).abs() <= 0.05 * tree_s + 0.08, "group {group_s}, tree {tree_s}");
    assert_eq!(group_after.processes, 1);
    assert_eq!(by_directory.sample(epoch.elapsed()).unwrap().processes, 1);
    assert!(group_after.pss_bytes.unwrap() <= group_after.rss_bytes.unwrap());
    assert!(matches!(by_group.method().source, Source::CgroupV1 | Source::CgroupV2));

    drop(shell.stdin.take());
    shell.wait().unwrap();
    let empty = by_group.sample(epoch.elapsed()).unwrap();
    assert_eq!((empty.processes, empty.rss_bytes), (0, Some(0)));
    drop(group);
    assert!(matches!(by_group.sample(epoch.elapsed()), Err(ProbeError::Gone)));
}

#[test]
fn a_missing_group_is_refused() {
    let path = Path::new("/no-such-group-of-the-sampler").to_owned();
    assert!(matches!(Probe::new(&Target::Cgroup { path }), Err(ProbeError::NoSuchCgroup { .. })));
}

#[test]
fn our_own_group_tells_nothing_apart() {
    assert_eq!(cgroup_of(i32::try_from(std::process::id()).unwrap()).unwrap(), None);
}

#[test]
fn the_host_contains_this_process() {
    let epoch = Instant::now();
    let mut host = Probe::new(&Target::Host).unwrap();
    let mut me = Probe::new(&Target::ProcessTree { pid: i32::try_from(std::process::id()).unwrap() }).unwrap();
    let (host_before, me_before) = (host.sample(epoch.elapsed()).unwrap(), me.sample(epoch.elapsed()).unwrap());
    let mut me_after = me_before;
    while me_after.cpu_s - me_before.cpu_s < 0.2 {
        me_after = me.sample(epoch.elapsed()).unwrap();
    }
    let host_after = host.sample(epoch.elapsed()).unwrap();
    let (host_s, my_s) = (host_after.cpu_s - host_before.cpu_s, me_after.cpu_s - me_before.cpu_s);
    assert!(host_s >= 0.8 * my_s, "host {host_s}, this process {my_s}");
    assert!(host_after.pss_bytes.unwrap() >= me_after.pss_bytes.unwrap());
    assert!(host_after.memory.is_some() && host_after.rss_bytes.is_none());
    assert!(host_after.at > Duration::ZERO);
}
