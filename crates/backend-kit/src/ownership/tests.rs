//! The protocol against a database that writes down what it is asked to do.

use super::*;
use std::{
    pin::pin,
    task::{Context, Poll, Waker},
};

/// What is there, and what was done, in order.
struct Book {
    name: Name,
    marker: Marker,
    there: Vec<Found>,
    done: Vec<&'static str>,
    is_held: bool,
    takes_over: bool,
}

impl Ownership for Book {
    type Handle = ();

    fn own(&self) -> (&Name, &Marker) {
        (&self.name, &self.marker)
    }

    async fn begin(&mut self) -> Result<(), Error> {
        self.done.push("begin");
        Ok(())
    }

    async fn find(&mut self, _: &Name) -> Result<Found, Error> {
        self.done.push("find");
        Ok(self.there.remove(0))
    }

    async fn hold(&mut self, _: &Name) -> Result<bool, Error> {
        if self.is_held {
            self.done.push("hold");
        }
        Ok(self.is_held)
    }

    async fn make(&mut self, earlier: Option<Owned>) -> Result<(), Error> {
        self.done.push(if earlier.is_some() { "replace" } else { "make" });
        Ok(())
    }

    async fn take_over(&mut self, _: Owned) -> Result<bool, Error> {
        self.done.push("take over");
        Ok(self.takes_over)
    }

    async fn remove(&mut self, _: &Name, _: Owned) -> Result<(), Error> {
        self.done.push("remove");
        Ok(())
    }

    async fn forget(&mut self, _: &Name) -> Result<(), Error> {
        self.done.push("forget");
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), Error> {
        self.done.push("commit");
        Ok(())
    }

    async fn list(&mut self) -> Result<Vec<OwnedObject>, Error> {
        Ok(["b", "a"].map(|name| OwnedObject { name: Name::new(name).unwrap(), run_id: "r".into() }).into())
    }
}

fn book(there: impl IntoIterator<Item = Found>) -> Book {
    let marker = Marker { run_id: "ours".into(), fingerprint: "same".into() };
    let there = there.into_iter().collect();
    Book { name: Name::new("t").unwrap(), marker, there, done: Vec::new(), is_held: false, takes_over: true }
}

fn of(run_id: &str, fingerprint: &str) -> Owned {
    let marker = Marker { run_id: run_id.into(), fingerprint: fingerprint.into() };
    Owned { marker, exists: true, handle: () }
}

fn refused() -> Error {
    Error::new(Cause::NotOurs, "theirs")
}

/// None of the book's calls waits.
fn now<T>(call: impl Future<Output = T>) -> T {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn only_what_is_ours_is_replaced() {
    let mut nothing = book([Found::Nothing]);
    now(create(&mut nothing)).unwrap();
    assert_eq!(nothing.done, ["begin", "find", "make", "commit"]);

    let mut earlier = book([Found::Ours(of("other", "else"))]);
    now(create(&mut earlier)).unwrap();
    assert_eq!(earlier.done, ["begin", "find", "replace", "commit"], "of whichever run");

    for theirs in [Found::Foreign(refused()), Found::Replaced(of("ours", "same"), refused())] {
        let mut theirs = book([theirs]);
        assert_eq!(now(create(&mut theirs)).unwrap_err(), refused());
        assert_eq!(theirs.done, ["begin", "find"], "nothing was changed");
    }
}

#[test]
fn only_what_is_there_with_the_same_fingerprint_is_taken_over() {
    let mut same = book([Found::Ours(of("other", "same"))]);
    assert_eq!(now(adopt(&mut same)).unwrap().unwrap().run_id, "other");
    assert_eq!(same.done, ["begin", "find", "take over", "commit"]);

    let left = Owned { exists: false, ..of("other", "same") };
    for found in [Found::Nothing, Found::Ours(of("other", "else")), Found::Ours(left), Found::Foreign(refused())] {
        let mut book = book([found]);
        assert_eq!(now(adopt(&mut book)).unwrap(), None);
        assert_eq!(book.done, ["begin", "find"]);
    }

    let mut too_late = Book { takes_over: false, ..book([Found::Ours(of("other", "same"))]) };
    assert_eq!(now(adopt(&mut too_late)).unwrap(), None);
    assert_eq!(too_late.done, ["begin", "find", "take over"], "and nothing is made to last");
}

#[test]
fn only_what_carries_the_runs_own_marker_is_dropped() {
    let mut own = book([Found::Ours(of("ours", "else"))]);
    now(drop_own(&mut own)).unwrap();
    assert_eq!(own.done, ["begin", "find", "remove", "commit"]);

    for found in [Found::Nothing, Found::Ours(of("other", "same")), Found::Foreign(refused())] {
        let mut others = book([found]);
        now(drop_own(&mut others)).unwrap();
        assert_eq!(others.done, ["begin", "find"], "it is left alone without an error");
    }

    let object = OwnedObject { name: Name::new("t").unwrap(), run_id: "other".into() };
    let mut other = book([Found::Ours(of("other", "same"))]);
    now(drop_owned(&mut other, &object)).unwrap();
    assert_eq!(other.done, ["begin", "find", "remove", "commit"]);
    for found in [Found::Nothing, Found::Ours(of("ours", "same")), Found::Foreign(refused())] {
        let mut others = book([found]);
        assert_eq!(now(drop_owned(&mut others, &object)).unwrap_err().cause, Cause::NotOurs);
        assert_eq!(others.done, ["begin", "find"]);
    }
}

#[test]
fn what_took_the_place_of_ours_is_told_and_left_alone() {
    let mut own = book([Found::Replaced(of("ours", "same"), refused())]);
    assert_eq!(now(drop_own(&mut own)).unwrap_err(), refused());
    assert_eq!(own.done, ["begin", "find", "forget"]);
    let mut others = book([Found::Replaced(of("other", "same"), refused())]);
    now(drop_own(&mut others)).unwrap();
    assert_eq!(others.done, ["begin", "find"]);

    let object = OwnedObject { name: Name::new("t").unwrap(), run_id: "ours".into() };
    let mut stale = book([Found::Replaced(of("ours", "same"), refused())]);
    assert_eq!(now(drop_owned(&mut stale, &object)).unwrap_err().cause, Cause::NotOurs);
    assert_eq!(stale.done, ["begin", "find"]);
}

#[test]
fn what_is_held_is_looked_at_again() {
    let found = [Found::Ours(of("ours", "same")), Found::Ours(of("other", "same"))];
    let mut faster = Book { is_held: true, ..book(found) };
    now(drop_own(&mut faster)).unwrap();
    assert_eq!(faster.done, ["begin", "find", "hold", "find"], "another run took it over in between");
    let mut others = Book { is_held: true, ..book([Found::Ours(of("other", "same"))]) };
    now(drop_own(&mut others)).unwrap();
    assert_eq!(others.done, ["begin", "find"], "what is another run's is not locked");
}

#[test]
fn what_is_ours_is_listed_by_name() {
    let names: Vec<_> = now(owned(&mut book([]))).unwrap().into_iter().map(|object| object.name).collect();
    assert_eq!(names.iter().map(Name::as_str).collect::<Vec<_>>(), ["a", "b"]);
}
