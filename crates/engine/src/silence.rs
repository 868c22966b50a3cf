//! The longest time without a success, by the parts of seconds in which there was one. Pure.

use crate::outcome::SecondFigures;
use iotbench_recorder::{PART_NS, WINDOW_NS};
use std::ops::Range;

/// The longest time in which no operation was acknowledged, between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence {
    /// It was at least so long, in nanoseconds.
    pub at_least_ns: u64,
    /// And at most so long; `None`: it had not ended when the looking did.
    pub at_most_ns: Option<u64>,
    /// The success that ended it came before this, in nanoseconds since the first of the seconds began; or the looking ended.
    pub ended_ns: u64,
}

impl Silence {
    /// Within a range of nanoseconds since the first of these seconds began. What goes on when the range ends has not ended
    /// where `is_cut` is false. `None`: the range is empty, or there are no seconds of it.
    pub(crate) fn longest(seconds: &[SecondFigures], range: Range<u64>, is_cut: bool) -> Option<Self> {
        let all_ns = seconds.len() as u64 * WINDOW_NS;
        let (from, to) = (range.start / PART_NS, range.end.min(all_ns).div_ceil(PART_NS));
        let within = |part: &u64| (from + 1..to).contains(part);
        let mut last = from;
        let mut longest: Option<Self> = None;
        for (end, has_ended) in parts(seconds).filter(within).map(|part| (part, true)).chain([(to, is_cut)]) {
            let gap = Self {
                at_least_ns: end.checked_sub(last)?.saturating_sub(1) * PART_NS,
                at_most_ns: has_ended.then_some((end - last + 1) * PART_NS),
                ended_ns: (end + 1) * PART_NS,
            };
            if longest.is_none_or(|longest| longest.at_least_ns < gap.at_least_ns) {
                longest = Some(gap);
            }
            last = end;
        }
        longest.filter(|_| from < to)
    }

    /// Whether it is surely longer than another.
    pub(crate) fn exceeds(&self, other: Option<&Self>) -> bool {
        other.is_none_or(|other| other.at_most_ns.is_some_and(|at_most_ns| self.at_least_ns > at_most_ns))
    }
}

/// The numbers of the parts in which an operation was acknowledged, from the beginning of the first second.
fn parts(seconds: &[SecondFigures]) -> impl Iterator<Item = u64> {
    let each = WINDOW_NS / PART_NS;
    let in_second = move |(second, bits): (u64, u64)| {
        (0..each).filter(move |part| bits >> part & 1 == 1).map(move |part| second * each + part)
    };
    (0_u64..).zip(seconds.iter().map(|second| second.ok_parts)).flat_map(in_second)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = WINDOW_NS;
    const P: u64 = PART_NS;

    /// Seconds with a success at each of these instants.
    fn of(count: usize, instants: impl IntoIterator<Item = u64>) -> Vec<SecondFigures> {
        let mut seconds = vec![SecondFigures::default(); count];
        for ns in instants {
            let second = &mut seconds[usize::try_from(ns / S).unwrap()];
            second.ok_parts |= 1 << (ns % S / P);
        }
        seconds
    }

    #[test]
    fn it_lies_between_its_bounds_wherever_it_begins_and_however_long_it_is() {
        for (begin_ns, length_ns) in (0..400).map(|n| (S + n * 7_654_321, 40_000_000 + n * 11_111_111)) {
            let is_outside = |ns: &u64| !(begin_ns + 1..begin_ns + length_ns).contains(ns);
            let regular = (0..12_000).map(|ms| ms * 1_000_000).filter(is_outside);
            let seconds = of(12, regular.chain([begin_ns, begin_ns + length_ns]));
            let silence = Silence::longest(&seconds, 0..12 * S, true).unwrap();
            let at_most_ns = silence.at_most_ns.unwrap();
            assert!(silence.at_least_ns <= length_ns && length_ns <= at_most_ns, "{length_ns} {silence:?}");
            assert!(at_most_ns - silence.at_least_ns <= 2 * P);
            let late_ns = silence.ended_ns - (begin_ns + length_ns);
            assert!(0 < late_ns && late_ns <= P, "{late_ns}");
        }
    }

    #[test]
    fn what_goes_on_at_the_end_has_no_upper_bound_unless_the_range_was_cut_there() {
        let seconds = of(5, (0..2 * S).step_by(1 << 20));
        let open = Silence::longest(&seconds, S..5 * S, false).unwrap();
        assert_eq!((open.at_least_ns, open.at_most_ns), (3 * S, None));
        let cut = Silence::longest(&seconds, S..3 * S, true).unwrap();
        assert_eq!((cut.at_least_ns, cut.at_most_ns), (S, Some(S + 2 * P)));
        assert!(open.exceeds(Some(&cut)) && !cut.exceeds(Some(&open)) && !cut.exceeds(Some(&cut)) && cut.exceeds(None));
    }

    #[test]
    fn nothing_is_said_of_no_time() {
        assert_eq!(Silence::longest(&[], 0..S, false), None);
        assert_eq!(Silence::longest(&of(3, [0]), 2 * S..2 * S, true), None);
        assert_eq!(Silence::longest(&of(3, [0]), 4 * S..9 * S, true), None);
    }
}
