//! When the operations of an open loop are intended to start. Pure.

mod sessions;

pub use sessions::{Lengths, SessionStarts};

use crate::{
    intervals::{IntervalStarts, WindowWatch},
    profile::Arrival,
    shape::{Shape, Timeline},
};
use std::ops::Range;

/// The intended starts of an open loop's operations, or of those that are one part's of a run: a part starts its own when
/// the whole would.
#[derive(Clone, Debug)]
pub struct Starts {
    pattern: Pattern,
    own: OwnBlocks,
}

/// Operation k is about block k of the devices, and round again; a part of a run has a range of the blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnBlocks {
    /// The part's.
    pub blocks: Range<u32>,
    /// How many there are.
    pub of: u32,
}

/// When operations start.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// By a rate.
    Rate(Schedule),
    /// In the windows of intervals.
    Intervals(IntervalStarts),
    /// The first operations of sessions, which arrive by a rate.
    Sessions(SessionStarts),
}

impl OwnBlocks {
    /// The number from which on a step is counted: parts that have come differently far begin it with the same block.
    fn starting_at(&self, number: u64) -> u64 {
        if self.blocks == (0..self.of) { number } else { number.next_multiple_of(u64::from(self.of)) }
    }

    fn has(&self, number: u64) -> bool {
        u32::try_from(number % u64::from(self.of)).is_ok_and(|block| self.blocks.contains(&block))
    }
}

impl Starts {
    /// The starts of those operations that are about these blocks.
    pub fn new(pattern: Pattern, own: OwnBlocks) -> Self {
        Self { pattern, own }
    }

    /// The same with another load, operations a second or devices, from a time on: the first start from then on has this
    /// number or a greater one.
    #[must_use]
    pub fn with_load(&self, load: u32, number: u64, from_ns: u64) -> Self {
        let pattern = match &self.pattern {
            Pattern::Rate(schedule) => {
                let number = self.own.starting_at(number);
                Pattern::Rate(schedule.clone().with_rate(f64::from(load), number, from_ns))
            }
            Pattern::Intervals(starts) => Pattern::Intervals(starts.with_devices(load, number, from_ns)),
            Pattern::Sessions(starts) => Pattern::Sessions(starts.with_rate(f64::from(load), number, from_ns)),
        };
        Self { pattern, own: self.own.clone() }
    }

    /// How many of all devices the operations are about.
    #[must_use]
    pub fn devices(&self) -> u32 {
        match &self.pattern {
            Pattern::Rate(_) | Pattern::Sessions(_) => u32::MAX,
            Pattern::Intervals(starts) => starts.devices(),
        }
    }

    /// The watch over the windows of intervals, where there are some.
    pub fn watch(&self) -> Option<WindowWatch> {
        match &self.pattern {
            Pattern::Rate(_) | Pattern::Sessions(_) => None,
            Pattern::Intervals(starts) => Some(WindowWatch::of(starts, &self.own.blocks)),
        }
    }

    /// The first of the own blocks that no operation is about: some devices may not report.
    fn blocks(&self) -> u32 {
        match &self.pattern {
            Pattern::Rate(_) | Pattern::Sessions(_) => self.own.of,
            Pattern::Intervals(starts) => starts.requests(),
        }
    }
}

impl Iterator for Starts {
    type Item = Start;

    fn next(&mut self) -> Option<Start> {
        if self.own.blocks.is_empty() || self.own.blocks.start >= self.blocks() {
            return None;
        }
        let own = &self.own;
        match &mut self.pattern {
            Pattern::Rate(schedule) => schedule.find(|start| own.has(start.number)),
            Pattern::Intervals(starts) => starts.find(|start| own.has(start.number)),
            Pattern::Sessions(starts) => starts.find(|start| own.has(start.number)),
        }
    }
}

/// The intended starts of an open loop, in nanoseconds since its beginning, ascending; endless, unless its shape ends.
///
/// The schedule depends on the seed only: no answer delays it, and it never slides.
#[derive(Clone, Debug)]
pub struct Schedule {
    arrival: Arrival,
    period_ns: f64,
    seed: u64,
    number: u64,
    shape: Timeline,
    /// Where the present rate began, and its shape: the number and the time of its first start.
    from: (u64, f64),
    /// How long a constant rate would have taken since then, where distances are random.
    gone_ns: f64,
}

