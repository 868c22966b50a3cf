//! A run says on the server every few seconds that it goes on and uses its table, on a thread of its own: also while the control
//! thread waits for something else.

use crate::caught::caught;
use iotbench_core::{Cause, Database, Error, RENEWAL};
use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::JoinHandle,
    time::Duration,
};

/// The thread that says so.
pub struct Renewal {
    /// It ends when this does.
    until: SyncSender<()>,
    lost: Arc<OnceLock<Error>>,
    thread: JoinHandle<()>,
}

impl fmt::Debug for Renewal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Renewal").field("lost", &self.lost).finish_non_exhaustive()
    }
}

impl Renewal {
    /// Starts the thread.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub fn start(database: Arc<dyn Database>) -> Result<Self, Error> {
        Self::start_every(RENEWAL, database)
    }

    fn start_every(period: Duration, database: Arc<dyn Database>) -> Result<Self, Error> {
        let failed = |e| Error::new(Cause::Client, format!("cannot start a thread: {e}"));
        let (until, ended) = sync_channel(1);
        let lost = Arc::new(OnceLock::new());
        let told = Arc::clone(&lost);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let body = move || {
            if let Some(error) = runtime.block_on(renew(&*database, period, &ended)) {
                // There is one at most.
                let _ = told.set(error);
            }
        };
        let thread = std::thread::Builder::new().name("iotbench-lease".into()).spawn(body).map_err(failed)?;
        Ok(Self { until, lost, thread })
    }

    /// What is to be said when another run has taken the table.
    pub fn lost(&self) -> Option<&Error> {
        self.lost.get()
    }

    /// Ends it: nothing is said from then on.
    pub fn end(self) {
        drop(self.until);
        // A panic of the driver is caught before.
        let _ = self.thread.join();
    }
}

/// Until its end, or until another has the table. A server that does not answer is asked again the next time: it may be starting again.
async fn renew(database: &dyn Database, period: Duration, ended: &Receiver<()>) -> Option<Error> {
    loop {
        if ended.recv_timeout(period) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
        let renewed = tokio::time::timeout(period, caught(database.renew())).await;
        if let Ok(Err(error)) = renewed
            && error.cause == Cause::NotOurs
        {
            return Some(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::{Counts, ServerFacts, Writer};
    use std::sync::Mutex;

    /// Answers renewals with these, the last one first, and then always well.
    struct Table {
        answers: Mutex<Vec<Error>>,
        asked: SyncSender<()>,
    }

    fn never<T>() -> Result<T, Error> {
        Err(Error::new(Cause::Client, "nobody asks this"))
    }

    #[async_trait::async_trait]
    impl Database for Table {
        async fn ping(&self) -> Result<ServerFacts, Error> {
            never()
        }
        async fn create(&self) -> Result<(), Error> {
            never()
        }
        async fn renew(&self) -> Result<(), Error> {
            // Who has seen enough does not listen any more.
            let _ = self.asked.try_send(());
            self.answers.lock().unwrap().pop().map_or(Ok(()), Err)
        }
        async fn count(&self) -> Result<Counts, Error> {
            never()
        }
        async fn drop_created(&self) -> Result<(), Error> {
            never()
        }
        async fn writer(&self) -> Result<Box<dyn Writer>, Error> {
            never()
        }
    }

    fn started(answers: Vec<Error>) -> (Renewal, Receiver<()>) {
        let (asked, seen) = sync_channel(100);
        let table = Table { answers: Mutex::new(answers), asked };
        (Renewal::start_every(Duration::from_millis(1), Arc::new(table)).unwrap(), seen)
    }

    #[test]
    fn it_goes_on_until_it_is_ended_whatever_a_server_answers_that_is_in_trouble() {
        let (renewal, seen) = started(vec![Error::new(Cause::Connect, "it starts again")]);
        (0..3).for_each(|_| seen.recv().unwrap());
        assert_eq!(renewal.lost(), None);
        renewal.end();
        while seen.try_recv().is_ok() {}
        assert!(seen.recv().is_err(), "the database is let go of");
    }

    #[test]
    fn who_has_lost_the_table_is_told() {
        let lost = Error::new(Cause::NotOurs, "in use");
        let (renewal, seen) = started(vec![lost.clone()]);
        seen.recv().unwrap();
        assert!(seen.recv().is_err(), "it ends with that");
        while renewal.lost().is_none() {
            std::thread::yield_now();
        }
        assert_eq!(renewal.lost(), Some(&lost));
        renewal.end();
    }
}
