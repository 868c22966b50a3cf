//! The table of devices of SQLite.

use super::in_file_as;
use crate::tagged::{self, Place};
use iotbench_core::{Database, TableSpec};
use rusqlite::{Connection, types::Value};
use std::{path::PathBuf, sync::Arc};
use tempfile::TempDir;

struct File {
    path: PathBuf,
    _folder: TempDir,
}

impl File {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { path: folder.path().join("own.db"), _folder: folder }
    }
}

#[async_trait::async_trait]
impl Place for File {
    fn open(&self, table: TableSpec) -> Arc<dyn Database> {
        in_file_as(&self.path, table)
    }

    async fn execute(&self, sql: &str) {
        Connection::open(&self.path).unwrap().execute_batch(sql).unwrap();
    }

    async fn rows(&self, sql: &str) -> Vec<String> {
        let connection = Connection::open(&self.path).unwrap();
        let mut statement = connection.prepare(sql).unwrap();
        let text = |value| match value {
            Value::Integer(number) => number.to_string(),
            Value::Text(text) => text,
            other => format!("{other:?}"),
        };
        statement.query_map([], |row| row.get(0).map(text)).unwrap().map(Result::unwrap).collect()
    }

    async fn is_filling(&self) -> bool {
        false
    }

    async fn tables(&self) -> Vec<String> {
        let marker = "name <> 'iotbench_marker'";
        let sql = format!("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND {marker} ORDER BY name");
        self.rows(&sql).await
    }
}

#[tokio::test]
async fn devices_are_found_by_their_value() {
    tagged::devices_are_found_by_their_value(&File::new()).await;
}

#[tokio::test]
async fn it_is_made_replaced_and_dropped_with_its_table() {
    tagged::it_is_made_replaced_and_dropped_with_its_table(&File::new()).await;
}

#[tokio::test]
async fn a_table_is_taken_over_with_it_and_not_without() {
    tagged::a_table_is_taken_over_with_it_and_not_without(&File::new()).await;
}

#[tokio::test]
async fn a_strangers_is_refused_and_left_alone() {
    let plants = [
        ("CREATE TABLE points_devices (device INTEGER, site TEXT)", "DROP TABLE points_devices"),
        ("CREATE TABLE Points_Devices (/* iotbench devices of points */ a)", "DROP TABLE points_devices"),
        ("CREATE TABLE points_devices (/* iotbench devices of point */ a)", "DROP TABLE points_devices"),
        ("CREATE VIEW points_devices AS SELECT 1", "DROP VIEW points_devices"),
        ("CREATE TABLE points_devices_order (a)", "DROP TABLE points_devices_order"),
        ("CREATE TABLE t (a); CREATE INDEX points_devices_site ON t (a)", "DROP TABLE t"),
    ];
    tagged::a_strangers_is_refused_and_left_alone(&File::new(), &plants).await;
}

#[tokio::test]
async fn a_table_of_datapoints_is_not_taken_for_it() {
    tagged::a_table_of_datapoints_is_not_taken_for_it(&File::new()).await;
}

#[tokio::test]
async fn a_hundred_thousand_devices_have_their_rows() {
    tagged::a_hundred_thousand_devices_have_their_rows(&File::new()).await;
}

#[tokio::test]
async fn it_is_weighed_with_its_table() {
    tagged::it_is_weighed_with_its_table(&File::new()).await;
}
