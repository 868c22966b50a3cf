//! The load itself: warm-up and a measured part, or the steps of a ramp.

use super::{
    Session,
    altering::Altering,
    client_watch::ClientWatch,
    scenario_actions::{ScenarioActions, Successor},
    telling::Telling,
    visible::VisibleSeries,
};
use crate::{
    clock::RunClock,
    control::Control,
    counters::CounterSeries,
    ledger::Reached,
    loading::Loading,
    observer::{CountersSecond, Event, Second},
    outcome::{Phase, Preconditioning},
    remote_sampling::RemoteSampling,
    slice::Slice,
    totals::Totals,
    verdict::Reason,
    verify::{Probe, Verifier},
    via::Account,
};
use iotbench_recorder::WINDOW_NS;
use iotbench_sampler::{CpuShares, OthersSecond, OthersShare, OthersWatch, Reading, Sampler};
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

/// How often the control thread looks at signals, deadlines and the clock.
const LOOK: Duration = Duration::from_millis(20);
/// A second is told this long after its end, so that every thread has handed it over.
const GRACE_NS: u64 = 150_000_000;
/// The same where the load is made elsewhere: it comes with the network.
const GRACE_ELSEWHERE_NS: u64 = 500_000_000;
/// An error that ends the run, or the server's death, is mostly the answer to whatever else is under way.
const AFTER_AN_ERROR_NS: u64 = 5_000_000_000;
/// A generation is announced at least this long before it begins.
const ANNOUNCE_NS: u64 = 200_000_000;

/// The load under way.
pub(super) struct Running {
    pub(super) clock: RunClock,
    pub(super) control: Arc<Control>,
    pub(super) totals: Totals,
    pub(super) visible: Option<VisibleSeries>,
    pub(super) counters: Option<CounterSeries>,
    pub(super) slices: Receiver<Slice>,
    pub(super) reached: Option<Arc<Reached>>,
    pub(super) loading: Box<dyn Loading>,
    pub(super) acting: Option<ScenarioActions>,
    pub(super) verifier: Option<Verifier>,
    pub(super) probe: Option<Probe>,
    pub(super) client: ClientWatch,
    pub(super) sampling: Sampling,
    pub(super) telling: Telling,
    /// What becomes of messages, where a broker carries them.
    pub(super) account: Option<Arc<Account>>,
    /// The table is being altered for signals that are added.
    pub(super) altering: Option<Altering>,
    pub(super) ending: Ending,
    pub(super) beginning: StepBeginning,
}

/// What is sampled beside the load.
pub(super) struct Sampling {
    pub(super) sampler: Sampler,
    pub(super) elsewhere: Option<Box<dyn RemoteSampling>>,
    /// The last look, as its seconds are told.
    pub(super) readings: Arc<Mutex<Vec<Reading>>>,
    pub(super) others: Arc<Mutex<OthersWatch>>,
}

/// How the load ends, where not all is sent.
#[derive(Default)]
pub(super) struct Ending {
    /// Whether the run's deadline ended the load.
    pub(super) overran: bool,
    /// What is free where the database lies, once it is too little to go on.
    pub(super) free_bytes_at_end: Option<u64>,
    /// Until when answers are waited for.
    pub(super) drain_until_ns: Option<u64>,
}

/// What the present step of a ramp began with.
#[derive(Default)]
pub(super) struct StepBeginning {
    /// Bytes on disk before it; `None`: not known.
    pub(super) storage_bytes: Option<u64>,
    /// The rounds before it, if it had any.
    pub(super) preconditioning: Option<Preconditioning>,
}

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// The time has come.
    Reached,
    /// The load is over before it.
    Over,
}

