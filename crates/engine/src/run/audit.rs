//! After the counts: what is stored, read back and held against the ledger.

use super::Session;
use crate::{
    audit::{Audit, AuditRequest, AuditScope, Auditor, FindingKind, TagFault, has_added_signals},
    hoard::seen,
    verdict::Reason,
    verify::VerifyMode,
};
use iotbench_core::Counts;
use std::{sync::Arc, time::Duration};

impl Session<'_> {
    /// Reads a sample of what is stored, or all of it.
    /// `stored`: how many datapoints it is.
    pub(super) fn audit(&mut self, stored: Option<Counts>) -> Result<(), Reason> {
        let scope = match self.options.verify {
            VerifyMode::None => return Ok(()),
            VerifyMode::Sample => AuditScope::Sample,
            VerifyMode::Full => AuditScope::Full,
        };
        if self.stop.ends() {
            return Ok(());
        }
        // What did not settle was not counted, and cannot be judged.
        let (Some(stored), Some(ledger)) = (stored, self.outcome.stored.ledger.clone()) else { return Ok(()) };
        let may_lose = self.may_be_lost();
        let stops = || self.stop.requested().is_some();
        let mut request = AuditRequest {
            may_lose,
            acknowledgement: self.outcome.target.acknowledgement,
            stops: &stops,
            ..AuditRequest::new(&self.planned, &ledger, self.backend.info(), scope)
        };
        let database = Arc::clone(&self.database);
        let audited = self.runtime.block_on(seen(self.hoard.as_ref(), async {
            let connect =
                tokio::time::timeout(Duration::from_nanos(self.planned.plan.phases.deadline_ns), database.reader());
            let mut reader = connect.await.map_err(|_| "no connection in time".to_owned())?.map_err(|e| e.message)?;
            let has_added = has_added_signals(&self.planned, self.backend, &*database).await;
            request.has_added_signals = has_added.map_err(|e| e.message)?;
            let auditor = Auditor::new(request).map_err(|e| e.message)?;
            auditor.audit(&mut *reader, Some(stored.points)).await.map_err(|e| e.message)
        }));
        match audited {
            Ok(audit) => {
                let reason = reason(&audit, may_lose);
                self.outcome.stored.audit = Some(audit);
                self.checkpoint()?;
                reason.map_or(Ok(()), Err)
            }
            // Who asks for all of it takes no result without it.
            Err(why) if scope == AuditScope::Full => Err(Reason::NotReadBack(why)),
            Err(why) => {
                // What is stored was counted; that it could not be read back as well is told, and no verdict on the database.
                self.outcome.plan.remarks.push(format!("what is stored was not read back: {why}"));
                Ok(())
            }
        }
    }
}

/// What is wrong with what is stored, its datapoints before its tags.
fn reason(audit: &Audit, may_be_lost: bool) -> Option<Reason> {
    let tags = audit.tags.as_ref().filter(|tags| !tags.is_clean());
    let of_tags = tags.map(|tags| Reason::Tags {
        wrong: tags.count(TagFault::Wrong),
        missing: tags.count(TagFault::Missing),
        alien: tags.count(TagFault::Alien),
    });
    let count = |kind| audit.findings.count(kind);
    let points = Reason::Audit {
        lost: count(FindingKind::Lost),
        duplicate: count(FindingKind::Duplicate),
        corrupt: count(FindingKind::Corrupt),
        alien: count(FindingKind::Alien),
    };
    if audit.findings.is_clean(may_be_lost) { of_tags } else { Some(points) }
}
