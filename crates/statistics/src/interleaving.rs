//! In which order several things are measured several times.

/// Each of `targets` things once in each of `rounds` rounds, in a random order of its own: what the machine does in the
/// meantime meets all of them alike. Measured one after the other instead, a third of comparisons of equals found a
/// difference where the machine drifted, and 5 % so.
#[must_use]
pub fn interleaved(targets: usize, rounds: usize, seed: u64) -> Vec<usize> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut round: Vec<usize> = (0..targets).collect();
    let mut next = || {
        random.shuffle(&mut round);
        round.clone()
    };
    (0..rounds).flat_map(|_| next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_each_target_once_and_the_seed_decides_the_order() {
        let order = interleaved(4, 50, 7);
        let mut rounds: Vec<Vec<usize>> = order.chunks(4).map(<[usize]>::to_vec).collect();
        rounds.dedup();
        assert!(rounds.len() > 40, "the order changes: {rounds:?}");
        for mut round in rounds {
            round.sort_unstable();
            assert_eq!(round, [0, 1, 2, 3]);
        }
        assert_eq!(order, interleaved(4, 50, 7));
        assert_ne!(order, interleaved(4, 50, 8));
        assert_eq!(interleaved(0, 3, 1), Vec::<usize>::new());
        assert_eq!(interleaved(1, 3, 1), [0, 0, 0]);
    }
}
