//! Answers in the form that InfluxDB 2's documentation shows are read as it says, by each client and in each language. They
//! stand in for a server that cannot be had: whether it answers so, they do not tell.
//!
//! Annotated CSV: <https://docs.influxdata.com/influxdb/v2/reference/syntax/annotated-csv/>; JSON of InfluxQL:
//! <https://docs.influxdata.com/influxdb/v2/api-guide/influxdb-1x/query/>; buckets and organisations:
//! <https://docs.influxdata.com/influxdb/v2/api/>.

use crate::influxdb2::{
    place::{open, table, token_file},
    stub::{Answer, Stub},
};
use iotbench_core::{Aggregate, Cause, Chunk, Devices, Error, Layout, Query, Reply, TimeRange};
use serde_json::{Value, json};
#[cfg(feature = "influxdb2-crate")]
use {crate::influxdb2::place::batch, iotbench_core::Database, std::sync::Arc};

/// The settings of each client that this build has.
fn clients() -> Vec<Value> {
    let own = json!({"language": "flux"});
    if cfg!(feature = "influxdb2-crate") { vec![own, json!({"client": "crate"})] } else { vec![own] }
}

type Rows = Vec<(u32, i64, Vec<Option<f64>>)>;

async fn ask(stub: &Stub, mut settings: Value, layout: Layout, query: &Query) -> Result<(Rows, Reply), Error> {
    let token = token_file("s3cret");
    settings["token_file"] = json!(token.path());
    let database = open(&stub.url, settings, table("t", layout));
    let mut rows = Vec::new();
    let mut sink = |chunk: &Chunk| {
        for row in 0..chunk.len() {
            let values = chunk.columns.iter().map(|column| column.get(row).and_then(|value| value.as_f64()));
            rows.push((chunk.devices[row], chunk.timestamps_ns[row], values.collect()));
        }
        Ok(())
    };
    let reply = database.reader().await?.query(query, &mut sink).await?;
    Ok((rows, reply))
}

/// What a question for points ends in: a column a signal, with a device in which the second value is missing.
const PIVOTED: Answer = (
    "POST /api/v2/query?org=plant ",
    200,
    "#datatype,string,long,dateTime:RFC3339,string,double,double,long\r\n\
     #group,false,false,false,false,false,false,false\r\n\
     #default,_result,,,,,,\r\n\
     ,result,table,_time,device,a,b,ns\r\n\
     ,,0,2023-11-14T22:13:20Z,0,0.5,-1.5e-7,1700000000000000000\r\n\
     ,,0,2023-11-14T22:13:21.000000001Z,1,1e300,2,1700000001000000001\r\n\r\n",
);

#[tokio::test]
async fn points_in_annotated_csv() {
    for settings in clients() {
        let stub = Stub::start(&[PIVOTED]).await;
        let (rows, _) = ask(&stub, settings, Layout::Wide, &Query::Scan).await.unwrap();
        let expected = [
            (0, 1_700_000_000_000_000_000, vec![Some(0.5), Some(-1.5e-7)]),
            (1, 1_700_000_001_000_000_001, vec![Some(1e300), Some(2.0)]),
        ];
        assert_eq!(rows, expected);
        let asked = &stub.requests()[0];
        let body: Value = serde_json::from_str(asked.splitn(3, ' ').nth(2).unwrap()).unwrap();
        assert!(body["query"].as_str().unwrap().starts_with("from(bucket: \"iotbench_t\")"), "{asked}");
        assert!(body["dialect"]["annotations"].as_array().unwrap().contains(&json!("datatype")), "{asked}");
    }
}

/// A row that lost a value has an empty field.
const WITH_A_GAP: Answer = (
    "POST /api/v2/query?org=plant ",
    200,
    "#datatype,string,long,string,double,double,long\r\n#group,false,false,false,false,false,false\r\n\
     #default,_result,,,,,\r\n,result,table,device,a,b,ns\r\n,,0,1,0.5,,5\r\n\r\n",
);

#[tokio::test]
async fn a_missing_value_is_told_from_a_number() {
    let stub = Stub::start(&[WITH_A_GAP]).await;
    let (rows, _) = ask(&stub, json!({"language": "flux"}), Layout::Wide, &Query::Scan).await.unwrap();
    assert_eq!(rows, [(1, 5, vec![Some(0.5), None])]);
    #[cfg(feature = "influxdb2-crate")]
    {
        // The crate panics at it: that ends the question, and nothing else.
        let error = ask(&stub, json!({"client": "crate"}), Layout::Wide, &Query::Scan).await.unwrap_err();
        assert!(error.cause == Cause::Protocol && error.message.contains("missing"), "{error}");
    }
}

const FIGURES: Answer = (
    "POST /api/v2/query?org=plant ",
    200,
    "#datatype,string,long,string,double,string\r\n#group,false,false,true,false,true\r\n#default,_result,,,,\r\n\
     ,result,table,device,_value,_field\r\n,,0,0,15.43,a\r\n,,1,0,59.25,b\r\n,,2,1,-1,a\r\n\r\n",
);

