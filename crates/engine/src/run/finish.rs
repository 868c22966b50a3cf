//! After the load: count what is stored, judge, drop.

use super::{Session, state::sum};
use crate::{
    audit::SentOnce,
    change::changed,
    observer::Event,
    outcome::{Capacity, Outcome, Phase, Replaced},
    own_delay::Delayed,
    plan::Load,
    scenario::Scenario,
    trial::{SecondOfQueue, overload},
    verdict::Reason,
    visibility::{Settling, SettlingCounts},
};
use iotbench_core::{Acknowledgement, Cause, Counts, PromiseLevel, Settled};
use std::{sync::Arc, time::Duration, time::Instant};

/// How often a database that has not settled is looked at again.
const SETTLE_LOOK: Duration = Duration::from_millis(200);
/// So often datapoints and values are counted again that do not fit together: they are not counted at one instant, and a write
/// that had no answer may land between the two.
const MAX_RECOUNTS: u32 = 25;

impl Session<'_> {
    /// Counts what is stored and holds it against what was acknowledged. `None`: it is not known, or users' statements have changed it.
    pub(super) fn verify(&mut self, reasons: &mut Vec<Reason>) -> Option<Counts> {
        let stored = self.count_stored().unwrap_or_else(|reason| {
            reasons.push(reason);
            None
        })?;
        reasons.extend(self.judge_stored(stored, self.outcome.points).err());
        Some(stored)
    }

    fn count_stored(&mut self) -> Result<Option<Counts>, Reason> {
        if !self.backend.info().capabilities.stores {
            return Ok(None);
        }
        self.begin_phase(Phase::Verify, None)?;
        let database = Arc::clone(&self.database);
        if self.planned.plan.changes() {
            // A number that cannot be held against anything would only look like a proof.
            self.settle()?;
            self.outcome.machine.storage_bytes_after = self.control_plane(self.patience(), database.storage_bytes())?;
            self.checkpoint()?;
            return Ok(None);
        }
        let emptied = self.outcome.stored.emptied;
        self.outcome.stored.replaced = self.replaced()?;
        self.await_return()?;
        let acked = self.outcome.points.acked.saturating_sub(emptied.acked + self.outcome.stored.replaced.acked);
        let Some(stored) = self.settled_count(self.outcome.preloaded_points + acked)? else { return Ok(None) };
        let patience = Duration::from_nanos(self.planned.plan.phases.settle_ns);
        self.outcome.stored.counts = Some(sum(emptied.stored, stored));
        self.outcome.machine.storage_bytes_after = self.control_plane(patience, database.storage_bytes())?;
        self.checkpoint()?;
        Ok(Some(stored))
    }

    /// Waits until a server that the scenario has started again answers, at most as long as it may take to settle.
    fn await_return(&self) -> Result<(), Reason> {
        if !self.outcome.scenario.as_ref().is_some_and(Scenario::starts_again) {
            return Ok(());
        }
        let database = Arc::clone(&self.database);
        let patience = Duration::from_nanos(self.planned.plan.phases.settle_ns);
        let began = Instant::now();
        loop {
            let answer = self.control_plane(patience, database.ping());
            let is_away = matches!(answer, Err(Reason::Target { cause: Cause::Connect, .. }));
            let is_left = self.stop.requested().is_some() || self.stop.death().is_some();
            if !is_away || is_left || began.elapsed() >= patience {
                return answer.map(drop);
            }
            std::thread::sleep(SETTLE_LOOK);
        }
    }

    /// What was sent twice and is stored once.
    fn replaced(&mut self) -> Result<Replaced, Reason> {
        self.flush_journal()?;
        let points = self.outcome.points;
        let Some(ledger) = self.outcome.stored.ledger.as_ref().filter(|_| points.sent_again > 0) else {
            return Ok(Replaced::default());
        };
        let once = SentOnce::of(&self.planned, ledger, self.backend).map_err(|e| Reason::NotReadBack(e.message))?;
        let Some(SentOnce { acked, unknown }) = once else { return Ok(Replaced::default()) };
        let sends = self.outcome.preloaded_points + points.acked;
        let replaced = |sends: u64, once: u64| sends.saturating_sub(once);
        Ok(Replaced { acked: replaced(sends, acked), sent: replaced(sends + points.unknown, acked + unknown) })
    }

    /// Whether acknowledged datapoints may be missing.
    pub(super) fn may_be_lost(&self) -> bool {
        self.outcome.target.facts.as_ref().is_some_and(|facts| {
            // What a promise does not cover may go with a process that was killed.
            facts.may_lose_acknowledged() || (self.was_killed() && facts.promise.level == PromiseLevel::Buffered)
        })
    }

    /// Whether a process was killed on purpose.
    fn was_killed(&self) -> bool {
        let marks = self.outcome.scenario.iter().flat_map(|scenario| &scenario.marks);
        marks.into_iter().any(|mark| mark.action.action.kills())
    }

    /// Waits until all is stored, so many datapoints, and counts it. `None`: the user does not wait for it; what has not settled cannot be
    /// counted.
    pub(super) fn settled_count(&mut self, awaited: u64) -> Result<Option<Counts>, Reason> {
        let database = Arc::clone(&self.database);
        let patience = Duration::from_nanos(self.planned.plan.phases.settle_ns);
        let began = Instant::now();
        let is_queued = self.outcome.target.acknowledgement < Acknowledgement::Applied;
        let mut counts = SettlingCounts::default();
        loop {
            let is_late = began.elapsed() >= patience;
            let looked = Instant::now();
            let settled = self.control_plane(patience, database.settle())?;
            if settled != Settled::NotYet || is_late {
                let stored = self.whole_count(patience)?;
                let may_come = settled == Settled::CannotTell && is_queued && !is_late;
                if !may_come || counts.note(stored.points, awaited, began.elapsed()) != Settling::Going {
                    return Ok(Some(stored));
                }
                self.tell(&Event::Settling { points: stored.points, awaited })?;
            }
            if self.stop.requested().is_some() {
                return Ok(None);
            }
            // Looking must not keep the database from what it does.
            std::thread::sleep(SETTLE_LOOK.max(looked.elapsed()));
        }
    }

    /// What is stored, as soon as each datapoint is counted with all its values; or as it was after the last count.
    fn whole_count(&self, patience: Duration) -> Result<Counts, Reason> {
        let mut recounts = 0;
        loop {
            let database = Arc::clone(&self.database);
            let stored = self.control_plane(patience, database.count())?;
            let has_all = self.values_of(stored.points, self.outcome.points).contains(&stored.values);
            if has_all || recounts == MAX_RECOUNTS || self.stop.requested().is_some() {
                return Ok(stored);
            }
            recounts += 1;
            std::thread::sleep(SETTLE_LOOK);
        }
    }

    /// Waits until the database has come to rest, at most as long as the plan allows; false: the user does not wait.
    pub(super) fn settle(&self) -> Result<bool, Reason> {
        let database = Arc::clone(&self.database);
        let patience = Duration::from_nanos(self.planned.plan.phases.settle_ns);
        let end = Instant::now() + patience;
        while self.control_plane(patience, database.settle())? == Settled::NotYet && Instant::now() < end {
            if self.stop.requested().is_some() {
                return Ok(false);
            }
            std::thread::sleep(SETTLE_LOOK);
        }
        Ok(true)
    }

    /// Drops what was created. A database that has failed the run is not waited for longer than for an operation.
    pub(super) fn drop_created(&mut self, answers: bool) -> Result<(), Reason> {
        self.begin_phase(Phase::Drop, None)?;
        let database = Arc::clone(&self.database);
        let within = if answers { self.patience() } else { self.deadline() };
        self.control_plane(within, changed(&*database, database.drop_created())).map_err(|reason| match reason {
            Reason::Target { cause, message } => {
                Reason::Target { cause, message: format!("what the run created is not dropped: {message}") }
            }
            other => other,
        })
    }
}

