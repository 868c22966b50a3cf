//! Ends a call from another thread.

use iotbench_core::Interrupt;
use rusqlite::{Connection, InterruptHandle};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// After how many steps of its machine SQLite looks whether the call is to end.
const STEPS: i32 = 1000;

/// Whether the present call on a connection is to end.
///
/// SQLite's own interrupt ends the statement that it is in and is forgotten between two; a call consists of many.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interruption(Arc<AtomicBool>);

impl Interruption {
    /// Lets a connection look at it as it works.
    pub(crate) fn install(connection: &Connection) -> rusqlite::Result<Self> {
        let interruption = Self::default();
        let asked = Arc::clone(&interruption.0);
        connection.progress_handler(STEPS, Some(move || asked.load(Ordering::Relaxed)))?;
        Ok(interruption)
    }

    /// Begins another call: what was asked of an earlier one is forgotten.
    pub(crate) fn begin_call(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// What another thread may call.
    pub(crate) fn handle(&self, connection: &Connection) -> Arc<dyn Interrupt> {
        Arc::new(SqliteInterrupt { asked: Arc::clone(&self.0), statement: connection.get_interrupt_handle() })
    }
}

struct SqliteInterrupt {
    asked: Arc<AtomicBool>,
    statement: InterruptHandle,
}

impl Interrupt for SqliteInterrupt {
    fn interrupt(&self) {
        self.asked.store(true, Ordering::Relaxed);
        self.statement.interrupt();
    }
}
