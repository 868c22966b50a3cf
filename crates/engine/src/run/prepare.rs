//! Before the load: connect, create, or take over what an earlier run left.

use super::Session;
use crate::{contact::contacted, descriptors::reserve_descriptors, outcome::Phase, plan::GroupPlan, verdict::Reason};
use iotbench_core::{Cause, Error, Writer};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A server that does not answer by then is not there.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// Over how many transactions the time of an empty one is averaged.
const EMPTY_TRANSACTIONS: u32 = 50;

impl Session<'_> {
    /// False: the run is to end, and there is no table.
    pub(super) fn prepare(&mut self) -> Result<bool, Reason> {
        self.begin_phase(Phase::Create, None)?;
        reserve_descriptors(&self.planned.plan, &self.backend.info().capabilities)
            .map_err(|e| Reason::Target { cause: Cause::Client, message: e.to_string() })?;
        self.carrying = self.find_carrier(CONNECT)?;
        let database = Arc::clone(&self.database);
        let facts = contacted(CONNECT, async move { database.ping().await });
        let facts = facts.map_err(|Error { cause, message, .. }| Reason::Target { cause, message })?;
        self.outcome.target.acknowledgement = facts.acknowledgement;
        self.outcome.target.facts = Some(facts);
        self.begin_journal()?;
        self.keep_lease()?;
        let is_there = self.take_over_history()?;
        if is_there {
            self.journal_history()?;
        }
        if !is_there {
            self.begin_history()?;
            if !self.create()? {
                return Ok(false);
            }
        }
        let database = Arc::clone(&self.database);
        self.outcome.machine.storage_bytes_before = self.control_plane(self.deadline(), database.storage_bytes())?;
        // Who hands a history on lets go of its table with it.
        drop(database);
        self.checkpoint()?;
        if !is_there && self.planned.plan.phases.preload > 0 {
            self.preload()?;
            self.hand_history_on()?;
            self.checkpoint()?;
        }
        let plan = &self.planned.plan;
        if plan.sweep.is_some() && plan.groups.iter().flat_map(GroupPlan::operations).any(|o| o.transaction) {
            let database = Arc::clone(&self.database);
            let mut writer = self.control_plane(CONNECT, database.writer())?;
            let mean = self.control_plane(self.deadline(), empty_transaction(&mut *writer))?;
            self.outcome.empty_transaction_ns = Some(mean.as_secs_f64() * 1e9);
        }
        Ok(true)
    }
}

/// The mean time of a transaction without a request. The first one is not counted: it may prepare what the others use.
async fn empty_transaction(writer: &mut dyn Writer) -> Result<Duration, Error> {
    let mut began = Instant::now();
    for number in 0..=EMPTY_TRANSACTIONS {
        writer.begin().await?;
        writer.commit().await?;
        if number == 0 {
            began = Instant::now();
        }
    }
    Ok(began.elapsed() / EMPTY_TRANSACTIONS)
}
