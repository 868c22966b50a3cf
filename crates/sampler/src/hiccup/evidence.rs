//! The counters that tell why a ticker was late.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use super::cause::Evidence;
use crate::cgroup::CpuLimit;

/// Longer than the first line of `/proc/stat` and than a `schedstat`.
const LINE_BYTES: usize = 512;

/// The counters as they were at the last look.
pub(super) struct Readings {
    schedstat: Option<File>,
    stat: Option<File>,
    limit: CpuLimit,
    /// Whether this ticker looks at the CPU time of the whole process: one is enough, and it costs with each thread.
    reads_process: bool,
    last: Counters,
}

#[derive(Clone, Copy, Default)]
struct Counters {
    run_delay_s: Option<f64>,
    steal_s: Option<f64>,
    throttled_s: f64,
    process_cpu_s: Option<f64>,
}

impl Readings {
    /// Looks at the counters of the calling thread.
    pub fn new(reads_process: bool) -> Self {
        let (schedstat, stat) = (File::open("/proc/thread-self/schedstat").ok(), File::open("/proc/stat").ok());
        let limit = CpuLimit::of_this_process();
        let mut readings = Self { schedstat, stat, limit, reads_process, last: Counters::default() };
        readings.renew();
        readings
    }

    /// Looks again.
    pub fn renew(&mut self) {
        self.last = self.now();
    }

    /// Looks again at the CPU time of the process only: it is cheap, and has to be fresh.
    pub fn renew_process_cpu(&mut self) {
        if self.reads_process {
            self.last.process_cpu_s = Some(process_cpu_s());
        }
    }

    /// Looks again at how long the thread was ready and did not run.
    pub fn renew_run_delay(&mut self) {
        self.last.run_delay_s = self.run_delay_s();
    }

    /// What the counters have grown by since the last look.
    pub fn since(&mut self) -> Evidence {
        let before = self.last;
        self.renew();
        let grown = |now: Option<f64>, before: Option<f64>| Some((now? - before?).max(0.0));
        Evidence {
            run_delay_s: grown(self.last.run_delay_s, before.run_delay_s),
            steal_s: grown(self.last.steal_s, before.steal_s),
            throttled_s: (self.last.throttled_s - before.throttled_s).max(0.0),
            process_cpu_s: grown(self.last.process_cpu_s, before.process_cpu_s),
        }
    }

    fn run_delay_s(&self) -> Option<f64> {
        self.schedstat.as_ref().and_then(|file| run_delay_s(&start_of(file)?))
    }

    fn now(&self) -> Counters {
        Counters {
            run_delay_s: self.run_delay_s(),
            steal_s: self.stat.as_ref().and_then(|file| steal_s(&start_of(file)?, procfs::ticks_per_second())),
            throttled_s: self.limit.throttled_s(),
            process_cpu_s: self.reads_process.then(process_cpu_s),
        }
    }
}

/// A file of the kernel's is made anew when it is read from its beginning.
fn start_of(file: &File) -> Option<String> {
    let mut text = [0; LINE_BYTES];
    let length = file.read_at(&mut text, 0).ok()?;
    String::from_utf8(text.get(..length)?.to_vec()).ok()
}

/// `/proc/PID/task/TID/schedstat`: time on a processor, time in a run queue (both in nanoseconds), time slices.
fn run_delay_s(schedstat: &str) -> Option<f64> {
    schedstat.split_ascii_whitespace().nth(1)?.parse::<f64>().ok().map(|ns| ns / 1e9)
}

/// The first line of `/proc/stat`, all processors together: user nice system idle iowait irq softirq steal …
fn steal_s(stat: &str, ticks_per_second: u64) -> Option<f64> {
    const STEAL: usize = 8;
    let ticks: f64 = stat.lines().next()?.split_ascii_whitespace().nth(STEAL)?.parse().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "100 on every machine there is")]
    Some(ticks / ticks_per_second as f64)
}

fn process_cpu_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(now).map_or(0.0, |cpu| cpu.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lines_are_taken_apart() {
        assert_eq!(run_delay_s("51234567 2500000000 1234\n"), Some(2.5));
        assert_eq!(steal_s("cpu  45371 0 5888 18704 415 0 112 158 0 0\ncpu0 …", 100), Some(1.58));
        assert_eq!((run_delay_s(""), steal_s("cpu 1 2", 100)), (None, None));
    }

    #[test]
    fn counters_of_this_machine_only_grow() {
        let mut readings = Readings::new(true);
        let evidence = readings.since();
        assert!(evidence.process_cpu_s.is_some_and(|s| s >= 0.0), "{evidence:?}");
        assert!(evidence.throttled_s >= 0.0, "{evidence:?}");
    }
}
