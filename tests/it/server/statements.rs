//! Statements that a user wrote, on real servers.

use crate::server::{
    on_a_server::Ended,
    place::{Place, is_here},
};
use std::fs;

mod agents;
mod refused;
mod writing;

/// Those of the page; VictoriaMetrics stores no texts, and its dataset has one.
const BACKENDS: [&str; 8] = ["sqlite", "postgres", "mariadb", "mysql", "questdb", "clickhouse", "influxdb", "mongodb"];

/// The profiles of the page that tells of them: what reads, and what writes.
fn profiles_of_the_page() -> [String; 2] {
    let page = fs::read_to_string("docs/howto/statements.md").unwrap();
    let blocks: Vec<_> = page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    [blocks[0], blocks[blocks.len() - 1]].map(ToOwned::to_owned)
}

fn of_the_page() -> String {
    let [reads, _] = profiles_of_the_page();
    reads
}

fn is_there(backend: &&str) -> bool {
    *backend == "sqlite" || is_here(backend)
}

/// The same with one statement for every backend, of whose answer this is expected.
fn with_statement(statement: &str, expected: &str) -> String {
    let page = of_the_page().replace("expect = { figure = \"mean\" }", expected);
    let (before, rest) = page.split_once("[groups.operations.statement]").unwrap();
    let (_, phases) = rest.split_once("[phases]").unwrap();
    format!("{before}statement = '''{statement}'''\n[phases]{phases}")
}

fn run(place: &Place, backend: &str, profile: &str, more: &[&str]) -> Ended {
    let (file, out) = (place.root().join("means.toml"), place.results());
    fs::write(&file, profile).unwrap();
    let what = ["run", "-p", file.to_str().unwrap(), "-b", backend, "--out", out.to_str().unwrap()];
    let how = ["--warmup", "0", "--verify", "full", "--output-format", "json", "--operations", "60", "-d", "60s"];
    Ended::of(place, &[&what[..], &how, more].concat())
}

#[test]
fn the_answers_of_the_page_are_the_truth() {
    for backend in BACKENDS.into_iter().filter(is_there) {
        let place = Place::new();
        let ended = run(&place, backend, &of_the_page(), &[]);
        ended.assert_sound(backend);
        let answers = &ended.document["answers"];
        assert_eq!((&answers["right"], &answers["wrong"]), (&60.into(), &0.into()), "{backend}: {answers:#}");
        assert!(answers["first_rows_us"].as_f64().unwrap() > 0.0, "{backend}: {answers:#}");
        place.assert_nothing_is_left();
    }
}

/// Another figure than was asked for, or another number of rows.
#[test]
fn an_answer_that_is_not_what_is_expected_is_wrong() {
    let place = Place::new();
    for (of, by) in [("avg(", "max("), ("expect = { figure = \"mean\" }", "expect = { rows = 2 }")] {
        let ended = run(&place, "sqlite", &of_the_page().replace(of, by), &[]);
        assert_eq!(ended.code, 12, "{by}: {} {}", ended.reasons(), ended.err);
        assert_eq!(ended.count("/answers/wrong"), 60, "{by}: {:#}", ended.document["answers"]);
    }
    // Nothing is expected: nothing is compared.
    let ended = run(&place, "sqlite", &of_the_page().replace("expect = { figure = \"mean\" }", ""), &[]);
    ended.assert_sound("nothing expected");
    assert_eq!((ended.count("/answers/right"), ended.count("/answers/requests")), (0, 60));
    place.assert_nothing_is_left();
}

/// The words are those of a statement that reads, and yet it writes: the server is told to refuse it.
#[test]
fn a_server_refuses_to_write() {
    let writes = [
        ("postgres", "WITH gone AS (DELETE FROM :table RETURNING 1) SELECT count(*) FROM gone"),
        ("sqlite", "WITH old AS (SELECT 1) DELETE FROM :table"),
    ];
    for (backend, statement) in writes.into_iter().filter(|(backend, _)| *backend == "sqlite" || is_here(backend)) {
        let place = Place::new();
        let ended = run(&place, backend, &with_statement(statement, ""), &[]);
        assert_ne!(ended.code, 0, "{backend}: {}", ended.reasons());
        let said = ended.reasons();
        assert!(said.contains("read-only") || said.contains("writes"), "{backend}: {said}");
    }
}

#[test]
fn mariadb_and_mysql_say_that_such_a_connection_changes_nothing() {
    for (backend, variable) in [("mariadb", "@@tx_read_only"), ("mysql", "@@transaction_read_only")] {
        if !is_here(backend) {
            continue;
        }
        let place = Place::new();
        let statement = format!("SELECT 1 FROM DUAL WHERE {variable} = 1");
        let ended = run(&place, backend, &with_statement(&statement, "expect = { rows = 1 }"), &[]);
        ended.assert_sound(backend);
        assert_eq!(ended.count("/answers/right"), 60, "{backend}");
    }
}