/// What spoils the figures of a load.
pub(super) fn judge_measurement(outcome: &Outcome, reasons: &mut Vec<Reason>) {
    for (what, broken) in [("operations", outcome.load.check().err()), ("datapoints", outcome.points.check().err())] {
        for error in broken.into_iter().flatten() {
            reasons.push(Reason::NotConserved(format!("{what}: {error}")));
        }
    }
    if let Some(answers) = outcome.reading.answers.as_ref().filter(|answers| answers.wrong + answers.cycles_wrong > 0) {
        let first = answers.examples.first().cloned().unwrap_or_default();
        reasons.push(Reason::WrongAnswers {
            wrong: answers.wrong + answers.cycles_wrong,
            checked: answers.compared(),
            first,
        });
    }
    if outcome.client.samples_dropped > 0 {
        reasons.push(Reason::SamplesDropped(outcome.client.samples_dropped));
    }
    // Before what it may come to.
    reasons.extend(overloaded(outcome));
    match (&outcome.capacity, &outcome.measured) {
        (Some(capacity), _) if capacity.bounds.sustained.is_none() && !capacity.steps.is_empty() => {
            reasons.push(no_sustained_load(capacity));
        }
        (None, Some(measured)) if measured.recording.load().ok == 0 => reasons.push(Reason::NothingMeasured),
        _ => {}
    }
    let nothing_left = delayed(outcome).filter(|delayed| is_spoilt(outcome, delayed));
    reasons.extend(
        nothing_left.map(|delayed| Reason::ClientLimited(format!("no quantile is left to judge by: {delayed}"))),
    );
    let [spoiling, _] = limitations(outcome);
    reasons.extend(spoiling.into_iter().map(Reason::ClientLimited));
}

