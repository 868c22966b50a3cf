//! How the server carries out what the reader asks: by the index that the layout has, or by reading all where it has none.

#![expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]

use super::*;
use crate::postgres::{Postgres, address::Address, config::Config, connector::Connector};
use crate::query_plan::{batch, database_name, queries, table};
use iotbench_core::{Backend, Database, Endpoint, OpenRequest, Settings, Target};
use sqlx::{Arguments, Connection, Executor, postgres::PgRow};
use url::Url;

/// The server's address; `None` skips the test.
fn url() -> Option<Url> {
    if let Ok(url) = std::env::var("IOTBENCH_TEST_POSTGRES_URL") {
        return Some(url.parse().unwrap());
    }
    let is_required = std::env::var("IOTBENCH_REQUIRE_SERVERS").is_ok_and(|value| value == "1");
    assert!(!is_required, "IOTBENCH_TEST_POSTGRES_URL is not set, and IOTBENCH_REQUIRE_SERVERS=1 demands it");
    eprintln!("skipped: IOTBENCH_TEST_POSTGRES_URL is not set (scripts/test starts the servers)");
    None
}

/// The plans of the statement that the reader runs for a query: with its arguments, and as it may be kept for any arguments
/// when a connection has asked the same several times.
async fn plan(connection: &mut PgConnection, shape: &Shape, query: &Query) -> [String; 2] {
    let ask = Ask::of(query, &[0, 1]).unwrap();
    let statement = shape.datapoints(&ask).unwrap();
    let any = vec!["NULL"; statement.arguments.len()].join(", ");
    connection.execute(format!("PREPARE asked AS {}", statement.sql).as_str()).await.unwrap();
    let kept = connection.fetch_all(format!("EXPLAIN EXECUTE asked({any})").as_str()).await.unwrap();
    connection.execute("DEALLOCATE asked").await.unwrap();
    let explain = format!("EXPLAIN {}", statement.sql);
    let own = sqlx::query_with(&explain, statement.arguments).fetch_all(connection).await.unwrap();
    let text = |lines: Vec<PgRow>| lines.iter().map(|line| line.get::<String, _>(0)).collect::<Vec<_>>().join("\n");
    [text(own), text(kept)]
}

async fn plans(layout: Layout, indexes: &str) -> Option<Vec<(&'static str, String)>> {
    let server = url()?;
    let name = database_name();
    let mut control = PgConnection::connect(server.as_str()).await.unwrap();
    control.execute(format!("CREATE DATABASE {name}").as_str()).await.unwrap();
    let mut url = server.clone();
    url.set_path(&name);
    let target = Target { endpoints: vec![Endpoint::new(url)], ..Target::default() };
    let settings = Settings([("indexes".to_owned(), indexes.into())].into_iter().collect());
    let request = OpenRequest { target: target.clone(), settings: settings.clone(), table: table(layout) };
    let database: Arc<dyn Database> = Postgres.open(request).unwrap();
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(&table(layout))).await.unwrap();
    let config = Config::new(&settings, layout).unwrap();
    let connector = Connector::new(Address::of(&target, &|_| None).unwrap(), &config);
    let mut connection = connector.connect().await.unwrap();
    connection.execute("ANALYZE points; SET plan_cache_mode = force_generic_plan").await.unwrap();
    let shape = Shape::new(Arc::new(Table::new(table(layout), &config)));
    let mut plans = Vec::new();
    for (query_name, query) in queries(2) {
        plans.extend(plan(&mut connection, &shape, &query).await.map(|plan| (query_name, plan)));
    }
    connection.close().await.unwrap();
    control.execute(format!("DROP DATABASE {name} WITH (FORCE)").as_str()).await.unwrap();
    Some(plans)
}

/// What an index scan shows as its condition, in each layout.
fn condition(layout: Layout) -> &'static str {
    match layout {
        Layout::Wide | Layout::Document => "Index Cond: ((device = 1) AND (ts >= ",
        Layout::Narrow | Layout::Bulk => "Index Cond: ((device = 1) AND (second >= ",
    }
}

#[tokio::test]
async fn what_is_asked_of_one_device_is_found_by_the_index_on_device_and_time() {
    for layout in Layout::ALL {
        let Some(plans) = plans(layout, "tag").await else { return };
        for (query, plan) in plans {
            assert!(plan.contains("points_time") && !plan.contains("Seq Scan"), "{layout}, {query}:\n{plan}");
            let any = plan.replace("$1", "1");
            assert!(any.contains(condition(layout)), "{layout}, {query}:\n{plan}");
        }
    }
}

#[tokio::test]
async fn the_index_on_time_alone_serves_as_well() {
    for layout in Layout::ALL {
        let Some(plans) = plans(layout, "time").await else { return };
        for (query, plan) in plans {
            assert!(plan.contains("points_time") && !plan.contains("Seq Scan"), "{layout}, {query}:\n{plan}");
        }
    }
}

#[tokio::test]
async fn without_an_index_the_whole_table_is_read() {
    for layout in Layout::ALL {
        let Some(plans) = plans(layout, "none").await else { return };
        for (query, plan) in plans {
            assert!(plan.contains("Seq Scan on points") && !plan.contains("Index"), "{layout}, {query}:\n{plan}");
        }
    }
}
