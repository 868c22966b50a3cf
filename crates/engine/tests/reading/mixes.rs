//! Reading while others write.

use super::{
    assert_believed, backend, profile, run_on,
    tampered::{Spoil, Tampered},
};
use iotbench_core::Backend;

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
        let answers = outcome.answers.as_ref().unwrap();
        assert!(answers.right > 0 && answers.wrong == 0 && answers.not_judged == 0, "{name}: {answers:?}");
        assert!(outcome.points.acked > 0);
        assert_believed(&outcome, name);
        let kinds: Vec<_> =
            outcome.measured.as_ref().unwrap().recording.kinds().iter().map(|k| k.name.clone()).collect();
        assert_eq!(kinds, ["g/write", "g/read_signal"]);
    }
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
        let answers = outcome.answers.as_ref().unwrap();
        assert_eq!((answers.wrong, answers.not_judged), (0, 0), "{name}: {:?}", answers.examples);
        assert!(answers.right >= 50, "{name}: {answers:?}");
        let freshness = outcome.freshness.as_ref().unwrap();
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
             [phases]\npreload = 100\nduration = \"2s\"\n"
        )
    };
    for operation in
        ["{ kind = \"read_device\" }", "{ kind = \"mean_device\" }", "{ kind = \"read_records\", records = 50 }"]
    {
        for name in ["memory", "sqlite"] {
            let outcome = run_on(backend(name), &mixed(operation), &[]);
            let answers = outcome.answers.as_ref().unwrap();
            assert_eq!((answers.wrong, answers.not_judged), (0, 0), "{name} {operation}: {:?}", answers.examples);
            assert!(answers.right >= 40, "{name} {operation}: {answers:?}");
            assert_believed(&outcome, name);
        }
    }
    for spoil in [Spoil::Row, Spoil::Time, Spoil::Value, Spoil::Twice] {
        let backend: &'static dyn Backend = Box::leak(Box::new(Tampered(spoil)));
        let outcome = run_on(backend, &mixed("{ kind = \"read_device\" }"), &[]);
        let answers = outcome.answers.as_ref().unwrap();
        assert!(answers.wrong > 0 && answers.not_judged == 0, "{spoil:?}: {answers:?}");
    }
}