/// What the client did to the figures of a load that does not spoil them.
pub(super) fn remarks_of_client(outcome: &Outcome) -> Vec<String> {
    let [_, told] = limitations(outcome);
    let of_client = told.into_iter().map(|limitation| {
        format!("the client may be in the figures: {limitation}. How far, the ranges of the response times tell")
    });
    let delayed = delayed(outcome).filter(|delayed| !is_spoilt(outcome, delayed));
    of_client.chain(delayed.map(|delayed| delayed.to_string())).collect()
}

/// Of a database that shares the process, what delays the client is its doing as well.
fn is_spoilt(outcome: &Outcome, delayed: &Delayed) -> bool {
    delayed.is_nothing_left && !outcome.target.embedded
}

/// Not even the least load that was tried: the database's fault, or the client's.
fn no_sustained_load(capacity: &Capacity) -> Reason {
    let least = capacity.steps.iter().rev().filter(|step| !step.judgement.passed).min_by_key(|step| step.step.load);
    match least.and_then(|step| step.judgement.failure.clone()).filter(|_| capacity.bounds.client_limited) {
        Some(why) => Reason::ClientLimited(format!("of the least load that was tried, {why}")),
        None => Reason::NoSustainedLoad,
    }
}

/// How the client was the limit of a fixed load: what spoils it, and what does not. In a search that is told of each trial, and
/// of what failed only.
fn limitations(outcome: &Outcome) -> [Vec<String>; 2] {
    // A sensor and a session wait for their own answers, and a broker makes all wait: there a delay goes on that no own delay counts.
    let is_open = |load: &Load| matches!(load, Load::Open { .. } | Load::Interval { .. });
    let has_schedule = outcome.carried.is_none() && outcome.plan.groups.iter().all(|group| is_open(&group.load));
    let mut found = [vec![], vec![]];
    // Where agents make the load, each is judged by itself.
    let here = outcome.plan.ramp.is_none() && outcome.agents.is_empty();
    if let Some(measured) = outcome.measured.as_ref().filter(|_| here) {
        let pooled = measured.recording.pooled();
        let judged =
            measured.client.judged(pooled.by_operation().ok().undelayed(), outcome.target.embedded, has_schedule);
        found = judged.map(|limitations| limitations.iter().map(ToString::to_string).collect());
    }
    for agent in &outcome.agents {
        if let Some(client) = &agent.client {
            let judged = client.judged(agent.response.known(), false, has_schedule);
            for (all, limitations) in found.iter_mut().zip(judged) {
                all.extend(limitations.iter().map(|limitation| format!("agent {}: {limitation}", agent.name)));
            }
        }
    }
    found
}

/// An open loop of a fixed load that was offered more than was carried. While a server is killed on purpose, it is.
fn overloaded(outcome: &Outcome) -> Option<Reason> {
    let is_any = |is: fn(&Load) -> bool| outcome.plan.groups.iter().any(|group| is(&group.load));
    // Where nothing is answered at all, it is no overload that is to be told.
    let measured = outcome.measured.as_ref().filter(|measured| measured.counts.ok > 0)?;
    if outcome.plan.ramp.is_some() || outcome.scenario.is_some() {
        return None;
    }
    let of_operations = |seconds: &[SecondOfQueue]| overload::of_operations(&outcome.load, seconds);
    let in_seconds = || measured.seconds.iter().map(SecondOfQueue::from).collect::<Vec<_>>();
    let has_sensors = is_any(|load| matches!(load, Load::Paced { .. }));
    let is_open = |load: &Load| matches!(load, Load::Open { .. } | Load::PartlyOpen { .. });
    let mut shapes = outcome.plan.groups.iter().filter(|group| is_open(&group.load)).map(|group| &group.shape);
    let found = if let Some(shape) = shapes.find(|shape| !shape.is_constant()) {
        let seconds = in_seconds();
        let until = |period_ns| overload::until_whole_period(measured.from_ns, seconds.len(), period_ns);
        let end = shape.period_ns().map_or(seconds.len(), until);
        overload::of_changing(&outcome.load, &seconds[..end])
    } else if is_any(is_open) {
        of_operations(&in_seconds())
    } else if is_any(|load| matches!(load, Load::Interval { .. })) {
        // Within an interval its queue grows and falls.
        of_operations(&[])
    } else {
        None
    };
    let max_loss = outcome.plan.stop.max_loss.unwrap_or_default();
    let of_sensors = || overload::of_sensors(&measured.counts.points, max_loss);
    let found = found.or_else(|| has_sensors.then(of_sensors).flatten());
    found.map(Reason::Overloaded)
}

/// What the client's own delay leaves of the figures of the measured part. (Beyond its limit a search overloads the machine,
/// and with it the client.)
pub(super) fn delayed(outcome: &Outcome) -> Option<Delayed> {
    let pooled = outcome.measured.as_ref()?.recording.pooled();
    Delayed::of(&pooled.response(), &pooled.undelayed())
}
