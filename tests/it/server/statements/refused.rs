//! What is no statement, or none that is taken: refused before anything is made, with the key.

use super::{of_the_page, with_query, with_statement};
use crate::server::place::Place;
use std::fs;

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
}

/// A profile with such an operation is refused: the message names file, line and key.
#[track_caller]
pub(super) fn assert_refused(place: &Place, backend: &str, profile: &str, key: &str, says: &str) {
    let file = place.root().join("means.toml");
    fs::write(&file, profile).unwrap();
    let (code, _, err) = place.call(&["run", "-p", file.to_str().unwrap(), "-b", backend]);
    let line = profile.lines().position(|line| line.trim_start().starts_with(key)).map_or(0, |line| line + 1);
    let at = format!("means.toml:{line}:");
    let key = format!("groups.0.operations.0.{key}");
    assert!(code == 2 && [says, &at, &key].iter().all(|word| err.contains(word)), "{backend} {profile}: {code} {err}");
}

#[test]
fn commands_and_queries_are_refused_with_what_to_write() {
    let place = Place::new();
    for (backend, statement, says) in [
        ("mongodb", "SELECT 1", "it is no JSON"),
        ("mongodb", r#"[{"$match": {"device": ":dev"}}]"#, "there is no parameter :dev"),
        ("mongodb", r#"[{"$match": {}}, {"$out": "users"}]"#, "$out runs a program on the server or stores elsewhere"),
        ("mongodb", r#"[{"$lookup": {"from": "users", "as": "a"}}]"#, "another collection than the run's"),
        ("mongodb", r#"{"find": "users"}"#, "another collection than the run's"),
        ("mongodb", r#"{"delete": ":table", "deletes": []}"#, "it is taken with `writes = true`"),
    ] {
        assert_refused(&place, backend, &with_statement(statement, ""), "statement", says);
    }
    for (query, says) in [
        ("avg_over_time(:signal[:until])", "there is no parameter :until"),
        ("avg_over_time(:signal[:window]", "a parenthesis has no end"),
    ] {
        assert_refused(&place, "victoriametrics", &with_query(query, ""), "statement", says);
    }
    let figure = "expect = { figure = \"mean\" }";
    let back = with_query("avg_over_time(:signal{device=:device}[5m])", figure);
    assert_refused(&place, "victoriametrics", &back, "statement", "what :window stands for");
    let course = with_query("avg_over_time(:signal{device=:device}[:window])", &format!("{figure}\nwidth = \"1m\""));
    assert_refused(&place, "victoriametrics", &course, "width", "a range query has many figures");
    let sql = with_statement("SELECT 1", "width = \"1m\"");
    assert_refused(&place, "sqlite", &sql, "width", "only a range query of MetricsQL goes by it");
}

#[test]
fn what_may_touch_more_than_the_runs_table_is_refused_before_anything_is_made() {
    let place = Place::new();
    let (writes, no_change) = ("writes = true", "does not begin a statement that changes the run's table");
    for (backend, statement, says) in [
        ("sqlite", "DROP TABLE :table", no_change),
        ("sqlite", "DELETE FROM users", no_change),
        ("sqlite", "SELECT 1", no_change),
        ("postgres", "REFRESH MATERIALIZED VIEW sums", no_change),
        ("postgres", "WITH gone AS (DELETE FROM users) DELETE FROM :table", no_change),
        ("postgres", "DELETE FROM :table USING users", "USING stands in it"),
        ("postgres", "DELETE FROM :table WHERE pg_terminate_backend(1)", "not among the functions"),
        ("postgres", "INSERT INTO :table SELECT * FROM other.users", "after FROM stands something else"),
        ("postgres", "DELETE FROM :table; DROP TABLE users", "a semicolon ends a statement"),
        ("postgres", "DELETE FROM :table -- all of it", "a comment ends elsewhere"),
        ("mariadb", "UPDATE :table, users SET users.a = 1", "a comma in a list of tables"),
        ("mysql", "DELETE FROM :table WHERE a = `b`", "is read differently by databases"),
        ("mongodb", r#"{"delete": "users", "deletes": []}"#, "another collection than the run's"),
        ("mongodb", r#"{"drop": ":table"}"#, "it begins with"),
        ("mongodb", r#"{"update": ":table", "updates": [{"q": {"$where": "1"}}]}"#, "$where runs a program"),
    ] {
        assert_refused(&place, backend, &with_statement(statement, writes), "statement", says);
    }
    let changing = with_statement("DELETE FROM :table", writes);
    for (backend, changing) in
        [("questdb", &changing), ("influxdb", &changing), ("victoriametrics", &with_query("x", writes))]
    {
        assert_refused(&place, backend, changing, "writes", "takes only statements that read");
    }
    let figure = with_statement("DELETE FROM :table", "writes = true\nexpect = { figure = \"mean\" }");
    assert_refused(&place, "sqlite", &figure, "expect", "what is changed has no figure");
    let other_kind = with_statement("x", writes).replace("kind = \"statement\"", "kind = \"read_signal\"");
    let other_kind = other_kind.replace("statement = '''x'''", "");
    assert_refused(&place, "sqlite", &other_kind, "writes", "only a statement has it");
    let both = changing.replace("[phases]", "[[groups.operations]]\nkind = \"read_latest\"\n[phases]");
    let file = place.root().join("both.toml");
    fs::write(&file, both).unwrap();
    let (code, _, err) = place.call(&["run", "-p", file.to_str().unwrap(), "-b", "sqlite"]);
    assert!(code == 2 && err.contains("put them into a group of their own"), "{code} {err}");
}
