//! What sampling costs. Not run by default: it takes half a minute and its figure depends on the machine.
//! `cargo test --release -p iotbench-sampler --test it -- --ignored --nocapture own_cost::`

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use iotbench_sampler::{Observation, Sampler, Subject, Target};

const SECONDS: u64 = 30;

#[test]
#[ignore = "takes half a minute, and its figure depends on the machine"]
fn two_hundred_processes_cost_at_most_one_percent_of_a_core() {
    // 200 forks that share 128 MiB, as a server with large shared buffers does.
    let script = "x=$(head -c 134217728 /dev/zero | tr '\\0' a); exec 3<&0; i=0; \
        while [ $i -lt 199 ]; do i=$((i+1)); ( read y <&3 ) & done; echo ready; wait";
    let mut shell =
        Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(shell.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let target = Target::ProcessTree { pid: i32::try_from(shell.id()).unwrap() };
    let subject = Subject { role: "server".to_owned(), node: 0, target };
    let sampler = Sampler::start(Instant::now(), Duration::from_secs(1), vec![subject], |readings| {
        if let Observation::Sampled(sample) = &readings[0].observation {
            println!("{:?} processes {} PSS {:?}", sample.at, sample.processes, sample.pss_bytes);
        }
    })
    .unwrap();
    std::thread::sleep(Duration::from_secs(SECONDS));
    let report = sampler.stop();
    drop(shell.stdin.take());
    shell.wait().unwrap();
    println!("{:.3} % of a core, {} ticks, {} missed", report.own_cpu_pct, report.samples, report.missed);
    assert_eq!(report.subjects[0].processes_max, Some(200));
    assert!(report.own_cpu_pct <= 1.0, "{} %", report.own_cpu_pct);
}
