//! Samples of one subject over a window, in constant memory. Pure.

use std::sync::Arc;
use std::time::Duration;

use crate::owed::{WithWriteBack, Writes};
use crate::sample::{Method, Sample};

/// What one subject used between the first and the last sample of a window. A figure that could not be had is `None`,
/// never 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The subject's role, as the caller named it.
    pub role: Arc<str>,
    /// The subject's node, as the caller numbered it.
    pub node: u32,
    /// How the figures were taken.
    pub method: Method,
    /// Whether it was sampled on another machine.
    pub elsewhere: bool,
    /// Whether the first sample came so long after the window's beginning, or the last one so long after its end, that what lies
    /// between them is not the window: what was used in it is `None` then.
    pub is_part: bool,
    /// When the first sample was taken, since the caller's epoch; `None` without any.
    pub from: Option<Duration>,
    /// When the last sample was taken.
    pub to: Option<Duration>,
    /// Samples taken.
    pub samples: u64,
    /// When the subject was first found gone, with no other process in its place. The figures end with its last sample.
    pub gone_at: Option<Duration>,
    /// What it had of the processors.
    pub cpu: CpuFigures,
    /// Most processes alive at a sample.
    pub processes_max: Option<u32>,
    /// What it had of the memory.
    pub memory: MemoryFigures,
    /// What it read and wrote.
    pub disk: DiskFigures,
    /// What it sent and received.
    pub network: NetworkFigures,
    /// What processors and memory consumed, in microjoules (the host only).
    pub energy_uj: Option<u64>,
}

/// CPU time and use. `None`: not known, or there are fewer than two samples, as with all differences.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuFigures {
    /// Time used, in seconds of one core.
    pub total_s: Option<f64>,
    /// The part of `total_s` in user mode.
    pub user_s: Option<f64>,
    /// The part of `total_s` in the kernel.
    pub system_s: Option<f64>,
    /// Mean use in percent of one core: two busy cores are 200.
    pub pct_mean: Option<f64>,
}

/// Sizes of memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryFigures {
    /// Proportional set size, mean over time.
    pub pss_bytes_mean: Option<u64>,
    /// Proportional set size, highest sample.
    pub pss_bytes_max: Option<u64>,
    /// Sum of resident sets, mean over time.
    pub rss_bytes_mean: Option<u64>,
    /// Sum of resident sets, highest sample.
    pub rss_bytes_max: Option<u64>,
}

/// Bytes on their way to and from storage devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskFigures {
    /// Bytes fetched from storage devices.
    pub read_bytes: Option<u64>,
    /// Bytes that the devices took (the host), or with which processes were charged. [`Owed`](crate::Owed) makes of both what
    /// the window had them write.
    pub written_bytes: Option<u64>,
    /// What else bounds that.
    pub writes: Writes,
}

/// Bytes on the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NetworkFigures {
    /// Bytes received; where they [may be more](NetworkFigures::is_least), at least so many.
    pub rx_bytes: Option<u64>,
    /// Bytes sent; the same.
    pub tx_bytes: Option<u64>,
    /// Whether connections ended of which it is not known what they carried, or whether they were the subject's.
    pub is_least: bool,
}

/// So far from the ends of a window the first and last sample from elsewhere may be.
const NEAR: Duration = Duration::from_secs(2);
/// A sample on this machine may be late by so much, or by this part of its window.
const LATE: Duration = Duration::from_millis(20);
const LATE_PART: u32 = 20;
/// What may have been somebody else's traffic does not matter up to this part of what was counted: 1 %.
const DOUBTFUL: u64 = 100;

impl Summary {
    /// Of a subject of which nothing is known.
    #[must_use]
    pub fn unknown(role: &str, method: Method) -> Self {
        Accumulator::default().summary(role.into(), 0, method, None)
    }

    /// Whether its samples reach from one end of a window to the other.
    pub(crate) fn covers(&self, from: Duration, to: Option<Duration>) -> bool {
        let begins = self.from.is_some_and(|first| first <= from + NEAR);
        begins && to.is_none_or(|to| self.to.is_some_and(|last| last + NEAR >= to))
    }

    /// Whether its samples lie at the ends of a window: late by a twentieth of it in all, or by [`LATE`], at most.
    pub(crate) fn fits(&self, from: Duration, to: Duration) -> bool {
        // Who has ended was not looked at afterwards, and one look has no differences.
        let (Some(first), Some(last), None) = (self.from, self.to, self.gone_at) else { return true };
        let late = first.saturating_sub(from) + last.saturating_sub(to);
        late <= LATE.max(to.saturating_sub(from) / LATE_PART)
    }

