//! The control plane of the vector, its writers and its readers.

use super::{point::Point, store::Store};
use async_trait::async_trait;
use iotbench_backend_kit::refuse::refuse;
use iotbench_core::{
    Acknowledged, Acknowledgement, Batch, Cause, Counts, Database, Error, Layout, Promise, PromiseLevel, PromiseSource,
    Query, Reader, Reply, ServerFacts, Sink, TableSpec, TagsKept, TakeTags, Writer,
};
use std::{
    collections::BTreeMap,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A table in memory. It is there between `create` and `drop_created`, and gone with the last handle.
#[derive(Clone)]
pub(crate) struct MemoryDatabase {
    table: Arc<TableSpec>,
    store: Arc<Mutex<Option<Store>>>,
}

impl MemoryDatabase {
    pub(crate) fn new(table: TableSpec) -> Self {
        Self { table: Arc::new(table), store: Arc::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Store>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the table lacks the signals that are added, and has to be altered for them.
    fn lacks_added(&self) -> Result<bool, Error> {
        let TableSpec { schema, layout, .. } = &*self.table;
        let is_altered = schema.added() > 0 && *layout == Layout::Wide;
        Ok(is_altered && !self.with_store(|store| store.has_added_signals())?)
    }

    fn with_store<T>(&self, run: impl FnOnce(&mut Store) -> T) -> Result<T, Error> {
        match self.lock().as_mut() {
            Some(store) => Ok(run(store)),
            None => {
                Err(Error::new(Cause::Server, format!("table {} does not exist: create it first", self.table.name)))
            }
        }
    }
}

#[async_trait]
impl Database for MemoryDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        Ok(ServerFacts {
            product: "memory".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            driver: "none".into(),
            method: "push to a vector".into(),
            settings: BTreeMap::new(),
            acknowledgement: Acknowledgement::Applied,
            promise: Promise {
                level: PromiseLevel::Buffered,
                nodes: 1,
                source: PromiseSource::Declared("it lives in the memory of this process".into()),
            },
        })
    }

    async fn create(&self) -> Result<(), Error> {
        *self.lock() = Some(Store::default());
        Ok(())
    }

    async fn count(&self) -> Result<Counts, Error> {
        self.with_store(|store| store.count())
    }

    async fn drop_created(&self) -> Result<(), Error> {
        *self.lock() = None;
        Ok(())
    }

    async fn add_signals(&self) -> Result<(), Error> {
        self.with_store(Store::add_signals)
    }

    async fn has_added_signals(&self) -> Result<bool, Error> {
        self.with_store(|store| store.has_added_signals())
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(MemoryWriter { database: self.clone(), uncommitted: None }))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Ok(Box::new(MemoryReader { database: self.clone() }))
    }
}

struct MemoryWriter {
    database: MemoryDatabase,
    uncommitted: Option<Vec<Point>>,
}

#[async_trait]
impl Writer for MemoryWriter {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        refuse(batch, &self.database.table)?;
        if batch.lacking() == 0 && !batch.is_empty() && self.database.lacks_added()? {
            return Err(Error::new(Cause::Server, "the table lacks the signals that are added"));
        }
        let points = Point::all_of(batch);
        match &mut self.uncommitted {
            Some(uncommitted) => uncommitted.extend(points),
            None => self.database.with_store(|store| store.extend(points))?,
        }
        Ok(Acknowledged { points: batch.len() as u64, bytes: 0 })
    }

    async fn begin(&mut self) -> Result<(), Error> {
        if self.uncommitted.is_some() {
            return Err(Error::new(Cause::Client, "a transaction is open already"));
        }
        self.uncommitted = Some(Vec::new());
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), Error> {
        let Some(points) = self.uncommitted.take() else {
            return Err(Error::new(Cause::Client, "no transaction is open"));
        };
        self.database.with_store(|store| store.extend(points))
    }
}

struct MemoryReader {
    database: MemoryDatabase,
}

#[async_trait]
impl Reader for MemoryReader {
    async fn query(&mut self, query: &Query, sink: &mut dyn Sink) -> Result<Reply, Error> {
        self.database.with_store(|store| store.answer(&self.database.table.schema, query, sink))?
    }

    /// What the schema says of each device, or of each datapoint where that changes: there is nothing that could hold others.
    async fn tags(&mut self, devices: Range<u32>, take: &mut TakeTags<'_>) -> Result<TagsKept, Error> {
        let TableSpec { schema, devices: all, .. } = &*self.database.table;
        let tags = schema.tags();
        let mut tell = |device, index| {
            let values: Vec<String> = tags.at(device, index).map(|(_, value)| value.to_string()).collect();
            take(device, &values.iter().map(|value| Some(value.as_str())).collect::<Vec<_>>())
        };
        if tags.life().is_some() {
            let units = self.database.with_store(|store| store.units(tags, &devices))?;
            units.into_iter().try_for_each(|((device, _), index)| tell(device, index))?;
            return Ok(TagsKept::WithDatapoints);
        }
        (devices.start..devices.end.min(*all)).try_for_each(|device| tell(device, 0))?;
        Ok(TagsKept::WithDevices)
    }
}
