//! Makes a valid document of what a run left that was killed.
//!
//! `run.json` holds what was known when the last phase ended, `journal.jsonl` the counts of each second since, and
//! `latency.hlog` the distributions. Together they are what the run would have written had it ended with the last second
//! that is in the journal.

mod journaled;
mod series;

use crate::{
    document::{Document, MeasuredPart, Others, Status, Step, Verdict},
    folder::{
        Flush, FolderError, JOURNAL_FILE, LATENCY_FILE, MANIFEST_FILE, OPERATIONS_FILE, PROFILE_FILE, RUN_FILE,
        ResultsFolder, SERIES_FILE, TRIALS_FILE, read_document,
    },
    journal::{Kind, Span},
    latency_log::LoggedLatency,
    lines::lines,
    printable::{printable, printable_lines},
};
use iotbench_recorder::{LoadCounts, PointCounts, WINDOW_NS};
use journaled::Journaled;
use std::{
    io,
    ops::Range,
    path::{Path, PathBuf},
    time::Duration,
};

/// What a shell shows of a process that was killed: 128 and the number of the signal.
const KILLED: u8 = 128 + 9;
/// The phases after the load. What `run.json` says in them of the load is whole.
const AFTER_THE_LOAD: [&str; 3] = ["drain", "verify", "drop"];

/// A run whose document is whole again.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// What it has found out.
    pub document: Document,
    /// What is missing, for people; empty: only what was under way.
    pub notes: Vec<String>,
}

/// Why a run is not recovered.
#[derive(Debug, thiserror::Error)]
pub enum RecoverError {
    /// The run came to its end.
    #[error("nothing to recover: {path} is of a run that has ended ({status})")]
    Ended {
        /// The folder.
        path: String,
        /// How it ended.
        status: &'static str,
    },
    /// Every run in it came to its end.
    #[error("nothing to recover: every run in {0} has ended")]
    AllEnded(String),
    /// Nothing was known yet when the run was killed.
    #[error("nothing to recover: the run of {0} was killed before it had begun; the folder can be removed")]
    NotBegun(String),
    /// It is no folder of a run.
    #[error("{0} is no results folder of iotbench: it has no run.json")]
    NotOurs(String),
    /// The folder cannot be read or written, or somebody writes to it.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

impl RecoverError {
    /// The program's exit code: 2 where there is nothing to recover, 31 for a folder that is not ours or held by another
    /// process, else 30.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Ended { .. } | Self::AllEnded(_) | Self::NotBegun(_) => 2,
            Self::NotOurs(_) => 31,
            Self::Folder(error) => error.exit_code(),
        }
    }
}

/// Recovers the run of a folder, or each run in it that was killed: of a sweep mostly the last one alone.
///
/// # Errors
/// As those of [`recover`]; every run has ended.
pub fn recover_all(path: &Path) -> Result<Vec<(PathBuf, Recovered)>, RecoverError> {
    let folders = runs_in(path);
    let mut recovered = Vec::new();
    for folder in &folders {
        match recover(folder) {
            Err(RecoverError::Ended { .. }) if folders.len() > 1 => {}
            result => recovered.push((folder.clone(), result?)),
        }
    }
    let ended = || RecoverError::AllEnded(printable_lines(&path.display().to_string()));
    if recovered.is_empty() { Err(ended()) } else { Ok(recovered) }
}

/// The folder, or those in it that are of runs.
fn runs_in(path: &Path) -> Vec<PathBuf> {
    let is_run = |folder: &PathBuf| folder.join(RUN_FILE).is_file();
    let mut inside: Vec<PathBuf> = match path.read_dir() {
        Ok(entries) if !path.join(RUN_FILE).exists() => entries.flatten().map(|e| e.path()).filter(is_run).collect(),
        _ => Vec::new(),
    };
    inside.sort();
    if inside.is_empty() { vec![path.into()] } else { inside }
}

