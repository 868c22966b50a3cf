//! Loads that read, made by agents: each holds its own answers against the truth, which the seed tells it.

use super::{Broker, are_here, assert_accounted_for, document};
use crate::server::place::Place;
use iotbench_report::Document;
use std::{fs, path::PathBuf};

const READS: &str = r#"
[[groups]]
name = "readers"
connections = 4
load = { model = "closed", users = 6, think_time = "50ms" }
operations = [
    { kind = "read_signal", window = "10s", devices = 2 },
    { kind = "buckets", window = "10s", width = "2s", aggregates = ["min", "max"] },
    { kind = "last_points", devices = 3 },
]
[[groups]]
name = "dashboard"
connections = 1
load = { model = "closed", users = 1, think_time = "100ms" }
operations = [{ kind = "dashboard", window = "10s" }]
"#;

const WRITES: &str = r#"
[[groups]]
name = "sensors"
connections = 4
load = { model = "open", rate = 40 }
operations = [{ kind = "write", datapoints = 5 }]
"#;

/// A profile with a history of eight devices and these groups.
fn profile(place: &Place, groups: &str) -> PathBuf {
    let text = format!(
        "name = \"reading\"\nsummary = \"agents read\"\ndevices = 8\n[dataset]\nname = \"pmu\"\nrate = 10.0\n{groups}\n\
         [phases]\npreload = 300\n"
    );
    let file = place.root().join("reading.toml");
    fs::write(&file, text).unwrap();
    file
}

fn run(place: &Place, groups: &str) -> Document {
    let broker = Broker::start(&[]);
    let agents = ["a", "b"].map(|name| broker.agent(place, name));
    let (file, out, url) = (profile(place, groups), place.results(), broker.url());
    let arguments = ["run", "-p", file.to_str().unwrap(), "-b", "postgres:wide", "--nats", &url, "--agents", "2"];
    let more = ["-d", "4s", "--warmup", "0", "--verify", "full", "--output-format", "json", "--out"];
    let run = [&arguments[..], &more, &[out.to_str().unwrap()]].concat();
    let (code, found) = document(place.iotbench(&run).spawn().unwrap());
    // 11: a busy machine held a client up.
    assert!(matches!(code, Some(0 | 11)), "{code:?}: {:?}", found.verdict);
    agents.into_iter().for_each(|mut agent| agent.end());
    place.assert_nothing_is_left();
    assert!(found.agents.iter().all(|agent| agent.lost.is_none()), "{:#?}", found.agents);
    found
}

#[test]
fn two_agents_read_as_one_and_each_answer_is_compared() {
    if !are_here() {
        return;
    }
    let found = run(&Place::new(), READS);
    let answers = found.answers.as_ref().unwrap();
    assert_eq!((answers.wrong, answers.not_judged, answers.skipped), (0, 0, 0), "{answers:?}");
    let reads = found.load.counts.ok;
    assert!(reads > 10 && answers.right >= reads, "{reads} operations, {answers:?}");
    let by_agents: Vec<_> = found.agents.iter().map(|agent| agent.operations.ok).collect();
    assert!(by_agents.iter().all(|&ok| ok > 0) && by_agents.iter().sum::<u64>() == reads, "{by_agents:?} of {reads}");
}

/// What another agent wrote of a device no agent knows: answers about its devices are not judged, all others are.
#[test]
fn answers_about_what_an_agent_writes_itself_are_judged() {
    if !are_here() {
        return;
    }
    let found = run(&Place::new(), &format!("{WRITES}{READS}"));
    assert_accounted_for(&found);
    let answers = found.answers.as_ref().unwrap();
    assert_eq!(answers.wrong, 0, "{answers:?}");
    assert!(answers.right > 0 && answers.not_judged > 0, "{answers:?}");
}
