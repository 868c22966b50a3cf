//! What somebody changes in a history that an earlier run left is found, and an index that is gone shows.

use crate::{
    client::http,
    place::{Place, SERVERS, is_here},
};
use mongodb::{
    Client,
    bson::{DateTime, Document, doc},
};
use serde_json::Value;
use sqlx::{Connection, Executor, MySqlConnection, PgConnection};
use std::{
    fs,
    io::{BufRead, BufReader},
};
use url::Url;

/// Each read asks for all that a device has.
const PROFILE: &str = r#"
name = "tampered"
summary = "every read asks for all records of a device"
devices = 2
layout = "wide"
[dataset]
name = "pmu"
rate = 50
[[groups]]
name = "readers"
load = { model = "closed", users = 2 }
operations = [{ kind = "read_device" }]
[phases]
preload = 40
operations = 20
duration = "1m"
"#;
const TABLE: &str = "iotbench_tampered";
/// Analogue signals of a datapoint.
const ANALOGS: usize = 14;
/// The time of the first datapoint.
const FIRST_NS: i64 = iotbench::simulator::DEFAULT_ORIGIN_NS;

/// What is done to the first datapoint of the first device, in the time unit and the language of each database.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Value,
    Row,
    Time,
    /// The same again, where the database can hold it.
    Double,
    /// Another one, a nanosecond later.
    Added,
}

fn profile(place: &Place) -> String {
    let file = place.root().join("tampered.toml");
    fs::write(&file, PROFILE).unwrap();
    file.to_str().unwrap().to_owned()
}

/// A run on what an earlier one left, which leaves it again: exit code, document, what was said.
fn run(place: &Place, profile: &str, url: &str, backend: &str) -> (i32, Value, String) {
    let out = place.results();
    let read = ["run", "-p", profile, "-b", word(backend), "--url", url, "--keep", "--warmup", "0", "--verify", "full"];
    let (code, out, err) =
        place.call(&[&read[..], &["--output-format", "json", "--out", out.to_str().unwrap()]].concat());
    (code, serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}")), err)
}

/// A time series of MongoDB can be changed by its device alone: there it is documents.
fn word(backend: &str) -> &str {
    if backend == "mongodb" { "mongodb:document" } else { backend }
}

async fn documents(url: &Url, harm: Harm) {
    let client = Client::with_uri_str(url.as_str()).await.unwrap();
    let table = client.database("iotbench").collection::<Document>(TABLE);
    let first = doc! { "device": 0, "time": DateTime::from_millis(FIRST_NS / 1_000_000) };
    let changed = match harm {
        Harm::Double | Harm::Added => {
            let mut found = table.find_one(first).await.unwrap().unwrap();
            found.remove("_id");
            if matches!(harm, Harm::Added) {
                let ns = found.get("ns").and_then(|ns| ns.as_i32().map(i64::from).or(ns.as_i64())).unwrap();
                found.insert("ns", i32::try_from(ns + 1).unwrap());
            }
            table.insert_one(found).await.unwrap();
            1
        }
        Harm::Value => table.update_one(first, doc! { "$inc": { "analog_01": 1.0 } }).await.unwrap().modified_count,
        Harm::Time => table.update_one(first, doc! { "$inc": { "ns": 1 } }).await.unwrap().modified_count,
        Harm::Row => table.delete_one(first).await.unwrap().deleted_count,
    };
    assert_eq!(changed, 1, "{harm:?}");
}

async fn sql(backend: &str, url: &Url, statement: &str) {
    let mut url = url.clone();
    url.set_path("/iotbench");
    let changed = match backend {
        "mariadb" => {
            let mut connection = MySqlConnection::connect(url.as_str()).await.unwrap();
            connection.execute(statement).await.unwrap().rows_affected()
        }
        _ => {
            let mut connection = PgConnection::connect(url.as_str()).await.unwrap();
            connection.execute(statement).await.unwrap().rows_affected()
        }
    };
    assert!(changed == 1 || statement.contains("INDEX"), "{statement}: {changed} rows");
}

const FORM: &str = "application/x-www-form-urlencoded";

fn influx(url: &Url, path: &str, body: &str) -> String {
    http(url, "POST", path, FORM, body)
}

fn influx_query(url: &Url, statement: &str) -> Value {
    let form: String = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("db", "iotbench")
        .append_pair("epoch", "ns")
        .append_pair("q", statement)
        .finish();
    serde_json::from_str(&influx(url, "/query", &form)).unwrap()
}