impl Session<'_> {
    pub(super) fn load(&mut self, reasons: &mut Vec<Reason>) -> Result<(), Reason> {
        if self.stop.ends() {
            return Ok(());
        }
        let mut running = self.start()?;
        let told = self.tell(&Event::Started { epoch: running.clock.epoch() });
        let done = told.and_then(|()| match self.planned.plan.ramp.clone() {
            Some(ramp) => self.climb(&mut running, &ramp),
            None => self.measure(&mut running),
        });
        // Also after an error: the threads end, and what they recorded is kept.
        let drained = self.drain(&mut running);
        let summary = self.settle_accounts(running, reasons);
        let ended = self.end_journal();
        done.and(drained).and(summary).and(ended)
    }

    /// A fixed load: warm up, then measure.
    fn measure(&mut self, running: &mut Running) -> Result<(), Reason> {
        let phases = self.planned.plan.phases;
        let (from_ns, planned_end_ns) = (phases.warmup_ns, phases.warmup_ns.saturating_add(phases.duration_ns));
        // Beginning and end are set at once: an observer that takes its time must not move them.
        running.control.stop_at(planned_end_ns);
        let mut generation = 0;
        if phases.warmup_ns > 0 {
            self.begin_phase(Phase::WarmUp, Some(phases.warmup_ns))?;
            generation = running.control.begin_generation(phases.warmup_ns);
            if self.wait_until(running, phases.warmup_ns)? == Waited::Over {
                return Ok(());
            }
            running.telling.begin(Phase::Measure, phases.warmup_ns);
        }
        running.begin_window(from_ns);
        self.begin_phase(Phase::Measure, Some(phases.duration_ns))?;
        let waited = self.wait_until(running, planned_end_ns)?;
        let mut to_ns =
            if waited == Waited::Over { running.clock.now_ns().min(planned_end_ns) } else { planned_end_ns };
        running.control.stop_at(to_ns);
        let cpu = running.end_window(to_ns);
        self.drain(running)?;
        if self.write_back_after() {
            running.sampling.sampler.written_back();
        }
        if running.control.is_spent() {
            // The last answer is the end, not when somebody noticed it.
            to_ns = running.control.ended_ns().clamp(from_ns, to_ns);
        } else if waited == Waited::Over && !self.has_ended_by_itself(running) {
            to_ns = counted_until_ns(from_ns, to_ns, running.clock.now_ns());
        }
        self.outcome.measured = running.totals.measured(generation, from_ns, to_ns.max(from_ns + 1));
        if let Some(measured) = &mut self.outcome.measured {
            measured.client = running.client.load(from_ns, to_ns, cpu, measured.counts.ok);
        }
        self.measured_visibility(running, from_ns, to_ns);
        self.outcome.machine.others.share = running.sampling.others_between(from_ns, to_ns);
        Ok(())
    }

    /// Ends the load and waits for answers, at most as long as the plan allows.
    pub(super) fn drain(&mut self, running: &mut Running) -> Result<(), Reason> {
        if running.telling.phase() == Some(Phase::Drain) {
            return Ok(());
        }
        let now_ns = running.clock.now_ns();
        running.telling.begin(Phase::Drain, now_ns.min(running.control.stops_at_ns()));
        let is_failed = running.control.failure().is_some() || self.stop.death().is_some();
        // What a fixed load has begun is followed to its answers; steps have been.
        if is_failed || running.ending.overran || self.stop.ends() || self.planned.plan.ramp.is_some() {
            running.control.leave_queue();
        }
        running.control.stop_at(now_ns);
        let most_ns = if is_failed { AFTER_AN_ERROR_NS } else { u64::MAX };
        let patience_ns = self.planned.plan.phases.drain_ns.min(most_ns);
        running.ending.drain_until_ns = Some(now_ns.saturating_add(patience_ns));
        let told = self.begin_phase(Phase::Drain, Some(patience_ns));
        while !running.loading.are_finished() {
            if running.clock.now_ns() >= running.ending.drain_until_ns.unwrap_or(0) {
                running.control.abandon();
            }
            // A failing observer must not keep the threads from ending.
            let _ = self.look(running);
        }
        self.take_slices(running)?;
        let last = running.clock.now_ns() / WINDOW_NS;
        self.tell_seconds(running, last + 1)?;
        told
    }

    /// Waits for a time since the start, telling every second meanwhile.
    pub(super) fn wait_until(&mut self, running: &mut Running, ns: u64) -> Result<Waited, Reason> {
        loop {
            if self.is_over(running)? {
                return Ok(Waited::Over);
            }
            if running.clock.now_ns() >= ns {
                return Ok(Waited::Reached);
            }
            self.look(running)?;
        }
    }

    /// Whether the load had nothing more to send, and nobody ended it.
    fn has_ended_by_itself(&self, running: &Running) -> bool {
        !(running.ending.overran || running.ending.free_bytes_at_end.is_some() || self.stop.ends())
    }

    pub(super) fn is_over(&self, running: &mut Running) -> Result<bool, Reason> {
        if let Some((cause, message)) = running.control.failure() {
            return Err(Reason::Target { cause, message });
        }
        if let Some(hoarding) = self.hoarding() {
            // What is under way would be answered by nobody, or go on.
            running.control.abandon();
            return Err(hoarding);
        }
        if let Some(lost) = self.lost() {
            return Err(lost);
        }
        let deadline_ns = self.planned.plan.phases.run_deadline_ns.unwrap_or(u64::MAX);
        running.ending.overran |= running.clock.now_ns() >= deadline_ns;
        let is_cut_off = running.account.as_ref().is_some_and(|account| account.has_failed());
        Ok(running.ending.overran
            || running.ending.free_bytes_at_end.is_some()
            || is_cut_off
            || self.stop.ends()
            || running.loading.are_finished())
    }

    /// One look at the threads: takes a slice if there is one, tells the seconds that are complete, keeps the deadline.
    fn look(&mut self, running: &mut Running) -> Result<(), Reason> {
        match running.slices.recv_timeout(LOOK) {
            Ok(slice) => self.take(running, slice)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(LOOK),
        }
        for mark in running.acting.as_mut().map(ScenarioActions::take_begun).unwrap_or_default() {
            self.tell(&Event::Acting(&mark))?;
        }
        for Successor { role, node, pid } in
            running.acting.as_mut().map(ScenarioActions::take_successors).unwrap_or_default()
        {
            running.sampling.sampler.follow(&role, node, pid);
        }
        running.client.follow();
        running.counters.iter_mut().for_each(CounterSeries::follow);
        self.follow_sent(running)?;
        self.follow_schema_change(running)?;
        let now_ns = running.clock.now_ns();
        let deadline_ns = self.planned.plan.phases.deadline_ns;
        running.control.interrupt_older_than(now_ns.saturating_sub(deadline_ns));
        let grace_ns = if self.options.loaders.is_some() { GRACE_ELSEWHERE_NS } else { GRACE_NS };
        let before_ns = running.telling.before_ns(now_ns, grace_ns);
        self.tell_seconds(running, before_ns / WINDOW_NS)
    }

    /// Takes every slice that has come.
    pub(super) fn take_slices(&mut self, running: &mut Running) -> Result<(), Reason> {
        while let Ok(slice) = running.slices.try_recv() {
            self.take(running, slice)?;
        }
        Ok(())
    }

    fn take(&mut self, running: &mut Running, mut slice: Slice) -> Result<(), Reason> {
        self.note_fates(&mut slice.fates)?;
        if !slice.operations.is_empty() {
            running.control.free_trace_places(slice.operations.len());
            self.tell(&Event::Operations(&slice.operations))?;
        }
        running.totals.add(slice);
        Ok(())
    }

    fn tell_seconds(&mut self, running: &mut Running, before: u64) -> Result<(), Reason> {
        let seconds = running.totals.take_seconds(before);
        if !seconds.is_empty() {
            self.flush_journal()?;
            self.look_at_room(running);
        }
        for window in seconds {
            let readings = running.sampling.readings.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let users = running.control.users();
            if let Some(visible) = &mut running.visible {
                visible.course.push(window.counts().points.acked);
                // It has a place for each second.
                (1..window.seconds()).for_each(|_| visible.course.push(0));
            }
            let others = running.sampling.others_in(window.first_second());
            let phase = running.telling.phase_at(window.first_second() * WINDOW_NS);
            let until = window.first_second() + window.seconds();
            let growth = running.counters.as_mut().map(|series| series.growth_until(until)).unwrap_or_default();
            let read = running.counters.as_ref().map(CounterSeries::counters).unwrap_or_default();
            let counters = CountersSecond { read, growth: &growth };
            let second = Second { window: &window, phase, users, readings: &readings, others, counters };
            self.tell(&Event::Second(second))?;
        }
        Ok(())
    }
}

