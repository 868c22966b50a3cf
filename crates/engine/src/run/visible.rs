//! What is visible of a load whose acknowledgements do not say that it is stored.

use super::{
    Session,
    load::{Running, Waited},
};
use crate::{
    clock::RunClock,
    trend::MIN_POINTS,
    verdict::Reason,
    visibility::{AckedCourse, Look, Settling, SettlingCounts, Visibility, VisibleWatch},
};
use iotbench_core::{Acknowledgement, Error};
use iotbench_recorder::WINDOW_NS;
use std::{sync::Arc, time::Duration};

/// How long is waited between two looks for new counts.
const LOOK_NS: u64 = 100_000_000;
/// Counts of this many seconds before the latest one are remembered.
const REMEMBERED_NS: u64 = 3_600_000_000_000;

/// What was acknowledged and what was visible, as the load goes on.
#[derive(Debug)]
pub(super) struct VisibleSeries {
    watch: VisibleWatch,
    /// What was acknowledged in this run.
    pub(super) course: AckedCourse,
    looks: Vec<Look>,
    /// What is visible of other things, less what was lost for good.
    offset: f64,
}

impl VisibleSeries {
    /// Backlogs by time in seconds, from `from_ns` on, as far as is known what was acknowledged.
    fn backlogs(&mut self, from_ns: u64, to_ns: u64) -> Result<Vec<(f64, f64)>, Error> {
        self.looks.extend(self.watch.take()?);
        let forgotten_ns = self.looks.last().map_or(0, |look| look.to_ns.saturating_sub(REMEMBERED_NS));
        self.looks.retain(|look| look.to_ns >= forgotten_ns);
        let backlog = |look: &Look| {
            let at_ns = look.at_ns();
            let acked = self.course.at(at_ns)?;
            #[expect(clippy::cast_precision_loss, reason = "times and counts are far below 2^53")]
            let point = (at_ns as f64 / WINDOW_NS as f64, acked + self.offset - look.points as f64);
            (from_ns..=to_ns).contains(&at_ns).then_some(point)
        };
        Ok(self.looks.iter().filter_map(backlog).collect())
    }

    /// How fast datapoints became visible in a stretch.
    fn visibility(&mut self, from_ns: u64, to_ns: u64) -> Result<Option<Visibility>, Error> {
        let backlogs = self.backlogs(from_ns, to_ns)?;
        let (Some(&(first_s, _)), Some(&(last_s, _))) = (backlogs.first(), backlogs.last()) else { return Ok(None) };
        let at = |s: f64| self.course.at(Duration::try_from_secs_f64(s).ok()?.as_nanos().try_into().ok()?);
        let Some((first, last)) = at(first_s).zip(at(last_s)) else { return Ok(None) };
        Ok(Visibility::of(&backlogs, (last - first) / (last_s - first_s)))
    }
}

impl VisibleSeries {
    /// Counts no more until [`begin_anew`](Self::begin_anew).
    pub(super) fn pause(&mut self) {
        self.watch.end();
    }

    /// All that was acknowledged so far is dropped, and the database holds so much of a history. Counts go on, on a new
    /// connection.
    pub(super) fn begin_anew(&mut self, watch: VisibleWatch, acked: u64, history: u64) {
        self.watch = watch;
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let [acked, history] = [acked as f64, history as f64];
        self.offset = history - acked;
    }
}

