//! What memory and connections did of late, and which of these is to blame. Pure.

use std::{collections::HashMap, hash::Hash, time::Duration};

const MIB: u64 = 1 << 20;
/// Memory that grows by so much within a deadline is looked into.
pub(super) const KEPT: u64 = 32 * MIB;
/// What a connection must have brought of it. The largest batch of rows that a server of MongoDB sends is 16 MiB.
pub(super) const PART: u64 = 18 * MIB;
/// A connection that brought more than so many times what memory grew by has been read, and not kept.
const READ: u64 = 4;
/// Memory that has grown by less is where it was.
const CALM: u64 = 8 * MIB;
/// And is looked into again when it has grown by so much more.
const STEP: u64 = 4 * MIB;
/// What a connection brings in a second to a thread that does not look up.
const ENDLESS: u64 = MIB;
/// How often connections are looked at while nothing grows.
const SECOND: Duration = Duration::from_secs(1);

/// What honest calls keep to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// For how long one may go on.
    pub(super) deadline: Duration,
    /// How much of a connection's answers a driver holds at once.
    pub(super) honest_bytes: u64,
}

/// One look.
#[derive(Clone, Debug)]
pub(super) struct Look<C> {
    /// Since the watch began.
    pub(super) at: Duration,
    pub(super) rss_bytes: u64,
    /// What came over each connection since it was opened.
    pub(super) received: HashMap<C, u64>,
}

/// Whose connections are to be ended, and for what.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Guilt<C> {
    pub(super) connections: Vec<C>,
    pub(super) what: String,
}

/// The looks of late.
#[derive(Debug)]
pub(super) struct Course<C> {
    bounds: Bounds,
    /// When memory was least, of late.
    base: Look<C>,
    last: Look<C>,
}

impl<C: Copy + Eq + Hash> Course<C> {
    pub(super) fn new(bounds: Bounds, first: Look<C>) -> Self {
        Self { bounds, base: first.clone(), last: first }
    }

    /// Whether connections are to be looked at now.
    pub(super) fn is_due(&mut self, at: Duration, rss_bytes: u64) -> bool {
        for before in [&mut self.base, &mut self.last] {
            before.rss_bytes = before.rss_bytes.min(rss_bytes);
        }
        let has_grown = rss_bytes >= self.base.rss_bytes + KEPT && rss_bytes >= self.last.rss_bytes + STEP;
        has_grown || at >= self.last.at + SECOND
    }

    /// Takes a look. `is_stuck`: a thread that calls a driver has not looked up for longer than its deadline.
    pub(super) fn look(&mut self, now: Look<C>, is_stuck: bool) -> Option<Guilt<C>> {
        let grown = now.rss_bytes.saturating_sub(self.base.rss_bytes);
        let guilt = if grown >= KEPT { self.kept(&now, grown) } else { None };
        let guilt = guilt.or_else(|| if is_stuck { self.endless(&now) } else { None });
        let is_old = now.at >= self.base.at + self.bounds.deadline + SECOND;
        if guilt.is_some() || grown < CALM || is_old {
            self.base = now.clone();
        }
        self.last = now;
        guilt
    }

    /// Connections that brought what memory has kept.
    fn kept(&self, now: &Look<C>, grown: u64) -> Option<Guilt<C>> {
        let brought = since(&self.base, now).filter(|(_, bytes)| (PART..=READ * grown).contains(bytes));
        let (connections, bytes): (Vec<_>, Vec<_>) = brought.unzip();
        let all: u64 = bytes.iter().sum();
        let honest = self.bounds.honest_bytes * connections.len() as u64;
        let what = || {
            format!(
                "the server sends more than a driver can give on: {} MiB came, and {} MiB of them are kept in memory as one answer",
                all / MIB,
                grown.min(all) / MIB
            )
        };
        (all >= grown / READ && grown >= KEPT + honest && !connections.is_empty())
            .then(|| Guilt { connections, what: what() })
    }

    /// Connections that bring something all the time, since the last look.
    fn endless(&self, now: &Look<C>) -> Option<Guilt<C>> {
        let connections: Vec<_> =
            since(&self.last, now).filter(|&(_, bytes)| bytes >= ENDLESS).map(|(connection, _)| connection).collect();
        let what = "the server sends without an end, and the driver reads it beyond its deadline".into();
        (!connections.is_empty()).then_some(Guilt { connections, what })
    }
}

