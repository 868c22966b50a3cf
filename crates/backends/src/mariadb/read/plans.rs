//! How the server carries out what the reader asks: by the index that the layout has, or by reading all where it has none.

#![expect(clippy::disallowed_macros, reason = "a test that is skipped says so")]

use super::{points::Points, selection::Statement, *};
use crate::mariadb::{
    MariaDb,
    address::Address,
    config::{Config, Indexes},
    server::Server,
};
use crate::query_plan::{batch, database_name, queries, table};
use iotbench_backend_kit::{figures::Collected, sql::Grouping};
use iotbench_core::{Backend, Database, Endpoint, OpenRequest, Settings, Target};
use sqlx::{Connection, Executor, Row, mysql::MySqlRow};
use std::sync::{Mutex, PoisonError};
use url::Url;

const MARIADB: &str = "IOTBENCH_TEST_MARIADB_URL";
const MYSQL: &str = "IOTBENCH_TEST_MYSQL_URL";

/// The server's address, which this variable holds; `None` skips the test.
fn url(variable: &str) -> Option<Url> {
    if let Ok(url) = std::env::var(variable) {
        return Some(url.parse().unwrap());
    }
    let is_required = std::env::var("IOTBENCH_REQUIRE_SERVERS").is_ok_and(|value| value == "1");
    assert!(!is_required, "{variable} is not set, and IOTBENCH_REQUIRE_SERVERS=1 demands it");
    eprintln!("skipped: {variable} is not set (scripts/test starts the servers)");
    None
}

/// Keeps a copy of every statement that is asked of a layout.
struct Overheard {
    shape: Box<dyn Shape>,
    statements: Arc<Mutex<Vec<Statement>>>,
}

impl Shape for Overheard {
    fn computed_by(&self) -> ComputedBy {
        self.shape.computed_by()
    }

    fn select(&self, selection: &Selection<'_>) -> Result<Statement, Error> {
        let copy = self.shape.select(selection)?;
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        self.shape.select(selection)
    }

    fn points(&self, selection: &Selection<'_>) -> Box<dyn Points> {
        self.shape.points(selection)
    }

    fn rows_of(&self, points: u64, signals: &[SignalId]) -> Option<u64> {
        self.shape.rows_of(points, signals)
    }

    fn grouped(&self, of: &Ask<'_>, grouping: &Grouping<'_>) -> Result<Statement, Error> {
        self.shape.grouped(of, grouping)
    }

    fn take_group(
        &self,
        row: &MySqlRow,
        of: &Ask<'_>,
        grouping: &Grouping<'_>,
        figures: &mut Collected,
    ) -> Result<u64, Error> {
        self.shape.take_group(row, of, grouping, figures)
    }

    fn top(&self, of: &Ask<'_>, function: &str) -> Result<Statement, Error> {
        self.shape.top(of, function)
    }

    fn greatest(&self, of: &Ask<'_>) -> Result<Option<Statement>, Error> {
        self.shape.greatest(of)
    }
}

/// id, select_type, table, type, possible_keys, key, key_len, ref, rows, Extra; MySQL has two more.
const MARIADBS_COLUMNS: usize = 10;

/// The kind of access, the index, the parts of it that are used, and what else there is to do.
#[derive(Debug)]
struct Plan {
    access: String,
    index: String,
    key_bytes: String,
    extra: String,
}

async fn explained(connection: &mut MySqlConnection, statement: Statement) -> Plan {
    let explain = format!("EXPLAIN {}", statement.sql);
    let row = sqlx::query_with(&explain, statement.arguments).fetch_one(connection).await.unwrap();
    // By place: MySQL names the columns of such an answer too late for the driver.
    let [access, index, key_bytes, extra] = if row.len() == MARIADBS_COLUMNS { [3, 5, 6, 9] } else { [4, 6, 7, 11] };
    let text = |place: usize| {
        let bytes: Option<&[u8]> = row.try_get_unchecked(place).unwrap();
        String::from_utf8(bytes.unwrap_or_default().to_vec()).unwrap()
    };
    Plan { access: text(access), index: text(index), key_bytes: text(key_bytes), extra: text(extra) }
}

async fn plans(variable: &str, layout: Layout, engine: &str, indexes: &str) -> Option<Vec<(&'static str, Plan)>> {
    let mut url = url(variable)?;
    let mut control = MySqlConnection::connect(url.as_str()).await.unwrap();
    let name = database_name();
    control.execute(format!("CREATE DATABASE {name}").as_str()).await.unwrap();
    url.set_path(&name);
    let target = Target { endpoints: vec![Endpoint::new(url)], ..Target::default() };
    let settings = [("indexes".to_owned(), indexes.into()), ("engine".to_owned(), engine.into())];
    let settings = Settings(settings.into_iter().collect());
    let request = OpenRequest { target: target.clone(), settings: settings.clone(), table: table(layout) };
    let database: Arc<dyn Database> = MariaDb.open(request).unwrap();
    database.create().await.unwrap();
    database.writer().await.unwrap().write(&batch(&table(layout))).await.unwrap();
    let server = Server::new(Address::new(&target).unwrap(), Config::new(&settings).unwrap(), None);
    let place = ReadTable::new(&name, Arc::new(table(layout)), server.config.indexes == Indexes::Time);
    let mut reader = MariaDbReader::new(server.connect_to_read().await.unwrap(), place);
    let statements = Arc::new(Mutex::new(Vec::new()));
    let inner = std::mem::replace(&mut reader.shape, Box::new(RecordShape::new(Arc::clone(&reader.place))));
    reader.shape = Box::new(Overheard { shape: inner, statements: Arc::clone(&statements) });
    let mut plans = Vec::new();
    for (query_name, query) in queries(2) {
        let reply = reader.query(&query, &mut |_: &Chunk| Ok(())).await.unwrap();
        assert!(reply.rows > 0, "{layout}, {query_name}");
        let heard = std::mem::take(&mut *statements.lock().unwrap());
        assert!(!heard.is_empty(), "{layout}, {query_name}");
        for statement in heard {
            plans.push((query_name, explained(&mut reader.connection, statement).await));
        }
    }
    control.execute(format!("DROP DATABASE {name}").as_str()).await.unwrap();
    Some(plans)
}

#[tokio::test]
async fn what_is_asked_of_one_device_is_found_by_the_index_on_device_and_time() {
    for (server, engine) in [(MARIADB, "innodb"), (MARIADB, "myrocks"), (MYSQL, "innodb")] {
        for layout in Layout::ALL {
            // A device of 4 bytes and a time of 8, in layout narrow with 4 more of nanoseconds.
            let key_bytes = if layout == Layout::Narrow { "16" } else { "12" };
            let Some(plans) = plans(server, layout, engine, "time").await else { break };
            for (query, plan) in plans {
                let found = (plan.access.as_str(), plan.index.as_str(), plan.key_bytes.as_str());
                assert_eq!(
                    found,
                    ("range", "points_time", key_bytes),
                    "{server}, {engine}, {layout}, {query}: {plan:?}"
                );
                let is_sorted = plan.extra.contains("filesort");
                assert!(!is_sorted || query == "minimum", "{server}, {engine}, {layout}, {query}: {plan:?}");
            }
        }
    }
}

#[tokio::test]
async fn without_an_index_the_whole_table_is_read() {
    for server in [MARIADB, MYSQL] {
        for layout in Layout::ALL {
            let Some(plans) = plans(server, layout, "innodb", "none").await else { break };
            for (query, plan) in plans {
                assert_eq!((plan.access.as_str(), plan.index.as_str()), ("ALL", ""), "{layout}, {query}: {plan:?}");
            }
        }
    }
}
