//! Sittings of one job: what became of each, and what they tell together. `sessions.json`.

mod summary;
mod text;

pub use summary::{SessionsFigure, SessionsSummary};
pub use text::{render_over_sittings, render_sessions};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Name and version of the format.
pub const SESSIONS_SCHEMA: &str = "iotbench-sessions/1.0";

/// What is run in each sitting: whoever goes on with it knows all of it, and a reader no more than this.
pub trait SittingsJob {
    /// The profile's name.
    fn profile_name(&self) -> &str;
}

/// The sittings of a job, in the order in which they are held. A sitting is a run of each of its targets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SessionsRecord<J> {
    /// [`SESSIONS_SCHEMA`].
    pub schema: String,
    /// How many sittings there are to be.
    pub sessions: u32,
    /// The time that they are spread over, in seconds; null: one follows the other.
    pub over_s: Option<f64>,
    /// How long the load of a sitting takes, in seconds, where a search does not contradict itself.
    pub expected_s: f64,
    /// When the first was to begin, RFC 3339.
    pub began: String,
    /// What is run in each sitting: all that is needed to go on.
    pub jobs: Vec<J>,
    /// Each run, in its order.
    pub entries: Vec<SessionEntry>,
    /// What the sittings tell together, as far as they have been held.
    pub summary: SessionsSummary,
}

/// A run of a sitting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEntry {
    /// The sitting, from 1.
    pub session: u32,
    /// Which of the jobs, from 0.
    pub job: usize,
    /// Database, layout, strategy and variant.
    pub target: String,
    /// How it ended; null: it has not.
    pub end: Option<SessionEnd>,
}

/// A run that came to its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// Its folder, in that of the sessions.
    pub folder: String,
    /// Folders of the same run that was interrupted: nothing is told of them but through its trials.
    pub interrupted: Vec<String>,
    /// When it began, RFC 3339; of a run that was interrupted the last time.
    pub began: String,
    /// When it ended.
    pub ended: String,
    /// The exit code of its verdict.
    pub exit_code: u8,
}

impl<J> SessionsRecord<J> {
    /// The record of sittings of which none has been held; `order` names the jobs of each sitting, one after the other.
    #[must_use]
    pub fn new(
        jobs: Vec<J>,
        targets: &[String],
        order: &[usize],
        over_s: Option<f64>,
        expected_s: f64,
        began: Timestamp,
    ) -> Self {
        let size = targets.len().max(1);
        let entry = |(place, &job): (usize, &usize)| SessionEntry {
            session: u32::try_from(place / size + 1).unwrap_or(u32::MAX),
            job,
            target: targets.get(job).cloned().unwrap_or_default(),
            end: None,
        };
        let entries: Vec<SessionEntry> = order.iter().enumerate().map(entry).collect();
        Self {
            schema: SESSIONS_SCHEMA.into(),
            sessions: entries.last().map_or(0, |last| last.session),
            over_s,
            expected_s,
            began: began.to_string(),
            jobs,
            entries,
            summary: SessionsSummary::default(),
        }
    }

    /// The place of the first run that has not ended.
    #[must_use]
    pub fn next(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.end.is_none())
    }

    /// The runs that have ended.
    pub fn ended(&self) -> impl Iterator<Item = &SessionEnd> {
        self.entries.iter().filter_map(|entry| entry.end.as_ref())
    }

    /// Whether a folder is that of a run that has ended, or of one that was interrupted before it did.
    #[must_use]
    pub fn names(&self, folder: &str) -> bool {
        self.ended().any(|end| end.folder == folder || end.interrupted.iter().any(|other| other == folder))
    }

    /// How many sittings have been held to their end.
    #[must_use]
    pub fn held(&self) -> u32 {
        self.next()
            .and_then(|place| self.entries.get(place))
            .map_or(self.sessions, |entry| entry.session.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that others wrote may number sittings from 0.
    #[test]
    fn before_the_first_sitting_none_was_held() {
        let began = Timestamp::UNIX_EPOCH;
        let mut record = SessionsRecord::<()>::new(Vec::new(), &["a".into()], &[0, 0], None, 1.0, began);
        assert_eq!((record.sessions, record.held()), (2, 0));
        record.entries.iter_mut().for_each(|entry| entry.session -= 1);
        assert_eq!(record.held(), 0);
    }
}