    /// Without what was used from the first sample to the last: of a part of a window it would be too little.
    pub(crate) fn without_differences(self) -> Self {
        Self {
            cpu: CpuFigures { pct_mean: self.cpu.pct_mean, ..CpuFigures::default() },
            disk: DiskFigures::default(),
            network: NetworkFigures::default(),
            energy_uj: None,
            ..self
        }
    }
}

/// Accumulates the samples of one window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Accumulator {
    first: Option<Sample>,
    last: Option<Sample>,
    /// After what the window left was written back.
    written_back: Option<Sample>,
    samples: u64,
    processes_max: Option<u32>,
    rss: Level,
    pss: Level,
}

impl Accumulator {
    pub fn add(&mut self, sample: &Sample) {
        // Of what is sampled elsewhere, two looks may find the same.
        if self.last.is_some_and(|last| last.at == sample.at) {
            return;
        }
        self.first.get_or_insert(*sample);
        self.last = Some(*sample);
        self.samples += 1;
        self.processes_max = self.processes_max.max(Some(sample.processes));
        self.rss.add(sample.at, sample.rss_bytes);
        self.pss.add(sample.at, sample.pss_bytes);
    }

    /// Whether it has one sample, and that of this moment. All before the epoch are of the epoch.
    pub fn has_just_begun(&self, at: Duration) -> bool {
        self.samples == 1 && self.first.is_some_and(|first| first.at == at)
    }

    /// What the window left to be written has been.
    pub fn written_back(&mut self, sample: &Sample) {
        self.written_back = Some(*sample);
    }

    fn writes(&self) -> Writes {
        let Some((first, last)) = self.first.zip(self.last).filter(|_| self.samples > 1) else {
            return Writes::default();
        };
        let growth = |to: &Sample, figure: fn(&Sample) -> Option<u64>| figure(to)?.checked_sub(figure(&first)?);
        Writes {
            cancelled_bytes: growth(&last, |sample| sample.disk.cancelled_bytes),
            dirtied_bytes: growth(&last, |sample| sample.disk.dirtied_bytes),
            dirty_before_bytes: first.disk.dirty_bytes,
            dirty_after_bytes: last.disk.dirty_bytes,
            with_write_back: self.written_back.map(|later| WithWriteBack {
                written_bytes: growth(&later, |sample| sample.disk.written_bytes),
                dirtied_bytes: growth(&later, |sample| sample.disk.dirtied_bytes),
                dirty_after_bytes: later.disk.dirty_bytes,
            }),
        }
    }

    pub fn summary(&self, role: Arc<str>, node: u32, method: Method, gone_at: Option<Duration>) -> Summary {
        let pair = self.first.zip(self.last).filter(|_| self.samples > 1);
        let difference = |figure: fn(&Sample) -> f64| pair.map(|(first, last)| figure(&last) - figure(&first));
        let growth = |figure: fn(&Sample) -> Option<u64>| {
            pair.and_then(|(first, last)| figure(&last)?.checked_sub(figure(&first)?))
        };
        let cpu_s = difference(|sample| sample.cpu_s);
        let elapsed_s = pair.map(|(first, last)| last.at.saturating_sub(first.at).as_secs_f64());
        Summary {
            role,
            node,
            method,
            elsewhere: false,
            is_part: false,
            from: self.first.map(|sample| sample.at),
            to: self.last.map(|sample| sample.at),
            samples: self.samples,
            gone_at,
            cpu: CpuFigures {
                total_s: cpu_s,
                user_s: difference(|sample| sample.user_s),
                system_s: difference(|sample| sample.system_s),
                pct_mean: cpu_s.zip(elapsed_s.filter(|elapsed| *elapsed > 0.0)).map(|(cpu, wall)| cpu / wall * 100.0),
            },
            processes_max: self.processes_max,
            memory: MemoryFigures {
                pss_bytes_mean: self.pss.mean(),
                pss_bytes_max: self.pss.max,
                rss_bytes_mean: self.rss.mean(),
                rss_bytes_max: self.rss.max,
            },
            disk: DiskFigures {
                read_bytes: growth(|sample| sample.disk.read_bytes),
                written_bytes: growth(|sample| sample.disk.written_bytes),
                writes: self.writes(),
            },
            network: NetworkFigures {
                rx_bytes: growth(|sample| sample.network.rx_bytes),
                tx_bytes: growth(|sample| sample.network.tx_bytes),
                is_least: pair.is_some_and(|(first, last)| net_is_least(&first, &last)),
            },
            energy_uj: growth(|sample| sample.energy_uj),
        }
    }
}

