//! The table is made. With a table of devices that takes long: how far it is, is told, and who ends the run ends it too.

use super::Session;
use crate::{caught::caught, change::changed, hoard::seen, observer::Event, verdict::Reason};
use iotbench_core::{Cause, Error};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// How often is looked how far it is, and whether it is still wanted.
const LOOK: Duration = Duration::from_millis(200);

impl Session<'_> {
    /// Makes the table anew, which drops what an earlier run left, however much that is. False: the run is to end; what was
    /// made so far is gone.
    pub(super) fn create(&mut self) -> Result<bool, Reason> {
        let database = Arc::clone(&self.database);
        let (within, began) = (self.patience(), Instant::now());
        let mut call = Box::pin(caught(changed(&*database, database.create())));
        loop {
            let look = seen(self.hoard.as_ref(), async { tokio::time::timeout(LOOK, &mut call).await });
            if let Ok(made) = self.runtime.block_on(look) {
                made.map_err(|error| self.failed(error))?;
                self.created = true;
                return Ok(true);
            }
            if began.elapsed() >= within {
                let message = format!("no answer within {} s", within.as_secs_f64());
                return Err(Reason::Target { cause: Cause::TimedOut, message });
            }
            if self.stop.ends() {
                break;
            }
            let total = self.planned.plan.table.devices;
            if let Some(devices) = database.devices_made() {
                self.tell(&Event::DevicesMade { devices, total })?;
            }
        }
        drop(call);
        self.created = false;
        if self.stop.death().is_none() {
            self.control_plane(within, changed(&*database, database.drop_created()))?;
        }
        Ok(false)
    }

    /// What is said of a call that failed, or of the connection that was ended for what the server sent.
    pub(super) fn failed(&self, Error { cause, message, .. }: Error) -> Reason {
        self.hoarding().unwrap_or(Reason::Target { cause, message })
    }
}
