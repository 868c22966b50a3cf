//! Reads beside writers that send some datapoints twice, the same or corrected.

use super::{
    assert_believed, backend, run_on,
    tampered::{Spoil, Tampered},
};
use iotbench_core::Backend;
use iotbench_engine::VerifyMode;

const TWICE: &str = r#"twice = { share = 0.25, after = "100ms" }"#;
const CORRECTED: &str = r#"corrected = { share = 0.25, after = "100ms" }"#;

fn mixed(second_sends: &str, operation: &str) -> String {
    format!(
        "name = \"mixed\"\nsummary = \"test\"\ndevices = 3\n[dataset]\nname = \"pmu\"\nrate = 50\n{second_sends}\n[[groups]]\n\
         name = \"writers\"\nload = {{ model = \"closed\", users = 3, think_time = \"5ms\" }}\n\
         operations = [{{ kind = \"write\", datapoints = 2 }}]\n[[groups]]\nname = \"reader\"\n\
         load = {{ model = \"open\", rate = 30 }}\noperations = [{operation}]\n\
         [phases]\npreload = 100\nduration = \"1s\"\ndeadline = \"2s\"\n"
    )
}

#[test]
fn what_may_be_there_twice_or_in_two_ways_passes_and_nothing_else_does() {
    for operation in [
        r#"{ kind = "read_device" }"#,
        r#"{ kind = "mean_device" }"#,
        r#"{ kind = "read_records", records = 50 }"#,
        r#"{ kind = "read_newest", records = 100 }"#,
        r#"{ kind = "read_signal", window = "1s", descending = true }"#,
        r#"{ kind = "filter_records", window = "1s", above = 0.0 }"#,
        r#"{ kind = "total_buckets", window = "1s", width = "100ms", devices = "all", aggregates = ["count", "mean"] }"#,
        r#"{ kind = "top_devices", window = "1s", signals = ["analog_01"], aggregates = ["mean"] }"#,
    ] {
        for (second_sends, name) in [(TWICE, "memory"), (TWICE, "sqlite"), (CORRECTED, "memory"), (CORRECTED, "sqlite")]
        {
            let outcome = run_on(backend(name), &mixed(second_sends, operation), &[]);
            let answers = outcome.reading.answers.as_ref().unwrap();
            assert_eq!(answers.mode, VerifyMode::Full);
            let what = format!("{name} {operation} {second_sends}");
            assert_eq!((answers.wrong, answers.not_judged), (0, 0), "{what}: {:?}", answers.examples);
            assert!(answers.right >= 10 && outcome.points.sent_again > 0, "{what}: {answers:?} {:?}", outcome.points);
            assert_believed(&outcome, &what);
        }
    }
}

#[test]
fn which_of_two_is_the_last_is_not_judged() {
    for operation in
        [r#"{ kind = "last_points", devices = "all" }"#, r#"{ kind = "gaps", window = "1s", longer_than = "100ms" }"#]
    {
        let outcome = run_on(backend("memory"), &mixed(TWICE, operation), &[]);
        let answers = outcome.reading.answers.as_ref().unwrap();
        assert_eq!((answers.right, answers.wrong), (0, 0), "{operation}: {answers:?}");
        assert!(answers.not_judged > 0, "{operation}: {answers:?}");
    }
}

#[test]
fn lies_beside_second_sends_are_found() {
    for second_sends in [TWICE, CORRECTED] {
        for spoil in [Spoil::Row, Spoil::Time, Spoil::Value, Spoil::Twice] {
            let backend: &'static dyn Backend = Box::leak(Box::new(Tampered(spoil)));
            let outcome = run_on(backend, &mixed(second_sends, r#"{ kind = "read_device" }"#), &[]);
            let answers = outcome.reading.answers.as_ref().unwrap();
            assert!(answers.wrong > 0 && answers.not_judged == 0, "{spoil:?} {second_sends}: {answers:?}");
        }
    }
}
