//! The audit: what is stored, read back and held against the ledger and the simulator, datapoint by datapoint.
//!
//! The ledger says which datapoints the database acknowledged; the simulator says what they are; the database is asked for
//! all that it holds of some devices, ordered by device and time. Both sides are ascending, so that one walk over them names
//! every difference exactly, in memory that does not grow with either.

mod account;
mod auditor;
mod corrected;
mod expected;
mod findings;
mod merge;
mod once;
mod pieces;
mod re_verify;
mod tags;
mod windows;

pub use auditor::{AuditRequest, Auditor};
pub use findings::{FindingRange, Findings, Kind as FindingKind};
pub(crate) use once::SentOnce;
pub(crate) use re_verify::has_added_signals;
pub use re_verify::{ReVerified, ReVerifyError, re_verify};
pub use tags::{TagAudit, TagExample, TagFault};

use serde::{Deserialize, Serialize};
use std::fmt;

/// How much is read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditScope {
    /// Some devices, drawn by the seed; of devices with much data the newest of it and a stretch from anywhere.
    Sample,
    /// Everything.
    Full,
}

impl fmt::Display for AuditScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sample => "sample",
            Self::Full => "full",
        })
    }
}

/// What an audit found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audit {
    /// How much was to be read back.
    pub scope: AuditScope,
    /// Devices that were looked at, in whole or in part.
    pub devices: u32,
    /// Devices that there are.
    pub of_devices: u32,
    /// Datapoints that were read.
    pub rows: u64,
    /// What they are.
    pub findings: Findings,
    /// What is stored of the devices' tags; `None`: they have none.
    pub tags: Option<TagAudit>,
    /// Whether a second datapoint of the same device and time could be seen: where the database replaces the first by it, or
    /// refuses it, there is none.
    pub shows_duplicates: bool,
    /// Whether the run came to its end. Of one that was killed whatever was reserved ahead counts as unknown.
    pub ended: bool,
    /// Why it did not look at all that it was to look at.
    pub cut_short: Option<String>,
}

impl Audit {
    /// Whether something is wrong beyond what may be lost.
    #[must_use]
    pub fn is_clean(&self, may_be_lost: bool) -> bool {
        self.findings.is_clean(may_be_lost) && self.tags.as_ref().is_none_or(TagAudit::is_clean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audit(kinds: &[FindingKind]) -> Audit {
        let mut findings = Findings::default();
        kinds.iter().for_each(|&kind| findings.note(kind, 0, 0, ""));
        let scope = AuditScope::Full;
        Audit {
            scope,
            devices: 1,
            of_devices: 1,
            rows: 1,
            findings,
            tags: None,
            shows_duplicates: true,
            ended: true,
            cut_short: None,
        }
    }

    #[test]
    fn an_audit_is_clean_with_what_may_be_lost_and_with_what_is_unknown_and_with_nothing_else() {
        for kind in FindingKind::ALL {
            let is_clean = [true, false].map(|may_be_lost| audit(&[kind]).is_clean(may_be_lost));
            let expected = match kind {
                FindingKind::Duplicate | FindingKind::Corrupt | FindingKind::Alien => [false, false],
                FindingKind::Lost => [true, false],
                FindingKind::UnknownPresent | FindingKind::UnknownAbsent => [true, true],
            };
            assert_eq!(is_clean, expected, "{kind:?}");
        }
        assert!(audit(&[]).is_clean(false) && !audit(&[FindingKind::Alien, FindingKind::Lost]).is_clean(true));
    }

    /// Of 100 to 110 that may be there so many were counted.
    #[test]
    fn what_is_counted_may_be_less_only_where_it_may_be_lost() {
        let again = |counted, may_lose| ReVerified { audit: audit(&[]), counted, expected: 100..=110, may_lose };
        let is_clean = |counted, may_lose| again(counted, may_lose).is_clean();
        assert_eq!([99, 100, 110, 111].map(|counted| is_clean(counted, false)), [false, true, true, false]);
        assert_eq!([99, 100, 110, 111].map(|counted| is_clean(counted, true)), [true, true, true, false]);
        assert!(!ReVerified { audit: audit(&[FindingKind::Corrupt]), ..again(100, true) }.is_clean());
        assert_eq!((again(50, true).delivered(), again(50, false).delivered()), (Some(0.5), None));
        let of_nothing = ReVerified { expected: 0..=0, ..again(0, true) };
        assert_eq!(of_nothing.delivered(), None);
    }

    #[test]
    fn scopes_have_their_words() {
        assert_eq!([AuditScope::Sample, AuditScope::Full].map(|scope| scope.to_string()), ["sample", "full"]);
    }
}