/// Writes the document of a run that was killed, and the manifest. The same folder always comes to the same document.
///
/// # Errors
/// There is nothing to recover, somebody else writes to the folder, or it cannot be read or written. Nothing is changed in
/// the first two cases.
pub fn recover(path: &Path) -> Result<Recovered, RecoverError> {
    read(path)?;
    let folder = ResultsFolder::of_killed(path)?;
    // What was read before the folder was ours may have ended since.
    let mut document = read(path)?;
    let shown = || printable(&path.to_string_lossy());
    let is_running = document.verdict.status == Status::Running;
    if !is_running && path.join(MANIFEST_FILE).exists() {
        return Err(RecoverError::Ended { path: shown(), status: document.verdict.status.name() });
    }
    let mut notes = cut_torn_lines(&folder)?;
    if is_running {
        fill(&mut document, path, &mut notes)?;
    } else {
        notes.push("the run had ended and only its manifest was missing".into());
    }
    folder.remove_partial(RUN_FILE);
    folder.remove_partial(MANIFEST_FILE);
    folder.write_document(&document, Flush::Now)?;
    folder.write_manifest()?;
    Ok(Recovered { document, notes })
}

fn read(path: &Path) -> Result<Document, RecoverError> {
    match read_document(path) {
        Err(FolderError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            let shown = printable(&path.to_string_lossy());
            Err(match path.join(PROFILE_FILE) {
                profile if profile.exists() => RecoverError::NotBegun(shown),
                _ if path.exists() => RecoverError::NotOurs(shown),
                _ => FolderError::Read { path: shown, source }.into(),
            })
        }
        read => Ok(read?),
    }
}

/// A process that is killed leaves whole lines; a machine that goes down may not.
fn cut_torn_lines(folder: &ResultsFolder) -> Result<Vec<String>, FolderError> {
    let mut notes = Vec::new();
    for name in [SERIES_FILE, LATENCY_FILE, JOURNAL_FILE, TRIALS_FILE, OPERATIONS_FILE] {
        let bytes = folder.cut_torn_line(name)?;
        if bytes > 0 {
            notes.push(format!("the last line of {name} was torn: its {bytes} bytes were cut off"));
        }
    }
    Ok(notes)
}

/// Fills in what has happened since the document was written.
fn fill(document: &mut Document, path: &Path, notes: &mut Vec<String>) -> Result<(), FolderError> {
    let is_load_known = AFTER_THE_LOAD.contains(&document.phase.as_str());
    let journaled = Journaled::read(&path.join(JOURNAL_FILE), answer_so_far(document), notes)?;
    if let Some(phase) = &journaled.phase {
        document.phase.clone_from(phase);
    }
    document.points.preloaded = document.points.preloaded.max(journaled.preloaded);
    if !is_load_known {
        document.client.forget_what_was_lost();
        if journaled.to_ns > 0 {
            fill_load(document, path, &journaled, notes)?;
        }
        fill_others(document, path, &journaled)?;
    }
    document.remarks.push(format!(
        "recovered: iotbench was killed in the phase {}, {} s after the load had begun",
        document.phase.replace('_', " "),
        journaled.to_ns / WINDOW_NS
    ));
    document.remarks.extend(notes.iter().map(|note| format!("recovered: {note}")));
    document.verdict =
        Verdict { status: Status::Aborted, reasons: vec!["iotbench was killed".into()], exit_code: KILLED };
    document.judge();
    Ok(())
}

/// The last trial of the greatest load that a ramp has sustained so far: its figures would be the result.
fn answer_so_far(document: &Document) -> Option<Span> {
    let capacity = document.capacity.as_ref()?;
    let is_answer =
        |step: &&Step| Some(step.offered_load) == capacity.sustained && step.passed && step.purpose.decides();
    let step = capacity.steps.iter().rev().find(is_answer)?;
    let ns = |seconds: f64| Duration::try_from_secs_f64(seconds).ok().and_then(|d| u64::try_from(d.as_nanos()).ok());
    let from_ns = ns(step.from_s?)?;
    Some(Span { from_ns, to_ns: from_ns.saturating_add(ns(step.length_s?)?) })
}

