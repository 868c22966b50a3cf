//! The history of a run that only reads: the one that an earlier run left, or a new one that later runs may take over.
//!
//! Until the last of it is written, the table's marker names the run with a word behind it. So a history that a killed run
//! left half written is known from one that was whole and has been changed since: the first is written anew, the second is
//! read as it is, and what is wrong with it is the result.

use super::Session;
use crate::{change::changed, verdict::Reason};
use iotbench_core::{Counts, OpenRequest, ServerFacts};
use std::sync::Arc;

/// Stands behind the run in the marker of a table whose history is not whole.
const UNFINISHED: &str = "-unfinished";

impl Session<'_> {
    /// Whether an earlier run left the history that this one needs; then this run reads it. Only where nothing is written:
    /// what a load wrote does not belong to a history.
    pub(super) fn take_over_history(&mut self) -> Result<bool, Reason> {
        let Some(whole) = self.whole_history() else { return Ok(false) };
        let database = Arc::clone(&self.database);
        let name = &self.planned.plan.table.name;
        let owned = self.control_plane(self.deadline(), database.owned())?;
        let Some(left) = owned.into_iter().find(|object| object.name == *name) else { return Ok(false) };
        if let Some(run_id) = left.run_id.strip_suffix(UNFINISHED) {
            self.remark(format!("run {run_id} ended before its history was whole, so it was written anew"));
            return Ok(false);
        }
        // A run that was killed says for a while that it has it.
        if !self.control_plane(self.patience(), changed(&*database, database.adopt()))? {
            return Ok(false);
        }
        self.created = true;
        let stored = self.control_plane(self.deadline(), database.count())?;
        let may_be_lost = self.outcome.target.facts.as_ref().is_some_and(ServerFacts::may_lose_acknowledged);
        if stored != whole && may_be_lost {
            self.remark(
                "the database lost part of the history that an earlier run left, so it was written anew".into(),
            );
            return Ok(false);
        }
        self.outcome.preloaded_points = whole.points;
        self.remark(match stored == whole {
            true => format!("the history is that of an earlier run, {}, which left it", left.run_id),
            false => format!(
                "the history that run {} left whole was changed since: {} datapoints with {} values are stored instead \
                 of {} with {}; a run without --keep drops it, and the next one writes it anew",
                left.run_id, stored.points, stored.values, whole.points, whole.values
            ),
        });
        Ok(true)
    }

    /// Marks the table that is to be created as one whose history is not whole yet.
    pub(super) fn begin_history(&mut self) -> Result<(), Reason> {
        if self.whole_history().is_none() {
            return Ok(());
        }
        self.reopen(self.unfinished())
    }

    fn unfinished(&self) -> OpenRequest {
        let mut open = self.planned.open.clone();
        open.table.marker.run_id.push_str(UNFINISHED);
        open
    }

    /// Once all of it is written and is to be kept, other runs may take it over.
    pub(super) fn hand_history_on(&mut self) -> Result<(), Reason> {
        let is_whole = self.whole_history().is_some_and(|whole| self.outcome.preloaded_points == whole.points);
        if !(is_whole && self.options.keep) {
            return Ok(());
        }
        let database = Arc::clone(&self.database);
        let owned = self.control_plane(self.deadline(), database.owned())?;
        drop(database);
        let name = &self.planned.plan.table.name;
        // Where nothing outlives a run there is nobody to hand it on to.
        if !owned.iter().any(|object| object.name == *name) {
            return Ok(());
        }
        // Who has begun it lets go of it: it is no other run that takes it over.
        self.reopen(self.planned.open.clone())?;
        let database = Arc::clone(&self.database);
        if !self.control_plane(self.deadline(), changed(&*database, database.adopt()))? {
            self.reopen(self.unfinished())?;
        }
        Ok(())
    }

    /// What the history of this run holds when it is whole; `None`: it has none, or writes as well.
    fn whole_history(&self) -> Option<Counts> {
        let plan = &self.planned.plan;
        let writes = plan.writes();
        let points = plan.phases.preload * u64::from(plan.phases.preload_devices);
        let width = self.planned.dataset.schema().width() as u64;
        (!writes && points > 0).then_some(Counts { points, values: points * width })
    }

    fn reopen(&mut self, open: OpenRequest) -> Result<(), Reason> {
        self.let_go(self.created)?;
        let opened = self.backend.open(open);
        self.database = opened.map_err(|e| Reason::Internal(format!("the plan does not open: {e}")))?;
        self.keep_lease()
    }

    fn remark(&mut self, text: String) {
        self.outcome.plan.remarks.push(text);
    }
}
