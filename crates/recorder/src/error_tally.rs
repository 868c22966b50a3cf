//! Errors by cause, with a few samples of each.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Samples kept of each cause.
pub const SAMPLES_PER_CAUSE: usize = 5;

/// Longest sample kept, in characters after escaping.
pub const SAMPLE_LENGTH: usize = 200;

/// Causes are words of the program: it has fewer.
const MAX_CAUSES: usize = 64;

/// Errors counted by cause, with the first samples of each.
///
/// Causes are constants of the program, so the table is bounded; samples come from servers, so their number and length
/// are bounded here and everything that could steer a terminal is escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorTally {
    by_cause: BTreeMap<Cow<'static, str>, CauseTally>,
}

/// How often one cause was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseTally {
    /// Errors of this cause.
    pub count: u64,
    /// The first messages, escaped and cut.
    pub samples: Vec<String>,
}

impl ErrorTally {
    /// Counts an error of `cause` and keeps `message` as a sample while there is room.
    pub fn record(&mut self, cause: &'static str, message: &str) {
        let tally = self.by_cause.entry(Cow::Borrowed(cause)).or_default();
        tally.count += 1;
        if tally.samples.len() < SAMPLES_PER_CAUSE {
            tally.samples.push(escaped(message));
        }
    }

    /// Adds all that `other` holds; its samples follow on ours. Counts do not depend on the order of merging, which
    /// samples are kept does.
    pub fn merge(&mut self, other: &Self) {
        for (cause, others) in &other.by_cause {
            let tally = self.by_cause.entry(cause.clone()).or_default();
            tally.count += others.count;
            let room = SAMPLES_PER_CAUSE - tally.samples.len();
            tally.samples.extend(others.samples.iter().take(room).cloned());
        }
    }

    /// Forgets all errors.
    pub fn clear(&mut self) {
        self.by_cause.clear();
    }

    /// The causes seen, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &CauseTally)> {
        self.by_cause.iter().map(|(cause, tally)| (cause.as_ref(), tally))
    }

    /// Errors of all causes.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.by_cause.values().map(|tally| tally.count).sum()
    }
}

impl ErrorTally {
    /// Whether it is one that a program of ours can have kept: nothing in it steers a terminal, and it is not too large.
    pub(crate) fn is_plausible(&self) -> bool {
        let is_text = |text: &str| text.chars().count() <= SAMPLE_LENGTH && !text.contains(char::is_control);
        let is_ours = |(cause, tally): (&Cow<'static, str>, &CauseTally)| {
            is_text(cause) && tally.samples.len() <= SAMPLES_PER_CAUSE && tally.samples.iter().all(|text| is_text(text))
        };
        self.by_cause.len() <= MAX_CAUSES && self.by_cause.iter().all(is_ours)
    }
}

/// `message` with everything unprintable escaped, cut to `SAMPLE_LENGTH` characters, the last of which then is "…".
/// Reads no more of a long message than it keeps.
fn escaped(message: &str) -> String {
    let mut text = String::new();
    let mut length = 0;
    for character in message.chars() {
        let piece: String = match character {
            '"' | '\'' => character.to_string(),
            _ => character.escape_debug().collect(),
        };
        let piece_length = piece.chars().count();
        if length + piece_length > SAMPLE_LENGTH - 1 {
            text.push('…');
            return text;
        }
        text.push_str(&piece);
        length += piece_length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{ErrorTally, SAMPLE_LENGTH, escaped};

    #[test]
    fn counts_all_and_keeps_the_first_five() {
        let mut tally = ErrorTally::default();
        for number in 0..7 {
            tally.record("server", &format!("error {number}"));
        }
        tally.record("connect", "refused");
        let seen: Vec<_> = tally.iter().map(|(cause, tally)| (cause, tally.count, tally.samples.len())).collect();
        assert_eq!(seen, [("connect", 1, 1), ("server", 7, 5)]);
        assert_eq!(tally.count(), 8);
    }

    #[test]
    fn merging_adds_counts_and_fills_up_samples() {
        let (mut one, mut two) = (ErrorTally::default(), ErrorTally::default());
        for number in 0..3 {
            one.record("server", &format!("one {number}"));
            two.record("server", &format!("two {number}"));
        }
        one.merge(&two);
        let (_, merged) = one.iter().next().unwrap();
        assert_eq!(merged.count, 6);
        assert_eq!(merged.samples, ["one 0", "one 1", "one 2", "two 0", "two 1"]);
    }

    #[test]
    fn samples_cannot_steer_a_terminal() {
        assert_eq!(escaped("a\x1b[2J\n\0b\u{202e}\u{9b}"), "a\\u{1b}[2J\\n\\0b\\u{202e}\\u{9b}");
        assert_eq!(escaped("table \"café\" isn't"), "table \"café\" isn't");
    }

    #[test]
    fn samples_are_cut() {
        let long = escaped(&"\n".repeat(10_000));
        assert!(long.chars().count() <= SAMPLE_LENGTH && long.ends_with("\\n…"));
        assert_eq!(escaped(&"x".repeat(199)).chars().count(), 199);
        assert_eq!(escaped(&"x".repeat(300)).chars().count(), 200);
    }
}
