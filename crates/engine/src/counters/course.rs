//! Looks in their order, as seconds and as stretches of the run. Pure.

use super::{
    CounterLook, CounterStretch,
    account::{CounterAccount, counter_growth, has_begun_anew},
};
use iotbench_core::Counter;
use iotbench_recorder::WINDOW_NS;
use std::collections::VecDeque;

/// Looks that wait for their second to be told.
const MAX_WAITING: usize = 600;

#[derive(Debug)]
pub(super) struct CounterCourse {
    counters: Vec<Counter>,
    waiting: VecDeque<CounterLook>,
    /// The last one that was told.
    told: Option<CounterLook>,
    account: CounterAccount,
}

impl CounterCourse {
    pub(super) fn of(mut counters: Vec<Counter>) -> Self {
        counters.sort_unstable();
        Self { counters, waiting: VecDeque::new(), told: None, account: CounterAccount::default() }
    }

    pub(super) fn counters(&self) -> &[Counter] {
        &self.counters
    }

    pub(super) fn add(&mut self, look: CounterLook) {
        self.account.add(&look);
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        self.waiting.push_back(look);
    }

    /// A stretch begins, with a look that may have come already.
    pub(super) fn begin(&mut self, from_ns: u64) {
        self.account = CounterAccount::from(from_ns);
        for look in self.told.iter().chain(&self.waiting) {
            self.account.add(look);
        }
    }

    /// Later looks are not of it.
    pub(super) fn end(&mut self, end_ns: u64) {
        self.account.end(end_ns);
    }

    pub(super) fn stretch(&self) -> Option<CounterStretch> {
        self.account.stretch()
    }

    /// What each grew by until the end of the seconds before this one, since this was asked last.
    pub(super) fn growth_until(&mut self, second: u64) -> Vec<Option<u64>> {
        // The look at its end is asked for a little after it.
        let end_ns = second.saturating_mul(WINDOW_NS).saturating_add(WINDOW_NS / 2);
        let mut growth = vec![None; self.counters.len()];
        while let Some(look) = self.waiting.pop_front_if(|look| look.at_ns < end_ns) {
            if let Some(told) = &self.told {
                let both = |&counter: &Counter| told.value(counter).zip(look.value(counter));
                let is_anew = has_begun_anew(self.counters.iter().filter_map(both));
                for (counter, growth) in self.counters.iter().zip(&mut growth) {
                    let Some((before, now)) = both(counter) else { continue };
                    *growth = Some(counter_growth(before, now, is_anew).saturating_add(growth.unwrap_or(0)));
                }
            }
            self.told = Some(look);
        }
        growth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = WINDOW_NS;

    fn look(at_ns: u64, rows: u64) -> CounterLook {
        CounterLook { at_ns, values: [(Counter::RowsWritten, rows)].into() }
    }

    fn course(looks: &[(u64, u64)]) -> CounterCourse {
        let mut course = CounterCourse::of(vec![Counter::WalBytes, Counter::RowsWritten]);
        looks.iter().for_each(|&(at_ns, rows)| course.add(look(at_ns, rows)));
        course
    }

    #[test]
    fn each_second_has_what_was_counted_from_its_beginning_to_its_end() {
        let mut course = course(&[(0, 100), (S + 900, 130), (2 * S + 500, 150)]);
        assert_eq!(course.counters(), [Counter::RowsWritten, Counter::WalBytes]);
        assert_eq!(course.growth_until(1), [Some(30), None], "what the server does not have is not known");
        assert_eq!(course.growth_until(2), [Some(20), None]);
        assert_eq!(course.growth_until(3), [None, None], "its look was late");
        course.add(look(3 * S, 151));
        course.add(look(4 * S, 160));
        assert_eq!(course.growth_until(4), [Some(10), None], "and is in the next one");
    }

    #[test]
    fn a_row_of_several_seconds_has_the_sum_also_where_the_server_began_anew() {
        let mut course = course(&[(0, 100), (S, 130), (2 * S, 5), (3 * S, 9)]);
        assert_eq!(course.growth_until(3), [Some(30 + 5 + 4), None]);
    }

    #[test]
    fn the_first_look_of_a_stretch_may_have_been_told_before_it_began() {
        let mut course = course(&[(0, 100), (S + 100, 130)]);
        course.growth_until(1);
        course.begin(S);
        course.add(look(2 * S + 100, 170));
        course.end(2 * S + 1_000);
        course.add(look(3 * S, 900));
        let stretch = course.stretch().unwrap();
        assert_eq!((stretch.figures[0].first, stretch.figures[0].growth), (130, 40));
    }
}
