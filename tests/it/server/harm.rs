//! A server of the user's keeps what is the user's, and loses what a killed run left.

use crate::server::{
    client::{JSON, ask_clickhouse, exec, http, say},
    on_a_server::arguments,
    place::{Place, known_servers, wait_for, wait_for_series},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use url::Url;

/// The user's database, and in it a table of the name that the run would use.
fn plant(backend: &str, server: &Url) -> Url {
    let mut mine = server.clone();
    match backend {
        "postgres" => {
            mine.set_path("/mine");
            say(backend, server, "CREATE DATABASE mine");
            say(
                backend,
                &mine,
                "CREATE TABLE iotbench_pmu_write (a text); INSERT INTO iotbench_pmu_write VALUES ('x')",
            );
        }
        "mariadb" => {
            mine.set_path("/mine");
            let table =
                "CREATE TABLE mine.iotbench_pmu_write (a TEXT); INSERT INTO mine.iotbench_pmu_write VALUES ('x')";
            say(backend, server, &format!("CREATE DATABASE mine; {table}"));
        }
        "mongodb" => {
            mine.set_path("/mine");
            say(backend, &mine, r#"{"insert": "iotbench_pmu_write", "documents": [{"_id": 1, "a": "x"}]}"#);
        }
        "kairosdb" => {
            let point = r#"[{"name": "iotbench_iotbench_pmu_write.a", "timestamp": 1000, "value": 120, "tags": {"whose": "x"}}]"#;
            http(server, "POST", "/api/v1/datapoints", JSON, point);
            wait_for("the datapoint to be stored", || contents(backend, server).contains("120"));
        }
        "questdb" => {
            exec(server, "CREATE TABLE iotbench_pmu_write (a STRING)");
            exec(server, "INSERT INTO iotbench_pmu_write VALUES ('x')");
            wait_for("the row to be visible", || contents(backend, server).contains("\"x\""));
        }
        "clickhouse" => {
            ask_clickhouse(server, "CREATE TABLE iotbench_pmu_write (a String) ENGINE = TinyLog");
            ask_clickhouse(server, "INSERT INTO iotbench_pmu_write VALUES ('x')");
        }
        "victoriametrics" => {
            http(
                server,
                "POST",
                "/write?db=iotbench",
                "text/plain",
                "iotbench_pmu_write analog_01=120 1700000000000000000",
            );
        }
        _ => {
            mine.query_pairs_mut().append_pair("db", "mine");
            say(backend, server, "CREATE DATABASE mine");
            say(backend, &mine, "INSERT iotbench_pmu_write a=\"x\" 1");
        }
    }
    mine
}

/// What the user's database holds.
fn contents(backend: &str, mine: &Url) -> String {
    match backend {
        "postgres" => {
            let tables = "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', \
                          'information_schema') ORDER BY 1, 2";
            say(backend, mine, tables) + &say(backend, mine, "SELECT * FROM iotbench_pmu_write")
        }
        "mariadb" => say(backend, mine, "SHOW TABLES FROM mine; SELECT * FROM mine.iotbench_pmu_write"),
        "mongodb" => {
            say(backend, mine, r#"{"listCollections": 1}"#)
                + &say(backend, mine, r#"{"find": "iotbench_pmu_write", "filter": {}}"#)
        }
        "kairosdb" => {
            let all = r#"{"start_absolute": 1, "metrics": [{"name": "iotbench_iotbench_pmu_write.a"}]}"#;
            let names = http(mine, "GET", "/api/v1/metricnames?prefix=iotbench_iotbench", JSON, "");
            names + &http(mine, "POST", "/api/v1/datapoints/query", JSON, all)
        }
        "questdb" => exec(mine, "SELECT table_name FROM tables()") + &exec(mine, "SELECT * FROM iotbench_pmu_write"),
        "clickhouse" => ask_clickhouse(mine, "SHOW TABLES") + &ask_clickhouse(mine, "SELECT * FROM iotbench_pmu_write"),
        "victoriametrics" => {
            http(mine, "GET", "/internal/force_flush", JSON, "");
            http(mine, "GET", "/api/v1/export?match[]={__name__=~%22iotbench_pmu_write.*%22}", JSON, "")
        }
        _ => say(backend, mine, "SHOW MEASUREMENTS; SELECT * FROM iotbench_pmu_write"),
    }
}

/// Drops what a run writes to, as somebody would by hand.
fn drop_table(backend: &str, server: &Url) {
    match backend {
        "kairosdb" => {
            http(server, "DELETE", "/api/v1/metric/iotbench_marker.iotbench_pmu_write", JSON, "");
        }
        "questdb" => {
            exec(server, "DROP TABLE iotbench_pmu_write");
        }
        "clickhouse" => {
            ask_clickhouse(server, "DROP TABLE iotbench_pmu_write");
        }
        "victoriametrics" => {
            let all = "/api/v1/admin/tsdb/delete_series?match[]={__name__=~%22iotbench_.*%22}";
            http(server, "POST", all, JSON, "");
        }
        "mariadb" => drop(say(backend, server, "DROP TABLE iotbench.iotbench_pmu_write")),
        "postgres" => {
            let mut ours = server.clone();
            ours.set_path("/iotbench");
            say(backend, &ours, "DROP TABLE iotbench_pmu_write");
        }
        "mongodb" => drop(say(backend, server, r#"{"drop": "iotbench_pmu_write"}"#)),
        _ => drop(say(backend, server, "DROP MEASUREMENT iotbench_pmu_write")),
    }
}

/// What the next write makes anew where it needs no table: it is nobody's whom we know.
fn made_anew(backend: &str, server: &Url) -> Option<String> {
    match backend {
        "influxdb" => Some(say(backend, server, "SELECT * FROM iotbench_pmu_write")),
        "questdb" => Some(exec(server, "SELECT count() FROM iotbench_pmu_write")),
        _ => None,
    }
}

#[test]
fn a_users_table_of_our_name_is_refused_and_stays_as_it_was() {
    for backend in known_servers() {
        let place = Place::new();
        let server: Url = place.started(&["server", "start", backend]).trim().parse().unwrap();
        let mine = plant(backend, &server);
        let before = contents(backend, &mine);
        assert!(before.contains("iotbench_pmu_write") && (before.contains('x') || before.contains("120")), "{before}");
        let out = place.results();
        let out = out.to_str().unwrap();
        let run =
            ["run", "-p", "pmu_write", "--vus", "2", "-d", "1s", "-b", backend, "--url", mine.as_str(), "--out", out];
        let (code, text, err) = place.call(&run);
        assert_eq!(code, 31, "{backend}: {err}");
        // InfluxDB's whole database is refused, the others' table.
        let is_table = ["table", "collection", "series", "metrics"].iter().any(|object| text.contains(object));
        let named = is_table && text.contains("iotbench_pmu_write") || text.contains("database mine");
        assert!(named && text.contains("marker"), "{backend}: {text}");
        place.out(&["clean", "--backend", backend, "--url", mine.as_str()]);
        assert_eq!(contents(backend, &mine), before, "{backend}");
        place.out(&["server", "stop", backend]);
    }
}

#[test]
fn what_a_killed_run_left_is_found_and_dropped() {
    for backend in known_servers() {
        let place = Place::new();
        let address = place.started(&["server", "start", backend]);
        let address = address.trim();
        let out = place.results();
        let load = ["run", "-p", "pmu_write", "--vus", "2", "-d", "1h", "--warmup", "0", "-b", backend];
        let arguments = [&load[..], &["--url", address, "--out", out.to_str().unwrap()]].concat();
        let mut run = place.iotbench(&arguments).spawn().unwrap();
        wait_for_series(&place);
        kill_process(Pid::from_child(&run), Signal::KILL).unwrap();
        run.wait().unwrap();
        let list = place.out(&["clean", "--backend", backend, "--url", address, "--dry-run"]);
        assert!(list.contains("iotbench_pmu_write, of run "), "{backend}: {list}");
        let dropped = place.out(&["clean", "--backend", backend, "--url", address]);
        assert!(dropped.contains("dropped iotbench_pmu_write"), "{backend}: {dropped}");
        assert_eq!(place.out(&["clean", "--backend", backend, "--url", address]), "", "{backend}");
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

#[test]
fn a_table_that_is_dropped_during_a_run_is_told_and_what_takes_its_place_stays() {
    for backend in known_servers() {
        let place = Place::new();
        let url: Url = place.started(&["server", "start", backend]).trim().parse().unwrap();
        let results = place.results();
        let load = ["--vus", "4", "--set", "think_time=100ms", "-d", "4s"];
        let target = ["--url", url.as_str(), "--out", results.to_str().unwrap()];
        let run = place.iotbench(&arguments(backend, &[&load[..], &target].concat())).spawn().unwrap();
        wait_for_series(&place);
        drop_table(backend, &url);
        let output = run.wait_with_output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let reasons = document["verdict"]["reasons"].to_string();
        assert_eq!(document["verdict"]["status"], "failed", "{backend}: {reasons}");
        let (code, words) = match backend {
            "influxdb" => (31, "came back"),
            "mongodb" => (24, "somebody dropped it"),
            "kairosdb" => (24, "somebody deleted it"),
            "questdb" => (31, "somebody dropped it"),
            "clickhouse" => (24, "somebody dropped it"),
            _ => (24, "iotbench_pmu_write"),
        };
        assert_eq!(output.status.code(), Some(code), "{backend}: {reasons}");
        assert!(reasons.contains(words), "{backend}: {reasons}");
        if let Some(before) = made_anew(backend, &url) {
            assert!(!before.is_empty());
            assert_eq!(place.out(&["clean", "--backend", backend, "--url", url.as_str()]), "");
            assert_eq!(made_anew(backend, &url), Some(before), "{backend}");
        }
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}
