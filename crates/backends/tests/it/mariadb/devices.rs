//! The table of devices of MariaDB, with both engines, and of MySQL.

use crate::mariadb::server;
use crate::tagged::{self, Place};
use iotbench_core::{Database, TableSpec};
use serde_json::json;
use std::sync::Arc;

/// A server's database, by an engine.
struct Engine {
    place: server::Place,
    engine: &'static str,
}

#[async_trait::async_trait]
impl Place for Engine {
    fn open(&self, table: TableSpec) -> Arc<dyn Database> {
        self.place.open(json!({ "engine": self.engine }), table)
    }

    async fn execute(&self, sql: &str) {
        let database = &self.place.database;
        let sql =
            sql.replace("TABLE ", &format!("TABLE `{database}`.")).replace("VIEW ", &format!("VIEW `{database}`."));
        self.place.execute(&sql).await;
    }

    async fn rows(&self, sql: &str) -> Vec<String> {
        self.place.rows(&sql.replace("FROM ", &format!("FROM `{}`.", self.place.database))).await
    }

    async fn is_filling(&self) -> bool {
        let is_there = self.tables().await.iter().any(|table| table == "points_devices");
        is_there && self.rows("SELECT device FROM points_devices LIMIT 1").await.len() == 1
    }

    async fn tables(&self) -> Vec<String> {
        self.place.rows(&format!("SHOW TABLES FROM `{}`", self.place.database)).await
    }
}

const ENGINES: [(&str, &str); 3] = [("mariadb", "innodb"), ("mariadb", "myrocks"), ("mysql", "innodb")];

/// Does this with each engine of each server that there is.
async fn with_each(test: &str, check: impl AsyncFn(&Engine)) {
    for (backend, engine) in ENGINES {
        let Some(place) = server::Place::on(backend, &format!("devices_{test}")).await else { continue };
        let engine = Engine { place, engine };
        check(&engine).await;
        engine.place.drop().await;
    }
}

#[tokio::test]
async fn devices_are_found_by_their_value() {
    with_each("found", async |place| tagged::devices_are_found_by_their_value(place).await).await;
}

#[tokio::test]
async fn it_is_made_replaced_and_dropped_with_its_table() {
    with_each("made", async |place| tagged::it_is_made_replaced_and_dropped_with_its_table(place).await).await;
}

#[tokio::test]
async fn a_table_is_taken_over_with_it_and_not_without() {
    with_each("adopted", async |place| tagged::a_table_is_taken_over_with_it_and_not_without(place).await).await;
}

#[tokio::test]
async fn a_strangers_is_refused_and_left_alone() {
    let plants = [
        ("CREATE TABLE points_devices (device INT, site VARCHAR(9))", "DROP TABLE points_devices"),
        (
            "CREATE TABLE points_devices (a INT) COMMENT='iotbench devices of points_devices'",
            "DROP TABLE points_devices",
        ),
        ("CREATE TABLE points_devices (a INT) COMMENT='iotbench devices of point'", "DROP TABLE points_devices"),
        ("CREATE VIEW points_devices AS SELECT 1 AS a", "DROP VIEW points_devices"),
    ];
    with_each("foreign", async |place| tagged::a_strangers_is_refused_and_left_alone(place, &plants).await).await;
}

#[tokio::test]
async fn a_table_of_datapoints_is_not_taken_for_it() {
    with_each("name", async |place| tagged::a_table_of_datapoints_is_not_taken_for_it(place).await).await;
}

#[tokio::test]
async fn a_hundred_thousand_devices_have_their_rows() {
    with_each("many", async |place| tagged::a_hundred_thousand_devices_have_their_rows(place).await).await;
}

#[tokio::test]
async fn a_killed_create_leaves_what_is_found_and_goes() {
    with_each("killed", async |place| tagged::a_killed_create_leaves_what_is_found_and_goes(place).await).await;
}

#[tokio::test]
async fn it_is_weighed_with_its_table() {
    with_each("weighed", async |place| tagged::it_is_weighed_with_its_table(place).await).await;
}
