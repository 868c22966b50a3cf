//! The audit of a run that is over, from its ledger.

use super::{Audit, AuditRequest, AuditScope, Auditor, SentOnce};
use crate::{
    hoard::{HoardWatch, seen},
    ledger::{Ledger, LedgerError, LedgerHead, LedgerSummary},
    plan::Planned,
    visibility::{Settling, SettlingCounts},
};
use iotbench_core::{
    Acknowledgement, AddedSignals, Backend, Cause, Counts, Database, Error, LOOK_PAUSE, OpenRequest, PromiseLevel,
    ServerFacts, Settled, TableSpec, Target,
};
use std::{
    ops::RangeInclusive,
    time::{Duration, Instant},
};

/// A server that does not answer by then is not there.
const CONNECT: Duration = Duration::from_secs(10);

/// What the audit of a run that is over found.
#[derive(Clone, Debug)]
pub struct ReVerified {
    /// Datapoint by datapoint.
    pub audit: Audit,
    /// How many datapoints the database says that it holds.
    pub counted: u64,
    /// How many that may be.
    pub expected: RangeInclusive<u64>,
    /// Whether acknowledged datapoints may be missing.
    pub may_lose: bool,
}

/// Why a run that is over cannot be audited.
#[derive(Debug, thiserror::Error)]
pub enum ReVerifyError {
    /// Its ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The data cannot be made again.
    #[error("the run's data cannot be made again: {0}")]
    Data(String),
    /// What the run wrote is not there any more.
    #[error("{0}")]
    Gone(String),
    /// There is something else in its place.
    #[error("{0}")]
    Others(String),
    /// The database.
    #[error("{}: {}", .0.cause.name(), .0.message)]
    Target(Error),
}

impl ReVerified {
    /// Whether all is as it should be.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let counts = self.expected.contains(&self.counted) || (self.may_lose && self.counted < *self.expected.start());
        counts && self.audit.is_clean(self.may_lose)
    }

    /// What is stored as a part of all that was acknowledged, where some of that may be missing; else `None`.
    #[must_use]
    pub fn delivered(&self) -> Option<f64> {
        let acked = *self.expected.start();
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
        (self.may_lose && acked > 0).then(|| self.counted as f64 / acked as f64)
    }
}

impl LedgerHead {
    /// The run's plan and data, with the database at `target`.
    ///
    /// # Errors
    /// The data cannot be made again: a recording is gone, or the head does not hold together.
    pub fn planned(self, target: Target) -> Result<Planned, ReVerifyError> {
        let Self { plan, base, .. } = self;
        let dataset = plan.profile.dataset.open(plan.seed, plan.origin_ns, plan.table.devices, &base);
        let dataset = dataset.map_err(|e| ReVerifyError::Data(e.to_string()))?;
        let schema = plan.profile.dataset.schema(&*dataset, plan.seed);
        if schema.map_err(|e| ReVerifyError::Data(e.to_string()))? != plan.table.schema {
            return Err(ReVerifyError::Data("its signals are others than those that the run wrote".into()));
        }
        let open = OpenRequest { target, settings: plan.settings.clone(), table: plan.table.clone() };
        Ok(Planned { plan, dataset, open, base })
    }
}

