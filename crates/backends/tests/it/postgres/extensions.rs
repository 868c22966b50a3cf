//! Tables of Citus and of TimescaleDB conform, on servers that have them: no package brings these extensions, so these tests
//! are skipped without one, also where all other servers are demanded.

use crate::postgres::server::{backend, batch, connect, open, request, skipped, table};
use iotbench_conformance::{Fixture, assert_conforms, check};
use iotbench_core::{Backend, Cause, Counts, Layout, OpenRequest, PromiseLevel, Settled, TableSpec};
use sqlx::{Executor, PgConnection};
use url::Url;

/// The database of a server with this extension; `None` skips the test.
fn url(variable: &str, extension: &str) -> Option<Url> {
    match std::env::var(variable) {
        Ok(url) => Some(url.parse().unwrap()),
        Err(_) => {
            skipped(&format!("the {extension} extension was not found: {variable} is not set"));
            None
        }
    }
}

fn citus() -> Option<Url> {
    url("IOTBENCH_TEST_CITUS_URL", "Citus")
}

fn timescaledb() -> Option<Url> {
    url("IOTBENCH_TEST_TIMESCALEDB_URL", "TimescaleDB")
}

/// A schema of the test's own: databases of a cluster have the extension one by one.
struct OwnSchema {
    url: Url,
    name: String,
    settings: String,
}

impl OwnSchema {
    async fn create(url: Url, test: &str, settings: &str) -> Self {
        let name = format!("iotbench_test_{}_{test}", std::process::id());
        let own = Self { settings: settings.replace('}', &format!(", \"schema\": \"{name}\"}}")), url, name };
        own.execute(&format!("CREATE SCHEMA {}", own.name)).await;
        own
    }

    async fn connect(&self) -> PgConnection {
        connect(&self.url).await
    }

    async fn execute(&self, sql: &str) {
        self.connect().await.execute(sql).await.unwrap();
    }

    async fn remove(self) {
        self.execute(&format!("DROP SCHEMA {} CASCADE", self.name)).await;
    }
}

#[async_trait::async_trait]
impl Fixture for OwnSchema {
    fn backend(&self) -> &'static dyn Backend {
        backend()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        request(&self.url, &self.settings, table)
    }

    async fn plant_foreign(&self, table: &TableSpec) -> bool {
        let name = format!("{}.{}", self.name, table.name);
        self.execute(&format!("CREATE TABLE {name} (ts text)")).await;
        self.execute(&format!("INSERT INTO {name} VALUES ('planted')")).await;
        true
    }

    async fn contents(&self) -> Option<Vec<String>> {
        let mut connection = self.connect().await;
        let sql = "SELECT c.relname::text, c.relkind::text, obj_description(c.oid, 'pg_class') FROM pg_class c \
                   JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 ORDER BY 1";
        let relations: Vec<(String, String, Option<String>)> =
            sqlx::query_as(sql).bind(&self.name).fetch_all(&mut connection).await.unwrap();
        let mut contents: Vec<String> = relations.iter().map(|relation| format!("{relation:?}")).collect();
        for (name, ..) in relations.iter().filter(|(_, kind, _)| kind == "r") {
            let sql = format!("SELECT t::text FROM {}.{name} AS t ORDER BY 1", self.name);
            let rows: Vec<String> = sqlx::query_scalar(&sql).fetch_all(&mut connection).await.unwrap();
            contents.extend(rows);
        }
        Some(contents)
    }
}

async fn conforms(url: Option<Url>, test: &str, layout: Layout, settings: &str) {
    let Some(url) = url else { return };
    let schema = OwnSchema::create(url, &format!("{test}_{layout}"), settings).await;
    assert_conforms(&check(&schema, layout).await);
    schema.remove().await;
}