/// The end of what was counted of a load that was ended at `to_ns`, and whose last answers came at `now_ns` at the latest. The loops
/// count by whole seconds and hear of the end after it: the second in which it lies holds answers that came later.
fn counted_until_ns(from_ns: u64, to_ns: u64, now_ns: u64) -> u64 {
    let whole_ns = to_ns / WINDOW_NS * WINDOW_NS;
    if whole_ns > from_ns { whole_ns } else { now_ns.min(whole_ns + WINDOW_NS).max(to_ns) }
}

/// Announced so long ahead, a whole second is where a generation begins.
pub(super) fn next_start_ns(now_ns: u64) -> u64 {
    (now_ns + ANNOUNCE_NS).div_ceil(WINDOW_NS) * WINDOW_NS
}

impl Running {
    /// A stretch begins whose figures are asked for later.
    pub(super) fn begin_window(&mut self, from_ns: u64) {
        self.sampling.sampler.begin_window(Duration::from_nanos(from_ns));
        self.counters.iter_mut().for_each(|series| series.begin(from_ns));
        self.client.begin();
    }

    /// It ends; what was used of the processors in it.
    pub(super) fn end_window(&mut self, to_ns: u64) -> Option<CpuShares> {
        self.sampling.sampler.end_window(Duration::from_nanos(to_ns));
        self.counters.iter_mut().for_each(|series| series.end(to_ns));
        self.client.cpu()
    }
}

impl Sampling {
    /// What others had of the machine in a second.
    fn others_in(&self, second: u64) -> Option<OthersSecond> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner).second(second)
    }

    /// Whether it is known what others had of the machine in a second.
    pub(super) fn is_looked_at(&self, second: u64) -> bool {
        self.others_in(second).is_some()
    }

    /// What others had of the machine over a stretch.
    pub(super) fn others_between(&self, from_ns: u64, to_ns: u64) -> Option<OthersShare> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner).between(from_ns, to_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::counted_until_ns;

    #[test]
    fn what_was_ended_within_a_second_is_counted_to_the_last_whole_one_or_to_its_last_answer() {
        const S: u64 = 1_000_000_000;
        assert_eq!(counted_until_ns(0, 6 * S + S / 2, 7 * S), 6 * S);
        assert_eq!(counted_until_ns(2 * S, 6 * S, 7 * S), 6 * S);
        assert_eq!(counted_until_ns(6 * S, 6 * S + S / 4, 6 * S + S / 2), 6 * S + S / 2, "no whole second");
        assert_eq!(counted_until_ns(6 * S, 6 * S + S / 4, 9 * S), 7 * S, "what came after it counts in another second");
    }
}
