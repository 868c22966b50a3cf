//! The same over HTTP.

use super::{FIRST_MS, FIRST_NS, Harm, TABLE, signals};
use crate::server::{
    client::{JSON, ask_clickhouse, exec, http},
    place::wait_for,
};
use serde_json::{Value, json};
use url::Url;

const FORM: &str = "application/x-www-form-urlencoded";

fn post_form(url: &Url, path: &str, body: &str) -> String {
    http(url, "POST", path, FORM, body)
}

fn ask_influxdb(url: &Url, statement: &str) -> Value {
    let form: String = url::form_urlencoded::Serializer::new(String::new())
        .append_pair("db", "iotbench")
        .append_pair("epoch", "ns")
        .append_pair("q", statement)
        .finish();
    serde_json::from_str(&post_form(url, "/query", &form)).unwrap()
}

/// The fields of the first datapoint as the line protocol has them, and the first field's name.
fn influxdb_fields(url: &Url) -> (String, String) {
    let found = ask_influxdb(url, &format!("SELECT * FROM {TABLE} WHERE device = '0' AND time = {FIRST_NS}"));
    let series = &found["results"][0]["series"][0];
    let columns = series["columns"].as_array().unwrap().iter().map(|c| c.as_str().unwrap());
    let row = series["values"][0].as_array().unwrap();
    let fields = columns.zip(row).filter(|(name, value)| value.is_number() && *name != "time");
    let fields: Vec<_> = fields.map(|(name, value)| (name.to_owned(), format!("{name}={value}"))).collect();
    let texts: Vec<_> = fields.iter().map(|(_, text)| text.clone()).collect();
    (texts.join(","), fields[0].0.clone())
}

pub fn influxdb(url: &Url, harm: Harm) {
    let (fields, first) = influxdb_fields(url);
    let delete = format!("DELETE FROM {TABLE} WHERE device = '0' AND time = {FIRST_NS}");
    let write = |fields: &str, time: i64| {
        post_form(url, "/write?db=iotbench", &format!("{TABLE},device=0 {fields} {time}\n"));
    };
    match harm {
        Harm::Value => write(&format!("{first}=1e6"), FIRST_NS),
        Harm::Row => drop(ask_influxdb(url, &delete)),
        Harm::Time => {
            ask_influxdb(url, &delete);
            write(&fields, FIRST_NS + 1);
        }
        Harm::Added => write(&fields, FIRST_NS + 1),
        Harm::Double => write(&fields, FIRST_NS),
    }
}

/// A statement becomes visible when the table's log is applied.
pub fn questdb(url: &Url, harm: Harm) {
    let where_ = format!("WHERE device = '0' AND ts = {FIRST_NS}");
    let columns = signals().join(", ");
    let insert = |time: &str| {
        format!("INSERT INTO {TABLE} (ts, device, {columns}) SELECT {time}, device, {columns} FROM {TABLE} {where_}")
    };
    exec(
        url,
        &match harm {
            Harm::Value => format!("UPDATE {TABLE} SET analog_01 = analog_01 + 1 {where_}"),
            Harm::Row => format!("ALTER TABLE {TABLE} DROP PARTITION WHERE ts >= {FIRST_NS}"),
            Harm::Time => unreachable!("the time of a row is fixed"),
            Harm::Double => insert("ts"),
            Harm::Added => insert("dateadd('n', 1, ts)"),
        },
    );
    let applied = format!("SELECT writerTxn = sequencerTxn FROM wal_tables() WHERE name = '{TABLE}'");
    wait_for("the log to be applied", || exec(url, &applied).contains("[[true]]"));
}

/// It deletes and changes rows by writing their parts anew. The time is part of the key, which cannot be changed.
pub fn clickhouse(url: &Url, harm: Harm) {
    let where_ = format!("WHERE device = 0 AND ts = {FIRST_NS}");
    let columns = signals().join(", ");
    let insert = |time: &str| {
        let select = format!("SELECT {time}, device, {columns} FROM {TABLE} {where_}");
        ask_clickhouse(url, &format!("INSERT INTO {TABLE} (ts, device, {columns}) {select}"));
    };
    let alter = |what: &str| {
        ask_clickhouse(url, &format!("ALTER TABLE {TABLE} {what} {where_}"));
        let done = format!("SELECT min(is_done) FROM system.mutations WHERE table = '{TABLE}'");
        wait_for("the parts to be written anew", || ask_clickhouse(url, &done).trim() == "1");
    };
    match harm {
        Harm::Value => alter("UPDATE analog_01 = analog_01 + 1"),
        Harm::Row => alter("DELETE"),
        Harm::Time => {
            insert("ts + 1");
            alter("DELETE");
        }
        Harm::Double => insert("ts"),
        Harm::Added => insert("ts + 1"),
    }
}