#[tokio::test]
async fn figures_in_annotated_csv() {
    let query = Query::Aggregates {
        devices: Devices::All,
        signals: vec![0, 1],
        aggregates: vec![Aggregate::Mean],
        range: TimeRange::ALL,
    };
    for settings in clients() {
        let stub = Stub::start(&[FIGURES]).await;
        let (rows, _) = ask(&stub, settings, Layout::Wide, &query).await.unwrap();
        assert_eq!(rows, [(0, 0, vec![Some(15.43), Some(59.25)]), (1, 0, vec![Some(-1.0), None])]);
    }
}

#[tokio::test]
async fn errors_in_both_forms() {
    const IN_A_TABLE: Answer = (
        "POST /api/v2/query",
        200,
        "#datatype,string,string\r\n#group,true,true\r\n#default,,\r\n,error,reference\r\n,Failed to parse query,897\r\n",
    );
    const IN_JSON: Answer = (
        "POST /api/v2/query",
        400,
        r#"{"code":"invalid","message":"compilation failed: error @1:1-1:2: undefined identifier x"}"#,
    );
    for settings in clients() {
        let stub = Stub::start(&[IN_A_TABLE]).await;
        let error = ask(&stub, settings.clone(), Layout::Wide, &Query::Scan).await.unwrap_err();
        assert!(error.cause == Cause::Server && error.message.contains("Failed to parse query"), "{error}");
        let stub = Stub::start(&[IN_JSON]).await;
        let error = ask(&stub, settings, Layout::Wide, &Query::Scan).await.unwrap_err();
        assert!(error.cause == Cause::Data && error.message.contains("undefined identifier"), "{error}");
    }
}

#[tokio::test]
async fn points_in_the_json_of_influxql() {
    // In pieces, as `chunked=true` asks for: those that are not the last say so.
    const PIECES: Answer = (
        "POST /query ",
        200,
        "{\"results\":[{\"statement_id\":0,\"series\":[{\"name\":\"t\",\"tags\":{\"device\":\"0\"},\"columns\":[\"time\",\"a\",\"b\"],\
         \"values\":[[1,0.5,null]],\"partial\":true}],\"partial\":true}]}\n\
         {\"results\":[{\"statement_id\":0,\"series\":[{\"name\":\"t\",\"tags\":{\"device\":\"1\"},\"columns\":[\"time\",\"a\",\"b\"],\
         \"values\":[[2,1,2]]}]}]}\n",
    );
    let stub = Stub::start(&[PIECES]).await;
    let (rows, _) = ask(&stub, json!({}), Layout::Wide, &Query::Scan).await.unwrap();
    assert_eq!(rows, [(0, 1, vec![Some(0.5), None]), (1, 2, vec![Some(1.0), Some(2.0)])]);
    assert!(
        stub.requests()[0].starts_with("POST /query db=iotbench_t&epoch=ns&chunked=true&"),
        "{:?}",
        stub.requests()
    );
}

#[tokio::test]
async fn a_bucket_is_found_made_and_dropped_as_documented() {
    const ANSWERS: &[Answer] = &[
        (
            "GET /health",
            200,
            r#"{"name":"influxdb","message":"ready for queries and writes","status":"pass","checks":[],"version":"v2.7.12","commit":"ec9dcde5d6"}"#,
        ),
        (
            "GET /api/v2/orgs?org=plant",
            200,
            r#"{"links":{"self":"/api/v2/orgs"},"orgs":[{"id":"0af9f7f3eb9e4000","name":"plant"}]}"#,
        ),
    ];
    let stub = Stub::with_buckets(ANSWERS, &[]).await;
    let token = token_file("s3cret");
    let database = open(&stub.url, json!({"token_file": token.path()}), table("t", Layout::Wide));
    assert_eq!(database.ping().await.unwrap().version, "v2.7.12");
    database.create().await.unwrap();
    let requests = stub.requests();
    let mut bodies = requests.iter().filter_map(|asked| asked.strip_prefix("POST /api/v2/buckets "));
    let made = bodies.next_back().unwrap();
    let body: Value = serde_json::from_str(made).unwrap();
    assert_eq!((&body["orgID"], &body["name"]), (&json!("0af9f7f3eb9e4000"), &json!("iotbench_t")));
    assert!(body["description"].as_str().unwrap().contains("\"run_id\":\"r\""), "{made}");
    let names = stub.bucket_names();
    assert!(names.iter().any(|name| name == "iotbench_t") && names.len() == 2, "it and its flag: {names:?}");
    database.drop_created().await.unwrap();
    assert_eq!(stub.bucket_names(), Vec::<String>::new());
    database.drop_created().await.unwrap();
    assert!(database.count().await.is_err());
}

