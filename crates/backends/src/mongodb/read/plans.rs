//! How the server carries out what the reader asks: by the index that the layout has, or by reading all where it has none.

#![expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]

use super::*;
use crate::{
    mongodb::{MongoDb, config::Config},
    query_plan::{batch, database_name, queries, table},
};
use iotbench_core::{Backend, Endpoint, OpenRequest, Settings, Target};
use mongodb::{
    Client,
    bson::{Bson, doc},
};
use url::Url;

/// The server's address; `None` skips the test.
fn url() -> Option<Url> {
    if let Ok(url) = std::env::var("IOTBENCH_TEST_MONGODB_URL") {
        return Some(url.parse().unwrap());
    }
    let is_required = std::env::var("IOTBENCH_REQUIRE_SERVERS").is_ok_and(|value| value == "1");
    assert!(!is_required, "IOTBENCH_TEST_MONGODB_URL is not set, and IOTBENCH_REQUIRE_SERVERS=1 demands it");
    eprintln!("skipped: IOTBENCH_TEST_MONGODB_URL is not set (scripts/test starts the servers)");
    None
}

/// What is run for a query; of two pipelines the one that looks for the bound.
fn stages(shape: &Shape, query: &Query) -> Vec<Document> {
    let ask = Ask::of(query, &[0, 1]).unwrap();
    match shape.bound(&ask) {
        Some(bound) => bound,
        None if shape.layout() == Layout::Bulk && Shape::is_whole_stretch(&ask) => shape.records(&ask),
        None => shape.datapoints(&ask),
    }
}

/// A plan without those that the server considered and did not take, and without what was asked.
fn chosen(plan: Bson) -> Bson {
    match plan {
        Bson::Document(plan) => {
            let kept = plan.into_iter().filter(|(name, _)| !["rejectedPlans", "command"].contains(&name.as_str()));
            Bson::Document(kept.map(|(name, part)| (name, chosen(part))).collect())
        }
        Bson::Array(parts) => Bson::Array(parts.into_iter().map(chosen).collect()),
        other => other,
    }
}

async fn plans(layout: Layout, indexes: &str) -> Option<Vec<(&'static str, String)>> {
    let mut url = url()?;
    let name = database_name();
    let client = Client::with_uri_str(url.as_str()).await.unwrap();
    let control = client.database(&name);
    url.set_path(&name);
    let target = Target { endpoints: vec![Endpoint::new(url)], ..Target::default() };
    let settings = Settings([("indexes".to_owned(), indexes.into())].into_iter().collect());
    let request = OpenRequest { target, settings: settings.clone(), table: table(layout) };
    let database = MongoDb.open(request).unwrap();
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(&table(layout))).await.unwrap();
    let shape = Shape::new(Arc::new(Table::new(table(layout), &Config::new(&settings).unwrap())));
    let mut plans = Vec::new();
    for (query_name, query) in queries(2) {
        let aggregate = doc! { "aggregate": "points", "pipeline": stages(&shape, &query), "cursor": {} };
        let plan = control.run_command(doc! { "explain": aggregate, "verbosity": "queryPlanner" }).await.unwrap();
        plans.push((query_name, format!("{:?}", chosen(plan.into()))));
    }
    control.drop().await.unwrap();
    Some(plans)
}

#[tokio::test]
async fn what_is_asked_of_one_device_is_found_by_the_index_on_device_and_time() {
    for layout in Layout::ALL {
        let Some(plans) = plans(layout, "tag").await else { return };
        for (query, plan) in plans {
            // A time series is found by the device of its buckets, which is an index of its own.
            assert!(plan.contains("IXSCAN") || plan.contains("CLUSTERED_IXSCAN"), "{layout}, {query}:\n{plan}");
            assert!(!plan.contains("\"COLLSCAN\""), "{layout}, {query}:\n{plan}");
        }
    }
}

#[tokio::test]
async fn the_newest_and_the_next_are_read_in_the_order_of_the_index() {
    for layout in [Layout::Document, Layout::Narrow, Layout::Bulk] {
        let Some(plans) = plans(layout, "tag").await else { return };
        for (query, plan) in plans.into_iter().filter(|(query, _)| ["after", "before", "newest"].contains(query)) {
            assert!(plan.contains("IXSCAN") && !plan.contains("\"SORT\""), "{layout}, {query}:\n{plan}");
            assert!(!plan.contains("\"$sort\""), "{layout}, {query}:\n{plan}");
        }
    }
}

#[tokio::test]
async fn without_an_index_the_whole_collection_is_read() {
    for layout in [Layout::Document, Layout::Narrow, Layout::Bulk] {
        let Some(plans) = plans(layout, "none").await else { return };
        for (query, plan) in plans {
            assert!(plan.contains("COLLSCAN") && !plan.contains("IXSCAN"), "{layout}, {query}:\n{plan}");
        }
    }
}
