//! Before the load: connect, create, preload.

use super::Session;
use crate::{observer::Event, outcome::Phase, plan::GroupPlan, source::Filler, verdict::Reason};
use iotbench_core::{Batch, Error, Writer};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A server that does not answer by then is not there.
const CONNECT: Duration = Duration::from_secs(5);
const PRELOAD_BATCH: u32 = 1000;
/// Over how many transactions the time of an empty one is averaged.
const EMPTY_TRANSACTIONS: u32 = 50;

impl Session<'_> {
    pub(super) fn prepare(&mut self) -> Result<(), Reason> {
        self.begin_phase(Phase::Create, None)?;
        let database = Arc::clone(&self.database);
        let facts = self.control_plane(CONNECT, database.ping())?;
        self.outcome.acknowledgement = facts.acknowledgement;
        self.outcome.facts = Some(facts);
        self.control_plane(self.deadline(), database.create())?;
        self.created = true;
        self.outcome.storage_bytes_before = self.control_plane(self.deadline(), database.storage_bytes())?;
        self.checkpoint()?;
        if self.planned.plan.phases.preload > 0 {
            self.preload()?;
            self.checkpoint()?;
        }
        if self.planned.plan.groups.iter().flat_map(GroupPlan::operations).any(|o| o.transaction) {
            let database = Arc::clone(&self.database);
            let mut writer = self.control_plane(CONNECT, database.writer())?;
            let mean = self.control_plane(self.deadline(), empty_transaction(&mut *writer))?;
            self.outcome.empty_transaction_ns = Some(mean.as_secs_f64() * 1e9);
        }
        Ok(())
    }

    fn preload(&mut self) -> Result<(), Reason> {
        self.begin_phase(Phase::Preload, None)?;
        let (each, devices) = (self.planned.plan.phases.preload, self.planned.plan.table.devices);
        let total = each * u64::from(devices);
        let database = Arc::clone(&self.database);
        let mut writer = self.control_plane(CONNECT, database.writer())?;
        let mut filler = Filler::new(Arc::clone(&self.planned.dataset), 0);
        let mut batch = Batch::new(self.planned.dataset.schema());
        for device in 0..devices {
            let mut first = 0;
            while first < each && !self.stop.ends() {
                let count = u32::try_from(each - first).unwrap_or(u32::MAX).min(PRELOAD_BATCH);
                batch.clear();
                filler.fill(device, first, count, &mut batch);
                self.control_plane(self.deadline(), writer.write(&batch))?;
                self.outcome.preloaded_points += batch.len() as u64;
                first += u64::from(count);
                self.tell(&Event::Preloaded { points: self.outcome.preloaded_points, total })?;
            }
        }
        Ok(())
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
