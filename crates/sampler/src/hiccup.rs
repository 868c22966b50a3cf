//! Stretches in which this process could not run, and why. The method of jHiccup (G. Tene): threads that only sleep for a
//! millisecond and look at how much later they wake. Whatever keeps them from running keeps all others from it.

mod cause;
mod evidence;
mod lateness;
mod stalls;
mod ticker;

pub use cause::HiccupCause;
pub use lateness::Lateness;
pub use stalls::{Hiccup, Hiccups};

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::stalls::Stalls;
use self::ticker::Ticker;

/// A ticker that is late by this much has met a stall. Shorter ones are counted only.
const STALL: Duration = Duration::from_millis(50);
/// More tickers would tell no more of a process and cost more.
const MOST_TICKERS: u32 = 4;

/// Watches this process on threads of its own: one a core, at most four. Dropping it ends them within a millisecond.
#[derive(Debug)]
pub struct HiccupMeter {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What the tickers share. Each takes the lock when it has met a stall, and once at its end.
#[derive(Debug)]
struct Shared {
    stops: AtomicBool,
    stalls: Mutex<Stalls>,
}

impl Shared {
    fn stalls(&self) -> MutexGuard<'_, Stalls> {
        self.stalls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HiccupMeter {
    /// It has at most so many threads.
    pub const MOST_THREADS: u32 = MOST_TICKERS;

    /// Starts watching. Times are told since `epoch`, also those before it, as 0.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(epoch: Instant) -> std::io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = cores.min(usize::try_from(MOST_TICKERS).unwrap_or(usize::MAX));
        let shared = Arc::new(Shared { stops: AtomicBool::new(false), stalls: Mutex::new(Stalls::new(count, cores)) });
        let mut meter = Self { shared: Arc::clone(&shared), threads: Vec::with_capacity(count) };
        for number in 0..count {
            let ticker = Ticker::new(number, epoch, Arc::clone(&shared));
            let thread = std::thread::Builder::new().name("hiccup-meter".to_owned());
            meter.threads.push(thread.spawn(move || ticker.tick())?);
        }
        Ok(meter)
    }

    /// The stalls between two times since the epoch, as far as they have ended by now; each is cut off at these times.
    #[must_use]
    pub fn hiccups(&self, from: Duration, to: Duration) -> Hiccups {
        self.shared.stalls().between(from, to)
    }

    /// Ends the tickers and says how late they were, and what they cost.
    #[must_use]
    pub fn stop(mut self) -> Lateness {
        self.end();
        self.shared.stalls().lateness()
    }

    fn end(&mut self) {
        self.shared.stops.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A ticker that panicked has nothing to tell.
            let _ = thread.join();
        }
    }
}

impl Drop for HiccupMeter {
    fn drop(&mut self) {
        self.end();
    }
}
