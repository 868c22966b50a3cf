//! Has the database alter its table while the load runs, on a thread of its own: it may take its time.

use super::{Session, load::Running};
use crate::{added::SchemaChange, caught::caught, change::changed, clock::RunClock, control::Control, verdict::Reason};
use iotbench_core::{Cause, Database, Error};
use std::{io, sync::Arc, thread::JoinHandle, time::Duration};
use tokio::sync::oneshot;

/// The change under way: when it was done, or why it failed.
#[derive(Debug)]
pub(super) struct Altering {
    thread: JoinHandle<Result<u64, Error>>,
    /// Dropped, it gives the change up.
    goes_on: oneshot::Sender<()>,
}

impl Altering {
    fn start(database: Arc<dyn Database>, clock: RunClock, patience: Duration) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (goes_on, ends) = oneshot::channel();
        let body = move || {
            let altered = runtime.block_on(async {
                tokio::select! {
                    altered = alter(&*database, patience) => altered,
                    _ = ends => Err(Error::new(Cause::TimedOut, "the load ended before the table was altered")),
                }
            });
            altered.map(|()| clock.now_ns())
        };
        let thread = std::thread::Builder::new().name("iotbench-altering".into()).spawn(body)?;
        Ok(Self { thread, goes_on })
    }

    /// What came of it; one that is under way is given up.
    fn end(self) -> Result<u64, Error> {
        drop(self.goes_on);
        self.thread.join().unwrap_or_else(|_| Err(Error::new(Cause::Client, "whoever adds signals has ended")))
    }
}

async fn alter(database: &dyn Database, patience: Duration) -> Result<(), Error> {
    let altered = tokio::time::timeout(patience, caught(changed(database, database.add_signals()))).await;
    altered.unwrap_or_else(|_| {
        let message = format!("the table was not altered within {} s", patience.as_secs_f64());
        Err(Error::new(Cause::TimedOut, message))
    })
}

impl Session<'_> {
    /// Begins the change when the first operation waits for it, and lets all go on when it is done.
    pub(super) fn follow_schema_change(&mut self, running: &mut Running) -> Result<(), Reason> {
        self.note_schema_change(&running.control);
        if self.outcome.stored.schema_change.is_none() {
            return Ok(());
        }
        if !running.control.gate().is_closed() || running.control.failure().is_some() {
            return Ok(());
        }
        match running.altering.take() {
            None => {
                let altering = Altering::start(Arc::clone(&self.database), running.clock, self.patience());
                let altering = altering.map_err(|e| Reason::Internal(format!("cannot start a thread: {e}")))?;
                running.altering = Some(altering);
            }
            Some(altering) if altering.thread.is_finished() => self.end_schema_change(running, altering),
            under_way => running.altering = under_way,
        }
        Ok(())
    }

    /// Notes when the first operation came that carries the signals that are added, where one did.
    pub(super) fn note_schema_change(&mut self, control: &Control) {
        if let Some(from_ns) = control.gate().reached_ns() {
            self.outcome.stored.schema_change.get_or_insert(SchemaChange { from_ns, altered_ns: None });
        }
    }

    /// Takes in what came of it, which has to be there.
    pub(super) fn end_schema_change(&mut self, running: &Running, altering: Altering) {
        match altering.end() {
            Ok(altered_ns) => {
                if let Some(change) = &mut self.outcome.stored.schema_change {
                    change.altered_ns = Some(altered_ns);
                }
                running.control.open_gate();
            }
            Err(error) => {
                let message = format!("the signals that are added are not in the table: {}", error.message);
                running.control.fail(error.cause, &message);
            }
        }
    }
}
