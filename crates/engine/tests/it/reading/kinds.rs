//! Every kind of read, on every layout of the embedded databases.

use super::{CLOSED, assert_believed, backend, profile, run_on, try_plan};
use iotbench_core::Layout;
use iotbench_engine::{Outcome, PlanError, parse_profile};
use std::path::Path;

const PMU: &str = "name = \"pmu\"\nrate = 50";
const WEATHER: &str = "name = \"weather\"\ninterval = \"1m\"\ntyped = false";
const COMPRESSOR: &str = "name = \"compressor\"\ninterval = \"1s\"";

/// Valid, and every answer compared and right.
pub fn assert_right(outcome: &Outcome, what: &str) {
    let answers = outcome.reading.answers.as_ref().unwrap();
    assert_eq!(answers.wrong, 0, "{what}: {:?}", answers.examples);
    assert_eq!((answers.right, answers.not_judged, answers.skipped), (outcome.reading.counts.requests, 0, 0), "{what}");
    assert!(answers.right > 0, "{what}: nothing was asked");
    assert_believed(outcome, what);
}

pub fn every_layout_answers(dataset: &str, devices: u32, preload: u32, operation: &str, set: &[&str]) {
    let text = profile(dataset, devices, preload, CLOSED, operation);
    for backend in ["memory", "sqlite"].map(backend) {
        for layout in Layout::ALL {
            let layout = format!("layout={layout}");
            let set: Vec<&str> = set.iter().copied().chain([layout.as_str(), "operations=30"]).collect();
            match try_plan(&text, &set, backend, Path::new("/nowhere")) {
                Err(PlanError::Misfit(_)) => {}
                Err(error) => panic!("{error}"),
                Ok(_) => assert_right(&run_on(backend, &text, &set), &format!("{} {layout}", backend.info().name)),
            }
        }
    }
}

