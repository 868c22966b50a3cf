//! What each step of a ramp begins with: an empty database, the history written anew, or what the steps before it left.

use super::{
    Session,
    load::{Running, Waited},
    visible::VisibleSeries,
};
use crate::{outcome::Emptied, profile::RampState, verdict::Reason, visibility::VisibleWatch};
use iotbench_core::Counts;
use iotbench_recorder::PointCounts;
use std::{ops::RangeInclusive, sync::Arc};

impl Session<'_> {
    /// Before a step, also before one that is run again. The first one finds the table that the run has made.
    pub(super) fn begin_with(&mut self, running: &mut Running) -> Result<Waited, Reason> {
        let is_first = running.control.generation().number == 0;
        if self.planned.plan.state != RampState::Keep && !is_first && self.begin_anew_with(running)? == Waited::Over {
            return Ok(Waited::Over);
        }
        running.beginning.storage_bytes = match (is_first, self.planned.plan.state) {
            (true, _) => self.outcome.machine.storage_bytes_before,
            // A server under load is asked nothing.
            (false, RampState::Keep) if !self.outcome.target.embedded => None,
            (false, _) => {
                let database = Arc::clone(&self.database);
                self.control_plane(self.deadline(), database.storage_bytes())?
            }
        };
        Ok(Waited::Reached)
    }

    /// Pauses the load, counts what is stored and holds it against what was acknowledged since the database was last empty,
    /// and drops it; then writes the history, if each step is to begin with one.
    fn begin_anew_with(&mut self, running: &mut Running) -> Result<Waited, Reason> {
        if !self.pause_until_answered(running)? {
            self.outcome.plan.remarks.push(
                "a step began with what the step before it had left: not all of that was answered when twice the deadline \
                 had passed"
                    .into(),
            );
            return Ok(Waited::Reached);
        }
        if self.is_over(running)? || !self.wait_for_backlog(running)? {
            return Ok(Waited::Over);
        }
        let points = running.totals.counts.points;
        let history = self.outcome.preloaded_points;
        let awaited = history + points.acked.saturating_sub(self.outcome.stored.emptied.acked);
        let Some(stored) = self.settled_count(awaited)? else { return Ok(Waited::Over) };
        self.judge_trial(stored, points);
        if !self.drop_trial(running)? {
            return Ok(Waited::Over);
        }
        let emptied = self.outcome.stored.emptied;
        self.outcome.stored.emptied = Emptied {
            times: emptied.times + 1,
            acked: points.acked,
            stored: sum(emptied.stored, self.without_history(stored)),
            accounted: emptied.accounted + stored.points.min(self.most_stored(points)).saturating_sub(history),
        };
        if self.planned.plan.state == RampState::Preloaded && !self.write_history_anew()? {
            return Ok(Waited::Over);
        }
        if let Some(series) = &mut running.visible {
            let watch = VisibleWatch::start(Arc::clone(&self.database), running.clock, self.deadline());
            let watch = watch.map_err(|e| Reason::Target { cause: e.cause, message: e.message })?;
            series.begin_anew(watch, points.acked, history);
        }
        Ok(Waited::Reached)
    }

    /// Whether everything that was sent is answered, and handed over: there is no load meanwhile.
    pub(super) fn pause_until_answered(&mut self, running: &mut Running) -> Result<bool, Reason> {
        running.control.set_users(0);
        running.control.set_load(0, 0);
        let now_ns = running.clock.now_ns();
        let paused = running.control.begin_generation(now_ns);
        let goes_on = self.wait_for_answers(running, paused, now_ns)?;
        let is_answered = running.control.all_settled(paused);
        // The answers that came in the pause are handed over with its end.
        let counted = running.control.begin_generation(running.clock.now_ns());
        self.wait_for_slices(running, counted)?;
        running.totals.forget(paused);
        running.totals.forget(counted);
        // What is over is not waited for.
        Ok(!goes_on || (is_answered && running.control.all_informed(counted)))
    }

    /// The first trial with something wrong is told; those after it may be wrong for the same reason.
    fn judge_trial(&mut self, stored: Counts, points: PointCounts) {
        if self.of_trials.is_none() {
            let trial = self.outcome.stored.emptied.times + 1;
            let wrong = self.judge_stored(stored, points).err();
            self.of_trials = wrong.map(|reason| Reason::OfTrial { trial, reason: Box::new(reason) });
        }
    }

    /// The history once more, in an empty table, and settled. False: the user ended the run meanwhile.
    fn write_history_anew(&mut self) -> Result<bool, Reason> {
        let written = self.write_history()?;
        Ok(written == self.outcome.preloaded_points && self.settle_history(written)?)
    }

    /// What is stored beside the history, as far as it is stored.
    fn without_history(&self, stored: Counts) -> Counts {
        let points = self.outcome.preloaded_points;
        let values = points * self.planned.dataset.schema().width() as u64;
        Counts { points: stored.points.saturating_sub(points), values: stored.values.saturating_sub(values) }
    }

    /// Makes the table anew. Whenever the process is killed, the ledger says what may be stored. False: the run is to end.
    fn drop_trial(&mut self, running: &mut Running) -> Result<bool, Reason> {
        self.journal_dropping()?;
        // A count must not ask for a table that is not there at the moment.
        running.visible.iter_mut().for_each(VisibleSeries::pause);
        let is_made = self.create()?;
        self.journal_dropped()?;
        Ok(is_made)
    }
}

