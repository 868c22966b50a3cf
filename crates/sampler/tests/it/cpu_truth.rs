//! CPU of short-lived children against what the kernel says after waiting for them all. Alone in its file, because
//! the truth is this process's own record of its children.
#![expect(clippy::unwrap_used, reason = "a failing test should panic")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use iotbench_sampler::{Sampler, Subject, Target};
use procfs::process::{Process, all_processes};

/// Sixty children one after another, each busy for some 25 ms, far shorter than the sampling interval.
const SCRIPT: &str = "read go; n=0; while [ $n -lt 60 ]; do n=$((n+1)); \
    sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done'; done; echo done; read end";

/// CPU time of this process's waited-for children, in ticks.
fn children_ticks() -> i64 {
    let stat = Process::myself().unwrap().stat().unwrap();
    stat.cutime + stat.cstime
}

/// What a sampler sees that sums up the processes it finds alive.
fn naive_look(root: i32, seen: &mut HashMap<(i32, u64), u64>) {
    for stat in all_processes().unwrap().filter_map(|process| process.ok()?.stat().ok()) {
        if stat.pid == root || stat.ppid == root {
            seen.insert((stat.pid, stat.starttime), stat.utime + stat.stime);
        }
    }
}

#[test]
fn children_shorter_than_the_interval_are_counted() {
    let mut shell =
        Command::new("sh").args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let pid = i32::try_from(shell.id()).unwrap();
    let subject = Subject { role: "shell".to_owned(), node: 0, target: Target::ProcessTree { pid } };
    let naive: Arc<Mutex<HashMap<(i32, u64), u64>>> = Arc::default();
    let seen = Arc::clone(&naive);
    let sampler = Sampler::start(Instant::now(), Duration::from_millis(250), vec![subject], move |_| {
        naive_look(pid, &mut seen.lock().unwrap());
    })
    .unwrap();
    let before = children_ticks();
    let mut orders = shell.stdin.take().unwrap();
    orders.write_all(b"go\n").unwrap();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let report = sampler.stop();
    drop(orders);
    shell.wait().unwrap();

    let tick_s = 1.0 / f64::from(u32::try_from(procfs::ticks_per_second()).unwrap());
    let truth_s = f64::from(i32::try_from(children_ticks() - before).unwrap()) * tick_s;
    let naive_ticks: u64 = naive.lock().unwrap().values().sum();
    let naive_s = f64::from(u32::try_from(naive_ticks).unwrap()) * tick_s;
    let seen_s = report.subjects[0].cpu.total_s.unwrap();
    println!("truth {truth_s:.2} s, sampler {seen_s:.2} s, sum over living processes {naive_s:.2} s");
    assert!(truth_s > 20.0 * tick_s, "the children worked");
    assert!(seen_s >= 0.95 * truth_s, "{seen_s} of {truth_s}");
    assert!(seen_s <= truth_s + 2.0 * tick_s, "{seen_s} of {truth_s}");
    assert!(naive_s < 0.7 * truth_s, "the children are not short-lived enough to prove anything: {naive_s}");
    assert!(report.own_cpu_s > 0.0 && report.own_cpu_pct > 0.0);
}
