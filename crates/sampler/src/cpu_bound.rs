//! No more CPU time than there was. Pure.
//!
//! The kernel counts the time of processors in steps of a clock tick (10 ms), and is read a little after the time that a sample
//! has. So a counter may grow by more between two samples than all processors had in that time: by 2.02 s in a second of two. The
//! truth lies at what they had or below, and what is cut off is told with the next samples, as far as there was time for it then.

use std::time::Duration;

use crate::sample::Sample;

/// Keeps the CPU times of successive samples of one target within what the processors had.
#[derive(Debug, Default)]
pub(crate) struct CpuBound {
    /// `None`: not known, and nothing is cut off.
    processors: Option<f64>,
    last: Option<Last>,
}

#[derive(Debug, Clone, Copy)]
struct Last {
    at: Duration,
    /// As told.
    cpu_s: f64,
    user_s: f64,
    system_s: f64,
}

impl CpuBound {
    /// Of a machine with so many processors.
    pub fn of(processors: Option<u32>) -> Self {
        Self { processors: processors.map(f64::from), last: None }
    }

    /// The sample with CPU times that have grown by no more than there was time for. They never fall, and are never above what was
    /// read.
    pub fn keep(&mut self, mut sample: Sample) -> Sample {
        if let (Some(processors), Some(last)) = (self.processors, self.last) {
            let most_s = processors * sample.at.saturating_sub(last.at).as_secs_f64();
            let grown_s = sample.cpu_s - last.cpu_s;
            let part = if grown_s > most_s { most_s / grown_s } else { 1.0 };
            let told = |now_s: f64, last_s: f64| last_s + (now_s - last_s) * part;
            sample.cpu_s = told(sample.cpu_s, last.cpu_s);
            sample.user_s = told(sample.user_s, last.user_s);
            sample.system_s = told(sample.system_s, last.system_s);
        }
        let Sample { at, cpu_s, user_s, system_s, .. } = sample;
        self.last = Some(Last { at, cpu_s, user_s, system_s });
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of readings (ms, user, system) on two processors: CPU, user and system time.
    fn told(readings: &[(u64, f64, f64)]) -> Vec<[f64; 3]> {
        let mut bound = CpuBound::of(Some(2));
        let sample = |&(ms, user_s, system_s): &(u64, f64, f64)| Sample {
            at: Duration::from_millis(ms),
            cpu_s: user_s + system_s,
            user_s,
            system_s,
            ..Sample::default()
        };
        let kept = readings.iter().map(|reading| bound.keep(sample(reading)));
        kept.map(|s| [s.cpu_s, s.user_s, s.system_s].map(|figure| (figure * 1e6).round() / 1e6)).collect()
    }

    #[test]
    fn no_more_is_told_than_the_processors_had() {
        assert_eq!(told(&[(0, 5.0, 5.0), (1_000, 6.5, 5.52)]), [[10.0, 5.0, 5.0], [12.0, 6.485149, 5.514851]]);
    }

    #[test]
    fn what_was_cut_off_is_told_when_there_was_time_for_it() {
        let [_, second, third] = told(&[(0, 0.0, 0.0), (1_000, 2.04, 0.0), (2_000, 3.0, 0.0)])[..] else { panic!() };
        assert_eq!((second[0], third[0]), (2.0, 3.0), "nothing is lost");
        let busy = told(&[(0, 0.0, 0.0), (1_000, 2.02, 0.0), (2_000, 4.0, 0.0), (3_000, 6.01, 0.0)]);
        assert_eq!(busy.iter().map(|s| s[0]).collect::<Vec<_>>(), [0.0, 2.0, 4.0, 6.0]);
    }

    /// What was cut off of one second does not make the next one longer than it was.
    #[test]
    fn what_was_cut_off_is_told_within_what_the_processors_had_then() {
        let busy = told(&[(0, 0.0, 0.0), (1_000, 2.04, 0.0), (2_000, 4.04, 0.0), (3_000, 5.0, 0.0)]);
        assert_eq!(busy.iter().map(|s| s[0]).collect::<Vec<_>>(), [0.0, 2.0, 4.0, 5.0]);
    }

    #[test]
    fn what_is_possible_is_told_as_it_was_read() {
        assert_eq!(told(&[(0, 1.0, 1.0), (1_000, 2.0, 1.99)]), [[2.0, 1.0, 1.0], [3.99, 2.0, 1.99]]);
        let mut unknown = CpuBound::of(None);
        unknown.keep(Sample::default());
        let sample = Sample { at: Duration::from_secs(1), cpu_s: 99.0, ..Sample::default() };
        assert_eq!(unknown.keep(sample), sample);
    }
}
