//! Profiles of many groups that write, and what such a load costs an agent.

use super::{Broker, are_here, assert_accounted_for, document};
use crate::server::place::{Place, wait_for_series};
use procfs::process::Process;
use std::{collections::BTreeMap, fmt::Write, fs, path::PathBuf, process::Stdio, thread::sleep, time::Duration};

/// How long is looked at what an agent costs.
const LOOK: Duration = Duration::from_secs(20);

/// A profile of so many groups, each with a device for each of its connections.
fn profile(place: &Place, groups: u32, connections: u32) -> PathBuf {
    let mut text = "name = \"groups\"\nsummary = \"many groups\"\n[dataset]\nname = \"machine\"\n".to_owned();
    for group in 0..groups {
        writeln!(text, "[[groups]]\nname = \"g{group}\"\nconnections = {connections}\ndevices = {connections}")
            .unwrap();
        text.push_str("load = { model = \"open\", rate = 16, arrival = \"poisson\" }\n");
        text.push_str("operations = [{ kind = \"write\", datapoints = 1 }]\n");
    }
    let file = place.root().join("groups.toml");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn agents_divide_groups_that_write_side_by_side() {
    if !are_here() {
        return;
    }
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let agents = ["a", "b"].map(|name| broker.agent(&place, name));
    let (file, out, url) = (profile(&place, 6, 2), place.results(), broker.url());
    let arguments = ["run", "-p", file.to_str().unwrap(), "-b", "postgres:wide", "--nats", &url, "--agents", "2"];
    let more = ["-d", "3s", "--verify", "full", "--output-format", "json", "--out", out.to_str().unwrap()];
    let (code, found) = document(place.iotbench(&[&arguments[..], &more].concat()).spawn().unwrap());
    // 11: a busy machine held the client up.
    assert!(matches!(code, Some(0 | 11)), "{code:?}: {:?}", found.verdict);
    assert_accounted_for(&found);
    assert_eq!(found.audit.as_ref().unwrap().right, found.points.counts.acked);
    let devices: Vec<_> = found.agents.iter().map(|agent| (agent.first_device, agent.devices)).collect();
    assert_eq!(devices, [(0, 6), (6, 6)]);
    assert!(found.agents.iter().all(|agent| agent.points_acked > 0), "{:#?}", found.agents);
    agents.into_iter().for_each(|mut agent| agent.end());
    place.assert_nothing_is_left();
}

/// Processor time of an agent's threads by their names, in nanoseconds.
fn threads(agent: i32) -> BTreeMap<String, u64> {
    let mut times = BTreeMap::new();
    for task in Process::new(agent).unwrap().tasks().unwrap().flatten() {
        let name = task.stat().unwrap().comm;
        *times.entry(name).or_default() += task.schedstat().unwrap().sum_exec_runtime;
    }
    times
}

/// How much of a core each took over some time.
fn shares(agent: i32) -> BTreeMap<String, f64> {
    let before = threads(agent);
    sleep(LOOK);
    let share = |(name, ns): (String, u64)| {
        let took_ns = ns.saturating_sub(before.get(&name).copied().unwrap_or(0));
        (name, took_ns as f64 / LOOK.as_nanos() as f64)
    };
    threads(agent).into_iter().map(share).collect()
}

/// An idle agent takes at most 0.1 % of a core and 15 MiB; to hand over the windows of 64 groups, one a second, the threads
/// that add them up, encode and send them take at most 1 %.
#[test]
#[ignore = "figures of an idle machine, of a release build: scripts/long agent"]
fn an_agent_costs_little() {
    assert!(are_here(), "it needs both servers");
    let (place, broker) = (Place::new(), Broker::start(&[]));
    let mut agent = broker.agent(&place, "a");
    let pid = agent.pid();
    let idle = shares(pid);
    let resident = Process::new(pid).unwrap().status().unwrap().vmrss.unwrap() * 1024;
    println!("idle: {idle:?} of a core, {:.1} MiB resident", resident as f64 / f64::from(1 << 20));

    let (file, out, url) = (profile(&place, 64, 1), place.results(), broker.url());
    let arguments = ["run", "-p", file.to_str().unwrap(), "-b", "postgres:wide", "--nats", &url, "--agents", "a"];
    let more = ["-d", "40s", "--output-format", "json", "--out", out.to_str().unwrap()];
    let run = place.iotbench(&[&arguments[..], &more].concat()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_series(&place);
    let under_load = shares(pid);
    println!("64 groups: {under_load:?} of a core");
    let (_, found) = document(run);
    println!("{} datapoints acknowledged", found.points.counts.acked);

    assert!(idle.values().sum::<f64>() <= 0.001 && resident <= 15 << 20);
    let carrying: f64 = ["iotbench", "part"].iter().map(|&thread| under_load[thread]).sum();
    assert!(carrying > 0.0 && carrying <= 0.01, "{carrying}");
    assert_accounted_for(&found);
    agent.end();
}
