//! Before the load: connect, create, preload.

use super::Session;
use crate::{descriptors::reserve_descriptors, observer::Event, outcome::Phase, source::Filler, verdict::Reason};
use iotbench_core::{Batch, Cause};
use std::{sync::Arc, time::Duration};

/// A server that does not answer by then is not there.
const CONNECT: Duration = Duration::from_secs(5);
const PRELOAD_BATCH: u32 = 1000;

impl Session<'_> {
    pub(super) fn prepare(&mut self) -> Result<(), Reason> {
        self.begin_phase(Phase::Create, None)?;
        reserve_descriptors(&self.planned.plan, self.backend.capabilities())
            .map_err(|e| Reason::Target { cause: Cause::Client, message: e.to_string() })?;
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
