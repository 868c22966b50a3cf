//! Writes a run's folder while the run goes on.

mod journal;
mod series;

use crate::{
    document::{document_of, phase_word},
    ledger,
    trials::{SearchHead, TrialRecord, Trials},
};
use iotbench_engine::{Event, Observer, OperationRecord, Outcome, Plan, Second};
use iotbench_recorder::{Latency, WINDOW_NS, interval_log_head};
use iotbench_report::{
    Appender, Document, Flush, FolderError, HtmlOptions, JOURNAL_FILE, LATENCY_FILE, OPERATIONS_FILE, Provenance,
    REPORT_FILE, ReportedRun, ResultsFolder, SERIES_FILE, StealMeter, TRIALS_FILE, earlier_sittings, journal::Line,
    latency_lines, render_html,
};
use serde::Serialize;
use series::{Series, pool};
use std::time::{Duration, Instant, SystemTime};

/// How often the journal says how much is written before the load.
const BETWEEN_PRELOADED: Duration = Duration::from_secs(1);

/// Writes a run's folder while the run goes on: `series.csv`, `latency.hlog` and `journal.jsonl` each second,
/// `operations.jsonl` when there is a trace, `run.json` at each checkpoint. Nothing is forced to the disk before
/// [`finish`](Self::finish).
#[derive(Debug)]
pub struct FolderObserver {
    folder: ResultsFolder,
    provenance: Provenance,
    steal: StealMeter,
    series: Series,
    series_file: Appender,
    latency_file: Appender,
    /// Written last of a second: what it has, the others have too.
    journal_file: Appender,
    preloaded_told: Instant,
    operations_file: Option<Appender>,
    /// The trials of a search.
    trials: Option<Trials>,
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
        let mut journal_file = folder.appender(JOURNAL_FILE)?;
        let path = || JOURNAL_FILE.to_owned();
        let begin = journal::begin(plan).to_text();
        let begin = begin.map_err(|e| FolderError::Format { path: path(), message: e.to_string() })?;
        journal_file.append(&begin).map_err(|source| FolderError::Write { path: path(), source })?;
        Ok(Self {
            folder,
            provenance,
            steal: StealMeter::start(),
            series: Series::new(),
            series_file,
            latency_file,
            journal_file,
            preloaded_told: Instant::now(),
            operations_file: None,
            trials: None,
            pooled: Latency::default(),
            actions: Vec::new(),
        })
    }

    /// Keeps the trials of a search beside, with those that another process made of it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn searching(self, head: &SearchHead, earlier: Vec<TrialRecord>) -> Result<Self, FolderError> {
        let trials = Some(Trials::begin(&self.folder, head, earlier)?);
        Ok(Self { trials, ..self })
    }

    /// Where it writes.
    #[must_use]
    pub fn folder(&self) -> &ResultsFolder {
        &self.folder
    }

    /// Writes the last document, the page and the manifest, and waits until all is on the disk. The document is given
    /// back even if it could not be written, so that nothing measured is lost.
    pub fn finish(mut self, outcome: &Outcome) -> (Document, Result<(), FolderError>) {
        let mut document = self.document(outcome);
        let earlier = earlier_sittings(self.folder.path(), &document);
        document.capacity.iter_mut().for_each(|capacity| capacity.earlier.clone_from(&earlier));
        let written = self.write_end(&document);
        (document, written)
    }

    fn document(&mut self, outcome: &Outcome) -> Document {
        self.provenance.environment.steal_pct = self.steal.steal_pct();
        let mut document = document_of(outcome, &self.provenance);
        if let Some(trials) = &self.trials {
            trials.complete(&mut document);
        }
        document
    }

    /// The document first: it is what must not be lost when the disk is nearly full.
    fn write_end(&self, document: &Document) -> Result<(), FolderError> {
        self.folder.write_document(document, Flush::Now)?;
        let open =
            [(SERIES_FILE, &self.series_file), (LATENCY_FILE, &self.latency_file), (JOURNAL_FILE, &self.journal_file)];
        for (name, file) in open.into_iter().chain(self.operations_file.as_ref().map(|file| (OPERATIONS_FILE, file))) {
            file.sync().map_err(|source| FolderError::Write { path: name.into(), source })?;
        }
        let trials = self.trials.as_ref().map_or(Ok(()), Trials::sync);
        trials.map_err(|source| FolderError::Write { path: TRIALS_FILE.into(), source })?;
        ledger::sync(&self.folder)?;
        // A page that cannot be written takes nothing else with it.
        let page = render_html(&[ReportedRun::beside(document.clone(), self.folder.path())], &HtmlOptions::default());
        let page = self.folder.replace(REPORT_FILE, Flush::Later, |file| file.write_all(page.as_bytes()));
        self.folder.write_manifest()?;
        page
    }

    fn second(&mut self, second: &Second<'_>) -> Result<(), String> {
        pool(second.window.recording(), &mut self.pooled);
        let actions = std::mem::take(&mut self.actions).join(", ");
        let row =
            self.series.row(second, &self.pooled, &actions).map_err(|e| format!("cannot write {SERIES_FILE}: {e}"))?;
        self.series_file.append(&row).map_err(|e| format!("cannot write {SERIES_FILE}: {e}"))?;
        let start = Duration::from_nanos(second.window.first_second() * WINDOW_NS);
        let length = Duration::from_nanos(second.window.seconds() * WINDOW_NS);
        let lines = latency_lines(start, length, second.window.recording(), &self.pooled);
        let lines = lines.map_err(|e| format!("cannot write {LATENCY_FILE}: {e}"))?;
        self.latency_file.append(lines.as_bytes()).map_err(|e| format!("cannot write {LATENCY_FILE}: {e}"))?;
        self.journal(&Line::from(second.window))
    }

    fn journal(&mut self, line: &Line) -> Result<(), String> {
        let text = line.to_text().map_err(|e| format!("cannot write {JOURNAL_FILE}: {e}"))?;
        self.journal_file.append(&text).map_err(|e| format!("cannot write {JOURNAL_FILE}: {e}"))
    }

    fn preloaded(&mut self, points: u64) -> Result<(), String> {
        if self.preloaded_told.elapsed() < BETWEEN_PRELOADED {
            return Ok(());
        }
        self.preloaded_told = Instant::now();
        self.journal(&Line::Preloaded { points })
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
            Event::Phase { phase, .. } => self.journal(&Line::Phase { phase: phase_word(*phase) }),
            Event::Preloaded { points, .. } => self.preloaded(*points),
            Event::Started { .. } | Event::DevicesMade { .. } | Event::Settling { .. } | Event::Step(_) => Ok(()),
            Event::StepEnded { figures, measured } => {
                let made = self.trials.as_mut().zip(*measured).filter(|_| figures.step.purpose.is_trial());
                let added = made.map_or(Ok(()), |(trials, measured)| trials.add(&TrialRecord::new(figures, measured)));
                added.map_err(|e| format!("cannot write {TRIALS_FILE}: {e}"))
            }
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
