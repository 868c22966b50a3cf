//! How far counters came in a stretch of the run. Pure.

use super::CounterLook;
use iotbench_core::Counter;

/// How far a counter came in a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterFigure {
    /// Which.
    pub counter: Counter,
    /// At the first look.
    pub first: u64,
    /// At the last one.
    pub last: u64,
    /// What was counted between the two, also where it began anew meanwhile.
    pub growth: u64,
}

/// How far all of them came in a stretch, between its first and its last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterStretch {
    /// When the first look was made, in nanoseconds since the run's start.
    pub from_ns: u64,
    /// When the last one was.
    pub to_ns: u64,
    /// How often a look found some that were lower than before: the server had begun anew.
    pub resets: u64,
    /// One by one.
    pub figures: Vec<CounterFigure>,
}

/// Whether the server began anew between two looks: half at least of what it had counted is lower than before. A single one that is lower
/// is the difference of two that were not read at one instant.
pub(super) fn has_begun_anew(values: impl Iterator<Item = (u64, u64)>) -> bool {
    let (mut all, mut lower) = (0, 0);
    for (before, now) in values.filter(|&(before, _)| before > 0) {
        all += 1;
        lower += usize::from(now < before);
    }
    lower > 0 && 2 * lower >= all
}

/// What a counter grew by. Of a server that began anew, what it has now was counted since.
pub(super) fn counter_growth(before: u64, now: u64, is_anew: bool) -> u64 {
    match now.checked_sub(before) {
        None if is_anew => now,
        growth => growth.unwrap_or(0),
    }
}

/// Adds up looks.
#[derive(Debug)]
pub(super) struct CounterAccount {
    from_ns: u64,
    end_ns: u64,
    found: Option<CounterStretch>,
}

impl Default for CounterAccount {
    /// Of nothing.
    fn default() -> Self {
        Self { from_ns: 0, end_ns: 0, found: None }
    }
}

impl CounterAccount {
    /// From a time of the run on.
    pub(super) fn from(from_ns: u64) -> Self {
        Self { from_ns, end_ns: u64::MAX, found: None }
    }

    /// Looks of later times do not count.
    pub(super) fn end(&mut self, end_ns: u64) {
        self.end_ns = self.end_ns.min(end_ns);
    }

    pub(super) fn add(&mut self, look: &CounterLook) {
        if !(self.from_ns..self.end_ns).contains(&look.at_ns) {
            return;
        }
        let begin =
            |&(counter, value): &(Counter, u64)| CounterFigure { counter, first: value, last: value, growth: 0 };
        let Some(found) = &mut self.found else {
            let mut figures: Vec<_> = look.values.iter().map(begin).collect();
            figures.sort_unstable_by_key(|figure| figure.counter);
            self.found = Some(CounterStretch { from_ns: look.at_ns, to_ns: look.at_ns, resets: 0, figures });
            return;
        };
        found.to_ns = look.at_ns;
        let values = found.figures.iter().filter_map(|figure| Some((figure.last, look.value(figure.counter)?)));
        let is_anew = has_begun_anew(values);
        for figure in &mut found.figures {
            let Some(now) = look.value(figure.counter) else { continue };
            figure.growth = figure.growth.saturating_add(counter_growth(figure.last, now, is_anew));
            // What was only lower for an instant is counted once.
            figure.last = if is_anew { now } else { now.max(figure.last) };
        }
        found.resets += u64::from(is_anew);
    }

    /// `None` where there were not two looks.
    pub(super) fn stretch(&self) -> Option<CounterStretch> {
        self.found.clone().filter(|found| found.to_ns > found.from_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(at_ns: u64, rows: u64, commits: u64) -> CounterLook {
        CounterLook { at_ns, values: [(Counter::Transactions, commits), (Counter::RowsWritten, rows)].into() }
    }

    #[test]
    fn what_lies_outside_a_stretch_does_not_count() {
        let mut account = CounterAccount::from(10);
        [look(9, 1, 1), look(10, 100, 7), look(20, 150, 8)].iter().for_each(|look| account.add(look));
        account.end(25);
        [look(24, 170, 8), look(25, 900, 9)].iter().for_each(|look| account.add(look));
        let stretch = account.stretch().unwrap();
        let rows = CounterFigure { counter: Counter::RowsWritten, first: 100, last: 170, growth: 70 };
        let commits = CounterFigure { counter: Counter::Transactions, first: 7, last: 8, growth: 1 };
        assert_eq!(stretch, CounterStretch { from_ns: 10, to_ns: 24, resets: 0, figures: vec![rows, commits] });
    }

    #[test]
    fn what_a_server_counted_before_and_after_it_began_anew_is_added_up() {
        let mut account = CounterAccount::from(0);
        [look(1, 100, 0), look(2, 130, 0), look(3, 20, 0), look(4, 25, 0)].iter().for_each(|look| account.add(look));
        let stretch = account.stretch().unwrap();
        assert_eq!((stretch.figures[0].growth, stretch.resets), (30 + 20 + 5, 1));
        assert_eq!((stretch.figures[0].first, stretch.figures[0].last), (100, 25));
    }

    /// Two figures of a server are not read at one instant, and their difference may be one lower than before.
    #[test]
    fn one_that_is_lower_for_an_instant_began_nothing_anew() {
        let values = |hits, rest: u64| {
            let others = [Counter::RowsWritten, Counter::CacheMisses, Counter::WalBytes].map(|counter| (counter, rest));
            [(Counter::CacheHits, hits)].into_iter().chain(others).collect::<Vec<_>>().into()
        };
        let mut account = CounterAccount::from(0);
        for (at_ns, hits, rest) in [(1, 1_000_000, 5), (2, 999_999, 6), (3, 1_000_010, 7)] {
            account.add(&CounterLook { at_ns, values: values(hits, rest) });
        }
        let stretch = account.stretch().unwrap();
        let hits = stretch.figures.iter().find(|figure| figure.counter == Counter::CacheHits).unwrap();
        assert_eq!((hits.growth, stretch.resets), (10, 0));
    }

    #[test]
    fn one_look_tells_no_growth() {
        let mut account = CounterAccount::from(0);
        assert_eq!(account.stretch(), None);
        account.add(&look(1, 100, 0));
        assert_eq!(account.stretch(), None);
        let nothing = CounterAccount::default();
        assert_eq!(nothing.stretch(), None);
    }
}
