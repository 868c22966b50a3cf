//! What the tickers met, put together. Pure.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use super::cause::{Evidence, HiccupCause, Observed};
use super::lateness::Lateness;

/// Stalls that are kept. Of more the longest half is.
const MAX_STALLS: usize = 2048;
/// The longest of a stretch that are told one by one.
const MAX_TOLD: usize = 20;

/// A stretch in which a ticker did not run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stall {
    pub ticker: usize,
    pub from: Duration,
    pub to: Duration,
    pub evidence: Evidence,
}

/// A stretch in which at least one ticker did not run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hiccup {
    /// When it began, since the epoch.
    pub from: Duration,
    /// How long it took.
    pub length: Duration,
    /// For how long the process could not run: the mean over all tickers.
    pub stalled: Duration,
    /// Why.
    pub cause: HiccupCause,
}

/// The stalls of a stretch of time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hiccups {
    /// How many there were.
    pub count: u64,
    /// For how long the process could not run, in the mean over all tickers.
    pub stalled: Duration,
    /// The same, of causes that [come from outside](HiccupCause::is_from_outside).
    pub stalled_from_outside: Duration,
    /// The longest of them, at most twenty, in the order of time.
    pub longest: Vec<Hiccup>,
}

/// All that the tickers have met.
#[derive(Debug)]
pub(super) struct Stalls {
    tickers: usize,
    cores: usize,
    kept: Vec<Stall>,
    omitted: Omitted,
    lateness: Lateness,
}

/// The stalls that are not kept.
#[derive(Debug, Default)]
struct Omitted {
    count: u64,
    /// For how long their tickers did not run.
    stalled: Duration,
    /// When the first of them began, and the last ended.
    span: Option<(Duration, Duration)>,
}

impl Omitted {
    fn add(&mut self, stall: &Stall) {
        self.count += 1;
        self.stalled += stall.to.saturating_sub(stall.from);
        let (from, to) = self.span.unwrap_or((stall.from, stall.to));
        self.span = Some((from.min(stall.from), to.max(stall.to)));
    }

    /// How many there may be from one time to another, and for how long at the most their tickers, so many, did not run.
    fn between(&self, from: Duration, to: Duration, tickers: u32) -> (u64, Duration) {
        let inside = self.span.map(|(first, last)| last.min(to).saturating_sub(first.max(from))).unwrap_or_default();
        if inside.is_zero() { (0, Duration::ZERO) } else { (self.count, self.stalled.min(inside * tickers)) }
    }
}

impl Stalls {
    pub fn new(tickers: usize, cores: usize) -> Self {
        let kept = Vec::with_capacity(MAX_STALLS);
        Self { tickers, cores, kept, omitted: Omitted::default(), lateness: Lateness::default() }
    }

    pub fn note(&mut self, stall: Stall) {
        if self.kept.len() == MAX_STALLS {
            self.kept.sort_unstable_by_key(|s| std::cmp::Reverse(s.to.saturating_sub(s.from)));
            for short in self.kept.drain(MAX_STALLS / 2..) {
                self.omitted.add(&short);
            }
        }
        self.kept.push(stall);
    }

    pub fn add_lateness(&mut self, lateness: &Lateness) {
        self.lateness.merge(lateness);
    }

    pub fn lateness(&self) -> Lateness {
        self.lateness
    }

    /// The stalls from one time to another. Those that were not kept, of which there are none in a run that is any good, are
    /// in the sums as far as they may lie there.
    /// `open`: those that have not ended.
    pub fn between(&self, from: Duration, to: Duration, open: &[Stall]) -> Hiccups {
        let all = self.kept.iter().chain(open);
        let mut stalls: Vec<Stall> = all.filter(|s| s.from < to && s.to > from).copied().collect();
        stalls.sort_unstable_by_key(|s| s.from);
        let mut hiccups: Vec<Hiccup> = Vec::new();
        let mut rest = stalls.as_slice();
        while let Some(first) = rest.first() {
            let mut end = first.to;
            let overlaps = |s: &&Stall| {
                let is_within = s.from < end;
                end = if is_within { end.max(s.to) } else { end };
                is_within
            };
            let (together, others) = rest.split_at(rest.iter().take_while(overlaps).count());
            hiccups.push(self.hiccup(together, first.from, end, from, to));
            rest = others;
        }
        let (omitted, omitted_for) = self.omitted.between(from, to, self.tickers());
        let mut sums = Hiccups {
            count: hiccups.len() as u64 + omitted,
            stalled: (hiccups.iter().map(|h| h.stalled).sum::<Duration>() + self.mean(omitted_for))
                .min(to.saturating_sub(from)),
            stalled_from_outside: hiccups.iter().filter(|h| h.cause.is_from_outside()).map(|h| h.stalled).sum(),
            longest: Vec::new(),
        };
        hiccups.sort_by_key(|h| std::cmp::Reverse(h.stalled));
        hiccups.truncate(MAX_TOLD);
        hiccups.sort_by_key(|h| h.from);
        sums.longest = hiccups;
        sums
    }

