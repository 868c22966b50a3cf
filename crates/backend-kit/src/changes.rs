//! Changes of what is ours that go on look by look ([`crate::looks`]), one after the other, each by whoever has the table
//! ([`crate::claims`]).

use crate::{
    claims::Claims,
    flag::Flags,
    looks::{Looks, Work},
    ownership::{self, Found, Owned, Ownership},
};
use iotbench_core::{Cause, Error, Marker, Name, OwnedObject, Settled};
use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// The changes of one who has opened a database, and the tables that are his.
#[derive(Debug, Default)]
pub struct Changes {
    work: Work<bool>,
    claims: Arc<Claims>,
}

impl Changes {
    /// What a change says it by that it has looked.
    #[must_use]
    pub fn looks(&self) -> Looks {
        self.work.looks()
    }

    /// Begins [`ownership::create`]. The table is had from then on.
    ///
    /// # Errors
    /// As [`ownership::create`], and where somebody else has the table; those of later looks are [`Self::proceed`]'s.
    pub async fn create<O: Shared>(&self, opened: impl Opened<O>) -> Result<(), Error> {
        self.begin(opened, Change::Create).await.map(drop)
    }

    /// Begins [`ownership::adopt`]. The table is had from then on, if it is taken over. True: it is, or that is still under way.
    ///
    /// # Errors
    /// As [`ownership::adopt`], and where somebody else has the table; those of later looks are [`Self::proceed`]'s.
    pub async fn adopt<O: Shared>(&self, opened: impl Opened<O>) -> Result<bool, Error> {
        let is_told = Arc::new(AtomicBool::new(false));
        let adopted = self.begin(opened, Change::Adopt(Arc::clone(&is_told))).await?;
        is_told.store(adopted.is_none(), Ordering::Relaxed);
        Ok(adopted.unwrap_or(true))
    }

    /// Begins [`ownership::drop_own`]. The table is no longer had then.
    ///
    /// # Errors
    /// As [`ownership::drop_own`], and where somebody else has the table; those of later looks are [`Self::proceed`]'s.
    pub async fn drop_own<O: Shared>(&self, opened: impl Opened<O>) -> Result<(), Error> {
        self.begin(opened, Change::DropOwn).await.map(drop)
    }

    /// Begins [`ownership::drop_owned`].
    ///
    /// # Errors
    /// As [`ownership::drop_owned`], and where somebody has the table; those of later looks are [`Self::proceed`]'s.
    pub async fn drop_owned<O: Shared>(&self, opened: impl Opened<O>, object: &OwnedObject) -> Result<(), Error> {
        self.begin(opened, Change::DropOwned(object.clone())).await.map(drop)
    }

    /// The next look.
    ///
    /// # Errors
    /// The change's own.
    pub async fn proceed(&self) -> Result<Settled, Error> {
        self.work.proceed().await
    }

    /// Says once more that what is had is in use.
    ///
    /// # Errors
    /// [`Cause::NotOurs`]: somebody else has it.
    pub async fn renew<F: Flags>(&self, opened: impl Future<Output = Result<F, Error>> + Send) -> Result<(), Error> {
        if self.claims.is_empty() { Ok(()) } else { self.claims.renew(&mut opened.await?).await }
    }

    /// Lets go of what is had, which stays.
    ///
    /// # Errors
    /// The server's own.
    pub async fn release<F: Flags>(&self, opened: impl Future<Output = Result<F, Error>> + Send) -> Result<(), Error> {
        if self.claims.is_empty() {
            return Ok(());
        }
        let mut server = opened.await?;
        for name in self.claims.names() {
            self.claims.release(&mut server, &name).await?;
        }
        Ok(())
    }

    async fn begin<O: Shared>(&self, opened: impl Opened<O>, change: Change) -> Result<Option<bool>, Error> {
        let (claims, looks) = (Arc::clone(&self.claims), self.looks());
        // It outlives this call, and is larger than who begins it should be.
        let work = Box::pin(async move { change.of(Leased { database: opened.await?, claims, looks }).await });
        self.work.begin(work).await
    }
}