/// Whether the network's figures between two samples are lower bounds.
fn net_is_least(first: &Sample, last: &Sample) -> bool {
    let all = |sample: &Sample| sample.network.rx_bytes.unwrap_or(0) + sample.network.tx_bytes.unwrap_or(0);
    let counted_bytes = all(last).saturating_sub(all(first));
    let doubtful_bytes = last.network.doubtful_bytes.saturating_sub(first.network.doubtful_bytes);
    last.network.missed > first.network.missed || doubtful_bytes > counted_bytes / DOUBTFUL
}

/// A size over time: its mean weighs each pair of neighbouring samples by the time between them.
#[derive(Debug, Clone, Default)]
struct Level {
    byte_seconds: f64,
    seconds: f64,
    max: Option<u64>,
    last: Option<(Duration, u64)>,
}

impl Level {
    #[expect(clippy::cast_precision_loss, reason = "a mean of sizes needs no exact bytes above 2^53")]
    fn add(&mut self, at: Duration, bytes: Option<u64>) {
        let before = self.last.take();
        let Some(bytes) = bytes else { return };
        if let Some((since, previous)) = before {
            let seconds = at.saturating_sub(since).as_secs_f64();
            self.byte_seconds += (previous as f64 + bytes as f64) / 2.0 * seconds;
            self.seconds += seconds;
        }
        self.max = self.max.max(Some(bytes));
        self.last = Some((at, bytes));
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of u64 is within u64")]
    fn mean(&self) -> Option<u64> {
        if self.seconds > 0.0 { Some((self.byte_seconds / self.seconds).round() as u64) } else { self.max }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{DiskCounters, NetworkCounters, NetworkMethod, Source};

    fn sample(at_s: u64, cpu_s: f64, pss_bytes: Option<u64>) -> Sample {
        Sample {
            at: Duration::from_secs(at_s),
            cpu_s,
            user_s: cpu_s,
            processes: 3,
            rss_bytes: Some(100),
            pss_bytes,
            disk: DiskCounters {
                read_bytes: None,
                written_bytes: Some(at_s * 10),
                cancelled_bytes: Some(at_s * 2),
                dirtied_bytes: Some(at_s * 11),
                dirty_bytes: Some(at_s),
            },
            energy_uj: Some(at_s * 7),
            ..Sample::default()
        }
    }

    fn summary_of(samples: &[Sample]) -> Summary {
        let mut accumulator = Accumulator::default();
        samples.iter().for_each(|sample| accumulator.add(sample));
        let method = Method { source: Source::ProcessTree, network: Some(NetworkMethod::Socket) };
        accumulator.summary("server".into(), 0, method, None)
    }

    #[test]
    fn counters_are_differences_and_sizes_weigh_by_time() {
        let summary = summary_of(&[sample(10, 5.0, Some(100)), sample(11, 6.0, Some(200)), sample(20, 9.0, Some(200))]);
        assert_eq!(summary.cpu.total_s, Some(4.0));
        assert_eq!(summary.cpu.pct_mean, Some(40.0));
        assert_eq!(summary.disk.written_bytes, Some(100));
        assert_eq!(summary.disk.read_bytes, None);
        assert_eq!(summary.energy_uj, Some(70));
        assert_eq!(summary.memory.pss_bytes_mean, Some(195));
        assert_eq!((summary.memory.pss_bytes_max, summary.memory.rss_bytes_mean), (Some(200), Some(100)));
    }

    #[test]
    fn a_window_is_fitted_by_samples_that_are_late_by_a_twentieth_of_it() {
        let ms = Duration::from_millis;
        let between =
            |first, last, gone_at| Summary { from: Some(ms(first)), to: Some(ms(last)), gone_at, ..summary_of(&[]) };
        let fits = |first, last, to| between(first, last, None).fits(ms(1_000), ms(to));
        assert!(fits(1_000, 11_000, 11_000) && fits(1_500, 11_000, 11_000) && fits(1_250, 11_250, 11_000));
        assert!(!fits(1_501, 11_000, 11_000) && !fits(1_000, 11_501, 11_000) && !fits(1_300, 11_300, 11_000));
        // Of a short one by what a look may take.
        assert!(fits(1_020, 1_200, 1_200) && !fits(1_021, 1_200, 1_200));
        // Looked at before it began, as with a run's first window.
        assert!(fits(0, 11_000, 11_000));
        assert!(between(1_000, 3_000, Some(ms(4_000))).fits(ms(1_000), ms(11_000)), "who ended is told as gone");
    }

    #[test]
    fn writes_are_told_of_the_window_and_until_all_was_written_back() {
        let mut accumulator = Accumulator::default();
        [10, 20].iter().for_each(|at_s| accumulator.add(&sample(*at_s, 0.0, None)));
        let method = Method { source: Source::Host, network: None };
        let alone = accumulator.summary("machine".into(), 0, method, None).disk.writes;
        assert_eq!((alone.cancelled_bytes, alone.dirtied_bytes), (Some(20), Some(110)));
        assert_eq!(
            (alone.dirty_before_bytes, alone.dirty_after_bytes, alone.with_write_back),
            (Some(10), Some(20), None)
        );
        accumulator.written_back(&sample(23, 0.0, None));
        let all = accumulator.summary("machine".into(), 0, method, None);
        let expected =
            WithWriteBack { written_bytes: Some(130), dirtied_bytes: Some(143), dirty_after_bytes: Some(23) };
        assert_eq!(all.disk.writes.with_write_back, Some(expected));
        assert_eq!((all.disk.written_bytes, all.samples), (Some(100), 2), "the window stays as it was");
    }

    #[test]
    fn samples_of_a_part_of_a_window_do_not_say_what_all_of_it_took() {
        let at = Duration::from_secs;
        let summary = summary_of(&[sample(10, 5.0, Some(100)), sample(20, 9.0, Some(200))]);
        assert!(summary.covers(at(8), Some(at(22))) && summary.covers(at(10), None));
        assert!(!summary.covers(at(7), Some(at(20))) && !summary.covers(at(10), Some(at(23))));
        let part = summary.without_differences();
        assert_eq!((part.cpu.total_s, part.disk.written_bytes, part.cpu.pct_mean), (None, None, Some(40.0)));
        assert!(!summary_of(&[]).covers(at(0), None));
    }

    #[test]
    fn traffic_that_is_not_all_known_is_a_lower_bound() {
        let of = |both_bytes: u64, doubtful_bytes: u64, missed: u64| {
            let (first, last) = (sample(10, 5.0, None), sample(11, 5.0, None));
            let network = NetworkCounters {
                rx_bytes: Some(5_000 + both_bytes / 4),
                tx_bytes: Some(9_000 + both_bytes / 4 * 3),
                doubtful_bytes: 70 + doubtful_bytes,
                missed: 3 + missed,
            };
            let last = Sample { network, ..last };
            let network =
                NetworkCounters { rx_bytes: Some(5_000), tx_bytes: Some(9_000), doubtful_bytes: 70, missed: 3 };
            let before = Sample { network, ..first };
            let summary = summary_of(&[before, last]);
            (summary.network.rx_bytes.zip(summary.network.tx_bytes), summary.network.is_least)
        };
        assert_eq!(of(1_000, 10, 0), (Some((250, 750)), false), "1 % does not matter, nor what was before");
        assert_eq!(of(1_000, 11, 0), (Some((250, 750)), true));
        assert_eq!(of(1_000, 0, 1), (Some((250, 750)), true));
        assert_eq!(of(0, 0, 0), (Some((0, 0)), false));
    }

    #[test]
    fn one_sample_has_sizes_but_no_differences() {
        let summary = summary_of(&[sample(10, 5.0, Some(100))]);
        assert_eq!((summary.cpu.total_s, summary.cpu.pct_mean, summary.disk.written_bytes), (None, None, None));
        assert_eq!(summary.memory.pss_bytes_mean, Some(100));
    }

    #[test]
    fn unknown_sizes_leave_a_gap() {
        let summary = summary_of(&[
            sample(0, 0.0, Some(100)),
            sample(1, 0.0, Some(100)),
            sample(2, 0.0, None),
            sample(90, 0.0, Some(300)),
            sample(91, 0.0, Some(300)),
        ]);
        assert_eq!(summary.memory.pss_bytes_mean, Some(200));
    }

    #[test]
    fn without_samples_nothing_is_known() {
        let summary = summary_of(&[]);
        assert_eq!((summary.from, summary.cpu.total_s, summary.memory.rss_bytes_max), (None, None, None));
    }
}