impl Session<'_> {
    /// Holds what is stored against what was acknowledged since the database was last empty. `points`: of the whole run.
    pub(super) fn judge_stored(&self, stored: Counts, points: PointCounts) -> Result<(), Reason> {
        if self.planned.plan.changes() {
            return Ok(());
        }
        let elsewhere = self.outcome.stored.emptied.acked + self.outcome.stored.replaced.acked;
        let acked = (self.outcome.preloaded_points + points.acked).saturating_sub(elsewhere);
        let most = self.most_stored(points);
        let is_lost = stored.points < acked && !self.may_be_lost();
        let is_more = stored.points > most && !self.outcome.lost_an_agent();
        if is_lost || is_more {
            let unknown = most.saturating_sub(acked);
            return Err(Reason::Stored { acked, unknown, stored: stored.points });
        }
        let values = self.values_of(stored.points, points);
        if !values.contains(&stored.values) {
            let expected = stored.values.clamp(*values.start(), *values.end());
            return Err(Reason::StoredValues { stored: stored.values, expected });
        }
        Ok(())
    }

    /// How many values so many stored datapoints have. Where signals are added, of what nobody acknowledged it is not known which it
    /// is, nor what is missing of what was.
    pub(super) fn values_of(&self, stored: u64, points: PointCounts) -> RangeInclusive<u64> {
        let schema = self.planned.dataset.schema();
        let [first, all] = [schema.first_signals().len(), schema.width()].map(|width| width as u64);
        if first == all {
            return stored * all..=stored * all;
        }
        let history = self.outcome.preloaded_points;
        let acked = history * first + self.outcome.stored.values_acked;
        match stored.checked_sub(history + points.acked) {
            Some(more) => acked + more * first..=acked + more * all,
            None => stored * first..=acked.min(stored * all),
        }
    }

    /// The most that may be stored now: what was sent and not found before may have landed since.
    fn most_stored(&self, points: PointCounts) -> u64 {
        let sent = self.outcome.preloaded_points + points.acked + points.unknown;
        sent.saturating_sub(self.outcome.stored.emptied.accounted + self.outcome.stored.replaced.sent)
    }
}

/// What was counted at different times.
pub(super) fn sum(one: Counts, other: Counts) -> Counts {
    Counts { points: one.points + other.points, values: one.values + other.values }
}
