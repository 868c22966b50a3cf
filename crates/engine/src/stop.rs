//! How a user ends a run before its time.

use std::sync::{
    Arc,
    atomic::{AtomicI32, Ordering},
};

/// Asks a run to end: what is under way is answered or given up, and the results are saved.
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicI32>);

impl StopSignal {
    /// Asks for the end, with the number of the signal that made the user's wish known.
    pub fn request(&self, signal: i32) {
        self.0.store(signal, Ordering::Relaxed);
    }

    /// The signal, once one came.
    #[must_use]
    pub fn requested(&self) -> Option<i32> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal),
        }
    }
}