/// What each connection brought between two looks.
fn since<'a, C: Copy + Eq + Hash>(before: &'a Look<C>, now: &'a Look<C>) -> impl Iterator<Item = (C, u64)> + 'a {
    let had = |connection| before.received.get(connection).copied().unwrap_or(0);
    now.received.iter().map(move |(connection, &bytes)| (*connection, bytes.saturating_sub(had(connection))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOBODY: [Vec<u32>; 0] = [];
    const BOUNDS: Bounds = Bounds { deadline: Duration::from_secs(5), honest_bytes: 0 };

    fn look(ms: u64, rss_mib: u64, received_mib: &[u64]) -> Look<u32> {
        let received = received_mib.iter().zip(0..);
        let received = received.map(|(&mib, number)| (number, mib * MIB)).collect();
        Look { at: Duration::from_millis(ms), rss_bytes: rss_mib * MIB, received }
    }

    /// As the thread does: connections are looked at only when that is due.
    fn guilty(looks: Vec<Look<u32>>) -> Vec<Vec<u32>> {
        guilty_of(0, looks)
    }

    fn guilty_of(honest_bytes: u64, looks: Vec<Look<u32>>) -> Vec<Vec<u32>> {
        let mut looks = looks.into_iter();
        let mut course = Course::new(Bounds { honest_bytes, ..BOUNDS }, looks.next().unwrap());
        let mut found = Vec::new();
        for now in looks {
            if course.is_due(now.at, now.rss_bytes) {
                found.extend(course.look(now, false).map(|guilt| guilt.connections));
            }
        }
        found
    }

    #[test]
    fn who_brings_what_memory_keeps_is_found_before_64_mib() {
        let one_message: Vec<_> = (0..=60).map(|i| look(i * 10, 30 + i, &[i + 200, 3])).collect();
        assert_eq!(guilty(one_message), [[0]]);
        let copied_twice = vec![look(0, 30, &[5]), look(10, 90, &[35])];
        assert_eq!(guilty(copied_twice).len(), 1);
        let slowly: Vec<_> = (0..=60).map(|i| look(i * 90, 30 + i, &[i])).collect();
        assert_eq!(guilty(slowly).len(), 1);
        let by_four: Vec<_> = (0..=80).map(|i| look(i * 10, 30 + i, &[i / 4; 4])).collect();
        assert_eq!(guilty(by_four).first().map(Vec::len), Some(4), "they share it");
        let after_it_was_less = vec![look(0, 90, &[0]), look(10, 30, &[0]), look(20, 79, &[49])];
        assert_eq!(guilty(after_it_was_less).len(), 1);
    }

    #[test]
    fn what_is_read_row_by_row_is_no_answer_that_is_kept() {
        let read: Vec<_> = (0..=60).map(|i| look(i * 10, 30 + i, &[20 * i])).collect();
        assert_eq!(guilty(read), NOBODY);
        let of_its_own: Vec<_> = (0..=60).map(|i| look(i * 10, 30 + i, &[0])).collect();
        assert_eq!(guilty(of_its_own), NOBODY, "memory that no connection brought");
        let batches = vec![look(0, 30, &[0; 8]), look(10, 158, &[16; 8]), look(20, 30, &[16; 8])];
        assert_eq!(guilty(batches), NOBODY, "a batch of rows on each connection");
        let over_minutes: Vec<_> = (0..=60).map(|i| look(i * 1000, 30 + i, &[i])).collect();
        let batches: Vec<_> = (0..=60).map(|i| look(i * 10, 30 + i.min(3) * 16, &[i * 16])).collect();
        assert_eq!(guilty_of(64 * MIB, batches), NOBODY, "batches on one connection");
        assert_eq!(guilty(over_minutes), NOBODY, "no call goes on for so long");
    }

    #[test]
    fn a_connection_that_keeps_a_thread_reading_is_ended_and_others_are_not() {
        let mut course = Course::new(BOUNDS, look(0, 30, &[0, 0]));
        assert_eq!(course.look(look(7000, 30, &[900, 0]), false), None, "the thread looks up");
        let guilt = course.look(look(8000, 30, &[1000, 0]), true).unwrap();
        assert_eq!(guilt.connections, [0]);
        assert_eq!(course.look(look(9000, 30, &[1000, 0]), true), None, "a thread that waits for a processor");
    }
}
