//! Who uses a table: a lock on its name, on the server itself, held by a connection of the run's own.
//!
//! Two users, or two machines, on one server know nothing of each other but what the server tells. It lets go of the lock when the
//! connection ends, however that does: a run that is killed needs nobody who cleans up behind it.

use iotbench_core::{Cause, Error, Name};
use std::future::Future;
use tokio::sync::Mutex;

/// A run that has just ended may be seen to have ended a moment later: so long, in seconds, a lock is waited for.
pub const WAIT_S: u32 = 2;

/// A connection that holds the lock.
pub trait Lease: Send + Sized {
    /// Whether it still does.
    fn is_held(&mut self) -> impl Future<Output = bool> + Send;

    /// Ends the connection.
    fn end(self) -> impl Future<Output = ()> + Send;
}

/// The lease of a run on its own table.
#[derive(Debug)]
pub struct OwnLease<L>(Mutex<Option<L>>);

impl<L> Default for OwnLease<L> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<L: Lease> OwnLease<L> {
    /// Takes it, unless it is held already. A server that was started again has let go of it.
    ///
    /// # Errors
    /// Those of `take`, such as [`in_use`].
    pub async fn hold(&self, take: impl Future<Output = Result<L, Error>>) -> Result<(), Error> {
        let mut own = self.0.lock().await;
        if let Some(held) = own.as_mut()
            && held.is_held().await
        {
            return Ok(());
        }
        *own = Some(take.await?);
        Ok(())
    }

    /// Whether it is held: then nobody else holds it.
    pub async fn is_held(&self) -> bool {
        match self.0.lock().await.as_mut() {
            Some(held) => held.is_held().await,
            None => false,
        }
    }

    /// Lets go of it.
    pub async fn end(&self) {
        if let Some(held) = self.0.lock().await.take() {
            held.end().await;
        }
    }
}

/// What is said where somebody else holds it.
#[must_use]
pub fn in_use(name: &Name) -> Error {
    let message = format!(
        "{name} is in use by another run, which goes on: wait for its end, or choose another table or database"
    );
    Error::new(Cause::NotOurs, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    };

    struct Held(Arc<AtomicBool>);

    impl Lease for Held {
        async fn is_held(&mut self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
        async fn end(self) {
            self.0.store(false, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn it_is_taken_once_and_again_after_the_server_let_go_of_it() {
        let (alive, taken) = (Arc::new(AtomicBool::new(true)), AtomicU32::new(0));
        let own = OwnLease::default();
        let take = || async {
            taken.fetch_add(1, Ordering::Relaxed);
            alive.store(true, Ordering::Relaxed);
            Ok(Held(Arc::clone(&alive)))
        };
        assert!(!own.is_held().await);
        own.hold(take()).await.unwrap();
        own.hold(take()).await.unwrap();
        assert_eq!((taken.load(Ordering::Relaxed), own.is_held().await), (1, true));
        alive.store(false, Ordering::Relaxed);
        assert!(!own.is_held().await);
        own.hold(take()).await.unwrap();
        assert_eq!((taken.load(Ordering::Relaxed), own.is_held().await), (2, true));
        own.end().await;
        assert_eq!((alive.load(Ordering::Relaxed), own.is_held().await), (false, false));
    }

    #[tokio::test]
    async fn who_does_not_get_it_does_not_hold_it() {
        let own = OwnLease::<Held>::default();
        let refused = own.hold(async { Err(in_use(&Name::new("t").unwrap())) }).await.unwrap_err();
        assert_eq!(refused.cause, Cause::NotOurs);
        assert!(refused.message.starts_with("t is in use by another run, which goes on"), "{}", refused.message);
        assert!(!own.is_held().await);
    }
}
