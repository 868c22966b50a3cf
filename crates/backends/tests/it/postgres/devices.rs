//! The table of devices of PostgreSQL.

use crate::postgres::server::{OwnDatabase, open};
use crate::tagged::{self, Place};
use iotbench_core::{Database, TableSpec};
use std::sync::Arc;

#[async_trait::async_trait]
impl Place for OwnDatabase {
    fn open(&self, table: TableSpec) -> Arc<dyn Database> {
        open(&self.url(), "{}", table)
    }

    async fn execute(&self, sql: &str) {
        self.execute(sql).await;
    }

    async fn rows(&self, sql: &str) -> Vec<String> {
        let as_text = format!("SELECT one::text FROM ({sql}) AS q(one)");
        sqlx::query_scalar(&as_text).fetch_all(&mut self.connect().await).await.unwrap()
    }

    /// Nobody else sees what a transaction has done.
    async fn is_filling(&self) -> bool {
        let inserts = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
                       AND query LIKE 'INSERT INTO \"public\".\"points_devices\"%'";
        sqlx::query_scalar::<_, i64>(inserts).fetch_one(&mut self.connect().await).await.unwrap() > 0
    }

    async fn tables(&self) -> Vec<String> {
        let sql = "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace \
                   AND relkind NOT IN ('i', 'c') ORDER BY 1";
        sqlx::query_scalar(sql).fetch_all(&mut self.connect().await).await.unwrap()
    }
}

#[tokio::test]
async fn devices_are_found_by_their_value() {
    let Some(database) = OwnDatabase::create().await else { return };
    tagged::devices_are_found_by_their_value(&database).await;
    database.remove().await;
}

#[tokio::test]
async fn it_is_made_replaced_and_dropped_with_its_table() {
    let Some(database) = OwnDatabase::create().await else { return };
    tagged::it_is_made_replaced_and_dropped_with_its_table(&database).await;
    database.remove().await;
}

#[tokio::test]
async fn a_table_is_taken_over_with_it_and_not_without() {
    let Some(database) = OwnDatabase::create().await else { return };
    tagged::a_table_is_taken_over_with_it_and_not_without(&database).await;
    database.remove().await;
}

#[tokio::test]
async fn a_strangers_is_refused_and_left_alone() {
    let Some(database) = OwnDatabase::create().await else { return };
    let plants = [
        ("CREATE TABLE points_devices (device integer, site text)", "DROP TABLE points_devices"),
        (
            "CREATE TABLE points_devices (a text); COMMENT ON TABLE points_devices IS 'iotbench devices of point'",
            "DROP TABLE points_devices",
        ),
        ("CREATE VIEW points_devices AS SELECT 1", "DROP VIEW points_devices"),
        ("CREATE TYPE points_devices AS ENUM ('a')", "DROP TYPE points_devices"),
    ];
    tagged::a_strangers_is_refused_and_left_alone(&database, &plants).await;
    database.remove().await;
}

#[tokio::test]
async fn a_table_of_datapoints_is_not_taken_for_it() {
    let Some(database) = OwnDatabase::create().await else { return };
    tagged::a_table_of_datapoints_is_not_taken_for_it(&database).await;
    database.remove().await;
}

#[tokio::test]
async fn a_hundred_thousand_devices_have_their_rows() {
    let Some(database) = OwnDatabase::create().await else { return };
    tagged::a_hundred_thousand_devices_have_their_rows(&database).await;
    database.remove().await;
}

#[tokio::test]
async fn a_killed_create_leaves_nothing() {
    let Some(database) = OwnDatabase::create().await else { return };
    tagged::a_killed_create_leaves_what_is_found_and_goes(&database).await;
    database.remove().await;
}

#[tokio::test]
async fn it_is_weighed_with_its_table() {
    let Some(database) = OwnDatabase::create().await else { return };
    tagged::it_is_weighed_with_its_table(&database).await;
    database.remove().await;
}
