//! That threads which call a driver look up from time to time.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// How often a thread that has time says so.
const BEAT: Duration = Duration::from_millis(500);

/// All threads that say so.
#[derive(Clone, Debug)]
pub struct Pulses {
    epoch: Instant,
    all: Arc<Mutex<Vec<Weak<AtomicU64>>>>,
}

/// One thread's.
#[derive(Debug)]
pub struct Pulse {
    epoch: Instant,
    last_ns: Arc<AtomicU64>,
}

impl Default for Pulses {
    fn default() -> Self {
        Self { epoch: Instant::now(), all: Arc::default() }
    }
}

impl Pulses {
    /// A thread begins.
    pub fn begin(&self) -> Pulse {
        let pulse = Pulse { epoch: self.epoch, last_ns: Arc::default() };
        pulse.beat();
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|pulse| pulse.strong_count() > 0);
        all.push(Arc::downgrade(&pulse.last_ns));
        pulse
    }

    /// How long ago that one looked up that has not for the longest time; `None`: there is none.
    pub fn oldest(&self) -> Option<Duration> {
        let all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        let last_ns = all.iter().filter_map(Weak::upgrade).map(|last| last.load(Ordering::Relaxed)).min()?;
        Some(self.epoch.elapsed().saturating_sub(Duration::from_nanos(last_ns)))
    }
}

impl Pulse {
    fn beat(&self) {
        self.last_ns.store(u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Says so for as long as it is polled, which is when the thread looks up.
    pub async fn go_on(self) -> Infallible {
        loop {
            self.beat();
            tokio::time::sleep(BEAT).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_does_not_look_up_grows_old_and_one_that_has_ended_does_not_count() {
        let pulses = Pulses::default();
        assert_eq!(pulses.oldest(), None);
        let (old, young) = (pulses.begin(), pulses.begin());
        let before = pulses.oldest().unwrap();
        while pulses.oldest().unwrap() < before + Duration::from_millis(2) {
            young.beat();
        }
        drop(old);
        young.beat();
        assert!(pulses.oldest().unwrap() < before + Duration::from_secs(60));
        drop(young);
        assert_eq!(pulses.oldest(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn it_goes_on_while_the_thread_has_time_for_it() {
        let pulses = Pulses::default();
        let pulse = pulses.begin();
        let last = Arc::clone(&pulse.last_ns);
        let going_on = tokio::spawn(pulse.go_on());
        tokio::time::sleep(Duration::from_millis(10)).await;
        let first = last.load(Ordering::Relaxed);
        tokio::time::sleep(2 * BEAT).await;
        assert!(last.load(Ordering::Relaxed) > first);
        going_on.abort();
    }
}
