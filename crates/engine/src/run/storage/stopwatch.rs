//! How long something took this thread, and for how long of that it waited for a processor.

use crate::storage_probe::ProbeTime;
use std::{
    fs::File,
    os::unix::fs::FileExt,
    time::{Duration, Instant},
};

/// Of the thread that made it.
#[derive(Debug)]
pub(super) struct Stopwatch {
    /// What the kernel says of the thread's scheduling; none where it does not.
    schedstat: Option<File>,
}

impl Stopwatch {
    pub(super) fn new() -> Self {
        Self { schedstat: File::open("/proc/thread-self/schedstat").ok() }
    }

    pub(super) fn time<T>(&self, what: impl FnOnce() -> T) -> (T, ProbeTime) {
        let looked = Instant::now();
        let before = self.waited();
        let began = Instant::now();
        let done = what();
        let took = began.elapsed();
        let waited = before.zip(self.waited()).map(|(before, after)| after.saturating_sub(before));
        (done, of_part(took, looked.elapsed(), waited.unwrap_or_default()))
    }

    /// For how long this thread was ready since it began and had no processor.
    fn waited(&self) -> Option<Duration> {
        let mut text = [0; 96];
        let length = self.schedstat.as_ref()?.read_at(&mut text, 0).ok()?;
        waited_in(text.get(..length)?)
    }
}

/// What took so long, of which is known for how long the thread waited for a processor between two looks, and how long they are
/// apart. It may have waited beside it: what it waited meanwhile is the least that it can be.
fn of_part(took: Duration, between_looks: Duration, waited: Duration) -> ProbeTime {
    let beside = between_looks.saturating_sub(took);
    ProbeTime { took, waited: waited.saturating_sub(beside).min(took) }
}

/// Of `/proc/PID/schedstat`: time on a processor, time waiting for one, and how often it had one (Documentation/scheduler/sched-stats).
fn waited_in(schedstat: &[u8]) -> Option<Duration> {
    let second = std::str::from_utf8(schedstat).ok()?.split_whitespace().nth(1)?;
    second.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_waited_beside_a_part_is_no_part_of_it() {
        let us = Duration::from_micros;
        let waited = |between, waited| of_part(us(200), us(between), us(waited)).waited;
        assert_eq!((waited(200, 150), waited(203, 150), waited(203, 2)), (us(150), us(147), us(0)));
        assert_eq!(waited(700, 450), us(0), "the thread lost its processor after it, or before it");
        assert_eq!(waited(200, 450), us(200), "never more than it took");
    }

    #[test]
    fn what_a_thread_waited_for_a_processor_is_the_second_figure_of_its_schedstat() {
        assert_eq!(waited_in(b"59384 1215 3\n"), Some(Duration::from_nanos(1215)));
        assert_eq!((waited_in(b"59384\n"), waited_in(b"")), (None, None));
    }
}