    /// One hiccup of stalls that overlap, cut off at two times. Its cause is judged by the whole of it.
    fn hiccup(&self, stalls: &[Stall], begin: Duration, end: Duration, from: Duration, to: Duration) -> Hiccup {
        let late = (0..self.tickers).filter(|&ticker| stalls.iter().any(|s| s.ticker == ticker)).count();
        let longest = stalls.iter().map(|s| s.to.saturating_sub(s.from)).max().unwrap_or_default();
        let evidence = stalls.iter().fold(Evidence::default(), |sum, s| greatest(sum, s.evidence));
        let length_s = longest.as_secs_f64();
        let observed = Observed { length_s, late, tickers: self.tickers, cores: self.cores, evidence };
        let inside = |s: &Stall| s.to.min(to).saturating_sub(s.from.max(from));
        let (begin, end) = (begin.max(from), end.min(to));
        Hiccup {
            from: begin,
            length: end.saturating_sub(begin),
            stalled: self.mean(stalls.iter().map(inside).sum()),
            cause: HiccupCause::of(&observed),
        }
    }

    fn mean(&self, all: Duration) -> Duration {
        all / self.tickers()
    }

    fn tickers(&self) -> u32 {
        u32::try_from(self.tickers.max(1)).unwrap_or(u32::MAX)
    }
}

fn greatest(a: Evidence, b: Evidence) -> Evidence {
    let greater = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
    Evidence {
        run_delay_s: greater(a.run_delay_s, b.run_delay_s),
        steal_s: greater(a.steal_s, b.steal_s),
        throttled_s: a.throttled_s.max(b.throttled_s),
        process_cpu_s: greater(a.process_cpu_s, b.process_cpu_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STILL: Evidence =
        Evidence { run_delay_s: Some(0.0), steal_s: Some(0.0), throttled_s: 0.0, process_cpu_s: Some(0.0) };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn stalls(met: &[(usize, u64, u64)]) -> Stalls {
        let mut stalls = Stalls::new(2, 2);
        for &(ticker, from, to) in met {
            stalls.note(Stall { ticker, from: ms(from), to: ms(to), evidence: STILL });
        }
        stalls
    }

    #[test]
    fn what_both_tickers_met_is_one_hiccup_of_its_length() {
        let found = stalls(&[(0, 1000, 1300), (1, 1001, 1301)]).between(ms(0), ms(5000), &[]);
        assert_eq!((found.count, found.stalled, found.stalled_from_outside), (1, ms(300), ms(300)));
        let told = [Hiccup { from: ms(1000), length: ms(301), stalled: ms(300), cause: HiccupCause::Stopped }];
        assert_eq!(found.longest, told);
    }

    #[test]
    fn what_one_of_two_met_counts_by_half_and_was_no_stop() {
        let found = stalls(&[(1, 1000, 1100)]).between(ms(0), ms(5000), &[]);
        assert_eq!((found.count, found.stalled, found.stalled_from_outside), (1, ms(50), ms(0)));
        assert_eq!(found.longest[0].cause, HiccupCause::Unknown);
    }

    #[test]
    fn one_after_the_other_are_two() {
        let found = stalls(&[(0, 2000, 2100), (1, 2000, 2100), (0, 1000, 1080), (1, 1000, 1080)]);
        let found = found.between(ms(0), ms(5000), &[]);
        let told: Vec<_> = found.longest.iter().map(|h| (h.from, h.length)).collect();
        assert_eq!(told, [(ms(1000), ms(80)), (ms(2000), ms(100))]);
        assert_eq!((found.count, found.stalled), (2, ms(180)));
    }

    #[test]
    fn a_stretch_has_what_lies_within_it() {
        let all = stalls(&[(0, 900, 1200), (1, 900, 1200), (0, 3000, 3100), (1, 3000, 3100)]);
        let found = all.between(ms(1000), ms(3000), &[]);
        assert_eq!((found.count, found.stalled), (1, ms(200)), "cut off where the stretch begins");
        assert_eq!(found.longest[0].cause, HiccupCause::Stopped, "judged by the whole");
        assert_eq!(all.between(ms(4000), ms(5000), &[]), Hiccups::default());
    }

    /// More than are kept, as in a run whose quota is used up in every period for hours.
    #[test]
    fn memory_is_bounded_and_nothing_is_left_out_of_the_sums() {
        let mut stalls = Stalls::new(1, 1);
        for n in 0..10_000 {
            let length = if n == 5 { ms(90) } else { ms(60) };
            stalls.note(Stall { ticker: 0, from: ms(n * 100), to: ms(n * 100) + length, evidence: STILL });
        }
        let found = stalls.between(ms(0), ms(1_000_000), &[]);
        assert!(stalls.kept.len() <= MAX_STALLS);
        assert_eq!((found.count, found.stalled), (10_000, ms(600_030)));
        assert_eq!(found.longest.len(), MAX_TOLD);
        assert!(found.longest.iter().any(|h| h.length == ms(90)), "the longest is told");
        let before = stalls.between(ms(0), ms(10_000), &[]).stalled;
        assert!((ms(60)..=ms(10_000)).contains(&before), "no longer than the stretch is: {before:?}");
    }

    /// As of a search on a machine that was busy for an hour, and is no longer.
    #[test]
    fn what_is_not_kept_is_held_against_no_later_stretch() {
        let mut stalls = Stalls::new(1, 1);
        for n in 0..3_000 {
            stalls.note(Stall { ticker: 0, from: ms(n * 100), to: ms(n * 100 + 60), evidence: STILL });
        }
        assert!(stalls.kept.len() < 3_000);
        assert_eq!(stalls.between(ms(300_000), ms(360_000), &[]), Hiccups::default());
    }
}