/// Each signal is a metric of its own, and a second value of a time replaces the first.
pub fn kairosdb(url: &Url, harm: Harm) {
    let first: Vec<_> = signals().iter().map(|signal| kairosdb_value(url, signal)).collect();
    let write = |values: &[(String, Value)], ms: i64| {
        let metric = |(name, value): &(String, Value)| {
            // As which they were written: beside a value of one type it would keep one of another.
            json!({"name": name, "type": "double", "timestamp": ms, "value": value, "tags": {"device": "0"}})
        };
        let body = Value::Array(values.iter().map(metric).collect());
        http(url, "POST", "/api/v1/datapoints", JSON, &body.to_string());
    };
    let delete = || {
        let metrics: Vec<_> = first.iter().map(|(name, _)| json!({"name": name, "tags": {"device": ["0"]}})).collect();
        let which = json!({"start_absolute": FIRST_MS, "end_absolute": FIRST_MS, "metrics": metrics});
        http(url, "POST", "/api/v1/datapoints/delete", JSON, &which.to_string());
    };
    match harm {
        Harm::Value => write(&[(first[0].0.clone(), json!(1e6))], FIRST_MS),
        Harm::Row => delete(),
        Harm::Time => {
            delete();
            write(&first, FIRST_MS + 1);
        }
        Harm::Added => write(&first, FIRST_MS + 1),
        Harm::Double => write(&first, FIRST_MS),
    }
}

/// The metric of a signal, and its value in the first datapoint.
fn kairosdb_value(url: &Url, signal: &str) -> (String, Value) {
    let name = format!("iotbench_{TABLE}.{signal}");
    let metric = json!({"name": name, "tags": {"device": ["0"]}});
    let question = json!({"start_absolute": FIRST_MS, "end_absolute": FIRST_MS, "metrics": [metric]});
    let answer = http(url, "POST", "/api/v1/datapoints/query", JSON, &question.to_string());
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let values = answer.pointer("/queries/0/results/0/values").and_then(Value::as_array);
    let [first] = values.unwrap().as_slice() else { panic!("{answer:#}") };
    (name, first[1].clone())
}

/// What is stored is never changed: somebody exports, deletes, and imports what he has changed.
pub fn victoriametrics(url: &Url, harm: Harm) {
    let which = format!("match[]={{__name__=~%22{TABLE}_.*%22,device=%220%22}}");
    http(url, "GET", "/internal/force_flush", JSON, "");
    let exported = http(url, "GET", &format!("/api/v1/export?{which}"), JSON, "");
    let series: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(series.len(), signals().len(), "{exported}");
    if matches!(harm, Harm::Value | Harm::Row | Harm::Time) {
        http(url, "POST", &format!("/api/v1/admin/tsdb/delete_series?{which}"), JSON, "");
    }
    let import: String = series.iter().map(|one| format!("{}\n", changed(one, harm))).collect();
    http(url, "POST", "/api/v1/import", JSON, &import);
    http(url, "GET", "/internal/force_flush", JSON, "");
}

/// What is imported of a series that was exported.
fn changed(series: &Value, harm: Harm) -> Value {
    let samples = |key: &str| series[key].as_array().unwrap().clone();
    let (mut values, mut times) = (samples("values"), samples("timestamps"));
    let first = times.iter().position(|time| *time == FIRST_MS).unwrap();
    match harm {
        Harm::Value if series["metric"]["__name__"] == format!("{TABLE}_analog_01") => values[first] = json!(1e6),
        Harm::Value => {}
        Harm::Row => drop((values.remove(first), times.remove(first))),
        Harm::Time => times[first] = json!(FIRST_MS + 1),
        Harm::Double => (values, times) = (vec![values[first].clone()], vec![json!(FIRST_MS)]),
        Harm::Added => (values, times) = (vec![values[first].clone()], vec![json!(FIRST_MS + 1)]),
    }
    json!({"metric": series["metric"], "values": values, "timestamps": times})
}
