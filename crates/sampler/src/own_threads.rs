//! How much of a core each thread of this process takes, and how long it waits for one.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::cgroup::CpuLimit;

/// From one look to the next, at least: a thread that ends between two looks counts up to the earlier one.
const LOOK: Duration = Duration::from_millis(200);

/// Watches the CPU time of this process, and the times of those of its threads whose names begin alike, over a stretch of time.
#[derive(Debug)]
pub struct OwnCpu {
    name: &'static str,
    processors: u32,
    limit: CpuLimit,
    began: Look,
    /// What its quotas had held back when the stretch began.
    throttled_s: f64,
    last: Look,
}

/// What the threads had used at a time.
#[derive(Debug, Clone)]
struct Look {
    at: Instant,
    process: Duration,
    threads: BTreeMap<i32, ThreadTimes>,
}

/// A thread's times since it began.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct ThreadTimes {
    /// On a processor.
    ran: Duration,
    /// Ready, and not let run: by others, or by a quota.
    waited: Duration,
}

/// What was used over a stretch of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuShares {
    /// Cores' time that the process used.
    pub cores: f64,
    /// Cores' time that it may use: by its affinity and the quotas of its cgroups.
    pub allowed_cores: f64,
    /// The part of a core that its busiest thread used; `None`: the kernel does not tell.
    pub busiest_thread: Option<f64>,
    /// How long quotas of its cgroups held back the thread that they held back the longest, as far as can be told: no longer
    /// than any of them waited, nor than all were throttled. Where the kernel tells of no waits, the mean of what was
    /// throttled over the processors of its affinity.
    pub held_back: Duration,
}

impl OwnCpu {
    /// Watches the threads whose names begin with `name`. The stretch begins now.
    #[must_use]
    pub fn start(name: &'static str) -> Self {
        let processors = rustix::thread::sched_getaffinity(None).map_or(1, |cpus| cpus.count()).max(1);
        let (limit, began) = (CpuLimit::of_this_process(), Look::now(name));
        Self { name, processors, throttled_s: limit.throttled_s(), limit, last: began.clone(), began }
    }

    /// The stretch begins anew.
    pub fn begin(&mut self) {
        self.began = Look::now(self.name);
        self.throttled_s = self.limit.throttled_s();
        self.last = self.began.clone();
    }

    /// Looks again, unless that was done just now. Call it often: threads may end before the stretch does.
    pub fn follow(&mut self) {
        if self.last.at.elapsed() >= LOOK {
            self.last = self.last.followed_by(Look::now(self.name));
        }
    }

    /// What was used since the stretch began.
    #[must_use]
    pub fn shares(&self) -> CpuShares {
        let process = cpu_of_process();
        let over = self.began.at.elapsed();
        let now = Look::now(self.name);
        // Threads that have ended are no longer seen: they are judged by the look at which they were.
        let busiest_now = now.busiest_since(&self.began);
        let busiest_before = self.last.busiest_since(&self.began);
        let longest_wait = now.longest_wait_since(&self.began).max(self.last.longest_wait_since(&self.began));
        let throttled_s = (self.limit.throttled_s() - self.throttled_s).max(0.0);
        let throttled = Duration::try_from_secs_f64(throttled_s).unwrap_or_default();
        CpuShares {
            cores: share(process.saturating_sub(self.began.process), over),
            allowed_cores: self.limit.cores().unwrap_or(f64::INFINITY).min(f64::from(self.processors)),
            busiest_thread: busiest_now.into_iter().chain(busiest_before).reduce(f64::max),
            held_back: held_back(throttled, self.processors, longest_wait),
        }
    }
}

impl Look {
    fn now(name: &str) -> Self {
        let threads = read_threads(Path::new("/proc/self/task"), name);
        Self { at: Instant::now(), process: cpu_of_process(), threads }
    }

    /// A later look that has seen threads; one that has not tells nothing new.
    fn followed_by(&self, later: Self) -> Self {
        if later.threads.is_empty() { self.clone() } else { later }
    }

    fn busiest_since(&self, began: &Self) -> Option<f64> {
        let over = self.at.saturating_duration_since(began.at);
        let used = self.since(began).map(|times| share(times.ran, over));
        used.filter(|_| over >= LOOK).reduce(f64::max)
    }

    fn longest_wait_since(&self, began: &Self) -> Option<Duration> {
        self.since(began).map(|times| times.waited).max()
    }

    fn since(&self, began: &Self) -> impl Iterator<Item = ThreadTimes> {
        self.threads.iter().map(|(id, times)| {
            let before = began.threads.get(id).copied().unwrap_or_default();
            ThreadTimes {
                ran: times.ran.saturating_sub(before.ran),
                waited: times.waited.saturating_sub(before.waited),
            }
        })
    }
}

