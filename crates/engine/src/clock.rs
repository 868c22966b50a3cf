//! The run's clock: nanoseconds since its start, on the machine's monotonic clock.

use std::time::{Duration, Instant};

/// Nanoseconds since a run's start. Before the start it stands at 0.
#[derive(Clone, Copy, Debug)]
pub struct RunClock {
    epoch: Instant,
}

impl RunClock {
    /// A clock that starts at this instant.
    #[must_use]
    pub fn starting_at(epoch: Instant) -> Self {
        Self { epoch }
    }

    /// The instant at which it starts.
    #[must_use]
    pub fn epoch(&self) -> Instant {
        self.epoch
    }

    /// Now.
    #[inline]
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        u64::try_from(Instant::now().saturating_duration_since(self.epoch).as_nanos()).unwrap_or(u64::MAX)
    }

    /// The instant of a time since the start.
    #[must_use]
    pub fn instant(&self, ns: u64) -> Instant {
        // Times far beyond any run would overflow the clock: a century is as good as never.
        let capped = ns.min(3_000_000_000_000_000_000);
        self.epoch + Duration::from_nanos(capped)
    }
}
