//! What somebody does by hand to the first datapoint of the first device that a run wrote, in the language of each
//! database.

mod over_http;

use mongodb::{
    Client,
    bson::{DateTime, Document, doc},
};
use sqlx::{Connection, Executor, MySqlConnection, PgConnection};
use url::Url;

/// The table of the profile `tampered`.
const TABLE: &str = "iotbench_tampered";
/// Analogue signals of a datapoint.
const ANALOGS: usize = 14;
/// The time of the first datapoint.
const FIRST_NS: i64 = iotbench::simulator::DEFAULT_ORIGIN_NS;
const FIRST_MS: i64 = FIRST_NS / 1_000_000;

/// What is done.
#[derive(Clone, Copy, Debug)]
pub enum Harm {
    Value,
    Row,
    /// As little later as the database can tell.
    Time,
    /// The same again, where the database can hold it.
    Double,
    /// Another one, as little later.
    Added,
}

/// What is then found, and how often; `None` where the database does not let one do it.
pub fn expected(backend: &str, harm: Harm) -> Option<&'static [(&'static str, u64)]> {
    Some(match (backend, harm) {
        // It deletes whole partitions alone, and all of a run is in one.
        ("questdb", Harm::Row) => &[("lost", 80)],
        // The time by which a table is ordered is fixed.
        ("questdb", Harm::Time) => return None,
        // It replaces the first: there is none to be held.
        ("influxdb" | "kairosdb", Harm::Double) => &[],
        (_, Harm::Value) => &[("corrupt", 1)],
        (_, Harm::Row) => &[("lost", 1)],
        (_, Harm::Time) => &[("lost", 1), ("alien", 1)],
        (_, Harm::Double) => &[("duplicate", 1)],
        (_, Harm::Added) => &[("alien", 1)],
    })
}

/// Does it.
pub async fn harm(backend: &str, url: &Url, harm: Harm) {
    match backend {
        "mongodb" => documents(url, harm).await,
        "influxdb" => over_http::influxdb(url, harm),
        "kairosdb" => over_http::kairosdb(url, harm),
        "questdb" => over_http::questdb(url, harm),
        "clickhouse" => over_http::clickhouse(url, harm),
        "victoriametrics" => over_http::victoriametrics(url, harm),
        _ => sql(backend, url, &statement(harm)).await,
    }
}

fn statement(harm: Harm) -> String {
    let where_ = format!("WHERE device = 0 AND ts = {FIRST_NS}");
    match harm {
        Harm::Value => format!("UPDATE {TABLE} SET analog_01 = analog_01 + 1 {where_}"),
        Harm::Row => format!("DELETE FROM {TABLE} {where_}"),
        Harm::Time => format!("UPDATE {TABLE} SET ts = ts + 1 {where_}"),
        Harm::Double => format!("INSERT INTO {TABLE} SELECT * FROM {TABLE} {where_}"),
        Harm::Added => {
            let columns = signals().join(", ");
            format!(
                "INSERT INTO {TABLE} (ts, device, {columns}) SELECT ts + 1, device, {columns} FROM {TABLE} {where_}"
            )
        }
    }
}

/// The signals of a datapoint.
fn signals() -> Vec<String> {
    (1..=ANALOGS).map(|i| format!("analog_{i:02}")).chain(["digital".into()]).collect()
}

/// Runs a statement in our database; one that changes rows must change one.
pub async fn sql(backend: &str, url: &Url, statement: &str) {
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
