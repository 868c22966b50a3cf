//! Whether the client was the limit, by what was measured of it. Pure.

use iotbench_recorder::{LatencyHistogram, Level, SeenLate};
use iotbench_sampler::{CpuShares, Hiccup, HiccupMeter, Hiccups};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What was measured of the client over a stretch of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClientLoad {
    /// How long the stretch was.
    pub length_ns: u64,
    /// When it could not run.
    pub hiccups: Hiccups,
    /// What it used of the processors; `None`: not looked at, because the database shares the process.
    pub cpu: Option<CpuShares>,
    /// The operations acknowledged a second over the most that this client can make; `None`: not measured.
    pub ceiling_ratio: Option<f64>,
    /// How many operations it can have under way; 0: not known.
    #[serde(default)]
    pub connections: u64,
}

/// Why figures are the client's and not the database's.
#[derive(Clone, Debug, PartialEq)]
pub enum Limitation {
    /// It could not run for longer than the figures can bear.
    Hiccups {
        /// For how long.
        stalled: Duration,
        /// Of how long.
        of: Duration,
        /// In how many stretches.
        count: u64,
        /// The longest of them.
        longest: Option<Hiccup>,
    },
    /// Quotas of its cgroups held it back for longer than the figures can bear, be it in pauses that are no hiccups.
    Quota {
        /// For how long, in the thread that they held back the longest ([`CpuShares::held_back`]).
        held_back: Duration,
        /// Of how long.
        of: Duration,
    },
    /// Its busiest thread took this part of a core.
    BusiestThread(f64),
    /// It used so many of the cores that it may use.
    Cpu {
        /// Cores' time used.
        cores: f64,
        /// Cores' time allowed.
        allowed: f64,
    },
    /// The load was this part of the most that it can make.
    Ceiling(f64),
}

/// Shorter stalls, all together, are not held against a result, where something stopped the process.
const MATTERS: Duration = Duration::from_millis(80);
/// And where it had to wait for others: a machine that is shared has such waits, and the pacing error judges them too.
const MATTERS_OF_WAITS: Duration = Duration::from_millis(250);
/// The part of a core that a thread, and of its cores that a client, may use.
const MAX_CPU: f64 = 0.8;
/// The part of the client's ceiling that a load may be.
const MAX_OF_CEILING: f64 = 0.5;

impl ClientLoad {
    /// Every way in which the client was the limit. `response`: the response times that would be its fault. Where the
    /// database shares the process, only what came from outside counts: all else is the database's doing as well.
    #[must_use]
    pub fn limitations(&self, response: &LatencyHistogram, shared: bool) -> Vec<Limitation> {
        let mut found: Vec<Limitation> = self.stalled(response, shared).into_iter().collect();
        if shared {
            return found;
        }
        if let Some(CpuShares { cores, allowed_cores: allowed, busiest_thread, held_back }) = self.cpu {
            let of = Duration::from_nanos(self.length_ns);
            let is_told = held_back >= MATTERS_OF_WAITS.max(of.mul_f64(tail(response)));
            found.extend(is_told.then_some(Limitation::Quota { held_back, of }));
            found.extend(busiest_thread.filter(|&part| part > MAX_CPU).map(Limitation::BusiestThread));
            found.extend((cores > MAX_CPU * allowed).then_some(Limitation::Cpu { cores, allowed }));
        }
        found.extend(self.ceiling_ratio.filter(|&ratio| ratio > MAX_OF_CEILING).map(Limitation::Ceiling));
        found
    }

    /// Which of them spoil a fixed load's result, and which do not, because the ranges of its figures tell what they did: those
    /// of a load that `has_schedule`, by which each operation's own delay is known. Without one it is the client that sets
    /// the pace.
    #[must_use]
    pub fn judged(&self, response: &LatencyHistogram, shared: bool, has_schedule: bool) -> [Vec<Limitation>; 2] {
        let spoils = |found: &Limitation| match found {
            _ if !has_schedule => true,
            Limitation::Hiccups { count, of, .. } => seen_late(response, *count, *of) >= tail(response),
            // It pauses again and again: each time what is in flight is seen late, up to the whole time held back.
            Limitation::Quota { .. } => true,
            Limitation::BusiestThread(_) | Limitation::Cpu { .. } | Limitation::Ceiling(_) => false,
        };
        let (spoiling, told) = self.limitations(response, shared).into_iter().partition(spoils);
        [spoiling, told]
    }

