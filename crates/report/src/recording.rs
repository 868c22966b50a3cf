//! Writes a run's folder while the run goes on.

use crate::{
    document::{Document, Provenance},
    environment::StealMeter,
    folder::{Appender, Flush, FolderError, LATENCY_FILE, OPERATIONS_FILE, ResultsFolder, SERIES_FILE},
    series::{Series, pool},
};
use iotbench_engine::{Event, Observer, OperationRecord, Outcome, Plan, Second};
use iotbench_recorder::{ExportError, Latency, WINDOW_NS, interval_line, interval_log_head};
use serde::Serialize;
use std::time::{Duration, SystemTime};

/// Writes a run's folder while the run goes on: `series.csv` and `latency.hlog` each second, `operations.jsonl` when there
/// is a trace, `run.json` at each checkpoint. Nothing is forced to the disk before [`finish`](Self::finish).
#[derive(Debug)]
pub struct FolderObserver {
    folder: ResultsFolder,
    provenance: Provenance,
    steal: StealMeter,
    series: Series,
    series_file: Appender,
    latency_file: Appender,
    operations_file: Option<Appender>,
    /// All kinds of operations of the present second together.
    pooled: Latency,
    /// What was done to the server's processes since the last second that was written.
    actions: Vec<String>,
}

impl FolderObserver {
    /// Begins the files of a run that starts at `started`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn new(
        folder: ResultsFolder,
        plan: &Plan,
        started: SystemTime,
        provenance: Provenance,
    ) -> Result<Self, FolderError> {
        folder.write_profile(&plan.profile)?;
        let series_file = folder.appender(SERIES_FILE)?;
        let mut latency_file = folder.appender(LATENCY_FILE)?;
        let path = || LATENCY_FILE.to_owned();
        let head =
            interval_log_head(started).map_err(|e| FolderError::Format { path: path(), message: e.to_string() })?;
        latency_file.append(head.as_bytes()).map_err(|source| FolderError::Write { path: path(), source })?;
        Ok(Self {
            folder,
            provenance,
            steal: StealMeter::start(),
            series: Series::new(),
            series_file,
            latency_file,
            operations_file: None,
            pooled: Latency::default(),
            actions: Vec::new(),
        })
    }

    /// Where it writes.
    #[must_use]
    pub fn folder(&self) -> &ResultsFolder {
        &self.folder
    }

    /// Writes the last document, the page and the manifest, and waits until all is on the disk. The document is given
    /// back even if it could not be written, so that nothing measured is lost.
    pub fn finish(mut self, outcome: &Outcome) -> (Document, Result<(), FolderError>) {
        let document = self.document(outcome);
        let written = self.write_end(&document);
        (document, written)
    }

    fn document(&mut self, outcome: &Outcome) -> Document {
        self.provenance.environment.steal_pct = self.steal.steal_pct();
        Document::from_outcome(outcome, &self.provenance)
    }

    /// The document first: it is what must not be lost when the disk is nearly full.
    fn write_end(&self, document: &Document) -> Result<(), FolderError> {
        self.folder.write_document(document, Flush::Now)?;
        let open = [(SERIES_FILE, Some(&self.series_file)), (LATENCY_FILE, Some(&self.latency_file))];
        for (name, file) in open.into_iter().chain([(OPERATIONS_FILE, self.operations_file.as_ref())]) {
            let Some(file) = file else { continue };
            file.sync().map_err(|source| FolderError::Write { path: name.into(), source })?;
        }
        self.folder.sync_ledger()?;
        // A page that cannot be written takes nothing else with it.
        let page = self.folder.write_report(document);
        self.folder.write_manifest()?;
        page
    }

    fn second(&mut self, second: &Second<'_>) -> Result<(), String> {
        pool(second.window.recording(), &mut self.pooled);
        let actions = std::mem::take(&mut self.actions).join(", ");
        let row =
            self.series.row(second, &self.pooled, &actions).map_err(|e| format!("cannot write {SERIES_FILE}: {e}"))?;
        self.series_file.append(&row).map_err(|e| format!("cannot write {SERIES_FILE}: {e}"))?;
        let lines = self.latency_lines(second).map_err(|e| format!("cannot write {LATENCY_FILE}: {e}"))?;
        self.latency_file.append(lines.as_bytes()).map_err(|e| format!("cannot write {LATENCY_FILE}: {e}"))
    }

    /// The lines of the interval log for a second; none for a second without a success.
    fn latency_lines(&self, second: &Second<'_>) -> Result<String, ExportError> {
        let start = Duration::from_nanos(second.window.first_second() * WINDOW_NS);
        let length = Duration::from_nanos(second.window.seconds() * WINDOW_NS);
        let tagged = [("response", self.pooled.response()), ("service", self.pooled.service())];
        let filled = tagged.into_iter().filter(|(_, histogram)| !histogram.is_empty());
        filled.map(|(tag, histogram)| interval_line(tag, start, length, histogram)).collect()
    }

    fn operations(&mut self, records: &[OperationRecord]) -> Result<(), String> {
        let fail = |e: &dyn std::fmt::Display| format!("cannot write {OPERATIONS_FILE}: {e}");
        let file = match &mut self.operations_file {
            Some(file) => file,
            none => none.insert(self.folder.appender(OPERATIONS_FILE).map_err(|e| e.to_string())?),
        };
        let mut lines = Vec::new();
        for record in records {
            serde_json::to_writer(&mut lines, &TracedOperation::from(record)).map_err(|e| fail(&e))?;
            lines.push(b'\n');
        }
        file.append(&lines).map_err(|e| fail(&e))
    }
}

impl Observer for FolderObserver {
    fn event(&mut self, event: &Event<'_>) -> Result<(), String> {
        match event {
            Event::Second(second) => self.second(second),
            Event::Operations(records) => self.operations(records),
            Event::Checkpoint(outcome) => {
                let document = self.document(outcome);
                self.folder.write_document(&document, Flush::Later).map_err(|e| e.to_string())
            }
            Event::Acting(mark) => {
                self.actions.push(mark.action.to_string());
                Ok(())
            }
            Event::Phase { .. }
            | Event::Started { .. }
            | Event::Preloaded { .. }
            | Event::Settling { .. }
            | Event::Step(_)
            | Event::StepEnded(_) => Ok(()),
        }
    }
}

/// A line of `operations.jsonl`; instants are nanoseconds since the run's start.
#[derive(Serialize)]
struct TracedOperation {
    group: u16,
    operation: u16,
    user: u32,
    intended_ns: u64,
    sent_ns: u64,
    replied_ns: u64,
    outcome: &'static str,
    points: u32,
}

impl From<&OperationRecord> for TracedOperation {
    fn from(record: &OperationRecord) -> Self {
        Self {
            group: record.group,
            operation: record.operation,
            user: record.user,
            intended_ns: record.timing.intended_ns(),
            sent_ns: record.timing.sent_ns(),
            replied_ns: record.timing.replied_ns(),
            outcome: record.outcome,
            points: record.points,
        }
    }
}
