//! The traits of a database backend.

use crate::{
    Acknowledgement, Action, BackendInfo, Batch, Cause, Chunk, CounterReader, Error, Name, Opens, Promise,
    PromiseLevel, Query, Recipe, Reply, SettingError, Settings, Sink, Statement, StatementCall, TableSpec, TagsKept,
    TakeTags, Target, Value,
};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::Range, sync::Arc, time::Duration};

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

/// A kind of database: what is known of it, and how to open one.
#[async_trait]
pub trait Backend: Send + Sync {
    /// What is known of it.
    fn info(&self) -> &BackendInfo;

    /// Prepares a database without any I/O.
    ///
    /// # Errors
    /// A setting or a target that it cannot take.
    fn open(&self, request: OpenRequest) -> Result<Arc<dyn Database>, SettingError>;

    /// What [`open`](Self::open) would have it open sooner or later: an agent takes no plan that names more than it is allowed.
    /// One with an address or a file by another setting than [`Opens::of`] knows tells that too.
    ///
    /// # Errors
    /// A setting or a target that it cannot take.
    fn opens(&self, target: &Target, settings: &Settings) -> Result<Opens, SettingError> {
        Ok(Opens::of(target, settings, self.info().default_port))
    }

    /// Whether a statement of a user's own is one that it takes, beyond what its language says.
    ///
    /// # Errors
    /// Why it is not.
    fn check_statement(&self, _statement: &Statement) -> Result<(), String> {
        Ok(())
    }

    /// How the private server is started that these settings of the backend ask for, where they decide on it.
    fn recipe_for(&self, _settings: &Settings) -> Option<&'static Recipe> {
        self.info().recipe
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
    /// What an acknowledgement means, as this database is set: at most what [`crate::Capabilities`] says.
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

/// How often a run says on the server that it goes on ([`Database::renew`]). It costs a connection and two to four small requests.
pub const RENEWAL: Duration = Duration::from_secs(4);

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

    /// Of how many devices [`Database::create`], which is under way, has stored the tags; `None`: it is not known. For whoever
    /// shows how far it is.
    fn devices_made(&self) -> Option<u32> {
        None
    }

    /// Counts what is stored in the table.
    async fn count(&self) -> Result<Counts, Error>;

    /// Drops what [`Database::create`] made, and nothing else.
    async fn drop_created(&self) -> Result<(), Error>;

    /// Adds to the table the signals that were not there when it was created ([`crate::Schema::added_signals`]). Only where
    /// [`BackendInfo::added_signals`] says that the table is altered.
    async fn add_signals(&self) -> Result<(), Error> {
        Err(Error::new(Cause::Client, "this backend alters no table").action(Action::Stop))
    }

    /// Whether they are in the table. Only where it is altered.
    async fn has_added_signals(&self) -> Result<bool, Error> {
        Err(Error::new(Cause::Client, "this backend alters no table").action(Action::Stop))
    }

    /// A new writer on a connection of its own.
    async fn writer(&self) -> Result<Box<dyn Writer>, Error>;