impl Schedule {
    /// A schedule of `rate` starts a second. The first constant start is at 0.
    #[must_use]
    pub fn new(arrival: Arrival, rate: f64, seed: u64) -> Self {
        let shape = Timeline::of(&Shape::Constant);
        Self { arrival, period_ns: 1e9 / rate, seed, number: 0, shape, from: (0, 0.0), gone_ns: 0.0 }
    }

    /// The same with this rate as its mean.
    #[must_use]
    pub fn shaped(self, shape: &Shape) -> Self {
        Self { shape: Timeline::of(shape), ..self }
    }

    /// The same schedule with another rate from a time on, when its shape begins anew: the first start from then on is this one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times of a run in ns lie far below 2^53")]
    pub fn with_rate(self, rate: f64, number: u64, from_ns: u64) -> Self {
        let from_ns = from_ns as f64;
        Self { period_ns: 1e9 / rate, number, from: (number, from_ns), gone_ns: 0.0, ..self }
    }
}

/// A start's number and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// From 0.
    pub number: u64,
    /// In nanoseconds since the schedule's beginning.
    pub at_ns: u64,
}

impl Iterator for Schedule {
    type Item = Start;

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "times of a run in ns lie far below 2^53"
    )]
    fn next(&mut self) -> Option<Start> {
        let number = self.number;
        self.number += 1;
        let constant_ns = match self.arrival {
            // A product and not a sum, so that no rounding error gathers.
            Arrival::Constant => (number - self.from.0) as f64 * self.period_ns,
            Arrival::Poisson => {
                self.gone_ns += exponential(self.seed, number) * self.period_ns;
                self.gone_ns
            }
        };
        let at_ns = self.from.1 + self.shape.when(constant_ns)?;
        Some(Start { number, at_ns: at_ns as u64 })
    }
}

const TWO_TO_53: f64 = 9_007_199_254_740_992.0;

/// The `number`-th of a seeded series of exponential variates of mean 1.
fn exponential(seed: u64, number: u64) -> f64 {
    -uniform(seed, number).ln()
}

/// The `number`-th of a seeded series of uniform variates between 0 and 1, both excluded.
pub fn uniform(seed: u64, number: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "the upper 53 bits make a uniform variate")]
    let upper_bits = (mix(seed, number) >> 11) as f64;
    (upper_bits + 0.5) / TWO_TO_53
}

