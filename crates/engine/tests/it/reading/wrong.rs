//! An answer that is not the truth is found, shown, and makes the result invalid.

use super::{
    CLOSED, profile, run_on,
    tampered::{Spoil, Tampered},
};
use iotbench_core::Backend;
use iotbench_engine::{Reason, Status};

const PMU: &str =
    "name = \"pmu\"\nrate = 50\ntags = [{ name = \"site\", count = 2 }, { name = \"rack\", values = [\"2\", \"4\"] }]";

static SPOILT: [(Spoil, &dyn Backend); 4] = [
    (Spoil::Row, &Tampered(Spoil::Row)),
    (Spoil::Time, &Tampered(Spoil::Time)),
    (Spoil::Value, &Tampered(Spoil::Value)),
    (Spoil::Twice, &Tampered(Spoil::Twice)),
];

fn every_lie_is_found(operation: &str) {
    each_is_found(&SPOILT, operation);
}

fn each_is_found(spoilt: &[(Spoil, &'static dyn Backend)], operation: &str) {
    let text = profile(PMU, 3, 200, CLOSED, operation);
    for &(spoil, backend) in spoilt {
        let outcome = run_on(backend, &text, &["operations=20"]);
        let answers = outcome.reading.answers.as_ref().unwrap();
        assert_eq!(
            (answers.right, answers.wrong),
            (0, outcome.reading.counts.requests),
            "{operation} {spoil:?}: {answers:?}"
        );
        assert_eq!(answers.examples.len(), 5);
        assert_eq!((outcome.verdict.status, outcome.verdict.exit_code()), (Status::Invalid, 12));
        assert!(outcome.verdict.reasons.iter().any(|r| matches!(r, Reason::WrongAnswers { .. })));
    }
}

#[test]
fn in_the_rows_of_a_signal() {
    every_lie_is_found(r#"{ kind = "read_signal", window = "1s" }"#);
}

#[test]
fn in_the_values_that_meet_a_condition() {
    every_lie_is_found(r#"{ kind = "filter", window = "2s", above = -1e9 }"#);
    every_lie_is_found(r#"{ kind = "filter_records", window = "2s", above = -1e9 }"#);
}

/// Of all values together one half or so lies on each side of the limit.
#[test]
fn in_figures_and_newest_records_that_meet_a_condition() {
    let holding = |what: &str, condition: &str| format!("{{ {what}, signals = [\"analog_01\"], {condition} }}");
    let spoilt = SPOILT.into_iter().chain([(Spoil::Condition, &Tampered(Spoil::Condition) as &dyn Backend)]);
    let spoilt: Vec<_> = spoilt.collect();
    let narrow = "kind = \"buckets\", window = \"3s\", width = \"20ms\"";
    each_is_found(&spoilt, &holding(narrow, "above = 0.0"));
    each_is_found(&spoilt, &holding(narrow, "below = 0.0"));
    every_lie_is_found(&holding("kind = \"figures\", window = \"1s\", devices = \"all\"", "above = -1e9"));
    every_lie_is_found(&holding("kind = \"figures\", window = \"1s\", devices = \"by site\"", "below = 1e9"));
    every_lie_is_found(&holding("kind = \"last_points\", devices = 3", "above = -1e9"));
    let counted = "kind = \"count_buckets\", window = \"3s\", width = \"20ms\", records = 5";
    every_lie_is_found(&holding(counted, "above = 0.0"));
    every_lie_is_found(&holding(&format!("{counted}, devices = \"by site\""), "above = 0.0"));
}

#[test]
fn in_rows_from_the_newest_on() {
    every_lie_is_found(r#"{ kind = "read_signal", window = "1s", descending = true, devices = 2 }"#);
    every_lie_is_found(r#"{ kind = "filter", window = "2s", above = -1e9, descending = true }"#);
    every_lie_is_found(r#"{ kind = "total_buckets", window = "2s", descending = true }"#);
}

#[test]
fn in_figures_over_some_records() {
    let over = |what: &str, only: &str| format!("{{ {what}, signals = [\"analog_01\"], where = {{ {only} }} }}");
    let far = "signal = \"analog_02\", above = -1e9";
    every_lie_is_found(&over("kind = \"figures\", window = \"1s\", devices = 2", far));
    every_lie_is_found(&over("kind = \"buckets\", window = \"1s\", aggregates = [\"count\", \"max\"]", far));
    every_lie_is_found(&over("kind = \"total_buckets\", window = \"1s\", devices = \"by site\"", far));
    let spoilt = SPOILT.into_iter().chain([(Spoil::Condition, &Tampered(Spoil::Condition) as &dyn Backend)]);
    let spoilt: Vec<_> = spoilt.collect();
    let own = "signal = \"analog_01\", above = 0.0";
    each_is_found(&spoilt, &over("kind = \"figures\", window = \"3s\"", own));
    each_is_found(&spoilt, &over("kind = \"figures\", window = \"3s\"", &format!("{own}, indicator = true")));
    let counted = "kind = \"count_buckets\", window = \"3s\", width = \"100ms\", above = 0.35";
    every_lie_is_found(&over(counted, &format!("{own}, indicator = true")));
}

#[test]
fn in_what_figures_of_devices_come_to() {
    let rollup = |what: &str, rollup: &str| format!("{{ {what}, signals = [\"analog_01\"], rollup = {{ {rollup} }} }}");
    let figures = "kind = \"figures\", window = \"1s\", devices = \"all\"";
    every_lie_is_found(&rollup(figures, "figure = \"mean\", by = [\"site\"]"));
    every_lie_is_found(&rollup(&format!("{figures}, per_tag = \"rack\""), "figure = \"sum\""));
    every_lie_is_found(&rollup(figures, "figure = \"mean\", by = [\"site\"], beside = \"rack\""));
    let buckets = "window = \"3s\", width = \"20ms\", devices = \"all\", above = 0.0";
    let counts = format!("kind = \"count_buckets\", {buckets}");
    every_lie_is_found(&rollup(&counts, "figure = \"mean\", each = \"1s\""));
    every_lie_is_found(&rollup(&counts, "figure = \"sum\", each = \"1s\", every = \"1s\", by = [\"rack\", \"site\"]"));
    let runs = format!("kind = \"buckets\", {buckets}");
    every_lie_is_found(&rollup(&runs, "figure = \"mean\", every = \"1s\""));
    every_lie_is_found(&rollup(&runs, "figure = \"count\", by = [\"site\"]"));
    every_lie_is_found(
        r#"{ kind = "last_points", devices = 3, signals = ["analog_01"], above = -1e9, per_tag = "rack" }"#,
    );
}

#[test]
fn in_what_lies_between_consecutive_values() {
    every_lie_is_found(r#"{ kind = "gaps", window = "1s", longer_than = "10ms", devices = 2 }"#);
    every_lie_is_found(r#"{ kind = "time_weighted_mean", window = "1s", devices = 3 }"#);
    every_lie_is_found(r#"{ kind = "differences", window = "1s" }"#);
    every_lie_is_found(r#"{ kind = "differences", window = "1s", per = "10ms", devices = 2 }"#);
}

#[test]
fn in_records() {
    every_lie_is_found(r#"{ kind = "read_records", records = 50 }"#);
}

#[test]
fn in_the_newest_records() {
    every_lie_is_found(r#"{ kind = "read_newest", records = 50 }"#);
}

#[test]
fn in_figures() {
    every_lie_is_found(r#"{ kind = "mean_device" }"#);
    every_lie_is_found(r#"{ kind = "dashboard", window = "2s" }"#);
    every_lie_is_found(r#"{ kind = "top_devices", window = "1s", records = 2 }"#);
    every_lie_is_found(r#"{ kind = "figures", window = "1s", devices = "by site" }"#);
    every_lie_is_found(
        r#"{ kind = "total_buckets", window = "2s", devices = "by site", aggregates = ["sum", "max"] }"#,
    );
    every_lie_is_found(r#"{ kind = "newest_buckets", width = "1s", records = 3, devices = 2 }"#);
    every_lie_is_found(r#"{ kind = "max_records", records = 50 }"#);
    every_lie_is_found(r#"{ kind = "buckets", window = "2s", aggregates = ["sum", "first"] }"#);
    // With rows before, between and after those that hold a value.
    every_lie_is_found(r#"{ kind = "buckets", window = "2s", width = "7ms", fill = "linear" }"#);
    every_lie_is_found(r#"{ kind = "buckets", window = "2s", width = "7ms", fill = "previous", devices = 2 }"#);
    // Of fewer than a thousand values the greatest: nothing lies beyond it.
    every_lie_is_found(r#"{ kind = "figures", window = "1s", aggregates = ["p99.9", "p50"] }"#);
    every_lie_is_found(r#"{ kind = "buckets", window = "2s", aggregates = ["p99.9"] }"#);
}
