//! The ownership protocol: what is made carries a mark, and nothing is replaced, taken over or dropped that does not.
//!
//! A backend says by [`Ownership`] how it looks, makes, marks and removes; the order, and what is refused, stands here alone.

use iotbench_core::{Cause, Error, Marker, Name, OwnedObject};
use std::future::{Future, ready};

/// What carries our marker, and what else the backend knows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned<H = ()> {
    /// Whose it is.
    pub marker: Marker,
    /// False where only the mark is left.
    pub exists: bool,
    /// What the backend needs to take it over or to remove it.
    pub handle: H,
}

/// What there is under a name.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<H = ()> {
    /// Nothing.
    Nothing,
    /// Something of ours, whichever run made it.
    Ours(Owned<H>),
    /// What carries no marker of ours.
    Foreign(Error),
    /// What carries none, in the place of what did: its mark is left.
    Replaced(Owned<H>, Error),
}

/// A database as the protocol sees it, with one table that a run makes.
pub trait Ownership: Send {
    /// What the backend knows of an object beside its marker.
    type Handle: Send + Sync;

    /// Name and marker of the run's own object.
    fn own(&self) -> (&Name, &Marker);

    /// Comes before a look that a change may follow: takes a lock, opens a transaction, or waits for what is on its way.
    fn begin(&mut self) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// What there is under a name.
    fn find(&mut self, name: &Name) -> impl Future<Output = Result<Found<Self::Handle>, Error>> + Send;

    /// Keeps others off a name that nothing has, and that is about to be had; true: it is to be looked at once more.
    fn reserve(&mut self, _name: &Name) -> impl Future<Output = Result<bool, Error>> + Send {
        ready(Ok(false))
    }

    /// Locks an object of ours that is about to be changed; true: it is to be looked at once more.
    fn hold(&mut self, _name: &Name) -> impl Future<Output = Result<bool, Error>> + Send {
        ready(Ok(false))
    }

    /// Makes and marks the run's object, in the place of an earlier one of ours.
    fn make(&mut self, earlier: Option<Owned<Self::Handle>>) -> impl Future<Output = Result<(), Error>> + Send;

    /// Puts this run's marker in the place of an earlier one's; false: it is not as it should be, and nothing was changed.
    fn take_over(&mut self, earlier: Owned<Self::Handle>) -> impl Future<Output = Result<bool, Error>> + Send;

    /// Removes an object, and its mark last: what is left half-way can be found again.
    fn remove(&mut self, name: &Name, object: Owned<Self::Handle>) -> impl Future<Output = Result<(), Error>> + Send;

    /// Removes the mark of what somebody has replaced, and leaves that alone.
    fn forget(&mut self, _name: &Name) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// Makes the change last.
    fn commit(&mut self) -> impl Future<Output = Result<(), Error>> + Send {
        ready(Ok(()))
    }

    /// Everything that carries our marker, of all runs, in any order.
    fn list(&mut self) -> impl Future<Output = Result<Vec<OwnedObject>, Error>> + Send;
}

/// Makes and marks the run's object, in the place of an earlier one of ours.
///
/// # Errors
/// [`Cause::NotOurs`] where something of its name does not carry our marker: nothing was changed then.
pub async fn create<O: Ownership>(database: &mut O) -> Result<(), Error> {
    database.begin().await?;
    let name = database.own().0.clone();
    let mut found = meant(database, &name, |_| true).await?;
    if matches!(found, Found::Nothing) && database.reserve(&name).await? {
        found = database.find(&name).await?;
    }
    let earlier = match found {
        Found::Nothing => None,
        Found::Ours(earlier) => Some(earlier),
        Found::Foreign(error) | Found::Replaced(_, error) => return Err(error),
    };
    database.make(earlier).await?;
    database.commit().await
}

