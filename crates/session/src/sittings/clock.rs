//! The time between sittings.

use iotbench_engine::StopSignal;
use std::time::{Duration, SystemTime};

/// A stop is noticed within this time.
const LOOK: Duration = Duration::from_millis(100);

/// What tells the time, and lets it pass.
pub(crate) trait Clock {
    /// The time by the wall: it goes on between two processes.
    fn now(&self) -> SystemTime;
    /// Waits until then, or until `stop` is requested.
    fn wait_until(&self, then: SystemTime, stop: &StopSignal);
}

/// The machine's.
pub(crate) struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn wait_until(&self, then: SystemTime, stop: &StopSignal) {
        // The wall clock is asked each time: it may be set meanwhile, and a machine may have slept.
        while let Some(left) = then.duration_since(self.now()).ok().filter(|left| !left.is_zero()) {
            if stop.requested().is_some() {
                break;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }
}