/// The fields of the first datapoint as the line protocol has them, and the first field's name.
fn influx_fields(url: &Url) -> (String, String) {
    let found = influx_query(url, &format!("SELECT * FROM {TABLE} WHERE device = '0' AND time = {FIRST_NS}"));
    let series = &found["results"][0]["series"][0];
    let columns = series["columns"].as_array().unwrap().iter().map(|c| c.as_str().unwrap());
    let row = series["values"][0].as_array().unwrap();
    let fields = columns.zip(row).filter(|(name, value)| value.is_number() && *name != "time");
    let fields: Vec<_> = fields.map(|(name, value)| (name.to_owned(), format!("{name}={value}"))).collect();
    let texts: Vec<_> = fields.iter().map(|(_, text)| text.clone()).collect();
    (texts.join(","), fields[0].0.clone())
}

async fn harm(backend: &str, url: &Url, harm: Harm) {
    if backend == "mongodb" {
        return documents(url, harm).await;
    }
    if backend == "influxdb" {
        let (fields, first) = influx_fields(url);
        let delete = format!("DELETE FROM {TABLE} WHERE device = '0' AND time = {FIRST_NS}");
        let write = |fields: &str, time: i64| {
            influx(url, "/write?db=iotbench", &format!("{TABLE},device=0 {fields} {time}\n"));
        };
        match harm {
            Harm::Value => write(&format!("{first}=1e6"), FIRST_NS),
            Harm::Row => drop(influx_query(url, &delete)),
            Harm::Time => {
                influx_query(url, &delete);
                write(&fields, FIRST_NS + 1);
            }
            Harm::Added => write(&fields, FIRST_NS + 1),
            // It replaces the first: there is none to be held.
            Harm::Double => write(&fields, FIRST_NS),
        }
        return;
    }
    let where_ = format!("WHERE device = 0 AND ts = {FIRST_NS}");
    let statement = match harm {
        Harm::Value => format!("UPDATE {TABLE} SET analog_01 = analog_01 + 1 {where_}"),
        Harm::Row => format!("DELETE FROM {TABLE} {where_}"),
        Harm::Time => format!("UPDATE {TABLE} SET ts = ts + 1 {where_}"),
        Harm::Double => format!("INSERT INTO {TABLE} SELECT * FROM {TABLE} {where_}"),
        Harm::Added => {
            let columns: Vec<String> =
                (1..=ANALOGS).map(|i| format!("analog_{i:02}")).chain(["digital".into()]).collect();
            let columns = columns.join(", ");
            format!(
                "INSERT INTO {TABLE} (ts, device, {columns}) SELECT ts + 1, device, {columns} FROM {TABLE} {where_}"
            )
        }
    };
    sql(backend, url, &statement).await;
}

