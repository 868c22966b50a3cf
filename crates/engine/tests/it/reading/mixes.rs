//! Reading while others write.

use super::{
    assert_believed, backend, profile, run_on,
    tampered::{Spoil, Tampered},
    try_plan,
};
use iotbench_core::Backend;
use iotbench_engine::{Measured, Purpose};

const PMU: &str = "name = \"pmu\"\nrate = 50";

/// Nine of ten users are devices that send what they measure, the tenth reads the history.
#[test]
fn a_group_that_writes_and_reads_has_users_of_both_kinds() {
    let operations = r#"{ kind = "write", share = 0.9, datapoints = "since_last" },
        { kind = "read_signal", share = 0.1, window = "1s" }"#;
    let group = "load = { model = \"closed\", users = 20, think_time = \"50ms\" }";
    let text = profile(PMU, 5, 200, group, operations);
    for name in ["memory", "sqlite"] {
        let outcome = run_on(backend(name), &text, &["duration=2s"]);
        let plan = &outcome.plan;
        let users: Vec<_> = plan.groups.iter().map(|g| g.part.of(20)).collect();
        assert_eq!(users, [18, 2]);
        assert_eq!(outcome.preloaded_points, 5 * 200, "only the devices of the history have one");
        let answers = outcome.reading.answers.as_ref().unwrap();
        assert!(answers.right > 0 && answers.wrong == 0 && answers.not_judged == 0, "{name}: {answers:?}");
        assert!(outcome.points.acked > 0);
        assert_believed(&outcome, name);
        let kinds: Vec<_> =
            outcome.measured.as_ref().unwrap().recording.kinds().iter().map(|k| k.name.clone()).collect();
        assert_eq!(kinds, ["g/write", "g/read_signal"]);
    }
}

/// Once the greatest load of the mix is known, its writers go on without its readers.
#[test]
fn the_writes_of_a_mixed_load_are_run_alone_too() {
    let operations = r#"{ kind = "write", share = 0.9, datapoints = "since_last" },
        { kind = "read_signal", share = 0.1, window = "1s" }"#;
    let group = "load = { model = \"closed\", users = 20, think_time = \"50ms\" }";
    let ramp = "[ramp]\nsteps = [10, 20]\nstep = \"1s\"\nwrites_alone = true\n\
                [stop]\nmean_response = \"300ms\"\n";
    let text = profile(PMU, 5, 200, group, operations) + ramp;
    let outcome = run_on(backend("memory"), &text, &[]);
    let steps: Vec<_> =
        outcome.capacity.as_ref().unwrap().steps.iter().map(|s| (s.step.load, s.step.purpose)).collect();
    let (listed, alone) = (Purpose::Listed, Purpose::WritesAlone);
    assert_eq!(steps, [(10, listed), (20, listed), (20, alone)]);
    let answered =
        |measured: &Measured| [0, 1].map(|kind| measured.recording.kind(kind).by_operation().ok().response().count());
    let [mixed, alone] = [&outcome.measured, &outcome.writes_alone].map(|m| answered(m.as_ref().unwrap()));
    assert!(mixed[0] > 0 && mixed[1] > 0, "both kinds in the mix: {mixed:?}");
    assert!(alone[0] > 0, "the writers went on: {alone:?}");
    assert_eq!(alone[1], 0, "the readers paused");
    assert_believed(&outcome, "memory");
}

/// Writers without readers beside them have nothing to be compared with.
#[test]
fn only_the_writes_of_a_mixed_closed_loop_can_be_run_alone() {
    let operations = r#"{ kind = "write", datapoints = 1 }"#;
    let group = "load = { model = \"closed\", users = 2 }";
    let ramp = "[ramp]\nsteps = [1]\nstep = \"1s\"\nwrites_alone = true\n";
    let (text, folder) = (profile(PMU, 5, 0, group, operations) + ramp, tempfile::tempdir().unwrap());
    let error = try_plan(&text, &[], backend("memory"), folder.path()).unwrap_err();
    assert!(
        error.to_string().contains("ramp.writes_alone: only the users of a closed loop that write and read"),
        "{error}"
    );
}

/// The newest records may hold what is written meanwhile, and have to hold what was acknowledged before.
#[test]
fn the_newest_records_are_judged_by_what_was_acknowledged_and_sent() {
    let text = r#"
name = "mixed"
summary = "test"
devices = 5
[dataset]
name = "text"
bytes = 40
[[groups]]
name = "writers"
load = { model = "closed", users = 5, think_time = "1ms" }
operations = [{ kind = "write", datapoints = 1 }]
[[groups]]
name = "reader"
load = { model = "open", rate = 20 }
operations = [{ kind = "read_newest", records = 100 }]
[phases]
duration = "3s"
"#;
    for name in ["memory", "sqlite"] {
        let outcome = run_on(backend(name), text, &[]);
        let answers = outcome.reading.answers.as_ref().unwrap();
        assert_eq!((answers.wrong, answers.not_judged), (0, 0), "{name}: {:?}", answers.examples);
        assert!(answers.right >= 50, "{name}: {answers:?}");
        let freshness = outcome.reading.freshness.as_ref().unwrap();
        assert!(freshness.lag.count() >= 1, "{name}: {freshness:?}");
        assert!(
            freshness.lag.max_ns() < Some(1_000_000_000),
            "what is acknowledged is there: {:?}",
            freshness.lag.max_ns()
        );
        assert_believed(&outcome, name);
    }
}

/// A read of all that a device has, while it is written to: judged by what was acknowledged and sent.
#[test]
fn reads_of_what_is_being_written_are_judged() {
    let mixed = |operation: &str| {
        format!(
            "name = \"mixed\"\nsummary = \"test\"\ndevices = 3\n[dataset]\n{PMU}\n[[groups]]\nname = \"writers\"\n\
             load = {{ model = \"closed\", users = 3, think_time = \"1ms\" }}\n\
             operations = [{{ kind = \"write\", datapoints = 2 }}]\n[[groups]]\nname = \"reader\"\n\
             load = {{ model = \"open\", rate = 40 }}\noperations = [{operation}]\n\
             [phases]\npreload = 100\nduration = \"2s\"\ndeadline = \"3s\"\n"
        )
    };
    for operation in
        ["{ kind = \"read_device\" }", "{ kind = \"mean_device\" }", "{ kind = \"read_records\", records = 50 }"]
    {
        for name in ["memory", "sqlite"] {
            let outcome = run_on(backend(name), &mixed(operation), &[]);
            let answers = outcome.reading.answers.as_ref().unwrap();
            assert_eq!((answers.wrong, answers.not_judged), (0, 0), "{name} {operation}: {:?}", answers.examples);
            assert!(answers.right >= 40, "{name} {operation}: {answers:?}");
            assert_believed(&outcome, name);
        }
    }
    for spoil in [Spoil::Row, Spoil::Time, Spoil::Value, Spoil::Twice] {
        let backend: &'static dyn Backend = Box::leak(Box::new(Tampered(spoil)));
        let outcome = run_on(backend, &mixed("{ kind = \"read_device\" }"), &[]);
        let answers = outcome.reading.answers.as_ref().unwrap();
        assert!(answers.wrong > 0 && answers.not_judged == 0, "{spoil:?}: {answers:?}");
    }
}
