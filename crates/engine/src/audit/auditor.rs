//! Reads a database back, piece by piece.

use super::{
    Audit, AuditScope,
    account::Account,
    corrected::Policy,
    expected::{Expected, ExpectedRows, SecondSends},
    findings::{Findings, Kind},
    merge::{How, Merge},
    pieces::{Piece, sampled},
    tags::{PAGE, TagAudit, Units},
    windows::Windows,
};
use crate::{
    caught::caught,
    ledger::{Fate, FateRanges, Ledger, LedgerSummary},
    plan::{Plan, Planned},
    read::History,
    schedule::mix,
    verify::Exactness,
};
use iotbench_core::{
    Acknowledgement, Action, BackendInfo, Capabilities, Cause, Chunk, Devices, Duplicates, Error, Query, Reader,
    SignalId, Tags, TagsKept, TimeRange,
};
use iotbench_simulator::Dataset;
use std::{collections::BTreeSet, ops::Range, sync::Arc, time::Duration};
use tokio::time::Instant;

/// Devices that a sample looks at.
const SAMPLE_DEVICES: u32 = 32;
/// A sample ends after so long, whatever it has seen.
const SAMPLE_TIME: Duration = Duration::from_secs(10);
/// An audit ends after so many datapoints that cannot be read.
const MAX_UNREADABLE: u64 = 1_000;
/// Ranges that are held at once, about 100 bytes each.
pub(super) const MAX_RANGES: usize = 1 << 19;
/// Runs of datapoints that the history of a device may come in.
const MAX_RUNS: u64 = 1 << 24;
/// Of the seed, the number that the draw of devices begins with.
const DEVICES_OF_SEED: u64 = u64::MAX - 7;

/// What an audit is made from.
pub struct AuditRequest<'a> {
    /// What was written.
    pub ledger: &'a Ledger,
    /// What it is.
    pub dataset: Arc<dyn Dataset>,
    /// Where it was to go.
    pub plan: &'a Plan,
    /// What the database can hold.
    pub capabilities: &'a Capabilities,
    /// How much is read back.
    pub scope: AuditScope,
    /// Whether the database may lose what it acknowledged: then missing values of a datapoint are a loss too.
    pub may_lose: bool,
    /// What an acknowledgement means.
    pub acknowledgement: Acknowledgement,
    /// Whether the values of two datapoints of equal device and time come back as they were sent together.
    pub keeps_together: bool,
    /// Whether the table has the signals that are added.
    pub has_added_signals: bool,
    /// How long an answer may take.
    pub patience: Duration,
    /// Whether the user does not wait for the end.
    pub stops: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> AuditRequest<'a> {
    /// What belongs to a plan.
    #[must_use]
    pub fn new(planned: &'a Planned, ledger: &'a Ledger, info: &'a BackendInfo, scope: AuditScope) -> Self {
        let patience = Duration::from_nanos(planned.plan.phases.settle_ns);
        let (plan, dataset) = (&planned.plan, Arc::clone(&planned.dataset));
        let capabilities = &info.capabilities;
        Self {
            ledger,
            dataset,
            plan,
            capabilities,
            scope,
            may_lose: false,
            acknowledgement: capabilities.acknowledgement,
            keeps_together: info.keeps_together,
            has_added_signals: true,
            patience,
            stops: &|| false,
        }
    }
}

/// Reads a database back, and holds it against ledger and simulator.
pub struct Auditor<'a> {
    request: AuditRequest<'a>,
    history: History,
    summary: LedgerSummary,
    signals: Vec<SignalId>,
    expected: ExpectedRows,
    findings: Findings,
    devices: u32,
    rows: u64,
    /// Of devices that have tags.
    tags: Option<TagAudit>,
    /// Datapoints that cannot be read.
    unreadable: u64,
    ends: Option<Instant>,
}

/// Why an audit did not come to its end.
pub(super) enum Cut {
    Failed(Error),
    /// Because of some row, which holds what no value of its type can be. The reader is as usable as before.
    Unreadable(Error),
    /// In words.
    Short(String),
}

