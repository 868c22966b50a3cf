//! Statements that a user wrote, on real servers.

use crate::server::{
    on_a_server::Ended,
    place::{Place, is_here},
};
use std::fs;

const BACKENDS: [&str; 7] = ["sqlite", "postgres", "mariadb", "mysql", "questdb", "clickhouse", "influxdb"];

/// The profile of the page that tells of them.
fn of_the_page() -> String {
    let page = fs::read_to_string("docs/howto/statements.md").unwrap();
    let profile = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    profile.to_owned()
}

/// The same with one statement for every backend, of whose answer this is expected.
fn with_statement(statement: &str, expected: &str) -> String {
    let page = of_the_page().replace("expect = { figure = \"mean\" }", expected);
    let (before, rest) = page.split_once("[groups.operations.statement]").unwrap();
    let (_, phases) = rest.split_once("[phases]").unwrap();
    format!("{before}statement = \"{statement}\"\n[phases]{phases}")
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
    for backend in BACKENDS.into_iter().filter(|backend| *backend == "sqlite" || is_here(backend)) {
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

/// The arithmetic of each database: means of whole numbers with four decimals, sums of 32-bit numbers.
#[test]
fn figures_of_whole_and_of_32_bit_numbers_are_right_within_what_a_database_gives() {
    let signals = |kind: &str| {
        format!(
            "name = \"custom\"\ngaps = {{ share = 0.3, length = \"9m\" }}\n[[dataset.signals]]\nname = \"v\"\nshape = \"uniform\"\nmin = -500\nmax = 1000\ntype = \"{kind}\""
        )
    };
    for backend in BACKENDS.into_iter().filter(|backend| *backend == "sqlite" || is_here(backend)) {
        for (kind, sql, figure) in [("i64", "avg", "mean"), ("f32", "sum", "sum")] {
            if (backend, sql) == ("clickhouse", "sum") {
                // It gives 0 for the sum of nothing, as a window in a gap has.
                continue;
            }
            let place = Place::new();
            let page = of_the_page().replace("name = \"compressor\"", &signals(kind));
            let page = page.replace("interval = \"1s\"\n", "").replace("[\"data_nw_*\", \"data_rpm\"]", "[\"v\"]");
            let influx = if sql == "avg" { "mean" } else { sql };
            let page = page.replace("avg(", &format!("{sql}(")).replace("mean(", &format!("{influx}("));
            let page = page.replace("figure = \"mean\"", &format!("figure = \"{figure}\""));
            let ended = run(&place, backend, &page, &[]);
            ended.assert_sound(&format!("{backend} {sql} of {kind}: {:#}", ended.document["answers"]));
            assert_eq!(ended.count("/answers/right"), 60, "{backend} {sql} of {kind}");
        }
    }
}

#[test]
fn what_is_no_statement_is_refused_with_its_key() {
    let place = Place::new();
    let page = of_the_page();
    let of = "SELECT avg(:signal) FROM :table WHERE device = :device AND ts >= :from AND ts < :to";
    for (backend, by, says) in [
        ("sqlite", "DROP TABLE :table", "does not begin a statement that reads"),
        ("sqlite", "SELECT :until", "there is no parameter :until"),
        ("sqlite", "SELECT avg(:signal) FROM :table WHERE ts >= :from AND ts < :to", "what :device stands for"),
        ("mariadb", "SELECT 1 # ' INTO OUTFILE '/tmp/x' # '", "INTO writes"),
        ("sqlite:document", of, "has no column of a signal"),
        ("memory", of, "takes no statements of your own"),
    ] {
        let file = place.root().join("means.toml");
        fs::write(&file, page.replace(of, by)).unwrap();
        let (code, _, err) = place.call(&["run", "-p", file.to_str().unwrap(), "-b", backend]);
        assert!(code == 2 && err.contains(says) && err.contains("means.toml"), "{backend} {by}: {code} {err}");
    }
    for (of, by, says) in [
        ("window = \"5m\"", "window = \"0s\"", "longer than 0"),
        ("kind = \"statement\"", "kind = \"read_signal\"", "only a statement has it"),
        ("[\"data_nw_*\", \"data_rpm\"]", "[\"record_id\", \"data_rpm\"]", "not all of them are numbers"),
    ] {
        let file = place.root().join("means.toml");
        fs::write(&file, page.replace(of, by)).unwrap();
        let (code, _, err) = place.call(&["run", "-p", file.to_str().unwrap(), "-b", "sqlite"]);
        assert!(code == 2 && err.contains(says) && err.contains("means.toml"), "{by}: {code} {err}");
    }
    let one_device = page.replace("devices = 20", "devices = 1");
    let file = place.root().join("one.toml");
    fs::write(&file, one_device).unwrap();
    let (code, _, err) = place.call(&["run", "-p", file.to_str().unwrap(), "-b", "sqlite"]);
    assert!(code == 2 && err.contains("leave :device out"), "{code} {err}");
    fs::write(&file, &page).unwrap();
    let (code, _, err) = place.call(&["run", "-p", file.to_str().unwrap(), "-b", "sqlite", "--agents", "2"]);
    assert!(code == 2 && err.contains("agents"), "{code} {err}");
}
