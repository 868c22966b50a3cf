//! What happened to every request: the exact oracle for a client's measurements.

use crate::{wire::STATUS_OK, work_clock::Stall};

/// What the server saw until the snapshot was taken. All times are nanoseconds since the epoch.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// Every request recorded, in the order in which the server took them.
    pub entries: Vec<Entry>,
    /// Requests that did not fit. Unless it is 0, the ledger is incomplete and proves nothing.
    pub overflow: u64,
    /// Stalls, past and programmed: disjoint, in order of time.
    pub stalls: Vec<Stall>,
    /// Over HTTP: bytes of answers that clients have taken, or their sockets for them.
    pub written_bytes: u64,
    /// Over HTTP: requests for which there is no endpoint.
    pub strays: u64,
}

/// One request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Connection that brought it, counted from 0 in the order of acceptance.
    pub connection: u32,
    /// The client's id of it; over HTTP the time on its first line, as it was sent.
    pub id: u64,
    /// Datapoints, as told by the client; over HTTP as counted.
    pub points: u32,
    /// Length of the payload.
    pub payload_bytes: u32,
    /// XXH3-64 (seed 0) of the payload.
    pub payload_hash: u64,
    /// When its last bytes could be read.
    pub arrival_ns: u64,
    /// Over HTTP: the endpoint that took it, by its place in the list.
    pub endpoint: u16,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing yet: waiting, in service, or never to be answered.
    Unanswered,
    /// Answered.
    Answered {
        /// Just before the reply was written.
        reply_ns: u64,
        /// Status on the wire; over HTTP [`STATUS_OK`] or the number of the fault's answer.
        status: u8,
    },
    /// Stored, then its connection was reset instead of an answer.
    Reset {
        /// When.
        reset_ns: u64,
    },
    /// The reply was due but its connection was gone or did not take it.
    Undeliverable,
}

impl Entry {
    /// When the reply was written, if it was.
    #[must_use]
    pub fn reply_ns(&self) -> Option<u64> {
        match self.fate {
            Fate::Answered { reply_ns, .. } => Some(reply_ns),
            Fate::Unanswered | Fate::Reset { .. } | Fate::Undeliverable => None,
        }
    }

    /// Service time: reply − arrival.
    #[must_use]
    pub fn service_ns(&self) -> Option<u64> {
        Some(self.reply_ns()? - self.arrival_ns)
    }

    /// Response time: reply − intended start. Negative if the client sent ahead of its schedule by more than the service
    /// took.
    #[must_use]
    pub fn response_ns(&self, intended_ns: u64) -> Option<i64> {
        Some(self.reply_ns()?.wrapping_sub(intended_ns).cast_signed())
    }
}

impl Ledger {
    /// Service times (reply − arrival) of the answered requests, in the order of [`Ledger::entries`].
    pub fn service_ns(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().filter_map(Entry::service_ns)
    }

    /// Response times (reply − intended start) of the answered requests, in the order of [`Ledger::entries`], where
    /// `schedule` gives the intended start in nanoseconds since the epoch from the request's id.
    pub fn response_ns(&self, schedule: impl Fn(u64) -> u64) -> impl Iterator<Item = i64> {
        self.entries.iter().filter_map(move |entry| entry.response_ns(schedule(entry.id)))
    }

    /// Arrivals of all requests, in the order of [`Ledger::entries`]: sorted within a connection, and between
    /// connections up to a race of their threads.
    pub fn arrivals(&self) -> impl Iterator<Item = u64> {
        self.entries.iter().map(|entry| entry.arrival_ns)
    }

    /// Requests without an answer, those still in service included.
    pub fn missing(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.reply_ns().is_none())
    }

    /// Datapoints that a reply confirmed as stored.
    #[must_use]
    pub fn confirmed_points(&self) -> u64 {
        let is_confirmed = |entry: &&Entry| matches!(entry.fate, Fate::Answered { status: STATUS_OK, .. });
        self.entries.iter().filter(is_confirmed).map(|entry| u64::from(entry.points)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: u64, arrival_ns: u64, fate: Fate) -> Entry {
        Entry { connection: 0, id, points: 10, payload_bytes: 0, payload_hash: 0, arrival_ns, endpoint: 0, fate }
    }

    #[test]
    fn an_entry_has_the_documented_size() {
        assert_eq!(size_of::<Entry>(), 56);
    }

    #[test]
    fn the_oracle_functions_take_what_they_say() {
        let ledger = Ledger {
            entries: vec![
                entry(0, 100, Fate::Answered { reply_ns: 150, status: 0 }),
                entry(1, 200, Fate::Answered { reply_ns: 260, status: 7 }),
                entry(2, 300, Fate::Unanswered),
                entry(3, 400, Fate::Reset { reset_ns: 500 }),
                entry(4, 500, Fate::Undeliverable),
                entry(6, 550, Fate::Answered { reply_ns: 580, status: 0 }),
            ],
            overflow: 0,
            stalls: vec![],
            written_bytes: 0,
            strays: 0,
        };
        assert_eq!(ledger.service_ns().collect::<Vec<_>>(), [50, 60, 30]);
        assert_eq!(ledger.response_ns(|id| id * 100).collect::<Vec<_>>(), [150, 160, -20]);
        assert_eq!(ledger.arrivals().collect::<Vec<_>>(), [100, 200, 300, 400, 500, 550]);
        assert_eq!(ledger.missing().map(|entry| entry.id).collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(ledger.confirmed_points(), 20);
    }
}
