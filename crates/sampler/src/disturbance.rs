//! Whether other programs of the machine, or other machines of its hypervisor, disturbed what was measured. Pure.

use crate::sample::Sample;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A second is disturbed if a hypervisor gave more than this share of the processors' time to other machines.
pub const STEAL: f64 = 0.02;
/// A stretch is disturbed if more than this share of its seconds is.
const SECONDS: f64 = 0.05;
/// Two looks that lie further apart say nothing of a single second.
const FARTHEST: Duration = Duration::from_secs(3);

/// What others had of the machine in a second, as shares of all its processors' time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OthersSecond {
    /// Other programs. Kernel threads and interrupts are nobody's.
    pub cpu: f64,
    /// Other machines of the hypervisor.
    pub steal: f64,
    /// Whether it is more than may be.
    pub disturbed: bool,
}

/// What others had of the machine over a stretch of a run, as shares of all its processors' time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OthersShare {
    /// Other programs, in the mean.
    pub cpu_mean: f64,
    /// In the worst second.
    pub cpu_max: f64,
    /// Other machines, in the mean.
    pub steal_mean: f64,
    /// Seconds that were looked at.
    pub seconds: u64,
    /// Of these, disturbed.
    pub disturbed: u64,
}

impl OthersShare {
    /// Whether too many seconds were disturbed.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of seconds")]
    pub fn is_disturbed(&self) -> bool {
        self.disturbed as f64 > SECONDS * self.seconds as f64
    }
}

/// The seconds of a run, by samples of the whole machine.
#[derive(Debug)]
pub struct OthersWatch {
    /// What programs of others may have of all processors.
    limit: f64,
    processors: f64,
    last: Option<Sample>,
    /// By their numbers since the run's start. `None`: not known.
    seconds: Vec<Option<OthersSecond>>,
}

impl OthersWatch {
    /// Of a machine with so many processors, of which others may have this share.
    #[must_use]
    pub fn new(processors: u32, limit: f64) -> Self {
        Self { limit, processors: f64::from(processors.max(1)), last: None, seconds: Vec::new() }
    }

    /// Takes a sample of the whole machine, one a second. One that comes late tells the mean of the seconds since the last.
    pub fn add(&mut self, sample: Sample) {
        let Some(last) = self.last.replace(sample) else { return };
        let length = sample.at.saturating_sub(last.at);
        if length.is_zero() || length > FARTHEST {
            return;
        }
        let share = |of: fn(&Sample) -> Option<f64>| share_between(&last, &sample, self.processors, of);
        let Some(cpu) = share(|sample| sample.others_cpu_s) else { return };
        let steal = share(|sample| sample.steal_s).unwrap_or(0.0);
        // At a limit of 100 % nothing is judged.
        let disturbed = self.limit < 1.0 && (cpu > self.limit || steal > STEAL);
        let second = OthersSecond { cpu, steal, disturbed };
        for number in nearest(last.at)..nearest(sample.at) {
            if self.seconds.len() <= number {
                self.seconds.resize(number + 1, None);
            }
            self.seconds[number] = Some(second);
        }
    }

    /// A second by its number since the run's start.
    #[must_use]
    pub fn second(&self, number: u64) -> Option<OthersSecond> {
        self.seconds.get(usize::try_from(number).ok()?).copied().flatten()
    }

    /// The whole seconds of a stretch; `None`: nothing is known of any.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "counts of seconds")]
    pub fn between(&self, from_ns: u64, to_ns: u64) -> Option<OthersShare> {
        const SECOND_NS: u64 = 1_000_000_000;
        let known: Vec<OthersSecond> =
            (from_ns / SECOND_NS..to_ns.div_ceil(SECOND_NS)).filter_map(|number| self.second(number)).collect();
        let mean = |figure: fn(&OthersSecond) -> f64| known.iter().map(figure).sum::<f64>() / known.len() as f64;
        (!known.is_empty()).then(|| OthersShare {
            cpu_mean: mean(|second| second.cpu),
            cpu_max: known.iter().map(|second| second.cpu).fold(0.0, f64::max),
            steal_mean: mean(|second| second.steal),
            seconds: known.len() as u64,
            disturbed: known.iter().filter(|second| second.disturbed).count() as u64,
        })
    }
}

/// The share of all processors' time that something counted in seconds had between two samples.
pub(crate) fn share_between(
    before: &Sample,
    now: &Sample,
    processors: f64,
    of: fn(&Sample) -> Option<f64>,
) -> Option<f64> {
    let length = now.at.saturating_sub(before.at);
    (!length.is_zero()).then_some(())?;
    Some(((of(now)? - of(before)?) / length.as_secs_f64() / processors).clamp(0.0, 1.0))
}

