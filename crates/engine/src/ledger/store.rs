//! Where a ledger's bytes are.

use std::{
    fmt,
    io::{self, Read},
    sync::{Mutex, PoisonError},
};

/// Where a ledger's bytes are kept. Called from the run's control thread, never from a writer's path.
pub trait LedgerStore: Send + Sync + fmt::Debug {
    /// Appends whole blocks.
    ///
    /// # Errors
    /// They do not fit. Nothing of them is left then.
    fn append(&self, bytes: &[u8]) -> io::Result<()>;

    /// All that was appended, from the beginning.
    ///
    /// # Errors
    /// It cannot be read.
    fn read(&self) -> io::Result<Box<dyn Read + Send + '_>>;
}

/// A ledger in memory, for runs without a folder: at most two bytes a datapoint.
#[derive(Default)]
pub struct MemoryLedger(Mutex<Vec<u8>>);

impl LedgerStore for MemoryLedger {
    fn append(&self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(())
    }

    fn read(&self) -> io::Result<Box<dyn Read + Send + '_>> {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Box::new(io::Cursor::new(bytes)))
    }
}

impl fmt::Debug for MemoryLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemoryLedger").finish_non_exhaustive()
    }
}
