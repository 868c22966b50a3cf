//! Statements that change the run's table: what they change is told, and nothing is claimed of what they leave.

use super::{is_there, profiles_of_the_page, run};
use crate::server::place::Place;
use rusqlite::Connection;

const WRITERS: [&str; 5] = ["sqlite", "postgres", "mariadb", "mysql", "mongodb"];

fn of_the_page() -> String {
    let [_, writes] = profiles_of_the_page();
    writes
}

/// Another statement, of whose effect nothing is expected, beside users that write datapoints and read.
fn among_others(statement: &str) -> String {
    let page = of_the_page().replace("expect = { rows = 300 }", "");
    let (before, rest) = page.split_once("[groups.operations.statement]").unwrap();
    let (_, phases) = rest.split_once("[phases]").unwrap();
    format!(
        "{before}statement = \"{statement}\"\n\
         [[groups]]\nname = \"sensors\"\nload = {{ model = \"open\", rate = 20 }}\noperations = [{{ kind = \"write\" }}]\n\
         [[groups]]\nname = \"charts\"\nload = {{ model = \"closed\", users = 1, think_time = \"50ms\" }}\n\
         operations = [{{ kind = \"figures\", window = \"5m\" }}]\n[phases]{phases}"
    )
}

#[test]
fn what_the_page_changes_is_told_and_nothing_is_claimed_of_what_is_stored() {
    for backend in WRITERS.into_iter().filter(is_there) {
        let place = Place::new();
        let ended = run(&place, backend, &of_the_page(), &[]);
        let answers = &ended.document["answers"];
        ended.assert_sound(&format!("{backend}: {answers:#}"));
        let told = ["right", "wrong", "changes", "rows_changed"].map(|key| answers[key].as_u64());
        assert_eq!(told, [Some(60), Some(0), Some(60), Some(60 * 300)], "{backend}: {answers:#}");
        assert!(answers["first_rows_us"].is_null(), "{backend}: what is changed has no first row: {answers:#}");
        assert!(ended.document["points"]["stored"].is_null() && ended.document["audit"].is_null(), "{backend}");
        assert!(ended.document["storage"]["bytes_per_point"].is_null(), "{backend}");
        let throughput = &ended.document["throughput"];
        assert!(throughput["bytes_per_s"].as_f64() > Some(0.0), "{backend}: {throughput:#}");
        assert!(ended.document.to_string().contains("change what is stored: it is not held against"), "{backend}");
        place.assert_nothing_is_left();
    }
}

/// Rows vanish, or come, while others write and read: that is no fault of the database, and no proof of anything.
#[test]
fn what_statements_remove_or_add_is_no_loss_and_no_excess() {
    for statement in [
        "DELETE FROM :table WHERE device = :device AND ts >= :from AND ts < :to",
        "INSERT INTO :table (ts, device, :signal) VALUES (:from + 7, :device, 1)",
    ] {
        let place = Place::new();
        let ended = run(&place, "sqlite", &among_others(statement), &["--keep"]);
        let answers = &ended.document["answers"];
        ended.assert_sound(&format!("{statement}: {} {answers:#}", ended.reasons()));
        assert!(answers["changes"].as_u64() > Some(0) && answers["wrong"] == 0, "{statement}: {answers:#}");
        assert!(ended.document["points"]["stored"].is_null(), "{statement}");
        assert!(ended.count("/points/acked") > 0, "{statement}");
        let folder = place.results().join(ended.document["run_id"].as_str().unwrap());
        let (code, _, err) = place.call(&["verify", folder.to_str().unwrap()]);
        assert!(code != 0 && err.contains("its statements changed what it wrote"), "{statement}: {code}: {err}");
    }
}

#[test]
fn another_number_of_changed_rows_than_expected_is_wrong() {
    let place = Place::new();
    let ended = run(&place, "sqlite", &of_the_page().replace("rows = 300", "rows = 299"), &[]);
    assert_eq!((ended.code, ended.count("/answers/wrong")), (12, 60), "{} {}", ended.reasons(), ended.err);
}

/// What lies in the same file is not the run's.
#[test]
fn a_users_own_table_is_left_as_it_is() {
    let place = Place::new();
    let path = place.root().join("mine.sqlite");
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE users (a); INSERT INTO users VALUES (42)").unwrap();
    let url = format!("sqlite:{}", path.display());
    let ended = run(&place, "sqlite", &of_the_page(), &["--url", &url]);
    ended.assert_sound("beside a table of a user's own");
    assert_eq!(theirs.query_row("SELECT a FROM users", [], |row| row.get::<_, i64>(0)).unwrap(), 42);
}
