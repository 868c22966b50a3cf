//! Work that waits for what a database makes visible only later. It goes on look by look, and never waits itself: between two
//! looks whoever asks for the next one waits, by one clock and one deadline for all.

use iotbench_core::{Error, Settled};
use std::{
    fmt,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};

/// Where work says that it has looked, and that it was not yet so.
#[derive(Clone, Debug, Default)]
pub struct Looks(Arc<AtomicBool>);

impl Looks {
    /// Ends this look: the work goes on from here with the next one.
    pub async fn not_yet(&self) {
        let mut is_next = false;
        poll_fn(|_| {
            if std::mem::replace(&mut is_next, true) {
                return Poll::Ready(());
            }
            self.0.store(true, Ordering::Relaxed);
            Poll::Pending
        })
        .await;
    }
}

type Running<T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send>>;

/// One piece of work after the other, and how far it is.
pub struct Work<T> {
    looks: Looks,
    running: Mutex<Option<Running<T>>>,
}

impl<T> Default for Work<T> {
    fn default() -> Self {
        Self { looks: Looks::default(), running: Mutex::default() }
    }
}

impl<T> fmt::Debug for Work<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Work").finish()
    }
}

impl<T> Work<T> {
    /// What its work says it by that it has looked.
    #[must_use]
    pub fn looks(&self) -> Looks {
        self.looks.clone()
    }

    /// Begins work in the place of what went before, and goes on until it is done or has to look again. `None`: it has to.
    ///
    /// # Errors
    /// The work's own.
    pub async fn begin(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<Option<T>, Error> {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.go_on(Box::pin(work)).await
    }

    /// The next look.
    ///
    /// # Errors
    /// The work's own; it is at an end then.
    pub async fn proceed(&self) -> Result<Settled, Error> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(running) = running else { return Ok(Settled::Yes) };
        Ok(if self.go_on(running).await?.is_some() { Settled::Yes } else { Settled::NotYet })
    }

    async fn go_on(&self, mut running: Running<T>) -> Result<Option<T>, Error> {
        let done = poll_fn(|context| match running.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if self.looks.0.swap(false, Ordering::Relaxed) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        match done.await {
            Some(done) => done.map(Some),
            None => {
                *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(running);
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Cause;
    use std::{
        pin::pin,
        task::{Context, Waker},
    };

    /// Nothing here waits: what did would be pending.
    fn now<T>(call: impl Future<Output = T>) -> T {
        match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => done,
            Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn work_goes_on_look_by_look() {
        let (work, seen) = (Work::default(), Arc::new(Mutex::new(Vec::new())));
        let (looked, looks) = (Arc::clone(&seen), work.looks());
        let begun = now(work.begin(async move {
            for look in 1..=2 {
                looked.lock().unwrap().push(look);
                looks.not_yet().await;
            }
            Ok(7)
        }));
        assert_eq!((begun, seen.lock().unwrap().as_slice()), (Ok(None), &[1][..]));
        assert_eq!(now(work.proceed()), Ok(Settled::NotYet));
        assert_eq!(seen.lock().unwrap().as_slice(), [1, 2]);
        assert_eq!(now(work.proceed()), Ok(Settled::Yes));
        assert_eq!(now(work.proceed()), Ok(Settled::Yes), "nothing is left to do");
    }

    #[test]
    fn what_is_so_at_the_first_look_is_done_at_once() {
        let work = Work::default();
        assert_eq!(now(work.begin(async { Ok(7) })), Ok(Some(7)));
        assert_eq!(now(work.proceed()), Ok(Settled::Yes));
    }

    #[test]
    fn work_that_fails_is_at_an_end() {
        let work = Work::<()>::default();
        let error = Error::new(Cause::Server, "no");
        let (failing, looks) = (error.clone(), work.looks());
        let begun = now(work.begin(async move {
            looks.not_yet().await;
            Err(failing)
        }));
        assert_eq!(begun, Ok(None));
        assert_eq!(now(work.proceed()), Err(error));
        assert_eq!(now(work.proceed()), Ok(Settled::Yes));
    }

    #[test]
    fn new_work_takes_the_place_of_what_was_not_done() {
        let work = Work::default();
        let looks = work.looks();
        let waits = async move {
            looks.not_yet().await;
            Ok(1)
        };
        assert_eq!(now(work.begin(waits)), Ok(None));
        assert_eq!(now(work.begin(async { Ok(2) })), Ok(Some(2)));
        assert_eq!(now(work.proceed()), Ok(Settled::Yes), "the earlier work is gone");
    }
}
