//! A database whose changes are done when they are answered.

use async_trait::async_trait;
use iotbench_core::{Cause, CounterReader, Counts, Database, Error, OwnedObject, Reader, ServerFacts, Settled, Writer};
use std::{sync::Arc, thread, time::Duration};

/// Shorter than an engine's: nothing is measured meanwhile, and what was sent has been seen before it is changed.
const PAUSE: Duration = Duration::from_millis(5);
/// More are not made at a change that is not done.
const MAX_LOOKS: u32 = 20_000;

/// The same database; what changes something in it waits until it is ready, and until it is done, as the engine does.
#[must_use]
pub fn patient(database: Arc<dyn Database>) -> Arc<dyn Database> {
    Arc::new(Patient(database))
}

struct Patient(Arc<dyn Database>);

impl Patient {
    async fn ready(&self) -> Result<(), Error> {
        for _ in 0..MAX_LOOKS {
            if self.0.proceed().await? != Settled::NotYet {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(Error::new(Cause::TimedOut, format!("a change was not done after {MAX_LOOKS} looks")))
    }

    async fn change<T: Send>(&self, change: impl Future<Output = Result<T, Error>> + Send) -> Result<T, Error> {
        self.ready().await?;
        let done = change.await?;
        self.ready().await?;
        Ok(done)
    }
}

#[async_trait]
impl Database for Patient {
    async fn ping(&self) -> Result<ServerFacts, Error> {
        self.0.ping().await
    }

    async fn create(&self) -> Result<(), Error> {
        self.change(self.0.create()).await
    }

    async fn adopt(&self) -> Result<bool, Error> {
        self.change(self.0.adopt()).await
    }

    async fn add_signals(&self) -> Result<(), Error> {
        self.change(self.0.add_signals()).await
    }

    async fn has_added_signals(&self) -> Result<bool, Error> {
        self.0.has_added_signals().await
    }

    async fn settle(&self) -> Result<Settled, Error> {
        self.0.settle().await
    }

    async fn counters(&self) -> Result<Box<dyn CounterReader>, Error> {
        self.0.counters().await
    }

    async fn count(&self) -> Result<Counts, Error> {
        self.0.count().await
    }

    async fn storage_bytes(&self) -> Result<Option<u64>, Error> {
        self.0.storage_bytes().await
    }

    async fn drop_created(&self) -> Result<(), Error> {
        self.change(self.0.drop_created()).await
    }

    async fn renew(&self) -> Result<(), Error> {
        self.0.renew().await
    }

    async fn release(&self) -> Result<(), Error> {
        self.0.release().await
    }

    async fn owned(&self) -> Result<Vec<OwnedObject>, Error> {
        self.0.owned().await
    }

    async fn drop_owned(&self, object: &OwnedObject) -> Result<(), Error> {
        self.change(self.0.drop_owned(object)).await
    }

    async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
        self.0.writer().await
    }

    async fn reader(&self) -> Result<Box<dyn Reader>, Error> {
        self.0.reader().await
    }
}
