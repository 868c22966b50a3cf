//! Ends a statement from another thread.

use iotbench_core::Interrupt;
use rusqlite::InterruptHandle;

/// Ends the statement that a connection is in; without effect between statements.
pub(crate) struct SqliteInterrupt(pub(crate) InterruptHandle);

impl Interrupt for SqliteInterrupt {
    fn interrupt(&self) {
        self.0.interrupt();
    }
}
