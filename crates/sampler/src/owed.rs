//! What a window owes the storage devices, whenever they took it: bounds from the kernel's counters. Pure.
//!
//! A write goes to the page cache and is written later, perhaps long after the window. Two counters bound what it was:
//!
//! - *charged*: each page that a process makes dirty, when it does, less those that were truncated before they were
//!   written. Where the file system keeps large folios, a write of some bytes to one is charged with all of it, up to
//!   2 MiB: it is never too little and may be a hundred times too much.
//! - *taken*: what the devices took, from anybody, the file system's journal included. Of what was made dirty in the window
//!   that is all but what still waits at the end.
//!
//! Below, it is what the devices took less all that others can have had them take: what waited when the window began, and
//! twice what others made dirty (their file systems' journals come on top of it).

use crate::sample::Source;
use crate::summary::Summary;
use crate::write_back::Medium;

/// A figure is exact if its lower bound is at least this part of the upper one.
const EXACT: f64 = 0.85;
/// So many times what others made dirty may have been written for them.
const OF_OTHERS: u64 = 2;

/// Counters of a subject's writes around a window. `None`: not known of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Writes {
    /// Made dirty, and truncated before it was written (process trees).
    pub cancelled_bytes: Option<u64>,
    /// Made dirty in the page cache (the host).
    pub dirtied_bytes: Option<u64>,
    /// What waited to be written when the window began (the host).
    pub dirty_before_bytes: Option<u64>,
    /// What waited when it ended (the host).
    pub dirty_after_bytes: Option<u64>,
    /// The same counters over the window and what was written back after it; `None`: nothing was.
    pub with_write_back: Option<WithWriteBack>,
}

/// Counters of the host from the beginning of a window to the end of the writing back after it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WithWriteBack {
    /// Taken by the devices.
    pub written_bytes: Option<u64>,
    /// Made dirty.
    pub dirtied_bytes: Option<u64>,
    /// What waits still.
    pub dirty_after_bytes: Option<u64>,
}

/// What a subject's window had the storage devices write, at once or later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owed {
    /// At least so much.
    pub least_bytes: u64,
    /// At most so much.
    pub most_bytes: u64,
    /// At least so much of `least_bytes` was written after the window.
    pub later_bytes: u64,
}

impl Owed {
    /// Of a subject whose files lie on `medium`. `machine` is the host over the same window.
    #[must_use]
    pub fn of(subject: &Summary, machine: Option<&Summary>, medium: Medium) -> Option<Self> {
        let machine = machine.filter(|machine| machine.method.source == Source::Host);
        let machine = machine.filter(|_| medium == Medium::Device && !subject.elsewhere);
        let spans: Vec<Span> = machine.into_iter().flat_map(Span::of).collect();
        let charged_bytes = subject.disk.written_bytes;
        let waited_bytes = spans.first().map_or(u64::MAX, |span| span.dirty_before_bytes);
        // Of what was truncated, no more was of this window than did not wait already when it began.
        let cancelled_bytes = subject.disk.writes.cancelled_bytes.unwrap_or(0).saturating_sub(waited_bytes);
        let by_charge = charged_bytes.map(|charged| charged.saturating_sub(cancelled_bytes));
        let most_bytes = spans.iter().map(Span::most).chain(by_charge).min()?;
        let least = spans.iter().map(|span| span.least(charged_bytes.unwrap_or(0))).max().unwrap_or(0);
        let least_bytes = least.min(most_bytes);
        let in_window = spans.first().map_or(u64::MAX, |span| span.taken_bytes);
        Some(Self { least_bytes, most_bytes, later_bytes: least_bytes.saturating_sub(in_window) })
    }

    /// The figure, where its bounds leave no doubt: the upper one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio of sizes needs no exact bytes above 2^53")]
    pub fn exact_bytes(self) -> Option<u64> {
        (self.least_bytes as f64 >= EXACT * self.most_bytes as f64).then_some(self.most_bytes)
    }
}

/// The host from the beginning of a window to its end, or to that of the writing back.
struct Span {
    taken_bytes: u64,
    dirtied_bytes: u64,
    dirty_before_bytes: u64,
    dirty_after_bytes: u64,
}

impl Span {
    /// The window alone, and with what was written back, as far as they are known.
    fn of(machine: &Summary) -> impl Iterator<Item = Self> + use<> {
        let writes = machine.disk.writes;
        let window = WithWriteBack {
            written_bytes: machine.disk.written_bytes,
            dirtied_bytes: writes.dirtied_bytes,
            dirty_after_bytes: writes.dirty_after_bytes,
        };
        let known = move |of: WithWriteBack| {
            Some(Self {
                taken_bytes: of.written_bytes?,
                dirtied_bytes: of.dirtied_bytes?,
                dirty_before_bytes: writes.dirty_before_bytes?,
                dirty_after_bytes: of.dirty_after_bytes?,
            })
        };
        [Some(window), writes.with_write_back].into_iter().flatten().filter_map(known)
    }

    fn most(&self) -> u64 {
        self.taken_bytes.saturating_add(self.dirty_after_bytes)
    }

    fn least(&self, charged_bytes: u64) -> u64 {
        let of_others = self.dirtied_bytes.saturating_sub(charged_bytes).saturating_mul(OF_OTHERS);
        self.taken_bytes.saturating_sub(of_others).saturating_sub(self.dirty_before_bytes)
    }
}

#[cfg(test)]
#[path = "owed/tests.rs"]
mod tests;
