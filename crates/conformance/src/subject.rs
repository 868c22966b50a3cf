//! The backend under test.

use async_trait::async_trait;
use iotbench_core::{
    Backend, Batch, Capabilities, Chunk, Counts, Database, Layout, Marker, Misfit, Name, OpenRequest, Query, Reader,
    Reply, Schema, Settled, TableSpec, Writer,
};
use std::sync::Arc;

use crate::{compare::Rows, patient};

/// What only the test of a backend knows: where its database is and how to look at it from outside.
#[async_trait]
pub trait Fixture: Sync {
    /// The backend under test.
    fn backend(&self) -> &'static dyn Backend;

    /// How this table is reached. All tables are asked for in one database, which the test may throw away.
    fn request(&self, table: TableSpec) -> OpenRequest;

    /// Plants a stranger's object of the table's name, without our marker. `false`: there can be none.
    async fn plant_foreign(&self, _table: &TableSpec) -> bool {
        false
    }

    /// Everything that the database holds, with its content, in a fixed order. `None`: it cannot be seen from outside.
    async fn contents(&self) -> Option<Vec<String>> {
        None
    }
}

/// Why a check failed.
pub(crate) struct Failure(pub(crate) String);

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

pub(crate) type Check = Result<(), Failure>;

/// Fails a check unless a condition holds.
pub(crate) fn ensure(condition: bool, message: impl FnOnce() -> String) -> Check {
    if condition { Ok(()) } else { Err(Failure(message())) }
}

/// The backend under test in one layout.
pub(crate) struct Subject<'a> {
    pub(crate) fixture: &'a dyn Fixture,
    pub(crate) layout: Layout,
}

const TABLE: &str = "conformance";
/// A queueing database shows what it acknowledged within as many looks at it.
const MAX_LOOKS: u32 = 1_000_000;

impl<'a> Subject<'a> {
    pub(crate) fn new(fixture: &'a dyn Fixture, layout: Layout) -> Self {
        Self { fixture, layout }
    }

    pub(crate) fn capabilities(&self) -> &'static Capabilities {
        &self.fixture.backend().info().capabilities
    }

    /// Why a schema cannot be held, if it cannot.
    pub(crate) fn misfit(&self, schema: &Schema) -> Option<Misfit> {
        let backend = self.fixture.backend();
        let unit = self.capabilities().time_unit.ns();
        backend.info().fit(self.layout, schema, unit).err()
    }

    pub(crate) fn table(&self, schema: &Schema, devices: u32, run_id: &str) -> Result<TableSpec, Failure> {
        Ok(TableSpec {
            name: Name::new(TABLE)?,
            layout: self.layout,
            schema: schema.clone(),
            devices,
            marker: Marker { run_id: run_id.into(), fingerprint: "conformance".into() },
        })
    }

    pub(crate) fn open(&self, table: &TableSpec) -> Result<Session, Failure> {
        let database = patient(self.fixture.backend().open(self.fixture.request(table.clone()))?);
        Ok(Session { database, stores: self.capabilities().stores })
    }
}

/// An open database.
pub(crate) struct Session {
    pub(crate) database: Arc<dyn Database>,
    stores: bool,
}

impl Session {
    /// Creates the table and writes batches to it, each as one request.
    pub(crate) async fn fill(&self, batches: &[Batch]) -> Check {
        self.database.create().await?;
        let mut writer = self.database.writer().await?;
        self.write(&mut *writer, batches).await
    }

    pub(crate) async fn write(&self, writer: &mut dyn Writer, batches: &[Batch]) -> Check {
        for batch in batches {
            let acknowledged = writer.write(batch).await?.points;
            ensure(acknowledged == batch.len() as u64, || {
                format!("{} datapoints were sent and {acknowledged} acknowledged", batch.len())
            })?;
        }
        Ok(())
    }

    /// Waits until all that was acknowledged is visible.
    pub(crate) async fn settle(&self) -> Check {
        for _ in 0..MAX_LOOKS {
            if self.database.settle().await? != Settled::NotYet {
                return Ok(());
            }
        }
        Err(Failure(format!("it had not settled after {MAX_LOOKS} looks")))
    }

    /// Holds the counts against those expected; where nothing is stored, against nothing.
    pub(crate) async fn expect_counts(&self, points: u64, values: u64) -> Check {
        self.settle().await?;
        let expected = if self.stores { Counts { points, values } } else { Counts::default() };
        let counts = self.database.count().await?;
        ensure(counts == expected, || format!("{counts:?} are stored and not {expected:?}"))
    }

    pub(crate) async fn reader(&self) -> Result<Box<dyn Reader>, Failure> {
        self.settle().await?;
        Ok(self.database.reader().await?)
    }
}

/// Asks, and collects the rows of the answer.
pub(crate) async fn ask(reader: &mut dyn Reader, query: &Query) -> Result<(Rows, Reply), Failure> {
    let mut rows = Rows::default();
    let mut sink = |chunk: &Chunk| rows.take(chunk);
    let reply = reader.query(query, &mut sink).await?;
    ensure(reply.rows == rows.len(), || format!("the reply says {} rows and held {}", reply.rows, rows.len()))?;
    Ok((rows, reply))
}
