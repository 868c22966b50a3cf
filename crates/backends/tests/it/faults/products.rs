//! The products as far as the matrix needs them: which requests they answer how.

use iotbench_core::{Applied, Layout};
use iotbench_oracle_server::http::{Answer, Endpoint};
use serde_json::json;

/// A backend that speaks HTTP, and its server.
#[derive(Clone, Debug)]
pub struct Product {
    pub name: &'static str,
    /// Settings of the backend.
    pub settings: fn() -> serde_json::Value,
    /// What it is asked before a batch is written or a question asked.
    before: fn() -> Vec<Endpoint>,
    /// Where batches and questions go.
    programmed: fn() -> Vec<Endpoint>,
    /// How it says that it stored part of a batch of three datapoints, and what of it is known.
    pub partial: (&'static str, &'static str, fn() -> Applied),
    /// What is known of a batch that it answers with 503.
    pub busy: Applied,
    /// What is sent for ever as a sound answer's beginning without an end of what must be held together.
    pub endless: &'static str,
}

pub const LAYOUT: Layout = Layout::Wide;

impl Product {
    pub fn endpoints(&self) -> Vec<Endpoint> {
        let mut endpoints = (self.before)();
        endpoints.extend((self.programmed)());
        endpoints
    }
}

fn ok(body: &str) -> Answer {
    Answer::new("200 OK", "", body)
}

fn no_content() -> Answer {
    Answer::new("204 No Content", "", "")
}

fn nothing() -> Vec<Endpoint> {
    Vec::new()
}

fn plain() -> serde_json::Value {
    json!({})
}

fn maybe() -> Applied {
    Applied::Maybe
}