impl From<Error> for Cut {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl<'a> Auditor<'a> {
    /// An audit that has not begun.
    ///
    /// # Errors
    /// The ledger is damaged, or its history too large to be held in memory.
    pub fn new(request: AuditRequest<'a>) -> Result<Self, Error> {
        let summary = request.ledger.summary().map_err(|e| damaged(&e))?;
        let (devices, positions) = summary.history.unwrap_or_default();
        let history = History { dataset: Arc::clone(&request.dataset), devices, positions };
        if history.runs_of_a_device() > MAX_RUNS {
            return Err(too_scattered());
        }
        let exactness = Exactness::new(request.capabilities.domain, false);
        let duplicates = request.capabilities.duplicates;
        let policy = Policy { duplicates, is_in_order: request.acknowledgement >= Acknowledgement::Applied };
        let expected = ExpectedRows::new(Arc::clone(&request.dataset), exactness);
        let sends = SecondSends { policy, history: history.clone(), in_doubt: !summary.ended };
        let expected = expected.with_second_sends(sends);
        let schema = request.dataset.schema();
        let width = if request.has_added_signals { schema.width() } else { schema.first_signals().len() };
        let signals = (0..).take(width).collect();
        let ends = (request.scope == AuditScope::Sample).then(|| Instant::now() + SAMPLE_TIME);
        let tags = (!request.plan.table.schema.tags().is_empty()).then(TagAudit::default);
        let findings = Findings::default();
        let (devices, rows, unreadable) = (0, 0, 0);
        Ok(Self { request, history, summary, signals, expected, findings, devices, rows, tags, unreadable, ends })
    }

    /// Reads what is stored. `counted` is how many datapoints the database says that it holds, where it was asked.
    ///
    /// # Errors
    /// It cannot be read, or the ledger is damaged.
    pub async fn audit(mut self, reader: &mut dyn Reader, counted: Option<u64>) -> Result<Audit, Error> {
        let looked = self.look_at_all(reader).await;
        let cut_short = match looked {
            Ok(()) => {
                let elsewhere = counted.map_or(0, |counted| counted.saturating_sub(self.rows));
                if self.request.scope == AuditScope::Full && elsewhere > 0 {
                    self.findings.note_elsewhere(elsewhere, "of no device of this run");
                }
                None
            }
            Err(Cut::Short(why)) => Some(why),
            Err(Cut::Failed(error) | Cut::Unreadable(error)) => return Err(error),
        };
        Ok(Audit {
            scope: self.request.scope,
            devices: self.devices,
            of_devices: self.request.plan.table.devices,
            rows: self.rows,
            findings: self.findings,
            tags: self.tags,
            shows_duplicates: self.request.capabilities.duplicates == Duplicates::Keep,
            ended: self.summary.ended,
            cut_short,
        })
    }

    async fn look_at_all(&mut self, reader: &mut dyn Reader) -> Result<(), Cut> {
        self.tags_of_all(reader).await?;
        match self.request.scope {
            AuditScope::Sample => self.sample(reader).await,
            AuditScope::Full => self.all(reader).await,
        }
    }

    /// Looks at the tags of the devices, where they have any, page by page.
    async fn tags_of_all(&mut self, reader: &mut dyn Reader) -> Result<(), Cut> {
        let Some(mut audit) = self.tags.take() else { return Ok(()) };
        let looked = self.tags_in(&mut audit, reader).await;
        self.tags = Some(audit);
        looked
    }

