//! Random printable text.

use crate::counter_hash::CounterHash;

/// 64 characters that no text format needs to escape.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const CHARACTERS_PER_NUMBER: u32 = 10;

/// Appends a text of this length with 6 random bits a character.
pub fn push_random_text(hash: CounterHash, bytes: u32, out: &mut String) {
    let mut left = bytes;
    for number in 0.. {
        if left == 0 {
            break;
        }
        let mut bits = hash.at(number);
        for _ in 0..left.min(CHARACTERS_PER_NUMBER) {
            out.push(char::from(ALPHABET[usize::from(bits.to_le_bytes()[0] & 63)]));
            bits >>= 6;
        }
        left = left.saturating_sub(CHARACTERS_PER_NUMBER);
    }
}
