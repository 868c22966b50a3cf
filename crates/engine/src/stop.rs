//! What ends a run before its time: its user, or the end of its server.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicI32, Ordering},
};

/// Asks a run to end: what is under way is answered or given up, and the results are saved.
#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    signal: Arc<AtomicI32>,
    died: Arc<OnceLock<String>>,
}

impl StopSignal {
    /// The same for one of several runs: a signal ends all of them, a server's death only the one that it is told.
    #[must_use]
    pub fn of_one_run(&self) -> Self {
        Self { signal: Arc::clone(&self.signal), died: Arc::default() }
    }

    /// Asks for the end, with the number of the signal that made the user's wish known.
    pub fn request(&self, signal: i32) {
        self.signal.store(signal, Ordering::Relaxed);
    }

    /// The signal, once one came.
    #[must_use]
    pub fn requested(&self) -> Option<i32> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal),
        }
    }

    /// Tells that the server's process has ended, and how: the run cannot go on. For who watches the server.
    pub fn server_died(&self, how: &str) {
        // The first death counts.
        let _ = self.died.set(how.into());
    }

    /// How the server ended, once it was told.
    #[must_use]
    pub fn death(&self) -> Option<&str> {
        self.died.get().map(String::as_str)
    }

    /// Whether the run is to end for either reason.
    #[must_use]
    pub fn ends(&self) -> bool {
        self.requested().is_some() || self.death().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_ends_all_runs_and_a_death_one() {
        let all = StopSignal::default();
        let (one, other) = (all.of_one_run(), all.of_one_run());
        one.server_died("was killed");
        one.server_died("again");
        assert_eq!((one.death(), one.ends(), other.ends(), all.ends()), (Some("was killed"), true, false, false));
        all.request(2);
        assert_eq!((one.requested(), other.requested()), (Some(2), Some(2)));
    }
}