#[tokio::test]
async fn what_was_changed_in_a_kept_history_is_found() {
    for backend in SERVERS.into_iter().filter(|name| is_here(name)) {
        let place = Place::new();
        let profile = profile(&place);
        let url = place.out(&["server", "start", backend]).trim().to_owned();
        for tampering in [Harm::Value, Harm::Row, Harm::Time] {
            let (code, document, err) = run(&place, &profile, &url, backend);
            assert_eq!(code, 0, "{backend}: {:#} {err}", document["verdict"]);
            harm(backend, &url.parse().unwrap(), tampering).await;
            let (code, document, _) = run(&place, &profile, &url, backend);
            let what = format!("{backend} {tampering:?}: {:#} {:#}", document["verdict"], document["answers"]);
            assert_eq!(code, 12, "{what}");
            assert!(document["answers"]["wrong"].as_u64() > Some(0), "{what}");
            let first = document["answers"]["examples"][0].as_str().unwrap();
            assert!(first.contains("Range") && (first.contains("should be") || first.contains("there are")), "{what}");
            assert!(document["verdict"]["reasons"].to_string().contains("answers compared are wrong"), "{what}");
            let remarks = document["remarks"].to_string();
            assert_eq!(
                remarks.contains("was changed since: 79 datapoints"),
                matches!(tampering, Harm::Row),
                "{remarks}"
            );
            // A run without --keep drops it, as it says; the next one writes it anew.
            let out = place.results();
            place.call(&["run", "-p", &profile, "-b", word(backend), "--url", &url, "--out", out.to_str().unwrap()]);
        }
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

/// What a killed run left half written is no tampering: the next run says so, and writes the history anew.
#[tokio::test]
async fn a_history_that_was_not_written_whole_is_written_anew() {
    for backend in SERVERS.into_iter().filter(|name| is_here(name)) {
        let place = Place::new();
        let profile = profile(&place);
        let url = place.out(&["server", "start", backend]).trim().to_owned();
        let out = place.results();
        let read =
            ["run", "-p", &profile, "-b", word(backend), "--url", &url, "--keep", "--out", out.to_str().unwrap()];
        let long = ["--set", "preload=60k", "--operations", "1", "--output-format", "json"];
        let mut child = place.iotbench(&[&read[..], &long].concat()).spawn().unwrap();
        let said = BufReader::new(child.stderr.take().unwrap());
        assert!(said.lines().map(Result::unwrap).any(|line| line.starts_with("preload")));
        child.kill().unwrap();
        child.wait().unwrap();
        let document: Value = serde_json::from_str(&place.out(&[&read[..], &long].concat())).unwrap();
        let remarks = document["remarks"].to_string();
        assert!(remarks.contains("ended before its history was whole"), "{backend}: {remarks}");
        let document: Value = serde_json::from_str(&place.out(&[&read[..], &long].concat())).unwrap();
        assert!(document["remarks"].to_string().contains("that of an earlier run"), "{backend}: {document:#}");
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

/// The shortest read of a few records by the index, against the shortest without it.
#[tokio::test]
async fn an_index_that_is_gone_shows_in_the_figures() {
    for (backend, index) in [
        ("mariadb", "DROP INDEX iotbench_machine_read_time ON iotbench_machine_read"),
        ("postgres", "DROP INDEX iotbench_machine_read_time"),
    ] {
        if !is_here(backend) {
            continue;
        }
        let place = Place::new();
        let url = place.out(&["server", "start", backend]).trim().to_owned();
        let out = place.results();
        let read = ["run", "-p", "machine_read", "--strategy", "bulk", "-b", word(backend), "--url", &url, "--keep"];
        let short = [
            "--warmup",
            "0",
            "--arrival",
            "closed",
            "--operations",
            "20",
            "--output-format",
            "json",
            "--out",
            out.to_str().unwrap(),
        ];
        let least_us = || {
            let (_, out, err) = place.call(&[&read[..], &short].concat());
            let document: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
            let shortest = document["latency"]["by_operation"]["service"]["min"].as_f64();
            (shortest.unwrap_or_else(|| panic!("{backend}: {document:#}")), document)
        };
        least_us();
        let (with, _) = least_us();
        sql(backend, &url.parse().unwrap(), index).await;
        let (without, document) = least_us();
        assert!(document["remarks"].to_string().contains("that of an earlier run"), "{document:#}");
        assert!(without > 2.0 * with, "{backend}: at least {with} µs with the index, {without} µs without");
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}

/// A run that is over is read back: untouched it is clean, and what was done to it is named and nothing else.
#[tokio::test]
async fn what_was_done_to_a_run_is_named_by_verify() {
    for backend in SERVERS.into_iter().filter(|name| is_here(name)) {
        let place = Place::new();
        let profile = profile(&place);
        let url = place.out(&["server", "start", backend]).trim().to_owned();
        for (tampering, kinds) in [
            (Harm::Value, &["corrupt"][..]),
            (Harm::Row, &["lost"]),
            (Harm::Time, &["lost", "alien"]),
            (Harm::Added, &["alien"]),
            (Harm::Double, if backend == "influxdb" { &[] } else { &["duplicate"] }),
        ] {
            let (code, document, err) = run(&place, &profile, &url, backend);
            assert_eq!(code, 0, "{backend}: {:#} {err}", document["verdict"]);
            let folder = place.results().join(document["run_id"].as_str().unwrap());
            let verify = || {
                let (code, out, err) =
                    place.call(&["verify", folder.to_str().unwrap(), "--url", &url, "--full", "--json"]);
                let found: Value = serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: {err}"));
                (code, found)
            };
            let (code, found) = verify();
            assert_eq!((code, &found["audit"]["right"]), (0, &80.into()), "{backend} untouched: {found:#}");
            harm(backend, &url.parse().unwrap(), tampering).await;
            let (code, found) = verify();
            let what = format!("{backend} {tampering:?}: {found:#}");
            assert_eq!(code, if kinds.is_empty() { 0 } else { 12 }, "{what}");
            for kind in ["lost", "duplicate", "corrupt", "alien"] {
                let count = found["audit"][kind].as_u64().unwrap_or(0);
                assert_eq!(count, u64::from(kinds.contains(&kind)), "{what}");
            }
            let examples = found["audit"]["examples"].as_array().unwrap();
            assert_eq!(examples.len(), kinds.len(), "{what}");
            assert!(
                examples.iter().all(|e| e["device"] == 0 && kinds.contains(&e["kind"].as_str().unwrap())),
                "{what}"
            );
            // The next one writes it anew.
            let out = place.results();
            place.call(&["run", "-p", &profile, "-b", word(backend), "--url", &url, "--out", out.to_str().unwrap()]);
        }
        place.out(&["server", "stop", backend]);
        place.assert_nothing_is_left();
    }
}
