//! The server that the tests use, and a database of each test's own on it.

use crate::harness;
pub(crate) use crate::harness::skipped;
use iotbench_core::{Backend, Batch, Database, Layout, OpenRequest, Run, TableSpec, Value, ValueType};
use sqlx::{ConnectOptions, Connection, Executor, PgConnection, postgres::PgConnectOptions};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use url::Url;

/// The URL of a superuser; `None` where there is no server and none is demanded.
pub(crate) fn url() -> Option<Url> {
    harness::url("postgres")
}

pub(crate) fn backend() -> &'static dyn Backend {
    harness::backend("postgres")
}

pub(crate) async fn connect(url: &Url) -> PgConnection {
    PgConnectOptions::from_url(url).unwrap().connect().await.unwrap()
}

/// A database that one test may do with as it likes.
pub(crate) struct OwnDatabase {
    server: Url,
    pub(crate) name: String,
}

impl OwnDatabase {
    /// A new database; `None` where there is no server.
    pub(crate) async fn create() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = url()?;
        let name = format!("iotbench_test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        connect(&server).await.execute(format!("CREATE DATABASE {name}").as_str()).await.unwrap();
        Some(Self { server, name })
    }

    pub(crate) fn url(&self) -> Url {
        let mut url = self.server.clone();
        url.set_path(&self.name);
        url
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        connect(&self.url()).await
    }

    /// Runs one statement.
    pub(crate) async fn execute(&self, sql: &str) {
        let mut connection = self.connect().await;
        connection.execute(sql).await.unwrap();
        connection.close().await.unwrap();
    }

    pub(crate) async fn remove(self) {
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        connect(&self.server).await.execute(sql.as_str()).await.unwrap();
    }

    /// Everything that the schemas of users hold, with its content, in a fixed order.
    pub(crate) async fn contents(&self) -> Vec<String> {
        let mut connection = self.connect().await;
        let sql = "SELECT format('%I.%I', n.nspname, c.relname), c.relkind::text, obj_description(c.oid, 'pg_class') \
                   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%' ORDER BY 1";
        let relations: Vec<(String, String, Option<String>)> =
            sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap();
        let mut contents: Vec<String> = relations.iter().map(|relation| format!("{relation:?}")).collect();
        for (name, kind, _) in &relations {
            if kind == "r" {
                let sql = format!("SELECT t::text FROM {name} AS t ORDER BY ctid");
                let rows: Vec<String> = sqlx::query_scalar(&sql).fetch_all(&mut connection).await.unwrap();
                contents.extend(rows);
            }
        }
        connection.close().await.unwrap();
        contents
    }
}

/// A table of one number.
pub(crate) fn table(layout: Layout, run_id: &str) -> TableSpec {
    harness::table("points", layout, &[("a", ValueType::F64)], run_id)
}

/// So many datapoints of that table.
pub(crate) fn batch(count: u32) -> Batch {
    let mut batch = Batch::new(&table(Layout::Wide, "").schema);
    batch.append(Run { device: 0, first: 0, count }, |times, columns| {
        for index in 0..count {
            times.push(1_700_000_000_000_000_000 + i64::from(index) * 1_000_000);
            assert!(columns[0].push(Value::F64(index.into())));
        }
    });
    batch
}

pub(crate) fn request(url: &Url, settings: &str, table: TableSpec) -> OpenRequest {
    harness::request_to_open(url, serde_json::from_str(settings).unwrap(), table)
}

pub(crate) fn open(url: &Url, settings: &str, table: TableSpec) -> Arc<dyn Database> {
    backend().open(request(url, settings, table)).unwrap()
}
