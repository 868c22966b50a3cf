//! Reads of what answers to others come to: rows from the newest on, figures over some records, and what figures of devices come to.

use super::{CLOSED, backend, kinds::every_layout_answers, profile, run_on, try_plan};
use std::path::Path;

const PMU: &str = "name = \"pmu\"\nrate = 50\n\
                   tags = [{ name = \"site\", values = [\"a\", \"b\"] }, { name = \"rack\", values = [\"2\", \"4\"] }]";
const ONE: &str = "signals = [\"analog_01\"]";

fn answers(operation: &str) {
    every_layout_answers(PMU, 6, 300, operation, &[]);
}

#[test]
fn rows_from_the_newest_on() {
    answers(r#"{ kind = "read_signal", window = "1s", descending = true }"#);
    answers(r#"{ kind = "read_signal", window = "1s", devices = "all", descending = true }"#);
    answers(r#"{ kind = "filter", window = "1s", above = 0.0, devices = 2, descending = true }"#);
    answers(r#"{ kind = "filter_records", window = "1s", above = 0.0, descending = true }"#);
    answers(r#"{ kind = "total_buckets", window = "2s", width = "300ms", descending = true }"#);
}

#[test]
fn figures_over_some_records() {
    let of = |kind: &str, rest: &str| format!("{{ kind = \"{kind}\", {ONE}, window = \"2s\", {rest} }}");
    let (own, other) = ("signal = \"analog_01\", above = 0.0", "signal = \"analog_02\", below = 0.0");
    answers(&of("figures", &format!("where = {{ {own} }}, devices = 3, aggregates = [\"count\", \"last\", \"p50\"]")));
    answers(&of("figures", &format!("where = {{ {other} }}, devices = \"by site\"")));
    answers(&of("buckets", &format!("where = {{ {other} }}, width = \"100ms\"")));
    answers(&of("total_buckets", &format!("where = {{ {own} }}, devices = \"all\", aggregates = [\"max\"]")));
    answers(&of("buckets", &format!("where = {{ {own}, indicator = true }}, width = \"100ms\", above = 0.5")));
    answers(&of("count_buckets", &format!("where = {{ {own}, indicator = true }}, width = \"100ms\", above = 0.5")));
    let text = profile(PMU, 6, 300, CLOSED, &of("figures", "where = { signal = \"analog_01\", above = 1e9 }"));
    let outcome = run_on(backend("memory"), &text, &["operations=10"]);
    assert_eq!(outcome.measured.unwrap().counts.rows_read, 0, "no record has such a value");
}

#[test]
fn what_figures_of_devices_come_to() {
    let of =
        |kind: &str, rest: &str| format!("{{ kind = \"{kind}\", {ONE}, window = \"3s\", devices = \"all\", {rest} }}");
    answers(&of("figures", "rollup = { figure = \"mean\", by = [\"site\", \"rack\"] }, per_tag = \"rack\""));
    answers(&of("figures", "rollup = { figure = \"max\" }"));
    let where_other = "where = { signal = \"analog_02\", above = 0.0 }";
    answers(&of(
        "figures",
        &format!("rollup = {{ figure = \"mean\", by = [\"site\"], beside = \"rack\" }}, {where_other}"),
    ));
    let buckets = "width = \"20ms\", above = 0.0";
    answers(&of("count_buckets", &format!("rollup = {{ figure = \"mean\", each = \"1s\" }}, {buckets}")));
    let by_second = "figure = \"sum\", by = [\"site\"], each = \"500ms\", every = \"1s\"";
    answers(&of("count_buckets", &format!("rollup = {{ {by_second} }}, {buckets}")));
    answers(&of("buckets", &format!("rollup = {{ figure = \"mean\", every = \"1s\" }}, {buckets}")));
    answers(&of("buckets", &format!("rollup = {{ figure = \"count\", by = [\"rack\"] }}, {buckets}")));
    let part = "where = { signal = \"analog_01\", above = 0.0, indicator = true }, width = \"100ms\", above = 0.5";
    answers(&of("buckets", &format!("rollup = {{ figure = \"count\", by = [\"rack\"] }}, {part}")));
    answers(r#"{ kind = "last_points", devices = "all", signals = ["analog_01"], above = 0.0, per_tag = "rack" }"#);
    // By two sites and two racks.
    let text =
        profile(PMU, 40, 100, CLOSED, &of("figures", "rollup = { figure = \"mean\", by = [\"site\", \"rack\"] }"));
    let outcome = run_on(backend("memory"), &text, &["operations=10"]);
    assert_eq!(outcome.measured.unwrap().counts.rows_read, 40);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_key() {
    let of = |kind: &str, rest: &str| format!("{{ kind = \"{kind}\", {ONE}, {rest} }}");
    for (operation, part) in [
        (of("read_point", "descending = true"), "descending: read_point does not go by it"),
        (of("total_buckets", "above = 1, descending = true"), "descending: those that a condition or a tag"),
        (of("figures", "where = { signal = \"nothing\", above = 1 }"), "where.signal: \"nothing\" is no number"),
        (of("figures", "where = { signal = \"analog_01\" }"), "where.above: there is no limit"),
        (
            of("figures", "where = { signal = \"analog_02\", above = 1, indicator = true }"),
            "where.indicator: the part of the values that are so is a figure of that signal",
        ),
        (
            of("buckets", "fill = \"null\", where = { signal = \"analog_01\", above = 1 }"),
            "fill: buckets are filled, or",
        ),
        (of("figures", "rollup = { figure = \"last\" }"), "rollup.figure: devices together have no last"),
        (
            of("figures", "rollup = { figure = \"mean\", by = [\"row\"] }"),
            "rollup.by: \"row\" is no tag of the devices",
        ),
        (
            of("figures", "rollup = { figure = \"mean\", every = \"1s\" }"),
            "rollup.every: a figure is of all of the time",
        ),
        (of("figures", "rollup = { figure = \"mean\", each = \"1s\" }"), "rollup.each: figures counts nothing"),
        (
            of("figures", "rollup = { figure = \"mean\", beside = \"site\" }"),
            "rollup.beside: not every value of site is",
        ),
        (
            of("figures", "rollup = { figure = \"sum\", beside = \"rack\" }"),
            "rollup.figure: devices together have no sum",
        ),
        (of("figures", "rollup = { figure = \"mean\" }, above = 1"), "rollup: all figures come together"),
        (of("figures", "rollup = { figure = \"mean\" }, devices = \"by site\""), "rollup: figures of each device"),
        (of("figures", "per_tag = \"rack\""), "per_tag: write above or below"),
        (of("figures", "per_tag = \"rack\", above = 1"), "per_tag: only newest records, and figures with rollup"),
        (
            of("last_points", "per_tag = \"site\", above = 1"),
            "per_tag: not every value of site is a number other than 0",
        ),
        (of("buckets", "rollup = { figure = \"count\" }"), "above: there is no limit"),
        (
            of("count_buckets", "above = 1, records = 3, rollup = { figure = \"sum\" }"),
            "records: counts that come together",
        ),
        (r#"{ kind = "figures", rollup = { figure = "mean" } }"#.into(), "signals: a condition is on the value of one"),
    ] {
        let text = profile(PMU, 4, 10, CLOSED, &operation);
        let error = try_plan(&text, &[], backend("memory"), Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error.contains(part), "{operation}: {error}");
    }
}
