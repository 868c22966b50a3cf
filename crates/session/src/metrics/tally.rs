//! What a target has done so far: sums that never fall. Pure.

use crate::watch::LoadSoFar;
use iotbench_recorder::{LatencyHistogram, Window};
use iotbench_sampler::{Observation, Reading, Sample, UsageBetween};
use std::{collections::BTreeMap, sync::Arc};

/// Upper bounds of the response time's buckets: five a decade from 10 µs to 100 s.
const BOUNDS_NS: [u64; 36] = bounds_ns();

const fn bounds_ns() -> [u64; 36] {
    const STEPS: [u64; 5] = [10, 16, 25, 40, 63];
    let mut bounds_ns = [0; 36];
    let mut at = 0_u32;
    while at < 36 {
        bounds_ns[at as usize] = STEPS[at as usize % 5] * 10_u64.pow(3 + at / 5);
        at += 1;
    }
    bounds_ns
}

/// The same in seconds.
pub(super) fn bounds_s() -> impl Iterator<Item = f64> {
    #[expect(clippy::cast_precision_loss, reason = "bounds of two digits")]
    BOUNDS_NS.iter().map(|&ns| ns as f64 / 1e9)
}

/// A subject's role and node.
pub(super) type Place = (Arc<str>, u32);

/// The sums of a target.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Operations, datapoints and errors.
    pub(super) load: LoadSoFar,
    /// Response times of what succeeded.
    pub(super) response: Responses,
    /// Resources by role and node.
    pub(super) used: BTreeMap<Place, Used>,
}

/// A histogram that is added to.
#[derive(Clone, Debug)]
pub(super) struct Responses {
    /// How many lie up to each bound and above the one before; the last one: above all.
    pub(super) buckets: [u64; BOUNDS_NS.len() + 1],
    /// Their sum in seconds.
    pub(super) sum_s: f64,
}

impl Default for Responses {
    fn default() -> Self {
        Self { buckets: [0; BOUNDS_NS.len() + 1], sum_s: 0.0 }
    }
}

/// What a role has used since it was first seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Used {
    /// Its last sample of the present run.
    last: Option<Sample>,
    /// The sum of what it used.
    pub(super) usage: UsageBetween,
    /// What it holds; `None`: not known, or it is gone.
    pub(super) memory_bytes: Option<u64>,
}

impl Tally {
    /// Another run begins: its processes are others.
    pub(super) fn begin_run(&mut self) {
        for used in self.used.values_mut() {
            (used.last, used.memory_bytes) = (None, None);
        }
    }

    /// A second of the run is complete.
    pub(super) fn second(&mut self, window: &Window, readings: &[Reading]) {
        let recording = window.recording();
        self.load.add(window);
        for kind in 0..recording.kinds().len() {
            self.response.add(recording.kind(kind).by_operation().ok().response());
        }
        for reading in readings {
            self.read(reading);
        }
    }

    fn read(&mut self, reading: &Reading) {
        let used = self.used.entry((Arc::clone(&reading.role), reading.node)).or_default();
        match &reading.observation {
            Observation::Sampled(sample) => {
                if let Some(usage) = used.last.as_ref().and_then(|last| UsageBetween::between(last, sample)) {
                    used.usage.add(&usage);
                }
                used.memory_bytes = sample.pss_bytes.or(sample.rss_bytes);
                used.last = Some(*sample);
            }
            Observation::Gone => (used.last, used.memory_bytes) = (None, None),
            Observation::Unreadable(_) => {}
        }
    }
}

impl Responses {
    fn add(&mut self, histogram: &LatencyHistogram) {
        let mut kept = 0;
        for (middle_ns, count) in histogram.recorded() {
            let bucket = BOUNDS_NS.partition_point(|&bound_ns| bound_ns < middle_ns);
            self.buckets[bucket] += count;
            kept += count;
        }
        self.buckets[BOUNDS_NS.len()] += histogram.count() - kept;
        #[expect(clippy::cast_precision_loss, reason = "a sum of durations is told to 16 digits")]
        let sum_ns = histogram.sum_ns() as f64;
        self.sum_s += sum_ns / 1e9;
    }

    pub(super) fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_recorder::HIGHEST_NS;

    #[test]
    fn a_duration_is_in_the_bucket_of_the_first_bound_that_is_not_less() {
        let mut histogram = LatencyHistogram::new();
        for duration_ns in [1, 9_900, 10_100, 900_000_000, 101_000_000_000, HIGHEST_NS + 1] {
            histogram.record(duration_ns);
        }
        let mut responses = Responses::default();
        responses.add(&histogram);
        responses.add(&histogram);
        let filled: Vec<_> = responses.buckets.iter().enumerate().filter(|(_, count)| **count > 0).collect();
        assert_eq!(filled, [(0, &4), (1, &2), (25, &2), (36, &4)], "up to 10 µs, 16 µs, 1 s and above all");
        assert_eq!(responses.count(), 12);
        let sum_s = 2.0 * (20_001.0 + 900_000_000.0 + 101_000_000_000.0 + HIGHEST_NS as f64 + 1.0) / 1e9;
        assert!((responses.sum_s - sum_s).abs() < 1e-6, "{} is not {sum_s}", responses.sum_s);
    }

    #[test]
    fn what_is_used_grows_over_runs_whose_processes_begin_at_nothing() {
        let mut tally = Tally::default();
        let window = Window::new([].into(), 0, 0);
        let mut seen = Vec::new();
        for run in 0..2 {
            tally.begin_run();
            for (at_s, cpu_s) in [(1, 0.5), (1, 0.5), (2, 1.5), (3, 1.75)] {
                tally.second(&window, &[reading(at_s, cpu_s)]);
                seen.push(tally.used[&server()].usage.cpu_s);
            }
            assert_eq!(tally.used[&server()].memory_bytes, Some(9), "run {run}");
        }
        assert_eq!(seen, [0.0, 0.0, 1.0, 1.25, 1.25, 1.25, 2.25, 2.5]);
        let gone = Reading { role: "server".into(), node: 0, observation: Observation::Gone };
        tally.second(&window, &[gone]);
        assert_eq!(tally.used[&server()].memory_bytes, None);
        assert_eq!(tally.used[&server()].usage.net_rx_bytes, None, "unknown is not 0");
    }

    fn server() -> Place {
        ("server".into(), 0)
    }

    fn reading(at_s: u64, cpu_s: f64) -> Reading {
        let sample = Sample {
            at: std::time::Duration::from_secs(at_s),
            cpu_s,
            processes: 1,
            rss_bytes: Some(9),
            ..Sample::default()
        };
        Reading { role: "server".into(), node: 0, observation: Observation::Sampled(sample) }
    }
}
