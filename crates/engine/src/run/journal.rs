//! The ledger of a run, written while it goes on.

use super::{Session, load::Running};
use crate::{
    ledger::{Fates, Journal, Ledger, LedgerHead, LedgerStore, MemoryLedger},
    verdict::Reason,
};
use iotbench_core::Batch;
use std::{io, sync::Arc};

impl Session<'_> {
    /// Begins the ledger, where there will be something to be read again.
    pub(super) fn begin_journal(&mut self) -> Result<(), Reason> {
        if !self.backend.info().capabilities.stores {
            return Ok(());
        }
        let store: Arc<dyn LedgerStore> =
            self.options.ledger.clone().unwrap_or_else(|| Arc::new(MemoryLedger::default()));
        let head = LedgerHead {
            plan: self.planned.plan.clone(),
            base: std::path::absolute(&self.planned.base).unwrap_or_else(|_| self.planned.base.clone()),
            endpoints: self.outcome.target.endpoints.clone(),
            kept: self.options.keep,
        };
        let mut journal = Journal::begin(Arc::clone(&store), &head).map_err(|e| not_written(&e))?;
        journal.follow(0).map_err(|e| not_written(&e))?;
        self.journal = Some(journal);
        self.outcome.stored.ledger = Some(Ledger::new(store));
        Ok(())
    }

    /// Datapoints of the history are about to be sent.
    pub(super) fn journal_sends(&mut self, batch: &Batch) -> Result<(), Reason> {
        self.with_journal(|journal| journal.sends(batch.runs()))
    }

    /// The history is whole.
    pub(super) fn journal_history(&mut self) -> Result<(), Reason> {
        let (devices, positions) = (self.planned.plan.phases.preload_devices, self.planned.plan.phases.preload);
        self.with_journal(|journal| journal.history(devices, positions))
    }

    /// Takes what became of datapoints.
    pub(super) fn note_fates(&mut self, fates: &mut Fates) -> Result<(), Reason> {
        self.with_journal(|journal| journal.note(fates))
    }

    /// Tells ahead how far datapoints are sent.
    pub(super) fn follow_sent(&mut self, running: &Running) -> Result<(), Reason> {
        let Some(reached) = running.reached.as_ref().map(|reached| reached.get()) else { return Ok(()) };
        self.with_journal(|journal| journal.follow(reached))
    }

    /// A second is over.
    pub(super) fn flush_journal(&mut self) -> Result<(), Reason> {
        self.with_journal(Journal::flush)
    }

    /// What was written is about to be dropped on purpose.
    pub(super) fn journal_dropping(&mut self) -> Result<(), Reason> {
        self.with_journal(Journal::dropping)
    }

    /// It is dropped.
    pub(super) fn journal_dropped(&mut self) -> Result<(), Reason> {
        self.with_journal(Journal::dropped)
    }

    /// Every datapoint is accounted for, unless an agent was lost: then whatever was reserved may be stored, as after a kill.
    pub(super) fn end_journal(&mut self) -> Result<(), Reason> {
        if self.outcome.lost_an_agent() {
            return self.flush_journal();
        }
        self.with_journal(Journal::end)
    }

    fn with_journal(&mut self, write: impl FnOnce(&mut Journal) -> io::Result<()>) -> Result<(), Reason> {
        self.journal.as_mut().map_or(Ok(()), |journal| write(journal).map_err(|e| not_written(&e)))
    }
}

fn not_written(error: &io::Error) -> Reason {
    Reason::LocalIo(format!("cannot write the ledger: {error}"))
}
