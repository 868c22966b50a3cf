//! A fixed piece of a processor's work: how long it takes tells how fast the processors are that a search has.
//!
//! Half of it is arithmetic and half is reading: each step mixes the bits of a word (the finalizer of SplitMix64) and reads next
//! where they point to, in a table that a core's second cache holds. No step can begin before the one before it has ended.

/// 256 KiB: read again after a load within the first piece, of which a larger one would take all.
const WORDS: usize = 1 << 15;
/// Some 30 µs.
const STEPS: u32 = 4_096;

#[derive(Debug)]
pub(super) struct Work {
    words: Vec<u64>,
    word: u64,
}

impl Work {
    pub(super) fn new() -> Self {
        let mut word = 0;
        let next = || {
            word = mixed(word);
            word
        };
        Self { words: std::iter::repeat_with(next).take(WORDS).collect(), word: 0 }
    }

    pub(super) fn piece(&mut self) {
        for _ in 0..STEPS {
            #[expect(clippy::cast_possible_truncation, reason = "its lower bits are the place")]
            let place = self.word as usize % WORDS;
            self.word = mixed(self.word ^ self.words.get(place).copied().unwrap_or_default());
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn it_is_the_same_work_each_time_and_goes_round_in_no_circle() {
        let words = || {
            let mut work = Work::new();
            let piece = || {
                work.piece();
                work.word
            };
            std::iter::repeat_with(piece).take(64).collect::<Vec<_>>()
        };
        assert_eq!(words(), words());
        assert_eq!(words().into_iter().collect::<HashSet<_>>().len(), 64);
    }
}
