//! Several groups that write: each has devices of its own.

use crate::operations::{
    run_traced,
    scripted::{SUCCEED, Script, Scripted},
};
use iotbench_engine::PointRanges;
use std::{fmt::Write, ops::Range};

/// One of each load model, and a group of users that write and read.
const GROUPS: &str = r#"
name = "groups"
summary = "test"
[dataset]
name = "pmu"
rate = 50.0
[[groups]]
name = "pmus"
devices = 4
load = { model = "closed", users = 4, think_time = "20ms" }
operations = [{ kind = "write", datapoints = "since_last" }]
[[groups]]
name = "open"
devices = 6
load = { model = "open", rate = 200 }
operations = [{ kind = "write", datapoints = 3, devices = 2 }]
[[groups]]
name = "sensors"
devices = 5
load = { model = "paced" }
operations = [{ kind = "write", datapoints = 5 }]
[[groups]]
name = "reports"
devices = 3
load = { model = "interval", interval = "1s", window = "500ms" }
operations = [{ kind = "write", datapoints = 2 }]
[[groups]]
name = "users"
devices = 2
load = { model = "closed", users = 3, think_time = "5ms" }
operations = [{ kind = "write", datapoints = 4 }]
[[groups]]
name = "sessions"
devices = 3
load = { model = "partly_open", rate = 50, think_time = "10ms" }
operations = [{ kind = "write", datapoints = 2 }]
[phases]
duration = "2s"
"#;

fn backend() -> &'static Scripted {
    Scripted::new(Script { write: |_| SUCCEED, commit: |_| SUCCEED })
}

fn of_devices(points: &PointRanges, devices: Range<u32>) -> u64 {
    devices.flat_map(|device| points.of_device(device)).map(|indices| indices.end - indices.start).sum()
}

#[test]
fn no_two_groups_send_the_same_datapoints_and_each_sends_its_own_devices() {
    let backend = backend();
    let (outcome, trace) = run_traced(backend, GROUPS, &[]);
    // A datapoint that is stored twice fails here.
    let stored = backend.state.lock().unwrap().ranges();
    assert_eq!(stored, outcome.acked());
    for (group, devices) in [0..4, 4..10, 10..15, 15..18, 18..20, 20..23].into_iter().enumerate() {
        let of_group = trace.iter().filter(|operation| usize::from(operation.group) == group);
        let sent: u64 = of_group.map(|operation| u64::from(operation.points)).sum();
        assert!(sent > 0, "group {group}");
        assert_eq!(of_devices(&stored, devices), sent, "group {group}");
    }
    assert_eq!(of_devices(&stored, 0..23), outcome.points.acked);
}

/// The most that a profile can have, each with one connection: none keeps another from sending.
#[test]
fn sixty_four_groups_all_send() {
    let mut text = "name = \"many\"\nsummary = \"test\"\n[dataset]\nname = \"machine\"\n".to_owned();
    for group in 0..64 {
        let load = "load = { model = \"open\", rate = 4 }\noperations = [{ kind = \"write\", datapoints = 1 }]";
        write!(text, "[[groups]]\nname = \"g{group}\"\nconnections = 1\ndevices = 1\n{load}\n").unwrap();
    }
    text.push_str("[phases]\nduration = \"2s\"\n");
    let backend = backend();
    let (outcome, _) = run_traced(backend, &text, &[]);
    let stored = backend.state.lock().unwrap().ranges();
    for device in 0..64 {
        let sent: u64 = stored.of_device(device).map(|indices| indices.end - indices.start).sum();
        assert!(sent > 0, "device {device}: {:?}", outcome.verdict);
    }
}
