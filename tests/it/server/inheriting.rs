//! A server inherits no descriptor of who starts it.

use crate::server::place::{Place, is_here, output, tree, wait_for, wait_for_series};
use procfs::process::{FDTarget, Process};
use rustix::process::{Pid, Signal, kill_process};
use std::{fs::File, path::Path};

const PROGRAM: &str = env!("CARGO_BIN_EXE_iotbench");
/// Has the lock as descriptor 9, as a script does that is to run once, and runs a program.
const LOCKED: &str = r#"exec 9> "$0"; flock 9 || exit 9; "$@"; exit"#;

#[test]
fn a_callers_lock_is_free_when_the_caller_ends_although_the_server_runs_on() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let lock = place.root().join("lock");
    let start = ["-c", LOCKED, lock.to_str().unwrap(), PROGRAM, "server", "start", "postgres"];
    let started = output(place.program("bash", &start).spawn().unwrap());
    assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
    let free = File::open(&lock).unwrap().try_lock();
    assert!(place.out(&["server", "list"]).contains("postgres"));
    place.out(&["server", "stop", "postgres"]);
    place.assert_nothing_is_left();
    assert!(free.is_ok(), "{free:?}");
}

#[test]
fn the_server_of_a_run_holds_no_lock_of_the_runs_caller() {
    if !is_here("postgres") {
        return;
    }
    let place = Place::new();
    let (lock, results) = (place.root().join("lock"), place.results());
    let load = ["run", "-p", "pmu_write", "--vus", "2", "-d", "1h", "--warmup", "0", "-b", "postgres"];
    let run = [&load[..], &["--out", results.to_str().unwrap()]].concat();
    let mut caller = place.program("bash", &[&["-c", LOCKED, lock.to_str().unwrap(), PROGRAM][..], &run].concat());
    let caller = caller.spawn().unwrap();
    wait_for_series(&place);
    let callers = tree(caller.id().try_into().unwrap());
    let named = |pid: i32, name: &str| {
        let command = Process::new(pid).and_then(|process| process.cmdline()).unwrap_or_default();
        command.get(1).is_some_and(|word| word == name)
    };
    let find = |name| *callers.iter().find(|&&pid| named(pid, name)).unwrap();
    let servers = tree(find("supervise"));
    assert!(servers.len() > 2, "{servers:?}");
    assert!(holds(find("run"), &lock), "the run inherits it");
    let holders: Vec<_> = servers.into_iter().filter(|&pid| holds(pid, &lock)).collect();
    kill_process(Pid::from_raw(find("run")).unwrap(), Signal::TERM).unwrap();
    output(caller);
    wait_for("the end of the server", || place.folders().is_empty());
    assert!(holders.is_empty(), "{holders:?}");
}

fn holds(pid: i32, file: &Path) -> bool {
    let descriptors = Process::new(pid).and_then(|process| process.fd());
    descriptors.into_iter().flatten().flatten().any(|held| matches!(held.target, FDTarget::Path(path) if path == file))
}
