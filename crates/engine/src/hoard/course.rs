//! What memory and connections did of late, and which of these is to blame. Pure.

use iotbench_sampler::NetworkBytes;
use std::{collections::HashMap, hash::Hash, time::Duration};

const MIB: u64 = 1 << 20;
/// Memory that grows by so much while an answer comes is looked into.
const KEPT: u64 = 32 * MIB;
/// What an answer must have brought of it. The largest batch of rows that a server of MongoDB sends is 16 MiB.
const PART: u64 = 18 * MIB;
/// An answer that brought more than so many times what memory grew by has been read, and not kept.
const READ: u64 = 4;
/// Connections are looked at when memory has grown by so much since the last time.
const STEP: u64 = 4 * MIB;
/// What an answer has brought to a thread that does not look up.
const ENDLESS: u64 = MIB;
/// How often connections are looked at while nothing grows.
const SECOND: Duration = Duration::from_secs(1);

/// One look.
#[derive(Clone, Debug)]
pub(super) struct Look<C> {
    /// Since the watch began.
    pub(super) at: Duration,
    pub(super) rss_bytes: u64,
    /// What each connection has carried since it was opened.
    pub(super) carried: HashMap<C, NetworkBytes>,
}

/// Whose connections are to be ended, and for what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guilt<C> {
    pub(super) connections: Vec<C>,
    pub(super) what: String,
}

/// What comes over a connection since this process sent something on it last.
#[derive(Clone, Copy, Debug)]
struct Answer {
    sent: u64,
    began: u64,
    received: u64,
    /// Whether something has come since the look before.
    goes_on: bool,
    /// The least that memory was since it began.
    rss_bytes: u64,
}

impl Answer {
    fn brought(&self) -> u64 {
        self.received.saturating_sub(self.began)
    }
}

/// The answers under way.
#[derive(Debug)]
pub(super) struct Course<C> {
    answers: HashMap<C, Answer>,
    at: Duration,
    rss_bytes: u64,
}

impl<C: Copy + Eq + Hash> Course<C> {
    pub(super) fn new(first: Look<C>) -> Self {
        let mut this = Self { answers: HashMap::new(), at: first.at, rss_bytes: first.rss_bytes };
        this.follow(first);
        this
    }

    /// Whether connections are to be looked at now.
    pub(super) fn is_due(&mut self, at: Duration, rss_bytes: u64) -> bool {
        if rss_bytes < self.rss_bytes {
            self.rss_bytes = rss_bytes;
            self.answers.values_mut().for_each(|answer| answer.rss_bytes = answer.rss_bytes.min(rss_bytes));
        }
        rss_bytes >= self.rss_bytes + STEP || at >= self.at + SECOND
    }

    /// Takes a look. `is_stuck`: a thread that calls a driver has not looked up for longer than its deadline.
    pub(super) fn look(&mut self, now: Look<C>, is_stuck: bool) -> Option<Guilt<C>> {
        let rss_bytes = now.rss_bytes;
        self.follow(now);
        let guilt = self.kept(rss_bytes).or_else(|| if is_stuck { self.endless() } else { None });
        // What is ended is accused once.
        guilt.iter().flat_map(|guilt| &guilt.connections).for_each(|ended| {
            self.answers.remove(ended);
        });
        guilt
    }

    fn follow(&mut self, now: Look<C>) {
        let before = std::mem::take(&mut self.answers);
        self.answers = now
            .carried
            .into_iter()
            .map(|(connection, NetworkBytes { tx, rx })| {
                let answer = match before.get(&connection) {
                    Some(known) if known.sent == tx => Answer { received: rx, goes_on: rx > known.received, ..*known },
                    _ => Answer { sent: tx, began: rx, received: rx, goes_on: true, rss_bytes: now.rss_bytes },
                };
                (connection, answer)
            })
            .collect();
        (self.at, self.rss_bytes) = (now.at, now.rss_bytes);
    }

    /// Answers that memory keeps.
    fn kept(&self, rss_bytes: u64) -> Option<Guilt<C>> {
        let grown = |answer: &Answer| rss_bytes.saturating_sub(answer.rss_bytes);
        let is_kept = |answer: &Answer| (PART..=READ * grown(answer)).contains(&answer.brought());
        let kept = || self.answers.iter().filter(|(_, answer)| is_kept(answer));
        let grown = kept().map(|(_, answer)| grown(answer)).max()?;
        let all: u64 = kept().map(|(_, answer)| answer.brought()).sum();
        let connections: Vec<_> = kept().map(|(&connection, _)| connection).collect();
        let what = || {
            format!(
                "the server sends more than a driver can give on: {} MiB of an answer came, and memory grew by {} MiB meanwhile",
                all / MIB,
                grown / MIB
            )
        };
        let is_guilty = grown >= KEPT && all >= grown / READ;
        is_guilty.then(|| Guilt { connections, what: what() })
    }