pub const INFLUXDB: Product = Product {
    name: "influxdb",
    settings: plain,
    before: || vec![Endpoint::at_once("GET /ping", no_content())],
    programmed: || {
        vec![
            Endpoint::lines("POST /write?", no_content()),
            Endpoint::each("POST /query", "q=", ok("{\"results\":[{\"statement_id\":0}]}\n")),
        ]
    },
    partial: ("400 Bad Request", r#"{"error":"partial write: field type conflict dropped=1"}"#, maybe),
    busy: Applied::No,
    endless: "[",
};

pub const INFLUXDB2: Product = Product {
    name: "influxdb2",
    settings: || json!({"language": "flux"}),
    before: nothing,
    programmed: || {
        vec![
            Endpoint::lines("POST /api/v2/write?", no_content()),
            Endpoint::each("POST /api/v2/query?", "\"query\"", ok("")),
        ]
    },
    partial: ("422 Unprocessable", r#"{"code":"unprocessable entity","message":"dropped=1"}"#, maybe),
    busy: Applied::No,
    endless: ",",
};

pub const KAIROSDB: Product = Product {
    name: "kairosdb",
    settings: plain,
    before: nothing,
    programmed: || {
        vec![
            Endpoint::each("POST /api/v1/datapoints/query", "\"name\"", ok(r#"{"queries":[]}"#)),
            Endpoint::each("POST /api/v1/datapoints ", "\"name\"", no_content()),
        ]
    },
    partial: ("400 Bad Request", r#"{"errors":["metric[1](name=m).value may not be empty."]}"#, maybe),
    busy: Applied::Maybe,
    endless: "[",
};

pub const OPENTSDB: Product = Product {
    name: "opentsdb",
    settings: plain,
    before: || {
        let config = r#"{"tsd.http.request.enable_chunked":"true","tsd.http.request.max_chunk":"1000000"}"#;
        vec![Endpoint::at_once("GET /api/config", ok(config))]
    },
    programmed: || {
        let account = ok(r#"{"success":{points},"failed":0,"errors":[]}"#);
        vec![
            Endpoint::each("POST /api/put?", "\"metric\"", account),
            Endpoint::each("POST /api/query?", "\"metric\"", ok("[]")),
        ]
    },
    // The middle datapoint, with both its values.
    partial: (
        "400 Bad Request",
        r#"{"success":4,"failed":2,"errors":[
            {"datapoint":{"metric":"iotbench_readings.a","timestamp":1700000000001,"value":"1","tags":{"device":"1"}},
             "error":"Unable to parse value to a number"},
            {"datapoint":{"metric":"iotbench_readings.b","timestamp":1700000000001,"value":"1","tags":{"device":"1"}},
             "error":"Unable to parse value to a number"}]}"#,
        || Applied::Rows(vec![0, 2]),
    ),
    busy: Applied::Maybe,
    endless: "[",
};

pub const QUESTDB: Product = Product {
    name: "questdb",
    settings: plain,
    before: nothing,
    programmed: || {
        vec![
            Endpoint::lines("POST /write?", no_content()),
            Endpoint::each("GET /exec?", "query", ok(r#"{"dataset":[],"count":0}"#)),
        ]
    },
    // It stores all lines or none.
    partial: ("400 Bad Request", r#"{"code":"invalid","message":"error in line 2"}"#, || Applied::No),
    busy: Applied::No,
    endless: "[",
};

pub const CLICKHOUSE: Product = Product {
    name: "clickhouse",
    settings: plain,
    before: nothing,
    programmed: || {
        vec![
            // The second device, and the beginning of its first value.
            Endpoint::each("POST /?database=default&query=INSERT", "\u{1}\0\0\0\0\0\0\0\0\0", ok("")),
            Endpoint::each("POST /?database=default&default_format=JSONCompact", "", ok(r#"{"data":[],"rows":0}"#)),
        ]
    },
    // It stores all rows or none, and tells behind an answer's head what fails after it was sent.
    partial: ("200 OK", "Code: 27, e.displayText() = DB::Exception: Cannot parse input", || Applied::No),
    busy: Applied::No,
    endless: "[",
};

pub const VICTORIAMETRICS: Product = Product {
    name: "victoriametrics",
    settings: || json!({"gzip": false}),
    before: || {
        let marker = json!({
            "metric": {
                "__name__": "iotbench_marker", "db": "iotbench", "table": "readings", "run_id": "r", "fingerprint": "f",
                "series": "readings/r", "created_by": "iotbench 1",
            },
            "values": [1], "timestamps": [1],
        });
        vec![
            Endpoint::at_once("GET /health", ok("OK")),
            Endpoint::at_once("POST /internal/force_flush", ok("")),
            Endpoint::at_once("POST /api/v1/export", ok(&format!("{marker}\n"))).that_holds("iotbench%5Fmarker"),
        ]
    },
    programmed: || {
        vec![
            Endpoint::lines("POST /write?", no_content()),
            Endpoint::each("POST /api/v1/export", "match", ok("")),
            Endpoint::each("POST /api/v1/query", "query", ok(r#"{"data":{"result":[]}}"#)),
        ]
    },
    partial: ("400 Bad Request", "cannot parse line 2", maybe),
    busy: Applied::No,
    endless: "[",
};

pub const DATABUS: Product = Product {
    name: "databus",
    settings: plain,
    before: || {
        let mark = json!({
            "created_by": "iotbench 1", "table": "readings", "run_id": "r", "fingerprint": "f", "stem": "s",
            "devices": 2, "signals": 2,
        });
        let rows = json!({"data": [{"time": 1, "run_id": "r", "mark": mark.to_string()}], "error": ""});
        vec![Endpoint::at_once("GET /api/rawdataV1/iotbench_tables/", ok(&rows.to_string()))]
    },
    programmed: || {
        vec![
            Endpoint::each("POST /api/postdataV1", "_tableName", ok("")),
            Endpoint::each("GET /api/", "", ok(r#"{"data":[]}"#)),
        ]
    },
    partial: ("500 Oops", "<html>row 2", maybe),
    busy: Applied::Maybe,
    endless: "[",
};