    /// By how much answers that came while it could not run were seen too late, at most: one by its longest hiccup, those of a
    /// connection by all of them. Where the database shares the process, only what came from outside counts.
    #[must_use]
    pub fn seen_late(&self) -> SeenLate {
        let is_shared = self.cpu.is_none();
        let Hiccups { stalled, stalled_from_outside, longest, .. } = &self.hiccups;
        let counts = longest.iter().filter(|hiccup| !is_shared || hiccup.cause.is_from_outside());
        let told: Duration = counts.clone().map(|hiccup| hiccup.stalled).sum();
        // Of the others the mean over all threads of the detector is known: one of them was late for as often as much.
        let untold = if is_shared { stalled_from_outside } else { stalled }.saturating_sub(told);
        SeenLate {
            longest: counts.clone().map(|hiccup| hiccup.length).max().unwrap_or_default(),
            altogether: counts.map(|hiccup| hiccup.length).sum::<Duration>() + untold * HiccupMeter::MAX_THREADS,
            connections: self.connections,
        }
    }

    fn stalled(&self, response: &LatencyHistogram, shared: bool) -> Option<Limitation> {
        let Hiccups { count, stalled, stalled_from_outside, longest } = &self.hiccups;
        let of = Duration::from_nanos(self.length_ns);
        let least = of.mul_f64(tail(response));
        let all = Some(*stalled).filter(|&stalled| !shared && stalled >= MATTERS_OF_WAITS.max(least));
        let from_outside = Some(*stalled_from_outside).filter(|&stalled| stalled >= MATTERS.max(least));
        let counts = longest.iter().filter(|hiccup| all.is_some() || hiccup.cause.is_from_outside());
        let longest = counts.max_by_key(|hiccup| hiccup.stalled).copied();
        all.or(from_outside).map(|stalled| Limitation::Hiccups { stalled, of, count: *count, longest })
    }
}

/// What the greatest quantile that is told leaves above itself: whoever stands still for that part of the time has made it.
fn tail(response: &LatencyHistogram) -> f64 {
    if response.quantile(Level::P999).ns().is_some() { 0.001 } else { 0.01 }
}

/// The part of the answers that came while the client stood still, so many times, and were seen late: those in flight when it
/// stopped, by Little's law.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn seen_late(response: &LatencyHistogram, stops: u64, of: Duration) -> f64 {
    stops as f64 * response.mean_ns().unwrap_or_default() / of.as_nanos().max(1) as f64
}

