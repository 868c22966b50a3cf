//! When sittings begin. Pure.

use std::time::{Duration, SystemTime};

/// How sittings are spread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread<'a> {
    /// How many there are.
    pub(crate) sessions: u32,
    /// Over how long, in seconds; none: one follows the other.
    pub(crate) over_s: Option<f64>,
    /// How long one takes, in seconds.
    pub(crate) expected_s: f64,
    /// When the first was to begin, RFC 3339.
    pub(crate) began: &'a str,
}

/// The times at which sittings begin at the earliest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Schedule {
    first: SystemTime,
    between: Duration,
}

impl Schedule {
    /// Of so many sittings, of which the first was to begin then; this one is the next that has not been held.
    ///
    /// Sitting i of N begins at i × (over − a sitting's expected length)/(N − 1). Where sittings go on after an interruption that
    /// was longer than the pause, the next begins at once, and those after it keep their distance: they do not follow one
    /// another because time was lost.
    pub(crate) fn of(spread: Spread<'_>, next: u32, now: SystemTime) -> Self {
        let pauses = f64::from(spread.sessions.saturating_sub(1));
        let spread_s = spread.over_s.map_or(0.0, |over_s| (over_s - spread.expected_s).max(0.0));
        let between = Duration::try_from_secs_f64(spread_s / pauses).unwrap_or_default();
        let before_next = between.saturating_mul(next.saturating_sub(1));
        let planned = spread.began.parse::<jiff::Timestamp>().map_or(now, SystemTime::from);
        let late = now.checked_sub(before_next).unwrap_or(now);
        Self { first: planned.max(late), between }
    }

    /// When a sitting begins at the earliest; they are numbered from 1.
    pub(crate) fn begins(&self, session: u32) -> SystemTime {
        let after = self.between.saturating_mul(session.saturating_sub(1));
        self.first.checked_add(after).unwrap_or(self.first)
    }
}
