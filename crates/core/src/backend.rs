//! The traits of a database backend.

use crate::{
    Acknowledgement, Batch, Capabilities, Cause, Chunk, Error, Name, Opens, Promise, PromiseLevel, Query, Recipe,
    Reply, Setting, SettingError, Settings, Sink, TableSpec, Target, Value, Variant,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// Everything a backend needs to open a database.
#[derive(Clone, Debug)]
pub struct OpenRequest {
    /// Where it is.
    pub target: Target,
    /// The user's settings for it.
    pub settings: Settings,
    /// The table that the run will use.
    pub table: TableSpec,
}

/// A kind of database: static facts, and how to open one.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// One line for help.
    fn summary(&self) -> &'static str;

    /// What it can hold and do.
    fn capabilities(&self) -> &Capabilities;

    /// The settings it takes.
    fn settings(&self) -> &'static [Setting];

    /// The port of its servers where an address names none; `None`: it has no servers.
    fn default_port(&self) -> Option<u16> {
        None
    }

    /// What an acknowledgement promises as long as no setting, of the backend or of its server, says otherwise. What a server
    /// says of itself counts more ([`ServerFacts::promise`]).
    fn promise(&self) -> PromiseLevel {
        PromiseLevel::Buffered
    }

    /// How a private server of it is started on this machine; `None`: it has none, or needs none.
    fn recipe(&self) -> Option<&'static Recipe> {
        None
    }

    /// The option of an address that says that nothing is encrypted, as on private servers; `None`: its scheme says it.
    fn plain_text(&self) -> Option<(&'static str, &'static str)> {
        None
    }

    /// Makes one database of the processes of a private server, at `target`, that was just started, where no command does
    /// ([`Recipe::join`]). It finds it made when the server starts again on a folder that was kept. The target's endpoints
    /// are those that clients use, its nodes all processes.
    ///
    /// # Errors
    /// The processes cannot be reached, or refuse.
    async fn join(&self, _target: &Target) -> Result<(), Error> {
        Ok(())
    }

    /// What else its private server can be, for lists of what is ready and what is missing.
    fn variants(&self) -> &'static [Variant] {
        &[]
    }

    /// How the private server is started that these settings of the backend ask for, where they decide on it.
    fn recipe_for(&self, _settings: &Settings) -> Option<&'static Recipe> {
        self.recipe()
    }

    /// What [`open`](Self::open) would have it open sooner or later: an agent takes no plan that names more than it is allowed.
    /// One with an address or a file by another setting than [`Opens::of`] knows tells that too.
    ///
    /// # Errors
    /// A setting or a target that it cannot take.
    fn opens(&self, target: &Target, settings: &Settings) -> Result<Opens, SettingError> {
        Ok(Opens::of(target, settings, self.default_port()))
    }

    /// Prepares a database without any I/O.
    ///
    /// # Errors
    /// A setting or a target that it cannot take.
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError>;
}

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerFacts {
    /// The product's own name.
    pub product: String,
    /// Its version.
    pub version: String,
    /// The client library that talks to it, with version.
    pub driver: String,
    /// How batches are written, e.g. `insert`, `copy`.
    pub method: String,
    /// Its effective settings that matter for the result.
    pub settings: BTreeMap<String, String>,
    /// What an acknowledgement means, as this database is set: at most what [`Capabilities`] says.
    pub acknowledgement: Acknowledgement,
    /// What an acknowledgement promises.
    pub promise: Promise,
}

impl ServerFacts {
    /// Whether acknowledged datapoints may be missing although nothing crashed: then what part of them is stored is a
    /// result, and not a fault.
    #[must_use]
    pub fn may_lose_acknowledged(&self) -> bool {
        self.acknowledgement < Acknowledgement::Applied && self.promise.level == PromiseLevel::Buffered
    }
}

/// Something in a database that carries our marker, whichever run made it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnedObject {
    /// Its name.
    pub name: Name,
    /// The run that created it.
    pub run_id: String,
}

/// The least time between two looks at what is not yet so.
pub const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// How far a database has come with what it acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// All that was acknowledged is stored and visible.
    Yes,
    /// Not yet.
    NotYet,
    /// The database does not tell.
    CannotTell,
}

/// What is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Datapoints.
    pub points: u64,
    /// Values: a datapoint that lost one shows here.
    pub values: u64,
}