/// The whole second nearest to a time: looks are due at whole ones.
fn nearest(at: Duration) -> usize {
    usize::try_from((at + Duration::from_millis(500)).as_secs()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A watch of two processors that saw these CPU and steal seconds of others at these times.
    fn watch(looks: &[(f64, f64, f64)]) -> OthersWatch {
        let mut watch = OthersWatch::new(2, 0.05);
        for &(at_s, cpu_s, steal_s) in looks {
            let (others_cpu_s, steal_s) = (Some(cpu_s), Some(steal_s));
            watch.add(Sample { at: Duration::from_secs_f64(at_s), others_cpu_s, steal_s, ..Sample::default() });
        }
        watch
    }

    const S: u64 = 1_000_000_000;

    #[test]
    fn a_neighbour_on_eight_tenths_of_a_core_is_told_in_every_second() {
        let looks: Vec<_> = (0..=10).map(|n| (f64::from(n) + 0.003, 0.8 * f64::from(n), 0.0)).collect();
        let share = watch(&looks).between(2 * S, 10 * S).unwrap();
        assert!((share.cpu_mean - 0.4).abs() < 1e-9 && (share.cpu_max - 0.4).abs() < 1e-9, "{share:?}");
        assert_eq!((share.seconds, share.disturbed, share.is_disturbed()), (8, 8, true));
    }

    #[test]
    fn five_percent_of_the_processors_in_five_percent_of_the_seconds_may_be() {
        // In one second of twenty, and of nineteen, others had 6 %; in the others 5 %.
        let cpu_s = |n: u32| 0.1 * f64::from(n) + if n > 3 { 0.02 } else { 0.0 };
        let looks: Vec<_> = (0..=20).map(|n| (f64::from(n), cpu_s(n) - 1e-9 * f64::from(n), 0.0)).collect();
        let twenty = watch(&looks).between(0, 20 * S).unwrap();
        assert_eq!((twenty.disturbed, twenty.is_disturbed()), (1, false));
        let nineteen = watch(&looks).between(0, 19 * S).unwrap();
        assert_eq!((nineteen.disturbed, nineteen.is_disturbed()), (1, true));
    }

    #[test]
    fn what_a_hypervisor_takes_disturbs_too() {
        let share = |stolen_s| watch(&[(0.0, 0.0, 0.0), (1.0, 0.0, stolen_s)]).between(0, S).unwrap();
        assert!(share(0.05).is_disturbed() && !share(0.04).is_disturbed());
    }

    #[test]
    fn late_looks_tell_a_mean_and_missing_ones_nothing() {
        let watch = watch(&[(0.0, 0.0, 0.0), (1.4, 0.28, 0.0), (3.0, 0.28, 0.0), (9.0, 6.0, 0.0), (10.0, 6.0, 0.0)]);
        let cpu = |number| watch.second(number).map(|second| second.cpu);
        assert!(cpu(0).is_some_and(|cpu| (cpu - 0.1).abs() < 1e-9));
        assert_eq!((cpu(1), cpu(2), cpu(3), cpu(8), cpu(9)), (Some(0.0), Some(0.0), None, None, Some(0.0)));
        assert_eq!(watch.between(3 * S, 9 * S), None);
    }

    #[test]
    fn with_all_processors_allowed_nothing_is_judged_and_all_is_told() {
        let mut watch = OthersWatch::new(1, 1.0);
        for n in 0..3_u32 {
            let (at, others_cpu_s) = (Duration::from_secs(n.into()), Some(f64::from(n)));
            watch.add(Sample { at, others_cpu_s, ..Sample::default() });
        }
        let share = watch.between(0, 2 * S).unwrap();
        assert_eq!((share.cpu_mean, share.is_disturbed()), (1.0, false));
    }

    #[test]
    fn what_may_be_may_be_and_a_little_more_may_not() {
        let three = watch(&[(0.0, 0.0, 0.0), (3.0, 3.0, 0.3)]).between(0, 3 * S).unwrap();
        assert_eq!((three.seconds, three.cpu_mean, three.disturbed), (3, 0.5, 3));
        assert!((three.steal_mean - 0.05).abs() < 1e-12, "{three:?}");
        assert_eq!(watch(&[(0.0, 0.0, 0.0), (3.001, 3.0, 0.0)]).between(0, 3 * S), None, "too far apart");
        assert_eq!(watch(&[(0.0, 0.0, 0.0), (0.0, 0.5, 0.0)]).between(0, S), None, "at one time");
        let limit = |cpu_s, steal_s| watch(&[(0.0, 0.0, 0.0), (1.0, cpu_s, steal_s)]).second(0).unwrap().disturbed;
        assert_eq!([limit(0.1, 0.04), limit(0.100_001, 0.0), limit(0.0, 0.040_001)], [false, true, true]);
        let mut all = OthersWatch::new(2, 1.0);
        for n in 0..2_u32 {
            let (at, of_others) = (Duration::from_secs(n.into()), Some(2.0 * f64::from(n)));
            all.add(Sample { at, others_cpu_s: of_others, steal_s: of_others, ..Sample::default() });
        }
        assert_eq!(all.between(0, S).map(|share| share.disturbed), Some(0), "nothing is judged at a limit of all");
    }

    #[test]
    fn the_mean_and_the_worst_second_are_those_of_the_stretch() {
        let watch = watch(&[(0.0, 0.0, 0.0), (1.0, 0.2, 0.0), (2.0, 0.8, 0.1), (3.0, 2.8, 0.1)]);
        let near = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        let two = watch.between(0, 2 * S).unwrap();
        assert!(near(two.cpu_mean, 0.2) && near(two.cpu_max, 0.3) && near(two.steal_mean, 0.025), "{two:?}");
        assert_eq!(watch.between(S, 2 * S + 1).unwrap().seconds, 2, "a second that has begun is one");
    }
}