    /// A new reader on a connection of its own, of the signals that the table has now. Only where [`crate::Capabilities::stores`] says so, or a profile asks it.
    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Err(Error::new(Cause::Client, "this backend cannot be asked: use a profile that only writes")
            .action(Action::Stop))
    }

    /// A new reader whose statements may change the table, on a connection of its own. Only where
    /// [`crate::BackendInfo::statements_write`] says so, and a profile with `writes = true`.
    async fn changing_reader(&self) -> Result<Box<dyn Reader>, Error> {
        Err(Error::new(Cause::Client, "this backend takes no statements that write").action(Action::Stop))
    }

    /// One flush or one look at how far the database is with what it acknowledged; the caller repeats it and keeps the deadline.
    async fn settle(&self) -> Result<Settled, Error> {
        Ok(Settled::CannotTell)
    }

    /// The bytes that the database occupies on disk; `None` where it cannot be told.
    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        Ok(None)
    }

    /// Reads what the server counts of itself, on a connection of its own. Only where [`BackendInfo::counters`] names any.
    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        Err(Error::new(Cause::Client, "this backend reads no counters of its server"))
    }

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

    /// Says on the server that the table is still in use, where nothing else tells other users and other machines. Whoever changes
    /// something here calls it every [`RENEWAL`] until he has let go of the table, also beside other calls.
    /// [`crate::Cause::NotOurs`]: another run has taken it, which may be where this one stood still for long.
    async fn renew(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Lets go of a table that is to stay: others may take it from then on.
    async fn release(&self) -> Result<(), Error> {
        Ok(())
    }

    /// What carries our marker here, of whichever run: what a killed run left. Empty where nothing outlives a run.
    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        Ok(Vec::new())
    }

    /// Drops an object that [`Database::owned`] told of, if it still carries the marker of that run, and nothing else.
    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        Err(Error::new(Cause::NotOurs, format!("{} does not carry our marker", object.name)))
    }
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
    /// Sends a batch as one request and returns when it is acknowledged as [`crate::Capabilities`] says. Never retries.
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error>;

    /// Begins a transaction of several writes. Only where [`crate::Capabilities::transactions`] says so.
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

    /// Asks what a user wrote, without letting it write. Each row of the answer is the device asked for, time 0 and one F64
    /// column: the first number of the database's row, if it has one. Only where [`BackendInfo::statements`] says so. On a
    /// connection of [`Database::changing_reader`] it may change the table: the reply's rows are then those that it changed,
    /// and its bytes those that were sent.
    async fn statement(&mut self, _call: &StatementCall<'_>, _sink: &mut dyn Sink) -> Result<Reply, Error> {
        Err(Error::new(Cause::Client, "this backend takes no statements of your own"))
    }

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

    /// Gives what is stored of the tags of these devices, at least one of them, to `take`. Only where the table's schema has tags.
    async fn tags(&mut self, _devices: Range<u32>, _take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        Ok(TagsKept::CannotTell)
    }

    /// How to end a call that blocks; `None` where dropping the future is enough.
    fn interrupt(&self) -> Option<Arc<dyn Interrupt>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Capabilities, Domain, Duplicates, Layout, ReplyColumn, TimeUnit, ValueType};
    use std::{
        pin::pin,
        task::{Context, Poll, Waker},
    };

    /// All that a backend must write: nine methods.
    #[derive(Clone)]
    struct Least;

    static INFO: BackendInfo = BackendInfo::new(
        "least",
        "does nothing",
        Capabilities {
            layouts: &[Layout::Wide],
            time_unit: TimeUnit::Ns,
            duplicates: Duplicates::Keep,
            domain: |_| Domain::Full,
            acknowledgement: Acknowledgement::None,
            transactions: false,
            buckets: &[],
            most_writers: None,
            blocking: false,
            embedded: true,
            stores: false,
            empties: false,
        },
    );

    fn nothing<T>() -> Result<T, Error> {
        Err(Error::new(Cause::Client, "it does nothing"))
    }

    impl Backend for Least {
        fn info(&self) -> &BackendInfo {
            &INFO
        }
        fn open(&self, _: OpenRequest) -> Result<Arc<dyn Database>, SettingError> {
            Ok(Arc::new(self.clone()))
        }
    }

    #[async_trait]
    impl Database for Least {
        async fn ping(&self) -> Result<ServerFacts, Error> {
            nothing()
        }
        async fn create(&self) -> Result<(), Error> {
            nothing()
        }
        async fn count(&self) -> Result<Counts, Error> {
            nothing()
        }
        async fn drop_created(&self) -> Result<(), Error> {
            nothing()
        }
        async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
            Ok(Box::new(self.clone()))
        }
    }

    #[async_trait]
    impl Writer for Least {
        async fn write(&mut self, _: &Batch) -> Result<Acknowledged, Error> {
            nothing()
        }
    }

    #[async_trait]
    impl Reader for Least {
        async fn query(&mut self, _: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
            let mut counts = ReplyColumn::new(ValueType::I64);
            counts.push(Some(Value::I64(7)))?;
            sink.push(&Chunk { devices: vec![0], timestamps_ns: vec![0], columns: vec![counts] })?;
            Ok(Reply { rows: 1, bytes: 0, computed_by: crate::ComputedBy::Server })
        }
    }

    /// What none of these waits for.
    fn now<T>(future: impl Future<Output = T>) -> T {
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn what_a_backend_does_not_say_claims_nothing() {
        let (target, settings) = (Target::default(), Settings::default());
        assert!(INFO.settings.is_empty() && INFO.variants.is_empty() && INFO.default_port.is_none());
        assert_eq!((INFO.promise, INFO.plain_text), (PromiseLevel::Buffered, None));
        assert!(Least.recipe_for(&settings).is_none() && Least.opens(&target, &settings).unwrap() == Opens::default());
        assert_eq!(now(Least.join(&target)), Ok(()));
        assert_eq!(now(Least.settle()), Ok(Settled::CannotTell));
        assert_eq!((now(Least.storage_bytes()), now(Least.adopt()), Least.devices_made()), (Ok(None), Ok(false), None));
        assert_eq!((now(Least.proceed()), now(Least.owned())), (Ok(Settled::Yes), Ok(Vec::new())));
        assert_eq!((now(Least.renew()), now(Least.release())), (Ok(()), Ok(())));
        let stranger = OwnedObject { name: Name::new("x").unwrap(), run_id: String::new() };
        assert_eq!(now(Least.drop_owned(&stranger)).unwrap_err().cause, Cause::NotOurs);
        let refused = now(Database::reader(&Least)).err().unwrap();
        assert!(refused.action == Action::Stop && refused.message.contains("only writes"), "{refused}");
        let refused = now(Least.changing_reader()).err().unwrap();
        assert!(refused.action == Action::Stop && refused.message.contains("that write"), "{refused}");
        let statement = Statement::parse("SELECT 1", crate::Language::Sql, false).unwrap();
        assert!(Least.check_statement(&statement).is_ok() && !INFO.statements_write);
        assert!(INFO.counters.is_empty() && now(Least.counters()).is_err());
        let mut writer = now(Least.writer()).unwrap();
        assert!(now(writer.begin()).is_err() && now(writer.commit()).is_err() && writer.interrupt().is_none());
        assert_eq!(now(Least.visible_points()), Ok(7));
        assert_eq!(now(Least.tags(0..1, &mut |_, _| nothing())), Ok(TagsKept::CannotTell));
        assert!(Reader::interrupt(&Least).is_none());
    }
}
