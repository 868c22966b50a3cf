//! Changes of a table by those who have it and those who have not.

use super::*;
use crate::flag::{Flag, Seen};
use std::{collections::BTreeMap, sync::Mutex};

/// What is on a server: a table with its marker, and flags.
#[derive(Debug, Default)]
struct State {
    table: Option<Marker>,
    flags: BTreeMap<String, Flag>,
    /// Whether removing the table removes flags too.
    forgets: bool,
}

struct Server {
    state: Arc<Mutex<State>>,
    name: Name,
    marker: Marker,
}

impl Ownership for Server {
    type Handle = ();

    fn own(&self) -> (&Name, &Marker) {
        (&self.name, &self.marker)
    }

    async fn find(&mut self, _: &Name) -> Result<Found, Error> {
        let table = self.state.lock().unwrap().table.clone();
        Ok(match table {
            None => Found::Nothing,
            Some(marker) if marker.run_id.is_empty() => Found::Foreign(Error::new(Cause::NotOurs, "theirs")),
            Some(marker) => Found::Ours(Owned { marker, exists: true, handle: () }),
        })
    }

    async fn make(&mut self, _: Option<Owned>) -> Result<(), Error> {
        let mut state = self.state.lock().unwrap();
        if state.forgets {
            state.flags.clear();
        }
        state.table = Some(self.marker.clone());
        Ok(())
    }

    async fn take_over(&mut self, _: Owned) -> Result<bool, Error> {
        self.state.lock().unwrap().table = Some(self.marker.clone());
        Ok(true)
    }

    async fn remove(&mut self, _: &Name, _: Owned) -> Result<(), Error> {
        self.state.lock().unwrap().table = None;
        Ok(())
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        Ok(Vec::new())
    }
}

impl Flags for Server {
    async fn flags(&mut self, _: &Name) -> Result<Seen, Error> {
        Ok(Seen { flags: self.state.lock().unwrap().flags.values().cloned().collect(), now_s: None })
    }

    async fn put_up(&mut self, _: &Name, flag: &Flag, _: bool) -> Result<(), Error> {
        self.state.lock().unwrap().flags.insert(flag.owner.clone(), flag.clone());
        Ok(())
    }

    async fn take_down(&mut self, _: &Name, owner: &str) -> Result<(), Error> {
        self.state.lock().unwrap().flags.remove(owner);
        Ok(())
    }
}

/// One who has opened it.
struct User {
    changes: Changes,
    state: Arc<Mutex<State>>,
    run_id: &'static str,
}

impl User {
    fn new(state: &Arc<Mutex<State>>, run_id: &'static str) -> Self {
        Self { changes: Changes::default(), state: Arc::clone(state), run_id }
    }

    fn opened(&self) -> impl Future<Output = Result<Server, Error>> + Send + use<> {
        let marker = Marker { run_id: self.run_id.into(), fingerprint: "f".into() };
        let server = Server { state: Arc::clone(&self.state), name: Name::new("t").unwrap(), marker };
        async move { Ok(server) }
    }

    /// The end of a change that was begun; `living` says between two looks that it lives.
    async fn ended<T>(&self, begun: Result<T, Error>, living: Option<&Self>) -> Result<T, Error> {
        let begun = begun?;
        while self.changes.proceed().await? == Settled::NotYet {
            if let Some(living) = living {
                living.changes.renew(living.opened()).await.unwrap();
            }
        }
        Ok(begun)
    }

    async fn create(&self, living: Option<&Self>) -> Result<(), Error> {
        self.ended(self.changes.create(self.opened()).await, living).await
    }
}

fn state() -> Arc<Mutex<State>> {
    Arc::default()
}

fn run_of(state: &Arc<Mutex<State>>) -> Option<String> {
    state.lock().unwrap().table.as_ref().map(|marker| marker.run_id.clone())
}

#[tokio::test]
async fn a_living_runs_table_is_neither_replaced_nor_taken_over_nor_dropped_and_a_dead_ones_is() {
    let state = state();
    let (running, other) = (User::new(&state, "running"), User::new(&state, "other"));
    running.create(None).await.unwrap();
    let its = OwnedObject { name: Name::new("t").unwrap(), run_id: "running".into() };
    let living = Some(&running);
    let refused = [
        other.create(living).await.unwrap_err(),
        other.ended(other.changes.adopt(other.opened()).await, living).await.unwrap_err(),
        other.ended(other.changes.drop_owned(other.opened(), &its).await, living).await.unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.cause, Cause::NotOurs);
        assert!(error.message.contains("in use by another run, running"), "{error}");
    }
    assert_eq!(run_of(&state).unwrap(), "running");
    drop(running);
    other.create(None).await.unwrap();
    assert_eq!(run_of(&state).unwrap(), "other");
    other.ended(other.changes.drop_own(other.opened()).await, None).await.unwrap();
    let state = state.lock().unwrap();
    assert!(state.table.is_none() && state.flags.is_empty(), "{state:?}");
}

#[tokio::test]
async fn a_strangers_table_gets_no_flag() {
    let state = state();
    state.lock().unwrap().table = Some(Marker { run_id: String::new(), fingerprint: "f".into() });
    let user = User::new(&state, "run");
    assert_eq!(user.create(None).await.unwrap_err().message, "theirs");
    assert!(!user.ended(user.changes.adopt(user.opened()).await, None).await.unwrap());
    user.ended(user.changes.drop_own(user.opened()).await, None).await.unwrap();
    assert!(state.lock().unwrap().flags.is_empty());
    user.changes.renew(user.opened()).await.unwrap();
    assert!(state.lock().unwrap().flags.is_empty());
}

#[tokio::test]
async fn who_removes_an_earlier_table_with_its_own_flag_has_it_again() {
    let state = state();
    state.lock().unwrap().forgets = true;
    let (running, other) = (User::new(&state, "running"), User::new(&state, "other"));
    running.create(None).await.unwrap();
    running.create(None).await.unwrap();
    assert_eq!(state.lock().unwrap().flags.len(), 1);
    assert_eq!(other.create(Some(&running)).await.unwrap_err().cause, Cause::NotOurs);
}

#[tokio::test]
async fn what_is_let_go_of_stays_and_may_be_had_by_the_next_at_once() {
    let state = state();
    let (first, next) = (User::new(&state, "first"), User::new(&state, "next"));
    first.create(None).await.unwrap();
    first.changes.release(first.opened()).await.unwrap();
    assert_eq!(next.changes.adopt(next.opened()).await, Ok(true));
    assert_eq!(next.changes.proceed().await, Ok(Settled::Yes), "nothing was waited for");
    assert_eq!(run_of(&state).unwrap(), "next");
    assert_eq!(state.lock().unwrap().flags.len(), 1);
}

#[tokio::test]
async fn what_is_not_taken_over_after_all_is_an_error_to_who_was_told_that_it_would_be() {
    let state = state();
    let (first, next) = (User::new(&state, "first"), User::new(&state, "next"));
    first.create(None).await.unwrap();
    assert_eq!(next.changes.adopt(next.opened()).await, Ok(true), "it is under way");
    state.lock().unwrap().table.as_mut().unwrap().fingerprint = "another".into();
    let error = next.ended(Ok(()), None).await.unwrap_err();
    assert_eq!(error.cause, Cause::NotOurs);
    assert!(state.lock().unwrap().flags.keys().all(|owner| *owner != next.changes.claims.owner()));
}