#[tokio::test]
async fn a_distributed_table_conforms_in_every_layout_by_every_method() {
    for layout in Layout::ALL {
        for method in ["insert", "unnest", "copy"] {
            let settings = format!("{{\"distributed\": true, \"method\": \"{method}\"}}");
            conforms(citus(), method, layout, &settings).await;
        }
        conforms(citus(), "plain", layout, r#"{"distributed": true, "indexes": "none", "unlogged": true}"#).await;
    }
}

#[tokio::test]
async fn a_hypertable_conforms_in_every_layout_by_every_method() {
    for layout in Layout::ALL {
        for method in ["insert", "unnest", "copy"] {
            let settings = format!("{{\"hypertable\": true, \"method\": \"{method}\"}}");
            conforms(timescaledb(), method, layout, &settings).await;
        }
        conforms(timescaledb(), "plain", layout, r#"{"hypertable": true, "indexes": "none", "chunk_seconds": 10}"#)
            .await;
    }
}

/// Writes a table, and looks at all that the control plane tells of it.
async fn is_written_counted_weighed_and_dropped(schema: &OwnSchema) {
    for layout in Layout::ALL {
        let ours = open(&schema.url, &schema.settings, table(layout, "r"));
        ours.create().await.unwrap();
        // Replaced by one of another run, and made anew, in one transaction.
        ours.create().await.unwrap();
        let empty = ours.storage_bytes().await.unwrap().unwrap();
        ours.writer().await.unwrap().write(&batch(3000)).await.unwrap();
        assert_eq!(ours.settle().await, Ok(Settled::Yes), "{layout}");
        assert_eq!(ours.count().await, Ok(Counts { points: 3000, values: 3000 }), "{layout}");
        assert!(ours.storage_bytes().await.unwrap().unwrap() > empty, "{layout}");
        assert!(open(&schema.url, &schema.settings, table(layout, "heir")).adopt().await.unwrap(), "{layout}");
        open(&schema.url, &schema.settings, table(layout, "heir")).drop_created().await.unwrap();
    }
    assert_eq!(schema.contents().await, Some(Vec::new()));
}

#[tokio::test]
async fn a_cluster_says_what_it_is() {
    let Some(url) = citus() else { return };
    let schema = OwnSchema::create(url, "facts", r#"{"distributed": true}"#).await;
    let facts = open(&schema.url, &schema.settings, table(Layout::Wide, "r")).ping().await.unwrap();
    let workers: u32 = facts.settings["citus_workers"].parse().unwrap();
    assert!(facts.version.contains(&format!("with Citus {}, {workers} worker", facts.settings["citus"])), "{facts:?}");
    assert_eq!((facts.settings["distributed_by"].as_str(), facts.promise.level), ("device", PromiseLevel::OsCrash));
    let others = format!("{{\"citus_workers\": {}}}", workers % 8 + 1);
    let error = open(&schema.url, &others, table(Layout::Wide, "r")).ping().await.unwrap_err();
    assert!(error.message.contains(&format!("has {workers} active workers")), "{error}");
    is_written_counted_weighed_and_dropped(&schema).await;
    schema.remove().await;
}

#[tokio::test]
async fn a_server_with_timescaledb_says_so() {
    let Some(url) = timescaledb() else { return };
    let schema = OwnSchema::create(url, "facts", r#"{"hypertable": true, "chunk_seconds": 1}"#).await;
    let facts = open(&schema.url, &schema.settings, table(Layout::Wide, "r")).ping().await.unwrap();
    assert!(facts.version.ends_with(&format!("with TimescaleDB {}", facts.settings["timescaledb"])), "{facts:?}");
    is_written_counted_weighed_and_dropped(&schema).await;
    schema.remove().await;
}

#[tokio::test]
async fn an_extension_that_is_not_there_is_named() {
    let Some(database) = crate::postgres::server::OwnDatabase::create().await else { return };
    for (setting, extension) in [("distributed", "citus"), ("hypertable", "timescaledb")] {
        let ours = open(&database.url(), &format!("{{\"{setting}\": true}}"), table(Layout::Wide, "r"));
        let error = ours.ping().await.unwrap_err();
        assert_eq!(error.cause, Cause::Server);
        for word in [extension, "CREATE EXTENSION", "shared_preload_libraries", setting] {
            assert!(error.message.contains(word), "{word} is missing: {error}");
        }
        assert!(ours.create().await.is_err());
    }
    assert_eq!(database.contents().await, Vec::<String>::new());
    database.remove().await;
}
