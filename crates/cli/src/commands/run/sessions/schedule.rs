//! When sittings begin. Pure.

use iotbench_report::SessionsRecord;
use std::time::{Duration, SystemTime};

/// The times at which sittings begin at the earliest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Schedule {
    first: SystemTime,
    between: Duration,
}

impl Schedule {
    /// Sitting i of N begins at i × (over − a sitting's expected length)/(N − 1). Where sittings go on after an interruption that
    /// was longer than the pause, the next begins at once, and those after it keep their distance: they do not follow one
    /// another because time was lost.
    pub(super) fn of(record: &SessionsRecord, now: SystemTime) -> Self {
        let pauses = f64::from(record.sessions.saturating_sub(1));
        let spread_s = record.over_s.map_or(0.0, |over_s| (over_s - record.expected_s).max(0.0));
        let between = Duration::try_from_secs_f64(spread_s / pauses).unwrap_or_default();
        let next = record.next().and_then(|place| record.entries.get(place)).map_or(1, |entry| entry.session);
        let before_next = between.saturating_mul(next.saturating_sub(1));
        let planned = record.began.parse::<jiff::Timestamp>().map_or(now, SystemTime::from);
        let late = now.checked_sub(before_next).unwrap_or(now);
        Self { first: planned.max(late), between }
    }

    /// When a sitting begins at the earliest; they are numbered from 1.
    pub(super) fn begins(&self, session: u32) -> SystemTime {
        let after = self.between.saturating_mul(session.saturating_sub(1));
        self.first.checked_add(after).unwrap_or(self.first)
    }
}
