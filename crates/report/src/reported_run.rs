//! A finished run as a report takes it: its document, and what its folder tells beside it.

use crate::{
    document::Document,
    folder::{FolderError, LATENCY_FILE, SERIES_FILE, has_sessions, read_document, run_folders},
    heat_map::HeatMap,
    timeline::Timeline,
};
use iotbench_simulator::open_regular;
use std::{
    io::BufReader,
    path::{Path, PathBuf},
};

/// A run as a report takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedRun {
    /// What it found out.
    pub document: Document,
    /// What happened over its time; none where its file cannot be used.
    pub timeline: Option<Timeline>,
    /// How response times were distributed over its time; none where its file cannot be used.
    pub heat_map: Option<HeatMap>,
    /// What is missing of it, and why: a run that was killed can lack the end of a file.
    pub missing: Vec<String>,
    /// Whether it is one of several sittings, which differ as another sitting would.
    pub is_sitting: bool,
}

impl ReportedRun {
    /// A document alone.
    #[must_use]
    pub fn of_document(document: Document) -> Self {
        Self { document, timeline: None, heat_map: None, missing: Vec::new(), is_sitting: false }
    }

    /// Reads the run in a results folder, or in the `run.json` of one; of a sweep's folder or that of
    /// sittings, all its runs by the time at
    /// which they began. A file beside the document that cannot be used is told in [`missing`](Self::missing).
    ///
    /// # Errors
    /// There is no document, or none of this version.
    pub fn read(path: &Path) -> Result<Vec<Self>, FolderError> {
        let mut runs: Vec<Self> = run_folders(path)?.iter().map(|run| Self::read_one(run)).collect::<Result<_, _>>()?;
        runs.sort_by(|a, b| a.document.started.cmp(&b.document.started));
        Ok(runs)
    }

    fn read_one(path: &Path) -> Result<Self, FolderError> {
        let document = read_document(path)?;
        let folder = if path.is_dir() { path.to_owned() } else { path.parent().map(PathBuf::from).unwrap_or_default() };
        Ok(Self::beside(document, &folder))
    }

    /// The document's run, with what its folder tells beside it.
    #[must_use]
    pub fn beside(document: Document, folder: &Path) -> Self {
        let mut missing = Vec::new();
        let open =
            |name: &str| open_regular(&folder.join(name)).map(BufReader::new).map_err(|e| format!("{name}: {e}"));
        let series = open(SERIES_FILE)
            .and_then(|file| Timeline::read(file).map_err(|e| format!("{SERIES_FILE}, {e}")))
            .map_err(|reason| missing.push(reason));
        let log = open(LATENCY_FILE)
            .and_then(|file| HeatMap::read(file).map_err(|e| format!("{LATENCY_FILE}, {e}")))
            .map_err(|reason| missing.push(reason));
        Self {
            document,
            timeline: series.ok().filter(|series| !series.is_empty()),
            heat_map: log.ok().filter(|map| !map.columns.is_empty()),
            missing,
            is_sitting: folder.parent().is_some_and(has_sessions),
        }
    }
}