    async fn tags_in(&self, audit: &mut TagAudit, reader: &mut dyn Reader) -> Result<(), Cut> {
        let plan = self.request.plan;
        let (tags, devices) = (plan.table.schema.tags(), plan.table.devices);
        if self.request.scope == AuditScope::Sample {
            let drawn = drawn(plan.seed, devices);
            let ranges = self.ranges_of(&drawn)?;
            for device in drawn {
                if !self.page(audit, reader, device..device + 1, ranges.as_ref()).await? {
                    break;
                }
            }
            return Ok(());
        }
        if tags.life().is_none() {
            for first in (0..devices).step_by(PAGE as usize) {
                let page = first..devices.min(first.saturating_add(PAGE));
                if !self.page(audit, reader, page, None).await? {
                    return Ok(());
                }
            }
            let has_each = audit.kept == TagsKept::WithDevices;
            return if has_each { audit.look_beyond(reader, devices, self.request.patience).await } else { Ok(()) };
        }
        let mut windows = Windows::of(devices);
        while let Some((window, ranges)) = windows.next(self.request.ledger)? {
            for first in window.clone().step_by(PAGE as usize) {
                let page = first..window.end.min(first.saturating_add(PAGE));
                if !self.page(audit, reader, page, Some(&ranges)).await? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What the ledger says of these devices, where it has to be known which units of theirs sent something.
    fn ranges_of(&self, devices: &BTreeSet<u32>) -> Result<Option<FateRanges>, Cut> {
        if self.request.plan.table.schema.tags().life().is_none() {
            return Ok(None);
        }
        let ranges = self.request.ledger.ranges(&|device| devices.contains(&device), MAX_RANGES);
        ranges.map_err(|e| damaged(&e))?.ok_or_else(too_scattered).map(Some).map_err(Cut::Failed)
    }

    async fn page(
        &self,
        audit: &mut TagAudit,
        reader: &mut dyn Reader,
        devices: Range<u32>,
        ranges: Option<&FateRanges>,
    ) -> Result<bool, Cut> {
        self.goes_on()?;
        let tags = self.request.plan.table.schema.tags();
        let mut sent = |device| ranges.map_or_else(Units::default, |ranges| self.units(tags, device, ranges));
        audit.look(reader, (tags, devices), &mut sent, self.request.patience).await
    }

    /// Which units of a device sent what is stored, or may be.
    fn units(&self, tags: &Tags, device: u32, ranges: &FateRanges) -> Units {
        let mut units = Units::default();
        for segment in self.account(ranges).segments(device) {
            let of_segment = tags.unit(device, segment.indices.start)..=tags.unit(device, segment.indices.end - 1);
            let is_stored = segment.fate == Fate::Acked && !self.request.may_lose;
            // What was refused may be there all the same, which is for the datapoints to tell.
            if is_stored { units.stored.push(of_segment) } else { units.maybe.push(of_segment) }
        }
        units
    }

    /// Whether there is time, and somebody who waits.
    fn goes_on(&self) -> Result<(), Cut> {
        if (self.request.stops)() {
            return Err(Cut::Short("it was interrupted".into()));
        }
        if self.ends.is_some_and(|ends| Instant::now() >= ends) {
            return Err(Cut::Short(format!("the sample ended after {} s", SAMPLE_TIME.as_secs())));
        }
        Ok(())
    }

    async fn sample(&mut self, reader: &mut dyn Reader) -> Result<(), Cut> {
        let devices = drawn(self.request.plan.seed, self.request.plan.table.devices);
        let ranges =
            self.request.ledger.ranges(&|device| devices.contains(&device), MAX_RANGES).map_err(|e| damaged(&e))?;
        let ranges = ranges.ok_or_else(too_scattered)?;
        for device in devices {
            let mut piece = Piece::default();
            let segments = self.account(&ranges).segments(device);
            piece.add(device, &segments);
            let draw = mix(self.request.plan.seed, u64::from(device));
            self.look(reader, &piece, sampled(piece.stretches(), draw)).await?;
        }
        Ok(())
    }

    async fn all(&mut self, reader: &mut dyn Reader) -> Result<(), Cut> {
        let mut windows = Windows::of(self.request.plan.table.devices);
        while let Some((devices, ranges)) = windows.next(self.request.ledger)? {
            self.window(reader, devices, &ranges).await?;
        }
        Ok(())
    }

    async fn window(&mut self, reader: &mut dyn Reader, devices: Range<u32>, ranges: &FateRanges) -> Result<(), Cut> {
        let mut piece = Piece::default();
        for device in devices {
            let segments = self.account(ranges).segments(device);
            if !piece.add(device, &segments) {
                self.look(reader, &piece, 0..piece.stretches()).await?;
                piece.clear();
                piece.add(device, &segments);
            }
        }
        self.look(reader, &piece, 0..piece.stretches()).await
    }

    fn account<'b>(&'b self, ranges: &'b FateRanges) -> Account<'b> {
        let may_come_late = self.request.may_lose;
        let keeps_both =
            self.request.capabilities.duplicates == Duplicates::Keep && self.request.dataset.twice().is_some();
        Account { history: &self.history, summary: self.summary, ranges, may_come_late, keeps_both }
    }

    /// Looks at a piece in some of its stretches of time.
    async fn look(
        &mut self,
        reader: &mut dyn Reader,
        piece: &Piece,
        stretches: impl IntoIterator<Item = u64>,
    ) -> Result<(), Cut> {
        for number in stretches {
            let range = piece.stretch(number, &*self.request.dataset);
            match self.ask(reader, piece, range).await {
                Err(Cut::Unreadable(error)) => self.narrow(reader, piece, range, error).await?,
                asked => asked?,
            }
        }
        self.devices += u32::try_from(piece.devices.len()).unwrap_or(u32::MAX);
        Ok(())
    }

    /// Looks at a piece in a stretch of time. What cannot be read whole leaves nothing.
    async fn ask(&mut self, reader: &mut dyn Reader, piece: &Piece, range: TimeRange) -> Result<(), Cut> {
        self.goes_on()?;
        let before = self.findings.clone();
        self.expected.begin(piece.segments.iter().cloned(), range);
        let devices = Devices::Some(piece.devices.clone());
        let query = Query::Range { devices, signals: self.signals.clone(), range };
        let how = How { may_lose: self.request.may_lose, keeps_together: self.request.keeps_together };
        let mut merge = Merge::new(&mut self.expected, &mut self.findings, how);
        let mut was_refused = false;
        let mut sink = |chunk: &Chunk| merge.take(chunk).inspect_err(|_| was_refused = true);
        let answer = tokio::time::timeout(self.request.patience, caught(reader.query(&query, &mut sink))).await;
        match answer.unwrap_or_else(|_| Err(Error::new(Cause::TimedOut, "what is stored was not read in time"))) {
            Ok(_) => {
                self.rows += merge.finish();
                Ok(())
            }
            Err(error) => {
                self.findings = before;
                let is_usable = error.action == Action::RetryMayHelp;
                let is_of_a_row = error.cause == Cause::Protocol && is_usable && !was_refused;
                Err(if is_of_a_row { Cut::Unreadable(error) } else { Cut::Failed(error) })
            }
        }
    }

    /// Asks for the parts of what cannot be read whole, and for their parts, down to what cannot be read.
    async fn narrow(
        &mut self,
        reader: &mut dyn Reader,
        piece: &Piece,
        range: TimeRange,
        error: Error,
    ) -> Result<(), Cut> {
        let mut left = vec![(piece.clone(), range, error)];
        while let Some((piece, range, error)) = left.pop() {
            let parts = piece.parts(range, &*self.request.dataset);
            if parts.is_empty() {
                self.note_unreadable(&piece, range, &error)?;
            }
            for (piece, range) in parts {
                match self.ask(reader, &piece, range).await {
                    Err(Cut::Unreadable(error)) => left.push((piece, range, error)),
                    asked => asked?,
                }
            }
        }
        Ok(())
    }

    /// What is stored at the time of one datapoint, or where nothing was sent, cannot be read: at least one row.
    fn note_unreadable(&mut self, piece: &Piece, range: TimeRange, error: &Error) -> Result<(), Cut> {
        self.expected.begin(piece.segments.iter().cloned(), range);
        match self.expected.peek() {
            Some(Expected { device, timestamp_ns, fate, .. }) => {
                let kind = if fate == Fate::Failed { Kind::Alien } else { Kind::Corrupt };
                self.findings.note(kind, device, timestamp_ns, &error.message);
            }
            None => {
                let devices = piece.devices.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
                let detail = format!("of device {devices}, where nothing was sent: {}", error.message);
                self.findings.note_elsewhere(1, &detail);
            }
        }
        self.rows += 1;
        self.unreadable += 1;
        let why = || format!("more than {MAX_UNREADABLE} datapoints cannot be read: {}", error.message);
        if self.unreadable > MAX_UNREADABLE { Err(Cut::Short(why())) } else { Ok(()) }
    }
}

/// The devices of a sample: the first, the last, and others by the seed.
fn drawn(seed: u64, devices: u32) -> BTreeSet<u32> {
    if devices <= SAMPLE_DEVICES {
        return (0..devices).collect();
    }
    let draw = |number| u32::try_from(mix(seed ^ DEVICES_OF_SEED, number) % u64::from(devices)).unwrap_or(0);
    let drawn = (0..).map(draw);
    [0, devices - 1].into_iter().chain(drawn.take(SAMPLE_DEVICES as usize - 2)).collect()
}

pub(super) fn damaged(error: &crate::ledger::LedgerError) -> Error {
    Error::new(Cause::Client, error.to_string())
}

pub(super) fn too_scattered() -> Error {
    Error::new(Cause::Client, "what was acknowledged of the devices is in too many pieces to be held in memory")
}

#[cfg(test)]
pub(super) mod tests;