#[test]
fn a_signal_of_one_device_and_of_all() {
    every_layout_answers(PMU, 4, 300, r#"{ kind = "read_signal", window = "1s" }"#, &[]);
    every_layout_answers(PMU, 4, 300, r#"{ kind = "read_signal", window = "100ms", devices = 4 }"#, &[]);
}

#[test]
fn a_signal_at_the_time_of_a_record_and_its_newest_value() {
    every_layout_answers(PMU, 4, 300, r#"{ kind = "read_point" }"#, &[]);
    every_layout_answers(PMU, 4, 300, r#"{ kind = "read_point", devices = 3, signals = ["analog_*"] }"#, &[]);
    every_layout_answers(WEATHER, 1, 100, r#"{ kind = "read_point" }"#, &[]);
    every_layout_answers(PMU, 4, 300, r#"{ kind = "read_latest" }"#, &[]);
    every_layout_answers(WEATHER, 1, 100, r#"{ kind = "read_latest" }"#, &[]);
    let text = profile(PMU, 4, 300, CLOSED, r#"{ kind = "read_point" }"#);
    let outcome = run_on(backend("memory"), &text, &["operations=30"]);
    assert_eq!(outcome.measured.unwrap().counts.rows_read, 30, "each finds its record");
}

#[test]
fn the_newest_window_is_compared_with_another_by_two_requests() {
    let compare = |rest: &str| format!("{{ kind = \"compare_windows\", window = \"1s\"{rest} }}");
    every_layout_answers(PMU, 4, 300, &compare(""), &[]);
    every_layout_answers(PMU, 4, 300, &compare(", devices = 3, aggregates = [\"max\", \"count\"]"), &[]);
    let text = profile(PMU, 4, 300, CLOSED, &compare(""));
    let outcome = run_on(backend("memory"), &text, &["operations=30"]);
    assert_eq!(outcome.measured.unwrap().counts.rows_read, 60);
    let text = profile(PMU, 4, 300, CLOSED, &compare(", requests = 3"));
    let error = try_plan(&text, &[], backend("memory"), Path::new("/nowhere")).err().unwrap().to_string();
    assert!(error.contains("windows are compared by two requests: leave it out"), "{error}");
}

#[test]
fn consecutive_records_of_text() {
    every_layout_answers(WEATHER, 1, 400, r#"{ kind = "read_records", records = 150 }"#, &[]);
}

#[test]
fn the_newest_records_of_all_devices() {
    every_layout_answers(PMU, 3, 100, r#"{ kind = "read_newest", records = 40 }"#, &[]);
}

#[test]
fn the_newest_record_of_each_device() {
    every_layout_answers(PMU, 4, 100, r#"{ kind = "last_points", devices = 3 }"#, &[]);
    every_layout_answers(WEATHER, 1, 100, r#"{ kind = "last_points" }"#, &[]);
}

#[test]
fn figures_of_each_device_over_a_stretch() {
    every_layout_answers(PMU, 4, 300, r#"{ kind = "figures", window = "1s", devices = 3 }"#, &[]);
    let some = r#"{ kind = "figures", window = "2s", devices = "all", aggregates = ["first", "count"] }"#;
    every_layout_answers(PMU, 3, 300, some, &[]);
}

#[test]
fn records_of_ten_thousand_signals() {
    const MANY: &str =
        "name = \"custom\"\ninterval = \"1s\"\nsignals = [{ name = \"a\", shape = \"sine\", copies = 10000 }]";
    let operation = r#"{ kind = "read_records", records = 2 }, { kind = "figures", window = "3s" }"#;
    let text = profile(MANY, 1, 6, CLOSED, operation);
    for (name, layout) in [("memory", "layout=wide"), ("sqlite", "layout=document"), ("sqlite", "layout=narrow")] {
        assert_right(&run_on(backend(name), &text, &[layout, "operations=4"]), &format!("{name} {layout}"));
    }
    let error = try_plan(&text, &["layout=wide"], backend("sqlite"), Path::new("/nowhere")).unwrap_err().to_string();
    assert!(error.contains("at most 1998 signals in layout wide, and these are 10000"), "{error}");
}

#[test]
fn devices_of_one_value_of_a_tag_and_all_devices() {
    const TAGGED: &str = "name = \"pmu\"\nrate = 50\ntags = [{ name = \"site\", values = [\"a\", \"b\"] }, { name = \"rack\", count = 5 }, \
         { name = \"floor\", type = \"integer\", count = 3, from = -1 }, { name = \"load\", type = \"number\", count = 3, from = 0.1, step = 0.2 }, \
         { name = \"leased\", type = \"truth\" }]";
    for operation in [
        r#"{ kind = "last_points", devices = "site" }"#,
        r#"{ kind = "last_points", devices = "all" }"#,
        r#"{ kind = "read_signal", window = "1s", devices = "rack" }"#,
        r#"{ kind = "figures", window = "1s", devices = "site" }"#,
        r#"{ kind = "buckets", window = "2s", devices = "rack", aggregates = ["max", "count"] }"#,
        r#"{ kind = "total_buckets", window = "2s", devices = "site", aggregates = ["max", "mean"] }"#,
        r#"{ kind = "filter_records", above = 0, window = "1s", devices = "site" }"#,
        r#"{ kind = "figures", window = "1s", devices = "by site", aggregates = ["mean", "count"] }"#,
        r#"{ kind = "total_buckets", window = "2s", devices = "by rack", aggregates = ["sum", "min"] }"#,
        r#"{ kind = "last_points", devices = "floor" }"#,
        r#"{ kind = "figures", window = "1s", devices = "load" }"#,
        r#"{ kind = "figures", window = "1s", devices = "by load", aggregates = ["mean", "count"] }"#,
        r#"{ kind = "total_buckets", window = "2s", devices = "by leased", aggregates = ["max", "mean"] }"#,
    ] {
        every_layout_answers(TAGGED, 7, 300, operation, &[]);
    }
}

#[test]
fn devices_that_are_neither_a_number_nor_a_tag_are_refused() {
    let refused = |dataset: &str, operation: &str| {
        let text = profile(dataset, 3, 100, CLOSED, operation);
        try_plan(&text, &[], backend("memory"), Path::new("/nowhere")).err().unwrap().to_string()
    };
    let tagged = format!("{PMU}\ntags = [{{ name = \"site\", count = 2 }}]");
    let error = refused(&tagged, r#"{ kind = "last_points", devices = "sites" }"#);
    assert!(error.contains("devices") && error.contains("the tags are site"), "{error}");
    let error = refused(PMU, r#"{ kind = "last_points", devices = "site" }"#);
    assert!(error.contains("the tags are none (dataset.tags)"), "{error}");
    let error = refused(PMU, r#"{ kind = "write", devices = "all" }"#);
    assert!(error.contains("a request that writes is of a number of devices"), "{error}");
    for life in [0, 50] {
        let serial = format!("{PMU}\ntags = [{{ name = \"serial\", life = {life} }}]");
        for operation in [
            r#"{ kind = "last_points", devices = "serial" }"#,
            r#"{ kind = "figures", devices = "by serial" }"#,
            r#"{ kind = "figures", signals = ["analog_01"], devices = "all", rollup = { figure = "max", by = ["serial"] } }"#,
        ] {
            let error = refused(&serial, operation);
            assert!(error.contains("serial is the serial number of a unit, which nobody asks for"), "{error}");
        }
    }
}

#[test]
fn all_records_of_a_device() {
    every_layout_answers(COMPRESSOR, 7, 20, r#"{ kind = "read_device" }"#, &[]);
}

#[test]
fn the_mean_of_named_signals_of_a_device() {
    every_layout_answers(COMPRESSOR, 7, 20, r#"{ kind = "mean_device", signals = ["data_*"] }"#, &[]);
}

#[test]
fn the_greatest_of_consecutive_records_in_several_requests() {
    let operation = r#"{ kind = "max_records", records = 50, requests = 10 }"#;
    every_layout_answers(WEATHER, 1, 200, operation, &[]);
    let text = profile(WEATHER, 1, 200, CLOSED, operation);
    let outcome = run_on(backend("memory"), &text, &["operations=30"]);
    let measured = outcome.measured.as_ref().unwrap();
    let pooled = measured.recording.pooled();
    assert_eq!((pooled.by_operation().ok().response().count(), pooled.by_request().ok().response().count()), (30, 300));
    assert_eq!(measured.counts.rows_read, 300);
}

#[test]
fn the_figures_of_a_dashboard() {
    let greenhouse = "name = \"greenhouse\"\ninterval = \"30s\"";
    every_layout_answers(greenhouse, 2, 200, r#"{ kind = "dashboard", window = "10m" }"#, &[]);
}

#[test]
fn values_above_and_below_a_limit() {
    every_layout_answers(PMU, 4, 300, r#"{ kind = "filter", window = "1s", above = 0.0 }"#, &[]);
    every_layout_answers(PMU, 4, 300, r#"{ kind = "filter", window = "1s", devices = 3, below = 10 }"#, &[]);
}

#[test]
fn records_with_a_value_above_or_below_a_limit() {
    let filter = |rest: &str| format!("{{ kind = \"filter_records\", window = \"1s\", {rest} }}");
    every_layout_answers(PMU, 4, 300, &filter("devices = 4, above = 0.0"), &[]);
    every_layout_answers(PMU, 4, 300, &filter("signals = [\"analog_*\"], below = 10"), &[]);
}

#[test]
fn figures_of_time_buckets() {
    let every = r#"aggregates = ["first", "last", "min", "mean", "max", "sum", "count"]"#;
    let greenhouse = "name = \"greenhouse\"\ninterval = \"30s\"";
    let buckets = |rest: &str| format!("{{ kind = \"buckets\", window = \"10m\"{rest} }}");
    every_layout_answers(greenhouse, 2, 200, &buckets(""), &[]);
    every_layout_answers(greenhouse, 2, 200, &buckets(&format!(", width = \"90s\", devices = 2, {every}")), &[]);
    every_layout_answers(PMU, 2, 300, r#"{ kind = "buckets", window = "1s", aggregates = ["max", "count"] }"#, &[]);
}

#[test]
fn percentiles_of_each_device_and_of_time_buckets() {
    let some = r#"{ kind = "figures", window = "2s", devices = 3, aggregates = ["p50", "p95", "p99.9"] }"#;
    every_layout_answers(PMU, 3, 300, some, &[]);
    let beside = r#"aggregates = ["p50", "mean", "last", "p99"]"#;
    every_layout_answers(
        PMU,
        3,
        300,
        &format!("{{ kind = \"figures\", window = \"1s\", devices = \"all\", {beside} }}"),
        &[],
    );
    every_layout_answers(PMU, 3, 300, &format!("{{ kind = \"compare_windows\", window = \"1s\", {beside} }}"), &[]);
    let greenhouse = "name = \"greenhouse\"\ninterval = \"30s\"";
    let buckets = format!("{{ kind = \"buckets\", window = \"10m\", width = \"90s\", devices = 2, {beside} }}");
    every_layout_answers(greenhouse, 2, 200, &buckets, &[]);
}

#[test]
fn time_buckets_in_which_nothing_was_measured_are_filled() {
    let filled = |fill: &str| {
        format!("{{ kind = \"buckets\", window = \"1s\", width = \"7ms\", devices = 2, fill = \"{fill}\" }}")
    };
    for fill in ["null", "previous", "linear"] {
        every_layout_answers(PMU, 3, 300, &filled(fill), &[]);
    }
    let text = profile(PMU, 3, 300, CLOSED, &filled("null"));
    let outcome = run_on(backend("memory"), &text, &["operations=10"]);
    let rows = outcome.measured.unwrap().counts.rows_read;
    assert!((10 * 2 * 143..=10 * 2 * 144).contains(&rows), "each bucket of both devices: {rows}");
}

#[test]
fn figures_of_time_buckets_of_several_devices_together() {
    let every = r#"aggregates = ["min", "mean", "max", "sum", "count"]"#;
    let greenhouse = "name = \"greenhouse\"\ninterval = \"30s\"";
    let buckets = |rest: &str| format!("{{ kind = \"total_buckets\", window = \"10m\"{rest} }}");
    every_layout_answers(greenhouse, 3, 200, &buckets(&format!(", width = \"90s\", devices = 2, {every}")), &[]);
    every_layout_answers(PMU, 3, 300, r#"{ kind = "total_buckets", window = "1s", devices = 3 }"#, &[]);
}

#[test]
fn figures_of_the_newest_time_buckets_of_several_devices_together() {
    let newest = |rest: &str| format!("{{ kind = \"newest_buckets\", records = 5, {rest} }}");
    every_layout_answers(PMU, 3, 300, &newest("width = \"100ms\", devices = 3, aggregates = [\"max\"]"), &[]);
    // Fewer than five, and with nothing in most of them.
    every_layout_answers(PMU, 3, 300, &newest("width = \"1h\""), &[]);
    every_layout_answers(PMU, 3, 300, &newest("width = \"1ms\", aggregates = [\"sum\", \"count\"]"), &[]);
}

#[test]
fn the_devices_with_the_greatest_figure() {
    let top = |rest: &str| format!("{{ kind = \"top_devices\", window = \"1s\", records = 3{rest} }}");
    every_layout_answers(PMU, 5, 300, &top(""), &[]);
    for figure in ["min", "max", "sum", "count"] {
        every_layout_answers(PMU, 5, 300, &top(&format!(", aggregates = [\"{figure}\"]")), &[]);
    }
}

#[test]
fn figures_and_newest_records_that_meet_a_condition() {
    let of = |kind: &str, rest: &str| format!("{{ kind = \"{kind}\", signals = [\"analog_01\"], {rest} }}");
    every_layout_answers(PMU, 4, 300, &of("figures", "window = \"1s\", devices = \"all\", above = 0.0"), &[]);
    every_layout_answers(PMU, 4, 300, &of("figures", "window = \"1s\", aggregates = [\"last\"], below = 0.0"), &[]);
    every_layout_answers(
        PMU,
        4,
        300,
        &of("buckets", "window = \"2s\", devices = 3, width = \"100ms\", above = 0.0"),
        &[],
    );
    every_layout_answers(PMU, 4, 300, &of("total_buckets", "window = \"2s\", devices = 3, below = 0.0"), &[]);
    every_layout_answers(PMU, 4, 300, &of("last_points", "devices = \"all\", below = 0.0"), &[]);
    let count = |rest: &str| of("count_buckets", &format!("window = \"3s\", width = \"20ms\", above = 0.0{rest}"));
    every_layout_answers(PMU, 4, 300, &count(", devices = 3"), &[]);
    every_layout_answers(PMU, 4, 300, &count(", devices = \"all\", records = 70"), &[]);
    let tagged = format!("{PMU}\ntags = [{{ name = \"site\", values = [\"a\", \"b\"] }}]");
    every_layout_answers(&tagged, 4, 300, &count(", devices = \"by site\", records = 70"), &[]);
}

#[test]
fn gaps_between_consecutive_values() {
    let gaps = |rest: &str| format!("{{ kind = \"gaps\", window = \"1s\", {rest} }}");
    every_layout_answers(PMU, 4, 300, &gaps("longer_than = \"10ms\""), &[]);
    every_layout_answers(PMU, 4, 300, &gaps("longer_than = \"30ms\", devices = \"all\""), &[]);
    let missing = format!("{PMU}\ngaps = {{ share = 0.2, length = \"100ms\" }}");
    every_layout_answers(&missing, 4, 300, &gaps("longer_than = \"30ms\", devices = 2"), &[]);
    let text = profile(&missing, 4, 300, CLOSED, &gaps("longer_than = \"30ms\", devices = \"all\""));
    let outcome = run_on(backend("memory"), &text, &["operations=10"]);
    assert!(outcome.measured.unwrap().counts.rows_read > 10, "what is missing is found");
    let text = profile(PMU, 4, 300, CLOSED, &gaps("longer_than = \"10ms\", devices = 3"));
    let outcome = run_on(backend("memory"), &text, &["operations=10"]);
    assert!((1400..=1500).contains(&outcome.measured.unwrap().counts.rows_read), "each pair of 50 a second and device");
}

#[test]
fn differences_between_consecutive_values_and_rates() {
    let differences = |rest: &str| format!("{{ kind = \"differences\", window = \"1s\"{rest} }}");
    every_layout_answers(PMU, 4, 300, &differences(""), &[]);
    every_layout_answers(PMU, 4, 300, &differences(", per = \"1m\", devices = \"all\""), &[]);
    let text = profile(PMU, 4, 300, CLOSED, &differences(", devices = 3"));
    let outcome = run_on(backend("memory"), &text, &["operations=10", "per=1s"]);
    assert_right(&outcome, "a rate by --set");
    assert!((1400..=1500).contains(&outcome.measured.unwrap().counts.rows_read), "each but the first of a device");
}

#[test]
fn time_weighted_means() {
    let mean = |rest: &str| format!("{{ kind = \"time_weighted_mean\", window = \"1s\"{rest} }}");
    every_layout_answers(PMU, 4, 300, &mean(""), &[]);
    every_layout_answers(PMU, 4, 300, &mean(", devices = \"all\", signals = [\"analog_*\"]"), &[]);
}

#[test]
fn an_open_loop_asks_as_its_schedule_says() {
    let group = "load = { model = \"open\", rate = 200 }";
    let text = profile(PMU, 4, 300, group, r#"{ kind = "read_signal", window = "1s" }"#);
    let outcome = run_on(backend("memory"), &text, &[]);
    assert_right(&outcome, "open");
    assert_eq!(outcome.load.offered, 200);
}

#[test]
fn equal_seeds_ask_equal_questions() {
    let text = profile(PMU, 4, 300, CLOSED, r#"{ kind = "read_signal", window = "1s" }"#);
    let rows = |seed: &str| {
        let outcome = run_on(backend("memory"), &text, &["operations=50", "groups.0.load.users=1", seed]);
        outcome.measured.unwrap().counts.rows_read
    };
    assert_eq!(rows("seed=1"), rows("seed=1"));
}

#[test]
fn a_history_is_as_long_as_a_stretch_of_time_asks() {
    let text = profile(PMU, 4, 1, CLOSED, r#"{ kind = "read_signal", window = "1s" }"#);
    let outcome = run_on(backend("memory"), &text, &["operations=10", "phases.history=3s"]);
    assert_eq!(outcome.preloaded_points, 4 * 150);
}

#[test]
fn what_cannot_be_asked_is_refused_with_its_key() {
    let refused = |preload, operation: &str, set: &[&str]| {
        let text = profile(PMU, 4, preload, CLOSED, operation);
        try_plan(&text, set, backend("memory"), Path::new("/nowhere")).unwrap_err().to_string()
    };
    let read = |rest: &str| format!("{{ kind = \"read_records\"{rest} }}");
    for (error, part) in [
        (refused(0, &read(""), &[]), "set phases.preload, or --history"),
        (refused(10, &read(", records = 11"), &[]), "records"),
        (refused(10, &read(", records = 0"), &[]), "records"),
        (refused(10, &read(", pause = \"1s\""), &[]), "pause"),
        (refused(10, &read(", transaction = true"), &[]), "transaction"),
        (refused(10, r#"{ kind = "read_signal", devices = 5 }"#, &[]), "devices"),
        (refused(10, r#"{ kind = "filter" }"#, &[]), "write above or below"),
        (refused(10, r#"{ kind = "filter", above = 1, below = 2 }"#, &[]), "not both"),
        (refused(10, r#"{ kind = "filter", above = nan }"#, &[]), "not a finite number"),
        (refused(10, r#"{ kind = "filter_records" }"#, &[]), "write above or below"),
        (refused(10, r#"{ kind = "filter_records", above = 1, devices = 5 }"#, &[]), "devices"),
        (refused(10, r#"{ kind = "read_signal", window = "0s" }"#, &[]), "window: a stretch of no time holds nothing"),
        (refused(10, r#"{ kind = "figures", window = "0s" }"#, &[]), "window"),
        (refused(10, r#"{ kind = "dashboard", window = "0s" }"#, &[]), "window"),
        (refused(10, r#"{ kind = "read_newest", devices = 2 }"#, &[]), "read_newest does not go by it, but by records"),
        (refused(10, r#"{ kind = "last_points", window = "5s" }"#, &[]), "window"),
        (refused(10, r#"{ kind = "newest_buckets", width = "1s", window = "5s" }"#, &[]), "window"),
        (refused(10, r#"{ kind = "figures", width = "1s" }"#, &[]), "width"),
        (refused(10, r#"{ kind = "top_devices", above = 3 }"#, &[]), "above"),
        (refused(10, r#"{ kind = "read_device", records = 3 }"#, &[]), "read_device does not go by it: leave it out"),
        (
            refused(10, r#"{ kind = "write", window = "5s" }"#, &[]),
            "window: write does not go by it, but by devices, datapoints",
        ),
        (refused(10, r#"{ kind = "buckets", width = "0s" }"#, &[]), "width"),
        (refused(10, r#"{ kind = "buckets", width = "1us" }"#, &[]), "the window has more than 100000 of them"),
        (refused(10, r#"{ kind = "buckets", aggregates = ["max", "max"] }"#, &[]), "max stands there twice"),
        (refused(10, r#"{ kind = "figures", aggregates = ["p99", "p99.0"] }"#, &[]), "p99 stands there twice"),
        (refused(10, r#"{ kind = "total_buckets", aggregates = ["p99"] }"#, &[]), "p99 is found device by device"),
        (refused(10, r#"{ kind = "top_devices", aggregates = ["p99"] }"#, &[]), "p99 is found device by device"),
        (refused(10, r#"{ kind = "read_device", aggregates = ["p99"] }"#, &[]), "read_device does not go by it"),
        (refused(10, r#"{ kind = "buckets", devices = 5 }"#, &[]), "devices"),
        (refused(10, r#"{ kind = "top_devices", records = 5 }"#, &[]), "5 of a history of 4 devices"),
        (refused(10, r#"{ kind = "top_devices", aggregates = ["min", "max"] }"#, &[]), "write one"),
        (refused(10, r#"{ kind = "top_devices", aggregates = ["first"] }"#, &[]), "not the first value"),
        (
            refused(10, r#"{ kind = "figures", devices = "by site" }"#, &[]),
            "\"site\" is no tag of the devices: the tags are none",
        ),
        (
            refused(10, r#"{ kind = "filter", above = 1, devices = "by site" }"#, &[]),
            "figures, total_buckets and count_buckets do",
        ),
        (refused(10, r#"{ kind = "figures", above = 1 }"#, &[]), "signals: a condition is on the value of one signal"),
        (refused(10, r#"{ kind = "last_points", signals = ["analog_01"] }"#, &[]), "signals: whole records are read"),
        (refused(10, r#"{ kind = "count_buckets", signals = ["analog_01"] }"#, &[]), "above: there is no limit"),
        (
            refused(
                10,
                r#"{ kind = "buckets", signals = ["analog_01"], aggregates = ["min", "max"], below = 1 }"#,
                &[],
            ),
            "aggregates: a condition is on one figure",
        ),
        (refused(10, r#"{ kind = "gaps" }"#, &[]), "longer_than: a gap is longer than a length of time: write which"),
        (
            refused(10, r#"{ kind = "gaps", longer_than = "2s" }"#, &[]),
            "in a window of 2s no gap is longer than 2s: write less",
        ),
        (
            refused(10, r#"{ kind = "gaps", longer_than = "1s", devices = "by site" }"#, &[]),
            "asks of no devices together",
        ),
        (refused(10, r#"{ kind = "figures", longer_than = "1s" }"#, &[]), "longer_than: figures does not go by it"),
        (
            refused(10, r#"{ kind = "buckets", signals = ["analog_01"], above = 1, fill = "null" }"#, &[]),
            "fill: buckets are filled, or kept by a condition",
        ),
        (refused(10, r#"{ kind = "total_buckets", fill = "null" }"#, &[]), "fill: total_buckets does not go by it"),
        (
            refused(10, r#"{ kind = "differences", per = "0s" }"#, &[]),
            "per: in no time nothing changes: write a longer one",
        ),
        (refused(10, r#"{ kind = "gaps", per = "1s" }"#, &[]), "per: gaps does not go by it, but by"),
        (
            refused(10, r#"{ kind = "count_buckets", signals = ["analog_01"], above = 1, records = 13 }"#, &[]),
            "records: a window has at most 11 buckets, and never 13",
        ),
        (refused(10, r#"{ kind = "newest_buckets", records = 5 }"#, &[]), "width: write how long a bucket is"),
        (refused(10, r#"{ kind = "newest_buckets", width = "1s", records = 200000 }"#, &[]), "records"),
        (refused(10, r#"{ kind = "newest_buckets", width = "1s", aggregates = ["last"] }"#, &[]), "not the last value"),
        (refused(10, r#"{ kind = "newest_buckets", width = "1s", devices = 5 }"#, &[]), "devices"),
        (refused(10, r#"{ kind = "mean_device", signals = ["nothing"] }"#, &[]), "nothing"),
        (refused(10, &read(""), &["groups.0.load.model=paced"]), "put reads into a group of their own"),
    ] {
        assert!(error.contains(part), "{error}");
    }
    for (word, part) in [
        ("p100", "test.toml:10:48: operations: p100 is no percentile: write a number above 0 and below 100"),
        ("p0", "test.toml:10:48: operations: p0 is no percentile"),
        ("pp", "test.toml:10:48: unknown figure `pp`, expected `first`"),
        ("maen", "(did you mean `mean`?)"),
    ] {
        let text = profile(PMU, 4, 10, CLOSED, &format!("{{ kind = \"figures\", aggregates = [\"{word}\"] }}"));
        let error = parse_profile("test.toml", &text).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let text = profile(WEATHER, 1, 400, CLOSED, r#"{ kind = "buckets", window = "2h" }"#);
    let error = try_plan(&text, &[], backend("memory"), Path::new("/nowhere")).unwrap_err().to_string();
    assert!(error.contains("none of them is a number"), "{error}");
    let text = profile(WEATHER, 1, 400, CLOSED, r#"{ kind = "differences", window = "2h", signals = ["*"] }"#);
    let error = try_plan(&text, &[], backend("memory"), Path::new("/nowhere")).unwrap_err().to_string();
    assert!(error.contains("is text, and differences asks about numbers: leave it out"), "{error}");
}