/// A well-mixed number for a seed and a counter (`SplitMix64`, Steele, Lea and Flood 2014).
pub fn mix(seed: u64, counter: u64) -> u64 {
    let mut z = seed ^ counter.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{profile::ShapeKind, shape::ShapeStep};

    #[test]
    fn constant_starts_keep_their_grid() {
        let starts: Vec<_> = Schedule::new(Arrival::Constant, 3.0, 1).take(4).map(|s| s.at_ns).collect();
        assert_eq!(starts, [0, 333_333_333, 666_666_666, 1_000_000_000]);
        let late = Schedule::new(Arrival::Constant, 1000.0, 1).nth(86_400_000).map(|s| s.at_ns);
        assert_eq!(late, Some(86_400_000_000_000));
    }

    /// The starts of each second.
    fn of_seconds(schedule: Schedule, seconds: usize) -> Vec<u32> {
        let mut counts = vec![0; seconds];
        for start in schedule.take_while(|start| start.at_ns < seconds as u64 * 1_000_000_000) {
            counts[(start.at_ns / 1_000_000_000) as usize] += 1;
        }
        counts
    }

    fn bursts() -> Shape {
        let step = |s: u64, factor| ShapeStep { from_ns: s * 1_000_000_000, factor };
        Shape::Steps { kind: ShapeKind::Burst, steps: vec![step(0, 3.0), step(1, 0.5)], period_ns: Some(5_000_000_000) }
    }

    #[test]
    fn a_shaped_rate_keeps_its_mean() {
        let constant = || Schedule::new(Arrival::Constant, 100.0, 5).shaped(&bursts());
        assert_eq!(of_seconds(constant(), 10), [300, 50, 50, 50, 50, 300, 50, 50, 50, 50]);
        let anew = constant().with_rate(1_000.0, 7, 3_000_000_000);
        assert_eq!(of_seconds(anew, 8), [0, 0, 0, 3_000, 500, 500, 500, 500]);
        let poisson = Schedule::new(Arrival::Poisson, 10_000.0, 5).shaped(&bursts());
        for (count, mean) in of_seconds(poisson, 10).into_iter().zip([30_000.0, 5e3, 5e3, 5e3, 5e3].repeat(2)) {
            assert!((f64::from(count) - mean).abs() < 5.0 * f64::sqrt(mean), "{count} starts in a second of {mean}");
        }
    }

    /// As agents start them: together they are the whole.
    #[test]
    fn parts_of_a_shaped_load_start_what_the_whole_would() {
        let schedule = || Pattern::Rate(Schedule::new(Arrival::Poisson, 100.0, 5).shaped(&bursts()));
        let part = |blocks| Starts::new(schedule(), OwnBlocks { blocks, of: 7 }).take_while(|s| s.number < 700);
        let mut parts: Vec<Start> = part(0..3).chain(part(3..7)).collect();
        parts.sort_unstable_by_key(|start| start.number);
        assert_eq!(parts, part(0..7).collect::<Vec<_>>());
        assert_eq!(parts.len(), 700);
    }

    #[test]
    fn a_shape_that_ends_has_no_start_behind_it() {
        let step = |s: u64, factor| ShapeStep { from_ns: s * 1_000_000_000, factor };
        let steps = vec![step(0, 1.0), step(2, 0.0)];
        let shape = Shape::Steps { kind: ShapeKind::Trace, steps, period_ns: None };
        assert_eq!(Schedule::new(Arrival::Constant, 100.0, 5).shaped(&shape).count(), 200);
    }

    #[test]
    fn another_rate_goes_on_with_the_next_number() {
        let starts = |arrival| -> Vec<Start> {
            let mut schedule = Schedule::new(arrival, 10.0, 5);
            let before: Vec<_> = schedule.by_ref().take(3).collect();
            before.into_iter().chain(schedule.with_rate(1000.0, 3, 7_000_000_000).take(1000)).collect()
        };
        let constant = starts(Arrival::Constant);
        assert_eq!(constant[3], Start { number: 3, at_ns: 7_000_000_000 });
        assert_eq!(constant[1002], Start { number: 1002, at_ns: 7_999_000_000 });
        let poisson = starts(Arrival::Poisson);
        assert!(poisson.iter().zip(0..).all(|(start, number)| start.number == number));
        assert!(poisson.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
        let seconds = (poisson[1002].at_ns - 7_000_000_000) as f64 / 1e9;
        assert!((seconds - 1.0).abs() < 4.0 / 1000_f64.sqrt(), "1,000 starts took {seconds} s");
    }

    #[test]
    fn poisson_starts_have_the_rate_and_the_spread() {
        let n = 200_000_u32;
        let mut gaps = Vec::new();
        let mut before = 0;
        for start in Schedule::new(Arrival::Poisson, 1000.0, 7).take(n as usize) {
            gaps.push((start.at_ns - before) as f64);
            before = start.at_ns;
        }
        let mean = gaps.iter().sum::<f64>() / f64::from(n);
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((mean / 1e6 - 1.0).abs() < 4.0 / f64::from(n).sqrt(), "mean gap {mean} ns");
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.02, "a Poisson process has gaps as spread as they are long");
    }

    /// The Kolmogorov-Smirnov test at 1 % of each seed's gaps against the exponential distribution.
    #[test]
    fn poisson_gaps_are_exponential_for_nearly_every_seed() {
        let n = 20_000_usize;
        let is_exponential = |seed: u64| {
            let mut before = 0.0;
            let mut gaps: Vec<f64> = Schedule::new(Arrival::Poisson, 1e6, seed)
                .take(n)
                .map(|s| s.at_ns as f64 - std::mem::replace(&mut before, s.at_ns as f64))
                .collect();
            gaps.sort_unstable_by(f64::total_cmp);
            let distance = |(i, gap): (usize, &f64)| {
                let expected = 1.0 - (-gap / 1e3).exp();
                (expected - i as f64 / n as f64).abs().max(((i + 1) as f64 / n as f64 - expected).abs())
            };
            gaps.iter().enumerate().map(distance).fold(0.0, f64::max) <= 1.628 / (n as f64).sqrt()
        };
        let passed = (0..20).filter(|&seed| is_exponential(seed)).count();
        assert!(passed >= 19, "{passed} of 20 seeds");
    }

    #[test]
    fn the_seed_decides_everything() {
        let times = |seed| Schedule::new(Arrival::Poisson, 10.0, seed).take(50).map(|s| s.at_ns).collect::<Vec<_>>();
        assert_eq!(times(1), times(1));
        assert_ne!(times(1), times(2));
    }
}