impl std::fmt::Display for Limitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Hiccups { stalled, of, count, longest } => {
                let (stalled_s, of_s) = (stalled.as_secs_f64(), of.as_secs_f64());
                let stretches = if *count == 1 { "in one stretch" } else { "in several stretches, the longest" };
                write!(f, "it could not run for {stalled_s:.3} s of {of_s:.1} s, {stretches}")?;
                let Some(Hiccup { from, length, cause, .. }) = longest else { return Ok(()) };
                let (at_s, length_s) = (from.as_secs_f64(), length.as_secs_f64());
                write!(f, " of {length_s:.3} s at {at_s:.1} s: {cause}")
            }
            Self::Quota { held_back, of } => {
                let (held_s, of_s) = (held_back.as_secs_f64(), of.as_secs_f64());
                write!(f, "CPU quotas of its cgroups held it back for {held_s:.3} s of {of_s:.1} s")
            }
            Self::BusiestThread(part) => {
                write!(f, "its busiest thread used {:.0} % of a core, and 80 % may be", part * 100.0)
            }
            Self::Cpu { cores, allowed } => {
                write!(f, "it used {cores:.2} of the {allowed:.2} cores that it may use, and 80 % may be")
            }
            Self::Ceiling(ratio) => write!(
                f,
                "the load is {:.0} % of the most that this client can make on a backend that does nothing, and 50 % may be",
                ratio * 100.0
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_sampler::HiccupCause;

    fn responses(count: u64) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        (0..count).for_each(|_| histogram.record(1_000_000));
        histogram
    }

    /// A run of so many seconds in which the client could not run once, for so many milliseconds.
    fn stalled(seconds: u64, ms: u64, cause: HiccupCause) -> ClientLoad {
        let length = Duration::from_millis(ms);
        let hiccup = Hiccup { from: Duration::from_secs(4), length, stalled: length, cause };
        let from_outside = if cause.is_from_outside() { length } else { Duration::ZERO };
        let hiccups = Hiccups { count: 1, stalled: length, stalled_from_outside: from_outside, longest: vec![hiccup] };
        ClientLoad { length_ns: seconds * 1_000_000_000, hiccups, ..ClientLoad::default() }
    }

    fn limits(load: &ClientLoad, operations: u64) -> bool {
        !load.limitations(&responses(operations), false).is_empty()
    }

    #[test]
    fn a_client_that_always_ran_and_had_room_is_no_limit() {
        let held_back = Duration::from_millis(249);
        let cpu = CpuShares { cores: 1.5, allowed_cores: 2.0, busiest_thread: Some(0.79), held_back };
        let load = ClientLoad { cpu: Some(cpu), ceiling_ratio: Some(0.5), ..stalled(10, 79, HiccupCause::RunQueue) };
        assert_eq!(load.limitations(&responses(20_000), false), []);
    }

    #[test]
    fn a_stall_counts_where_it_makes_a_quantile_that_is_told() {
        for ms in [100, 300, 700] {
            assert!(limits(&stalled(10, ms, HiccupCause::Stopped), 100), "1 % of the time: p99 at the least");
            assert!(limits(&stalled(60, ms, HiccupCause::Stopped), 20_000), "0.1 % of the time: p99.9 is told");
        }
        assert!(
            !limits(&stalled(60, 300, HiccupCause::Stopped), 2_000),
            "p99.9 is not told, and p99 is the database's"
        );
        assert!(limits(&stalled(60, 700, HiccupCause::Stopped), 2_000));
        assert!(!limits(&stalled(300, 100, HiccupCause::Stopped), 1_000_000), "beyond all that is told");
    }

    /// How many spoil a result of so many operations of 1 ms, and how many are told beside it.
    fn judged(load: &ClientLoad, operations: u64, has_schedule: bool) -> [usize; 2] {
        load.judged(&responses(operations), false, has_schedule).map(|found| found.len())
    }

    #[test]
    fn a_stall_spoils_what_has_a_schedule_only_by_what_was_in_flight() {
        let stop = |seconds| stalled(seconds, 300, HiccupCause::Stopped);
        assert_eq!(judged(&stop(30), 20_000, true), [0, 1], "1 ms of 30 s was in flight: no quantile is of it");
        assert_eq!(judged(&stop(30), 20_000, false), [1, 0]);
        let mut slow = LatencyHistogram::new();
        slow.record_many(40_000_000, 20_000);
        let found = stop(30).judged(&slow, false, true);
        assert_eq!(found.map(|found| found.len()), [1, 0], "40 ms of 30 s: p99.9 may be of what was in flight");
    }

    #[test]
    fn what_a_schedule_tells_spoils_only_what_has_none() {
        let cpu = CpuShares { cores: 1.7, allowed_cores: 2.0, busiest_thread: Some(0.9), ..CpuShares::default() };
        let load = ClientLoad { cpu: Some(cpu), ceiling_ratio: Some(0.6), ..ClientLoad::default() };
        assert_eq!(judged(&load, 20_000, true), [0, 3]);
        assert_eq!(judged(&load, 20_000, false), [3, 0]);
        let held_back = Duration::from_secs(20);
        let cpu = CpuShares { cores: 0.1, allowed_cores: 2.0, held_back, ..CpuShares::default() };
        let load = ClientLoad { cpu: Some(cpu), length_ns: 60_000_000_000, ..ClientLoad::default() };
        assert_eq!(judged(&load, 20_000, true), [1, 0], "a quota holds back answers too");
    }

    #[test]
    fn waits_for_other_programs_count_when_they_are_more_than_those_of_a_shared_machine() {
        for cause in [HiccupCause::RunQueue, HiccupCause::CpuQuota, HiccupCause::Unknown] {
            assert!(!limits(&stalled(10, 249, cause), 20_000), "{cause}");
            assert!(limits(&stalled(10, 250, cause), 20_000), "{cause}");
        }
        assert!(!limits(&stalled(60, 250, HiccupCause::RunQueue), 2_000), "p99 is the database's");
    }

    #[test]
    fn what_spoils_a_result_is_said_with_time_size_and_cause() {
        let found = stalled(10, 300, HiccupCause::Stopped).limitations(&responses(20_000), false);
        let text = "it could not run for 0.300 s of 10.0 s, in one stretch of 0.300 s at 4.0 s: it was stopped, or its \
                    whole machine was";
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [text]);
    }

    #[test]
    fn processor_and_ceiling_have_their_limits() {
        let load = |cores, busiest, ceiling_ratio| {
            let cpu =
                Some(CpuShares { cores, allowed_cores: 2.0, busiest_thread: Some(busiest), ..CpuShares::default() });
            let load = ClientLoad { cpu, ceiling_ratio: Some(ceiling_ratio), ..ClientLoad::default() };
            load.limitations(&responses(10), false)
        };
        assert_eq!(load(1.7, 0.5, 0.1), [Limitation::Cpu { cores: 1.7, allowed: 2.0 }]);
        assert_eq!(load(1.0, 0.81, 0.1), [Limitation::BusiestThread(0.81)]);
        assert_eq!(load(1.0, 0.5, 0.51), [Limitation::Ceiling(0.51)]);
    }

    /// A quota of two thirds holds it back for a third of each period of 100 ms: no single stall is long enough to be told.
    #[test]
    fn a_quota_counts_however_short_its_pauses_are() {
        let load = |held_back_ms| {
            let held_back = Duration::from_millis(held_back_ms);
            let cpu = CpuShares { cores: 0.1, allowed_cores: 2.0, held_back, ..CpuShares::default() };
            ClientLoad { cpu: Some(cpu), length_ns: 60_000_000_000, ..ClientLoad::default() }
        };
        let found = load(20_000).limitations(&responses(10), false);
        let text = "CPU quotas of its cgroups held it back for 20.000 s of 60.0 s";
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [text]);
        assert!(limits(&load(600), 2_000) && !limits(&load(599), 2_000), "1 % of the time: p99");
        assert!(limits(&load(250), 20_000) && !limits(&load(249), 20_000));
    }

    #[test]
    fn an_answer_is_seen_late_by_the_longest_stop() {
        let ms = Duration::from_millis;
        let mut load = stalled(10, 300, HiccupCause::Stopped);
        let longer = Hiccup { length: ms(400), cause: HiccupCause::RunQueue, ..load.hiccups.longest[0] };
        load.hiccups.longest.push(longer);
        load.hiccups.stalled = ms(300 + 300 + 10);
        let seen_late = |load: &ClientLoad| (load.seen_late().longest, load.seen_late().altogether);
        let from_outside = (ms(300), ms(300));
        assert_eq!(seen_late(&load), from_outside, "of a process that is the database too only what came from outside");
        load.cpu = Some(CpuShares::default());
        assert_eq!(
            seen_late(&load),
            (ms(400), ms(300 + 400 + 4 * 10)),
            "of those not told one of four threads was late"
        );
        assert_eq!(ClientLoad::default().seen_late(), SeenLate::default());
    }

    #[test]
    fn of_a_process_that_is_the_database_too_only_what_came_from_outside_counts() {
        let held_back = Duration::from_secs(5);
        let cpu = CpuShares { cores: 2.0, allowed_cores: 2.0, busiest_thread: Some(1.0), held_back };
        let of = |cause| ClientLoad { cpu: Some(cpu), ceiling_ratio: Some(1.0), ..stalled(10, 300, cause) };
        let found = |cause| of(cause).limitations(&responses(20_000), true).len();
        assert_eq!((found(HiccupCause::Stopped), found(HiccupCause::Steal)), (1, 1));
        assert_eq!((found(HiccupCause::RunQueue), found(HiccupCause::CpuQuota)), (0, 0));
    }

    /// What may be may be; a little more may not.
    #[test]
    fn limits_of_processor_and_ceiling_are_not_exceeded_by_what_meets_them() {
        let found = |cores, busiest, ratio| {
            let cpu = CpuShares { cores, allowed_cores: 2.0, busiest_thread: Some(busiest), ..CpuShares::default() };
            let load = ClientLoad { cpu: Some(cpu), ceiling_ratio: Some(ratio), ..ClientLoad::default() };
            load.limitations(&responses(10), false).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(found(MAX_CPU * 2.0, MAX_CPU, MAX_OF_CEILING).is_empty());
        let told = [
            "its busiest thread used 90 % of a core, and 80 % may be",
            "it used 1.70 of the 2.00 cores that it may use, and 80 % may be",
            "the load is 60 % of the most that this client can make on a backend that does nothing, and 50 % may be",
        ];
        assert_eq!(found(1.7, 0.9, 0.6), told);
    }

    #[test]
    fn of_a_shared_process_the_longest_stall_that_came_from_outside_is_told() {
        let hiccup = |s, ms, cause| {
            let length = Duration::from_millis(ms);
            Hiccup { from: Duration::from_secs(s), length, stalled: length, cause }
        };
        let longest = vec![hiccup(1, 90, HiccupCause::Stopped), hiccup(2, 600, HiccupCause::RunQueue)];
        let (stalled, stalled_from_outside) = (Duration::from_millis(690), Duration::from_millis(90));
        let hiccups = Hiccups { count: 2, stalled, stalled_from_outside, longest };
        let load = ClientLoad { length_ns: 10_000_000_000, hiccups, ..ClientLoad::default() };
        let told = |shared| load.limitations(&responses(20_000), shared)[0].to_string();
        let outside = "it could not run for 0.090 s of 10.0 s, in several stretches, the longest of 0.090 s at 1.0 s: ";
        assert!(told(true).starts_with(outside), "{}", told(true));
        let all = "it could not run for 0.690 s of 10.0 s, in several stretches, the longest of 0.600 s at 2.0 s: ";
        assert!(told(false).starts_with(all), "{}", told(false));
    }
}
