//! Every built-in backend in every layout behaves as it should.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use iotbench_backends::BACKENDS;
use iotbench_conformance::{Fixture, Outcome, assert_conforms, check};
use iotbench_core::{Backend, Layout, OpenRequest, Registry, Settings, TableSpec, Target};

/// A backend that needs no place.
struct Plain(&'static str);

impl Fixture for Plain {
    fn backend(&self) -> &'static dyn Backend {
        Registry::new(BACKENDS).find(self.0).unwrap()
    }

    fn request(&self, table: TableSpec) -> OpenRequest {
        OpenRequest { target: Target::default(), settings: Settings::default(), table }
    }
}

async fn conforms(fixture: &dyn Fixture, layout: Layout) -> Vec<Outcome> {
    let outcomes = check(fixture, layout).await;
    assert_conforms(&outcomes);
    outcomes
}

#[cfg(feature = "memory")]
#[tokio::test]
async fn memory() {
    for layout in Layout::ALL {
        conforms(&Plain("memory"), layout).await;
    }
}

#[cfg(feature = "blackhole")]
#[tokio::test]
async fn blackhole() {
    for layout in Layout::ALL {
        let outcomes = conforms(&Plain("blackhole"), layout).await;
        assert!(outcomes.iter().any(|o| matches!(o.verdict, iotbench_conformance::Verdict::Skipped(_))));
    }
}

#[cfg(feature = "sqlite")]
mod sqlite {
    use super::*;
    use iotbench_core::Endpoint;
    use rusqlite::{Connection, types::Value};
    use std::path::PathBuf;
    use url::Url;

    /// A file of the user's own, with a table in it.
    struct Sqlite {
        file: PathBuf,
        _folder: tempfile::TempDir,
    }

    impl Sqlite {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("the user's own.db");
            let connection = Connection::open(&file).unwrap();
            connection.execute_batch("CREATE TABLE mine (a); INSERT INTO mine VALUES (1), ('x'), (NULL);").unwrap();
            Self { file, _folder: folder }
        }
    }

    #[async_trait::async_trait]
    impl Fixture for Sqlite {
        fn backend(&self) -> &'static dyn Backend {
            Registry::new(BACKENDS).find("sqlite").unwrap()
        }

        fn request(&self, table: TableSpec) -> OpenRequest {
            let url = format!("sqlite:{}", self.file.display());
            let endpoints = vec![Endpoint::new(Url::parse(&url).unwrap())];
            let settings = Settings([("synchronous".to_owned(), "OFF".into())].into_iter().collect());
            OpenRequest { target: Target { endpoints, ..Target::default() }, settings, table }
        }

        async fn plant_foreign(&self, table: &TableSpec) -> bool {
            let plant = format!("CREATE TABLE {} (ts); INSERT INTO {0} VALUES ('planted');", table.name);
            Connection::open(&self.file).unwrap().execute_batch(&plant).unwrap();
            true
        }

        async fn contents(&self) -> Option<Vec<String>> {
            Some(contents(&self.file))
        }
    }

    #[tokio::test]
    async fn wide() {
        conforms(&Sqlite::new(), Layout::Wide).await;
    }

    #[tokio::test]
    async fn narrow() {
        conforms(&Sqlite::new(), Layout::Narrow).await;
    }

    #[tokio::test]
    async fn document() {
        conforms(&Sqlite::new(), Layout::Document).await;
    }

    #[tokio::test]
    async fn bulk() {
        conforms(&Sqlite::new(), Layout::Bulk).await;
    }

    /// All objects and all rows.
    fn contents(file: &PathBuf) -> Vec<String> {
        let connection = Connection::open(file).unwrap();
        let text = |sql: &str| -> Vec<String> {
            let mut statement = connection.prepare(sql).unwrap();
            let width = statement.column_count();
            let row =
                |row: &rusqlite::Row<'_>| (0..width).map(|i| row.get::<_, Value>(i)).collect::<Result<Vec<_>, _>>();
            statement.query_map([], row).unwrap().map(|values| format!("{:?}", values.unwrap())).collect()
        };
        let mut contents = text("SELECT type, name, sql FROM sqlite_schema ORDER BY name");
        let mut tables =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").unwrap();
        let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        contents.extend(tables.iter().flat_map(|table| text(&format!("SELECT rowid, * FROM {table}"))));
        contents
    }
}
