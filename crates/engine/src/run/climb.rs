//! The steps of a ramp, as the policy wants them.

mod figures;
mod precondition;
mod words;

use super::{
    Session,
    load::{Running, Waited, next_start_ns},
};
use crate::{
    counters::CounterSeries,
    observer::Event,
    outcome::{Capacity, Measured, Phase, StepFigures},
    ramp::{Bounds, MAX_REPEATS, Purpose, Quantity, RampPlan, RampPolicy, Step},
    storage_probe::{MAX_DRIFT_REPEATS, MAX_DRIFT_REPEATS_OF_A_SEARCH},
    verdict::Reason,
};
use figures::Counted;
use iotbench_core::Acknowledgement;
use iotbench_recorder::WINDOW_NS;
use iotbench_sampler::CpuShares;
use std::collections::BTreeMap;
use words::{beyond_remark, criterion};

/// Waiting for the answers of the step before is looked at this often.
const SETTLING_LOOK_NS: u64 = 50_000_000;
/// And whether all loops have handed over.
const SLICES_LOOK_NS: u64 = 1_000_000;

/// So long after the end of a step its last look at the machine is waited for.
const LAST_LOOK_NS: u64 = 300_000_000;

impl Session<'_> {
    pub(super) fn climb(&mut self, running: &mut Running, ramp: &RampPlan) -> Result<(), Reason> {
        self.begin_phase(Phase::Measure, None)?;
        let mut steps = self.options.resumed.clone();
        let made = steps.iter().map(|figures| (figures.step, figures.report()));
        let (mut policy, mut answer) =
            RampPolicy::after(ramp, made).map_err(|e| Reason::Internal(format!("the search does not go on: {e}")))?;
        for figures in &steps {
            self.tell(&Event::Step(figures.step))?;
            self.tell(&Event::StepEnded { figures, measured: None })?;
        }
        let mut passed: BTreeMap<u32, Measured> = BTreeMap::new();
        let mut was_too_much = false;
        let bounds = loop {
            if let Some(bounds) = answer {
                break bounds;
            }
            let step = policy.step();
            self.tell(&Event::Step(step))?;
            if was_too_much && !self.begin_anew(running, ramp)? {
                break policy.bounds();
            }
            let coming = policy.left().0.saturating_sub(1);
            let drift_repeats =
                MAX_DRIFT_REPEATS_OF_A_SEARCH.saturating_sub(steps.iter().map(|s| s.conditions.drifted_before).sum());
            let Some((figures, measured)) = self.undisturbed_step(running, step, ramp, coming, drift_repeats)? else {
                break policy.bounds();
            };
            self.tell(&Event::StepEnded { figures: &figures, measured: Some(&measured) })?;
            if figures.judgement.passed {
                passed.insert(step.load, measured);
            }
            was_too_much = !figures.judgement.passed;
            answer = policy.decide(figures.report()).answer();
            steps.push(figures);
            self.outcome.capacity = Some(self.capacity(policy.bounds(), &steps));
            self.checkpoint()?;
        };
        let answer = steps.iter().rev().find(|step| step.judgement.passed && Some(step.step.load) == bounds.sustained);
        self.outcome.machine.others.share = answer.or(steps.last()).and_then(|step| step.conditions.others);
        self.outcome.measured = bounds.sustained.and_then(|load| passed.remove(&load));
        self.outcome.capacity = Some(self.capacity(bounds, &steps));
        self.go_beyond(running, ramp, bounds, steps)
    }

    /// Soak, overload and what comes after it: they tell of the database, and change nothing of the answer.
    fn go_beyond(
        &mut self,
        running: &mut Running,
        ramp: &RampPlan,
        bounds: Bounds,
        mut steps: Vec<StepFigures>,
    ) -> Result<(), Reason> {
        let Some(sustained) = bounds.sustained else { return Ok(()) };
        let mut is_after_failure = steps.last().is_some_and(|step| !step.judgement.passed);
        for (step, length_ns) in ramp.afterwards.steps(sustained, ramp.most(), ramp.step_ns) {
            if self.is_over(running)? {
                break;
            }
            if step.purpose == Purpose::After {
                running.control.set_users(0);
                running.control.set_load(0, 0);
                if self.wait_until(running, running.clock.now_ns() + ramp.afterwards.rest_ns)? == Waited::Over {
                    break;
                }
            }
            if is_after_failure && !self.begin_anew(running, ramp)? {
                break;
            }
            self.tell(&Event::Step(step))?;
            running.control.set_reading(step.purpose != Purpose::WritesAlone);
            let Some((figures, measured)) = self.step(running, step, ramp, length_ns)? else { break };
            self.tell(&Event::StepEnded { figures: &figures, measured: Some(&measured) })?;
            if step.purpose == Purpose::WritesAlone {
                self.outcome.writes_alone = Some(measured);
            }
            is_after_failure = !figures.judgement.passed;
            self.outcome.plan.remarks.extend(beyond_remark(&figures));
            steps.push(figures);
            self.outcome.capacity = Some(self.capacity(bounds, &steps));
            self.checkpoint()?;
        }
        Ok(())
    }

    fn capacity(&self, bounds: Bounds, steps: &[StepFigures]) -> Capacity {
        let plan = &self.planned.plan;
        let quantity = plan.ramp.as_ref().map_or(Quantity::Users, |ramp| ramp.quantity);
        let mut criterion = criterion(&plan.stop, quantity);
        if self.outcome.target.acknowledgement < Acknowledgement::Applied && self.backend.info().capabilities.stores {
            criterion.push_str(", visible ≥ 99 % of acknowledged");
        }
        Capacity { quantity, bounds, criterion, steps: steps.to_vec() }
    }

    /// What a database that only queues still has to store of a load that was too much would be the next step's. False: the
    /// user ended the run.
    fn begin_anew(&mut self, running: &mut Running, ramp: &RampPlan) -> Result<bool, Reason> {
        if running.visible.is_none() {
            return Ok(true);
        }
        match ramp.quantity {
            Quantity::Users => running.control.set_users(0),
            Quantity::OperationsPerSecond | Quantity::Devices => running.control.set_load(0, 0),
        }
        self.wait_for_backlog(running)
    }

    /// A step of the search, run again where others disturbed it or the storage drifted meanwhile, as often as that may be.
    /// `coming`: so many follow it at the least. `drift_repeats`: so many are left to the search for storage that drifts.
    fn undisturbed_step(
        &mut self,
        running: &mut Running,
        step: Step,
        ramp: &RampPlan,
        coming: u32,
        drift_repeats: u32,
    ) -> Result<Option<(StepFigures, Measured)>, Reason> {
        let most_drifted = drift_repeats.min(MAX_DRIFT_REPEATS);
        let (mut disturbed_before, mut drifted_before) = (0, 0);
        loop {
            let Some((mut figures, measured)) = self.step(running, step, ramp, ramp.step_ns)? else { return Ok(None) };
            figures.conditions.storage_drifted = self.probe_after_step(running, ramp, coming)?;
            (figures.conditions.disturbed_before, figures.conditions.drifted_before) =
                (disturbed_before, drifted_before);
            let is_disturbed = figures.conditions.others.is_some_and(|others| others.is_disturbed());
            if is_disturbed && disturbed_before < MAX_REPEATS {
                disturbed_before += 1;
            } else if says_of_the_limit(&figures)
                && figures.conditions.storage_drifted == Some(true)
                && drifted_before < most_drifted
            {
                drifted_before += 1;
            } else {
                figures.conditions.storage_probes = self.take_probes();
                return Ok(Some((figures, measured)));
            }
            if !figures.judgement.passed && !self.begin_anew(running, ramp)? {
                return Ok(None);
            }
        }
    }

    /// One step: the load changes, the step before is answered, then everything counts. `None`: the user ended the run.
    fn step(
        &mut self,
        running: &mut Running,
        step: Step,
        ramp: &RampPlan,
        length_ns: u64,
    ) -> Result<Option<(StepFigures, Measured)>, Reason> {
        if self.begin_with(running)? == Waited::Over {
            return Ok(None);
        }
        if self.precondition(running, step, ramp)? == Waited::Over {
            return Ok(None);
        }
        let changed_ns = running.clock.now_ns();
        let joined_ns = changed_ns + self.joining_ns(running, step);
        match ramp.quantity {
            // Users stay in place: those of the step before go on.
            Quantity::Users => running.control.set_users(step.load),
            // A queue that an open loop has built up would be the next step's.
            Quantity::OperationsPerSecond | Quantity::Devices => running.control.set_load(0, 0),
        }
        let settling = running.control.begin_generation(changed_ns);
        if !self.wait_for_answers(running, settling, changed_ns)? {
            return Ok(None);
        }
        running.control.take_late();
        let from_ns = next_start_ns(running.clock.now_ns()).max(joined_ns.div_ceil(WINDOW_NS) * WINDOW_NS);
        if ramp.quantity != Quantity::Users {
            // It begins with the counting: what is counted of an interval is the whole of it.
            running.control.set_load(step.load, from_ns);
        }
        let counting = running.control.begin_generation(from_ns);
        if self.wait_until(running, from_ns)? == Waited::Over {
            return Ok(None);
        }
        running.begin_window(from_ns);
        // Its end is fixed while it runs, so that nobody's delay lengthens it; but not before every loop knows of it.
        self.wait_for_slices(running, counting)?;
        let to_ns = end_ns(ramp, from_ns, length_ns, next_start_ns(running.clock.now_ns()));
        let after = running.control.begin_generation(to_ns);
        if self.wait_until(running, to_ns)? == Waited::Over {
            return Ok(None);
        }
        let cpu = running.end_window(to_ns);
        self.wait_for_slices(running, after)?;
        // Who was lost before all had told what they did in it has left a gap in it.
        if self.is_over(running)? && running.control.stops_at_ns() < to_ns {
            return Ok(None);
        }
        let late = running.control.take_late();
        let counting = Counting { step, number: counting, from_ns, to_ns, late, cpu };
        if !self.follow_to_answers(running, &counting, ramp)? {
            return Ok(None);
        }
        let followed_ns = running.clock.now_ns().saturating_sub(to_ns);
        let visibility = self.wait_for_visibility(running, from_ns, to_ns)?;
        self.wait_for_last_look(running, to_ns)?;
        let is_told = running.visible.is_none() || visibility.is_some();
        let (mut measured, mut counted) = self.counted(running, &counting)?;
        (measured.visibility, counted.is_visibility_missing) = (visibility, !is_told);
        measured.resources = running.sampling.sampler.window();
        measured.counters = running.counters.as_mut().and_then(CounterSeries::stretch);
        counted.followed_ns = followed_ns;
        running.totals.forget(settling);
        running.totals.forget(counting.number);
        let mut figures = counted.figures(ramp, &self.planned.plan, &measured);
        figures.conditions.others = running
            .sampling
            .others_between(from_ns, to_ns)
            .filter(|_| self.outcome.machine.others.not_judged.is_none());
        figures.conditions.storage_bytes = running.beginning.storage_bytes;
        figures.conditions.preconditioning = running.beginning.preconditioning;
        Ok(Some((figures, measured)))
    }

    /// How long those take to begin who join for a step.
    fn joining_ns(&self, running: &Running, step: Step) -> u64 {
        if running.control.users() < step.load { self.planned.plan.joining_ns() } else { 0 }
    }

    /// Waits until the machine was looked at when the step ended. The next one begins at a whole second, so that nothing is lost.
    fn wait_for_last_look(&mut self, running: &mut Running, to_ns: u64) -> Result<(), Reason> {
        let last = to_ns.div_ceil(WINDOW_NS).saturating_sub(1);
        while !running.sampling.is_looked_at(last) && running.clock.now_ns() < to_ns + LAST_LOOK_NS {
            if self.wait_until(running, running.clock.now_ns() + SLICES_LOOK_NS)? == Waited::Over {
                break;
            }
        }
        Ok(())
    }

    /// Follows the operations of a step to their answers while its load stays in place, or until they fail it whatever
    /// becomes of the others. False: the load is over.
    fn follow_to_answers(
        &mut self,
        running: &mut Running,
        counting: &Counting,
        ramp: &RampPlan,
    ) -> Result<bool, Reason> {
        let most_ns = counting.to_ns + 2 * self.planned.plan.phases.deadline_ns;
        while running.totals.due(counting.number).unanswered > 0 && running.clock.now_ns() < most_ns {
            let (measured, counted) = self.counted(running, counting)?;
            if counted.fails_already(ramp, &self.planned.plan, &measured) {
                return Ok(true);
            }
            if self.wait_until(running, running.clock.now_ns() + SETTLING_LOOK_NS)? == Waited::Over {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What is known of a step by now.
    fn counted(&self, running: &Running, of: &Counting) -> Result<(Measured, Counted), Reason> {
        let Some(mut measured) = running.totals.measured(of.number, of.from_ns, of.to_ns) else {
            return Err(Reason::Internal("a step left no figures".into()));
        };
        measured.client = running.client.load(of.from_ns, of.to_ns, of.cpu, measured.counts.ok);
        let counted = Counted {
            step: of.step,
            due: running.totals.due(of.number),
            followed_ns: 0,
            waited_ns: running.clock.now_ns().saturating_sub(of.to_ns),
            user_times: [of.number - 1, of.number].map(|number| running.totals.user_time(number)),
            late: of.late,
            is_visibility_missing: false,
            embedded: self.outcome.target.embedded,
            clients: running.loading.clients(of.number),
        };
        Ok((measured, counted))
    }
}

/// A step whose counting has ended.
struct Counting {
    step: Step,
    /// Its generation.
    number: u32,
    from_ns: u64,
    to_ns: u64,
    /// Requests that were not stored in time when a window ended.
    late: u64,
    /// What the client used of the processors meanwhile.
    cpu: Option<CpuShares>,
}

impl Session<'_> {
    /// Waits until everything intended before a generation is answered; false: the load is over.
    pub(super) fn wait_for_answers(
        &mut self,
        running: &mut Running,
        generation: u32,
        from_ns: u64,
    ) -> Result<bool, Reason> {
        let most_ns = from_ns + 2 * self.planned.plan.phases.deadline_ns;
        while !running.control.all_settled(generation) && running.clock.now_ns() < most_ns {
            if self.wait_until(running, running.clock.now_ns() + SETTLING_LOOK_NS)? == Waited::Over {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until every loop has handed over what it recorded before a generation.
    pub(super) fn wait_for_slices(&mut self, running: &mut Running, generation: u32) -> Result<(), Reason> {
        let most_ns = running.clock.now_ns() + 2 * self.planned.plan.phases.deadline_ns;
        while !running.control.all_informed(generation) && running.clock.now_ns() < most_ns {
            // Long enough that slices are taken: loops that wait for room have not informed.
            if self.wait_until(running, running.clock.now_ns() + SLICES_LOOK_NS)? == Waited::Over {
                break;
            }
        }
        self.take_slices(running)
    }
}

/// When a step ends that began at `from_ns`: not before `least_ns`. Intervals are whole.
fn end_ns(ramp: &RampPlan, from_ns: u64, length_ns: u64, least_ns: u64) -> u64 {
    let to_ns = (from_ns + length_ns).max(least_ns);
    match ramp.quantity {
        Quantity::Users | Quantity::OperationsPerSecond => to_ns,
        Quantity::Devices => from_ns + (to_ns - from_ns).div_ceil(ramp.step_ns).max(1) * ramp.step_ns,
    }
}

/// Whether a step has to do with where the limit lies: while the load grows, one that passes only leads to the next.
fn says_of_the_limit(figures: &StepFigures) -> bool {
    !(figures.step.purpose == Purpose::Grow && figures.judgement.passed)
}