impl Session<'_> {
    /// Begins to count what is visible, where something is written whose acknowledgement does not say it.
    pub(super) fn visible_series(&self, clock: RunClock) -> Result<Option<VisibleSeries>, Error> {
        if !self.backend.info().capabilities.stores || self.outcome.target.acknowledgement >= Acknowledgement::Applied {
            return Ok(None);
        }
        // Where nothing is acknowledged nothing has to become visible; and what statements remove is not late.
        if !self.planned.plan.writes() || self.planned.plan.changes() {
            return Ok(None);
        }
        let watch = VisibleWatch::start(Arc::clone(&self.database), clock, self.deadline())?;
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        let offset = self.outcome.preloaded_points as f64;
        Ok(Some(VisibleSeries { watch, course: AckedCourse::default(), looks: Vec::new(), offset }))
    }

    /// Waits until enough was counted of a stretch to judge it; the load goes on meanwhile. `None`: it was not told in time.
    pub(super) fn wait_for_visibility(
        &mut self,
        running: &mut Running,
        from_ns: u64,
        to_ns: u64,
    ) -> Result<Option<Visibility>, Reason> {
        let most_ns = running.clock.now_ns() + 2 * self.planned.plan.phases.deadline_ns;
        loop {
            let Some(series) = &mut running.visible else { return Ok(None) };
            let backlogs = series.backlogs(from_ns, u64::MAX).map_err(|e| cannot_count(&e))?;
            #[expect(clippy::cast_precision_loss, reason = "a time of a run is far below 2^53 ns")]
            let is_over = backlogs.last().is_some_and(|&(s, _)| s * WINDOW_NS as f64 >= to_ns as f64);
            if is_over && backlogs.len() >= MIN_POINTS {
                return series.visibility(from_ns, u64::MAX).map_err(|e| cannot_count(&e));
            }
            let now_ns = running.clock.now_ns();
            if now_ns >= most_ns || self.wait_until(running, now_ns + LOOK_NS)? == Waited::Over {
                return Ok(None);
            }
        }
    }

    /// What a fixed load's measured part showed.
    pub(super) fn measured_visibility(&mut self, running: &mut Running, from_ns: u64, to_ns: u64) {
        let Some(series) = &mut running.visible else { return };
        match series.visibility(from_ns, to_ns) {
            Ok(visibility) => {
                if let Some(why) = visibility.and_then(|v| v.failure()) {
                    self.outcome.plan.remarks.push(format!("this load cannot go on: {why}"));
                }
                if let Some(measured) = &mut self.outcome.measured {
                    measured.visibility = visibility;
                }
            }
            Err(error) => self.outcome.plan.remarks.push(format!("what is visible was not counted: {}", error.message)),
        }
    }

    /// After a load that was too much: waits, without load, until all that was acknowledged is visible or nothing more
    /// comes. False: the run is over.
    pub(super) fn wait_for_backlog(&mut self, running: &mut Running) -> Result<bool, Reason> {
        let set_unloaded = |running: &Running, unloaded| {
            running.visible.iter().for_each(|series| series.watch.set_unloaded(unloaded));
        };
        set_unloaded(running, true);
        let waited = self.wait_until_visible(running);
        set_unloaded(running, false);
        waited
    }

    fn wait_until_visible(&mut self, running: &mut Running) -> Result<bool, Reason> {
        let from_ns = running.clock.now_ns();
        let most_ns = from_ns.saturating_add(self.planned.plan.phases.settle_ns);
        let mut counts = SettlingCounts::default();
        loop {
            let Some(series) = &mut running.visible else { return Ok(true) };
            let backlogs = series.backlogs(from_ns, u64::MAX).map_err(|e| cannot_count(&e))?;
            if let Some(&(s, backlog)) = backlogs.last() {
                // A datapoint more or less is the look's own blur.
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
                let missing = (backlog - 1.0).clamp(0.0, 1e15) as u64;
                match counts.note(u64::MAX - missing, u64::MAX, Duration::from_secs_f64(s)) {
                    Settling::Going => {}
                    Settling::Equal => return Ok(true),
                    Settling::Unchanged => {
                        series.offset -= backlog;
                        return Ok(true);
                    }
                }
            }
            let now_ns = running.clock.now_ns();
            if now_ns >= most_ns {
                return Ok(true);
            }
            if self.wait_until(running, now_ns + LOOK_NS)? == Waited::Over {
                return Ok(false);
            }
        }
    }
}

fn cannot_count(error: &Error) -> Reason {
    Reason::Target { cause: error.cause, message: format!("what is visible cannot be counted: {}", error.message) }
}