/// What should be an object with buckets is another thing: an error, and no panic.
#[tokio::test]
async fn a_list_of_buckets_that_is_none_is_told() {
    const ANSWERS: &[Answer] =
        &[("GET /api/v2/orgs?org=plant", 200, r#"{"orgs":[{"id":"1"}]}"#), ("GET /api/v2/buckets", 200, "7")];
    let stub = Stub::start(ANSWERS).await;
    let token = token_file("s3cret");
    let database = open(&stub.url, json!({"token_file": token.path()}), table("t", Layout::Wide));
    let error = database.create().await.unwrap_err();
    assert_eq!(error.cause, Cause::Protocol, "{error:?}");
}

/// Another user, or another machine.
#[tokio::test]
async fn a_bucket_that_a_run_uses_is_neither_replaced_nor_dropped_by_another() {
    const ANSWERS: &[Answer] = &[("GET /api/v2/orgs?org=plant", 200, r#"{"orgs":[{"id":"1","name":"plant"}]}"#)];
    let stub = Stub::with_buckets(ANSWERS, &[]).await;
    let token = token_file("s3cret");
    let settings = json!({"token_file": token.path()});
    crate::leases::a_live_table_is_its_runs_and_a_dead_ones_is_cleaned(&crate::leases::Place::of_buckets(
        &stub.url, settings,
    ))
    .await;
    assert_eq!(stub.bucket_names(), Vec::<String>::new());
}

/// A bucket of another run of ours, and one of somebody else's.
#[tokio::test]
async fn only_what_carries_our_mark_is_dropped() {
    let earlier = r#"{"created_by":"iotbench 0.1.0","run_id":"earlier","fingerprint":"f"}"#;
    let buckets = [
        json!({"id": "1", "name": "_monitoring", "type": "system"}),
        json!({"id": "2", "name": "iotbench_t", "description": earlier}),
        json!({"id": "3", "name": "theirs", "description": "precious"}),
    ];
    const ANSWERS: &[Answer] = &[("GET /api/v2/orgs?org=plant", 200, r#"{"orgs":[{"id":"1","name":"plant"}]}"#)];
    let stub = Stub::with_buckets(ANSWERS, &buckets).await;
    let token = token_file("s3cret");
    let database = open(&stub.url, json!({"token_file": token.path()}), table("t", Layout::Wide));
    let owned = database.owned().await.unwrap();
    assert_eq!((owned.len(), owned[0].name.as_str(), owned[0].run_id.as_str()), (1, "iotbench_t", "earlier"));
    database.drop_created().await.unwrap();
    assert!(!stub.requests().iter().any(|asked| asked.starts_with("DELETE")), "it is another run's");
    database.drop_owned(&owned[0]).await.unwrap();
    assert_eq!(stub.bucket_names(), ["_monitoring", "theirs"]);
}

#[cfg(feature = "influxdb2-crate")]
fn by_crate(stub: &Stub, token: &std::path::Path, layout: Layout) -> Arc<dyn Database> {
    open(&stub.url, json!({"client": "crate", "token_file": token}), table("t", layout))
}

#[cfg(feature = "influxdb2-crate")]
#[tokio::test]
async fn the_crate_writes_the_same_points() {
    const WRITTEN: Answer = ("POST /api/v2/write?bucket=iotbench_t&org=plant&precision=ns ", 204, "");
    let token = token_file("s3cret");
    for (layout, lines) in [
        (Layout::Wide, "t,device=1 a=0.5,b=0.5 1700000000000000000\nt,device=1 a=1.5,b=1.5 1700000001000000000\n"),
        (
            Layout::Narrow,
            "t,device=1,signal=a v=0.5 1700000000000000000\nt,device=1,signal=b v=0.5 1700000000000000000\n",
        ),
    ] {
        let stub = Stub::start(&[WRITTEN]).await;
        let database = by_crate(&stub, token.path(), layout);
        let count = u32::try_from(lines.matches(" a=").count().max(1)).unwrap();
        let written = database.writer().await.unwrap().write(&batch(&table("t", layout), count)).await.unwrap();
        assert_eq!(written.points, u64::from(count));
        assert!(stub.requests()[0].ends_with(lines), "{:?}", stub.requests());
    }
}

#[cfg(feature = "influxdb2-crate")]
#[tokio::test]
async fn the_crate_tells_what_was_refused_and_never_the_token() {
    const REFUSED: Answer = ("POST /api/v2/write", 400, r#"{"code":"invalid","message":"unable to parse"}"#);
    let stub = Stub::start(&[REFUSED]).await;
    let (good, wrong) = (token_file("s3cret"), token_file("wr0ng"));
    for (token, cause) in [(&good, Cause::Data), (&wrong, Cause::Auth)] {
        let database = by_crate(&stub, token.path(), Layout::Wide);
        let error = database.writer().await.unwrap().write(&batch(&table("t", Layout::Wide), 2)).await.unwrap_err();
        assert_eq!(error.cause, cause, "{error}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("s3cret") && !shown.contains("wr0ng"), "{shown}");
    }
    let url = "http://127.0.0.1:1/?org=plant".parse().unwrap();
    let database = open(&url, json!({"client": "crate", "token_file": good.path()}), table("t", Layout::Wide));
    let error = database.writer().await.unwrap().write(&batch(&table("t", Layout::Wide), 2)).await.unwrap_err();
    assert_eq!((error.cause, error.applied), (Cause::Connect, iotbench_core::Applied::No));
}