/// What all processors together were throttled for is mostly that of the few that had work: a mean over many that had none
/// would hide it. A thread that is ready while it is throttled waits, and one that sleeps does not.
fn held_back(throttled: Duration, processors: u32, longest_wait: Option<Duration>) -> Duration {
    longest_wait.map_or(throttled / processors, |waited| throttled.min(waited))
}

fn read_threads(tasks: &Path, name: &str) -> BTreeMap<i32, ThreadTimes> {
    let times = |task: std::fs::DirEntry| {
        let id = task.file_name().to_str()?.parse().ok()?;
        let text = |file: &str| std::fs::read_to_string(task.path().join(file)).ok();
        let is_named = text("comm")?.starts_with(name);
        is_named.then_some((id, times_of_thread(&text("schedstat")?)?))
    };
    std::fs::read_dir(tasks).into_iter().flatten().flatten().filter_map(times).collect()
}

/// `schedstat` begins with the nanoseconds on a processor and those in a run queue.
fn times_of_thread(schedstat: &str) -> Option<ThreadTimes> {
    let mut times = schedstat.split_ascii_whitespace().map(|ns| ns.parse().ok().map(Duration::from_nanos));
    Some(ThreadTimes { ran: times.next()??, waited: times.next()?? })
}

fn cpu_of_process() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(now).unwrap_or_default()
}

fn share(cpu: Duration, over: Duration) -> f64 {
    cpu.as_secs_f64() / over.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at: Instant, threads: &[(i32, u64)]) -> Look {
        let threads = threads.iter().map(|&(id, ms)| (id, times(ms, 0))).collect();
        Look { at, process: Duration::ZERO, threads }
    }

    fn times(ran_ms: u64, waited_ms: u64) -> ThreadTimes {
        ThreadTimes { ran: Duration::from_millis(ran_ms), waited: Duration::from_millis(waited_ms) }
    }

    #[test]
    fn the_busiest_thread_is_the_one_that_used_most_since_the_beginning() {
        let began = Instant::now();
        let first = look(began, &[(1, 5000), (2, 100)]);
        let last = look(began + Duration::from_secs(2), &[(1, 5100), (2, 1700), (3, 900)]);
        assert_eq!(last.busiest_since(&first), Some(0.8));
        assert_eq!(first.busiest_since(&first), None, "no time has passed");
    }

    #[test]
    fn threads_that_have_ended_are_remembered() {
        let began = Instant::now();
        let first = look(began, &[(1, 0)]);
        let seen = look(began + Duration::from_secs(1), &[(1, 900)]);
        let kept = seen.followed_by(look(began + Duration::from_secs(2), &[]));
        assert_eq!(kept.busiest_since(&first), Some(0.9));
    }

    /// One of 64 processors has work, and a quota of two thirds stops it for a third of the time: that third is what counts.
    #[test]
    fn one_busy_thread_that_is_held_back_is_not_diluted_by_idle_processors() {
        let second = Duration::from_secs(1);
        let began = Look { threads: [(1, times(0, 500)), (2, times(0, 0))].into(), ..look(Instant::now(), &[]) };
        let waited =
            |ms: u64| Look { threads: [(1, times(2_000, 500 + ms)), (2, times(10, 5))].into(), ..began.clone() };
        let held = |throttled: Duration, look: &Look| held_back(throttled, 64, look.longest_wait_since(&began));
        assert_eq!(held(second, &waited(1_000)), second);
        assert_eq!(held(second, &waited(3_000)), second, "the rest of its waits were for others");
        assert_eq!(held(64 * second, &waited(250)), second / 4, "it slept through the rest");
        assert_eq!(held(Duration::ZERO, &waited(3_000)), Duration::ZERO, "no quota held it back");
        assert_eq!(held(64 * second, &look(began.at, &[])), second, "where the kernel tells of no waits");
    }

    #[test]
    fn the_kernel_names_this_thread() {
        let worker = std::thread::Builder::new().name("own-cpu-test".into());
        let seen = worker.spawn(|| read_threads(Path::new("/proc/self/task"), "own-cpu")).unwrap().join().unwrap();
        assert_eq!(seen.len(), 1, "{seen:?}");
        assert_eq!(times_of_thread("15000000 3000000 3\n"), Some(times(15, 3)));
        assert_eq!((times_of_thread(""), times_of_thread("15000000")), (None, None));
        assert!(OwnCpu::start("own-cpu").shares().allowed_cores > 0.0);
    }
}