/// Makes this run the owner of an object that an earlier run left, if it is there with the same fingerprint. The marker that
/// it had is returned; `None`: nothing was changed.
///
/// # Errors
/// The server's own; what does not carry our marker is left alone without one.
pub async fn adopt<O: Ownership>(database: &mut O) -> Result<Option<Marker>, Error> {
    database.begin().await?;
    let (name, Marker { fingerprint, .. }) = own(database);
    let is_same = |found: &Owned<O::Handle>| found.exists && found.marker.fingerprint == fingerprint;
    let found = match database.find(&name).await {
        Err(error) if error.cause == Cause::NotOurs => return Ok(None),
        found => held(database, &name, found?, is_same).await?,
    };
    match found {
        Found::Ours(earlier) if is_same(&earlier) => {
            let marker = earlier.marker.clone();
            if !database.take_over(earlier).await? {
                return Ok(None);
            }
            database.commit().await.map(|()| Some(marker))
        }
        _ => Ok(None),
    }
}

/// Removes the run's own object, if it is there. What carries no marker of ours, or that of another run, is left alone.
///
/// # Errors
/// [`Cause::NotOurs`] where something else has taken its place: that is left as it is.
pub async fn drop_own<O: Ownership>(database: &mut O) -> Result<(), Error> {
    let (name, Marker { run_id, .. }) = own(database);
    match remove_of_run(database, &name, &run_id).await? {
        Some(Found::Replaced(object, error)) if object.marker.run_id == run_id => {
            database.forget(&name).await?;
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Removes an object if it still carries the marker of that run.
///
/// # Errors
/// [`Cause::NotOurs`] where it does not.
pub async fn drop_owned<O: Ownership>(database: &mut O, object: &OwnedObject) -> Result<(), Error> {
    match remove_of_run(database, &object.name, &object.run_id).await? {
        None => Ok(()),
        Some(_) => Err(not_of_run(object)),
    }
}

/// What is said of an object that is asked to be dropped, and does not carry that run's marker.
#[must_use]
pub fn not_of_run(OwnedObject { name, run_id }: &OwnedObject) -> Error {
    Error::new(Cause::NotOurs, format!("{name} does not carry the marker of run {run_id}"))
}

/// Everything that carries our marker, of all runs, by name.
///
/// # Errors
/// The server's own.
pub async fn owned<O: Ownership>(database: &mut O) -> Result<Vec<OwnedObject>, Error> {
    let mut objects = database.list().await?;
    objects.sort_unstable_by(|a, b| (a.name.as_str(), &a.run_id).cmp(&(b.name.as_str(), &b.run_id)));
    Ok(objects)
}

/// Removes what carries the marker of that run; else returns what there is instead.
async fn remove_of_run<O: Ownership>(
    database: &mut O,
    name: &Name,
    run_id: &str,
) -> Result<Option<Found<O::Handle>>, Error> {
    database.begin().await?;
    let is_of_run = |found: &Owned<O::Handle>| found.marker.run_id == run_id;
    match meant(database, name, is_of_run).await? {
        Found::Ours(object) if is_of_run(&object) => {
            database.remove(name, object).await?;
            database.commit().await.map(|()| None)
        }
        found => Ok(Some(found)),
    }
}

fn own<O: Ownership>(database: &O) -> (Name, Marker) {
    let (name, marker) = database.own();
    (name.clone(), marker.clone())
}

/// What there is under a name; what is of ours and meant is held, and looked at again.
async fn meant<O: Ownership>(
    database: &mut O,
    name: &Name,
    is_meant: impl Fn(&Owned<O::Handle>) -> bool,
) -> Result<Found<O::Handle>, Error> {
    let found = database.find(name).await?;
    held(database, name, found, is_meant).await
}

/// The same of what was found.
async fn held<O: Ownership>(
    database: &mut O,
    name: &Name,
    found: Found<O::Handle>,
    is_meant: impl Fn(&Owned<O::Handle>) -> bool,
) -> Result<Found<O::Handle>, Error> {
    match &found {
        Found::Ours(object) if is_meant(object) && database.hold(name).await? => database.find(name).await,
        _ => Ok(found),
    }
}

#[cfg(test)]
mod tests;
