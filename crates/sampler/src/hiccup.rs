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

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use self::cause::Evidence;
use self::stalls::{Stall, Stalls};
use self::ticker::Ticker;

/// A ticker that is late by this much has met a stall. Shorter ones are counted only.
const STALL: Duration = Duration::from_millis(50);
/// A stall that is under way is waited for no longer: whoever asks is held up by the same.
const MAX_WAIT: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(1);
/// More tickers would tell no more of a process and cost more.
const MAX_TICKERS: u32 = 4;

/// Watches this process on threads of its own: one a core, at most four. Dropping it ends them within a millisecond.
#[derive(Debug)]
pub struct HiccupMeter {
    epoch: Instant,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// What the tickers share. Each takes the lock when it has met a stall, and once at its end.
#[derive(Debug)]
struct Shared {
    stops: AtomicBool,
    stalls: Mutex<Stalls>,
    began: Instant,
    /// When each is to wake next, in nanoseconds since then: what it met before is noted.
    due_ns: Vec<AtomicU64>,
}

impl Shared {
    fn new(tickers: usize, cores: usize, began: Instant) -> Self {
        let due_ns = (0..tickers).map(|_| AtomicU64::new(0)).collect();
        Self { stops: AtomicBool::new(false), stalls: Mutex::new(Stalls::new(tickers, cores)), began, due_ns }
    }

    fn is_due(&self, ticker: usize, due: Instant) {
        let since = due.saturating_duration_since(self.began).as_nanos();
        if let Some(due_ns) = self.due_ns.get(ticker) {
            due_ns.store(u64::try_from(since).unwrap_or(u64::MAX), Ordering::Release);
        }
    }

    /// Since when each ticker that was to wake before `end` has not.
    fn asleep(&self, end: Instant) -> impl Iterator<Item = (usize, Instant)> {
        let due = self.due_ns.iter().map(|due_ns| self.began + Duration::from_nanos(due_ns.load(Ordering::Acquire)));
        due.enumerate().filter(move |(_, due)| *due < end)
    }

    fn stalls(&self) -> MutexGuard<'_, Stalls> {
        self.stalls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HiccupMeter {
    /// It has at most so many threads.
    pub const MAX_THREADS: u32 = MAX_TICKERS;

    /// Starts watching. Times are told since `epoch`, also those before it, as 0.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(epoch: Instant) -> std::io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = cores.min(usize::try_from(MAX_TICKERS).unwrap_or(usize::MAX));
        let shared = Arc::new(Shared::new(count, cores, Instant::now()));
        let mut meter = Self { epoch, shared: Arc::clone(&shared), threads: Vec::with_capacity(count) };
        for number in 0..count {
            let ticker = Ticker::new(number, epoch, Arc::clone(&shared));
            let thread = std::thread::Builder::new().name("hiccup-meter".to_owned());
            meter.threads.push(thread.spawn(move || ticker.tick())?);
        }
        Ok(meter)
    }

    /// The stalls between two times since the epoch, up to now; each is cut off at these times. One that is under way is waited
    /// for, a second at most: then it counts as long as it has taken, and its cause is not known.
    #[must_use]
    pub fn hiccups(&self, from: Duration, to: Duration) -> Hiccups {
        let now = Instant::now();
        let end = self.epoch.checked_add(to).map_or(now, |end| end.min(now));
        while self.shared.asleep(end).next().is_some() && now.elapsed() < MAX_WAIT {
            std::thread::sleep(LOOK);
        }
        let since_epoch = |time: Instant| time.saturating_duration_since(self.epoch);
        let open = self.shared.asleep(end).filter(|(_, due)| end.saturating_duration_since(*due) >= STALL);
        let open = open.map(|(ticker, due)| Stall {
            ticker,
            from: since_epoch(due),
            to: since_epoch(end),
            evidence: Evidence::default(),
        });
        let open: Vec<Stall> = open.collect();
        self.shared.stalls().between(from, to, &open)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two tickers one has not woken for 10 s, and the other one is on time.
    #[test]
    fn a_stall_that_has_not_ended_counts_as_long_as_it_has_taken() {
        let epoch = Instant::now().checked_sub(Duration::from_secs(12)).unwrap();
        let shared = Arc::new(Shared::new(2, 2, epoch));
        shared.is_due(0, epoch + Duration::from_secs(2));
        shared.is_due(1, epoch + Duration::from_secs(100));
        let meter = HiccupMeter { epoch, shared: Arc::clone(&shared), threads: Vec::new() };
        let found = meter.hiccups(Duration::ZERO, Duration::from_secs(7));
        let told: Vec<_> = found.longest.iter().map(|h| (h.from.as_secs(), h.length.as_secs(), h.cause)).collect();
        assert_eq!(told, [(2, 5, HiccupCause::Unknown)]);
        assert_eq!((found.count, found.stalled), (1, Duration::from_millis(2500)), "the mean of both");
        assert_eq!(meter.hiccups(Duration::ZERO, Duration::from_secs(1)), Hiccups::default(), "it began later");
        shared.is_due(0, epoch + Duration::from_secs(100));
        assert_eq!(
            meter.hiccups(Duration::ZERO, Duration::from_secs(7)),
            Hiccups::default(),
            "it woke, and noted nothing"
        );
    }
}
