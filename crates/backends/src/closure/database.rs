//! What the engine sees of a closure.

use super::{Count, Write};
use async_trait::async_trait;
use iotbench_core::{
    Acknowledged, Acknowledgement, Batch, Cause, Counts, Database, Error, Promise, PromiseLevel, PromiseSource, Reader,
    ServerFacts, Writer,
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

pub(super) struct ClosureDatabase {
    pub(super) write: Write,
    pub(super) count: Option<Count>,
    /// Datapoints that were there before the run.
    pub(super) before: AtomicU64,
    /// Values of a datapoint.
    pub(super) width: u64,
    pub(super) acknowledgement: Acknowledgement,
}

impl ClosureDatabase {
    fn counted(&self) -> Result<u64, Error> {
        self.count.as_ref().map_or(Ok(0), |count| count())
    }
}

#[async_trait]
impl Database for ClosureDatabase {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        Ok(ServerFacts {
            product: "a closure".into(),
            version: "without one".into(),
            driver: "none".into(),
            method: "call".into(),
            settings: BTreeMap::new(),
            acknowledgement: self.acknowledgement,
            promise: Promise {
                level: PromiseLevel::Buffered,
                nodes: 0,
                source: PromiseSource::Declared("by nobody: a closure tells nothing of what it keeps".into()),
            },
        })
    }

    async fn create(&self) -> Result<(), Error> {
        self.before.store(self.counted()?, Ordering::Relaxed);
        Ok(())
    }

    /// Values are not counted by anybody: they are those of whole datapoints.
    async fn count(&self) -> Result<Counts, Error> {
        let points = self.counted()?.saturating_sub(self.before.load(Ordering::Relaxed));
        Ok(Counts { points, values: points * self.width })
    }

    /// What the closure keeps belongs to the program.
    async fn drop_created(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        Ok(Box::new(Call(Arc::clone(&self.write))))
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        Err(Error::new(Cause::Client, "a closure only writes: what is to be read needs a backend"))
    }
}

struct Call(Write);

#[async_trait]
impl Writer for Call {
    async fn write(&mut self, batch: &Batch) -> Result<Acknowledged, Error> {
        (self.0)(batch)?;
        Ok(Acknowledged { points: batch.len() as u64, bytes: 0 })
    }
}