    /// Answers that go on.
    fn endless(&self) -> Option<Guilt<C>> {
        let goes_on = |answer: &Answer| answer.goes_on && answer.brought() >= ENDLESS;
        let connections: Vec<_> =
            self.answers.iter().filter(|(_, answer)| goes_on(answer)).map(|(&connection, _)| connection).collect();
        let what = "the server still sends one answer, and the driver reads it beyond the deadline".into();
        (!connections.is_empty()).then_some(Guilt { connections, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a time, with so much memory, and what each connection has sent (bytes) and received (MiB).
    fn look(ms: u64, rss_mib: u64, carried: &[(u64, u64)]) -> Look<u32> {
        let carried = carried.iter().zip(0..);
        let carried = carried.map(|(&(tx, mib), number)| (number, NetworkBytes { tx, rx: mib * MIB })).collect();
        Look { at: Duration::from_millis(ms), rss_bytes: rss_mib * MIB, carried }
    }

    /// As the thread does: connections are looked at only when that is due.
    fn guilty(looks: impl IntoIterator<Item = Look<u32>>) -> Vec<Vec<u32>> {
        let mut looks = looks.into_iter();
        let mut course = Course::new(looks.next().unwrap());
        let mut found = Vec::new();
        for now in looks {
            if course.is_due(now.at, now.rss_bytes) {
                found.extend(course.look(now, false).map(|guilt| guilt.connections));
            }
        }
        found.iter_mut().for_each(|connections| connections.sort_unstable());
        found
    }

    const NOBODY: [Vec<u32>; 0] = [];

    #[test]
    fn who_brings_what_memory_keeps_is_found_before_64_mib() {
        let one_message = (0..=60).map(|i| look(i * 10, 30 + i, &[(7, i + 200), (9, 3)]));
        assert_eq!(guilty(one_message), [[0]]);
        let copied = (0..=30).map(|i| look(i * 10, 30 + 2 * i, &[(7, i)]));
        assert_eq!(guilty(copied), [[0]], "memory grows by twice what comes");
        let slowly = (0..=60).map(|i| look(i * 1000, 30 + i, &[(7, i)]));
        assert_eq!(guilty(slowly), [[0]]);
        let after_much_was_read = (0..=160_u64).map(|i| {
            let (read, kept) = (i.min(100), i.saturating_sub(100));
            look(i * 10, 30 + kept, &[(7 + i / 100, 9 * read + kept)])
        });
        assert_eq!(guilty(after_much_was_read), [[0]]);
        let by_four = (0..=90).map(|i| look(i * 10, 30 + i, &[(7, i / 4); 4]));
        assert_eq!(guilty(by_four), [[0, 1, 2, 3]], "they share it");
        let beside_a_stream = (0..=60).map(|i| look(i * 10, 30 + i, &[(7, i), (9, 99 * i)]));
        assert_eq!(guilty(beside_a_stream), [[0]], "the other one's is read");
        let mut after_it_was_less = vec![look(0, 90, &[(7, 0)]), look(10, 30, &[(7, 0)])];
        after_it_was_less.extend((0..=60).map(|i| look(20 + i * 10, 30 + i, &[(7, i)])));
        assert_eq!(guilty(after_it_was_less), [[0]]);
    }

    #[test]
    fn what_is_read_row_by_row_is_no_answer_that_is_kept() {
        let read = (0..=60).map(|i| look(i * 10, 30 + i, &[(7, 20 * i)]));
        assert_eq!(guilty(read), NOBODY);
        let of_its_own = (0..=60).map(|i| look(i * 10, 30 + i, &[(7, 0)]));
        assert_eq!(guilty(of_its_own), NOBODY, "memory that no connection brought");
        let batches = (0..=60).map(|i| look(i * 10, 30 + 8 * i, &[(7 + i / 16, i); 8]));
        assert_eq!(guilty(batches), NOBODY, "batches of 16 MiB, each asked for, on many connections");
        let answers = (0..=100).map(|i| look(i * 100, 30 + i, &[(7 + i / 10, i); 4]));
        assert_eq!(guilty(answers), NOBODY, "rows that are kept for a comparison, of answers that are whole");
    }

    #[test]
    fn a_connection_that_keeps_a_thread_reading_is_ended_and_others_are_not() {
        let mut course = Course::new(look(0, 30, &[(7, 0), (7, 0)]));
        assert_eq!(course.look(look(7000, 30, &[(7, 900), (7, 0)]), false), None, "the thread looks up");
        let guilt = course.look(look(8000, 30, &[(7, 901), (7, 0)]), true).unwrap();
        assert_eq!(guilt.connections, [0]);
        let waits = course.look(look(9000, 30, &[(7, 901), (7, 0)]), true);
        assert_eq!(waits.map(|guilt| guilt.connections), None, "a thread that waits for a processor");
    }

    #[test]
    fn slowly_without_an_end_is_without_an_end() {
        let mut course = Course::new(look(0, 30, &[(7, 0)]));
        let mut slowly = |ms, bytes: u64| {
            let now = Look { carried: [(0, NetworkBytes { tx: 7, rx: bytes })].into(), ..look(ms, 30, &[]) };
            course.look(now, true).map(|guilt| guilt.connections)
        };
        assert_eq!(slowly(1000, 400_000), None);
        assert_eq!(slowly(2000, 800_000), None);
        assert_eq!(slowly(3000, 1_200_000), Some(vec![0]));
    }
}
