//! The rounds before a step of a ramp counts: its own load on its own database, until the rate is steady (SNIA Solid State
//! Storage Performance Test Specification 2.0).

use crate::{
    outcome::Preconditioning,
    ramp::{Quantity, RampPlan, Step},
    run::{
        Session,
        load::{Running, Waited, next_start_ns},
    },
    verdict::Reason,
};
use iotbench_recorder::WINDOW_NS;
use iotbench_statistics::rounds_are_steady;

impl Session<'_> {
    /// Runs the load of a trial in rounds until as many were acknowledged in each of the last five, or there were enough rounds.
    /// What comes after the search has its own length, and begins without.
    pub(super) fn precondition(
        &mut self,
        running: &mut Running,
        step: Step,
        ramp: &RampPlan,
    ) -> Result<Waited, Reason> {
        running.beginning.preconditioning = None;
        let Some(rounds) = self.planned.plan.rounds().filter(|_| step.purpose.is_trial()) else {
            return Ok(Waited::Reached);
        };
        let (mut number, mut from_ns) = self.begin_rounds(running, step, ramp);
        let mut events = Vec::new();
        if self.wait_until(running, from_ns)? == Waited::Over {
            return Ok(Waited::Over);
        }
        self.wait_for_slices(running, number)?;
        while events.len() < rounds.most as usize && !rounds_are_steady(&events) {
            // Its end is fixed while it runs, but not before every loop knows of it.
            let to_ns = (from_ns + rounds.round_ns).max(next_start_ns(running.clock.now_ns()));
            let next = running.control.begin_generation(to_ns);
            if self.wait_until(running, to_ns)? == Waited::Over {
                return Ok(Waited::Over);
            }
            self.wait_for_slices(running, next)?;
            let ok = running.totals.measured(number, from_ns, to_ns).map_or(0, |measured| measured.counts.ok);
            events.push(ok as f64 * rounds.round_ns as f64 / (to_ns - from_ns) as f64);
            running.totals.forget(number);
            (number, from_ns) = (next, to_ns);
        }
        let steady = rounds_are_steady(&events);
        let rounds_run = u32::try_from(events.len()).unwrap_or(u32::MAX);
        running.beginning.preconditioning = Some(Preconditioning { rounds: rounds_run, steady });
        let remark = format!(
            "a trial counts although its rate was not steady when it began: {} rounds of {} each had not brought it there \
             (`preconditioning` of the steps says which)",
            rounds.most,
            rounds.length()
        );
        if !steady && !self.outcome.plan.remarks.contains(&remark) {
            self.outcome.plan.remarks.push(remark);
        }
        Ok(Waited::Reached)
    }

    /// The load of the first round, which begins when all have joined: its generation and its start.
    fn begin_rounds(&self, running: &mut Running, step: Step, ramp: &RampPlan) -> (u32, u64) {
        let now_ns = running.clock.now_ns();
        let joined_ns = now_ns + self.joining_ns(running, step);
        let from_ns = next_start_ns(now_ns).max(joined_ns.div_ceil(WINDOW_NS) * WINDOW_NS);
        match ramp.quantity {
            Quantity::Users => running.control.set_users(step.load),
            Quantity::OperationsPerSecond | Quantity::Devices => running.control.set_load(step.load, from_ns),
        }
        (running.control.begin_generation(from_ns), from_ns)
    }
}