/// The control plane of one database, and the maker of its writers and readers.
#[async_trait]
pub trait Database: Send + Sync {
    /// Connects, and says what is there and how it is set.
    async fn ping(&self) -> Result<ServerFacts, Error>;

    /// Creates the table and marks it as ours. An object of that name that is not ours is refused
    /// ([`crate::Cause::NotOurs`]); one of ours from another run is replaced.
    async fn create(&self) -> Result<(), Error>;

    /// Takes over a table of our name that an earlier run left, if its marker has this run's fingerprint: the marker is then
    /// this run's. False where there is none, and nothing was changed. Whether it holds what it should, the caller counts.
    async fn adopt(&self) -> Result<bool, Error> {
        Ok(false)
    }

    /// One look whether the database is ready for a change of what is ours ([`Database::create`], [`Database::adopt`],
    /// [`Database::drop_created`], [`Database::drop_owned`]), and whether the last one is done; and what it takes to go on with
    /// it. Whoever changes something looks before it and after it until this is not [`Settled::NotYet`], leaves [`LOOK_PAUSE`]
    /// between two looks, and keeps the deadline.
    async fn proceed(&self) -> Result<Settled, Error> {
        Ok(Settled::Yes)
    }

    /// One flush or one look at how far the database is; the caller repeats it and keeps the deadline.
    async fn settle(&self) -> Result<Settled, Error>;

    /// Counts what is stored in the table.
    async fn count(&self) -> Result<Counts, Error>;

    /// The bytes that the database occupies on disk; `None` where it cannot be told.
    async fn storage_bytes(&self) -> Result<Option<u64>, Error>;

    /// Drops what [`Database::create`] made, and nothing else.
    async fn drop_created(&self) -> Result<(), Error>;

    /// What carries our marker here, of whichever run: what a killed run left. Empty where nothing outlives a run.
    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        Ok(Vec::new())
    }

    /// Drops an object that [`Database::owned`] told of, if it still carries the marker of that run, and nothing else.
    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        Err(Error::new(Cause::NotOurs, format!("{} does not carry our marker", object.name)))
    }

    /// A new writer on a connection of its own.
    async fn writer(&self) -> Result<Box<dyn Writer>, Error>;

    /// A new reader on a connection of its own.
    async fn reader(&self) -> Result<Box<dyn Reader>, Error>;
}

/// A write that the database took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// How many datapoints.
    pub points: u64,
    /// How many bytes were sent, where the client can tell.
    pub bytes: u64,
}

/// Ends the call that a blocking writer or reader is in.
pub trait Interrupt: Send + Sync {
    /// Asks for the end of the present call, which then fails with [`crate::Cause::TimedOut`].
    fn interrupt(&self);
}

/// One connection that writes.
#[async_trait]
pub trait Writer: Send {
    /// Sends a batch as one request and returns when it is acknowledged as [`Capabilities`] says. Never retries.
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error>;

    /// Begins a transaction of several writes. Only where [`Capabilities::transactions`] says so.
    async fn begin(&mut self) -> Result<(), Error> {
        Err(Error::new(Cause::Client, "this backend has no transactions"))
    }

    /// Commits what was written since [`Writer::begin`].
    async fn commit(&mut self) -> Result<(), Error> {
        Err(Error::new(Cause::Client, "this backend has no transactions"))
    }

    /// How to end a call that blocks; `None` where dropping the future is enough.
    fn interrupt(&self) -> Option<Arc<dyn Interrupt>> {
        None
    }
}

/// One connection that reads.
#[async_trait]
pub trait Reader: Send {
    /// Asks, and pushes the rows of the answer into `sink` as they come.
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error>;

    /// How many datapoints are visible now. It is asked again and again while a load runs: where counting costs by the
    /// value, one signal stands for all.
    async fn visible_points(&mut self) -> Result<u64, Error> {
        let mut points = None;
        let mut sink = |chunk: &Chunk| {
            if let Some(Value::I64(counted)) = chunk.columns.first().and_then(|column| column.get(0)) {
                points = u64::try_from(counted).ok();
            }
            Ok(())
        };
        self.query(&Query::Count, &mut sink).await?;
        points.ok_or_else(|| Error::new(Cause::Server, "a count without a number"))
    }

    /// How to end a call that blocks; `None` where dropping the future is enough.
    fn interrupt(&self) -> Option<Arc<dyn Interrupt>> {
        None
    }
}
