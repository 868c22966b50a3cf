//! Requests over several devices: every reading of every device once.

use crate::operations::{
    run_on, run_traced,
    scripted::{SUCCEED, Script, Scripted},
};

const METERS: &str = r#"
name = "meters"
summary = "test"
[dataset]
name = "smart_meter"
[[groups]]
name = "aggregators"
connections = 1 # one loop: users take turns
load = { model = "closed", users = 3 }
operations = [{ kind = "write", datapoints = 1, devices = 100 }]
[phases]
operations = 60
duration = "60s"
"#;

#[test]
fn users_own_ranges_of_devices_and_send_each_reading_once() {
    let backend = Scripted::new(Script { write: |_| SUCCEED, commit: |_| SUCCEED });
    let (outcome, trace) = run_traced(backend, METERS, &[]);
    assert_eq!((outcome.plan.table.devices, outcome.load.ok), (300, 60));
    assert_eq!((outcome.points.acked, backend.state.lock().unwrap().writes), (6000, 60));
    assert_eq!(backend.state.lock().unwrap().ranges(), outcome.acked());
    assert!(trace.iter().all(|o| o.points == 100));
    let mut of_user = [0_u64; 3];
    let ranges: Vec<_> = outcome.acked().iter().collect();
    for (device, range) in &ranges {
        assert_eq!(range.start, 0, "no reading of device {device} is left out");
        let sent = &mut of_user[*device as usize / 100];
        assert!(*sent == 0 || *sent == range.end, "a request carries all devices of its user");
        *sent = range.end;
    }
    assert_eq!((ranges.len(), of_user.iter().sum::<u64>()), (300, 60));
}

#[test]
fn the_last_block_has_what_is_left_of_the_devices() {
    for model in ["closed", "open"] {
        let model_set = format!("model={model}");
        let set = ["devices=250", "rate=1000", "groups.0.operations.0.requests=2", model_set.as_str()];
        let outcome = run_on("sqlite", METERS, &set);
        let ranges: Vec<_> = outcome.acked().iter().collect();
        assert_eq!((outcome.load.ok, ranges.len()), (60, 250), "{model}");
        assert!(ranges.iter().all(|(_, range)| range.start == 0), "{model}: {ranges:?}");
        assert_eq!(outcome.stored.counts.unwrap().points, outcome.points.acked);
    }
}
