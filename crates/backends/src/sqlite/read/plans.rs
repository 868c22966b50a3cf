//! How SQLite carries out what the reader asks: by the index of the layout, and by reading all where somebody dropped it.

use super::{points::OfDevice, *};
use crate::query_plan::{batch, queries, table};
use crate::sqlite::{config::Indexes, layout::create_sql, write::SqliteWriter};
use iotbench_backend_kit::{figures::Collected, sql::Grouping};
use iotbench_core::{ComputedBy, Consecutive, Schema, Writer};
use std::sync::{Mutex, PoisonError};

/// Keeps every statement for datapoints that is asked of a layout.
struct Overheard {
    shape: Box<dyn Shape>,
    statements: Arc<Mutex<Vec<String>>>,
}

impl Shape for Overheard {
    fn schema(&self) -> &Schema {
        self.shape.schema()
    }

    fn computed_by(&self) -> ComputedBy {
        self.shape.computed_by()
    }

    fn sql(&self, ask: &Ask<'_>) -> String {
        let sql = self.shape.sql(ask);
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).push(sql.clone());
        sql
    }

    fn points<'r>(&self, rows: rusqlite::Rows<'r>, ask: &Ask<'_>) -> Box<dyn Points + 'r> {
        self.shape.points(rows, ask)
    }

    fn grouped(
        &self,
        of: OfDevice<'_>,
        grouping: &Grouping<'_>,
        figures: &mut Collected,
        bytes: &mut u64,
    ) -> Result<(), Error> {
        self.shape.grouped(of, grouping, figures, bytes)
    }

    fn top(&self, ask: &Ask<'_>, function: &str) -> Result<String, Error> {
        self.shape.top(ask, function)
    }

    fn between(&self, ask: &Ask<'_>, what: Consecutive) -> Result<String, Error> {
        self.shape.between(ask, what)
    }

    fn greatest(&self, of: OfDevice<'_>, bytes: &mut u64) -> Result<Option<f64>, Error> {
        self.shape.greatest(of, bytes)
    }
}

fn plan(connection: &Connection, sql: &str) -> String {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let lines = statement.raw_query().mapped(|row| row.get::<_, String>(3));
    lines.map(Result::unwrap).collect::<Vec<_>>().join("; ")
}

/// The plans of the statements that the reader runs for each query, over a table with and without its index.
async fn plans(layout: Layout, devices: u32, has_index: bool) -> Vec<(&'static str, String)> {
    let mut spec = table(layout);
    spec.devices = devices;
    let spec = Arc::new(spec);
    let folder = tempfile::tempdir().unwrap();
    let open = || Connection::open(folder.path().join("points.sqlite")).unwrap();
    open().execute_batch(&create_sql(&spec, Indexes::Time)).unwrap();
    SqliteWriter::new(open(), Arc::clone(&spec)).unwrap().write(&batch(&spec)).await.unwrap();
    if !has_index {
        open().execute_batch("DROP INDEX points_time").unwrap();
    }
    let mut reader = SqliteReader::new(open(), Arc::clone(&spec)).unwrap();
    let statements = Arc::new(Mutex::new(Vec::new()));
    let inner = std::mem::replace(&mut reader.shape, Box::new(RecordShape::new(Arc::clone(&spec))));
    reader.shape = Box::new(Overheard { shape: inner, statements: Arc::clone(&statements) });
    let mut plans = Vec::new();
    for (name, query) in queries(devices) {
        let reply = reader.query(&query, &mut |_: &Chunk| Ok(())).await.unwrap();
        assert!(reply.rows > 0, "{layout}, {name}");
        let heard = std::mem::take(&mut *statements.lock().unwrap());
        assert!(!heard.is_empty(), "{layout}, {name}");
        plans.extend(heard.iter().map(|sql| (name, plan(&reader.connection, sql))));
    }
    plans
}

/// The part of the index that is searched.
fn key(layout: Layout, devices: u32) -> String {
    let device = if devices > 1 { "device=? AND " } else { "" };
    match layout {
        Layout::Wide | Layout::Document => format!("({device}ts>? AND ts<?)"),
        Layout::Narrow => format!("({device}(second,nanosecond)>(?,?) AND (second,nanosecond)<(?,?))"),
        Layout::Bulk => format!("({device}second>? AND second<?)"),
    }
}

#[tokio::test]
async fn datapoints_are_found_by_the_index_and_only_a_minimum_is_sorted() {
    for layout in Layout::ALL {
        for devices in [1, 2] {
            for (query, plan) in plans(layout, devices, true).await {
                let expected = format!("SEARCH points USING INDEX points_time {}", key(layout, devices));
                assert!(plan.starts_with(&expected), "{layout} × {devices}, {query}: {plan}");
                assert!(!plan.contains("TEMP B-TREE") || query == "minimum", "{layout} × {devices}, {query}: {plan}");
            }
        }
    }
}

#[tokio::test]
async fn without_its_index_the_whole_table_is_read() {
    for layout in Layout::ALL {
        for (query, plan) in plans(layout, 2, false).await {
            assert!(plan.starts_with("SCAN points") && !plan.contains("INDEX"), "{layout}, {query}: {plan}");
        }
    }
}