fn fill_load(
    document: &mut Document,
    path: &Path,
    journaled: &Journaled,
    notes: &mut Vec<String>,
) -> Result<(), FolderError> {
    let is_ramp = journaled.begins_at_steps;
    document.load.counts = balanced(if is_ramp { journaled.operations } else { journaled.intended });
    document.points.counts = balanced_points(journaled.points);
    let Some(part) = &journaled.measured else { return Ok(()) };
    // What was answered after its end belongs to a fixed load's measured part, and to no step.
    let until_ns = if is_ramp { part.span.to_ns } else { journaled.to_ns };
    let stretch = part.span.from_ns..until_ns;
    let mut logged = latency(path, &journaled.kinds, &stretch, notes)?;
    if !is_ramp {
        logged.add_missing(document.load.counts.offered);
    }
    let latency = logged.block(&journaled.kinds);
    document.measured = Some(MeasuredPart::between(part.span.from_ns, part.span.to_ns));
    document.throughput = Some(part.throughput());
    document.latency = Some(latency);
    document.errors = part.errors();
    notes.push(
        "resources, the pacing error, when the client could not run, what its sampling cost and how many measurements were lost went \
         with the process; series.csv has the resources of each second"
            .into(),
    );
    Ok(())
}

/// What others had of the machine in the measured part.
fn fill_others(document: &mut Document, path: &Path, journaled: &Journaled) -> Result<(), FolderError> {
    let Some(others) = &mut document.others else { return Ok(()) };
    let span = journaled.measured.as_ref().map(|part| part.span);
    others.recover(match span {
        Some(Span { from_ns, to_ns }) => {
            series::others(&path.join(SERIES_FILE), &(from_ns / WINDOW_NS..to_ns.div_ceil(WINDOW_NS)))?
        }
        None => None,
    });
    let mut remarks = Vec::new();
    others.remarks(&mut remarks);
    // What was said of it before is of less.
    document.remarks.retain(|remark| !Others::is_of_disturbance(remark) && !remarks.contains(remark));
    remarks.append(&mut document.remarks);
    document.remarks = remarks;
    Ok(())
}

/// The distributions of a stretch, in nanoseconds since the run's start.
fn latency(
    path: &Path,
    kinds: &[Kind],
    stretch: &Range<u64>,
    notes: &mut Vec<String>,
) -> Result<LoggedLatency, FolderError> {
    let mut logged = LoggedLatency::default();
    let is_in = |start: Duration| u64::try_from(start.as_nanos()).is_ok_and(|ns| stretch.contains(&ns));
    let mut read = lines(&path.join(LATENCY_FILE))?;
    while let Some(line) = read.next_line()? {
        if let Err(error) = logged.add(&line, kinds.len(), &is_in) {
            notes.push(format!("{LATENCY_FILE}, line {}: {error}; what follows was left out", read.number()));
            break;
        }
    }
    Ok(logged)
}

/// What was sent and had no answer yet is unknown, and what was due and had not been sent is pending. A part of the program
/// may have told its last second before another, so that more was sent than had been told to be due: then it was due.
fn balanced(counts: LoadCounts) -> LoadCounts {
    let LoadCounts { ok, fail, dropped, .. } = counts;
    let started = counts.started.max(ok.saturating_add(fail).saturating_add(counts.unknown));
    let offered = counts.offered.max(started.saturating_add(dropped));
    let unknown = started.saturating_sub(ok).saturating_sub(fail);
    let pending = offered.saturating_sub(started).saturating_sub(dropped);
    let censored = counts.censored.min(unknown.saturating_add(dropped).saturating_add(pending));
    // What a broker still held is not told from what had not been sent.
    LoadCounts { offered, started, ok, fail, unknown, dropped, pending, undelivered: 0, censored }
}

/// The same of datapoints.
fn balanced_points(counts: PointCounts) -> PointCounts {
    let PointCounts { dropped, acked, failed, sent_again, .. } = counts;
    let sent = counts.sent.max(acked.saturating_add(failed).saturating_add(counts.unknown));
    let generated = counts.generated.max(sent.saturating_add(dropped));
    let unknown = sent.saturating_sub(acked).saturating_sub(failed);
    let pending = generated.saturating_sub(sent).saturating_sub(dropped);
    PointCounts {
        generated,
        dropped,
        pending,
        undelivered: 0,
        sent,
        sent_again: sent_again.min(sent),
        acked,
        failed,
        unknown,
    }
}
