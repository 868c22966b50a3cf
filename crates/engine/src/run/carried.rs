//! What a broker between devices and writers did to a run.

use super::Session;
use crate::{
    verdict::Reason,
    via::{Account, writes},
};
use iotbench_core::{CarrierFacts, Cause};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A broker counts what it has dropped from time to time, by default each ten seconds: so long it is asked again, where it
/// does not explain yet what was lost.
const COUNTS_WITHIN: Duration = Duration::from_secs(11);
const LOOK: Duration = Duration::from_millis(500);

/// A broker before the load.
#[derive(Clone, Debug)]
pub(super) struct Carrying {
    facts: CarrierFacts,
    /// What it had dropped already.
    dropped_before: Option<u64>,
}

impl Session<'_> {
    /// Looks whether the broker is there, before anything is made.
    pub(super) fn find_carrier(&self, within: Duration) -> Result<Option<Carrying>, Reason> {
        let Some(via) = &self.options.via else { return Ok(None) };
        crate::via::can_be_carried(&self.planned)
            .map_err(|error| Reason::Target { cause: Cause::Client, message: error.to_string() })?;
        let facts = self.control_plane(within, via.carrier.ping()).map_err(|reason| match reason {
            Reason::Target { cause: Cause::TimedOut, message } => {
                let message = format!("the broker at {}: {message}", via.carrier.facts().address);
                Reason::Target { cause: Cause::Connect, message }
            }
            other => other,
        })?;
        let dropped_before = self.told_dropped(&facts, Instant::now());
        Ok(Some(Carrying { facts, dropped_before }))
    }

    /// The account of a load that is to be carried.
    pub(super) fn carrying_account(&self) -> Option<Arc<Account>> {
        self.options.via.as_ref()?;
        let plan = &self.planned.plan;
        let (from_ns, groups) = (plan.phases.warmup_ns, plan.groups.iter().filter(|group| writes(group)).count());
        Some(Arc::new(Account::new(from_ns, from_ns.saturating_add(plan.phases.duration_ns), groups)))
    }

    /// Takes over what became of the messages, once all threads have ended.
    pub(super) fn settle_carried(&mut self, account: &Account, reasons: &mut Vec<Reason>) {
        let mut carried = account.finish();
        if let Some(carrying) = self.carrying.clone() {
            // One that is gone has nothing to say.
            let is_there = account.failure().is_none();
            carried.dropped_by_carrier = is_there.then(|| self.dropped_since(&carrying, carried.lost())).flatten();
            carried.facts = Some(carrying.facts);
        }
        let outcome = &mut self.outcome;
        let (lost, of_sensors) = match outcome.measured {
            Some(_) => (carried.measured.lost(), carried.of_sensors_measured.lost()),
            None => (carried.lost(), carried.of_sensors.lost()),
        };
        outcome.load.undelivered += lost;
        // The others were offered when they became due.
        outcome.load.offered += of_sensors;
        outcome.points.undelivered += carried.lost_points();
        let broken = carried.acknowledged_and_lost();
        if let Some(error) = account.failure() {
            reasons.push(Reason::Broker { cause: error.cause, message: error.message });
        } else if broken > 0 && !account.is_cut_short() {
            reasons.push(Reason::LostOnTheWay { acknowledged: broken, published: carried.published });
        }
        outcome.carried = Some(carried);
    }

    /// How many messages the broker dropped in the run, by its own account.
    fn dropped_since(&self, carrying: &Carrying, lost: u64) -> Option<u64> {
        let (before, began) = (carrying.dropped_before?, Instant::now());
        loop {
            // One that is gone, or was started anew, tells nothing of the run.
            let dropped = self.told_dropped(&carrying.facts, began)?.checked_sub(before)?;
            if dropped >= lost || began.elapsed() >= COUNTS_WITHIN || self.stop.ends() {
                return Some(dropped);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// What the broker says that it has dropped since its start. One that has told its version tells this too, but not
    /// always at once, when its machine is busy.
    fn told_dropped(&self, facts: &CarrierFacts, began: Instant) -> Option<u64> {
        let (via, _) = (self.options.via.as_ref()?, facts.version.as_ref()?);
        loop {
            let told = self.runtime.block_on(via.carrier.dropped());
            if told.is_some() || began.elapsed() >= COUNTS_WITHIN || self.stop.ends() {
                return told;
            }
        }
    }
}
