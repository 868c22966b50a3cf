//! How many datapoints a database holds that has one of each, however often each was sent.

use super::{account::Account, auditor::damaged, windows::Windows};
use crate::{
    ledger::{Fate, Ledger, LedgerSummary},
    plan::Planned,
    read::History,
};
use iotbench_core::{Backend, Duplicates, Error};
use std::sync::Arc;

/// Datapoints by their fate, each once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SentOnce {
    /// Acknowledged at least once, the history among them.
    pub acked: u64,
    /// Never acknowledged, and sent at least once without a verdict.
    pub unknown: u64,
}

impl SentOnce {
    /// What a ledger names, where the database keeps one of two equal datapoints and the run sends some twice; else `None`:
    /// then each send counts. What was reserved and not told is not among it.
    ///
    /// # Errors
    /// The ledger is damaged, or what it says of one device too much to be held in memory.
    pub fn of(planned: &Planned, ledger: &Ledger, backend: &dyn Backend) -> Result<Option<Self>, Error> {
        if planned.dataset.twice().is_none() || backend.info().capabilities.duplicates == Duplicates::Keep {
            return Ok(None);
        }
        let summary = ledger.summary().map_err(|e| damaged(&e))?;
        let (devices, positions) = summary.history.unwrap_or_default();
        let history = History { dataset: Arc::clone(&planned.dataset), devices, positions };
        let summary = LedgerSummary { reserved: 0, ..summary };
        let (mut windows, mut sum) = (Windows::of(planned.plan.table.devices), Self::default());
        while let Some((devices, ranges)) = windows.next(ledger)? {
            let account =
                Account { history: &history, summary, ranges: &ranges, may_come_late: false, keeps_both: false };
            for segment in devices.flat_map(|device| account.segments(device)) {
                let points = segment.indices.end - segment.indices.start;
                match segment.fate {
                    Fate::Acked => sum.acked += points,
                    Fate::Unknown => sum.unknown += points,
                    Fate::Failed => {}
                }
            }
        }
        Ok(Some(sum))
    }
}
