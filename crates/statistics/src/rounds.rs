//! Whether a load that is repeated in rounds, to bring a database into the state that it will keep, has brought it there.

use crate::trend::trend;

/// So many rounds, the last ones, are judged together.
pub const ROUNDS_JUDGED: usize = 5;
/// The greatest of them less the least is at most this part of their mean.
const EXCURSION: f64 = 0.2;
/// The line through them rises or falls by at most this part of it.
const SLOPE: f64 = 0.1;
/// A difference of so many events is that of counting.
const COUNTING: f64 = 2.0;

/// Whether the last five rounds, each with its number of events, lie at one level: their range is at most 20 % of their mean,
/// and the least-squares line through them changes by at most 10 % of it from the first to the last. The steady state of the SNIA
/// Solid State Storage Performance Test Specification 2.0, definition 2.1.24. Rounds that differ by two events or less do not
/// differ.
#[must_use]
pub fn rounds_are_steady(events: &[f64]) -> bool {
    let Some(first) = events.len().checked_sub(ROUNDS_JUDGED) else { return false };
    let last = events.get(first..).unwrap_or_default();
    let (least, greatest) = last.iter().fold((f64::INFINITY, 0.0_f64), |(l, g), &n| (l.min(n), g.max(n)));
    let mean = last.iter().sum::<f64>() / ROUNDS_JUDGED as f64;
    let is_level = || trend(last).is_none_or(|line| line.change.abs() <= SLOPE);
    greatest - least <= COUNTING || (greatest - least <= EXCURSION * mean && is_level())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_rounds_at_one_level_are_steady_and_fewer_are_not_judged() {
        assert!(rounds_are_steady(&[1000.0, 1050.0, 960.0, 1010.0, 990.0]));
        assert!(!rounds_are_steady(&[1000.0; 4]));
        // What came before the last five does not count.
        assert!(rounds_are_steady(&[9000.0, 4000.0, 1000.0, 1050.0, 960.0, 1010.0, 990.0]));
    }

    #[test]
    fn a_range_of_a_fifth_and_a_slope_of_a_tenth_are_the_limits() {
        // Up and down: the line is level, and the range decides.
        assert!(rounds_are_steady(&[1000.0, 1090.0, 910.0, 1090.0, 1000.0]));
        assert!(!rounds_are_steady(&[1000.0, 1105.0, 895.0, 1105.0, 1000.0]));
        // Down all the time, by 9 % and by 11 %: the range is not a fifth.
        let falling = |step: f64| [0.0, 1.0, 2.0, 3.0, 4.0].map(|place| 1000.0 - step * place);
        assert!(rounds_are_steady(&falling(22.0)));
        assert!(!rounds_are_steady(&falling(29.0)));
    }

    #[test]
    fn a_difference_of_two_events_is_none() {
        assert!(rounds_are_steady(&[4.0, 5.0, 3.0, 5.0, 4.0]));
        assert!(!rounds_are_steady(&[4.0, 6.0, 3.0, 5.0, 4.0]));
        assert!(rounds_are_steady(&[0.0; 5]), "what does nothing does not change");
    }
}
