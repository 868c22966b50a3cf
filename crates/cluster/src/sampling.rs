//! What an agent sees of what runs beside it, second by second, on a thread of its own.

use crate::{
    message::{Seen, Sight},
    subject::{Found, What},
    work::News,
};
use iotbench_sampler::{Probe, ProbeError};
use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    time::{Duration, Instant},
};
use tokio::sync::mpsc;

/// From sample to sample.
const INTERVAL: Duration = Duration::from_secs(1);
/// So long before each second of the run it is looked: what was seen has arrived when the second is told.
pub(crate) const EARLY: Duration = Duration::from_millis(100);

/// Sampling under way. Dropped, it ends.
pub(crate) struct Sampling {
    pub(crate) run: String,
    pub(crate) reports: String,
    _end: SyncSender<()>,
}

impl Sampling {
    /// Samples these subjects of a run that starts at `epoch`.
    ///
    /// # Errors
    /// One of them is not there, or cannot be read.
    pub(crate) fn begin(
        run: String,
        subjects: &[What],
        epoch: Instant,
        reports: String,
        news: mpsc::Sender<News>,
    ) -> Result<Self, String> {
        let probe = |what: &What| {
            let Found { target, .. } = what.find()?;
            Probe::new(&target).map_err(|e| format!("cannot sample {what}: {e}"))
        };
        let probes = subjects.iter().map(probe).collect::<Result<Vec<_>, _>>()?;
        let (end, ended) = sync_channel(1);
        let of_thread = run.clone();
        let thread = std::thread::Builder::new().name("sampler".into());
        let spawned = thread.spawn(move || look(&of_thread, probes, epoch, &news, &ended));
        spawned.map_err(|e| format!("no thread can be started: {e}"))?;
        Ok(Self { run, reports, _end: end })
    }
}

fn look(run: &str, mut probes: Vec<Probe>, epoch: Instant, news: &mpsc::Sender<News>, ended: &Receiver<()>) {
    loop {
        let subjects = probes.iter_mut().map(|probe| sight(probe, epoch.elapsed())).collect();
        // One that comes too late is worth nothing: the next tells all that it would have.
        let _ = news.try_send(News::Seen(Seen { run: run.to_owned(), subjects }));
        if ended.recv_timeout(until_next(epoch, Instant::now())) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

fn sight(probe: &mut Probe, at: Duration) -> Sight {
    match probe.sample(at) {
        Ok(sample) => Sight::Sampled(sample, probe.method()),
        Err(ProbeError::Gone) => Sight::Gone,
        Err(_) => Sight::Unreadable,
    }
}

/// How long until the next look: [`EARLY`] before a whole interval since the run's start.
fn until_next(epoch: Instant, now: Instant) -> Duration {
    let Some(since) = (now + EARLY).checked_duration_since(epoch) else { return epoch - EARLY - now };
    let into_ns = since.as_nanos() % INTERVAL.as_nanos();
    INTERVAL - Duration::from_nanos(u64::try_from(into_ns).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_come_a_little_before_the_seconds_of_the_run() {
        let epoch = Instant::now() + Duration::from_secs(10);
        let at = |ms: u64| epoch - Duration::from_secs(1) + Duration::from_millis(ms);
        let until = |ms| until_next(epoch, at(ms)).as_millis();
        assert_eq!((until(0), until(899)), (900, 1));
        assert_eq!((until(900), until(1000), until(1899), until(1900)), (1000, 900, 1, 1000));
    }
}