/// The profile of the page with signals of one type, of which a third of the time is missing, and with another figure.
fn of_numbers(value_type: &str, sql: &str, figure: &str) -> String {
    let signals = format!(
        "name = \"custom\"\ngaps = {{ share = 0.3, length = \"9m\" }}\n[[dataset.signals]]\nname = \"v\"\nshape = \"uniform\"\nmin = -500\nmax = 1000\ntype = \"{value_type}\""
    );
    let page = of_the_page().replace("name = \"compressor\"", &signals);
    let page = page.replace("interval = \"1s\"\n", "").replace("[\"data_nw_*\", \"data_rpm\"]", "[\"v\"]");
    let influx = if sql == "avg" { "mean" } else { sql };
    let page = page.replace("avg(", &format!("{sql}(")).replace("mean(", &format!("{influx}("));
    let page = page.replace("$avg", &format!("${sql}")).replace("figure = \"mean\"", &format!("figure = \"{figure}\""));
    let victoria = format!("victoriametrics = \"{sql}_over_time(:signal{{device=:device}}[:window])\"");
    page.replace("[groups.operations.statement]", &format!("[groups.operations.statement]\n{victoria}"))
}

/// The arithmetic of each database: means of whole numbers with four decimals, sums of 32-bit numbers.
#[test]
fn figures_of_whole_and_of_32_bit_numbers_are_right_within_what_a_database_gives() {
    for backend in BACKENDS.into_iter().chain(["victoriametrics"]).filter(is_there) {
        for (kind, sql, figure) in [("i64", "avg", "mean"), ("f32", "sum", "sum")] {
            if (backend, sql) == ("clickhouse", "sum") {
                // It gives 0 for the sum of nothing, as a window in a gap has.
                continue;
            }
            let place = Place::new();
            let ended = run(&place, backend, &of_numbers(kind, sql, figure), &[]);
            ended.assert_sound(&format!("{backend} {sql} of {kind}: {:#}", ended.document["answers"]));
            assert_eq!(ended.count("/answers/right"), 60, "{backend} {sql} of {kind}");
        }
    }
}

/// One query for VictoriaMetrics, of one signal without gaps.
fn with_query(query: &str, expected: &str) -> String {
    let profile = of_numbers("f64", "avg", "mean").replace("gaps = { share = 0.3, length = \"9m\" }\n", "");
    let (before, rest) = profile.split_once("[groups.operations.statement]").unwrap();
    let (_, phases) = rest.split_once("[phases]").unwrap();
    let before = before.replace("expect = { figure = \"mean\" }", expected);
    format!("{before}statement = '''{query}'''\n[phases]{phases}")
}

/// A point each minute of five.
#[test]
fn a_range_query_has_a_row_for_each_point_of_each_series() {
    if !is_here("victoriametrics") {
        return;
    }
    let place = Place::new();
    let statement = "last_over_time(:signal{device=:device}[1m])";
    let profile = with_query(statement, "expect = { rows = 5 }\nwidth = \"1m\"");
    let ended = run(&place, "victoriametrics", &profile, &[]);
    ended.assert_sound(&format!("{:#}", ended.document["answers"]));
    assert_eq!(ended.count("/answers/right"), 60, "{:#}", ended.document["answers"]);
    place.assert_nothing_is_left();
}

/// What marks the run's series is one itself, and is not among them: a query for it is asked as one for all series is.
#[test]
fn a_query_sees_no_series_but_the_runs_own() {
    if !is_here("victoriametrics") {
        return;
    }
    for (query, rows) in [
        (r#"count_over_time({__name__=~".+", iotbench_table=""}[10y] @ 2000000000)"#, 0),
        (r#"count(count_over_time({__name__=~".+"}[10y] @ 2000000000)) == 20"#, 1),
    ] {
        let place = Place::new();
        let expected = format!("expect = {{ rows = {rows} }}");
        let ended = run(&place, "victoriametrics", &with_query(query, &expected), &[]);
        ended.assert_sound(&format!("{query}: {:#}", ended.document["answers"]));
        assert_eq!(ended.count("/answers/right"), 60, "{query}: {:#}", ended.document["answers"]);
        place.assert_nothing_is_left();
    }
}

/// A command beside a pipeline, and each row of it, also such as come in several batches.
#[test]
fn a_find_has_a_row_for_each_document() {
    if !is_here("mongodb") {
        return;
    }
    for layout in ["document", "wide"] {
        let place = Place::new();
        let within = r#"{"device": ":device", "time": {"$gte": ":from", "$lt": ":to"}}"#;
        let find = format!(r#"{{"find": ":table", "filter": {within}, "batchSize": 7}}"#);
        let profile = with_statement(&find, "expect = { rows = 300 }");
        let ended = run(&place, &format!("mongodb:{layout}"), &profile, &[]);
        ended.assert_sound(&format!("{layout}: {:#}", ended.document["answers"]));
        assert_eq!(ended.count("/answers/right"), 60, "{layout}: {:#}", ended.document["answers"]);
        place.assert_nothing_is_left();
    }
}