/// A change, which may outlive the call that began it.
enum Change {
    Create,
    /// And whether it was told that it is under way.
    Adopt(Arc<AtomicBool>),
    DropOwn,
    DropOwned(OwnedObject),
}

impl Change {
    /// Makes it; whether anything was changed.
    async fn of<O: Shared>(self, mut ours: Leased<O>) -> Result<bool, Error> {
        let own = ours.own().0.clone();
        let (name, has_it_then) = match &self {
            Self::Create | Self::Adopt(_) => (&own, true),
            Self::DropOwn => (&own, false),
            Self::DropOwned(object) => (&object.name, false),
        };
        let changed = match &self {
            Self::Create => ownership::create(&mut ours).await.map(|()| true),
            Self::Adopt(_) => ownership::adopt(&mut ours).await.map(|adopted| adopted.is_some()),
            Self::DropOwn => ownership::drop_own(&mut ours).await.map(|()| true),
            Self::DropOwned(object) => ownership::drop_owned(&mut ours, object).await.map(|()| true),
        };
        if !(has_it_then && changed == Ok(true)) {
            let released = ours.claims.release(&mut ours.database, name).await;
            changed.as_ref().map_or(Ok(()), |_| released)?;
        }
        match (&self, &changed) {
            (Self::Adopt(is_told), Ok(false)) if is_told.load(Ordering::Relaxed) => {
                Err(Error::new(Cause::NotOurs, format!("{name} was changed by somebody else while it was waited for")))
            }
            _ => changed,
        }
    }
}

/// A database whose tables have flags.
pub trait Shared: Ownership + Flags + 'static {}
impl<O: Ownership + Flags + 'static> Shared for O {}

/// A database that is being connected to.
pub trait Opened<O>: Future<Output = Result<O, Error>> + Send + 'static {}
impl<O, F: Future<Output = Result<O, Error>> + Send + 'static> Opened<O> for F {}

/// A database of which nothing is changed but by who has it.
struct Leased<O> {
    database: O,
    claims: Arc<Claims>,
    looks: Looks,
}

impl<O: Shared> Leased<O> {
    async fn take(&mut self, name: &Name) -> Result<(), Error> {
        let run_id = self.database.own().1.run_id.clone();
        self.claims.take(&mut self.database, name, &run_id, &self.looks).await
    }
}

impl<O: Shared> Ownership for Leased<O> {
    type Handle = O::Handle;

    fn own(&self) -> (&Name, &Marker) {
        self.database.own()
    }

    async fn begin(&mut self) -> Result<(), Error> {
        self.database.begin().await
    }

    async fn find(&mut self, name: &Name) -> Result<Found<O::Handle>, Error> {
        self.database.find(name).await
    }

    /// Nothing has been written before, also where a stranger has the name.
    async fn reserve(&mut self, name: &Name) -> Result<bool, Error> {
        self.take(name).await.map(|()| true)
    }

    async fn hold(&mut self, name: &Name) -> Result<bool, Error> {
        self.take(name).await?;
        self.database.hold(name).await.map(|_| true)
    }

    async fn make(&mut self, earlier: Option<Owned<O::Handle>>) -> Result<(), Error> {
        self.database.make(earlier).await?;
        let name = self.database.own().0.clone();
        self.claims.confirm(&mut self.database, &name, &self.looks).await
    }

    async fn take_over(&mut self, earlier: Owned<O::Handle>) -> Result<bool, Error> {
        self.database.take_over(earlier).await
    }

    async fn remove(&mut self, name: &Name, object: Owned<O::Handle>) -> Result<(), Error> {
        self.database.remove(name, object).await
    }

    async fn forget(&mut self, name: &Name) -> Result<(), Error> {
        self.database.forget(name).await
    }

    async fn commit(&mut self) -> Result<(), Error> {
        self.database.commit().await
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        self.database.list().await
    }
}

#[cfg(test)]
mod tests;
