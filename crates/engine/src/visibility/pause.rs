//! How long is waited between two counts of what is visible.

use crate::schedule::uniform;
use std::time::Duration;

/// The shortest and the longest pause, where counting takes no time.
const BOUNDS_S: [f64; 2] = [0.25, 0.75];
/// So many times what the count took, at least: counting is a load of its own, and must stay a small one.
const TIMES: u32 = 2;
const SEED: u64 = 0x76_69_73;

/// The pause after a count of this number, which took so long; of a database that has nothing else to do, [`Duration::ZERO`].
///
/// It is random (a function of the number): a database that shows what it has stored once a second, counted once a second,
/// would drift slowly through its saw tooth, and look as if its backlog grew (aliasing; random sampling times avoid it:
/// Shapiro and Silverman, *Alias-free sampling of random noise*, 1960).
pub fn pause(number: u64, took: Duration) -> Duration {
    let [shortest_s, longest_s] = BOUNDS_S;
    let drawn = Duration::from_secs_f64(shortest_s + (longest_s - shortest_s) * uniform(SEED, number));
    drawn.max(took * TIMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_spread_evenly_and_repeated_by_number() {
        let mut pauses: Vec<_> = (0..1000).map(|number| pause(number, Duration::ZERO)).collect();
        assert!(pauses.iter().enumerate().all(|(number, &p)| p == pause(number as u64, Duration::ZERO)));
        pauses.sort_unstable();
        for (at, expected_s) in [(0, 0.25), (250, 0.375), (500, 0.5), (750, 0.625), (999, 0.75)] {
            assert!((pauses[at].as_secs_f64() - expected_s).abs() < 0.025, "{at}: {:?}", pauses[at]);
        }
    }

    #[test]
    fn a_slow_count_is_followed_by_twice_its_length() {
        assert_eq!(pause(7, Duration::from_secs(3)), Duration::from_secs(6));
    }
}