/// Reads back what a run left that is over. Blocks.
///
/// # Errors
/// What the run wrote is not there, or cannot be read.
pub fn re_verify(
    planned: &Planned,
    ledger: &Ledger,
    backend: &dyn Backend,
    scope: AuditScope,
    stops: &(dyn Fn() -> bool + Sync),
) -> Result<ReVerified, ReVerifyError> {
    if planned.plan.changes() {
        let message = "its statements changed what it wrote (writes = true): nothing tells what should be stored";
        return Err(ReVerifyError::Gone(message.into()));
    }
    let summary = ledger.summary()?;
    let once = SentOnce::of(planned, ledger, backend).map_err(ReVerifyError::Target)?;
    let database = backend.open(planned.open.clone()).map_err(|e| ReVerifyError::Data(e.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| ReVerifyError::Data(format!("no runtime: {e}")))?;
    let patience = Duration::from_nanos(planned.plan.phases.settle_ns);
    let watch = HoardWatch::over(backend.info(), patience, None);
    let verified = runtime.block_on(seen(watch.as_ref(), async {
        let embedded = backend.info().capabilities.embedded;
        if embedded {
            // The first call to a file that is not there would make it.
            is_there(planned, in_time(patience, database.owned()).await?)?;
        }
        let facts = in_time(CONNECT, database.ping()).await.map_err(|e| gone_with_its_file(planned, embedded, e))?;
        if !embedded {
            is_there(planned, in_time(patience, database.owned()).await?)?;
        }
        let may_lose = may_lose(planned, &facts);
        let expected = expected(planned, summary, once);
        if !summary.ended {
            let is_queued = facts.acknowledgement < Acknowledgement::Applied;
            settled(&*database, (*expected.start(), is_queued), patience, stops).await?;
        }
        let Counts { points: counted, .. } = in_time(patience, database.count()).await?;
        let mut reader = in_time(CONNECT, database.reader()).await?;
        let acknowledgement = facts.acknowledgement;
        let has_added_signals = in_time(CONNECT, has_added_signals(planned, backend, &*database)).await?;
        let request = AuditRequest {
            may_lose,
            acknowledgement,
            has_added_signals,
            stops,
            ..AuditRequest::new(planned, ledger, backend.info(), scope)
        };
        let auditor = Auditor::new(request).map_err(ReVerifyError::Target)?;
        let audit = auditor.audit(&mut *reader, Some(counted)).await.map_err(ReVerifyError::Target)?;
        Ok(ReVerified { audit, counted, expected, may_lose })
    }));
    match watch.as_ref().and_then(HoardWatch::found) {
        Some(found) => Err(ReVerifyError::Target(found.clone())),
        None => verified,
    }
}

/// Waits until what a run that was killed had acknowledged is there: of the others each waited itself. Where the database does not tell,
/// until so many are counted, or no more come; as long as a run does at most.
async fn settled(
    database: &dyn Database,
    (awaited, is_queued): (u64, bool),
    patience: Duration,
    stops: &(dyn Fn() -> bool + Sync),
) -> Result<(), ReVerifyError> {
    let (began, mut counts) = (Instant::now(), SettlingCounts::default());
    while began.elapsed() < patience && !stops() {
        match in_time(patience, database.settle()).await? {
            Settled::Yes => return Ok(()),
            Settled::CannotTell if !is_queued => return Ok(()),
            Settled::CannotTell => {
                let points = in_time(patience, database.count()).await?.points;
                if counts.note(points, awaited, began.elapsed()) != Settling::Going {
                    return Ok(());
                }
            }
            Settled::NotYet => {}
        }
        tokio::time::sleep(LOOK_PAUSE).await;
    }
    Ok(())
}

/// Whether the table can be asked for signals that are added.
pub(crate) async fn has_added_signals(
    planned: &Planned,
    backend: &dyn Backend,
    database: &dyn Database,
) -> Result<bool, Error> {
    let TableSpec { schema, layout, .. } = &planned.plan.table;
    let is_altered = schema.added() > 0 && (backend.info().added_signals)(*layout) == AddedSignals::Altered;
    if is_altered { database.has_added_signals().await } else { Ok(true) }
}

/// An embedded database that cannot be opened went with the run that it belonged to.
fn gone_with_its_file(planned: &Planned, embedded: bool, error: ReVerifyError) -> ReVerifyError {
    match error {
        ReVerifyError::Target(error) if embedded && error.cause == Cause::Connect => ReVerifyError::Gone(format!(
            "the database of run {} is not there: a run drops what it wrote unless it is started with --keep ({})",
            planned.plan.run_id, error.message
        )),
        other => other,
    }
}

/// Whether the table is still that of the run.
fn is_there(planned: &Planned, owned: Vec<iotbench_core::OwnedObject>) -> Result<(), ReVerifyError> {
    let plan = &planned.plan;
    let (name, run_id) = (&plan.table.name, &plan.run_id);
    let Some(found) = owned.into_iter().find(|object| object.name == *name) else {
        return Err(ReVerifyError::Gone(format!(
            "{name} of run {run_id} is not there: a run drops what it wrote unless it is started with --keep; if it lies \
             elsewhere by now, say where with --url"
        )));
    };
    // A history is handed on from run to run.
    let only_reads = !plan.writes();
    let of_this_run = found.run_id == *run_id || found.run_id.strip_suffix("-unfinished") == Some(run_id);
    if of_this_run || only_reads {
        return Ok(());
    }
    Err(ReVerifyError::Others(format!("{name} is now that of run {}, and no longer of {run_id}", found.run_id)))
}

fn may_lose(planned: &Planned, facts: &ServerFacts) -> bool {
    let kills = planned.plan.scenario.iter().any(|action| action.action.kills());
    facts.may_lose_acknowledged() || (kills && facts.promise.level == PromiseLevel::Buffered)
}

/// How many datapoints there should be.
fn expected(planned: &Planned, summary: LedgerSummary, once: Option<SentOnce>) -> RangeInclusive<u64> {
    let [acked, _, unknown] = summary.points;
    let phases = &planned.plan.phases;
    let history = summary.history.map_or(0, |(devices, _)| phases.preload.saturating_mul(devices.into()));
    let sends = SentOnce { acked: acked.saturating_add(history), unknown };
    let SentOnce { acked: least, unknown } = once.unwrap_or(sends);
    least..=if summary.ended { least.saturating_add(unknown) } else { u64::MAX }
}

async fn in_time<T>(within: Duration, call: impl Future<Output = Result<T, Error>>) -> Result<T, ReVerifyError> {
    match tokio::time::timeout(within, call).await {
        Ok(result) => result.map_err(ReVerifyError::Target),
        Err(_) => {
            let message = format!("no answer within {} s", within.as_secs_f64());
            Err(ReVerifyError::Target(Error::new(Cause::TimedOut, message)))
        }
    }
}

#[cfg(test)]
mod tests;
